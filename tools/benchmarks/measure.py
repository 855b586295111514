# SPDX-License-Identifier: BSD-3-Clause
"""Measures everything that BENCHMARKS.md shows, and keeps it as one JSON document.

Each part is a function that returns a member of the document. A part that cannot be measured on this
machine is {"not_measured": "why"}.
"""

import json
import os
import platform
import re
import subprocess

import parts

# Bytes of a transfer in the figures. Those of the paper go to 128 KiB, and to 1 MiB for bandwidths.
SIZES = [64, 1024, 4096, 16384, 32768, 65536, 131072, 262144, 524288, 1048576]
WINDOW = 16
VM_SIZES = [64, 4096, 32768, 131072]
SLICES = ["--slices", "5", "--slice-ms", "40"]

# A small message, the most that a DDP segment carries, a large message.
COPY_SIZES = [4096, 65536, 1 << 20]
CONFIRMED_WINDOWS = [16, 64, 256, 1024]

# Shares of the packets, each way. A slice holds several losses that are waited for.
LOSSES = ["0.1%", "1%", "5%", "20%"]
LOSS_WORKS = [
    ("64 B send, there and back", "us per iteration", ["--test", "send_lat", "-s", "64"]),
    ("64 B sends, window 64", "M/s", ["--test", "send_bw", "-s", "64", "-t", "64", "-Q", "1"]),
    ("4 KiB writes, window 64", "MB/s", ["--test", "write_bw", "-s", "4096", "-t", "64", "-Q", "1"]),
    ("1 MiB writes, window 8", "MB/s", ["--test", "write_bw", "-s", "1M", "-t", "8", "-Q", "1"]),
    ("1 MiB reads, window 8", "MB/s", ["--test", "read_bw", "-s", "1M", "-t", "8", "-Q", "1"]),
]
LOSS_SLICES = ["--slices", "15", "--slice-ms", "100"]


class Measurer:
    """Runs dat_perf of one build."""

    def __init__(self, program, say):
        self.program = program
        self.binaries = os.path.dirname(os.path.dirname(program))  # the folder of what is built
        self.say = say

    def json(self, *arguments):
        """Returns dat_perf's JSON, or why there is none."""
        command = [self.program, *arguments, "--out_json"]
        run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                             check=False)
        if run.returncode != 0:
            return {"not_measured": run.stderr.strip() or "dat_perf ended with %d" % run.returncode}
        return json.loads(run.stdout)

    def targets(self, ia):
        self.say("the table of targets of " + ia)
        return self.json("targets", "--ia", ia)

    def scale(self, ia):
        self.say("many end points, many connections over " + ia)
        return self.json("scale", "--ia", ia)

    def copies(self, ia):
        """Writes through the ring of `ia`, beside one copy by the kernel for each message."""
        units = [ia, "raw:process-vm", "raw:shm"]
        rows = []
        for size in COPY_SIZES:
            self.say("copies of %s: %d bytes" % (ia, size))
            result = self.json("compare", "--test", "write_bw", "-t", "8", "-Q", "1", "-s", str(size), *SLICES,
                               *units)
            if "not_measured" in result:
                return result
            rows.append({"size": size, "values": [one["MB/s"]["median"] for one in result["units"]]})
        return {"units": units, "rows": rows}

    def confirmations(self, ia):
        """Streams of small messages whose completions mean less and more, of plain loops and of `ia`."""
        units = ["raw:tcp-gather", "raw:tcp-confirm", ia + ",SOFTDAT_COMPLETION=taken", ia]
        rows = []
        for window in CONFIRMED_WINDOWS:
            self.say("confirmations of %s: a window of %d" % (ia, window))
            result = self.json("compare", "--test", "send_bw", "-t", str(window), "-Q", "1", "-s", "64", *SLICES,
                               *units)
            if "not_measured" in result:
                return result
            rows.append({"window": window, "values": [one["M/s"]["median"] for one in result["units"]]})
        return {"units": units, "rows": rows}

    def losses(self, ia):
        """The same work while more and more packets are lost."""
        rows = []
        for work, unit, arguments in LOSS_WORKS:
            self.say("losses over %s: %s" % (ia, work))
            result = self.json("compare", *arguments, *LOSS_SLICES, ia,
                               *("%s,SOFTDAT_UDP_LOSS=%s" % (ia, loss) for loss in LOSSES))
            if "not_measured" in result:
                rows.append({"work": work, "unit": unit, **result})
                continue
            rows.append({"work": work, "unit": unit,
                         "values": [one[unit]["median"] for one in result["units"]]})
        return {"losses": ["0", *LOSSES], "rows": rows}

    def series(self, unit, operation, waiting, sizes=None):
        """One curve of the figures: rates, bandwidths, processor time and latencies by size."""
        points = []
        for size in sizes or SIZES:
            self.say("%s, %s, %s, %d bytes" % (unit, operation, waiting, size))
            common = [*SLICES, "-s", str(size), "--wait", waiting]
            stream = self.json("compare", "--test", operation + "_bw", "-t", str(WINDOW), "-Q", "1",
                               *common, unit)
            latency = self.json("compare", "--test", operation + "_lat", *common, unit)
            point = {"size": size}
            for source, names in ((stream, (("M/s", "rate"), ("MB/s", "bandwidth"),
                                            ("CPU us per iteration", "cpu"))),
                                  (latency, (("us per iteration", "latency"),))):
                if "not_measured" in source:
                    point["not_measured"] = source["not_measured"]
                    continue
                for theirs, ours in names:
                    point[ours] = source["units"][0][theirs]["median"]
            # The latency is that of both ways, except for a read.
            if "latency" in point and operation != "read":
                point["latency"] /= 2
            points.append(point)
        return points

    def curves(self, ia, sizes=None):
        """The four curves of the paper's figures."""
        return {
            "%s RDMA %s" % (name, operation): self.series(ia, operation, waiting, sizes)
            for operation in ("read", "write")
            for name, waiting in (("Blocking", "wait"), ("Polling", "poll"))
        }

    def floors(self):
        """The same curves for plain loops, which can only send."""
        return {unit: self.series(unit, "send", "poll")
                for unit in ("raw:tcp-poll", "raw:tcp-block", "raw:shm")}


