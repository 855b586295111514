#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks that SOFTDAT_PROFILE gives softnet the limits of the device.

usage: profile_limits.py NAME SOFTNET PROFILE VERBS

Each of the three is what `dat_info -v IA --json` printed: for softnet, for softnet with the profile, and for the back
end for RDMA devices. The profile must show the smaller of softnet's own limit and the device's. Prints a line for each
attribute, "ok NAME: attribute" or "FAILED NAME: attribute, why".
"""

import json
import sys

SMALLER = [
    ("ia_attr", "max_dto_per_ep"), ("ia_attr", "max_rdma_read_per_ep_in"), ("ia_attr", "max_rdma_read_per_ep_out"),
    ("ia_attr", "max_evd_qlen"), ("ia_attr", "max_iov_segments_per_dto"), ("ia_attr", "max_message_size"),
    ("ia_attr", "max_rdma_size"), ("ia_attr", "max_recv_per_srq"), ("provider_attr", "max_private_data_size"),
]
SAME = [
    ("ia_attr", "extension_supported"), ("ia_attr", "zb_supported"), ("provider_attr", "srq_supported"),
    ("provider_attr", "srq_watermarks_supported"),
]


def compare(softnet, profile, verbs):
    """Yields (attribute, None or what is wrong)."""
    for group, key in SMALLER:
        wanted = min(softnet[group][key], verbs[group][key])
        got = profile[group][key]
        yield key, None if got == wanted else f"{got}, the device has {verbs[group][key]}, softnet {softnet[group][key]}"
    for group, key in SAME:
        wanted, got = verbs[group].get(key), profile[group].get(key)
        yield key, None if got == wanted else f"{got}, the device says {wanted}"
    for key in ("DAT_IB_FETCH_AND_ADD", "DAT_IB_IMMED_DATA", "SOFTDAT_CONFIRMED_WRITES"):
        wanted, got = (r["provider_attr"]["provider_specific_attr"].get(key) for r in (verbs, profile))
        yield key, None if wanted == got else f"{got}, the device says {wanted}"
    windows, has = verbs["ia_attr"]["max_rmrs"] > 0, profile["ia_attr"]["max_rmrs"] > 0
    yield "max_rmrs", None if windows == has else f"windows: {has}, of the device: {windows}"
    if windows:
        wanted, got = (r["provider_attr"]["rmr_scope_supported"] for r in (verbs, profile))
        yield "rmr_scope_supported", None if wanted == got else f"{got}, the device says {wanted}"


def main():
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    name, reports = sys.argv[1], []
    for path in sys.argv[2:]:
        with open(path, encoding="utf-8") as file:
            reports.append(json.load(file))
    for attribute, wrong in compare(*reports):
        print(f"ok {name}: {attribute}" if wrong is None else f"FAILED {name}: {attribute}, {wrong}")


if __name__ == "__main__":
    main()
