#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes into docs/differences.md what RDMA devices do differently, from tests/vm/deviations.csv.

usage: tests/vm/differences.py [--check] DEVIATIONS DOCUMENT

Rewrites the part of the document between its two marks. With --check it says whether that part is current.
"""

import csv
import itertools
import sys

BEGIN = "<!-- made by tests/vm/differences.py from tests/vm/deviations.csv -->"
END = "<!-- end of what is made -->"
DEVICES = {"verbs": "every RDMA device", "rxe": "soft-RoCE (rdma_rxe)", "siw": "soft-iWARP (siw)"}


def rows(path):
    """The lines of the file. Ends the program with the reason when one is wrong."""
    with open(path, encoding="utf-8", newline="") as file:
        lines = [line for line in file if not line.startswith("#") and line.strip()]
    found = list(csv.reader(lines, delimiter=";", quoting=csv.QUOTE_NONE))
    for row in found:
        if len(row) != 5 or row[0] not in DEVICES or not all(row):
            sys.exit(f"{path}: not 'device;suite;case;what it does instead;since': {';'.join(row)}")
    return found


def case_name(suite, case):
    """A case as a reader knows it: without the part that only says how it was instantiated."""
    return case.strip("*/.") if suite != "peers" else case


def section(path):
    """The text between the marks: a table for each device."""
    lines = []
    key = lambda row: (list(DEVICES).index(row[0]), row[3], row[4])  # pylint: disable=unnecessary-lambda-assignment
    for device, group in itertools.groupby(sorted(rows(path), key=key), key=lambda row: row[0]):
        lines += ["", f"### {DEVICES[device]}", "", "| what happens | since | seen by |", "|---|---|---|"]
        for (what, since), same in itertools.groupby(group, key=lambda row: (row[3], row[4])):
            cases = sorted({f"`{case_name(row[1], row[2])}`" for row in same})
            lines.append(f"| {what} | {since} | {', '.join(cases)} |")
    return "\n".join(lines) + "\n\n"


def main():
    arguments = sys.argv[1:]
    check = "--check" in arguments
    paths = [word for word in arguments if word != "--check"]
    if len(paths) != 2:
        sys.exit(__doc__)
    with open(paths[1], encoding="utf-8") as file:
        text = file.read()
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        sys.exit(f"{paths[1]}: the marks '{BEGIN}' and '{END}' are not there once each")
    head, rest = text.split(BEGIN)
    made = head + BEGIN + "\n" + section(paths[0]) + END + rest.split(END)[1]
    if check:
        if made != text:
            sys.exit(f"{paths[1]} is not what {paths[0]} says; again with: tests/vm/differences.py "
                     "tests/vm/deviations.csv docs/differences.md")
    elif made != text:
        with open(paths[1], "w", encoding="utf-8") as file:
            file.write(made)


if __name__ == "__main__":
    main()
