# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
"""Recordings and iterators over them; the package's door is __init__.py."""

import ctypes
import os
import queue
import threading
from dataclasses import dataclass
from typing import NamedTuple, Optional

from rvtrace import _library as c
from rvtrace._library import library, take_string

_BATCH = 1024           # items that go from the decoder to the iterator at once
_BATCHES_AHEAD = 8      # how far the decoder may be ahead
_MAX_DEPTH = 1024       # of call stacks
_ECANCELED = 125


class Error(OSError):
    """The library refused something; str() is its sentence."""


class LossError(Error):
    """strict=True, and some of the flow is lost: `loss`."""

    def __init__(self, loss):
        super().__init__(None, str(loss))
        self.loss = loss

    def __str__(self):
        return str(self.loss)


class Symbol(NamedTuple):
    """What lies at an address. `name` is None where no table knows it, `file` where nothing is
    mapped."""
    name: Optional[str]
    offset: int         # of the address, from the start of the function
    file: Optional[str]

    def __str__(self):
        return self.name or "[unknown]"


class Run(NamedTuple):
    """Instructions that were executed one after another, within one block of code. `addresses()`
    of the Recording tells each."""
    cpu: int
    pid: int            # -1: not known
    tid: int
    comm: str
    time: int           # when the first of them began
    address: int        # of the first
    end: int            # address behind the last
    instructions: int
    lengths: bytes      # of each, in bytes
    privilege: str      # U, S, M, VS, VU; "" where the trace does not say


class Line(NamedTuple):
    """Straight code: no transfer of control between its instructions."""
    cpu: int
    pid: int
    tid: int
    comm: str
    begin: int
    end: int
    first: int          # address of its first instruction
    last: int           # of its last
    instructions: int


class Mark(NamedTuple):
    """What the program, a trigger or a debugger put into the trace (enum rvt_mark)."""
    cpu: int
    pid: int
    tid: int
    comm: str
    time: int
    address: int
    kind: int
    tag: int
    value: Optional[int]


class Loss(NamedTuple):
    """Flow that is not known, up to where it goes on."""
    cpu: int
    time: int
    address: int        # where it was lost; 0: not known
    offset: int         # in the bytes of the trace
    reason: str         # rvt_reason, in words
    text: str

    def __str__(self):
        return f"cpu {self.cpu} offset {self.offset}: {self.text or self.reason}"


class Sample(NamedTuple):
    """One instruction of many."""
    cpu: int
    pid: int
    tid: int
    comm: str
    time: int
    address: int
    symbol: Symbol
    stack: tuple        # of Symbol: callers, the innermost first


@dataclass
class Call:
    """A function's, system call's or interrupt's time on its thread's stack."""
    cpu: int            # where it began
    pid: int
    tid: int
    comm: str
    function: Symbol
    address: int        # where it began
    caller: int         # address of the call, or of what was interrupted
    depth: int          # frames below it
    begin: int
    end: int
    instructions: int   # with those of its callees
    own: int            # without
    trap: bool
    signal: bool
    complete: bool      # both its begin and its end were seen


def _text(value):
    return value.decode(errors="replace") if value is not None else None


def _encoded(path):
    return os.fsencode(path) if path is not None else None


class _Thread:
    """Calls of one thread that have not ended."""

    def __init__(self):
        self.instructions = 0
        self.last = 0       # time
        self.calls = []
        self.inner = []     # of each call: its callees' instructions


