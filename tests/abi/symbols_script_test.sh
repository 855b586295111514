#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# symbols_test.py accepts a library that exports exactly what the table says. It refuses one that
# lacks a name, has one too many, or has the wrong version node.
# usage: symbols_script_test.sh SCRIPT TABLE INCLUDE
set -euo pipefail
script=$1
table=$2
include=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Builds $work/lib.so, which exports the names on stdin at node $1.
build() {
  awk -v node="$1" -v script="$work/lib.map" '
    { print "void " $1 "(void) {}" }
    { names = names "    " $1 ";\n" }
    END { print node " {\n  global:\n" names "  local: *;\n};" > script }' >"$work/lib.c"
  cc -shared -fPIC -o "$work/lib.so" "$work/lib.c" "-Wl,--version-script,$work/lib.map"
}

# expect STATUS TEXT FORM: checks the script's exit status, and that its output has the text.
expect() {
  local status=0 headers=()
  [[ $3 == provider ]] || headers=("$include")
  python3 -B "$script" "$3" "$table" "$work/lib.so" "${headers[@]}" >"$work/out" || status=$?
  if [[ $status != "$1" ]] || ! grep -q -- "$2" "$work/out"; then
    echo "FAILED: status $status, wanted $1 and the text '$2'; output:"
    cat "$work/out"
    exit 1
  fi
}

awk -F, '$1 == "symbol" || $1 == "not_exported" || $1 == "not_declared" { print $2 }' "$table" |
  grep -v '^dat_strerror_ext' | sort -u >"$work/names"
printf 'softdat_last_reason\nsoftdat_version\n' >>"$work/names"

build DAT_2.0 <"$work/names"
expect 0 'symbol  *74 rows checked' registry
grep -v '^dat_csp_free$' "$work/names" | build DAT_2.0
expect 1 'dat_csp_free: found nothing' registry
expect 1 'dat_csp_free: declared in the headers, not exported' registry
(cat "$work/names"; echo dat_surprise) | build DAT_2.0
expect 1 'dat_surprise: exported, and not in the table' registry
build DAT_1.9 <"$work/names"
expect 1 'no symbol has this version' registry

printf 'dat_provider_init\ndat_provider_fini\ndapl_extensions\n' >"$work/provider"
build SOFTDAT <"$work/provider"
expect 0 'provider_symbol' provider
(cat "$work/provider"; echo dat_ep_free) | build SOFTDAT
expect 1 'must not export' provider
grep -v fini "$work/provider" | build SOFTDAT
expect 1 'dat_provider_fini' provider
echo "ok: 2 libraries accepted, 5 refused"
