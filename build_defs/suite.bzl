# SPDX-License-Identifier: BSD-3-Clause
"""softdat_suite_test: one run of a test program that is linked once and run in many ways."""

def softdat_suite_test(
        name,
        program,
        args = [],
        data = [],
        env = {},
        shard_count = None,
        size = "small",
        tags = []):
    """Runs a GoogleTest program, like a cc_test that is linked for this run alone.

    One case: `bazel test //PACKAGE:NAME --test_arg=--gtest_filter=SendTest.*`

    Args:
      name: the target.
      program: a cc_binary.
      args: its arguments.
      data: what it needs beside itself.
      env: its environment.
      shard_count: in how many processes its cases are run, if more than one.
      size: the Bazel test size, of each of these processes.
      tags: as everywhere in Bazel.
    """
    native.sh_test(
        name = name,
        size = size,
        srcs = ["//build_defs:suite.sh"],
        args = ["$(location %s)" % program] + args,
        data = [program] + data,
        env = env,
        shard_count = shard_count,
        tags = tags,
    )
