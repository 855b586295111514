# SPDX-License-Identifier: BSD-3-Clause
"""softdat_shared_library: a shared library with a soname and a symbol version script."""

load(":cc.bzl", "cc_binary")

def softdat_shared_library(
        name,
        version_script,
        soname = None,
        srcs = [],
        deps = [],
        interface_deps = [],
        linkopts = [],
        link_name = False,
        visibility = None,
        testonly = False):
    """A shared library that exports what its version script names, and nothing else.

    Code in `deps` is linked in from static archives, so an object that nobody refers to is left
    out: give the entry points as `srcs`, or as a cc_library with `alwayslink = True`.
    Every undefined symbol is an error at link time.

    For name = "libdat2.so.2" this defines
      :libdat2.so.2               the library (use it as `data`, or for dlopen);
      :dat2_shared                a cc_library to link a program or a test against;
      :dat2_exports_test          a test that the dynamic symbols are exactly those of the version
                                  script (write every name out; no wildcard but `local: *`);
      :libdat2.so                 with link_name: what `-ldat2` of a program that is built by hand
                                  finds beside the library.

    Args:
      name: the file's name, lib<base>.so or lib<base>.so.<n>.
      version_script: a GNU ld version script.
      soname: DT_SONAME; the name when absent.
      srcs: sources compiled straight into the library.
      deps: libraries linked in.
      interface_deps: header-only libraries that users of :<base>_shared compile with.
      linkopts: further linker options.
      link_name: programs outside of this build link against it (tools/pkgconfig).
      visibility: of :<name> and :<base>_shared.
      testonly: as everywhere in Bazel.
    """
    if not name.startswith("lib") or ".so" not in name:
        fail("softdat_shared_library: '%s' is not of the form lib<base>.so[.<n>]" % name)
    base = name[len("lib"):name.index(".so")]

    cc_binary(
        name = name,
        srcs = srcs,
        additional_linker_inputs = [version_script],
        linkopts = [
            "-Wl,-soname," + (soname or name),
            "-Wl,--version-script,$(location %s)" % version_script,
            "-Wl,-z,defs",
        ] + linkopts,
        linkshared = True,
        linkstatic = True,
        testonly = testonly,
        visibility = visibility,
        deps = deps,
    )
    native.cc_library(
        name = base + "_shared",
        srcs = [name],
        testonly = testonly,
        visibility = visibility,
        deps = interface_deps,
    )
    native.sh_test(
        name = base + "_exports_test",
        size = "small",
        srcs = ["//build_defs:exports_test.sh"],
        args = [
            "$(location %s)" % name,
            "$(location %s)" % version_script,
        ],
        data = [
            name,
            version_script,
        ],
    )
    if link_name:
        # A linker script, because Bazel's caches turn a symbolic link into a copy of its target.
        native.genrule(
            name = base + "_link_name",
            outs = ["lib%s.so" % base],
            cmd = "echo 'INPUT(%s)' > $@" % name,
            testonly = testonly,
            visibility = visibility,
        )
