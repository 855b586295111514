#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests dat_pingpong over softnet-lo, with two processes for each way to use it.
# usage: dat_pingpong_test.sh LIB PROGRAM
. "$1"
program=$2
declared_providers

# server OPTION...: starts a server on any free connection qualifier, and waits for its ready line.
server() {
  local line
  rm -f "$work/ready"
  mkfifo "$work/ready"
  timeout 60 "$program" -p 0 "$@" >"$work/ready" 2>"$work/server.err" &
  server_pid=$!
  pids+=("$server_pid")
  exec 7<"$work/ready"
  read -r -t 60 line <&7 || { cat "$work/server.err"; return 1; }
  port=${line##* }
}

# server_ended STATUS: the rest of the server's output is in $server_out.
server_ended() {
  server_out=$(cat <&7)
  exec 7<&-
  wait "$server_pid"
  local status=$?
  [[ $status -eq $1 ]] && return 0
  echo "     server: exit status $status instead of $1: $(cat "$work/server.err")"
  return 1
}

iters() { has "$1" "^$2 iters in [0-9.]+ seconds = [0-9.]+ usec/iter$"; }

for op in send write read; do
  for events in "" -e; do
    check "server for --op $op $events" server $events
    check "client --op $op $events" run 0 "$program" -p "$port" --op "$op" $events -c -s 5000 -n 200 127.0.0.1
    check "its result" iters "$out" 200
    check "server ends well" server_ended 0
    check "its result" iters "$server_out" 200
  done
done

for size in 0 1 1M; do
  check "server for -s $size" server
  check "client -s $size" run 0 "$program" -p "$port" -c -s "$size" -n 20 localhost
  check "server ends well" server_ended 0
done
check "bytes of both directions" has "$out" "^41943040 bytes in "

check "server" server
check "client that finds its provider in the build" run 0 env -u SOFTDAT_PROVIDER_PATH "$program" -p "$port" -n 10 127.0.0.1
check "server ends well" server_ended 0

check "server, one receive posted" server -r 1
check "client, one receive posted" run 0 "$program" -p "$port" -r 1 -n 100 127.0.0.1
check "server ends well" server_ended 0

check "server for a client with --json" server
check "client --json" run 0 "$program" -p "$port" --json -n 10 -s 64 --op write 127.0.0.1
check "JSON is JSON" python3 -c '
import json, sys
result = json.loads(sys.argv[1])
assert result["operation"] == "write" and result["iterations"] == 10, result
assert result["usec_per_iteration"] > 0 and result["role"] == "client", result' "$out"
check "server ends well" server_ended 0

check "server that wants -s 100" server -s 100
check "client with another size is refused" run 1 "$program" -p "$port" -s 200 -n 5 127.0.0.1
check "and told why" has "$err" "started with -s 100, not 200"
check "server ends well" server_ended 0

check "server for a qualifier that is taken" server
check "second server there" run 1 "$program" -p "$port"
check "says which" has "$err" "DAT_CONN_QUAL_IN_USE"
check "client --demo=transfer" run 0 "$program" -p "$port" --demo=transfer 127.0.0.1
check "each step" has "$out" "RDMA read .* every byte checked: ok"
check "server ends well" server_ended 0

# Not where that server listened: another test may listen there by now.
check "nobody listens" run 1 "$program" -p 9 --timeout 2000 127.0.0.1
check "says so" has "$err" "refused, nobody listens there"
check "no such IA" run 1 "$program" -d softnet-nosuch0
check "with its reason" has "$err" "because: .*softnet-nosuch0"
check "no such host" run 1 "$program" 999.999.999.999
check "says which" has "$err" "999.999.999.999"
check "a wrong option" run 2 "$program" --bogus
check "a letter without meaning" run 2 "$program" -m 1024
check "says why" has "$err" "path MTU"
check "--help" run 0 "$program" --help

finish
