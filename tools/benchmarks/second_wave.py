# SPDX-License-Identifier: BSD-3-Clause
"""The aims of the second wave of work on speed: where each row stood before it, and where it stands."""

# Work, floor, before, aim, and the rows of the table of targets (or of another part) that show it.
# A None in place of what was before: it was not measured.
AIMS = [
    ("64 B send, polling", "raw:tcp-poll", "1.23x", "1.08x", ["64 B send, polling"]),
    ("64 B write, memory and EVD", "raw:tcp-poll", "1.23x", "1.10x", ["64 B write, memory and EVD"]),
    ("write, then send as notice: polling, waiting", "one message of both", "3.3x instructions", "1.25x",
     ["64 B write and its notice, polling", "64 B write and its notice, waiting"]),
    ("two sends in a row: polling, waiting", "one message of both", None, "1.25x",
     ["two 64 B sends in a row, polling", "two 64 B sends in a row, waiting"]),
    ("4 KiB send, polling; with CRC", "raw:tcp-poll", "1.25x; 1.33x", "1.10x; 1.20x",
     ["4 KiB send, polling", "4 KiB send, polling, CRC"]),
    ("64 B sends, window 64: rate; CPU", "raw:tcp-gather", "0.40x; 3.9x", "0.6x; 2x",
     ["64 B sends, window 64", "64 B sends, window 64, CPU"]),
    ("64 B writes, window 64: rate; CPU", "raw:tcp-gather", "0.58x; 2.4x", "0.7x; 2x",
     ["64 B writes, window 64", "64 B writes, window 64, CPU"]),
    ("64 B send, dat_evd_wait, one CPU", "raw:tcp-block", "1.17x", "1.05x", ["64 B send, dat_evd_wait, one CPU"]),
    ("connections: one by one; 64 at once", "raw:tcp-block", "0.39x", "0.5x",
     ["connections, one by one", "connections, 64 at once"]),
    ("confirmed: window 64, sends and writes", "taken", None, "0.9x",
     ["confirmed: 64 B sends, window 64", "confirmed: 64 B writes, window 64"]),
    ("confirmed: there and back, sends and writes", "taken", None, "1.03x",
     ["confirmed: 64 B send, polling", "confirmed: 64 B write, memory and EVD"]),
    ("64 B write, memory alone, a CPU busy", "raw:tcp-epoll", "85x", "5x", ["64 B write, memory alone, a CPU busy"]),
    ("the same", "raw:tcp-thread", None, "",
     ["64 B write, memory alone, a CPU busy, beside a thread"]),
    ("message layer: 64 B; 16 KiB; 64 KiB", "the same messages over TCP", "64 KiB 1.7x", "1.05x",
     ["message layer: 64 B", "message layer: 16 KiB", "message layer: 64 KiB"]),
    ("message layer, 64 KiB", "raw:tcp-rendezvous", None, "", ["message layer: 64 KiB, beside a rendezvous"]),
    ("message layer, 1 MiB: polling; waiting; two end points; by read", "the same messages over TCP", "3.6x", "1.0x",
     ["message layer: 1 MiB", "message layer: 1 MiB, waiting", "message layer: 1 MiB, two end points",
      "message layer: 1 MiB, by read"]),
    ("message layer, 4 MiB", "the same messages over TCP", None, "1.0x", ["message layer: 4 MiB"]),
    ("message layer, 1 MiB; 4 MiB", "raw:tcp-rendezvous", None, "",
     ["message layer: 1 MiB, beside a rendezvous", "message layer: 4 MiB, beside a rendezvous"]),
    ("2, 4, 8 threads on one IA: 64 B, CPU", "one thread", None, "flat",
     ["64 B send, %d threads on one IA, CPU" % threads for threads in (2, 4, 8)]),
    ("2, 4, 8 threads on one IA: window 64, CPU", "one thread", None, "flat",
     ["window 64, %d threads on one IA, CPU" % threads for threads in (2, 4, 8)]),
    ("4 threads with IAs of their own: 64 B; window 64, CPU", "one thread", None, "flat",
     ["64 B send, 4 threads with IAs of their own, CPU", "window 64, 4 threads with IAs of their own, CPU"]),
    ("64 end points at once: window 64; one send each", "one", None, "1.1x",
     ["window 64 on each of 64 end points", "one 64 B send on each of 64 end points"]),
    ("one of 1000 end points; one of 4000", "one", None, "1.1x",
     ["64 B send, one of 1000 end points", "64 B send, one of 4000 end points"]),
]
# Work, aim, and the row of the table of shared memory. What UCX does stands behind ours.
SHM_AIMS = [
    ("shared memory: 64 B message, one way", "0.3 us", "64 B message, one way"),
    ("shared memory: 64 B messages, many outstanding", "12 M/s", "64 B messages, many outstanding"),
    ("shared memory: 1 MiB messages, many outstanding", "9000 MB/s", "1 MiB messages, many outstanding"),
]
VERBS = ("verbs: instructions added to a write and its completion", "bare verbs", "391", "200")


def rows(results):
    """Returns the rows of the table: work, floor, before, aim, now."""
    ratios = {row["work"]: "%.2fx" % row["ratio"]["median"] for row in results["targets"]["rows"]
              if "not_measured" not in row}
    lines = []
    for work, floor, before, aim, names in AIMS:
        floor = "`%s`" % floor if floor.startswith("raw:") else floor
        lines.append([work, floor, before or "not measured", aim,
                      "; ".join(ratios.get(name, "not measured") for name in names)])
    peers = results.get("shm-peers", [])
    shared = {} if "not_measured" in peers else {row["work"]: row for row in peers}
    for work, aim, name in SHM_AIMS:
        row = shared.get(name)
        lines.append([work, "UCX beside it", "not measured", aim, "not measured" if row is None else "%.2f %s; %.2f" % (
            row["values"]["softnet-shm-lo"], row["unit"], row["values"]["UCX"])])
    now = [row["added"] for row in results.get("verbs-cost", {}).get("rows", []) if row["what"] == OURS]
    lines.append([*VERBS, "%.0f" % now[0] if now else "not measured"])
    return lines


OURS = "our provider, our libdat2"
