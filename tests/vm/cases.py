#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks that every line of the tables of deviations still leaves out a case of the programs that are run.

usage: tests/vm/cases.py DEVIATIONS LIBDAPLOFA SUITE=PROGRAM...

DEVIATIONS names the suites. What libdaplofa does not pass stands for conformance12 and programs12.
"""

import csv
import fnmatch
import subprocess
import sys


def rows(path):
    """The lines of a table, split."""
    with open(path, encoding="utf-8", newline="") as file:
        lines = [line for line in file if not line.startswith("#") and line.strip()]
    return list(csv.reader(lines, delimiter=";", quoting=csv.QUOTE_NONE))


def cases(program):
    """The cases of a GoogleTest program, with their variants."""
    listed = subprocess.run([program, "--gtest_list_tests"], check=True, capture_output=True, text=True).stdout
    suite, found = "", []
    for line in listed.splitlines():
        word = line.split("#")[0].strip()
        if line.startswith("  "):
            found.append(suite + word)
        elif word.endswith("."):
            suite = word
    return found


def unused(filters, *programs):
    """The filters that match no case of any of the programs."""
    there = [case for program in programs for case in cases(program)]
    return [pattern for pattern in filters if not fnmatch.filter(there, pattern)]


def main():
    if len(sys.argv) < 4 or not all("=" in word for word in sys.argv[3:]):
        sys.exit(__doc__)
    deviations, libdaplofa = sys.argv[1:3]
    programs = dict(word.split("=", 1) for word in sys.argv[3:])
    foreign = rows(libdaplofa)
    wrong = [f"{libdaplofa}: not 'case;what it does instead': {';'.join(row)}"
             for row in foreign if len(row) != 2 or not all(row)]
    wrong += [f"{libdaplofa}: {pattern} is no case"
              for pattern in unused([row[0] for row in foreign], programs["conformance12"], programs["programs12"])]
    of_suites = {}
    for row in rows(deviations):
        of_suites.setdefault(row[1], []).append(row[2])
    of_suites.pop("peers", None)  # their programs are no GoogleTest ones, and run_peers.py knows its cases
    for suite, patterns in of_suites.items():
        if suite not in programs:
            wrong.append(f"{deviations}: {suite} is no suite")
            continue
        wrong += [f"{deviations}: {pattern} is no case of {suite}" for pattern in unused(patterns, programs[suite])]
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()
