#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A program in C calls every function of uDAPL 1.2 and of the appendix of the paper, with success.
# It is compiled by hand: dat/udat.h, and -ldat by pkg-config.
# usage: every_call_test.sh LIB PKGCONFIG-FOLDER TABLE APPENDIX SOURCE...
. "$1"
declared_providers
export PKG_CONFIG_PATH=$PWD/$2
table=$3 appendix=$4
shift 4

# The folder of the test holds the files of bazel-bin and the sources.
flags() { pkg-config --define-variable=root="$PWD" --define-variable=bin="$PWD" "$@" dat; }
cflags=$(flags --cflags) libs=$(flags --libs)
check "pkg-config links with -ldat" has "$libs" "(^| )-ldat( |$)"
program=$work/every_call
sources=()
for source in "$@"; do [[ $source == *.h ]] || sources+=("$source"); done
check "builds" run 0 cc -std=gnu11 -Wall -Wextra -Werror -I. $cflags -o "$program" "${sources[@]}" $libs
check "needs libdat.so.1" has "$(readelf -d "$program")" "NEEDED.*\[libdat\.so\.1\]"

grep '^symbol,' "$table" | cut -d, -f2 | sort -u >"$work/table"
grep -v '^#' "$appendix" | sort -u >"$work/appendix"
check "the table has functions" test "$(wc -l <"$work/table")" -ge 73
check "the appendix has functions" test "$(wc -l <"$work/appendix")" -ge 53
nm -u "$program" | sed -nE 's/^ *U (dats?_[a-z_]+)(@.*)?$/\1/p' | sort -u >"$work/linked"
check "refers to what the table has, and to nothing else" run 0 diff "$work/table" "$work/linked"

export LD_LIBRARY_PATH=$PWD/dat/bridge:$PWD/dat/registry
check "runs on softnet-lo" run 0 "$program" softnet-lo
sort -u "$work/out" >"$work/called"
for list in table appendix; do
  check "$list" run 0 comm -23 "$work/$list" "$work/called"
  check "every function of the $list was called, with success" test -z "$out"
done
finish
