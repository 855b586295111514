#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests softdat-run in all places where it can be: a source tree, an installation, with SOFTDAT_BIN.
# usage: softdat_run_test.sh LIB SOFTDAT-RUN
. "$1"
run_script=$(readlink -f "$2")

tree=$work/tree
mkdir -p "$tree/tools" "$tree/bin/dat/registry" "$tree/bin/provider_a" "$tree/bin/provider_b"
cp "$run_script" "$tree/tools/softdat-run"
ln -s bin "$tree/bazel-bin"
script=$tree/tools/softdat-run
print='echo "$LD_LIBRARY_PATH|$SOFTDAT_PROVIDER_PATH|${SOFTDAT_BIN:-none}"'

check "nothing is built" run 125 "$script" true
check "says how" has "$err" "nothing is built: .*bazel build"
: >"$tree/bin/dat/registry/libdat2.so.2"
check "no provider is built" run 125 "$script" true
check "says so" has "$err" "no provider is built"
: >"$tree/bin/provider_a/libdapla.so.2"
: >"$tree/bin/provider_b/libdaplb.so.2"

wanted="^$tree/bin/dat/registry:$tree/bin/provider_a:$tree/bin/provider_b\\|$tree/bin/provider_a:$tree/bin/provider_b\\|none$"
check "from a source tree" run 0 "$script" bash -c "$print"
check "finds all" has "$out" "$wanted"
mkdir "$tree/bin/dat/bridge"
: >"$tree/bin/dat/bridge/libdat.so.1"
check "with the bridge of 1.2" run 0 "$script" bash -c "$print"
check "finds it too" has "$out" "^$tree/bin/dat/registry:$tree/bin/dat/bridge:$tree/bin/provider_a:"
rm -r "$tree/bin/dat/bridge"
cd / || exit 1
check "from another folder" run 0 "$script" bash -c "$print"
check "finds all" has "$out" "$wanted"
ln -s "$script" "$work/link"
check "through a link" run 0 "$work/link" -- bash -c "$print"
check "finds all" has "$out" "$wanted"

export LD_LIBRARY_PATH=/before SOFTDAT_PROVIDER_PATH=/mine
check "with folders of the caller" run 0 "$script" bash -c "$print"
check "which come last" has "$out" "provider_b:/before\\|.*provider_b:/mine\\|"
unset LD_LIBRARY_PATH SOFTDAT_PROVIDER_PATH

mkdir -p "$work/other/dat/registry" "$work/other/provider_c"
: >"$work/other/dat/registry/libdat2.so.2"
: >"$work/other/provider_c/libdaplc.so.2"
SOFTDAT_BIN=$work/other check "with SOFTDAT_BIN" run 0 "$script" bash -c "$print"
check "which is not passed on" has "$out" "^$work/other/dat/registry:$work/other/provider_c\\|$work/other/provider_c\\|none$"
mkdir -p "$tree/bin-asan"
check "a sanitizer that is not built" run 125 "$script" --asan true
check "says how" has "$err" "bazel build --config=asan"
SOFTDAT_BIN=$work/nothing check "a sanitizer without a plain build" run 125 "$script" --asan true
check "says that it takes two" has "$err" "bazel build //dat/registry:libdat2.so.2 && bazel build --config=asan"

mkdir -p "$work/installed/bin" "$work/installed/lib"
cp "$run_script" "$work/installed/bin/softdat-run"
: >"$work/installed/lib/libdat2.so.2"
check "installed" run 0 "$work/installed/bin/softdat-run" bash -c "$print"
check "beside it" has "$out" "^$work/installed/lib\\|$work/installed/lib\\|none$"

# --rds. A library that cannot be preloaded costs a line on standard error, and the programs run.
rds='echo "$LD_PRELOAD|$LD_LIBRARY_PATH"'
check "without --rds" run 0 "$script" bash -c "$rds"
check "nothing is preloaded" has "$out" "^\\|$tree/bin/dat/registry:"
check "RDS that is not built" run 125 "$script" --rds true
check "says how" has "$err" "RDS is not built: .*librds_preload.so is missing; build with: bazel build //rds/preload"
mkdir -p "$tree/bin/rds/preload" "$tree/bin/rds/api"
: >"$tree/bin/rds/preload/librds_preload.so"
check "RDS that is half built" run 125 "$script" --rds true
check "says so" has "$err" "rds/api/librds.so is missing"
: >"$tree/bin/rds/api/librds.so"
check "with RDS" run 0 "$script" --rds bash -c "$rds"
check "it is preloaded and found" has "$out" \
  "^$tree/bin/rds/preload/librds_preload.so\\|$tree/bin/dat/registry:$tree/bin/provider_a:$tree/bin/provider_b:$tree/bin/rds/api$"
