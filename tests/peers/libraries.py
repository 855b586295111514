# SPDX-License-Identifier: BSD-3-Clause
"""Which libdat2 and which provider a program has really used, by the dynamic linker's own words."""

import glob
import os
import re

_INIT = re.compile(r"calling init: (\S+)")


def ask(environment, prefix):
    """Makes the dynamic linker of a program and its children write to files PREFIX.PID."""
    return dict(environment, LD_DEBUG="libs", LD_DEBUG_OUTPUT=prefix)


def used(prefix):
    """Paths of all DAT libraries that were initialised, links resolved."""
    paths = set()
    for name in glob.glob(glob.escape(prefix) + ".*"):
        with open(name, encoding="utf-8", errors="replace") as file:
            for path in _INIT.findall(file.read()):
                if os.path.basename(path).startswith(("libdat2.so", "libdapl")):
                    paths.add(os.path.realpath(path))
    return paths


def problems(prefix, libdat2, provider, build):
    """What is wrong. Empty if this libdat2 and this provider were used, and no others except those of the folder
    `build` that discovery asked."""
    found = used(prefix)
    wanted = {os.path.realpath(libdat2), os.path.realpath(provider)}
    # Discovery loads every provider of a build, to ask which IAs it has.
    build = os.path.realpath(build)
    others = {path for path in found - wanted
              if not (os.path.basename(path).startswith("libdapl") and path.startswith(build + os.sep))}
    if wanted <= found and not others:
        return []
    return [f"libraries used: {', '.join(sorted(found)) or 'none'}; "
            f"should be: {', '.join(sorted(wanted))}"]
