#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests rds-softping, rds-softstress and rds-softinfo over softnet-lo, with all processes on one address.
# usage: rds_tools_test.sh LIB RDS-SOFTPING RDS-SOFTSTRESS RDS-SOFTINFO
. "$1"
own_network "$@"  # rds-softinfo shows the sockets of all processes
ping=$2
stress=$3
info=$4
declared_providers
# Below the ports that the kernel gives out by itself.
port=$((20000 + $$ % 10000))

# passive OPTION...: starts a passive end, and waits until it listens.
passive() {
  local line
  port=$((port + 1))
  rm -f "$work/ready"
  mkfifo "$work/ready"
  timeout 60 "$stress" -p "$port" "$@" >"$work/ready" 2>"$work/passive.err" &
  passive_pid=$!
  pids+=("$passive_pid")
  exec 7<"$work/ready"
  read -r -t 60 line <&7 || { cat "$work/passive.err"; return 1; }
}

# passive_ended STATUS: the rest of its output is in $passive_out.
passive_ended() {
  passive_out=$(cat <&7)
  exec 7<&-
  wait "$passive_pid"
  local status=$?
  [[ $status -eq $1 ]] && return 0
  echo "     passive end: exit status $status instead of $1: $(cat "$work/passive.err")"
  return 1
}

# both OPTION...: a run of both ends that goes well.
both() {
  check "passive end" passive
  check "active end: $*" run 0 "$stress" -p "$port" -s 127.0.0.1 -T 0.3 -v "$@"
  check "average" has "$out" "^ +[0-9]+ +[1-9][0-9]* .*\(average\)$"
  check "passive end ends well" passive_ended 0
  check "its average" has "$passive_out" "\(average\)$"
}

check "ping" run 0 "$ping" -c 3 -i 10msec 127.0.0.1
check "three lines" has "$(grep -cE '^ +[0-9]+: [0-9]+ usec$' <<<"$out")" "^3$"
check "a sum" has "$out" "^3 sent, 3 answered; min/average/max [0-9]+/[0-9]+/[0-9]+ usec$"
check "ping --json" run 0 "$ping" -c 2 -i 10msec --json 127.0.0.1
check "JSON is JSON" python3 -c '
import json, sys
lines = [json.loads(line) for line in sys.argv[1].splitlines()]
assert [line["ping"] for line in lines[:-1]] == [1, 2], lines
assert lines[-1]["answered"] == 2 and lines[-1]["source"] == "127.0.0.1", lines' "$out"
check "ping from an address that is not here" run 1 "$ping" -c 1 -I 192.0.2.9 127.0.0.1
check "says what to do" has "$err" "no interface adapter has this address"
check "ping of nothing" run 2 "$ping"
check "ping --help" run 0 "$ping" --help

both
both -t 2 -d 4 -q 5000 -a 32
both -o --wait block
both -D 64K
both -D 4K -I 3 -t 2 -d 2 --rdma-use-once 1 --rdma-alignment 3
both -D 1M -M 1 --rdma-use-get-mr 1 --rdma-use-fence 0
both -D 100 -M 2 --rdma-cache-mrs 1 --rdma-key-o-meter --show-histogram --show-params
check "a histogram" has "$out" "^ +[0-9.]+ +[0-9]+  #+$"

check "passive end" passive
check "active end --json" run 0 "$stress" -p "$port" -s 127.0.0.1 -T 0.3 -D 4K --json
check "JSON is JSON" python3 -c '
import json, sys
result = json.loads(sys.argv[1])
counts = result["counts"]
assert counts["requests_sent"] == counts["acks_received"] > 0, counts
assert counts["rdma_bytes_in"] > 0 and counts["rdma_bytes_out"] > 0, counts
assert result["role"] == "active" and result["average"]["rtt_usec"] > 0, result' "$out"
check "passive end ends well" passive_ended 0

check "info --help" run 0 "$info" --help
check "info of nothing like that" run 2 "$info" -x
check "passive end" passive
timeout 60 "$stress" -p "$port" -s 127.0.0.1 -T 2 >"$work/active.out" 2>&1 &
active_pid=$!
pids+=("$active_pid")
# sockets COUNT: so many are listed in a moment.
sockets() {
  local tries
  for ((tries = 0; tries < 200; ++tries)); do
    run 0 "$info" -k || return 1
    [[ $(grep -cE '^ +127\.0\.0\.1 +[0-9]+ ' <<<"$out") -eq $1 ]] && return 0
    sleep 0.05
  done
  return 1
}
check "sockets of both ends" sockets 2
check "info --json" run 0 "$info" --json
check "JSON is JSON" python3 -c '
import json, sys
lists = json.loads(sys.argv[1])
assert len(lists["sockets"]) == 2 and lists["connections"], lists
assert lists["counters"]["send_queued"] > 0 and "tcp_connections" not in lists' "$out"
check "active end ends well" wait "$active_pid"
check "passive end ends well" passive_ended 0
check "no sockets are left" sockets 0
check "info -c --watch" run 0 "$info" -c --watch 0.05 --count 2
check "two looks" has "$(grep -c '^Counters:$' <<<"$out")" "^2$"
check "with the change" has "$out" "CounterName +Value +Change$"
check "info of TCP" run 1 "$info" -T
check "says why" has "$err" "no list 'TCP Connections'"

check "passive end" passive
check "active end --cancel-sent-to" run 0 "$stress" -p "$port" -s 127.0.0.1 -T 0.3 -d 16 --cancel-sent-to
check "how long it took" has "$out" "was cancelled in [0-9.]+ usec"
check "passive end ends well" passive_ended 0

check "passive end" passive
check "active end --abort-after" run 0 "$stress" -p "$port" -s 127.0.0.1 --abort-after 0.3
check "passive end ends, too" passive_ended 0

check "nobody listens" run 1 "$stress" -p $((port + 1)) -s 127.0.0.1
check "says what to do" has "$err" "start the passive end there first: rds-softstress -p"
check "a wrong size" run 2 "$stress" -s 127.0.0.1 -q 5
check "says which are right" has "$err" "a message has 32 to 1048576 bytes"
check "an option of the other end" run 2 "$stress" -t 5
check "--help" run 0 "$stress" --help

finish
