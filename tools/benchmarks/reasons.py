# SPDX-License-Identifier: BSD-3-Clause
"""Why targets are not met, by the name of the row: shown where one is not, and only there."""

OWN_PART = (
    "the plain loop has nothing but its two system calls; ours adds some 2,000 instructions at each "
    "end (queues, FPDU, keys, completions), and the kernel tells the epoll set of the adapter of each "
    "arrival, a twentieth of a round trip")
OWN_PART_OF_STREAMS = (
    "the plain loop copies messages that nobody looks at; ours spends a few hundred nanoseconds on "
    "each message's queues, FPDU, key and completions")

REASONS = {
    "64 B send, polling": OWN_PART,
    "64 B write, memory and EVD": OWN_PART + "; between two looks at memory lies a `recv`",
    "64 B write, memory alone": "the program spins, and the thread that moves the data has to get "
                                "its processor first",
    "64 B send, dat_evd_wait": "a machine that takes the processors away while both ends spin makes "
                               "the short spin pointless",
    "64 B send, dat_cno_wait": "as `dat_evd_wait`",
    "64 B send, descriptor of a CNO": "three epoll sets, one in the other, are told of each arrival: "
                                      "the adapter's, that of the descriptor and the program's own",
    "4 KiB send, polling": OWN_PART + "; and one copy more than the plain loop",
    "4 KiB send, polling, CRC": "each end computes a CRC32C over 4 KiB, twice in a round trip; and " +
                                OWN_PART,
    "64 B sends, window 64": OWN_PART_OF_STREAMS,
    "64 B writes, window 64": OWN_PART_OF_STREAMS,
    "64 B sends, window 64, CPU": OWN_PART_OF_STREAMS,
    "64 B writes, window 64, CPU": OWN_PART_OF_STREAMS,
    "4 KiB writes, window 64": OWN_PART_OF_STREAMS,
    "1 MiB writes": "both move the same bytes with as many system calls: the machine's own spread",
    "1 MiB reads": "as 1 MiB writes; and the answers wait for the requests of the next ones",
    "1 MiB writes, CRC": "both ends pass over the data once more, and on this machine the sums take "
                         "about as long as the copies do",
    "64 B send, dat_evd_wait, one CPU": "the same 2,000 instructions at each end, of about 17,000",
    "connections, one by one": "MPA's request, reply and first message are three messages more than "
                               "a plain connection has, and each wakes a process",
}
