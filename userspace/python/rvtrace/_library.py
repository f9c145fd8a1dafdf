# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
"""librvtrace by ctypes: its structs, member for member as the headers have them, and the functions
that this package calls. tests/python.t compares sizes and offsets with the compiler's.

Structs are called as in C, without "rvt_": HEADERS says where they are from.
"""

import ctypes
import os
from ctypes import (CFUNCTYPE, POINTER, Structure, c_bool, c_char_p, c_int, c_int32, c_size_t,
                    c_uint, c_uint8, c_uint32, c_uint64, c_void_p)

HEADERS = ("flow.h", "session.h", "symbol.h", "transfers.h")


class _Sized(Structure):
    """A struct that begins with its size."""

    def __init__(self, **members):
        super().__init__(size=ctypes.sizeof(self), **members)


class block(Structure):
    _fields_ = [("pc", c_uint64), ("insns", c_uint32), ("bytes", c_uint32),
                ("halfwords", POINTER(c_uint8)), ("iclass", c_uint8), ("target", c_uint64)]


class run(Structure):
    _fields_ = [("block", POINTER(block)), ("first", c_uint32), ("count", c_uint32)]


class context(Structure):
    _fields_ = [("prv", c_uint8), ("v", c_uint8), ("prv_valid", c_bool),
                ("scontext_valid", c_bool), ("hcontext_valid", c_bool), ("scontext", c_uint64),
                ("hcontext", c_uint64)]


class event(Structure):
    _fields_ = [("type", c_int), ("reason", c_int), ("offset", c_uint64), ("pc", c_uint64),
                ("target", c_uint64), ("interrupt", c_bool), ("cause_valid", c_bool),
                ("cause", c_uint64), ("tval", c_uint64), ("time", c_uint64), ("context", context),
                ("detail", c_char_p), ("mark", c_int), ("has_value", c_bool), ("own_pc", c_bool),
                ("value_bytes", c_uint8), ("held_back", c_bool), ("crossing", c_bool),
                ("tag", c_uint64), ("value", c_uint64), ("access", c_void_p)]


EVENT_LOST = 5
EVENT_MARK = 6
REASONS = ("none", "overflow", "truncated", "bad packet", "bad flow", "no code",
           "bad instruction", "no synchronisation", "debug", "low power", "disabled")


class task(Structure):
    _fields_ = [("pid", c_int32), ("tid", c_int32), ("comm", c_char_p), ("space", c_void_p),
                ("life", c_uint32), ("guest", c_bool)]


class clock_span(Structure):
    _fields_ = [("from_", c_uint64), ("to", c_uint64), ("insns", c_uint64), ("first", c_uint64)]


class hart_flow(Structure):
    _fields_ = [("cpu", c_int32), ("task", POINTER(task)), ("context", context),
                ("time", c_uint64), ("time_exact", c_bool), ("span", clock_span),
                ("written", c_uint64), ("flow", c_void_p), ("space", c_void_p),
                ("user", c_void_p), ("source", c_uint), ("resumed", c_bool), ("left", c_bool),
                ("number", c_uint64), ("moved", c_uint64)]


class session_options(_Sized):
    _fields_ = [("size", c_size_t), ("symfs", c_char_p), ("vmlinux", c_char_p),
                ("kcore", c_char_p), ("firmware", c_char_p), ("kallsyms", c_char_p),
                ("params", c_char_p), ("reference_walk", c_bool), ("by_cpu", c_bool),
                ("count", c_bool), ("count_threads", c_bool), ("count_names", c_bool),
                ("every_time", c_bool), ("clock", c_bool), ("jobs", c_uint),
                ("slice_bytes", c_uint64), ("code_bytes", c_uint64),
                ("accesses", c_bool), ("guest_vmlinux", c_char_p),
                ("guest_kallsyms", c_char_p)]


RUNS = CFUNCTYPE(c_int, c_void_p, POINTER(hart_flow), POINTER(run), c_size_t)
EVENT = CFUNCTYPE(c_int, c_void_p, POINTER(hart_flow), POINTER(event))
WARNING = CFUNCTYPE(None, c_void_p, c_char_p)
END = CFUNCTYPE(None, c_void_p, POINTER(hart_flow))


class session_sink(_Sized):
    _fields_ = [("size", c_size_t), ("ctx", c_void_p), ("aux", c_void_p), ("runs", RUNS),
                ("event", EVENT), ("damage", c_void_p), ("count_run", c_void_p),
                ("count_edge", c_void_p), ("reset", c_void_p), ("poll", c_void_p),
                ("poll_ctx", c_void_p), ("warning", WARNING), ("end", END), ("events", c_uint32)]


