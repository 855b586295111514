#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# usage: run.sh SOFTDAT-RUN PROGRAM: runs the program over the libraries that the test names as its data.
SOFTDAT_BIN=$PWD exec "$1" --rds "$2"
