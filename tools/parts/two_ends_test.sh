#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Each work of two_ends runs to its end, and what it does not know is refused.
# usage: two_ends_test.sh TWO-ENDS
set -u
program=$1
failed=0

# expect STATUS ARGUMENT...
expect() {
  local wanted=$1 said status
  shift
  said=$("$program" "$@" 2>&1)
  status=$?
  if [ $status -ne "$wanted" ]; then
    echo "two_ends $*: status $status instead of $wanted: $said"
    failed=1
  fi
}

for ia in softnet-shm-lo softnet-lo; do
  for work in send notice sends writes; do expect 0 $ia $work 1000; done
done
expect 0 --help
expect 1 softnet-lo reads 1
expect 1 no-such-ia send 1
expect 2 softnet-lo send
exit $failed
