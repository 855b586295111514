# SPDX-License-Identifier: BSD-3-Clause
"""The IAs that the suites run on: one line for each."""

def _ia(name, provider, ia, processes = True, libuv = True, datagrams = False):
    return struct(
        # What begins the names of its tests.
        name = name,
        # What --ia and SOFTDAT_TEST_IA say.
        ia = ia,
        # Whether it reaches other processes.
        processes = processes,
        # Whether its provider waits with libuv.
        libuv = libuv,
        # Whether it has unreliable datagrams.
        datagrams = datagrams,
        library = "//provider_%s:libdapl%s.so.2" % (provider, provider),
        env = {"SOFTDAT_PROVIDER_PATH": "provider_" + provider},
    )

TOY = _ia("toy", "toy", "toy-0", processes = False, libuv = False, datagrams = True)

SOFTNET = _ia("softnet", "softnet", "softnet-lo")

IAS = [
    TOY,
    SOFTNET,
]

# RoCEv2 over UDP, for the suites that it is complete enough for: docs/differences.md says what it lacks.
SOFTNET_UDP = _ia("softnet_udp", "softnet", "softnet-udp-lo", datagrams = True)

# iWARP over memory that processes of one host share.
SOFTNET_SHM = _ia("softnet_shm", "softnet", "softnet-shm-lo")

# On which the contract suite runs over softnet: one IA for each wire, those that only tests have included.
SOFTNET_WIRES = [
    "softnet-lo",
    "softnet-udp-lo",
    "softnet-shm-lo",
    "ring-lo",
]
