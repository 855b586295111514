#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Merges gcov's figures for many objects into line coverage by folder. Used by coverage.sh."""

import argparse
import collections
import json
import os
import re
import subprocess
import sys

# Code of tests and benchmarks is in no library, and is not measured.
TEST_CODE = re.compile(
    r"(_test\.cc|_test\.h|/test_support[^/]*|_fake\.(cc|h)|_benchmark\.cc|/bench_[^/]*|_dev\.cc"
    r"|/fuzz_[^/]*)$|/testing/|/testdata/"
)


def gcov_documents(notes):
    """Yields the JSON documents of gcov for the note files, a batch at a time."""
    for start in range(0, len(notes), 50):
        batch = []
        for note in notes[start : start + 50]:
            data = note[: -len(".gcno")] + ".gcda"
            batch.append(data if os.path.exists(data) else note)
        run = subprocess.run(
            ["gcov", "--json-format", "--stdout"] + batch,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            check=False,
        )
        for line in run.stdout.splitlines():
            if line.startswith("{"):
                yield json.loads(line)


def merge(documents, folders):
    """Returns {path: {line: count}} for the project's own code below the folders."""
    hits = collections.defaultdict(dict)
    for document in documents:
        for entry in document["files"]:
            path = entry["file"]
            if path.startswith("/proc/self/cwd/"):
                path = path[len("/proc/self/cwd/") :]
            path = os.path.normpath(path)
            if path.split("/")[0] not in folders or TEST_CODE.search(path):
                continue
            lines = hits[path]
            for line in entry["lines"]:
                number = line["line_number"]
                lines[number] = max(lines.get(number, 0), line["count"])
    return hits


def row(name, lines):
    covered = sum(1 for count in lines if count)
    share = 100.0 * covered / len(lines) if lines else 0.0
    print("%-48s %6d of %6d lines  %6.2f %%" % (name, covered, len(lines), share))
    return share


def main():
    parser = argparse.ArgumentParser(prog="coverage.sh")
    parser.add_argument("notes")
    parser.add_argument("--files", action="store_true")
    parser.add_argument("--missing", metavar="PATH")
    parser.add_argument("--min", type=float, default=0.0, metavar="PERCENT")
    parser.add_argument("folders", nargs="+")
    arguments = parser.parse_args()

    with open(arguments.notes, encoding="utf-8") as listing:
        notes = listing.read().split()
    hits = merge(gcov_documents(notes), arguments.folders)
    if not hits:
        sys.exit("coverage: gcov gave no data")
    if arguments.files:
        for path in sorted(hits):
            row(path, hits[path].values())
    if arguments.missing:
        for path in sorted(hits):
            lines = [str(n) for n, count in sorted(hits[path].items()) if not count]
            if path.startswith(arguments.missing) and lines:
                print("%s: %s" % (path, " ".join(lines)))
    low = []
    for folder in arguments.folders:
        lines = [c for p in hits if p.startswith(folder + "/") for c in hits[p].values()]
        if lines and row(folder + "/", lines) < arguments.min:
            low.append(folder)
    if low:
        sys.exit("coverage: below %g %%: %s" % (arguments.min, ", ".join(low)))


if __name__ == "__main__":
    main()
