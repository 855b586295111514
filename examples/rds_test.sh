#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs the examples of RDS over librds_preload.so on softnet-lo. Checks their output and exit status.
# usage: rds_test.sh LIB PRELOADED FOLDER-OF-LIBRDS
. "$1"
preloaded=$PWD/$2
folder=$PWD/$3
declared_providers

over_rds() { LD_PRELOAD=$preloaded LD_LIBRARY_PATH=$folder exec "$@"; }

# serve NAME ARG...: starts the end that others talk to, in the background. Its output goes to $work/NAME.
serve() {
  local file=$work/$1
  mkfifo "$file.pipe"
  (over_rds "examples/$1" "${@:2}") >"$file.pipe" &
  server=$!
  pids+=("$server")
  exec {printed}<"$file.pipe"
  : >"$file"
}

# await PATTERN: waits for a line of the server that matches, and sets $line to it.
await() {
  while IFS= read -r -t 60 -u "$printed" line; do
    [[ ! $line =~ ^$1$ ]] || return 0
  done
  echo "     not printed: $1"
  return 1
}

# client STATUS NAME ARG...: the other end.
client() { run "$1" env LD_PRELOAD="$preloaded" LD_LIBRARY_PATH="$folder" "examples/$2" "${@:3}"; }

stop() {
  exec {printed}<&-
  kill "$server" 2>/dev/null
  wait "$server"
}

serve rds_message server 127.0.0.1
check "rds_message: a port" await "port: [0-9]+"
port=${line##* }
for greeting in hello "hello again"; do
  check "rds_message: $greeting" client 0 rds_message client 127.0.0.1 127.0.0.1 "$port" "$greeting"
  check "rds_message: it comes back" has "$out" "^back: $greeting$"
  check "rds_message: the server has had it" await "from 127.0.0.1: $greeting"
done
stop

serve rds_rdma server 127.0.0.1
check "rds_rdma: a port" await "port: [0-9]+"
port=${line##* }
for time in first second; do
  check "rds_rdma: the $time time" client 0 rds_rdma client 127.0.0.1 127.0.0.1 "$port"
  check "rds_rdma: the data are there" has "$(paste -sd, <<<"$out")" \
    "^answer: here they are,100000 bytes are in place$"
  check "rds_rdma: the server is told" await "written: token 7, status 0"
done
stop

serve rds_congestion receiver 127.0.0.1
check "rds_congestion: a port" await "port: [0-9]+"
port=${line##* }
check "rds_congestion: another" await "other port: [0-9]+"
check "rds_congestion: the sender" client 0 rds_congestion sender 127.0.0.1 127.0.0.1 "$port" "${line##* }"
check "rds_congestion: waits and goes on" has "$(paste -sd, <<<"$out")" "^congested,free again$"
check "rds_congestion: nothing is lost" await "all messages came"
check "rds_congestion: the receiver ends well" wait "$server"

for example in rds_message rds_rdma rds_congestion; do
  check "$example: usage" run 2 "examples/$example"
  check "$example: on standard error" has "$err" "^usage: $example "
  check "$example: --help" run 0 "examples/$example" --help
  check "$example: no address" run 2 "examples/$example" "$([[ $example == rds_congestion ]] && echo receiver || echo server)" nowhere
done

finish
