# SPDX-License-Identifier: BSD-3-Clause
# The checks of one guest. tests/vm/check, which says what guests there are, runs them in there, and
# sets bin, here and guest. `only`, if set, is a regular expression that the name of a group of checks must match.
root=$(cd "$here/../.." && pwd)
# A test case that prints nothing for this many seconds hangs. The longest takes half a minute on an
# idle host.
silence=${SOFTDAT_VM_SILENCE:-240}

# chosen GROUP...: whether any of the groups is to run.
chosen() {
  local group
  for group; do
    [[ ! $group =~ ${only:-.*} ]] || return 0
  done
  return 1
}
# wanted GROUP: whether the group is to run. If so, says that it begins.
wanted() { chosen "$1" && echo "[$1]"; }

# rare: whether to run what takes minutes and finds what others find: where all is asked for, or some groups
# by name.
rare() { [[ ${full:-} || -n ${only:-} ]]; }
# Debian's libdat2 takes no part in what these wires carry. The peers of the host run over it, too.
libdat2() { rare || echo --libdat2 ours; }

# excluded DEVICE SUITE: the cases that the device cannot pass, as a negative GoogleTest filter.
excluded() {
  awk -F';' -v device="$1" -v suite="$2" \
    '!/^#/ && ($1 == device || $1 == "verbs") && $2 == suite { printf "%s%s", sep, $3; sep = ":" }' \
    "$here/deviations.csv"
}

# sleepers SESSION: the threads of its processes, and where in the kernel each of them waits.
sleepers() {
  local process thread
  for process in $(pgrep -s "$1"); do
    for thread in "/proc/$process/task/"*; do
      printf '%s %s in %s; ' "${thread##*/}" "$(<"$thread/comm")" "$(<"$thread/wchan")"
    done
  done 2>/dev/null
}

# watched LOG COMMAND...: runs the command with its output in LOG, and ends it when LOG stops
# growing. The processes that it leaves behind end, too, because they would keep the device open.
watched() {
  local log=$1 process size last=-1 since=$SECONDS status
  shift
  setsid "$@" >"$log" 2>&1 &
  process=$!
  while kill -0 $process 2>/dev/null; do
    read -r -t 0.2 <> <(:) || true
    size=$(stat -c %s "$log")
    [[ $size -eq $last ]] || since=$SECONDS
    last=$size
    if [[ $((SECONDS - since)) -ge $silence ]]; then
      echo "silent for $silence s: $(sleepers $process)" >>"$log"
      kill -KILL $process
    fi
  done
  wait $process
  status=$?
  kill -KILL -- -$process 2>/dev/null
  return $status
}

# gtest NAME EXCLUDED COMMAND...: each test case is one check. A case that ends the program or hangs
# has failed, and a new program runs the cases after it. `among`, if set, says which cases there are.
gtest() {
  local name=$1 filter=$2 log status case round=0
  shift 2
  while :; do
    round=$((round + 1))
    log=/share/${name// /-}.$round.log
    watched "$log" "$@" --gtest_filter="${among:-}-$filter"
    status=$?
    sed -nE "s/^\[       OK \] ([^ ]+) .*/ok $name: \1/p; s/^\[  FAILED  \] ([^ ,]+).* \(.*/FAILED $name: \1/p" "$log"
    if grep -q '^\[==========\] 0 tests .* ran\.' "$log"; then
      echo "FAILED $name: no case"
      break
    fi
    if grep -q '^\[==========\] .* ran\.' "$log"; then
      # All cases have ended, but the program ended badly.
      [[ $status -eq 0 ]] || grep -q '^\[  FAILED  \]' "$log" || echo "FAILED $name: status $status at the end"
      break
    fi
    case=$(sed -nE 's/^\[ RUN      \] //p' "$log" | tail -1)
    echo "FAILED $name: ${case:-no case} (status $status, $(tail -1 "$log"))"
    [[ -n $case && $round -lt 30 ]] || break
    filter+=$(sed -nE 's/^\[ RUN      \] (.*)/:\1/p' "$log" | tr -d '\n')
  done
}

contract() {
  wanted "contract on $1" || return 0
  CONTRACT_DEVICE=verbs-dum0 gtest "contract on $1" "$(excluded "$1" contract)" "$bin/provider_verbs/contract_check"
}

raw_verbs() {
  wanted "raw:verbs on $1" || return 0
  SOFTDAT_BENCH_VERBS_ADDRESS=10.7.0.1 gtest "raw:verbs on $1" "" "$bin/tools/raw/verbs_device_check"
}

# Of a case that waits in three ways one or two are enough: polling is the same on all devices.
conformance() {
  local among
  wanted "conformance on $1" || return 0
  rare || case $1 in
    siw) among='*Wait' ;;
    *) among='*Wait:*Cno' ;;
  esac
  CONFORMANCE_PEER=$bin/tests/conformance/peer SOFTDAT_PROVIDER_PATH=$bin/provider_verbs gtest "conformance on $1" "$(excluded "$1" conformance)" \
    "$bin/tests/conformance/conformance" --ia verbs-dum0 --families 4
}

