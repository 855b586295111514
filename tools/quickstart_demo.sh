#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The demonstration of ./quickstart: two dat_pingpong processes on softnet-lo.
# usage: quickstart_demo.sh transfer   connect, send, RDMA write, RDMA read; data checked
#        quickstart_demo.sh table      latency and bandwidth, short
# Reasons go to standard error. The last line of it is the one to show.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

case ${1:-} in
  transfer | table) part=$1 ;;
  *) echo "usage: $0 transfer|table" >&2; exit 2 ;;
esac

program=${SOFTDAT_BIN:-bazel-bin}/tools/dat_pingpong
run=tools/softdat-run
limit_s=60
server=
fail() {
  echo "$1" >&2
  exit 1
}
cleanup() {
  [[ -z $server ]] || kill "$server" 2>/dev/null
  rm -rf "$work"
}
work=$(mktemp -d) || fail "cannot make a temporary folder"
trap cleanup EXIT
[[ -x $program ]] || fail "$program is missing: build it with 'bazel build //tools/...'"

# The server takes any free connection qualifier, and prints it in its first line.
mkfifo "$work/ready"
timeout "$limit_s" "$run" "$program" -d softnet-lo -p 0 >"$work/ready" 2>"$work/server.err" &
server=$!
exec 7<"$work/ready"
if ! read -r -t "$limit_s" line <&7 || [[ ! $line =~ connection\ qualifier\ ([0-9]+)$ ]]; then
  fail "the server did not start: $(tail -1 "$work/server.err")"
fi
port=${BASH_REMATCH[1]}
[[ $part != transfer ]] || echo "  server        $line"
# The server's results are not shown, but they must not block it either.
cat <&7 >"$work/server.out" &
timeout "$limit_s" "$run" "$program" -d softnet-lo -p "$port" --demo="$part" 127.0.0.1 ||
  fail "the client failed; the server said: $(tail -1 "$work/server.err")"
wait "$server" || fail "the server failed: $(tail -1 "$work/server.err")"
server=
