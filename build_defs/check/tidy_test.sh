#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What tidy.py finds in files that it joins into one, and what it remembers. Its argument: any file
# of the source tree's root.
set -uo pipefail
tidy=$(realpath "$(dirname "$1")/build_defs/check/tidy.py")
cd "$TEST_TMPDIR" || exit 1
failed=0

cat >.clang-tidy <<'EOF'
Checks: '-*,clang-diagnostic-*,bugprone-infinite-loop,misc-unused-using-decls'
WarningsAsErrors: '*'
HeaderFilterRegex: '.*'
EOF
mkdir -p folder
good() {
  printf '#include "folder/three.h"\nnamespace { int Help() { return %s; } }\nint %s() { return Help(); }\n' "$1" "$2"
}
good 1 one >folder/one.cc
# Another file has a helper of the same name.
good 2 two >folder/two.cc
echo 'namespace other { extern int there; } int three();' >folder/three.h
printf '#include "folder/three.h"\nint three() { return 3; }\n' >folder/three.cc
cp -r folder sound

# expect STATUS LAST_LINE [PATTERN]: checks a run over the files.
expect() {
  python3 "$tidy" --state state folder/*.cc -- -std=c++20 -I. -Wall >run.log 2>&1
  local status=$?
  if [[ $status -ne $1 || $(tail -1 run.log) != "$2" ]] || ! grep -qE -- "${3:-}" run.log; then
    echo "FAIL line ${BASH_LINENO[0]}: status $status, wanted $1, last line '$2', a line like '${3:-}'; it was:"
    cat run.log
    failed=1
  fi
  rm -rf folder && cp -r sound folder
}

expect 0 "3 passed, 0 failed"

# The result is remembered, so a clang-tidy that always fails is not asked.
mkdir no
printf '#!/bin/sh\n[ "$1" = --version ] && exec %s --version\nexit 1\n' "$(command -v clang-tidy)" >no/clang-tidy
chmod +x no/clang-tidy
path=$PATH
PATH=$PWD/no:$path
expect 0 "3 passed, 0 failed"
echo '// changed' >>folder/three.h
expect 1 "0 passed, 3 failed" "clang-tidy ended with 1"
PATH=$path

echo 'void Wait(int* n) { int i = 0; while (i < 10) ++*n; }' >>folder/two.cc
expect 1 "2 passed, 1 failed" '/folder/two.cc:4:.*\[bugprone-infinite-loop'
echo 'inline void Wait(int* n) { int i = 0; while (i < 10) ++*n; }' >>folder/three.h
expect 1 "0 passed, 3 failed" '/folder/three.h:2:.*\[bugprone-infinite-loop'
# This finding comes from the main file alone.
echo 'static void Nobody() {}' >>folder/three.cc
expect 1 "2 passed, 1 failed" '/folder/three.cc:3:.*\[clang-diagnostic-unused-function'
echo 'int broken( { }' >>folder/one.cc
expect 1 "2 passed, 1 failed" '/folder/one.cc:4:.*\[clang-diagnostic-error'
# Another file uses the name, this one does not.
echo 'using other::there;' >>folder/one.cc
printf 'using other::there;\nint Use() { return there; }\n' >>folder/three.cc
expect 1 "2 passed, 1 failed" "^folder/one.cc: error: 'there' is not used"
expect 0 "3 passed, 0 failed"
exit $failed
