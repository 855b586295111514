#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Stands where Bazel looks for its coverage merger.
echo "error: 'bazel coverage' makes no report here: run tools/coverage.sh" >&2
exit 1
