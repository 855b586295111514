#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Line coverage of the libraries by all tests, with gcov.
# usage: tools/coverage.sh [--files] [--missing PATH] [--min PERCENT]
#   --files          one line for each file as well
#   --missing PATH   the uncovered lines of the files whose path begins with PATH
#   --min PERCENT    exit status 1 if one of the three folders is below
# SOFTDAT_BAZEL_STARTUP: startup options of Bazel, such as --output_base=/tmp/other for a second
# Bazel beside the one that works in this tree.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

case ${1:-} in
  -h | --help) sed -n '3,10s/^# //p' "$0"; exit 0 ;;
esac

read -ra startup <<<"${SOFTDAT_BAZEL_STARTUP:-}"
folders=(dat wire provider_softnet)
out=$PWD/out/coverage
rm -rf "$out" && mkdir -p "$out/data"

targets=()
# The tests of the toy exercise dat/transport.
for folder in "${folders[@]}" provider_toy tests; do [[ ! -d $folder ]] || targets+=("//$folder/...") ; done

echo "building with counters and running all tests; log out/coverage/bazel.log" >&2
# The first step is a build, so that files which no test links count too, with no line covered.
bazel "${startup[@]}" build --config=coverage --config=quiet "${targets[@]}" >"$out/bazel.log" 2>&1 </dev/null ||
  { echo "coverage: the build failed, see out/coverage/bazel.log" >&2; exit 1; }
# The compiler has noted each counter file as /proc/self/cwd/bazel-out/... The tests write them to
# the data folder instead.
bazel "${startup[@]}" test --config=coverage --config=quiet --keep_going "${targets[@]}" \
  --sandbox_writable_path="$out/data" \
  --test_env=GCOV_PREFIX="$out/data" --test_env=GCOV_PREFIX_STRIP=3 \
  >>"$out/bazel.log" 2>&1 </dev/null ||
  echo "coverage: some tests failed, see out/coverage/bazel.log" >&2

execroot=$(bazel "${startup[@]}" info --config=coverage execution_root 2>/dev/null)
(cd "$execroot" && find -L bazel-out/*-coverage/bin -name '*.gcno' -print0 |
  xargs -0 cp --parents -t "$out/data")
find "$out/data" -name '*.gcno' | LC_ALL=C sort >"$out/notes.txt"
python3 tools/coverage_report.py "$out/notes.txt" "$@" -- "${folders[@]}"
