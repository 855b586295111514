# SPDX-License-Identifier: BSD-3-Clause
"""precompiled_header: system headers that many sources begin with, parsed once for all of them."""

load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")
load("@bazel_tools//tools/build_defs/cc:action_names.bzl", "CPP_COMPILE_ACTION_NAME")

def _precompiled_header_impl(ctx):
    toolchain = find_cpp_toolchain(ctx)
    features = cc_common.configure_features(
        ctx = ctx,
        cc_toolchain = toolchain,
        requested_features = ctx.features,
        unsupported_features = ctx.disabled_features,
    )
    header = ctx.actions.declare_file(ctx.attr.name + ".h")
    ctx.actions.write(header, "".join(["#include <%s>\n" % name for name in ctx.attr.headers]))
    compiled = ctx.actions.declare_file(ctx.attr.name + ".h.gch")

    source = header.path
    flags = ctx.fragments.cpp.copts + ctx.fragments.cpp.cxxopts + ctx.attr.copts + ["-x", "c++-header"]
    if toolchain.compiler == "clang":
        # A header from a cache is younger than what was compiled from it.
        flags = flags + ["-Xclang", "-fno-pch-timestamp"]

        # Templates that the headers instantiate are instantiated only once.
        flags.append("-fpch-instantiate-templates")

        # The compiled form tells its users the absolute name of its source, and the folder of an
        # action is another each time. Only a system header is always in the same place: one that
        # each of the others has included.
        source = "/usr/include/features.h"
        for name in ctx.attr.headers:
            flags += ["-include", name]
    variables = cc_common.create_compile_variables(
        feature_configuration = features,
        cc_toolchain = toolchain,
        user_compile_flags = flags,
        source_file = source,
        output_file = compiled.path,
        use_pic = ctx.var["COMPILATION_MODE"] != "opt",  # as Bazel does for programs
    )
    ctx.actions.run(
        executable = cc_common.get_tool_for_action(
            feature_configuration = features,
            action_name = CPP_COMPILE_ACTION_NAME,
        ),
        arguments = cc_common.get_memory_inefficient_command_line(
            feature_configuration = features,
            action_name = CPP_COMPILE_ACTION_NAME,
            variables = variables,
        ),
        env = cc_common.get_environment_variables(
            feature_configuration = features,
            action_name = CPP_COMPILE_ACTION_NAME,
            variables = variables,
        ),
        inputs = depset([header], transitive = [toolchain.all_files]),
        outputs = [compiled],
        mnemonic = "CppPrecompile",
        progress_message = "Precompiling %s" % header.short_path,
    )
    files = depset([header, compiled])
    return [
        DefaultInfo(files = files),
        CcInfo(compilation_context = cc_common.create_compilation_context(headers = files)),
    ]

precompiled_header = rule(
    implementation = _precompiled_header_impl,
    doc = """Compiles NAME.h, which includes `headers`, for `-include PACKAGE/NAME.h` of the sources that depend on it.

    GCC takes the precompiled form only where the options are those of the source, and reads the
    header itself otherwise: ask it for -Winvalid-pch. For clang that is an error, and it takes the
    form only if it is named itself: `-Xclang -include-pch -Xclang bazel-out/.../NAME.h.gch`.""",
    attrs = {
        "headers": attr.string_list(mandatory = True, doc = "system headers, without brackets"),
        "copts": attr.string_list(doc = "the sources' options beside those of the build"),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
    },
    fragments = ["cpp"],
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
    provides = [CcInfo],
)
