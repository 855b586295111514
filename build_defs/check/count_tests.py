#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Counts the test cases of one `bazel test` from its build event file.

usage: count_tests.py EVENTS.json [--summary]

Prints "PASSED FAILED SKIPPED". A case is a GoogleTest case; a test program without a case report
(a shell script) counts as one. A target that did not build, timed out or crashed counts as at
least one failure.  With --summary the failed and the flaky targets follow, one a line.
"""

import json
import sys
import urllib.parse
import xml.etree.ElementTree as ElementTree


def cases_of(path):
    """Returns (passed, failed, skipped) of one test.xml, or None if it cannot be read."""
    try:
        root = ElementTree.parse(path).getroot()
    except (OSError, ElementTree.ParseError):
        return None
    passed = failed = skipped = 0
    for case in root.iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            failed += 1
        elif case.find("skipped") is not None or case.get("status") == "notrun":
            skipped += 1
        else:
            passed += 1
    return passed, failed, skipped


def count(lines):
    """Returns (passed, failed, skipped, failed or flaky labels)."""
    reports = {}
    status = {}
    for line in lines:
        event = json.loads(line)
        identity = event.get("id", {})
        if "testResult" in event:
            label = identity["testResult"]["label"]
            for output in event["testResult"].get("testActionOutput", []):
                if output.get("name") == "test.xml":
                    path = urllib.parse.unquote(urllib.parse.urlparse(output["uri"]).path)
                    reports.setdefault(label, []).append(path)
        elif "testSummary" in event:
            label = identity["testSummary"]["label"]
            status[label] = event["testSummary"].get("overallStatus", "NO_STATUS")
        elif "targetCompleted" in identity and not event.get("completed", {}).get("success"):
            status.setdefault(identity["targetCompleted"]["label"], "FAILED_TO_BUILD")

    total = [0, 0, 0]
    failures = []
    for label in sorted(status):
        good = status[label] in ("PASSED", "FLAKY")
        attempts = reports.get(label, [])
        if status[label] == "FLAKY":
            attempts = attempts[-1:]  # the one that passed
            failures.append("%s: FLAKY, passed when it was tried again" % label)
        found = [c for c in map(cases_of, attempts) if c is not None]
        cases = [sum(column) for column in zip(*found)] if found else [int(good), 0, 0]
        if not good:
            cases[1] = max(cases[1], 1)
            failures.append("%s: %s" % (label, status[label].replace("_", " ")))
        total = [a + b for a, b in zip(total, cases)]
    return total, failures


def main():
    with open(sys.argv[1], encoding="utf-8") as events:
        total, failures = count(events)
    print("%d %d %d" % tuple(total))
    if "--summary" in sys.argv[2:]:
        for failure in failures:
            print(failure)


if __name__ == "__main__":
    main()
