#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# suite.sh PROGRAM ARG...: becomes the program (softdat_suite_test).
exec "$@"
