#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Compares the dynamic symbols that a shared library defines with the names in its version script.
# Looks for thread-local variables that threads get from the heap (dat/base/thread_local.h).
# usage: exports_test.sh LIBRARY VERSION_SCRIPT
set -euo pipefail
library=$1
script=$2

# "name@@NODE" for each name under global:, from the script, one token at a time. "name" if the node has no name.
wanted=$(tr '\n' ' ' <"$script" | sed -e 's,/\*[^*]*\*/,,g' -e 's,[{};],\n&\n,g' | tr -s ' \t' '\n\n' |
  awk '
    $0 == "" || $0 == ";" { next }
    $0 == "{" { node = last; scope = ""; next }
    $0 == "}" { scope = ""; next }
    $0 == "global:" { scope = "global"; next }
    $0 == "local:" { scope = "local"; next }
    scope == "global" { print $0 (node == "" ? "" : "@@" node) }
    { last = $0 }' | LC_ALL=C sort)

found=$(nm -D --extern-only --defined-only --with-symbol-versions "$library" |
  awk '$2 != "A" { print $3 }' | LC_ALL=C sort)

if [[ -z "$wanted" ]]; then
  echo "FAIL: $script names no global symbol"
  exit 1
fi
if ! difference=$(diff <(echo "$wanted") <(echo "$found")); then
  echo "FAIL: $library does not export what $script names ('<' is missing, '>' has leaked):"
  echo "$difference" | grep '^[<>]'
  exit 1
fi
# Those of std::call_once belong to libstdc++.
if late=$(readelf --relocs --wide "$library" | grep -E 'TLSDESC|DTPMOD' | grep -v __once_call); then
  echo "FAIL: $library has thread_local variables without SOFTDAT_EARLY_TLS:"
  echo "$late"
  exit 1
fi
echo "ok: $(echo "$wanted" | wc -l) symbols"