class _Decoding:
    """One pass over a recording, in a thread of its own: call-backs put items into a queue."""

    def __init__(self, recording, runs=None, event=None, transfers=None):
        self.recording = recording
        self.queue = queue.Queue(_BATCHES_AHEAD)
        self.batch = []
        self.stopped = False
        self.error = None
        self._runs = c.RUNS(self._guard(runs)) if runs else c.RUNS()
        self._event = c.EVENT(self._guard(self._take_event(event)))
        self._line = c.LINE(self._guard(transfers[0])) if transfers else None
        self._after = c.AFTER(self._guard(transfers[1])) if transfers and transfers[1] else \
            c.AFTER()
        self._warning = c.WARNING(self._take_warning)
        self.thread = threading.Thread(target=self._run, daemon=True)

    def put(self, item):
        self.batch.append(item)
        if len(self.batch) >= _BATCH:
            self._flush()

    def _flush(self):
        while not self.stopped:
            try:
                self.queue.put(self.batch, timeout=0.1)
                break
            except queue.Full:
                continue
        self.batch = []

    def _guard(self, function):
        """An exception does not go through C: it ends decoding, and comes to the iterator."""
        def guarded(_ctx, *arguments):
            if self.stopped:
                return -_ECANCELED
            try:
                function(*arguments)
            except BaseException as error:  # pylint: disable=broad-except
                self.error = error
                return -_ECANCELED
            return 0
        return guarded

    def _take_event(self, event):
        def take(hart, what):
            if what.contents.type == c.EVENT_LOST:
                self.recording._take_loss(hart.contents, what.contents)
            if event:
                event(hart, what)
        return take

    def _take_warning(self, _ctx, text):
        self.recording.warnings.append(_text(text))

    def _run(self):
        session = self.recording._session
        sink = c.session_sink(runs=self._runs, event=self._event, warning=self._warning)
        transfers = None
        try:
            if self._line:
                ops = c.transfers_ops(line=self._line, after=self._after, event=self._event)
                transfers = library.transfers_create(
                    ctypes.byref(ops), library.session_symbols(session), _MAX_DEPTH)
                if not transfers:
                    raise MemoryError
                library.transfers_sink(transfers, ctypes.byref(sink))
            status = library.session_run(session, ctypes.byref(sink))
            if transfers:
                self.recording.cut_stacks = library.transfers_cuts(transfers)
            if status < 0 and not self.error and not self.stopped:
                self.error = Error(-status, os.strerror(-status))
        except BaseException as error:  # pylint: disable=broad-except
            self.error = error
        finally:
            if transfers:
                library.transfers_destroy(transfers)
            self._flush()
            self.batch = None   # the last: nothing follows
            self._flush()

    def items(self):
        self.thread.start()
        try:
            while not self.stopped:
                try:
                    batch = self.queue.get(timeout=0.1)
                except queue.Empty:
                    continue
                if batch is None:
                    break
                yield from batch
        finally:
            self.stop()
        if self.error:
            raise self.error

    def stop(self):
        self.stopped = True
        if self.thread.is_alive():
            self.thread.join()


