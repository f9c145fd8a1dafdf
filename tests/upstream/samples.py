#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
"""samples.py BRANCHES STACKS CHAINS: is what samples got from the trace in the trace?

BRANCHES: perf script --itrace=b -F time,ip,addr --ns. STACKS: perf script --itrace=L
-F time,brstack --ns. CHAINS: perf script --itrace=G -F time,ip --ns. The branches of a stack follow
each other in the trace, and the trace has no other branch between them and the sample, as far as its
time stamps and a millisecond tell. Each caller of a chain is behind a branch of the trace.
"""
import sys

NEAR = 0.001


def seconds(word):
    return float(word.rstrip(":"))


def read_branches(path):
    found = []
    with open(path, encoding="ascii") as file:
        for line in file:
            time, source, target = line.replace("=>", " ").split()
            found.append((source, target, seconds(time)))
    return found


def last_until(branches):
    """When each branch stops being the last: the next time of one that is no stop and no start."""
    until = [float("inf")] * len(branches)
    for i in range(len(branches) - 2, -1, -1):
        source, target, time = branches[i + 1]
        same = "0" in (source, target) or time <= branches[i][2]
        until[i] = until[i + 1] if same else time
    return until


def check_stacks(path, branches):
    until = last_until(branches)
    places = {}
    for i, branch in enumerate(branches):
        places.setdefault(branch[:2], []).append(i)
    stacks = wrong = 0
    with open(path, encoding="ascii") as file:
        for line in file:
            words = line.split()
            stack = [tuple(part[2:] for part in word.split("/")[:2]) for word in words[1:]]
            if not stack:
                continue
            stacks += 1
            when = seconds(words[0])
            wrong += not any(
                branches[i][2] - NEAR < when < until[i] + NEAR
                and i + 1 >= len(stack)
                and all(branches[i - k][:2] == entry for k, entry in enumerate(stack))
                for i in places.get(stack[0], [])
            )
    return stacks, wrong


def check_chains(path, branches):
    behind = set()
    for source, _, _ in branches:
        behind.update((int(source, 16) + 2, int(source, 16) + 4))
    chains = callers = wrong = 0
    with open(path, encoding="ascii") as file:
        for block in file.read().split("\n\n"):
            frames = [int(line, 16) for line in block.strip().splitlines()[1:]]
            chains += len(frames) > 1
            for frame in frames[1:]:
                callers += 1
                wrong += frame not in behind
    return chains, callers, wrong


def main():
    branches = read_branches(sys.argv[1])
    stacks, wrong_stacks = check_stacks(sys.argv[2], branches)
    chains, callers, wrong_callers = check_chains(sys.argv[3], branches)
    print(stacks, "branch stacks,", wrong_stacks, "are not in the trace;", chains, "call chains of",
          callers, "callers,", wrong_callers, "are not")
    sys.exit(stacks < 10 or chains < 10 or wrong_stacks > 0 or wrong_callers > 0)


main()
