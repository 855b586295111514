# SPDX-License-Identifier: BSD-3-Clause
# The stages of ./check, which sources this file. A stage returns non-zero or tallies a failure when
# it fails.

all_stages=(deps build unit format peers capture vm asan tsan tidy)
fast_stages=(deps build unit format)
full_stages=("${all_stages[@]}" lossy mutation)
declare -A about=(
  [deps]="install the Debian packages that are missing"
  [build]="build every target"
  [unit]="run every unit test, and the suites on every wire"
  [format]="clang-format over the C and C++ files; whether the planted faults still fit the sources"
  [peers]="unmodified programs of dapl2-utils over softnet-lo and softnet-udp-lo (tests/peers/run.sh)"
  [capture]="tshark decodes what the peers sent, and finds nothing malformed"
  [vm]="the verbs back end over soft-RoCE and soft-iWARP in a virtual machine (tests/vm/check)"
  [asan]="the unit tests under AddressSanitizer and UndefinedBehaviorSanitizer, compiled by clang"
  [tsan]="the unit tests of code that knows threads, under ThreadSanitizer"
  [tidy]="clang-tidy and clang's warnings over the other C++ files that have changed; in CI over all"
  [lossy]="the conformance suite over softnet-udp-lo while two packets in a hundred are lost"
  [mutation]="faults planted in the provider, each of which conformance or a simulation must notice (tests/mutation/run)"
)

bazel_progress='^\[[0-9,]+ / [0-9,]+\]|^(ERROR|TIMEOUT):|^//.*(FAILED|TIMEOUT|NO STATUS)'

# The lines in which programs report a failure: shell tests, GoogleTest, the sanitizers.
failed_lines='^FAIL |^     (exit status|not found)|^\[  FAILED  \] |: Failure$|(Sanitizer|runtime error): |^==[0-9]+==[A-Z]'

# bazel_run COMMAND ARG...: runs Bazel with its whole output in the stage's log, and shows the
# progress.
bazel_run() {
  bazel "$1" --config=quiet "${@:2}" 2>&1 </dev/null | progress "$stage_log" "$bazel_progress"
  return "${PIPESTATUS[0]}"
}

