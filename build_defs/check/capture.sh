#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Checks packet captures of softnet over TCP with tshark: every frame of an iWARP connection is
# decoded as MPA, DDP and RDMAP, none is malformed, no length or CRC is wrong.
# usage: capture.sh FILE...     last line: "N passed, M failed" (one per file)
set -uo pipefail

# Short consumer payloads look like RPC-over-RDMA or SMB Direct to tshark's heuristics. An ephemeral
# port may be one that tshark knows for another protocol (34980: EtherCAT), so what the first bytes
# say goes before what the port says.
decode() {
  local file=$1
  shift
  tshark -r "$file" -o tcp.try_heuristic_first:TRUE --disable-protocol rpcordma \
    --disable-protocol smb_direct "$@" 2>>"$errors"
}

# Prints the reasons why a capture is not right; nothing when it is.
problems() {
  local file=$1 field frames streams undecoded
  for field in iwarp_mpa.req iwarp_mpa.rep iwarp_mpa.fpdu iwarp_ddp iwarp_rdma; do
    [[ $(decode "$file" -Y "$field" -T fields -e frame.number | wc -l) -gt 0 ]] ||
      echo "no frame with $field"
  done
  frames=$(decode "$file" -T fields -e frame.number -Y \
    '_ws.malformed || iwarp_mpa.bad_length' | head -5 | tr '\n' ' ')
  [[ -z $frames ]] || echo "malformed frames: $frames"
  frames=$(decode "$file" -Y iwarp_mpa.crc_check -O iwarp_mpa | grep -c 'Bad CRC')
  [[ $frames -eq 0 ]] || echo "$frames FPDUs with a wrong CRC"
  streams=$(decode "$file" -Y iwarp_mpa.req -T fields -e tcp.stream | sort -un | paste -sd,)
  if [[ -n $streams ]]; then
    undecoded=$(decode "$file" -Y "tcp.stream in {$streams} && tcp.len > 0" \
      -T fields -e frame.number -e frame.protocols |
      awk '$2 ~ /tcp:data$/ { print $1 }' | head -5 | tr '\n' ' ')
    [[ -z $undecoded ]] || echo "frames of an iWARP connection that are not decoded: $undecoded"
  fi
}

passed=0
failed=0
errors=$(mktemp)
trap 'rm -f "$errors"' EXIT
for file in "$@"; do
  : >"$errors"
  if [[ ! -s $file ]]; then
    found="no such file, or empty"
  else
    found=$(problems "$file")
  fi
  if [[ -z $found ]]; then
    passed=$((passed + 1))
    echo "ok   $file"
  else
    failed=$((failed + 1))
    echo "FAIL $file"
    while IFS= read -r line; do echo "     $line"; done <<<"$found"
    grep -v 'Running as user' "$errors" | head -3
  fi
done
echo "$passed passed, $failed failed"
[[ $failed -eq 0 && $passed -gt 0 ]]