class session_stats(_Sized):
    _fields_ = [("size", c_size_t)] + [(name, c_uint64) for name in (
        "trace_bytes", "truncated", "partial", "collisions", "lost_records", "missing_bytes")]


class dump_image(_Sized):
    _fields_ = [("size", c_size_t), ("path", c_char_p), ("address", c_uint64), ("raw", c_bool)]


class session_dump(_Sized):
    _fields_ = [("size", c_size_t), ("path", c_char_p), ("params", c_void_p),
                ("images", POINTER(dump_image)), ("n_images", c_size_t), ("oldest", c_uint64),
                ("only_source", c_bool), ("source", c_uint)]


class location(Structure):
    _fields_ = [("path", c_char_p), ("file_offset", c_uint64), ("map_start", c_uint64),
                ("readable", c_bool)]


class symbol(Structure):
    _fields_ = [("name", c_char_p), ("offset", c_uint64), ("size", c_uint64)]


class missing(Structure):
    _fields_ = [("path", c_char_p), ("error", c_int)]


class frame(Structure):
    _fields_ = [("from_", c_uint64), ("back", c_uint64), ("to", c_uint64), ("tag", c_uint64),
                ("trap", c_bool), ("signal", c_bool), ("cut", c_bool), ("other_stack", c_bool)]


class transfer(Structure):
    _fields_ = [("kind", c_int), ("from_", c_uint64), ("to", c_uint64), ("flags", c_char_p),
                ("indirect", c_bool), ("event", POINTER(event))]


class straight_line(Structure):
    _fields_ = [("first", c_uint64), ("last", c_uint64), ("insns", c_uint64), ("began", c_uint64)]


LINE = CFUNCTYPE(c_int, c_void_p, POINTER(hart_flow), POINTER(straight_line), c_void_p)
AFTER = CFUNCTYPE(c_int, c_void_p, POINTER(hart_flow), POINTER(transfer), c_void_p, c_size_t)


class transfers_ops(_Sized):
    _fields_ = [("size", c_size_t), ("ctx", c_void_p), ("wants", c_void_p),
                ("wants_ctx", c_void_p), ("line", LINE), ("transfer", c_void_p),
                ("after", AFTER), ("event", EVENT)]


STRUCTS = (block, run, context, event, task, clock_span, hart_flow, session_options, session_sink,
           session_stats, dump_image, session_dump, location, symbol, missing, frame, transfer,
           straight_line, transfers_ops)

# Result and arguments of each function.
_FUNCTIONS = {
    "version": (c_uint,),
    "session_open": (c_int, c_char_p, POINTER(session_options), POINTER(c_void_p),
                     POINTER(c_void_p)),
    "session_open_dump": (c_int, POINTER(session_dump), POINTER(session_options),
                          POINTER(c_void_p), POINTER(c_void_p)),
    "session_close": (None, c_void_p),
    "session_run": (c_int, c_void_p, POINTER(session_sink)),
    "session_stats": (c_int, c_void_p, POINTER(session_stats)),
    "session_symbols": (c_void_p, c_void_p),
    "session_missing": (POINTER(missing), c_void_p, c_size_t),
    "session_is_ctr": (c_bool, c_void_p),
    "space_find": (c_size_t, c_void_p, c_uint64, POINTER(POINTER(c_uint8))),
    "space_locate": (c_int, c_void_p, c_uint64, POINTER(location)),
    "space_generation": (c_uint64, c_void_p),
    "symbols_find": (c_bool, c_void_p, POINTER(location), c_uint64, POINTER(symbol)),
    "callstack_depth": (c_size_t, c_void_p),
    "callstack_frame": (POINTER(frame), c_void_p, c_size_t),
    "transfers_create": (c_void_p, POINTER(transfers_ops), c_void_p, c_size_t),
    "transfers_destroy": (None, c_void_p),
    "transfers_sink": (None, c_void_p, POINTER(session_sink)),
    "transfers_cuts": (c_uint64, c_void_p),
}


class _Library:
    """Functions of librvtrace without "rvt_"."""

    def __init__(self):
        library = ctypes.CDLL(os.environ.get("RVTRACE_LIBRARY", "librvtrace.so.0"))
        for name, (result, *arguments) in _FUNCTIONS.items():
            function = getattr(library, "rvt_" + name)
            function.restype = result
            function.argtypes = arguments
            setattr(self, name, function)


library = _Library()
_free = ctypes.CDLL(None).free
_free.argtypes = [c_void_p]


def take_string(pointer):
    """The text of a malloc'd string, which is freed; "" for NULL."""
    if not pointer.value:
        return ""
    text = ctypes.string_at(pointer.value).decode(errors="replace")
    _free(pointer)
    return text