datagrams() {
  wanted "datagrams on $1" || return 0
  SOFTDAT_PROVIDER_PATH=$bin/provider_verbs gtest "datagrams on $1" "$(excluded "$1" datagrams)" \
    "$bin/tests/conformance/datagrams" --ia verbs-dum0 --families 4
}

# The same cases in uDAPL 1.2.
conformance12() {
  local name="conformance in 1.2 on $1"
  wanted "$name" || return 0
  CONFORMANCE_PEER=$bin/tests/conformance/peer12 SOFTDAT_PROVIDER_PATH=$bin/provider_verbs gtest "$name" \
    "$(excluded "$1" conformance)" "$bin/tests/conformance/conformance12" --ia verbs-dum0 --families 4
}

# foreign: the cases that libdaplofa does not pass, as a negative GoogleTest filter.
foreign() { awk -F';' '!/^#/ { printf "%s%s", sep, $1; sep = ":" }' "$here/libdaplofa.csv"; }
use_foreign() {
  echo 'ofa-v2-dum0 u2.0 nonthreadsafe default libdaplofa.so.2 dapl.2.0 "dum0 0" ""' >/run/dat.conf
}

# The same over a 2.0 provider that is not ours.
conformance12_foreign() {
  local name="conformance in 1.2 over libdaplofa on $1"
  wanted "$name" || return 0
  use_foreign
  CONFORMANCE_PEER=$bin/tests/conformance/peer12 DAT_OVERRIDE=/run/dat.conf gtest "$name" "$(foreign)" \
    "$bin/tests/conformance/conformance12" --ia ofa-v2-dum0 --families 4
}

# Programs of 1.2 with what the suite does not have: the extensions of 2005 (none of them on siw),
# return words, handles.
programs12() {
  local name="programs of 1.2 on $1" extensions=all
  wanted "$name" || return 0
  [[ $1 != siw ]] || extensions=none
  SOFTDAT_TEST_EXTENSIONS=$extensions SOFTDAT_TEST_IA=verbs-dum0 SOFTDAT_PROVIDER_PATH=$bin/provider_verbs gtest "$name" \
    "$(excluded "$1" programs12)" "$bin/tests/bridge/programs12"
}

programs12_foreign() {
  local name="programs of 1.2 over libdaplofa on $1"
  wanted "$name" || return 0
  use_foreign
  SOFTDAT_TEST_IA=ofa-v2-dum0 DAT_OVERRIDE=/run/dat.conf gtest "$name" "$(foreign)" "$bin/tests/bridge/programs12"
}

# The kernel delays the removal until the program ends. Each case has a new device. The interface
# comes last, because soft-RoCE of Linux 6.1 makes no more connections once its interface was down
# under one (docs/differences.md).
faults() {
  wanted "faults on $1" || return 0
  local program=("$bin/tests/vm/faults" --ia verbs-dum0 --families 4)
  export FAULTS_DEVICE=$1 SOFTDAT_PROVIDER_PATH=$bin/provider_verbs
  gtest "faults on $1" "*Interface*" "${program[@]}"
  if until_true 20 no_device "${1}0"; then
    echo "ok faults on $1: the device goes when the program has ended"
  else
    echo "FAILED faults on $1: the device is still there"
  fi
  rdma link add "${1}0" type "$1" netdev dum0 && until_true 20 has_address "${1}0"
  gtest "faults on $1, again" "*Removed*" "${program[@]}"
  unset FAULTS_DEVICE SOFTDAT_PROVIDER_PATH
}
no_device() { [[ ! -e /sys/class/infiniband/$1 ]]; }

