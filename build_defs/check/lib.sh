# SPDX-License-Identifier: BSD-3-Clause
# The frame of ./check, which sources it. It runs stages, keeps their logs, counts, and reports.

out=$PWD/out/check
{ mkdir -p "$out" && [[ -w $out ]]; } 2>/dev/null ||
  { echo "check: cannot write to $out: run as its owner, or remove it" >&2; exit 1; }
export HOME=${HOME:-$out/home}

total_passed=0
total_failed=0
total_skipped=0
failures=()     # one line for each stage that failed
skips=()        # one line for each stage that left something out
skipped_in=()   # their names
check_start=$SECONDS

# tally PASSED FAILED [SKIPPED]: adds the running stage's numbers to the totals.
tally() {
  stage_passed=$((stage_passed + $1))
  stage_failed=$((stage_failed + $2))
  stage_skipped=$((stage_skipped + ${3:-0}))
}

# remedy TEXT: says what to do about the failure of the running stage.
remedy() { stage_remedy=$1; }

# skipped_because TEXT: says why the running stage left something out.
skipped_because() { stage_why_skipped=$1; }

# Copies a log from standard input to the file $1, and shows the lines that match $2 as progress.
progress() {
  tee "$1" | grep --line-buffered -E "$2" | sed -u -E 's/^(.{0,104}).*/      \1/'
}

# run_stages NAME...: runs stage_NAME for each. A failed deps or build stage ends the run, since no
# later stage could tell anything.
run_stages() {
  local stage number=0 start status
  for stage in "$@"; do
    number=$((number + 1))
    start=$SECONDS
    stage_passed=0 stage_failed=0 stage_skipped=0
    stage_log=$out/$stage.log
    stage_remedy="see the log"
    stage_why_skipped="see the log"
    : >"$stage_log"
    echo "[$number/$#] $stage: ${about[$stage]}"
    "stage_$stage"
    status=$?
    [[ $status -eq 0 || $stage_failed -gt 0 ]] || stage_failed=1
    total_passed=$((total_passed + stage_passed))
    total_failed=$((total_failed + stage_failed))
    total_skipped=$((total_skipped + stage_skipped))
    echo "      $stage: $stage_passed passed, $stage_failed failed$(and_skipped "$stage_skipped") ($((SECONDS - start)) s)"
    if [[ $stage_skipped -gt 0 ]]; then
      skips+=("SKIPPED in stage '$stage' ($stage_skipped skipped); log ${stage_log#"$PWD"/}; $stage_why_skipped")
      skipped_in+=("$stage")
    fi
    if [[ $stage_failed -gt 0 ]]; then
      failures+=("FAILED in stage '$stage' ($stage_failed failed); log ${stage_log#"$PWD"/}; $stage_remedy")
      [[ $stage != deps && $stage != build ]] || return
    fi
  done
}

and_skipped() { [[ $1 -eq 0 ]] || echo ", $1 skipped"; }

# Prints the last lines of ./check, and returns its exit status. The last line names the stages that
# left something out. In continuous integration (CI is set and not "false") that is a failure,
# because nobody else would run what was left out.
finish() {
  local line seconds=$((SECONDS - check_start)) bad=$total_failed
  echo "check: took $((seconds / 60)) min $((seconds % 60)) s"
  for line in "${failures[@]}" "${skips[@]}"; do echo "check: $line"; done
  if [[ $total_passed -eq 0 && $total_failed -eq 0 ]]; then total_failed=1 bad=1; fi
  if [[ $total_skipped -gt 0 && ${CI:-false} != false ]]; then
    echo "check: this is continuous integration (CI=$CI): what is skipped has failed"
    bad=$((bad + total_skipped))
  fi
  local where=""
  [[ $total_skipped -eq 0 ]] || where=" in ${skipped_in[*]}"
  echo "$total_passed passed, $total_failed failed$(and_skipped "$total_skipped")$where"
  [[ $bad -eq 0 ]] || exit 1
  exit 0
}
