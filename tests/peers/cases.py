# SPDX-License-Identifier: BSD-3-Clause
"""The cases of a file such as cases.json, each with all that its kind says, once for each libdat2."""

import dataclasses
import json
import os
import re
import signal

_KEYS = {
    "name", "kind", "args", "milestone", "capture", "stats", "server", "client", "ready_port",
    "ready_text", "server_ends", "expect", "expect_server", "expect_client", "forbid",
    "client_signal", "polls",
}
# The keys that a case may change for Debian's libdat2. It must give the reason.
_OVER_DEBIAN_KEYS = {"args", "expect", "expect_client", "client_signal", "capture", "reason"}


@dataclasses.dataclass(frozen=True)
class Ends:
    """The IA of each end, and where the server is reached."""
    server_ia: str
    client_ia: str
    address: str


class Case:
    """One run of a program, or of a server and a client. Commands are lists of words."""

    def __init__(self, fields, libdat2, ends):
        unknown = set(fields) - _KEYS
        if unknown:
            raise ValueError(f"case {fields.get('name')}: unknown keys {sorted(unknown)}")
        words = {"address": ends.address, "args": fields["args"]}
        at_server = {"ia": ends.server_ia, **words}
        at_client = {"ia": ends.client_ia, **words}
        self.libdat2 = libdat2
        self.base = fields["name"]
        self.name = fields["name"] + (" over Debian's libdat2" if libdat2 == "debian" else "")
        self.milestone = fields.get("milestone", 1)
        # Whether it spins for its events. Beside others it would be slow, and slow them down.
        self.polls = fields.get("polls", False)
        self.capture = fields.get("capture", False)
        # The signal that should end the client, if any.
        self.client_signal = signal.Signals[fields["client_signal"]] if "client_signal" in fields \
            else None
        self.server = fields["server"].format(**at_server).split() if "server" in fields else None
        self.client = fields["client"].format(**at_client).split()
        self.ready_port = fields.get("ready_port")
        self.ready_text = \
            fields["ready_text"].format(**at_server) if "ready_text" in fields else None
        if self.server and not (self.ready_port or self.ready_text):
            raise ValueError(f"case {self.name}: how does its server say that it is ready?")
        self.server_ends = fields.get("server_ends", False)
        both = fields.get("expect", [])
        self.expect_server = both + fields.get("expect_server", [])
        self.expect_client = both + fields.get("expect_client", [])
        if "stats" in fields:
            self.expect_client += [re.escape("Stats ---- : " + fields["stats"]), "Total WQE"]
        self.forbid = fields.get("forbid", [])
        if not self.expect_client:
            raise ValueError(f"case {self.name}: nothing is expected, so it could not fail")

    @property
    def file_name(self):
        """The name as part of a file name."""
        return re.sub(r"[^a-z0-9]+", "_", self.name.lower()).strip("_")


def _over_debian(fields, changes):
    """The case in the form that runs over Debian's libdat2."""
    unknown = set(changes) - _OVER_DEBIAN_KEYS
    if unknown:
        raise ValueError(f"case {fields['name']}: unknown keys {sorted(unknown)} over Debian's")
    if set(changes) - {"capture"} and not changes.get("reason"):
        raise ValueError(f"case {fields['name']}: why is it another one over Debian's libdat2?")
    # A capture shows the same packets with either library, so one of each kind is enough.
    changed = {**fields, "capture": False, **changes}
    changed.pop("reason", None)
    return changed


def _read(path):
    """A file of cases. A file may name another ("of"). Then it takes the kinds from there, and for each of its cases
    what it does not say itself, and none of its cases is captured."""
    with open(path, encoding="utf-8") as file:
        data = json.load(file)
    if "of" not in data:
        return data
    base = _read(os.path.join(os.path.dirname(path), data["of"]))
    named = {case["name"]: case for case in base["cases"]}
    return {**base, "cases": [{**named[case["name"]], "capture": False, **case} for case in data["cases"]]}


LIBRARIES = ("ours", "debian")


def load(path, ends, milestone=None, libdat2=LIBRARIES):
    """All cases up to a milestone (None: the one the file switches on), over each of these libraries."""
    data = _read(path)
    limit = data["milestone"] if milestone is None else milestone
    cases = []
    for own in data["cases"]:
        own = dict(own)
        changes = own.pop("over_debian", {})
        fields = dict(data["kinds"][own["kind"]])
        for key, value in own.items():
            # What a case expects is added to what its kind expects.
            if key in ("expect", "expect_server", "expect_client", "forbid"):
                value = fields.get(key, []) + value
            fields[key] = value
        cases.append(Case(fields, "ours", ends))
        cases.append(Case(_over_debian(fields, changes), "debian", ends))
    names = [case.name for case in cases]
    if len(set(names)) != len(names):
        raise ValueError("two cases have the same name")
    return [case for case in cases if case.milestone <= limit and case.libdat2 in libdat2]


def problems(output, expect, forbid):
    """What is missing in an output, or should not be in it; empty if the output is right."""
    found = []
    for pattern in expect:
        if not re.search(pattern, output):
            found.append(f"not printed: {pattern}")
    for pattern in forbid:
        match = re.search(f"^.*(?:{pattern}).*$", output, re.MULTILINE)
        if match:
            found.append(f"printed: {match.group(0).strip()[:200]}")
    return found
