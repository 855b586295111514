#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests dat_perf from outside: every test between two processes, columns, JSON, comparisons, and the
# messages about mistakes.
# usage: dat_perf_test.sh LIB PROGRAM
. "$1"
own_network "$@"  # its RDS sockets are for no other test's eyes
program=$2
declared_providers

# serve NAME ARGS...: starts a server on any free qualifier, and sets $port.
serve() {
  local line
  rm -f "$work/ready"
  mkfifo "$work/ready"
  timeout 60 "$program" "$@" -p 0 >"$work/ready" 2>"$work/server.err" &
  server_pid=$!
  pids+=("$server_pid")
  exec 7<"$work/ready"
  read -r -t 60 line <&7 || { cat "$work/server.err"; return 1; }
  port=${line##* }
}
served() {
  cat <&7 >/dev/null
  exec 7<&-
  wait "$server_pid" && return 0
  cat "$work/server.err"
  return 1
}
# one TEST ARGS...: runs a server and a client for a short time. The client's output is in $out.
one() {
  serve "$@" && run 0 "$program" "$@" -n 200 -p "$port" 127.0.0.1 && served
}
# These functions check how many columns and rows the table has.
columns() { test "$(awk '$1 ~ /^[0-9]+$/ {print NF}' <<<"$out" | sort -u)" = "$1"; }
rows() { test "$(awk '$1 ~ /^[0-9]+$/' <<<"$out" | wc -l)" = "$1"; }

for test in send_lat write_lat read_lat write_imm_lat fetch_add_lat cmp_swap_lat; do
  check "$test" one "$test"
  check "$test has nine columns" columns 9
done
for test in send_bw write_bw read_bw write_imm_bw fetch_add_bw cmp_swap_bw; do
  check "$test" one "$test"
  check "$test has five columns" columns 5
done
for test in msg_lat msg_read_lat; do
  for size in 1 16K 16385 64K 3000001; do check "$test, $size" one "$test" -c -s "$size"; done
  check "$test has nine columns" columns 9
  for wait in poll wait cno fd; do
    check "$test, $wait" one "$test" -c -s 64 --wait "$wait" -r 8
    check "$test, $wait, by RDMA" one "$test" -c -s 300K --wait "$wait" -r 8
    check "$test, $wait, over two end points" one "$test" -c -s 300K --wait "$wait" -q 2
  done
done
# Then a completion does not say that the data are there before the message on the other end point.
check "msg_lat over two end points, completions taken" \
  one msg_lat -c -s 300K -q 2 --completion taken
for wait in poll wait cno fd memory; do check "write_lat, $wait" one write_lat --wait "$wait"; done
for wait in poll wait cno fd; do
  check "a write and its notice, $wait" one write_lat -c -s 64 --wait "$wait" --messages 2
  check "two sends in a row, $wait" one send_lat -c -s 64 --wait "$wait" --messages 2
done
for wait in poll wait cno fd; do check "send_bw, $wait" one send_bw -s 64 --wait "$wait" -q 3; done
for test in send_bw write_bw read_bw write_imm_bw; do
  check "$test both ways" one "$test" -b -s 1K -q 2
  check "$test both ways, waiting" one "$test" -b -s 1K -e
done
# There are more messages than the server has receives, so its grants must come back.
check "send_bw, few receives" one send_bw -s 64 -r 8 -t 32
check "send_bw, few receives, both ways" one send_bw -s 64 -r 8 -t 32 -b
check "data checked" one write_bw -c -s 12345
check "server of all sizes" serve write_bw
check "all sizes" run 0 "$program" write_bw -a -n 4 -p "$port" 127.0.0.1
check "they are 23" rows 23
check "its server" served
check "server of a duration" serve send_lat
check "duration" run 0 "$program" send_lat -D 0.1 -p "$port" --out_json_file "$work/json" 127.0.0.1
check "its columns" columns 4
check "its server" served
check "JSON has perftest's names" python3 -c '
import json, sys
result = json.load(open(sys.argv[1]))["results"]
assert result["t_avg"] > 0 and result["tps_average"] > 0 and result["MsgSize"] == 2, result' "$work/json"

compare() { run 0 "$program" compare --slices 2 --slice-ms 5 "$@"; }
check "compare a latency" compare raw:tcp-epoll softnet-lo softnet-lo,SOFTDAT_CRC=on
check "three lines" test "$(grep -cE '^(raw|softnet)' <<<"$out")" = 3
check "compare a message layer" compare --test msg_lat -s 64K raw:tcp-poll softnet-lo softnet-lo@2
check "compare one that reads" compare --test msg_read_lat -s 64K raw:shm rds:softnet-lo softnet-lo
check "compare a stream" compare --test write_bw -s 64 -t 64 raw:tcp-gather softnet-lo
check "compare as JSON" compare --out_json --cpus any raw:tcp-block softnet-lo
check "it is JSON" python3 -c 'import json, sys; assert len(json.loads(sys.argv[1])["units"]) == 2' "$out"
check "a target" run 0 "$program" targets --slices 1 --slice-ms 5 --only "dat_evd_wait, one CPU"
check "its verdict" has "$out" '(met|NOT met)$'
check "a target of threads" run 0 "$program" targets --slices 1 --slice-ms 5 --only "4 threads, one IA beside four"
check "its floor is of threads, too" has "$out" 'softnet-lo@4ias .*softnet-lo@4threads .*(met|NOT met)$'
check "a target over UDP" run 0 "$program" targets --slices 1 --slice-ms 5 -d softnet-udp-lo --only "1 MiB reads"
check "its floor has a CRC" has "$out" 'raw:udp-gso-crc .*(met|NOT met)$'
check "compare RDS, there and back" compare -s 64 softnet-lo rds:softnet-lo
check "compare RDS that sleeps in its calls" compare -s 64 --wait wait softnet-lo rds:softnet-lo
check "compare RDS that sleeps in poll" compare -s 8192 --wait fd softnet-lo rds:softnet-lo
check "compare RDS, the largest message" compare -s 1M softnet-lo rds:softnet-lo
for test in send_bw write_bw read_bw; do
  check "compare RDS, $test" compare --test "$test" -s 64K -t 4 softnet-lo rds:softnet-lo
done
check "targets of a message layer" run 0 "$program" targets --slices 1 --slice-ms 5 --only "64 KiB"
check "one of them over two end points" has "$out" 'two end points .*softnet-lo@2 '
check "many end points" compare softnet-lo softnet-lo@50
check "threads on one IA and on their own" compare -e --cpus any softnet-lo@1threads softnet-lo@3threads softnet-lo@2ias
check "threads that stream" compare -e --cpus any --test send_bw -s 64 -t 64 -q 2 softnet-lo@3threads softnet-lo@2ias
check "connections" run 0 "$program" targets --slices 1 --slice-ms 5 --only "connections"
check "its verdict" has "$out" '(met|NOT met)$'
check "scale" run 0 "$program" scale -q 20 -n 20 --out_json
check "it is JSON" python3 -c '
import json, sys
rows = json.loads(sys.argv[1])["rows"]
assert len(rows) == 3 and rows[0]["value"] > 0 and rows[1]["value"] <= 0, rows' "$out"
# A target with settings of its own. On a machine with one CPU the output says so.
check "a target with CRC" run 0 "$program" targets --slices 1 --slice-ms 5 --only "polling, CRC"
check "its name" has "$out" 'softnet-lo,SOFTDAT_CRC=on '

# said STATUS TEXT ARGS...: the program must end with this status and print this text.
said() {
  local wanted=$1 text=$2
  shift 2
  run "$wanted" "$program" "$@" && has "$err" "$text"
}
check "a loss that is not understood" said 1 "SOFTDAT_UDP_LOSS is not understood" \
  compare --slices 1 --slice-ms 5 softnet-udp-lo,SOFTDAT_UDP_LOSS=often
check "no server" said 1 "nobody listens" send_lat -p 9 127.0.0.1
check "no such IA" said 1 "softnet-nowhere" compare raw:tcp-poll softnet-nowhere
check "too many threads" said 2 "NAME@Nthreads or NAME@Nias \(1 to 64\)" compare softnet-lo@65threads
check "no such floor" said 2 "no floor" compare raw:pigeon softnet-lo
check "RDS over an IA that is not there" said 1 "softnet-nowhere" compare raw:tcp-poll rds:softnet-nowhere
check "what RDS has not" said 1 "over RDS go messages" compare --test write_lat softnet-lo rds:softnet-lo
check "a floor that cannot" said 1 "not for latency" compare raw:tcp-gather softnet-lo
check "verbs without a device" said 1 "SOFTDAT_BENCH_VERBS_ADDRESS" compare raw:verbs softnet-lo
finish
