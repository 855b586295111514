# SPDX-License-Identifier: BSD-3-Clause
"""softdat_benchmark: a Google Benchmark program, and a test that it still runs."""

def softdat_benchmark(name, srcs, deps = []):
    """Declares a benchmark; build_defs/micro_benchmarks runs all of them.

    One alone: `bazel run --config=opt //wire:crc32c_benchmark -- --benchmark_filter=...`

    Args:
      name: the program, NAME_benchmark.
      srcs: what it consists of, with BENCHMARK_MAIN().
      deps: what it measures.
    """
    native.cc_binary(
        name = name,
        testonly = True,
        srcs = srcs,
        tags = ["benchmark"],  # build_defs/micro_benchmarks asks for it
        deps = deps + ["//third_party:benchmark"],
    )

    # Keeps the benchmark from rotting. It has one thread, so nothing for TSan. It does not prove
    # that what runs here is right, so it does not count as coverage.
    native.sh_test(
        name = name + "_smoke_test",
        size = "small",
        srcs = ["//build_defs:benchmark_smoke_test.sh"],
        args = ["$(location :%s)" % name],
        data = [":" + name],
        tags = [
            "nocoverage",
            "notsan",
        ],
    )
