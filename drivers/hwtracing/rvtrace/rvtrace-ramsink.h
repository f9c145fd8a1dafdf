/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * RISC-V trace: the RAM sink (rvtrace-ramsink.c).
 */
#ifndef _RVTRACE_RAMSINK_H
#define _RVTRACE_RAMSINK_H

#include "rvtrace-component.h"

/**
 * struct rvtrace_ramsink_buffer - a buffer in system memory that a sink does not use
 * @vaddr:	its memory
 * @start:	its bus address; 0 of a copy of a memory of the sink's own
 * @size:	its size in bytes
 */
struct rvtrace_ramsink_buffer {
	void *vaddr;
	dma_addr_t start;
	size_t size;
};

/**
 * struct rvtrace_ramsink - a RAM sink
 * @comp:		the component
 * @smem:		it writes to system memory, else to a memory of its own
 * @stop_on_wrap:	the hardware can stop when its buffer is full
 * @access:		memory access width in bytes (A in the specification); 0: not known yet
 * @high_bits:		address bits that Start, Limit and WP have above bit 31
 * @mutex:		protects @aux_sinks, @removed and @buffers, and who allocates and frees
 *			buffers
 * @aux_sinks:		AUX buffers that its trace goes to
 * @removed:		its driver has been unbound: it has no buffers and gets none
 * @larger:		a larger buffer, which the next start takes into use, or NULL
 * @retired:		the buffer that it replaced then, or NULL
 * @vaddr:		buffer in system memory. It, @start and @alloc change when a larger one is
 *			taken into use; the sink is disabled then.
 * @start:		its bus address; 0 for a memory of the sink's own
 * @alloc:		size of the buffer in bytes
 * @buffers:		AUX buffers for which the buffer is kept
 * @owner:		the process whose trace was last in the buffer
 * @dirty:		number of bytes that hold trace of @owner
 * @no_direct:		the hardware does not accept the address of an AUX buffer
 * @carved:		its buffers are in memory that was set aside for it
 * @needs_sync:		caches do not see what it writes into them
 * @base:		value of Start
 * @length:		bytes from Start to the end of Limit's unit; 0: they are not programmed
 * @from:		offset from @base at which the sink was started
 * @size:		bytes that it could write from there
 * @direct:		it writes into the AUX buffer
 * @stopped:		offset from @base at which it was stopped when it last wrote into an AUX
 *			buffer
 * @stopped_aux:	serial number of that AUX buffer; 0: the next start sets the sink up anew
 * @stopped_head:	position in that AUX buffer that @stopped corresponds to
 * @traced:		bytes that it delivered since it was probed
 * @copied:		number of them that were copied
 */
struct rvtrace_ramsink {
	struct rvtrace_component comp;
	bool smem;
	bool stop_on_wrap;
	u32 access;
	u32 high_bits;
	struct mutex mutex; /* protects the buffers */
	struct list_head aux_sinks;
	bool removed;
	struct rvtrace_ramsink_buffer *larger;
	struct rvtrace_ramsink_buffer *retired;
	void *vaddr;
	dma_addr_t start;
	size_t alloc;
	unsigned int buffers;
	struct rvtrace_opener owner;
	size_t dirty;
	bool no_direct;
	bool carved;
	bool needs_sync;
	dma_addr_t base;
	size_t length;
	size_t from;
	size_t size;
	bool direct;
	size_t stopped;
	u64 stopped_aux;
	unsigned long stopped_head;
	u64 traced;
	u64 copied;
};

#define to_rvtrace_ramsink(c)	container_of(c, struct rvtrace_ramsink, comp)

extern const struct rvtrace_ops rvtrace_ramsink_ops;

struct rvtrace_ramsink_buffer *rvtrace_ramsink_alloc(struct rvtrace_ramsink *sink, size_t wanted);
void rvtrace_ramsink_free(struct rvtrace_ramsink *sink, struct rvtrace_ramsink_buffer *buffer);
void rvtrace_ramsink_show(struct rvtrace_ramsink *sink, dma_addr_t start, size_t size);
bool rvtrace_ramsink_kept(struct rvtrace_ramsink *sink, size_t offset);
void rvtrace_ramsink_forget(struct rvtrace_ramsink *sink);
void rvtrace_ramsink_read_out(struct rvtrace_ramsink *sink, void *to, size_t size);
int rvtrace_ramsink_start_flight(struct rvtrace_ramsink *sink,
				 const struct rvtrace_ramsink_buffer *buffer, size_t offset);
bool rvtrace_ramsink_flight_offset(struct rvtrace_ramsink *sink,
				   const struct rvtrace_ramsink_buffer *buffer, size_t *offset,
				   bool *wrap);
int rvtrace_ramsink_get_buffer(struct rvtrace_ramsink *sink, size_t wanted);
void rvtrace_ramsink_put_buffer(struct rvtrace_ramsink *sink);
void rvtrace_ramsink_remove_buffers(struct rvtrace_ramsink *sink);
bool rvtrace_ramsink_stopped_itself(struct rvtrace_ramsink *sink);
int rvtrace_ramsink_restart(struct rvtrace_ramsink *sink, struct rvtrace_cpu *rc);
size_t rvtrace_ramsink_fill(struct rvtrace_ramsink *sink);
bool rvtrace_ramsink_drain(struct rvtrace_ramsink *sink, struct rvtrace_cpu *rc);

/* For rvtrace-kunit.c; static without CONFIG_KUNIT */
#if IS_ENABLED(CONFIG_KUNIT)
u32 rvtrace_ramsink_unit(u64 start, u64 end, u64 limit, u32 access);
bool rvtrace_ramsink_position(const struct rvtrace_ramsink *sink, u32 wp, size_t *fill, bool *wrap);
size_t rvtrace_ramsink_written(const struct rvtrace_ramsink *sink, size_t fill, bool wrap,
			       bool stops, bool all);
#endif

#endif
