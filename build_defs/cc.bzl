# SPDX-License-Identifier: BSD-3-Clause
"""cc_library and cc_binary for code that is tested."""

# The sanitized builds include it into every source that .bazelrc names, because the headers of the
# standard library take most of the time of a compilation. The plain build does not, so that it
# still finds what a source forgets to include.
_PRELUDE = select({
    "//build_defs:asan": ["//third_party:prelude"],
    "//build_defs:tsan": ["//third_party:prelude"],
    "//conditions:default": [],
})

def cc_library(deps = [], **kwargs):
    """As native.cc_library.

    Args:
      deps: as there.
      **kwargs: as there.
    """
    native.cc_library(deps = deps + _PRELUDE, **kwargs)

def cc_binary(deps = [], **kwargs):
    """As native.cc_binary.

    Args:
      deps: as there.
      **kwargs: as there.
    """
    native.cc_binary(deps = deps + _PRELUDE, **kwargs)
