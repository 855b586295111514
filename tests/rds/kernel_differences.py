#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What the kernel's RDS does otherwise than ours, by tests/rds/kernel_differences.csv.

usage: tests/rds/kernel_differences.py [--check] DIFFERENCES DOCUMENT
       tests/rds/kernel_differences.py --seen DIFFERENCES NAME LOG...

Writes the table of docs/rds.md between its two marks, or with --check says whether it is current. With --seen it
compares the list with what the tests have printed into the logs over a kernel, and prints that as the check NAME.
"""

import csv
import re
import sys

BEGIN = "<!-- made by tests/rds/kernel_differences.py from tests/rds/kernel_differences.csv -->"
END = "<!-- end of what is made -->"


def rows(path):
    """The lines of the file. Ends the program with the reason when one is wrong."""
    with open(path, encoding="utf-8", newline="") as file:
        lines = [line for line in file if not line.startswith("#") and line.strip()]
    found = list(csv.reader(lines, delimiter=";", quoting=csv.QUOTE_NONE))
    for row in found:
        if len(row) != 4 or not all(row[1:]):
            sys.exit(f"{path}: not 'name;subject;Linux;here': {';'.join(row)}")
    names = [row[0] for row in found if row[0]]
    if len(set(names)) != len(names):
        sys.exit(f"{path}: a name stands there twice")
    return found


def table(path):
    """The text between the marks."""
    lines = ["| subject | Linux | here |", "|---|---|---|"]
    lines += [f"| {subject} | {linux} | {here} |" for _, subject, linux, here in rows(path)]
    return "\n".join(lines) + "\n"


def write(path, document, check):
    """Makes the document say what the file says, or with `check` ends the program when it does not."""
    with open(document, encoding="utf-8") as file:
        text = file.read()
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        sys.exit(f"{document}: the marks '{BEGIN}' and '{END}' are not there once each")
    head, rest = text.split(BEGIN)
    made = head + BEGIN + "\n" + table(path) + END + rest.split(END)[1]
    if check and made != text:
        sys.exit(f"{document} is not what {path} says; again with: tests/rds/kernel_differences.py "
                 "tests/rds/kernel_differences.csv docs/rds.md")
    if made != text:
        with open(document, "w", encoding="utf-8") as file:
            file.write(made)


def seen(path, name, logs):
    """Compares the names of the list with those in the logs."""
    listed = {row[0] for row in rows(path) if row[0]}
    printed = set()
    for log in logs:
        with open(log, encoding="utf-8", errors="replace") as file:
            printed |= set(re.findall(r"^\[ DIFFERS  \] (.*)$", file.read(), re.MULTILINE))
    wrong = [f"not listed: {word}" for word in sorted(printed - listed)]
    wrong += [f"not seen: {word}" for word in sorted(listed - printed)]
    print(f"FAILED {name}: {', '.join(wrong)}" if wrong else f"ok {name}")


def main():
    arguments = sys.argv[1:]
    if len(arguments) > 3 and arguments[0] == "--seen":
        seen(arguments[1], arguments[2], arguments[3:])
        return
    paths = [word for word in arguments if word != "--check"]
    if len(paths) != 2:
        sys.exit(__doc__)
    write(paths[0], paths[1], "--check" in arguments)


if __name__ == "__main__":
    main()
