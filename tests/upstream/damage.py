#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
"""damage.py RECORDING DIRECTORY COUNT: damaged copies of a perf.data file with RISC-V trace.

trace-N: up to 16 bytes of the trace are others. info-N: one byte of PERF_RECORD_AUXTRACE_INFO.
records-N: one byte of a PERF_RECORD_AUX or _AUXTRACE, behind its header. cut-N: its end is missing.
version, other: whole, with metadata of a later version and of another recorder.
"""
import random
import struct
import sys

AUX, AUXTRACE_INFO, AUXTRACE = 11, 70, 71


def places(data):
    """Where which bytes are: by kind, pairs of an offset and a length."""
    found = {"trace": [], "info": [], "records": []}
    at, size = struct.unpack_from("<QQ", data, 40)
    end = at + size
    while at < end:
        kind, _, size = struct.unpack_from("<IHH", data, at)
        if kind == AUXTRACE_INFO:
            found["info"].append((at + 8, size - 8))
        elif kind in (AUX, AUXTRACE):
            found["records"].append((at + 8, size - 8))
        at += size
        if kind == AUXTRACE:
            (length,) = struct.unpack_from("<Q", data, at - size + 8)
            found["trace"].append((at, length))
            at += length
    return found


def change(data, spans, count, rng):
    for _ in range(count):
        at, length = rng.choice(spans)
        data[at + rng.randrange(length)] = rng.randrange(256)


def main():
    recording, directory, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    with open(recording, "rb") as file:
        whole = file.read()
    found = places(whole)

    def write(name, data):
        with open(f"{directory}/{name}.data", "wb") as file:
            file.write(data)

    for number in range(count):
        rng = random.Random(number)
        for kind, most in (("trace", 16), ("info", 1), ("records", 1)):
            data = bytearray(whole)
            change(data, found[kind], rng.randrange(most) + 1, rng)
            write(f"{kind}-{number}", data)
        write(f"cut-{number}", whole[: rng.randrange(len(whole))])
    version = found["info"][0][0] + 16
    data = bytearray(whole)
    data[version] += 1
    write("version", data)
    data[version + 4] ^= 0xFF
    write("other", data)


main()
