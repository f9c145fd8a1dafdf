# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
"""Flow of control of recordings that `perf rvtrace record` made, by librvtrace.

    import rvtrace

    with rvtrace.Recording("perf.data") as recording:
        for call in recording.calls():
            print(call.tid, call.depth, call.function, call.end - call.begin)
        for loss in recording.losses:
            print("lost:", loss)

Each iterator decodes the recording from its beginning, while it is asked for more; leaving the
loop ends that. One at a time: a second one of the same recording ends the first. Times are ns of
perf's clock; addresses are those of the process.

What is lost is not in what iterators deliver: it is in `Recording.losses` when they end, and
`strict=True` makes the first loss an exception.
"""

from rvtrace.recording import (Call, Dump, Error, Line, Loss, LossError, Mark, Recording, Run,
                               Sample, Symbol)

__all__ = ["Call", "Dump", "Error", "Line", "Loss", "LossError", "Mark", "Recording", "Run",
           "Sample", "Symbol"]
