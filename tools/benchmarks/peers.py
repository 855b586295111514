# SPDX-License-Identifier: BSD-3-Clause
"""The same work over other libraries: Debian's ucx_perftest and fi_pingpong on TCP and in shared memory,
and fi_pingpong's reliable datagrams on UDP.

These programs cannot run in slices, so everything takes turns in rounds instead. A figure is the
median of the rounds.
"""

import itertools
import os
import re
import shutil
import statistics
import subprocess
import time

import parts

ROUNDS = 5
FIRST_PORT = 13400
LIMIT_S = 60

# Work, unit, whether small is good, and how each program is called. None: it has no such test.
# ucx_perftest's columns from the end: messages/s overall and average, MB/s overall and average,
# latency overall. fi_pingpong's: Mxfers/sec, usec/xfer, MB/sec.
TCP_WORKS = [
    ("64 B message, one way", "us", True,
     {"dat": ("send_lat", "-s", "64"), "ucx": ("tag_lat", 64, 20000, -5), "fi": (64, 20000, -2)}),
    ("4 KiB message, one way", "us", True,
     {"dat": ("send_lat", "-s", "4096"), "ucx": ("tag_lat", 4096, 20000, -5),
      "fi": (4096, 20000, -2)}),
    ("64 B messages, many outstanding", "M/s", False,
     {"dat": ("send_bw", "-s", "64", "-t", "64"), "ucx": ("tag_bw", 64, 100000, -1), "fi": None}),
    ("1 MiB writes, many outstanding", "MB/s", False,
     {"dat": ("write_bw", "-s", "1M", "-t", "8"), "ucx": ("ucp_put_bw", 1 << 20, 1000, -3),
      "fi": None}),
]
# UCX's puts write into memory that UCX has made itself, which both processes share. Its messages come from
# memory of the program, as those of DAT do, and are copied by cma. It limits its small messages by no window.
SHM_WORKS = [
    (work, unit, small_is_good, {**calls, "dat": ("send_bw", "-s", "64", "-t", "256")})
    if work == "64 B messages, many outstanding" else (work, unit, small_is_good, calls)
    for work, unit, small_is_good, calls in TCP_WORKS
] + [
    ("1 MiB messages, many outstanding", "MB/s", False,
     {"dat": ("send_bw", "-s", "1M", "-t", "8"), "ucx": ("tag_bw", 1 << 20, 1000, -3), "fi": None}),
]
# UCX knows no UDP without an adapter. fi_pingpong has one message under way at a time: what it does in a
# second is what the library can be compared by, and says nothing of a window.
UDP_WORKS = [
    ("64 B message, one way", "us", True,
     {"dat": ("send_lat", "-s", "64"), "ucx": None, "fi": (64, 20000, -2)}),
    ("4 KiB message, one way", "us", True,
     {"dat": ("send_lat", "-s", "4096"), "ucx": None, "fi": (4096, 20000, -2)}),
    ("64 B messages, many outstanding", "M/s", False,
     {"dat": ("send_bw", "-s", "64", "-t", "64"), "ucx": None, "fi": (64, 20000, -1)}),
]
# raw:tcp-poll has no window, raw:tcp-gather no latency.
TCP_FLOORS = {"send_lat": "raw:tcp-poll", "send_bw": "raw:tcp-gather", "write_bw": "raw:tcp-block"}
UDP_FLOORS = {"send_lat": "raw:udp", "send_bw": "raw:udp"}
SHM_FLOORS = {"send_lat": "raw:shm", "send_bw": "raw:shm", "write_bw": "raw:memcpy"}
# What UCX may use. cma copies from one process to another in one piece.
UCX_TCP = "tcp,self"
UCX_SHM = "posix,cma,self"
# The messages of two runs. What both have in common, as the start, drops out of the difference.
COUNTED_MESSAGES = (20000, 60000)
MEASURES = {"us": "us per iteration", "M/s": "M/s", "MB/s": "MB/s"}


def pair(server, client, transports=UCX_TCP):
    """Starts a server and runs its client. Returns the client's output."""
    environment = {**os.environ, "UCX_TLS": transports, "UCX_NET_DEVICES": "lo"}
    quiet = {"stdin": subprocess.DEVNULL, "env": environment}
    with subprocess.Popen(["taskset", "-c", "0", *server], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, **quiet) as process:
        try:
            time.sleep(0.7)  # the server does not say when it listens
            run = subprocess.run(["taskset", "-c", "1", *client], stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, text=True, check=False, timeout=LIMIT_S,
                                 **quiet)
        finally:
            process.kill()
    if run.returncode != 0:
        raise RuntimeError("%s: %s" % (client[0], run.stdout.strip()[-200:]))
    return run.stdout


def last_numbers(text):
    """Returns the numbers of the last line that has at least three."""
    for line in reversed(text.splitlines()):
        numbers = re.findall(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.])", line)
        if len(numbers) >= 3:
            return [float(number) for number in numbers]
    raise RuntimeError("no figures in: " + text.strip()[-200:])


def ucx(ports, transports, test, size, iterations, column):
    port = str(next(ports))
    text = pair(["ucx_perftest", "-p", port],
                ["ucx_perftest", "127.0.0.1", "-p", port, "-t", test, "-s", str(size), "-n",
                 str(iterations), "-w", "500", "-f"], transports)
    value = last_numbers(text)[column]
    return value / 1e6 if column == -1 else value * 1.048576 if column == -3 else value


