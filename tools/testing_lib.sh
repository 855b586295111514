# SPDX-License-Identifier: BSD-3-Clause
# The tests of the tools source this. It counts checks, keeps outputs, and ends the processes that
# were started.

work=${TEST_TMPDIR:-$(mktemp -d)}
failures=0
pids=()

# The caller's DAT settings are removed, because the tests must find only the libraries that were
# built with them.
unset DAT_OVERRIDE SOFTDAT_PROVIDER_PATH LD_LIBRARY_PATH SOFTDAT_BIN
: >"$work/empty.conf"
export DAT_OVERRIDE=$work/empty.conf

# declared_providers: the tools load the providers that the test names as its data. The build may
# have left others where the program really lies, which may be half linked, or from an older build.
declared_providers() {
  local library
  SOFTDAT_PROVIDER_PATH=
  for library in "$PWD"/provider_*/libdapl*.so.2; do
    [[ -e $library ]] && SOFTDAT_PROVIDER_PATH+=${SOFTDAT_PROVIDER_PATH:+:}${library%/*}
  done
  [[ -n $SOFTDAT_PROVIDER_PATH ]] || { echo "FAIL the test names no provider as its data"; exit 1; }
  export SOFTDAT_PROVIDER_PATH
}

# own_network ARG...: begins this test again, with its arguments, in a network of its own, if one can be
# made. What it finds on this host is its own then, and other tests do not find it.
own_network() {
  local maker
  [[ -z ${SOFTDAT_TEST_IN_OWN_NETWORK:-} ]] || return 0
  export SOFTDAT_TEST_IN_OWN_NETWORK=yes
  for maker in "unshare --net" "unshare --net --user --map-root-user"; do
    if $maker ip link set lo up 2>/dev/null; then
      exec $maker sh -c 'ip link set lo up && exec "$@"' sh "$BASH" "$0" "$@"
    fi
  done
}

end_all() {
  local pid
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null; done
  wait
}
trap end_all EXIT

# check WHAT COMMAND...: the command must succeed.
check() {
  local what=$1
  shift
  if "$@"; then
    echo "ok   $what"
  else
    echo "FAIL $what"
    failures=$((failures + 1))
  fi
}

# run STATUS COMMAND...: the exit status must be STATUS. The output is in $out, the error output in
# $err.
run() {
  local wanted=$1 status
  shift
  timeout 60 "$@" >"$work/out" 2>"$work/err"
  status=$?
  out=$(cat "$work/out") err=$(cat "$work/err")
  [[ $status -eq $wanted ]] && return 0
  echo "     exit status $status instead of $wanted: $*"
  echo "$out$err" | sed 's/^/     | /' | head -20
  return 1
}

# has TEXT PATTERN: the regular expression must be found in the text.
has() {
  grep -qE -- "$2" <<<"$1" && return 0
  echo "     not found: $2"
  echo "$1" | sed 's/^/     | /' | head -20
  return 1
}

finish() {
  [[ $failures -eq 0 ]] && exit 0
  echo "$failures checks failed"
  exit 1
}