LD_PRELOAD=/mine.so check "with a library of the caller" run 0 "$script" --rds bash -c "$rds"
check "which comes last" has "$out" "librds_preload.so:/mine.so\\|"
check "RDS for eval" run 0 "$script" --rds --print
check "has it all" has "$out" "^export LD_PRELOAD=$tree/bin/rds/preload/librds_preload.so$"
for sanitizer in asan:libclang_rt.asan tsan:libtsan; do
  built=$tree-${sanitizer%:*}/bin
  mkdir -p "$built"/{dat/registry,provider_a,rds/preload,rds/api}
  : >"$built/dat/registry/libdat2.so.2"
  : >"$built/provider_a/libdapla.so.2"
  check "RDS without that sanitizer" run 125 "$script" "--${sanitizer%:*}" --rds true
  check "says how" has "$err" "bazel build --config=${sanitizer%:*} //rds/preload"
  : >"$built/rds/preload/librds_preload.so"
  : >"$built/rds/api/librds.so"
  ASAN_OPTIONS=detect_leaks=0 check "RDS with a sanitizer" run 0 "$script" "--${sanitizer%:*}" --rds env
  check "comes behind its run time" has "$out" \
    "^LD_PRELOAD=/[^:]*/${sanitizer#*:}[^:]*:$built/rds/preload/librds_preload.so$"
done
mkdir "$work/a space"
cp -r "$work/other" "$work/a space/bin"
mkdir -p "$work/a space/bin/rds"/{preload,api}
: >"$work/a space/bin/rds/preload/librds_preload.so"
: >"$work/a space/bin/rds/api/librds.so"
SOFTDAT_BIN="$work/a space/bin" check "RDS in a folder that cannot be preloaded" run 125 "$script" --rds true
check "says so" has "$err" "there is a space or a colon in it"
check "RDS that is not installed" run 125 "$work/installed/bin/softdat-run" --rds true
check "says so" has "$err" "RDS is not installed: $work/installed/lib/librds_preload.so is missing"
: >"$work/installed/lib/librds_preload.so"
: >"$work/installed/lib/librds.so"
check "installed RDS" run 0 "$work/installed/bin/softdat-run" --rds bash -c "$rds"
check "beside it" has "$out" "^$work/installed/lib/librds_preload.so\\|$work/installed/lib$"

check "the exit status is the program's" run 7 "$script" bash -c 'exit 7'
check "a signal is the program's" run 143 "$script" bash -c 'kill -TERM $$'
"$script" bash -c 'echo up; exec sleep 60' >"$work/up" &
pid=$!
pids+=("$pid")
# Before the program runs, the signal may meet a shell that holds it back.
until [[ -s $work/up ]]; do read -r -t 0.05 <> <(:) || true; done
kill "$pid"
wait "$pid"
check "a signal to it is one to the program" test $? -eq 143
check "no such program" run 127 "$script" no-such-program-here
check "no command" run 125 "$script"
check "a wrong option" run 125 "$script" --bogus true
check "--help" run 0 "$script" --help
check "--print" run 0 "$script" --print
check "is for eval" has "$out" "^export SOFTDAT_PROVIDER_PATH=$tree/bin/provider_a:"

mkdir "$tree/tools/pkgconfig"
PKG_CONFIG_PATH=/mine check "with dat2.pc and dat.pc" run 0 "$script" --print
check "which pkg-config finds first" has "$out" "^export PKG_CONFIG_PATH=$tree/tools/pkgconfig:/mine$"
unset PKG_CONFIG_PATH
check "a command" run 0 "$script" bash -c 'echo "$PKG_CONFIG_PATH"'
check "finds them too" has "$out" "^$tree/tools/pkgconfig$"

finish
