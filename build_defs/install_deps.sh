#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Installs the missing Debian packages of build_defs/debian-packages.txt. When all are there, it
# does nothing, and needs neither root nor a network.
# usage: install_deps.sh [build|check]     (check = build and check; the default)
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
group=${1:-check}
log=${here%/*}/out/deps.log

fail() {
  echo "error: $1" >&2
  exit 1
}

case $group in
  build) pattern='^build$' ;;
  check) pattern='^(build|check)$' ;;
  *) fail "install_deps.sh: unknown group '$group' (build or check)" ;;
esac

command -v dpkg-query >/dev/null && command -v apt-get >/dev/null ||
  fail "this is not Debian (no apt-get): install the packages of build_defs/debian-packages.txt by hand"

mapfile -t wanted < <(awk -v p="$pattern" '$1 ~ p { print $2 }' "$here/debian-packages.txt")
missing=()
for package in "${wanted[@]}"; do
  state=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null) || state=
  [[ $state == installed ]] || missing+=("$package")
done

if [[ ${#missing[@]} -eq 0 ]]; then
  echo "  all ${#wanted[@]} Debian packages are installed"
  exit 0
fi

echo "  ${#missing[@]} of ${#wanted[@]} Debian packages are missing: ${missing[*]}"
release=$(. /etc/os-release && echo "${ID:-unknown} ${VERSION_ID:-}")
[[ $release == "debian 12" ]] ||
  fail "needs Debian 12, this is '$release': install the packages named above by hand, then run again"
[[ $(id -u) -eq 0 ]] ||
  fail "installing needs root: run 'sudo $0 $group', then run again"

mkdir -p "$(dirname "$log")"
export DEBIAN_FRONTEND=noninteractive
echo "  apt-get update ..."
apt-get -q update >"$log" 2>&1 </dev/null ||
  fail "'apt-get update' failed: check the network and /etc/apt, see $log"
echo "  apt-get install (some minutes the first time) ..."
apt-get -q -y --no-install-recommends install "${missing[@]}" >>"$log" 2>&1 </dev/null ||
  fail "'apt-get install' failed: $(grep -m1 '^E:' "$log" || echo 'no reason given'); see $log"
echo "  installed ${#missing[@]} packages"