# tracer_crashed CONFIG FAILURE...: whether LeakSanitizer itself crashed in all of these, after all
# cases had passed. Its tracer looks at a thread that was joined and is still on its way out of the
# kernel (LLVM 14, about one run in some hundreds).
tracer_crashed() {
  local config=$1 logs failure log
  shift
  logs=$(bazel info $config bazel-testlogs 2>/dev/null) || return 1
  for failure in "$@"; do
    failure=${failure%%: *}
    failure=${failure#//}
    log=$logs/${failure/:/\/}/test.log
    grep -q '^Tracer caught signal' "$log" && grep -q '^\[  PASSED  \]' "$log" || return 1
  done
}

# bazel_tests CONFIG [PATTERN...]: runs `bazel test` of everything, or of the patterns, and counts
# test cases.
bazel_tests() {
  local config=$1 status count line again=yes
  shift
  [[ $# -gt 0 ]] || set -- //...
  local events=$out/events.json
  while :; do
    rm -f "$events"
    # CI tries a failed program a second time and names it. Flakiness is a defect to be found, but
    # not a reason to lose a run that nobody can repeat at once.
    bazel_run test $config --keep_going --build_event_json_file="$events" \
      ${CI:+--flaky_test_attempts=2} -- "$@"
    status=$?
    if ! count=$(python3 build_defs/check/count_tests.py "$events" --summary 2>>"$stage_log"); then
      remedy "bazel test $config -- $*"
      return 1
    fi
    mapfile -t count <<<"$count"
    [[ $status -ne 0 && $again == yes ]] && tracer_crashed "$config" "${count[@]:1}" || break
    again=no
    echo "      LeakSanitizer's own tracer crashed after the last case; once more: ${count[*]:1}"
  done
  tally ${count[0]}
  if [[ ${#count[@]} -gt 1 ]]; then
    for line in "${count[@]:1}"; do echo "      $line"; done
    grep -E "$failed_lines" "$stage_log" | head -40 | sed 's/^/      | /' | cut -c1-200
    remedy "again with: bazel test $config ${count[1]%%: *}"
  fi
  return $status
}

sources() { git ls-files '*.c' '*.cc' '*.h'; }

stage_deps() {
  remedy "do as the line above says"
  build_defs/install_deps.sh check 2>&1 | tee "$stage_log"
  [[ ${PIPESTATUS[0]} -eq 0 ]] || return 1
  tally 1 0
}

stage_build() {
  remedy "again with: bazel build //..."
  bazel_run build //... || return 1
  tally 1 0
}

# Without the variants that are tagged "full", except for ./check --full.
stage_unit() { bazel_tests "$([[ ${full:-} ]] || echo --test_tag_filters=-full)"; }

stage_format() {
  local bad
  remedy "clang-format -i FILE"
  clang-format --version >"$stage_log" || return 1
  bad=$(sources | xargs -r clang-format --dry-run -Werror 2>&1 | tee -a "$stage_log" |
    sed -nE 's/^([^:]+):[0-9]+:.*\[-Wclang-format-violations\]$/\1/p' | sort -u)
  if [[ -n $bad ]]; then
    remedy "clang-format -i $(echo "$bad" | head -3 | paste -sd' ')"
    tally 0 "$(echo "$bad" | wc -l)"
    return 1
  fi
  tally 1 0
  remedy "bring tests/mutation/mutants.txt up to date"
  tests/mutation/run --fits 2>&1 | progress "$stage_log" '^FAIL'
  [[ ${PIPESTATUS[0]} -eq 0 ]] || { tally 0 1; return 1; }
  tally 1 0
}

stage_mutation() {
  local last status
  remedy "again with: tests/mutation/run NAME"
  tests/mutation/run </dev/null 2>&1 | progress "$stage_log" '^(ok|FAIL|copying)'
  status=${PIPESTATUS[0]}
  last=$(grep -E '^[0-9]+ passed, [0-9]+ failed' "$stage_log" | tail -1)
  if [[ -z $last ]]; then
    tail -3 "$stage_log" | sed 's/^/      /'
    return 1
  fi
  tally $(tr -cd '0-9 ' <<<"$last")
  return "$status"
}

# The runner prints "N passed, M failed[, K skipped]" as its last line. It finds the plain build in
# SOFTDAT_BIN and leaves captures of the wire as *.pcap or *.pcapng in SOFTDAT_OUT. The programs care
# little for the wire, so that over the second one our libdat2 is enough, except for ./check --full.
stage_peers() {
  if [[ ! -f tests/peers/run.sh ]]; then
    echo "      tests/peers/run.sh is missing"
    return 1
  fi
  local status=0
  remedy "again with: ./check --only peers"
  bazel_run build //... || return 1
  rm -rf "$out/peers" && mkdir -p "$out/peers"
  peers || status=1
  peers --ia softnet-udp-lo $([[ ${full:-} ]] || echo --libdat2 ours) || status=1
  peers --ia softnet-udp-lo --cases tests/peers/datagrams.json || status=1
  return "$status"
}

# peers ARG...: one run of them.
peers() {
  local log=$out/peers/run.log status last
  SOFTDAT_BIN=$(bazel info bazel-bin 2>/dev/null) SOFTDAT_OUT=$out/peers \
    bash tests/peers/run.sh "$@" </dev/null 2>&1 | progress "$log" '^(ok|FAIL|PASS|\[)'
  status=${PIPESTATUS[0]}
  last=$(grep -E '^[0-9]+ passed, [0-9]+ failed' "$log" | tail -1)
  cat "$log" >>"$stage_log"
  if [[ -z $last ]]; then
    echo "      tests/peers/run.sh $* gave no count"
    return 1
  fi
  tally $(tr -cd '0-9 ' <<<"$last")
  return "$status"
}

# Like the peers. A host that can have no guest gives one skipped check with the reason.
stage_vm() {
  local last status
  remedy "again with: ./check --only vm"
  bazel_run build //... || return 1
  rm -rf "$out/vm" && mkdir -p "$out/vm"
  SOFTDAT_BIN=$(bazel info bazel-bin 2>/dev/null) SOFTDAT_OUT=$out/vm \
    tests/vm/check ${full:+--full} </dev/null 2>&1 | progress "$stage_log" '^(FAILED|SKIPPED|\[)'
  status=${PIPESTATUS[0]}
  last=$(grep -E '^[0-9]+ passed, [0-9]+ failed' "$stage_log" | tail -1)
  if [[ -z $last ]]; then
    echo "      tests/vm/check gave no count"
    return 1
  fi
  skipped_because "$(sed -n 's/^SKIPPED: //p' "$stage_log" | head -1)"
  tally $(tr -cd '0-9 ' <<<"$last")
  return "$status"
}

stage_capture() {
  local files last
  remedy "tshark -r FILE --disable-protocol rpcordma"
  shopt -s nullglob
  files=("$out"/peers/*.pcap "$out"/peers/*.pcapng)
  shopt -u nullglob
  if [[ ${#files[@]} -eq 0 ]]; then
    echo "      the stage 'peers' has left no capture in ${out#"$PWD"/}/peers"
    return 1
  fi
  build_defs/check/capture.sh "${files[@]}" 2>&1 | progress "$stage_log" '^(ok|FAIL| )'
  local status=${PIPESTATUS[0]}
  last=$(tail -1 "$stage_log")
  tally $(tr -cd '0-9 ' <<<"$last")
  return "$status"
}

# What the sanitizers need not see every time, because softnet's own tests run most of it, or because it is
# no more than a view of something else: tools, the bridge to 1.2, the toy, and the verbs provider, which the
# guests run on devices.
views=(-//tools/... -//provider_toy/... -//provider_verbs/... -//dat/bridge/... -//tests/bridge/... -//tests/nulldevice/...
  -//tests/vm/... -//tests/abi/... -//build_defs/... -//examples/...)

stage_asan() {
  if [[ ${full:-} ]]; then
    bazel_tests "--config=asan --config=asan-full"
  else
    bazel_tests --config=asan //... "${views[@]}"
  fi
}

stage_lossy() { bazel_tests "" //tests/conformance:softnet_udp_lossy_test; }

# Leaves out folders whose code has no threads. Those of provider_softnet are engines without I/O: what they
# share with other threads is tested where there are some.
stage_tsan() {
  local single=(-//wire/... -//provider_softnet/iwarp/... -//provider_softnet/roce/... -//provider_softnet/cm/...
    -//rds/protocol/... -//tests/sim/... -//tests/abi/... -//tests/vm/... -//tools/info/... -//tools/bench/... -//tools/common/...)
  if [[ ${full:-} ]]; then
    bazel_tests "--config=tsan --config=tsan-full" //... "${single[@]}"
  else
    bazel_tests --config=tsan //... "${single[@]}" "${views[@]}"
  fi
}

# The warnings that .bazelrc asks of every compiler.
warnings() { sed -nE '/^build /s/^build //p' .bazelrc | grep -oE -- '--c(xx)?opt=-W[^ ]*' | sed 's/^[^=]*=//'; }

# Checks what has changed since it was last good; in continuous integration everything
# (build_defs/check/tidy.py).
stage_tidy() {
  local files flags last status generated
  remedy "see the log"
  # Builds the generated files, which are not in the tree.
  bazel_run build //dat/bridge:gen_dat12 //dat/bridge:gen_entries || return 1
  generated=$(bazel info bazel-bin 2>/dev/null)
  mapfile -t files < <(git ls-files '*.cc' | grep -vE '_test\.cc$|^tests/|/testing/|^build_defs/')
  mapfile -t flags < <(warnings)
  build_defs/check/tidy.py $([[ ${CI:-false} == false ]] || echo --all) --state "$out/tidy" "${files[@]}" \
    -- -std=c++20 -I. -I"$generated" -Idat/include -Irds/include "${flags[@]}" </dev/null >"$stage_log" 2>&1
  status=$?
  last=$(grep -E '^[0-9]+ passed, [0-9]+ failed' "$stage_log" | tail -1)
  if [[ -z $last ]]; then
    tail -3 "$stage_log" | sed 's/^/      /'
    return 1
  fi
  grep -E ' (warning|error): ' "$stage_log" | head -5 | sed "s,^$PWD/,      ,"
  tally $(tr -cd '0-9 ' <<<"$last")
  return "$status"
}
