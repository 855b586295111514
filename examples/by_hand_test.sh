#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds each example with the commands in the comment at its top, and the pkg-config files of the
# tree.
# usage: by_hand_test.sh LIB PKGCONFIG-FOLDER EXAMPLE.c...
. "$1"
declared_providers
export PKG_CONFIG_PATH=$PWD/$2
shift 2
# The test's folder takes the place of both bazel-bin and the source tree.
mkdir -p "$work/bin"
printf '#!/bin/sh\nexec /usr/bin/pkg-config --define-variable=root=%q --define-variable=bin=%q "$@"\n' \
  "$PWD" "$PWD" >"$work/bin/pkg-config"
chmod +x "$work/bin/pkg-config"
export PATH=$work/bin:$PATH LD_LIBRARY_PATH=$PWD/dat/registry:$PWD/dat/bridge

for version in 2.0 1.2; do
  [[ $version == 2.0 ]] && package=dat2 || package=dat
  check "pkg-config $package" run 0 pkg-config --modversion $package
  check "is of uDAPL $version" has "$out" "^$version$"
  check "pkg-config $package" run 0 pkg-config --libs $package
  check "links with -l$package" has "$out" "-l$package( |$)"
done

for source in "$@"; do
  example=$(basename "$source" .c)
  check "$example: at most 200 lines" test "$(wc -l <"$source")" -le 200
  command=$(sed -n 's/^ \*   \(cc .*\)/\1/p' "$source")
  check "$example: says how to build it" test -n "$command"
  cp "$source" "$work"
  check "$example: builds" run 0 bash -ec "cd '$work'; ${command/#cc /cc -Wall -Wextra -Werror }"
  check "$example: runs" run 0 "$work/$example" --help
  [[ $example != window* ]] || check "$example: moves data" run 0 "$work/$example"
done

finish
