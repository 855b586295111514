# SPDX-License-Identifier: BSD-3-Clause
"""What a message costs in instructions outside the kernel, part by part.

`//tools/parts:two_ends` is both ends in one thread, over shared memory, so that it makes no system call and
no look in vain. It runs under valgrind's callgrind, which counts each instruction at its line of the
source. The folder of the source tells the part.
"""

import collections
import os
import re
import shutil
import subprocess
import tempfile

IA = "softnet-shm-lo"
COUNT = 4000
# Work, and the argument of two_ends.
WORKS = [
    ("64 B send, there and back", "send"),
    ("64 B write and its notice, there and back", "notice"),
    ("64 B sends, window 64", "sends"),
    ("64 B writes, window 64", "writes"),
]
# The first that fits. Folders of SoftDAT's sources, and what they do for a message.
PARTS = [
    ("dat/registry/", "libdat2: handle to provider"),
    ("dat/", "engine: handles, arguments, events"),
    ("provider_softnet/adapter/", "polling: which stream, when to flush"),
    ("provider_softnet/driver/", "polling: which stream, when to flush"),
    ("provider_softnet/objects/", "polling: which stream, when to flush"),
    ("provider_softnet/connection/", "end point: lock, what to read and write"),
    ("provider_softnet/queue/", "work queues and completions"),
    ("provider_softnet/memory/", "keys, rights and bounds of memory"),
    ("provider_softnet/iwarp/", "iWARP: MPA, DDP, RDMAP"),
    ("wire/", "iWARP: MPA, DDP, RDMAP"),
    ("provider_softnet/shm/", "the link: a ring in memory"),
    ("tools/", None),  # the program
]
# The same for our provider of verbs.
PARTS_OVER_VERBS = [
    ("dat/registry/", "libdat2: handle to provider"),
    ("dat/engine/object/", "handles: alive, and kept while the call lasts; counters"),
    ("dat/base/", "locks of the event dispatcher and of both queues"),
    ("dat/backend_kit/", "locks of the event dispatcher and of both queues"),
    ("dat/engine/events/", "event: states of the dispatcher, `DAT_EVENT`"),
    ("dat/", "call: arguments, limits, state of the end point, request"),
    ("provider_verbs/region_table", "the region in which the segment has to lie"),
    ("provider_verbs/completion_queue", "completion: whose it is, in its turn, what it shows"),
    ("provider_verbs/", "send queue: room, slot for the completion, `ibv_send_wr`"),
    ("tests/", None),  # the program and the device
]
COPIES = "copies of bytes (libc)"


def part_of(path, parts):
    """Returns the part that a source file belongs to, None for the program, "" for a system header."""
    path = re.sub(r"^(/proc/self/cwd/)?(\./)*", "", path)
    for folder, part in parts:
        if path.startswith(folder):
            return part
    return ""


class Counts:
    """Reads callgrind's output. Code of system headers belongs to the function that it is part of."""

    def __init__(self, lines):
        self.names = {}
        self.by_function = collections.defaultdict(collections.Counter)
        self.object_of = {}
        file = function = binary = ""
        skip = False
        for line in lines:
            key, _, value = line.rstrip("\n").partition("=")
            if key in ("fl", "fi", "fe"):
                file = self.name("file", value)
            elif key == "ob":
                binary = self.name("object", value)
            elif key == "fn":
                function = self.name("function", value)
                self.object_of[function] = binary
            elif key in ("cfi", "cfl"):
                self.name("file", value)
            elif key == "cob":
                self.name("object", value)
            elif key == "cfn":
                self.name("function", value)
            elif key == "calls":
                skip = True  # the next line has the cost of the callee
            elif re.match(r"[+*\-\d]", line):
                if not skip:
                    self.by_function[function][file] += int(line.split()[1])
                skip = False

    def name(self, space, value):
        """Names are written once, and then as their number."""
        number, _, name = value.partition(" ")
        if name:
            self.names[space, number] = name
        return self.names.get((space, number), value)

    def by_part(self, table=None):
        total = collections.Counter()
        for function, files in self.by_function.items():
            parts = collections.Counter()
            for file, cost in files.items():
                parts[part_of(file, table or PARTS)] += cost
            loose = parts.pop("", 0)
            if parts:
                parts[parts.most_common(1)[0][0]] += loose
            elif loose:
                parts[COPIES] = loose
            total.update(parts)
        total.pop(None, None)
        return total


def callgrind(options, command, environment, parts=None):
    """Returns the instructions of each part of one run."""
    with tempfile.TemporaryDirectory() as folder:
        kept = os.path.join(folder, "counts")
        run = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=" + kept, *options, *command],
                             env={**os.environ, **environment}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             text=True, check=False)
        if run.returncode != 0 or not os.path.exists(kept):
            own = [line for line in run.stdout.splitlines() if line and not line.startswith("==")]
            raise RuntimeError("%s under valgrind: %s" % (command[0], own[-1] if own else "it failed"))
        with open(kept, encoding="utf-8") as lines:
            return Counts(lines).by_part(parts)


def instructions(program, provider, work):
    """Returns the instructions of each part for one exchange, of both ends."""
    counts = callgrind(["--collect-atstart=no", "--toggle-collect=two_ends_exchange"],
                       [program, IA, work, str(COUNT)], {"SOFTDAT_PROVIDER_PATH": provider})
    return {part: cost / COUNT for part, cost in counts.items()}


def over_verbs(binaries):
    """Returns the instructions of each part of our provider, for a write that is posted and reaped on a device
    that does nothing."""
    device = os.path.join(binaries, "tests", "nulldevice")
    with tempfile.NamedTemporaryFile("w", suffix=".conf") as conf:
        conf.write('ours u2.0 nonthreadsafe default %s softdat.2.0 "verbs-lo" ""\n'
                   % os.path.join(binaries, "provider_verbs", "libdaplverbs.so.2"))
        conf.flush()
        environment = {"DAT_OVERRIDE": conf.name, "LD_PRELOAD": os.path.join(device, "libnullverbs.so")}
        few, many = (callgrind([], [os.path.join(device, "subject"), "ours", str(count)], environment,
                               PARTS_OVER_VERBS) for count in (COUNT, 2 * COUNT))
    each = {part: (cost - few[part]) / COUNT for part, cost in many.items()}
    return {part: cost for part, cost in each.items() if cost >= 0.5}


def measure(binaries, say):
    """`binaries`: the folder of what is built."""
    program = os.path.join(binaries, "tools", "parts", "two_ends")
    provider = os.path.join(binaries, "provider_softnet")
    if shutil.which("valgrind") is None:
        return {"not_measured": "valgrind: not installed (apt-get install valgrind)"}
    rows = []
    for work, argument in WORKS:
        say("parts of a message: " + work)
        try:
            rows.append({"work": work, "parts": instructions(program, provider, argument)})
        except RuntimeError as problem:
            return {"not_measured": str(problem)}
    return rows
