#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# suite.sh PROGRAM ARG...: runs the program in its place (softdat_suite_test). With
# SOFTDAT_TEST_OWN_NETWORK it does so in a network of its own, if one can be made.
if [ -n "$SOFTDAT_TEST_OWN_NETWORK" ]; then
  unset SOFTDAT_TEST_OWN_NETWORK
  for maker in "unshare --net" "unshare --net --user --map-root-user"; do
    if $maker ip link set lo up 2>/dev/null; then
      exec $maker sh -c 'ip link set lo up && exec "$@"' sh "$@"
    fi
  done
fi
exec "$@"
