# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
"""Iterators over a recording: they agree with each other, and with the list of addresses by
`perf rvtrace script --raw-pc`. views.py RECORDING SYMFS ADDRESSES; says what is wrong."""

import collections
import gc
import sys
import threading

import rvtrace

path, symfs, raw = sys.argv[1:]
wrong = []


def expect(what, found, wanted):
    if found != wanted:
        wrong.append(f"{what}: {found} instead of {wanted}")


by_cpu = collections.defaultdict(list)
with open(raw) as lines:
    for words in map(str.split, lines):
        if words[0] != "#":
            by_cpu[int(words[0])].append(int(words[3], 16))
everything = sum(map(len, by_cpu.values()))

with rvtrace.Recording(path, symfs=symfs) as recording:
    found = collections.defaultdict(list)
    for run, address in recording.addresses():
        found[run.cpu].append(address)
    expect("addresses equal script's", found == by_cpu, True)
    expect("losses", recording.losses, [])

    harts, times_rise = {}, True
    for run in recording.runs():
        times_rise &= run.time >= harts.get(run.cpu, 0)
        harts[run.cpu] = run.time
        expect("length of a run", run.end - run.address, sum(run.lengths))
        expect("instructions of a run", run.instructions, len(run.lengths))
    expect("times never fall", times_rise, True)

    ends = {}
    lines = 0
    for line in recording.lines():
        lines += line.instructions
        expect("a line's begin", line.begin >= ends.get(line.cpu, 0), True)
        ends[line.cpu] = line.end
    expect("instructions of lines", lines, everything)

    calls = list(recording.calls())
    outer = [call for call in calls if call.depth == 0]
    expect("calls without callees", all(call.own <= call.instructions for call in calls), True)
    expect("own instructions of the outermost, and of what they call",
           sum(call.own for call in calls), sum(call.instructions for call in outer))
    expect("no more than were executed", sum(call.own for call in calls) <= everything, True)
    expect("there are complete calls", any(call.complete for call in calls), True)
    expect("files of functions", {call.function.file for call in calls}, {symfs + "/program"})

    samples = collections.defaultdict(list)
    for sample in recording.samples(instructions=997):
        samples[sample.cpu].append(sample.address)
    expect("each 997th", dict(samples), {cpu: pcs[996::997] for cpu, pcs in by_cpu.items()})
    times = [sample.time for sample in recording.samples(ns=1000) if sample.cpu == 0]
    expect("samples by time", all(b - a >= 500 for a, b in zip(times, times[1:])), True)
    expect("there are as many as time has passed", len(times) > 100, True)

    # Leaving a loop ends decoding; two of one recording do not mix; threads go away.
    for _ in recording.runs():
        break
    first = recording.lines()
    next(first)
    expect("the second of two", sum(line.instructions for line in recording.lines()), everything)
    rest = list(first)
    expect("the first of two has ended early", len(rest) < 100000, True)
    unfinished = recording.runs()
    next(unfinished)
gc.collect()
expect("threads that are left", threading.active_count(), 1)
try:
    next(recording.runs())
    wrong.append("a closed recording is read")
except ValueError:
    pass
for arguments in {}, {"instructions": 1, "ns": 1}, {"ns": 0}:
    try:
        next(rvtrace.Recording(path, symfs=symfs).samples(**arguments))
        wrong.append(f"samples({arguments}) is taken")
    except ValueError:
        pass

# Without the program nothing can be followed: that is a loss, and with strict an exception.
with rvtrace.Recording(path, symfs="/nonexistent") as recording:
    expect("without code", list(recording.runs()), [])
    expect("that is said", {loss.reason for loss in recording.losses}, {"no code"})
    expect("files that are missing", [name for name, _ in recording.missing_files], ["/nonexistent/program"])
try:
    list(rvtrace.Recording(path, symfs="/nonexistent", strict=True).runs())
    wrong.append("strict lets a loss pass")
except rvtrace.LossError as error:
    expect("which", error.loss.reason, "no code")

try:
    rvtrace.Recording(symfs + "/program")
    wrong.append("a program is a recording")
except rvtrace.Error as error:
    expect("the file is named", symfs + "/program" in str(error), True)

for line in wrong[:20]:
    print(line)
sys.exit(bool(wrong))
