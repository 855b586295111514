# SPDX-License-Identifier: BSD-3-Clause
"""The reasons why targets are not met, by the name of the row. A reason is shown only if its target is
not met. Figures in the reasons come from the measurements."""


def _row(part, member, name):
    for row in part.get("rows", []) if isinstance(part, dict) else part:
        if row[member].replace("`", "") == name and "not_measured" not in row:
            return row
    return None


def _own_part(results):
    """Describes in words how much an end adds to a message."""
    row = _row(results["instructions"], "work", "64 B send, there and back, dat_evd_wait")
    if row is None:
        return "its own work"
    return "{:,.0f} instructions to the {:,.0f}".format(
        round((row["dat_instructions"] - row["floor_instructions"]) / 2, -2),
        round(row["floor_instructions"] / 2, -2))


def _own_part_of_streams(results):
    row = _row(results["targets"], "work", "64 B sends, window 64, CPU")
    if row is None:
        return "its time"
    return "%d ns of both ends" % round(
        (row["dat_value"]["median"] - row["floor_value"]["median"]) * 1000, -1)


def _with_answers(results):
    """The rate of the plain loop that answers, as a part of the one that does not; window 64."""
    confirmations = results.get("confirmations")
    if not confirmations:
        return ""
    plain = [confirmations["units"].index(unit) for unit in ("raw:tcp-confirm", "raw:tcp-gather")]
    for row in confirmations["rows"]:
        if row["window"] == 64:
            answers, none = (row["values"][at] for at in plain)
            return ("; it also has no answers, with which a plain loop has %.2f of its rate (What confirmations "
                    "cost)" % (answers / none))
    return ""


def _beside(results, name, text):
    """`text` with what the floor of a row takes that has the same parts."""
    row = _row(results["targets"], "work", name)
    return "" if row is None else text % row["floor_value"]["median"]


def _ratio(results, name, text):
    """`text` with the ratio of a row."""
    row = _row(results["targets"], "work", name)
    return "" if row is None else text % row["ratio"]["median"]


def _round_trip(results):
    row = _row(results["targets"], "work", "64 B send, polling")
    return "a trip of its own" if row is None else "%.0f us" % row["dat_value"]["median"]


