#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The job of ./quickstart: two dat_pingpong processes on softnet-lo.
# usage: quickstart_demo.sh transfer   connect, send, RDMA write, RDMA read; data checked
#        quickstart_demo.sh table      latency and bandwidth, short
# Reasons go to standard error, the last line of it is the one to show.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

program=bazel-bin/tools/dat_pingpong
run=tools/softdat-run
work=$(mktemp -d)
server=
cleanup() {
  [[ -z $server ]] || kill "$server" 2>/dev/null
  rm -rf "$work"
}
trap cleanup EXIT

fail() {
  echo "$1" >&2
  exit 1
}

for needed in "$program" "$run"; do
  [[ -x $needed ]] || fail "$needed is missing: build it with 'bazel build //tools/...'"
done

# pair OPTION...: a server that picks a free port and names it in a file, then a client.
pair() {
  local port
  rm -f "$work/port"
  mkfifo "$work/port"
  timeout 60 "$run" "$program" -d softnet-lo --port-file "$work/port" "$@" \
    >"$work/server.out" 2>"$work/server.err" &
  server=$!
  # Opened for both ends, so that a server which dies early cannot block us.
  exec 7<>"$work/port"
  while ! read -r -t 1 port <&7; do
    kill -0 "$server" 2>/dev/null || fail "the server ended early: $(tail -1 "$work/server.err")"
  done
  exec 7>&-
  timeout 60 "$run" "$program" -d softnet-lo -p "$port" "$@" 127.0.0.1 ||
    fail "the client failed: $(tail -1 "$work/server.err")"
  wait "$server" || fail "the server failed: $(tail -1 "$work/server.err")"
  server=
}

case ${1:-} in
  transfer)
    for op in send write read; do pair --op "$op" --check -s 65536 -n 100 || exit 1; done
    ;;
  table)
    for size in 64 4096 65536 1048576; do pair --op write -s "$size" -n 1000 || exit 1; done
    ;;
  *) fail "usage: $0 transfer|table" ;;
esac