def libfabric(ports, provider, size, iterations, column):
    port = str(next(ports))
    common = [*provider, "-S", str(size), "-I", str(iterations)]
    text = pair(["fi_pingpong", *common, "-B", port],
                ["fi_pingpong", *common, "-P", port, "127.0.0.1"])
    return last_numbers(text)[column]


def ours(measurer, unit, ia, floor, test, *options):
    """Returns two figures: softnet's and its floor's."""
    result = measurer.json("compare", "--slices", "3", "--slice-ms", "50", "-Q", "1", "--test", test,
                           *options, floor, ia)
    if "not_measured" in result:
        raise RuntimeError(result["not_measured"])
    half = 0.5 if test.endswith("_lat") else 1
    of_floor, of_softnet = (one[MEASURES[unit]]["median"] * half for one in result["units"])
    return of_softnet, of_floor


def measure_tcp(measurer, say):
    return measure(measurer, say, "softnet-lo", TCP_WORKS, TCP_FLOORS, ("-p", "tcp", "-e", "msg"))


def measure_udp(measurer, say):
    return measure(measurer, say, "softnet-udp-lo", UDP_WORKS, UDP_FLOORS,
                   ("-p", "udp;ofi_rxd", "-e", "rdm"))


def measure_shm(measurer, say):
    rows = measure(measurer, say, "softnet-shm-lo", SHM_WORKS, SHM_FLOORS, ("-p", "shm", "-e", "rdm"),
                   UCX_SHM)
    if "not_measured" in rows or shutil.which("valgrind") is None:
        return rows
    say("instructions of UCX")
    ports = itertools.count(FIRST_PORT + 500)
    try:
        of_ucx = sum(ucx_instructions(ports, end) for end in ("server", "client"))
        of_softnet = sum(parts.instructions(os.path.join(measurer.binaries, "tools", "parts", "two_ends"),
                                            os.path.join(measurer.binaries, "provider_softnet"),
                                            "sends").values())
    except (RuntimeError, OSError, subprocess.TimeoutExpired) as problem:
        say("instructions of UCX: %s" % problem)
        return rows
    rows.append({"work": "a 64 B message of many, both ends", "unit": "instructions", "small_is_good": True,
                 "values": {"softnet-shm-lo": of_softnet, "UCX": of_ucx}})
    return rows


def ucx_instructions(ports, end):
    """Counts what one end of UCX executes for a 64 B message, many outstanding.

    Under valgrind this end is much the slower one, so it never looks in vain."""
    totals = []
    for messages in COUNTED_MESSAGES:
        port = str(next(ports))
        counted = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
        server = [*(counted if end == "server" else []), "ucx_perftest", "-p", port]
        client = [*(counted if end == "client" else []), "ucx_perftest", "127.0.0.1", "-p", port, "-t", "tag_bw",
                  "-s", "64", "-n", str(messages), "-w", "100", "-f"]
        environment = {**os.environ, "UCX_TLS": UCX_SHM, "UCX_NET_DEVICES": "lo"}
        texts = {"env": environment, "stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE,
                 "stderr": subprocess.STDOUT, "text": True}
        with subprocess.Popen(["taskset", "-c", "0", *server], **texts) as process:
            try:
                time.sleep(5 if end == "server" else 1)  # it does not say when it listens
                of_client = subprocess.run(["taskset", "-c", "1", *client], check=False, timeout=LIMIT_S, **texts)
                of_server = process.communicate(timeout=LIMIT_S)[0]
            finally:
                process.kill()
        found = re.search(r"refs: +([\d,]+)", of_server if end == "server" else of_client.stdout)
        if found is None:
            raise RuntimeError("ucx_perftest under valgrind: %s" % of_client.stdout.strip()[-200:])
        totals.append(int(found[1].replace(",", "")))
    few, many = COUNTED_MESSAGES
    return (totals[1] - totals[0]) / (many - few)


def measure(measurer, say, ia, works, floors, provider, transports=UCX_TCP):
    missing = [tool for tool in ("ucx_perftest", "fi_pingpong") if shutil.which(tool) is None]
    if missing:
        return {"not_measured": "%s: not installed (apt-get install ucx-utils libfabric-bin)"
                                % " and ".join(missing)}
    ports = itertools.count(FIRST_PORT)
    rows = []
    for work, unit, small_is_good, asked in works:
        floor = floors[asked["dat"][0]]
        figures = {ia: [], floor: [], "UCX": [], "libfabric": []}
        for turn in range(ROUNDS):
            say("peers of %s: %s, round %d" % (ia, work, turn + 1))
            try:
                softnet, plain = ours(measurer, unit, ia, floor, *asked["dat"])
                figures[ia].append(softnet)
                figures[floor].append(plain)
                if asked["ucx"]:
                    figures["UCX"].append(ucx(ports, transports, *asked["ucx"]))
                if asked["fi"]:
                    figures["libfabric"].append(libfabric(ports, provider, *asked["fi"]))
            except (RuntimeError, subprocess.TimeoutExpired) as problem:
                return {"not_measured": str(problem)}
        rows.append({"work": work, "unit": unit, "small_is_good": small_is_good,
                     "values": {name: statistics.median(values)
                                for name, values in figures.items() if values}})
    return rows