def machine(root):
    """Describes the machine of the measurement."""
    model = ""
    with open("/proc/cpuinfo", encoding="utf-8") as cpuinfo:
        found = re.search(r"^model name\s*:\s*(.*)$", cpuinfo.read(), re.MULTILINE)
        model = found.group(1) if found else ""
    return {
        "cpu": model,
        "cpus": len(os.sched_getaffinity(0)),
        "kernel": ".".join(platform.release().split(".")[:2]),
        "architecture": platform.machine(),
    }


def commit(root):
    """Names the measured commit, with a mark if the tree has changes that are in no commit.

    What an earlier run has written does not count: it is no part of the programs."""
    def git(*arguments):
        return subprocess.run(["git", "-C", root, *arguments], stdout=subprocess.PIPE, text=True,
                              check=False).stdout.strip()
    name = git("rev-parse", "--short=12", "HEAD")
    changed = git("status", "--porcelain", "--untracked-files=no", "--", ".", ":!BENCHMARKS.md",
                  ":!docs/benchmarks")
    return name + "-dirty" if changed else name


def verbs_cost(root, binaries, say):
    """Counts the instructions that are added to a verbs device which does nothing, and where ours go.

    `binaries`: the folder of what is built."""
    say("instructions beside bare verbs")
    run = subprocess.run(["bazel", "run", "--config=opt", "//tests/nulldevice:cost"], cwd=root,
                         stdout=subprocess.PIPE, text=True, check=False)
    if run.returncode != 0:
        return {"not_measured": "//tests/nulldevice:cost ended with %d" % run.returncode}
    line = re.compile(r"^(\S.*?) {2,}([\d.]+)(?: +\+([\d.]+) +([\d.]+))?$", re.MULTILINE)
    rows = [dict(zip(("what", "total", "added", "libdat2"),
                     [what, *(float(number) if number else None for number in numbers)]))
            for what, *numbers in line.findall(run.stdout)]
    try:
        return {"rows": rows, "parts": parts.over_verbs(binaries)}
    except (RuntimeError, OSError) as problem:
        say("parts beside bare verbs: %s" % problem)
        return {"rows": rows}


def micro(root, say):
    """Runs the micro benchmarks."""
    say("micro benchmarks")
    run = subprocess.run([os.path.join(root, "build_defs", "micro_benchmarks")],
                         stdout=subprocess.PIPE, text=True, check=False)
    if run.returncode != 0:
        return {"not_measured": "build_defs/micro_benchmarks ended with %d" % run.returncode}
    return json.loads(run.stdout)
