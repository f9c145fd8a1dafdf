# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
"""For `perf script -s`: one line for each branch, as `perf script -F tid,ip,addr` has them."""


def process_event(event):
    sample = event["sample"]
    print(sample["tid"], f'{sample["ip"]:x}', f'{sample["addr"]:x}')
