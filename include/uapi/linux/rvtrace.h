/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * Formats that only the PMUs rvtrace and riscv_ctr use: a flag of AUX records, ids of hardware,
 * what memory holds in flight mode, and samples of Control Transfer Records.
 */
#ifndef _UAPI_LINUX_RVTRACE_H
#define _UAPI_LINUX_RVTRACE_H

#include <linux/types.h>

/*
 * PMU rvtrace
 *
 * The sample id of a PERF_RECORD_AUX names the thread that was traced, as in any record. A record
 * with this flag was written later, or has trace of several threads: its sample id names the thread
 * that ran when the record was written. The last PERF_RECORD_AUX_OUTPUT_HW_ID of the same event
 * before it names the thread that was traced. If that names no thread, or there is none, the trace
 * itself names the threads.
 */
#define RVTRACE_AUX_FLAG_LATE	0x0100	/* within PERF_AUX_FLAG_PMU_FORMAT_TYPE_MASK */

/* PERF_RECORD_AUX_OUTPUT_HW_ID.hw_id: the hart that trace comes from, and the thread, or 0 */
#define RVTRACE_HW_ID_CPU	0x00000000ffffffffull
#define RVTRACE_HW_ID_TID	0xffffffff00000000ull

/*
 * Flight mode of rvtrace
 *
 * With the parameter "flight", memory holds the last trace of each hart. A header is at a multiple
 * of 4096 bytes of physical memory: where .magic fits and .self is the physical address of the
 * header itself. At .header_bytes from it the first hart is described, each in .hart_bytes. All
 * integers are in the machine's byte order. A later version only appends to both structs.
 */
#define RVTRACE_FLIGHT_MAGIC	"rvtrace-flight\n"	/* 16 bytes with the zero */
#define RVTRACE_FLIGHT_VERSION	1

/* .flags of a hart; the rest of it is not set without the first */
#define RVTRACE_FLIGHT_F_VALID		0x1	/* there is a buffer */
#define RVTRACE_FLIGHT_F_RUNNING	0x2	/* the sink writes: .offset is where it began */
#define RVTRACE_FLIGHT_F_WRAPPED	0x4	/* the buffer is full, .offset is the oldest */
#define RVTRACE_FLIGHT_F_LOST		0x8	/* messages were lost, or the sink its place */
#define RVTRACE_FLIGHT_F_ALL_MODES	0x10	/* not only the kernel is traced */
/* The sink has a memory of its own, of which a panic makes a copy: not yet with F_RUNNING */
#define RVTRACE_FLIGHT_F_COPY		0x20
/* What the hart executed last is missing: its encoder did not stop, or what it sends to did not */
#define RVTRACE_FLIGHT_F_NO_END		0x40

/**
 * struct rvtrace_flight_header - what a dump says of flight mode
 * @magic:	RVTRACE_FLIGHT_MAGIC
 * @version:	RVTRACE_FLIGHT_VERSION
 * @header_bytes: offset of the first hart
 * @hart_bytes:	distance from hart to hart
 * @nr_harts:	number of harts, by the kernel's number of the CPU
 * @self:	physical address of this struct
 * @linear_virtual: where the kernel has its linear map of memory
 * @linear_physical: the physical address that it maps there
 * @timebase:	frequency of the time CSR, Hz
 * @satp:	page tables that were in use when the kernel panicked, or 0
 * @panic_time:	time CSR when the kernel panicked; 0: it has not
 * @panic_cpu:	CPU that panicked
 * @reserved:	0
 * @release:	the kernel's release
 */
struct rvtrace_flight_header {
	__u8 magic[16];
	__u32 version;
	__u32 header_bytes;
	__u32 hart_bytes;
	__u32 nr_harts;
	__u64 self;
	__u64 linear_virtual;
	__u64 linear_physical;
	__u64 timebase;
	__u64 satp;
	__u64 panic_time;
	__u32 panic_cpu;
	__u32 reserved;
	char release[64];
};

/**
 * struct rvtrace_flight_hart - the trace of one hart
 * @cpu:	the kernel's number of the CPU
 * @flags:	RVTRACE_FLIGHT_F_*
 * @address:	virtual address of the buffer in the kernel. Harts that share a sink have the same
 *		buffer, with the trace of all of them.
 * @physical:	physical address of the buffer; 0: it is not in one piece
 * @bytes:	size of the buffer
 * @offset:	behind the youngest byte in the buffer
 * @src:	value of SRC in the messages of this hart; .params say whether they have SRC
 * @reserved:	0
 * @params:	what a decoder must know, as lines "key = value", up to a zero
 */
