#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# usage: needs_test.sh LIBRARY: the library needs libc, and nothing else.
needed=$(readelf --dynamic --wide "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
[[ $needed == libc.so.6 ]] && exit 0
echo "FAIL: $1 needs" $needed
exit 1
