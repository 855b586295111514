#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs each benchmark of a program for a moment. A benchmark that does not get its work done calls
# SkipWithError, which the library does not count as a failure.
# usage: benchmark_smoke_test.sh PROGRAM
set -uo pipefail

output=$("$1" --benchmark_min_time=0.001 --benchmark_color=false 2>&1)
status=$?
echo "$output"
if [[ $status -ne 0 ]]; then
  echo "FAIL: exit status $status"
  exit 1
fi
if grep -q 'ERROR OCCURRED' <<<"$output"; then
  echo "FAIL: a benchmark gave up"
  exit 1
fi
if ! grep -q '^[^ ].* ns .* ns ' <<<"$output"; then
  echo "FAIL: no benchmark ran"
  exit 1
fi
