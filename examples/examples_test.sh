#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs the examples on softnet-lo. Checks their output and their exit status.
# usage: examples_test.sh LIB
. "$1"
declared_providers

# serve NAME PROGRAM ARG...: starts a program that waits for clients, in the background. Its output
# goes to the file $work/NAME. Sets $server to its process and $qualifier to the qualifier that it
# prints.
serve() {
  local file=$work/$1
  shift
  mkfifo "$file.pipe"
  "$@" >"$file.pipe" &
  server=$!
  pids+=("$server")
  exec {printed}<"$file.pipe"
  : >"$file"
  await 'connection qualifier: [0-9]+' "$file"
  qualifier=${line##* }
}

# await PATTERN FILE: waits for a line of $printed that matches, and sets $line to it. All lines go
# to the file.
await() {
  while IFS= read -r -t 60 -u "$printed" line; do
    echo "$line" >>"$2"
    [[ ! $line =~ ^$1$ ]] || return 0
  done
  echo "     not printed: $1"
  return 1
}

# ended NAME: waits for the end of the server, and returns its exit status.
ended() {
  cat <&"$printed" >>"$work/$1"
  exec {printed}<&-
  wait "$server"
}

for example in connection connection12; do
  program=examples/$example
  check "$example: serves" serve $example "$program" server
  check "$example: a greeting that it does not know" run 3 "$program" client "$qualifier" softnet-lo rude
  if [[ $example == connection ]]; then
    check "$example: is rejected with a reason" has "$err" "the server says: say hello first"
  else
    check "$example: is rejected" has "$err" "rejected"
  fi
  # The client has the other version, because both are the same on the wire.
  other=connection
  [[ $example != connection ]] || other=connection12
  check "$example: with a client of $other" run 0 "examples/$other" client "$qualifier" softnet-lo hello 127.0.0.1
  check "$example: the client's side" has "$(paste -sd, <<<"$out")" \
    "^end point: UNCONNECTED,end point: CONNECTED,received: welcome,end point: DISCONNECTED$"
  check "$example: ends well" ended $example
  check "$example: the server's side" has "$(paste -sd, "$work/$example")" \
    "^end point: UNCONNECTED,connection qualifier: [0-9]+,end point: CONNECTED,received: a message,end point: DISCONNECTED$"
  # Not where that server listened: another test may listen there by now.
  check "$example: nobody listens" run 3 "$program" client 9
  check "$example: says so" has "$err" "no connection.*0x4003"
  check "$example: no such adapter" run 1 "$program" server softnet-nowhere
  check "$example: says so" has "$err" "^$example: softnet-nowhere: DAT_PROVIDER_NOT_FOUND DAT_NAME_NOT_REGISTERED$"
  for wrong in "" "client" "client twelve" "client 12 softnet-lo hello nowhere" "serve"; do
    check "$example $wrong: usage" run 2 "$program" $wrong
    check "$example $wrong: on standard error" has "$err" "^usage: $example server"
  done
  check "$example: --help" run 0 "$program" --help
  check "$example: on standard output" has "$out" "^usage: $example server"
done

for example in window window12; do
  program=examples/$example
  check "$example: runs" run 0 "$program"
  check "$example: shows" has "$(paste -sd, <<<"$out")" "^writer: a window of 256 bytes,$(:
    )owner: through the window,owner: window revoked,writer: write completed with status 0x6,$(:
    )writer: broken,owner: broken,owner: through the window$"
  check "$example: no such adapter" run 1 "$program" softnet-nowhere
  check "$example: says so" has "$err" "^$example: softnet-nowhere: DAT_PROVIDER_NOT_FOUND DAT_NAME_NOT_REGISTERED$"
done

check "event_loop: serves" serve event_loop examples/event_loop softnet-lo
for client in connection connection12 connection; do
  check "event_loop: $client" run 0 "examples/$client" client "$qualifier"
  check "event_loop: sends back" has "$out" "^received: a message$"
  check "event_loop: forgets it" await "clients: 0" "$work/event_loop"
done
kill -TERM "$server"
check "event_loop: ends well on a signal" ended event_loop
check "event_loop: says so" has "$(tail -1 "$work/event_loop")" "^ends on signal 15$"
check "event_loop: no such adapter" run 1 examples/event_loop softnet-nowhere
check "event_loop: says so" has "$err" "^event_loop: softnet-nowhere: DAT_PROVIDER_NOT_FOUND DAT_NAME_NOT_REGISTERED$"

# dat.conf gives softnet a name that is built into a program of 1.2 (docs/porting.md).
echo "OpenIB-cma u2.0 nonthreadsafe default $(ls "$PWD"/provider_softnet/libdaplsoftnet.so.2) softdat.1.0 \"lo\" \"\"" \
  >"$work/own.conf"
DAT_OVERRIDE=$work/own.conf check "a name of dat.conf" run 0 examples/window12 OpenIB-cma

for example in window window12 event_loop; do
  check "$example: too many words" run 2 "examples/$example" softnet-lo more
  check "$example: on standard error" has "$err" "^usage: $example "
  check "$example: --help" run 0 "examples/$example" --help
  check "$example: on standard output" has "$out" "^usage: $example "
done

finish
