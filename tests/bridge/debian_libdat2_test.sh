#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# libdat.so.1 over the libdat2.so.2 of Debian instead of ours: the same programs of uDAPL 1.2 on
# softnet-lo.
# usage: debian_libdat2_test.sh PROGRAM PROVIDER
set -euo pipefail
debian=/usr/lib/x86_64-linux-gnu/libdat2.so.2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
echo "softnet-lo u2.0 nonthreadsafe default $PWD/$2 softdat.1.0 \"\" \"\"" >"$work/dat.conf"
# The program would load our library, which has the same name.
export LD_PRELOAD=$debian DAT_OVERRIDE=$work/dat.conf
# To a file, because a reader that has seen enough would end the program by closing the pipe.
LD_DEBUG=files "$1" --gtest_list_tests >"$work/loaded" 2>&1
grep -q "calling init: $debian" "$work/loaded" || { echo "FAIL Debian's libdat2 is not what runs"; exit 1; }
# Debian's library knows fewer subtypes than the test asks for, and accepts any.
"$1" --gtest_filter="-Words.VersionsAndNames"
