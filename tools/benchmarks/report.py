# SPDX-License-Identifier: BSD-3-Clause
"""Writes BENCHMARKS.md and its plots from the measurements that measure.py has kept. No measured figure
is written by hand, not even in the reasons."""

import os

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams["svg.hashsalt"] = "softdat"  # the same plot gives the same file
import matplotlib.pyplot as plt  # noqa: E402  (the back end is chosen before)

import second_wave  # noqa: E402
from reasons import reasons, udp_reasons  # noqa: E402

FIGURES = [
    ("cpu", "Processor time of both ends, us per operation", "figure-3-cpu", "log"),
    ("rate", "Million operations per second", "figure-4-operations", "linear"),
    ("bandwidth", "MB/s", "figure-5-bandwidth", "linear"),
    ("latency", "Latency, us", "figure-6-latency", "log"),
]


def size_name(size):
    for unit, bytes_of in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= bytes_of and size % bytes_of == 0:
            return "%d %s" % (size // bytes_of, unit)
    return "%d B" % size


def spread(value, digits=None):
    if digits is None:
        digits = 0 if value["median"] >= 1000 else 2 if value["median"] >= 0.1 else 4
    return "%.*f (%.*f to %.*f)" % (digits, value["median"], digits, value["low"], digits,
                                    value["high"])


def table(heads, rows):
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def plot(curves, member, label, scale, path):
    figure, axes = plt.subplots(figsize=(7, 4.2))
    for name, points in curves.items():
        at = [(p["size"], p[member]) for p in points if member in p]
        if at:
            axes.plot([x for x, _ in at], [y for _, y in at], marker="o", markersize=3, label=name)
    axes.set_xscale("log", base=2)
    axes.set_yscale(scale)
    ticks = sorted({p["size"] for points in curves.values() for p in points})
    axes.set_xticks(ticks, [size_name(t) for t in ticks], rotation=45, fontsize=7)
    axes.set_xlabel("Operation size")
    axes.set_ylabel(label)
    axes.grid(True, which="both", linewidth=0.3)
    axes.legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def figures(title, curves, prefix, folder, root):
    """Makes the plots of one back end. Returns the Markdown that shows them."""
    if "not_measured" in curves:
        return "Not measured: %s\n" % curves["not_measured"]
    text = "".join("Not measured: %s\n\n" % problem for problem in sorted(
        {p["not_measured"] for points in curves.values() for p in points if "not_measured" in p}))
    for member, label, name, scale in FIGURES:
        path = os.path.join(folder, prefix + "-" + name + ".svg")
        plot(curves, member, label, scale, path)
        text += "![%s: %s](%s)\n\n" % (title, label, os.path.relpath(path, root))
    return text


def verdict(row, name, why, missing):
    """Returns "met", or "not met" and why. Adds the name to `missing` if nobody has given a reason."""
    if row["met"]:
        return "met"
    if name not in why:
        missing.append(name)
        return "**not met**"
    return "**not met**: " + why[name]


def target_text(row):
    """Returns ">= 0.80", ">= 2500 MB/s", or both."""
    parts = ["%s %.2f" % (row["bound"], row["target"])] if row["target"] > 0 else []
    if "enough" in row:
        parts.append("%s %g %s" % (row["bound"], row["enough"], row["unit"]))
    return " or ".join(parts)


def targets(part, why, missing):
    if "not_measured" in part:
        return "Not measured: %s\n" % part["not_measured"]
    rows = []
    for row in part["rows"]:
        target = target_text(row)
        if "not_measured" in row:
            rows.append([row["work"], "`%s`" % row["floor"], "", "`%s`" % row["dat"], "", "", "",
                         target, "not measured: " + row["not_measured"]])
            continue
        rows.append([row["work"], "`%s`" % row["floor"], spread(row["floor_value"]),
                     "`%s`" % row["dat"], spread(row["dat_value"]), row["unit"],
                     spread(row["ratio"], 3), target, verdict(row, row["work"], why, missing)])
    return table(["work", "floor", "", "DAT", "", "", "ratio", "target", ""], rows)


def losses(part):
    rows = []
    for row in part["rows"]:
        if "not_measured" in row:
            rows.append([row["work"], "not measured: " + row["not_measured"]])
            continue
        rows.append([row["work"], row["unit"],
                     *("%.*f" % (0 if value >= 1000 else 2, value) for value in row["values"])])
    return table(["work", "", *("%s lost" % loss for loss in part["losses"])], rows)


def scale(part, why, missing):
    if "not_measured" in part:
        return "Not measured: %s\n" % part["not_measured"]
    return table(["what", "", "", "target", ""],
                 [[row["what"], "%.1f" % row["value"], row["unit"],
                   "%s %g" % (row["bound"], row["target"]),
                   verdict(row, row["what"] + ", " + row["unit"], why, missing)]
                  for row in part["rows"]])


def figure(value, unit):
    return "{:,.0f}".format(value) if unit == "instructions" else "%.2f" % value


def peers(part, heads):
    if "not_measured" in part:
        return "Not measured: %s\n" % part["not_measured"]
    rows = []
    for row in part:
        values = dict(row["values"])
        cells = [row["work"], row["unit"]]
        for head in heads:
            cells.append(figure(values.pop(head), row["unit"]) if head in values else "")
        cells += ["%.2f" % value for value in values.values()] or [""]
        cells += ["`%s`" % name for name in values] or [""]
        rows.append(cells)
    return table(["work", "", *heads, "plain loop", ""], rows)


def commits(of_parts):
    """Returns "commit X", or which parts belong to which commit."""
    by_commit = {}
    for part, one in of_parts.items():
        by_commit.setdefault(one, []).append(part)
    if len(by_commit) == 1:
        return "commit " + next(iter(by_commit))
    return "; ".join("%s of commit %s" % (", ".join(parts), one)
                     for one, parts in by_commit.items())


def instructions(part):
    if "not_measured" in part:
        return "Not measured: %s\n" % part["not_measured"]
    rows = []
    for row in part:
        if "not_measured" in row:
            rows.append([row["work"], "`%s`" % row["floor"], "", "", "",
                         "not measured: " + row["not_measured"]])
            continue
        floor, dat = row["floor_instructions"], row["dat_instructions"]
        rows.append([row["work"], "`%s`" % row["floor"], "{:,}".format(floor), "{:,}".format(dat),
                     "%.2f" % (dat / floor), "`%s`" % row["test"]])
    return table(["work", "floor", "instructions", "softnet-lo", "ratio", ""], rows)


def parts(part, counted):
    """`counted`: the instructions of the plain loops, with the kernel's."""
    if "not_measured" in part:
        return "Not measured: %s\n" % part["not_measured"]
    names = sorted({name for row in part for name in row["parts"]},
                   key=lambda name: -part[0]["parts"].get(name, 0))
    number = "{:,.0f}".format
    rows = [[name, *(number(row["parts"].get(name, 0)) for row in part)] for name in names]
    rows.append(["**all**", *("**%s**" % number(sum(row["parts"].values())) for row in part)])
    of_floors = {}
    for row in counted:
        work = row["work"].split(", `")[0].replace("a notice", "its notice")
        if "floor_instructions" in row:
            of_floors.setdefault(work, row["floor_instructions"])  # that of dat_evd_wait is the first
    rows.append(["the plain TCP loop, with the kernel",
                 *(number(of_floors[row["work"]]) if row["work"] in of_floors else "" for row in part)])
    return table(["part", *(row["work"] for row in part)], rows)


def copies(part):
    if "not_measured" in part:
        return "Not measured: %s\n" % part["not_measured"]
    return table(["MB/s", *("`%s`" % unit for unit in part["units"])],
                 [[size_name(row["size"]), *("%.0f" % value for value in row["values"])]
                  for row in part["rows"]])


def confirmations(part):
    if "not_measured" in part:
        return "Not measured: %s\n" % part["not_measured"]
    rows = []
    for row in part["rows"]:
        plain, plain_confirmed, taken, confirmed = row["values"]
        rows.append([str(row["window"]), "%.2f" % plain, "%.2f" % plain_confirmed, "%.2f" % (plain_confirmed / plain),
                     "%.2f" % taken, "%.2f" % confirmed, "%.2f" % (confirmed / taken),
                     "%.2f" % (confirmed / plain_confirmed)])
    units = ["`%s`" % unit for unit in part["units"]]
    return table(["window", *units[:2], "ratio", *units[2:], "ratio", "softnet / plain, both confirmed"], rows)


def verbs_cost(part):
    if "not_measured" in part:
        return "Not measured: %s\n" % part["not_measured"]
    return table(["", "instructions", "added", "of these in libdat2"],
                 [[row["what"], *("%.0f" % row[name] if row[name] is not None else ""
                                  for name in ("total", "added", "libdat2"))] for row in part["rows"]])


TRANSLATED = ("send queue", "completion", "event")


def verbs_why(part):
    counted = part.get("parts")
    if counted is None:
        return ""
    translating = sum(cost for name, cost in counted.items() if name.startswith(TRANSLATED))
    return (" To turn DAT's request into an `ibv_send_wr` and its completion into a\n`DAT_EVENT` (send queue, "
            "completion, event) takes %.0f, to find what a wrong program does (handles, arguments,\nstates, region) "
            "and to keep threads apart %.0f. With an aim of 200, one of\nthe two would have to go." % (
                translating, sum(counted.values()) - translating))


def verbs_parts(part):
    counted = part.get("parts")
    if counted is None:
        return "Not measured.\n"
    rows = [[name, "%.0f" % cost] for name, cost in sorted(counted.items(), key=lambda item: -item[1])]
    return table(["part", "instructions"], [*rows, ["**all**", "**%.0f**" % sum(counted.values())]])


def micro(part):
    if "not_measured" in part:
        return "Not measured: %s\n" % part["not_measured"]
    rows = []
    for one in part:
        rate = ""
        if "bytes_per_second" in one:
            rate = "%.2f GB/s" % (one["bytes_per_second"] / 1e9)
        elif "items_per_second" in one:
            rate = "%.1f M/s" % (one["items_per_second"] / 1e6)
        rows.append(["`%s`" % one["name"], "%.1f" % one["cpu_time_ns"], rate])
    return table(["benchmark", "CPU ns", ""], rows)


PAGE = """# Benchmarks

Written by `tools/benchmarks/run`, which says with `--help` what it needs; every figure is in
[docs/benchmarks/results.json](docs/benchmarks/results.json). Machine: %(cpu)s, %(cpus)d processors,
Linux %(kernel)s (%(architecture)s); %(commits)s; optimised build; loopback; CRC off unless
said. Medians; in brackets the middle half of the slices.

## Targets

Each row ran in turn with its floor, in short slices: ratios mean something where times do not. Five
pairs of processes share the slices, because a process keeps the pages of memory that it got, and
with them much of the speed of large messages. A floor `raw:...` is the same loop without our stack. One row:
`bazel run --config=opt //tools:dat_perf -- targets --only TEXT`.

%(targets)s
## Aims of the second wave

Ratios to the floor, from the table above: where each stood when the aim was set, and now. The rows without
an aim show what is left when the floor has the part that no implementation can do without.

%(second_wave)s
## Scale

`bazel run --config=opt //tools:dat_perf -- scale`

%(scale)s
## Instructions

Of both ends and the kernel together, for an iteration: counted in an emulated machine with one
processor whose clock goes on by a nanosecond with each instruction (`SOFTDAT_VM_ICOUNT=1 tests/vm/run`,
`dat_perf compare --cpus any`; what takes a microsecond there are 1,000 instructions). Loops that spin
cannot be counted so: the count would be that of the spins.

%(instructions)s
## Parts of a message

Where the instructions of both ends go, outside the kernel, for a message there and one back or for one of a
stream: counted line by line, with both ends in one thread over shared memory, so that no look is in vain
(`tools/benchmarks/run --only parts`). Over TCP a system call takes the place of the ring. A target of 1.08 would
leave both ends together 0.08 of the last line.

%(parts)s
## Beside bare verbs

For one RDMA write, posted and reaped, on a device that does nothing (`bazel run --config=opt //tests/nulldevice:cost`).
OFA's provider is that of Debian's `libdapl2`.

%(verbs_cost)s
Where those of our provider and libdat2 go, counted line by line. A program of bare verbs makes its `ibv_send_wr`
itself, so less is added than this.%(verbs_why)s

%(verbs_parts)s
## What confirmations cost

A completion that means "in the peer's memory" needs an answer, and with a window of 64 there are at least two for a
window, or else both ends wait for each other. TCP carries each in a call to send it and one to receive it.
`raw:tcp-confirm` is a plain loop that does this and nothing else: its ratio to `raw:tcp-gather` is what answers cost
where no stack is in the way. 64 B sends, M/s (`tools/benchmarks/run --only confirmations`):

%(confirmations)s
## Other libraries over TCP

Debian's `ucx_perftest` (`tag_lat`, `tag_bw`, `ucp_put_bw`; `UCX_TLS=tcp,self`, other settings its own) and `fi_pingpong`
(`-p tcp -e msg`), in turn with `dat_perf compare`, polling; medians of five rounds
(`tools/benchmarks/run --only peers`).

%(peers)s
## Shared memory

`softnet-shm-lo` between two processes of this host, beside the same programs in shared memory: UCX with
`UCX_TLS=posix,cma,self`, `fi_pingpong` with `-p shm -e rdm`. The plain loops are a ring in shared memory, and
for writes a copy within one process. UCX's puts go to memory that UCX itself has made for both processes, so
they are such a copy, too. DAT registers memory of the program, as UCX's messages do, which `cma` copies from one
process to the other. Small messages of softnet have a window of 256, those of UCX have none
(`tools/benchmarks/run --only shm-peers`). The instructions of softnet are those of Parts of a message, where the
receives that DAT wants posted, the completions that it reports and the keys that it checks have lines of their own. Processors of a virtual machine have a cache in common at one time and none
at another, which changes within seconds: where the plain loop takes 0.07 us for 64 B they had one, where it takes
0.28 us they had none.

%(shm_peers)s
Bytes of softnet go through a ring, so each is copied twice, by two processors at the same time, and from 8 KiB on
past their caches, which is several times as fast where the two have no cache in common. The kernel could copy each
once (`process_vm_readv`), in one call for each DDP segment, of up to 64 KiB. `raw:process-vm` does nothing else, with
one call for each message (`tools/benchmarks/run --only shm-copies`):

%(copies)s
## RoCEv2 over UDP

`dat_perf targets --ia softnet-udp-lo`: the same kind of table for the second wire. The ICRC of each packet
is computed and checked. Rows with `SOFTDAT_UDP_LOSS` are compared with the same work when nothing is lost.

%(udp_targets)s
`dat_perf scale --ia softnet-udp-lo`:

%(udp_scale)s
The same work while more and more packets are lost, each way (`SOFTDAT_UDP_LOSS`, `dat_perf compare`):

%(udp_losses)s
Debian's `fi_pingpong` (`-p "udp;ofi_rxd" -e rdm`), in turn with `dat_perf compare`; it has one message
under way at a time, also in the last row:

%(udp_peers)s
## softnet on loopback

The four measurements of the uDAPL reference implementation's paper (its figures 3 to 6): 16
outstanding for rates and bandwidths, one for latencies; blocking is `dat_evd_wait`, polling
`dat_evd_dequeue`. One point:
`dat_perf compare --test write_bw -t 16 -Q 1 -s SIZE --wait poll softnet-lo`.

%(softnet)s
## Plain loops

The same without our stack: what the kernel's TCP and a ring in shared memory do on this machine.
One point: `dat_perf compare --test send_bw -t 16 -s SIZE raw:tcp-poll`.

%(floors)s
## verbs on soft-RoCE, emulated

In a QEMU guest without KVM, where every instruction is translated: the shape says something, the
numbers do not. `tests/vm/run 'soft_dummy rxe; tools/benchmarks/run --program DAT_PERF --curves verbs-dum0'`.

%(rxe)s
## Micro benchmarks

`build_defs/micro_benchmarks`; the least of the repetitions.

%(micro)s"""


def write(results, root, folder):
    """Writes the page. Returns what is wrong with it, or an empty string."""
    os.makedirs(folder, exist_ok=True)
    missing = []
    why, of_udp = reasons(results), udp_reasons()
    page = PAGE % {
        **results["machine"],
        "commits": commits(results["commits"]),
        "targets": targets(results["targets"], why, missing),
        "second_wave": table(["work", "floor", "before", "aim", "now"], second_wave.rows(results)),
        "scale": scale(results["scale"], why, missing),
        "instructions": instructions(results["instructions"]),
        "parts": parts(results["parts"], results["instructions"]),
        "verbs_cost": verbs_cost(results.get("verbs-cost", {"not_measured": "not yet"})),
        "verbs_why": verbs_why(results.get("verbs-cost", {})),
        "verbs_parts": verbs_parts(results.get("verbs-cost", {})),
        "confirmations": confirmations(results.get("confirmations", {"not_measured": "not yet"})),
        "copies": copies(results["shm-copies"]),
        "peers": peers(results["peers"], ["softnet-lo", "UCX", "libfabric"]),
        "shm_peers": peers(results["shm-peers"], ["softnet-shm-lo", "UCX", "libfabric"]),
        "udp_targets": targets(results["udp-targets"], of_udp, missing),
        "udp_scale": scale(results["udp-scale"], of_udp, missing),
        "udp_losses": losses(results["udp-losses"]),
        "udp_peers": peers(results["udp-peers"], ["softnet-udp-lo", "libfabric"]),
        "softnet": figures("softnet-lo", results["softnet"], "softnet", folder, root),
        "floors": figures("plain loops", results["floors"], "floors", folder, root),
        "rxe": figures("soft-RoCE", results["rxe"], "rxe", folder, root),
        "micro": micro(results["micro"]),
    }
    with open(os.path.join(root, "BENCHMARKS.md"), "w", encoding="utf-8") as out:
        out.write(page)
    if missing:
        return "tools/benchmarks/reasons.py does not say why: " + "; ".join(missing)
    return ""
