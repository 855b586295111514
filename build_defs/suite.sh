#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# suite.sh PROGRAM ARG...: runs the program in its place (softdat_suite_test).
exec "$@"
