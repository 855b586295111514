#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What ./check says, and its exit status, when a stage skips something. On a host without QEMU the
# stage vm must do so, loudly. Its argument: any file of the source tree's root.
set -uo pipefail
tree=$TEST_TMPDIR/tree
mkdir -p "$tree/build_defs" "$tree/tests"
from=$(dirname "$1")
cp -RL "$from/build_defs/check" "$tree/build_defs/" && cp -RL "$from/tests/vm" "$tree/tests/" || exit 1
cd "$tree" || exit 1
failed=0

# check_of CI STAGE...: runs these stages with CI set to that value, or unset when it is empty.
check_of() {
  local ci=$1
  shift
  env -u CI ${ci:+CI=$ci} PATH="$PATH" bash -c '
    . build_defs/check/lib.sh
    . build_defs/check/stages.sh
    bazel_run() { :; }
    bazel() { echo "$PWD/bazel-bin"; }
    about[good]="passes" about[leaves_out]="skips two" about[bad]="fails"
    stage_good() { tally 3 0; }
    stage_leaves_out() { skipped_because "no moon"; tally 1 0 2; }
    stage_bad() { tally 0 1; return 1; }
    run_stages "$@"
    finish' check "$@" >run.log 2>&1
}

# expect STATUS LAST_LINE [PATTERN]: checks the run before.
expect() {
  local status=$?
  if [[ $status -ne $1 || $(tail -1 run.log) != "$2" ]] || ! grep -qE -- "${3:-}" run.log; then
    echo "FAIL line ${BASH_LINENO[0]}: status $status, wanted $1, last line '$2', a line like '${3:-}'; it was:"
    cat run.log
    failed=1
  fi
}

check_of "" good
expect 0 "3 passed, 0 failed"
check_of true good
expect 0 "3 passed, 0 failed"
check_of "" good leaves_out
expect 0 "4 passed, 0 failed, 2 skipped in leaves_out" "^check: SKIPPED in stage 'leaves_out' \(2 skipped\); .*; no moon$"
check_of false good leaves_out
expect 0 "4 passed, 0 failed, 2 skipped in leaves_out"
check_of true good leaves_out
expect 1 "4 passed, 0 failed, 2 skipped in leaves_out" "^check: SKIPPED in stage 'leaves_out' \(2 skipped\); .*; no moon$"
check_of "" good bad leaves_out
expect 1 "4 passed, 1 failed, 2 skipped in leaves_out" "^check: FAILED in stage 'bad'"

# A host that has everything but QEMU.
mkdir tools
ln -s /usr/bin/* /bin/* tools/ 2>/dev/null
rm -f tools/qemu-system-*
export PATH=$PWD/tools SOFTDAT_VM_DIR=$PWD/guest
check_of "" good vm
expect 0 "3 passed, 0 failed, 1 skipped in vm" "^check: SKIPPED in stage 'vm' .*qemu-system-x86_64 is missing"
check_of true good vm
expect 1 "3 passed, 0 failed, 1 skipped in vm" "^check: SKIPPED in stage 'vm' .*qemu-system-x86_64 is missing"
exit $failed