# says NAME STATUS PATTERN COMMAND...: the command must end with the status, and its output must
# match the pattern.
says() {
  local name=$1 wanted_status=$2 pattern=$3 log=/share/${1//[^A-Za-z0-9]/-}.log status
  shift 3
  SOFTDAT_PROVIDER_PATH=$bin/provider_verbs "$@" >"$log" 2>&1
  status=$?
  if [[ $status -eq $wanted_status ]] && grep -qE -- "$pattern" "$log"; then
    echo "ok $name"
  else
    echo "FAILED $name: status $status, $(head -c 300 "$log" | tr '\n' ' ')"
  fi
}

# The names of an IA, and why an IA cannot be opened.
names() {
  wanted "names on $1" || return 0
  local info=$bin/tools/dat_info name
  for name in verbs-dum0 "verbs-${1}0" "verbs-${1}0-1"; do
    says "names on $1: $name" 0 "^$name +ok +10\.7\.0\.1" "$info" "$name"
  done
  says "names on $1: a port that is not there" 1 "because: no IA is called verbs-${1}0-9" "$info" --why "verbs-${1}0-9"
  says "names on $1: an interface without a device" 1 "because: .*no RDMA device on interface lo" "$info" --why verbs-lo
  says "names on $1: no interface" 1 "because: .*nosuch0" "$info" --why verbs-nosuch0
  local pingpong=("$bin/tools/dat_pingpong" -d verbs-dum0 -p 4711 -s 1M -n 2)
  SOFTDAT_PROVIDER_PATH=$bin/provider_verbs timeout 60 "${pingpong[@]}" >/share/server.log 2>&1 &
  until_true 20 grep -q 4711 /share/server.log
  says "names on $1: locked memory is limited" 1 \
    "locked memory is limited to 16 KiB; raise it with" \
    prlimit --memlock=16384:16384 setpriv --bounding-set=-ipc_lock --inh-caps=-ipc_lock "${pingpong[@]}" 10.7.0.1
  kill $! 2>/dev/null
  wait $!
}

# How many end points with the default attributes a process can have. The kernel gives siw's queues
# about 143 pages.
limits() {
  wanted "limits on $1" || return 0
  says "limits on $1: sixty end points at least, then no resources" 0 \
    "dat_ep_create #(6[1-9]|[7-9][0-9]|[1-9][0-9][0-9]) fails: DAT_INSUFFICIENT_RESOURCES" \
    env "SOFTDAT_BIN=$bin" "$root/tools/softdat-run" dapltest -T L -D verbs-dum0 -w 1 -m 1000 limit_ep
}

# Compares SOFTDAT_PROFILE with the device that it stands for.
profile() {
  local name="profile $1" report
  wanted "$name" || return 0
  local info=(env "SOFTDAT_PROVIDER_PATH=$bin/provider_verbs:$bin/provider_softnet")
  "${info[@]}" "$bin/tools/dat_info" -v softnet-dum0 --json >/share/softnet.json
  "${info[@]}" "SOFTDAT_PROFILE=$1" "$bin/tools/dat_info" -v softnet-dum0 --json >"/share/softnet-$1.json"
  "${info[@]}" "$bin/tools/dat_info" -v verbs-dum0 --json >"/share/verbs-$1.json"
  report=$(python3 "$here/profile_limits.py" "$name" "/share/softnet.json" "/share/softnet-$1.json" "/share/verbs-$1.json" 2>&1)
  echo "$report"
  grep -qE "^(ok|FAILED) $name" <<<"$report" || echo "FAILED $name: no comparison"
}

# peers DEVICE NAME ARG...: the unmodified programs of dapl2-utils.
peers() {
  local device=$1 name=$2 log skip=()
  shift 2
  wanted "$name" || return 0
  log=/share/${name// /-}.log
  # For soft-iWARP when the passive side speaks first, see docs/differences.md.
  [[ $device != siw ]] || set -- "$@" --again '(DAT_CONNECTION_EVENT_UNREACHABLE|0x4008)'
  mapfile -t skip < <(excluded "$device" peers | tr ':' '\n' | sed '/./s/^/--skip=/')
  SOFTDAT_BIN=$bin SOFTDAT_OUT=/run python3 "$root/tests/peers/run_peers.py" --cases "$here/peers.json" --lanes 1 \
    --timeout 60 "${skip[@]}" $(libdat2) "$@" >"$log" 2>&1
  sed -nE "s/^ok +(.*) \([0-9.]+ s\)$/ok $name: \1/p; s/^FAIL (.*) \([0-9.]+ s\)$/FAILED $name: \1/p" "$log"
  grep -qE '^[0-9]+ passed, [0-9]+ failed$' "$log" || echo "FAILED $name: $(tail -1 "$log")"
}

# softnet, in the network namespace B, against rping and other programs outside of it.
foreign_peers() {
  wanted "softnet with rping on siw" || return 0
  CONFORMANCE_PEER=$bin/tests/conformance/peer SOFTDAT_PROVIDER_PATH=$bin/provider_softnet:$bin/provider_verbs \
    gtest "softnet with rping on siw" "" nsenter --net=/run/netns/B "$bin/tests/vm/foreign_peers" --ia softnet-vD --families 4
}

# The same of softnet-udp, against rping and ucmatose on soft-RoCE.
rxe_peers() {
  wanted "softnet-udp with rping on rxe" || return 0
  SOFTDAT_PROVIDER_PATH=$bin/provider_softnet gtest "softnet-udp with rping on rxe" "" \
    nsenter --net=/run/netns/B "$bin/tests/vm/rxe_peers" --ia softnet-udp-vD --families 4,6
}

# The cases of the conformance suite that show what goes over a wire, each in its plainest variant.
wire_cases=(
  CompletionFlagsTest.ASolicitedReceive
  ConnectTest.{Both,NobodyListening,NoAnswer,DisconnectAborts}
  DisconnectTest.{AbruptB,Both,Freeing,Graceful}
  ExtensionTest.
  FlushTest.EveryRequest
  PrivateDataTest.
  RdmaReadTest.
  RdmaWriteTest.
  RefusedAmongGoodTest.{InAnyMix,OfOneKind,ThroughWindows}
  RejectTest.TheActiveSide
  RemoteAccessTest.
  RmrKindsTest.{AReadMayLand,APeersSend}
  RmrTest.{ABoundWindow,AnUnbind,ARebind,NothingBeyond}
  SendTest.{AMessage,AReceiveTooShort,ASend,EverySize,ManyMessages,Segments}
)

# conformance_between NAME ACTIVE PASSIVE CASE...: the conformance suite with a wire at each end, in one
# process, without the cases that the active or the passive side cannot pass.
conformance_between() {
  among=$(printf '%s*Wait:' "${wire_cases[@]}") suite_between conformance "$@"
}
# The same of the suite of datagrams.
datagrams_between() { among='Datagram*Wait' suite_between datagrams "$@"; }
suite_between() {
  local program=$1 name=$2 active=$3 passive=$4 filter
  shift 4
  wanted "$name" || return 0
  filter=$(IFS=:; echo "$*")
  SOFTDAT_PROVIDER_PATH=$bin/provider_softnet:$bin/provider_verbs gtest "$name" "$filter" \
    nsenter --net=/run/netns/B env "LD_PRELOAD=$bin/tests/vm/two_networks.so" \
    "$bin/tests/conformance/$program" --families 4 --ia "$active" --passive-ia "$passive"
}

# The packets between the two ends, for build_defs/check/capture.sh. Each is captured as the wire
# would have it: cut to size, with its own identification.
capture_begins() {
  ip -n B link set vD gso_max_segs 1
  dumpcap -q -i vC -f 'udp port 4791' -B 64 -w /share/softnet-udp.pcapng >/share/capture.log 2>&1 &
  capturing=$!
  until_true 60 grep -q 'File: ' /share/capture.log || echo "FAILED capture: $(tail -1 /share/capture.log)"
}
capture_ends() {
  kill -INT "$capturing"
  wait "$capturing" || echo "FAILED capture: status $?, $(tail -1 /share/capture.log)"
}

# The cases that show two implementations or two wires: send, write, read, private data, disconnect.
across=(--only '^(dtest|dapltest line (1|2|5|6|7|14))$')
# Line 14 is left out: its passive side sends first, which must wait for the active one when that
# speaks MPA revision 1, as siw does (docs/differences.md).
wires=(--only '^(dtest|dapltest line (1|2|5|6|7|13))$')
# The server of dtestx tells its client where to connect, and only then listens there. Over RoCE no
# socket shows when it does, and the client that comes before it is rejected (event 0x4003).
roce=(--only '^(dtest|dtestx|dapltest line (1|2|4|5|6|7|8|13|14|16|18))$' --again 'conn established: 0x4003')

# rds_tests NAME PROGRAM...: programs of tests/rds, of which each case is one check.
rds_tests() {
  local name=$1 program
  shift
  for program; do
    SOFTDAT_TEST_RDS_ADDRESS=10.7.0.1 gtest "$name, $program" "" "$bin/tests/rds/softnet_${program}_test"
  done
}

# Over Linux's RDS, without the library that takes their calls. rdma comes first, because it sees what there is before
# the first connection. errno loads rds_tcp.
kernel_rds() {
  local name="rds tests over the kernel on rxe"
  wanted "$name" || return 0
  soft_dummy rxe || echo "FAILED $name: no device"
  sysctl -qw net.core.wmem_max=16777216 net.core.rmem_max=16777216
  modprobe -a rds rds_rdma || echo "FAILED $name: no modules"
  SOFTDAT_TEST_RDS=kernel rds_tests "$name" rdma messages errno duplicates moves failures ipv6 holder options names processes
  python3 "$root/tests/rds/kernel_differences.py" --seen "$root/tests/rds/kernel_differences.csv" \
    "$name: what differs is listed" "/share/${name// /-},"*.log
}

# Over that library, which they load from the folder in which they are started.
verbs_rds() {
  local name="rds tests over verbs on rxe"
  wanted "$name" || return 0
  cd "$bin" || return
  LD_LIBRARY_PATH=$bin/dat/registry SOFTDAT_PROVIDER_PATH=$bin/provider_verbs SOFTDAT_RDS_IA=verbs-dum0 \
    rds_tests "$name" messages errno duplicates options names rdma failures moves
  cd "$OLDPWD" || return
}

# alone DEVICE: the device talks to itself, with our provider at both ends and with Debian's at one end.
alone() {
  local device=$1
  soft_dummy "$device" || {
    echo "FAILED $device: no device"
    return
  }
  names "$device"
  profile "$device"
  contract "$device"
  raw_verbs "$device"
  conformance "$device"
  ! rare || conformance12 "$device"
  programs12 "$device"
  [[ $device != siw ]] || limits siw
  if [[ $device == rxe ]]; then
    datagrams rxe
    ! rare || conformance12_foreign rxe
    programs12_foreign rxe
    verbs_rds
  fi
  peers "$device" "dapl2-utils on $device" --ia verbs-dum0 --address 10.7.0.1
  [[ $device != rxe ]] || peers rxe "datagrams of dapl2-utils on rxe" --ia verbs-dum0 --address 10.7.0.1 \
    --cases "$here/datagrams.json"
  peers "$device" "libdaplofa to verbs on $device" --server-ia verbs-dum0 --client-ia ofa-v2-dum0 \
    --address 10.7.0.1 "${across[@]}"
  peers "$device" "verbs to libdaplofa on $device" --server-ia ofa-v2-dum0 --client-ia verbs-dum0 \
    --address 10.7.0.1 "${across[@]}"
  faults "$device"
  soft_gone "$device"
}

# One wire, two back ends: TCP in user space, and the kernel's iWARP.
siw_with_softnet() {
  chosen "softnet to verbs on siw" "verbs on siw to softnet" "softnet with rping on siw" || return
  soft_peer siw || echo "FAILED siw: no device on vC"
  foreign_peers
  peers siw "softnet to verbs on siw" --server-ia verbs-vC --client-ia softnet-vD --client-netns B \
    --address 10.8.0.1 "${wires[@]}"
  peers siw "verbs on siw to softnet" --server-ia softnet-vD --client-ia verbs-vC --server-netns B \
    --address 10.8.0.2 "${wires[@]}"
}

# The same with RoCEv2: softnet-udp, and the kernel's soft-RoCE with our provider and with Debian's.
rxe_with_programs() {
  chosen "softnet-udp with rping on rxe" "softnet-udp to verbs on rxe" "verbs on rxe to softnet-udp" \
    "softnet-udp to libdaplofa on rxe" "libdaplofa on rxe to softnet-udp" \
    "datagrams from softnet-udp to verbs on rxe" "datagrams from verbs on rxe to softnet-udp" || return
  soft_peer rxe || echo "FAILED rxe: no device on vC"
  capture_begins
  rxe_peers
  for end in verbs libdaplofa; do
    ia=verbs-vC
    [[ $end == verbs ]] || ia=ofa-v2-vC
    # What OFA's provider sends differs in the private data alone.
    [[ $end == verbs ]] || rare || roce=("${across[@]}")
    peers rxe "softnet-udp to $end on rxe" --server-ia $ia --client-ia softnet-udp-vD --client-netns B \
      --address 10.8.0.1 "${roce[@]}"
    peers rxe "$end on rxe to softnet-udp" --server-ia softnet-udp-vD --client-ia $ia --server-netns B \
      --address 10.8.0.2 "${roce[@]}"
  done
  peers rxe "datagrams from softnet-udp to verbs on rxe" --server-ia verbs-vC --client-ia softnet-udp-vD \
    --client-netns B --address 10.8.0.1 --cases "$here/datagrams.json"
  peers rxe "datagrams from verbs on rxe to softnet-udp" --server-ia softnet-udp-vD --client-ia verbs-vC \
    --server-netns B --address 10.8.0.2 --cases "$here/datagrams.json"
  capture_ends
}

rxe_with_suites() {
  chosen "conformance of softnet-udp to verbs on rxe" "conformance of verbs on rxe to softnet-udp" \
    "datagram suite of softnet-udp to verbs on rxe" "datagram suite of verbs on rxe to softnet-udp" || return
  soft_peer rxe || echo "FAILED rxe: no device on vC"
  capture_begins
  # What the side with verbs cannot do stands in deviations.csv.
  conformance_between "conformance of softnet-udp to verbs on rxe" softnet-udp-vD verbs-vC \
    'ExtensionTest.*AtomicAgainstTheLocalProcessor/*'
  conformance_between "conformance of verbs on rxe to softnet-udp" verbs-vC softnet-udp-vD \
    'PrivateDataTest.TheProviderSaysHowMuchItCarries/*' 'RmrTest.NothingBeyondABoundWindowIsReachable/*'
  # Two EPs of different libraries are no pair for dat_ep_dup_connect. On soft-RoCE a datagram that is
  # longer than its receive ends that receive with an error.
  datagrams_between "datagram suite of softnet-udp to verbs on rxe" softnet-udp-vD verbs-vC \
    'DatagramExchangeTest.CallsOfConnectionsFindNone/*' 'DatagramTest.WhatFindsNoReceiveIsLost/*'
  datagrams_between "datagram suite of verbs on rxe to softnet-udp" verbs-vC softnet-udp-vD \
    'DatagramExchangeTest.CallsOfConnectionsFindNone/*'
  capture_ends
}

. "$here/rds_guest.sh"
case $guest in
  rxe)
    alone rxe
    # Last, because the modules and their connections keep the device.
    kernel_rds
    ;;
  siw)
    alone siw
    siw_with_softnet
    ;;
  rxe-programs) rxe_with_programs ;;
  rxe-suites) rxe_with_suites ;;
  rds) rds_with_linux ;;
  rds-linux) rds_linux ;;
  *) echo "FAILED no guest is called '$guest'" ;;
esac
true