struct rvtrace_flight_hart {
	__u32 cpu;
	__u32 flags;
	__u64 address;
	__u64 physical;
	__u64 bytes;
	__u64 offset;
	__u32 src;
	__u32 reserved;
	char params[];
};

/*
 * PMU riscv_ctr
 *
 * It leaves a sequence of samples in an AUX buffer, nothing between them.
 *
 * A sample describes itself: .magic and .version come first, .bytes leads to the next sample,
 * .header_bytes to the first entry, .entry_bytes from entry to entry. A later version only appends
 * to the header or to entries, so a reader skips what it does not know. All integers are in the
 * machine's byte order and naturally aligned; there is no padding. A sample is a multiple of 8
 * bytes and starts at a multiple of 8.
 */
#define RVTRACE_CTR_MAGIC	0x53525443	/* "CTRS" in memory */
#define RVTRACE_CTR_VERSION	1

/* .layout: whose registers the records come from */
#define RVTRACE_CTR_LAYOUT_1_0		1	/* ratified Smctr/Ssctr */
#define RVTRACE_CTR_LAYOUT_0_1_4	2	/* draft of 2023-09-15 */

/* .flags */
/* Recording had stopped by itself, by counter overflow or breakpoint, before the handler came */
#define RVTRACE_CTR_F_FROZEN	0x1
/* The handler's own transfers may have displaced all of the history, or stand among the entries */
#define RVTRACE_CTR_F_DISPLACED	0x2
/* .trigger_* counts a clock of the kernel, not of the hart */
#define RVTRACE_CTR_F_SOFTWARE	0x4

/* .privilege of the sampled instruction */
#define RVTRACE_CTR_PRIV_U	0
#define RVTRACE_CTR_PRIV_S	1

/**
 * struct rvtrace_ctr_sample - head of a sample; the entries follow it
 * @magic:	RVTRACE_CTR_MAGIC
 * @version:	RVTRACE_CTR_VERSION
 * @header_bytes: size of this struct; the first entry lies behind it
 * @bytes:	size of the whole sample
 * @entry_bytes: size of an entry
 * @nr:		entries that follow, youngest first; only valid ones
 * @time:	clock of the event, ns
 * @ip:		the instruction that was to be executed next
 * @period:	events of the trigger since its last overflow
 * @trigger_config: as in struct perf_event_attr
 * @trigger_type: as in struct perf_event_attr
 * @flags:	RVTRACE_CTR_F_*
 * @control:	control register while recording, bits as in version 1.0
 * @pid:	process, as the event's other records name it
 * @tid:	thread, likewise
 * @cpu:	the hart that recorded
 * @privilege:	RVTRACE_CTR_PRIV_*
 * @layout:	RVTRACE_CTR_LAYOUT_*
 * @depth:	entries that the hardware could hold
 * @write_index: hardware entry that would have been written next
 * @skipped:	youngest entries left out: the handler's own
 * @limit:	most entries that the event asked for
 */
struct rvtrace_ctr_sample {
	__u32 magic;
	__u16 version;
	__u16 header_bytes;
	__u32 bytes;
	__u16 entry_bytes;
	__u16 nr;
	__u64 time;
	__u64 ip;
	__u64 period;
	__u64 trigger_config;
	__u32 trigger_type;
	__u32 flags;
	__u64 control;
	__u32 pid;
	__u32 tid;
	__u32 cpu;
	__u16 privilege;
	__u16 layout;
	__u16 depth;
	__u16 write_index;
	__u16 skipped;
	__u16 limit;
};

/**
 * struct rvtrace_ctr_entry - one transfer, as the entry registers have it
 * @source:	ctrsource; bit 0: valid, always 1
 * @target:	ctrtarget; bit 0: mispredicted
 * @data:	ctrdata: type 3:0; cycles: valid 15, mantissa 27:16, exponent 31:28
 */
struct rvtrace_ctr_entry {
	__u64 source;
	__u64 target;
	__u64 data;
};

#endif
