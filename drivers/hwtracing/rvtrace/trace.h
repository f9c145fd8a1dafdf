/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * RISC-V trace: tracepoints of the driver itself.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM rvtrace

#if !defined(_RVTRACE_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _RVTRACE_TRACE_H

#include <linux/tracepoint.h>

TRACE_EVENT(rvtrace_start,
	    TP_PROTO(int cpu, u32 sink, int ret),
	    TP_ARGS(cpu, sink, ret),
	    TP_STRUCT__entry(__field(int, cpu)
			     __field(u32, sink)
			     __field(int, ret)),
	    TP_fast_assign(__entry->cpu = cpu;
			   __entry->sink = sink;
			   __entry->ret = ret;),
	    TP_printk("cpu=%d sink=%u ret=%d", __entry->cpu, __entry->sink, __entry->ret));

TRACE_EVENT(rvtrace_stop,
	    TP_PROTO(int cpu, u32 sink, bool lost),
	    TP_ARGS(cpu, sink, lost),
	    TP_STRUCT__entry(__field(int, cpu)
			     __field(u32, sink)
			     __field(bool, lost)),
	    TP_fast_assign(__entry->cpu = cpu;
			   __entry->sink = sink;
			   __entry->lost = lost;),
	    TP_printk("cpu=%d sink=%u encoder_overflow=%d", __entry->cpu, __entry->sink,
		      __entry->lost));

TRACE_EVENT(rvtrace_drain,
	    TP_PROTO(u32 sink, size_t bytes, bool wrapped, bool direct),
	    TP_ARGS(sink, bytes, wrapped, direct),
	    TP_STRUCT__entry(__field(u32, sink)
			     __field(size_t, bytes)
			     __field(bool, wrapped)
			     __field(bool, direct)),
	    TP_fast_assign(__entry->sink = sink;
			   __entry->bytes = bytes;
			   __entry->wrapped = wrapped;
			   __entry->direct = direct;),
	    TP_printk("sink=%u bytes=%zu wrapped=%d direct=%d", __entry->sink, __entry->bytes,
		      __entry->wrapped, __entry->direct));

TRACE_EVENT(rvtrace_context,
	    TP_PROTO(bool hcontext, pid_t pid),
	    TP_ARGS(hcontext, pid),
	    TP_STRUCT__entry(__field(bool, hcontext)
			     __field(pid_t, pid)),
	    TP_fast_assign(__entry->hcontext = hcontext;
			   __entry->pid = pid;),
	    TP_printk("%ccontext=%d", __entry->hcontext ? 'h' : 's', __entry->pid));

#endif /* _RVTRACE_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
