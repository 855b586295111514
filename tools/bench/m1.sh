#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The table of targets, under the name that its first four rows had.
program=$1
shift
exec "$program" targets "$@"