class _Session:
    """What a recording and a dump have in common."""

    def __init__(self, strict):
        self._session = None
        self._decoding = None
        self._symbols = {}      # space -> (generation, {address: Symbol})
        self.strict = strict
        self.losses = []        # Loss of the last iteration
        self.warnings = []      # sentences about the file itself
        self.cut_stacks = 0     # how often the flow contradicted a stack

    def _open(self, function, what, options):
        session, error = ctypes.c_void_p(), ctypes.c_void_p()
        status = function(what, ctypes.byref(options), ctypes.byref(session), ctypes.byref(error))
        text = take_string(error)
        if status:
            raise Error(-status, text or os.strerror(-status))
        self._session = session

    def close(self):
        """Frees all that the library holds. Iterators end."""
        self._end_decoding()
        if self._session:
            library.session_close(self._session)
        self._session = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        if getattr(self, "_session", None):
            self.close()

    def _end_decoding(self):
        if self._decoding:
            self._decoding.stop()
        self._decoding = None

    def _begin(self, **callbacks):
        if not self._session:
            raise ValueError("the recording is closed")
        self._end_decoding()
        self._symbols.clear()
        self.losses, self.warnings = [], []
        self._decoding = _Decoding(self, **callbacks)
        return self._decoding

    def _take_loss(self, hart, event):
        loss = Loss(hart.cpu, hart.time, event.pc, event.offset,
                    c.REASONS[event.reason] if event.reason < len(c.REASONS) else "?",
                    _text(event.detail) or "")
        self.losses.append(loss)
        if self.strict:
            raise LossError(loss)

    @property
    def statistics(self):
        """What the recording has and misses, as struct rvt_session_stats says: a dict."""
        stats = c.session_stats()
        library.session_stats(self._session, ctypes.byref(stats))
        return {name: getattr(stats, name) for name, _ in stats._fields_[1:]}

    @property
    def missing_files(self):
        """(path, errno) of each file that a mapping names and that could not be used."""
        files = []
        while True:
            entry = library.session_missing(self._session, len(files))
            if not entry:
                return files
            files.append((_text(entry.contents.path), -entry.contents.error))

    def _symbol(self, hart, address):
        """What lies there now. Only in call-backs: mappings change."""
        space = hart.space
        if not space:
            return Symbol(None, 0, None)
        generation = library.space_generation(space)
        known = self._symbols.get(space)
        if not known or known[0] != generation:
            known = self._symbols[space] = (generation, {})
        found = known[1].get(address)
        if found is None:
            location, symbol = c.location(), c.symbol()
            if library.space_locate(space, address, ctypes.byref(location)):
                found = Symbol(None, 0, None)
            elif library.symbols_find(library.session_symbols(self._session),
                                      ctypes.byref(location), address, ctypes.byref(symbol)):
                found = Symbol(_text(symbol.name), symbol.offset, _text(location.path))
            else:
                found = Symbol(None, 0, _text(location.path))
            known[1][address] = found
        return found

    def runs(self):
        """Yields each Run, in the order of each cpu; cpus take turns by time."""
        def take(hart, runs, n):
            who = _who(hart.contents)
            privilege = _privilege(hart.contents.context)
            told = 0
            for i in range(n):
                run = runs[i]
                block = run.block.contents
                lengths = bytes(2 * length
                                for length in block.halfwords[:run.first + run.count])
                address = block.pc + sum(lengths[:run.first])
                lengths = lengths[run.first:]
                decoding.put(Run(*who, _time(hart.contents, told), address,
                                 address + sum(lengths), run.count, lengths, privilege))
                told += run.count
        decoding = self._begin(runs=take)
        yield from decoding.items()

    def addresses(self):
        """Yields (Run, address) of each instruction. Slow: runs() or lines() often do."""
        for run in self.runs():
            address = run.address
            for length in run.lengths:
                yield run, address
                address += length

    def lines(self):
        """Yields each Line."""
        def take(hart, line, _stack):
            hart, line = hart.contents, line.contents
            decoding.put(Line(*_who(hart), line.began, hart.time, line.first, line.last,
                              line.insns))
        decoding = self._begin(transfers=(take, None))
        yield from decoding.items()

    def marks(self):
        """Yields each Mark."""
        def take(hart, event):
            hart, event = hart.contents, event.contents
            if event.type == c.EVENT_MARK:
                decoding.put(Mark(*_who(hart), hart.time, event.pc, event.mark, event.tag,
                                  event.value if event.has_value else None))
        decoding = self._begin(event=take)
        yield from decoding.items()

    def calls(self):
        """Yields each Call when it ends, so callees come before their callers; what has not
        ended comes last."""
        threads = {}

        def take_line(hart, line, _stack):
            get_thread(hart.contents).instructions += line.contents.insns

        def get_thread(hart):
            key = _key(hart)
            thread = threads.get(key)
            if not thread:
                thread = threads[key] = _Thread()
            return thread

        def begin(thread, hart, frame):
            thread.calls.append(Call(
                *_who(hart), self._symbol(hart, frame.to), frame.to, frame.from_,
                len(thread.calls), hart.time, hart.time, thread.instructions, 0, frame.trap,
                frame.signal, not frame.cut))
            thread.inner.append(0)

        def end(thread, time, complete=True):
            call, inner = thread.calls.pop(), thread.inner.pop()
            call.end = max(time, call.begin)
            call.instructions = thread.instructions - call.instructions
            call.own = call.instructions - inner
            call.complete = call.complete and complete
            if thread.inner:
                thread.inner[-1] += call.instructions
            return call

        def take_after(hart, _transfer, stack, ended):
            hart = hart.contents
            thread = get_thread(hart)
            depth = library.callstack_depth(stack)
            top = library.callstack_frame(stack, 0)
            # the top one may be a signal handler where a trap was
            while thread.calls and (ended or len(thread.calls) > depth or (
                    len(thread.calls) == depth and
                    thread.calls[-1].address != top.contents.to)):
                decoding.put(end(thread, hart.time))
                ended -= ended > 0
            while len(thread.calls) < depth:
                begin(thread, hart, library.callstack_frame(
                    stack, depth - 1 - len(thread.calls)).contents)
            thread.last = hart.time

        decoding = self._begin(transfers=(take_line, take_after))
        yield from decoding.items()
        for thread in threads.values():
            while thread.calls:
                yield end(thread, thread.last, complete=False)

    def samples(self, instructions=None, ns=None):
        """Yields a Sample for every so many instructions of a cpu, or (with ns) whenever so much
        time has passed on it."""
        if (instructions is None) == (ns is None):
            raise ValueError("samples() takes a number of instructions, or of ns")
        harts = {}
        every = instructions or ns
        if every < 1:
            raise ValueError("a sample for every 0 is not possible")

        def take(hart, line, stack):
            hart, line = hart.contents, line.contents
            if instructions:
                left = harts.get(hart.cpu, every)
                while left <= line.insns:
                    place(hart, line, stack, left - 1)
                    left += every
                harts[hart.cpu] = left - line.insns
                return
            due = harts.get(hart.cpu, line.began)
            if due < hart.time:
                span = max(1, hart.time - line.began)
                place(hart, line, stack, max(0, due - line.began) * line.insns // span)
                due += (hart.time - due + every - 1) // every * every
            harts[hart.cpu] = due

        def place(hart, line, stack, n):
            address = self._nth(hart, line, n)
            span = hart.time - line.began
            frames = (library.callstack_frame(stack, i).contents
                      for i in range(library.callstack_depth(stack)))
            decoding.put(Sample(
                *_who(hart), line.began + span * n // line.insns, address,
                self._symbol(hart, address),
                tuple(self._symbol(hart, frame.from_) for frame in frames if frame.from_)))

        decoding = self._begin(transfers=(take, None))
        yield from decoding.items()

    @staticmethod
    def _nth(hart, line, n):
        """The address of instruction number @n of a line."""
        code = ctypes.POINTER(ctypes.c_uint8)()
        address = line.first
        while n:
            size = library.space_find(hart.space, address, ctypes.byref(code))
            at = 0
            while n and at < size:
                at += 4 if code[at] & 3 == 3 else 2
                n -= 1
            if not at:
                break
            address += at
        return min(address, line.last)


class Recording(_Session):
    """A perf.data with E-Trace or N-Trace. Paths mean what the options of `perf rvtrace script`
    mean; `symfs` may be several, with ':' between."""

    def __init__(self, path="perf.data", *, symfs=None, vmlinux=None, kcore=None, kallsyms=None,
                 firmware=None, guestvmlinux=None, params=None, strict=False):
        super().__init__(strict)
        # The library keeps the strings: so does the object.
        self._options = c.session_options(
            symfs=_encoded(symfs), vmlinux=_encoded(vmlinux), kcore=_encoded(kcore),
            kallsyms=_encoded(kallsyms), firmware=_encoded(firmware),
            guest_vmlinux=_encoded(guestvmlinux), params=_encoded(params), clock=True)
        self._open(library.session_open, _encoded(path), self._options)
        if library.session_is_ctr(self._session):
            self.close()
            raise Error(95, f"{path} holds Control Transfer Records: they have no flow; "
                        "`perf rvtrace script` prints them")


class Dump(_Session):
    """Bytes of a sink, and the program that wrote them: `elf` is the path of an ELF file, or a
    list of them; `raw` has paths of memory images by the address of their first byte. `params` is
    the path of a parameter file. Nothing says when or in which process it was."""

    def __init__(self, path, *, params, elf=(), raw=None, oldest=0, strict=False):
        super().__init__(strict)
        paths = [elf] if isinstance(elf, (str, bytes, os.PathLike)) else list(elf)
        places = [(0, elf_path, False) for elf_path in paths]
        places += [(address, raw_path, True) for address, raw_path in (raw or {}).items()]
        images = (c.dump_image * len(places))()
        for image, (address, image_path, is_raw) in zip(images, places):
            image.size = ctypes.sizeof(image)
            image.path, image.address, image.raw = _encoded(image_path), address, is_raw
        self._options = c.session_options(params=_encoded(params))
        dump = c.session_dump(path=_encoded(path), images=images, n_images=len(places),
                              oldest=oldest)
        self._open(library.session_open_dump, ctypes.byref(dump), self._options)


def _key(hart):
    if not hart.task:
        return -2 - hart.cpu
    task = hart.task.contents
    return -(1 << 29) - task.tid if task.guest else task.tid


def _who(hart):
    if not hart.task:
        return hart.cpu, -1, -1, ""
    task = hart.task.contents
    return hart.cpu, task.pid, task.tid, _text(task.comm)


def _privilege(context):
    if not context.prv_valid:
        return ""
    return "V" * context.v + {0: "U", 1: "S", 3: "M"}.get(context.prv, "")


def _time(hart, n):
    """rvt_hart_time()."""
    span = hart.span
    if not span.insns:
        return hart.time
    if span.to <= span.from_:
        return span.from_
    return span.from_ + (span.to - span.from_) * min(span.first + n, span.insns) // span.insns
