# SPDX-License-Identifier: BSD-3-Clause
# The checks themselves, run in the guest by tests/vm/check, which sets bin and here.
export SOFTDAT_LOG=/share/softdat.log SOFTDAT_LOG_LEVEL=info

# excluded DEVICE SUITE: the cases that the device cannot pass, as a negative GoogleTest filter.
excluded() {
  awk -F';' -v device="$1" -v suite="$2" \
    '!/^#/ && ($1 == device || $1 == "verbs") && $2 == suite { printf "%s%s", sep, $3; sep = ":" }' \
    "$here/deviations.csv"
}

# gtest NAME LIMIT COMMAND...: each test case is one check. A program that dies fails one more.
gtest() {
  local name=$1 limit=$2 log
  shift 2
  log=/share/${name// /-}.log
  timeout "$limit" "$@" >"$log" 2>&1
  local status=$?
  sed -nE "s/^\[       OK \] ([^ ]+) .*/ok $name: \1/p; s/^\[  FAILED  \] ([^ ]+) \(.*/FAILED $name: \1/p" "$log"
  if [[ $status -ne 0 ]] && ! grep -q '^\[  FAILED  \]' "$log"; then
    echo "FAILED $name: status $status, $(grep '^\[ RUN' "$log" | tail -1)"
  fi
}

contract() {
  local device=$1 groups=$2
  CONTRACT_DEVICE=verbs-dum0 gtest "contract on $device" 400 "$bin/provider_verbs/contract_check" \
    --gtest_filter="$groups-$(excluded "$device" contract)"
}

# dtest NAME LIBRARIES: the unmodified program at both ends over verbs-dum0, with libdat2 from LIBRARIES (empty:
# Debian's).
dtest_pair() {
  local name=$1 server status
  export DAT_OVERRIDE=/run/dat.conf LD_LIBRARY_PATH=$2
  printf 'verbs-dum0 u2.0 nonthreadsafe default %s/provider_verbs/libdaplverbs.so.2 softdat.2.0 "" ""\n' \
    "$bin" >$DAT_OVERRIDE
  timeout 120 dtest -P verbs-dum0 -b 64 -s >"/share/${name// /-}.server.log" 2>&1 &
  server=$!
  until_true 60 listening 15828 || echo "dtest server: no listener"
  timeout 90 dtest -P verbs-dum0 -b 64 -h 10.7.0.1 >"/share/${name// /-}.client.log" 2>&1
  status=$?
  wait $server || status=$?
  unset DAT_OVERRIDE LD_LIBRARY_PATH
  if [[ $status -eq 0 ]] && grep -q PASSED "/share/${name// /-}.client.log"; then
    echo "ok $name"
  else
    echo "FAILED $name: status $status"
  fi
}

soft_dummy rxe || echo "FAILED rxe: no device"
contract rxe '*'
dtest_pair "dtest on rxe, our libdat2" "$bin/dat/registry"
dtest_pair "dtest on rxe, Debian's libdat2" ""
soft_gone rxe
true
