#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs each benchmark of a program for a moment. One that finds its work undone calls SkipWithError,
# which to the library is no failure.
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
