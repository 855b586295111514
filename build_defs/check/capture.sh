#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Checks packet captures of softnet with tshark. Over TCP, every frame of an iWARP connection must be
# decoded as MPA, DDP and RDMAP, none may be malformed, and no length or CRC may be wrong. Over UDP,
# every packet to port 4791 must be decoded as RoCEv2, none may be malformed, and icrc.py must find
# every ICRC right.
# usage: capture.sh FILE...     last line: "N passed, M failed" (one per file)
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# tshark with every protocol switched off except those that belong here. It would guess others: from
# an ephemeral port (34980: EtherCAT), or from payload and memory addresses that happen to look like
# RPC-over-RDMA, SMB Direct or one of a hundred more that it tries on each TCP segment. Loopback
# reorders segments that two processors send, and without the second option tshark calls that
# malformed.
readonly protocols='frame|eth|ethertype|ip|ipv6|tcp|udp|data|iwarp_mpa|iwarp_ddp_rdmap|infiniband|_ws\..*'
decode() {
  local file=$1
  shift
  WIRESHARK_CONFIG_DIR=$settings tshark -r "$file" -o tcp.try_heuristic_first:TRUE \
    -o tcp.reassemble_out_of_order:TRUE "$@" 2>>"$errors"
}

# Prints the reasons why a capture is not right, or nothing when it is.
problems() {
  local file=$1 packets
  packets=$(decode "$file" -Y 'udp.dstport == 4791' -T fields -e frame.number -e infiniband.bth.opcode \
    -e infiniband.bth.tver -e infiniband.mad.attributeid -e _ws.malformed -e frame.protocols)
  if [[ -n $packets ]]; then
    roce_problems "$file" "$packets"
  else
    iwarp_problems "$file"
  fi
}

# roce_problems FILE PACKETS: each line is a packet's number, opcode, version, attribute, whether it is
# malformed, and its protocols. tshark takes the payload of a datagram for a packet of its own if it
# begins with an EtherType and two zeros, as a cookie of 8 does. What it finds in there is no fault.
roce_problems() {
  local file=$1 packets=$2 frames
  packets=$(awk -F'\t' -v OFS='\t' '$6 ~ /:infiniband:ethertype/ { $5 = "" } { print }' <<<"$packets")
  awk -F'\t' '
    { seen[$2 == "" ? "none" : $2 + 0]; attributes[$4] }
    $2 != "" && $2 + 0 < 32 { work = 1 }
    $5 != "" { malformed = malformed " " $1 }
    $5 == "" && ($2 == "" || $3 != 0) { undecoded = undecoded " " $1 }
    END {
      if (malformed) print "malformed frames:" malformed
      if (undecoded) print "frames that are not decoded as RoCEv2:" undecoded
      # Requests and replies to connect and to disconnect, and acknowledgements of work if there was
      # any. Or the messages by which EPs for datagrams meet (SIDR).
      sidr = ("0x0017" in attributes) && !("0x0010" in attributes)
      count = split(sidr ? "0x0017 0x0018" : "0x0010 0x0013 0x0014 0x0015 0x0016", wanted, " ")
      for (i = 1; i <= count; ++i) if (!(wanted[i] in attributes)) print "no CM message " wanted[i]
      if (work && !(17 in seen)) print "no acknowledgement"
    }' <<<"$packets" | cut -c1-200
  frames=$(awk -F'\t' '$5 != "" { print $1; exit }' <<<"$packets")
  [[ -z $frames ]] || decode "$file" -Y "frame.number == $frames" -T fields -e frame.protocols -e udp.payload \
    -e _ws.expert.message | cut -c1-600
  "$here/icrc.py" "$file" | sed -n 's/^.*: WRONG //p'
}

iwarp_problems() {
  local file=$1 field frames streams undecoded
  for field in iwarp_mpa.req iwarp_mpa.rep iwarp_mpa.fpdu iwarp_ddp iwarp_rdma; do
    [[ $(decode "$file" -Y "$field" -T fields -e frame.number | wc -l) -gt 0 ]] ||
      echo "no frame with $field"
  done
  frames=$(decode "$file" -T fields -e frame.number -Y \
    '_ws.malformed || iwarp_mpa.bad_length' | head -5 | tr '\n' ' ')
  if [[ -n $frames ]]; then
    echo "malformed frames: $frames"
    decode "$file" -Y "frame.number == ${frames%% *}" -T fields -e frame.protocols -e tcp.payload \
      -e _ws.expert.message | cut -c1-600
  fi
  # tshark accepts any version and operation. A wrong length makes it read headers out of payload.
  frames=$(decode "$file" -T fields -e frame.number -Y 'iwarp_ddp.dv != 1 || iwarp_ddp.rsvd != 0 ||
    iwarp_rdma.version != 1 || iwarp_rdma.opcode > 12' | head -5 | tr '\n' ' ')
  [[ -z $frames ]] || echo "frames with a DDP or RDMAP header that cannot be: $frames"
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

# checked FILE NUMBER: says whether the capture is right.
checked() {
  local file=$1 errors=$settings/errors.$2 found
  : >"$errors"
  if [[ ! -s $file ]]; then
    found="no such file, or empty"
  else
    found=$(problems "$file")
  fi
  if [[ -z $found ]]; then
    echo "ok   $file"
  else
    echo "FAIL $file"
    while IFS= read -r line; do echo "     $line"; done <<<"$found"
    grep -v 'Running as user' "$errors" | head -3
  fi
}

settings=$(mktemp -d)
trap 'rm -rf "$settings"' EXIT
tshark -G protocols 2>/dev/null | cut -f3 | grep -vxE "$protocols" >"$settings/disabled_protos"
# As many at a time as there are processors.
number=0
for file in "$@"; do
  number=$((number + 1))
  [[ $number -le $(nproc) ]] || wait -n
  checked "$file" "$number" >"$settings/said.$(printf %06d "$number")" &
done
wait
cat "$settings"/said.* 2>/dev/null | tee "$settings/all"
passed=$(grep -c '^ok ' "$settings/all")
failed=$(($# - passed))
echo "$passed passed, $failed failed"
[[ $failed -eq 0 && $passed -gt 0 ]]
