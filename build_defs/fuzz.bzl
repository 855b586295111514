# SPDX-License-Identifier: BSD-3-Clause
"""softdat_fuzz_test: one fuzz target, run by libFuzzer or, in the unit tests, by a small driver."""

def softdat_fuzz_test(name, srcs, deps = [], corpus = [], runs = 20000, size = "small"):
    """Declares a test around `extern "C" int LLVMFuzzerTestOneInput(const uint8_t*, size_t)`.

    An ordinary build links build_defs/fuzz_driver.cc: the test feeds every corpus file, then
    `runs` inputs derived from them by a seeded generator (the seed is printed, and SOFTDAT_FUZZ_SEED
    sets it). With `--config=fuzz` the same target is a libFuzzer program with ASan and UBSan:
      bazel run --config=fuzz //wire/iwarp:mpa_fuzz_test -- -runs=-1 -max_total_time=60

    Args:
      name: the target.
      srcs: the fuzz function.
      deps: what it calls.
      corpus: seed inputs (files).
      runs: derived inputs of the ordinary test.
      size: the Bazel test size.
    """
    files = ["$(location %s)" % label for label in corpus]
    seeds = ["-seed_inputs=" + ",".join(files)] if files else []
    native.cc_test(
        name = name,
        size = size,
        srcs = srcs,
        args = select({
            # libFuzzer only replays files that are plain arguments.
            "//build_defs:libfuzzer": ["-runs=%d" % runs] + seeds,
            "//conditions:default": ["--runs=%d" % runs] + files,
        }),
        data = corpus,
        linkstatic = True,
        tags = ["fuzz"],
        deps = deps + select({
            "//build_defs:libfuzzer": [],
            "//conditions:default": ["//build_defs:fuzz_driver"],
        }),
        linkopts = select({
            "//build_defs:libfuzzer": ["-fsanitize=fuzzer"],
            "//conditions:default": [],
        }),
    )