def reasons(results):
    message = ("the plain loop has nothing but its two system calls, each end of ours adds %s of those "
               "(queues, FPDU, keys, completions)" % _own_part(results))
    stream = ("the plain loop copies messages that nobody looks at; ours spends %s on each message's "
              "queues, FPDU, key and completions" % _own_part_of_streams(results))
    answered = stream + _with_answers(results)
    sleeping = ("both ends spin for a moment before they sleep, which is in vain on a machine that "
                "takes their processors away meanwhile")
    bulk = ("both move the same bytes with as many system calls: the machine's own spread")
    window = ("a window of 64 is all that may be unconfirmed, so it leaves in halves: the peer works on "
              "one while the other is posted. So each 32 messages cost a system call to send them and one "
              "to answer, where completions that TCP gives take one for several windows. The dearer a "
              "call beside the 0.2 us of own work for a message, the less can be reached: 0.75 where it "
              "takes 3 us, 0.5 where it takes 5. In one piece the window would wait for its answer with "
              "nothing to post")
    many = ("with so many threads on a processor, one gets it more often when nothing has come for it yet: two looks "
            "for each message, where four threads with IAs of their own need 1.3")
    asleep = ("a wait polls for 20 to 200 us before it sleeps. A thread whose turn takes longer to come, because the "
              "others have a burst to work on, sleeps and is woken, which is some 10 us for a burst")
    own_ias = (asleep + ". If waits polled for 1 ms, it would be 1.16 us where it is 1.86; but so would those that wait "
               "in vain")
    moved = ("where the kernel may move threads, it pulls those together that wake each other, and these are of one "
             "process: each message then changes the processor, and each turn the address space. On processors of "
             "their own the same threads cost what the rows above say")
    crowded = ("the median is at the bound, below it in one hour and above it in another: the sockets and end points "
               "of both processes leave less of the caches")
    caches = ("what a message under way has in queues, buffers and the program's memory is some 250 bytes at each end, "
              "so that 4,096 of them fill a second-level cache of 1 MiB, and take turns in it; %s"
              % _ratio(results, "window 64 on each of 16 end points", "16 end points cost %.2f of one"))
    rds = ("RDS looks up the port's process and its connection, keeps a message until it is acknowledged, and "
           "tells the socket: 6,600 instructions of each end for a message there and one back, beside the IA's own")
    datagrams = ("RDS copies a message once more at the end that sends it, which keeps it until it is acknowledged, "
                 "and twice more at the other, from the frame to the message and from there to the program")
    pair = message + "; the notice is a second message with a receive and a completion of its own"
    ride = ("a request to confirm and its answer ride on the messages: two FPDUs more at each end for "
            "some of the messages")
    shaken = ("a request and an answer go there and back before the data do, which is %s for each message; "
              "both ends register its memory, for which the kernel is asked what it allows "
              "(0.6 us each); and the data are a write and its notice"
              % _round_trip(results))
    calls = ("both ends make some 40 system calls besides waits, of at least 1 us each here "
             "(`tests/field/connection_calls_test`), where the plain loop makes 16")
    setup = ("MPA's request, its reply, the first message and its answer are four messages more than a plain "
             "connection has, of 6 to 8 us each; and both ends make some 40 system calls besides waits, of at least "
             "1 us each here (`tests/field/connection_calls_test`)")
    cookies = ("both make a system call for each MiB. RDS has its own work to do for each between two of them, which "
               "shows the more, the faster the kernel copies")
    queued = (shaken + ". The data leave in pieces, the first of them alone, where the plain loop's kernel takes a whole "
              "message in one call. While the two processors have a cache in common, rows of 1 MiB are at the plain "
              "loop's level or ahead; while they have none, the kernel's copies take three times as long, and what "
              "the pieces cost shows")
    alone = ("the program spins, and the thread that moves the data has to get its processor first. Now and then "
             "the kernel leaves that to the program until its next tick, 4 ms")
    thread = _beside(results, "64 B write, memory alone, a CPU busy, beside a thread",
                     "; a plain program of which a thread receives while it spins takes %.0f us")
    answered_first = _beside(results, "message layer: 64 KiB, beside a rendezvous",
                             "; with request, answer and a header a plain loop takes %.0f us")
    shaken_64 = shaken + answered_first
    second = (shaken_64 + "; on two connections nothing keeps the finish behind the data, so it waits for "
              "their confirmation, which is one more way there and back")
    return {
        "64 B send, 2 threads on one IA, CPU": many,
        "64 B send, 4 threads on one IA, CPU": many,
        "64 B send, 8 threads on one IA, CPU": many,
        "64 B send, 4 threads with IAs of their own, CPU": sleeping,
        "64 B send, 4 threads, one IA beside four": many,
        "64 B send, 4 threads on one IA, unpinned, CPU": moved,
        "64 B write and notice, 4 threads on one IA, CPU": many,
        "window 64, 2 threads on one IA, CPU": asleep,
        "window 64, 4 threads on one IA, CPU": asleep,
        "window 64, 8 threads on one IA, CPU": asleep,
        "window 64, 4 threads with IAs of their own, CPU": own_ias,
        "window 64, 4 threads on one IA, unpinned, CPU": moved,
        "window 64 on each of 16 end points": caches,
        "window 64 on each of 64 end points": caches,
        "64 B write and its notice, polling": pair,
        "two 64 B sends in a row, polling": pair,
        "message layer: 64 B": message + "; the message is copied once more at each end",
        "message layer: 16 KiB": "each end copies the message once more, between the program's memory and "
                                 "that of a send or receive, and the receiving end once more on the way; "
                                 "and " + message,
        "message layer: 64 KiB": shaken_64,
        "message layer: 64 KiB, beside a rendezvous": "request, answer and data each cost an end what a message does; "
                                                      "both ends register the memory of each message; and the data "
                                                      "are more than one FPDU can carry",
        "message layer: 64 KiB, waiting": shaken_64,
        "message layer: 64 KiB, two end points": second,
        "message layer: 1 MiB": queued,
        "message layer: 1 MiB, beside a rendezvous": queued,
        "message layer: 4 MiB, beside a rendezvous": queued,
        "message layer: 1 MiB, waiting": queued,
        "message layer: 1 MiB, two end points": queued + "; on two connections nothing keeps the finish behind the "
                                                "data, so it waits for their confirmation",
        "message layer: 1 MiB, by read": "a request goes before the read, a finish after it, and nothing of "
                                         "the next message before that; both ends register the memory",
        "message layer: 4 MiB": queued,
        "confirmed: 64 B send, polling": ride,
        "confirmed: 64 B write, memory and EVD": ride,
        "RDS: 64 B there and back, polling": rds,
        "RDS: 64 B there and back, waiting": rds,
        "RDS: 8 KiB one way, polling": datagrams,
        "RDS: 8 KiB one way, waiting": datagrams,
        "RDS: 1 MiB writes by cookie": cookies,
        "RDS: 1 MiB reads by cookie": cookies,
        "confirmed: 64 B sends, window 64": window,
        "confirmed: 64 B writes, window 64": window,
        "confirmed: 1 MiB sends": bulk + "; besides, 20 bytes of answer for each",
        "confirmed: 1 MiB writes": bulk + "; besides, 20 bytes of answer for each",
        "64 B send, polling": message,
        "64 B write, memory and EVD": message + "; between two looks at memory lies a `recv`",
        "64 B write, memory alone": alone,
        "64 B write, memory alone, a CPU busy": "both programs spin, so that three threads and two helpers share two "
                                                "processors: a write waits for the slice of the program that is to "
                                                "see it, some milliseconds each time. The plain loop sleeps" + thread,
        "64 B write, memory alone, beside a thread": alone,
        "64 B write, memory alone, a CPU busy, beside a thread": "where the kernel puts three threads that spin on two "
                                                                 "processors decides, which varies from slice to slice",
        "64 B send, dat_evd_wait": sleeping,
        "64 B send, dat_evd_wait, unpinned": "where the kernel puts both ends on one processor, "
                                             "nobody is woken on another: then " + message,
        "64 B send, dat_evd_wait, a CPU busy": message,
        "64 B send, dat_evd_wait, an end's CPU busy": "a wait sleeps like the plain loop, but first it has to find out "
                                                      "that polling is in vain, and now and then it tries again",
        "64 B send, dat_cno_wait": sleeping,
        "64 B send, descriptor of a CNO": "three epoll sets, one in the other, are told of each "
                                          "arrival: the adapter's, that of the descriptor and the "
                                          "program's own",
        "4 KiB send, polling": message + "; and one copy more than the plain loop",
        "4 KiB send, polling, CRC": "each end computes a CRC32C over 4 KiB, twice in a round trip; and "
                                    + message,
        "64 B sends, window 64": answered,
        "64 B writes, window 64": answered,
        "64 B sends, window 64, CPU": stream,
        "64 B writes, window 64, CPU": stream,
        "4 KiB writes, window 64": stream,
        "1 MiB writes": bulk,
        "1 MiB reads": bulk + "; and the answers wait for the requests of the next ones",
        "1 MiB writes, CRC": "both ends pass over the data once more, and on this machine the sums "
                             "take about as long as the copies do",
        "64 B send, dat_evd_wait, one CPU": message,
        "64 B send, one of 1000 end points": crowded,
        "64 B send, one of 4000 end points": crowded,
        "connections, 64 at once": setup,
        "connections, one by one": setup,
        "connections, 64 at once, beside a handshake": calls,
        "connections, one by one, beside a handshake": calls,
    }


def udp_reasons():
    """The same for the table of RoCEv2 over UDP."""
    message = ("each message is acknowledged: the plain loop sends one packet each way, ours a second one "
               "with it, which is made, summed, cut off by the kernel and judged at the other end; beside "
               "it stand the queues, keys and completions of each end")
    lost = ("one in a hundred is about one in each window, which waits for it for a round trip and more")
    return {
        "64 B send, polling": message,
        "64 B write, memory and EVD": message + "; between two looks at memory lies a `recvmmsg`",
        "4 KiB writes, window 64": "each write is a message with queues, a key and a completion of its own, where "
                                   "the kernel cuts the packets of the plain loop from one buffer",
        "4 KiB writes, window 64, 1 % lost": lost,
        "1 MiB writes, 1 % lost": lost,
        "1 MiB reads, 1 % lost": lost,
        "1 MiB sends, 1 % lost": lost,
        "64 B sends, window 64, 1 % lost": lost,
        "an idle end point, of 1000, both ends, KiB of memory":
            "half of it is one end's: beside what a connection over TCP has, the exchange of its "
            "connection management is remembered, and what it knows of packets that may be lost",
    }
