#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs the unmodified programs of Debian's dapl2-utils over softnet-lo. See --help.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# Makes a network of its own, because the programs insist on fixed ports (15828, 45248, 62000), and
# so that captures hold nothing else. Without the right to make one, it uses the network that is
# there.
if [[ -z ${SOFTDAT_PEERS_INSIDE:-} && " $* " != *" --help "* && " $* " != *" --list "* ]]; then
  export SOFTDAT_PEERS_INSIDE=own
  for maker in "unshare --net" "unshare --net --user --map-root-user"; do
    if $maker ip link set lo up 2>/dev/null; then
      exec $maker bash "${BASH_SOURCE[0]}" "$@"
    fi
  done
  export SOFTDAT_PEERS_INSIDE=shared
  echo "[peers] no network namespace of its own can be made here; using the one that is there"
fi
if [[ ${SOFTDAT_PEERS_INSIDE:-} == own ]]; then
  ip link set lo up || exit 1
fi
unset SOFTDAT_PEERS_INSIDE
exec python3 "$here/run_peers.py" "$@"
