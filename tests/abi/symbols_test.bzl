# SPDX-License-Identifier: BSD-3-Clause
"""abi_symbols_test: the dynamic symbols of a built library against the table of the binary interface."""

def abi_symbols_test(name, form, library, table = "udapl2_abi.csv", headers = "headers"):
    """A test that runs symbols_test.py; for a registry with the headers too.

    Args:
      name: of the test.
      form: "registry" for libdat2.so.2 and libdat.so.1, "provider" for a provider library.
      library: label of the shared library.
      table: file of this folder, of the library's version.
      headers: of that version, in //dat/include.
    """
    native.sh_test(
        name = name,
        size = "small",
        srcs = ["//tests/abi:symbols_test.py"],
        args = [
            form,
            "$(location //tests/abi:%s)" % table,
            "$(location %s)" % library,
        ] + (["dat/include"] if form == "registry" else []),
        data = [
            library,
            "//tests/abi:abi_table.py",
            "//tests/abi:" + table,
        ] + (["//dat/include:" + headers] if form == "registry" else []),
        # A sanitized library has the same names of symbols.
        tags = ["nosan"],
    )
