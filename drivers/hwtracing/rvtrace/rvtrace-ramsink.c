// SPDX-License-Identifier: GPL-2.0-only
/*
 * RISC-V trace: the RAM sink. In SMEM mode it writes into the AUX buffer where that is possible
 * (rvtrace-aux.c says where), else into a DMA buffer of ours; in SRAM mode into a memory of its own
 * that is read through a register. The latter two are copied into the AUX buffer.
 *
 * A buffer is used from its start each time that the sink is started, the AUX buffer from its head;
 * either is drained before it is full:
 *
 *	Start    from     WP                          Limit + A
 *	+--------+--------+---------------------------+
 *	|        |########|                           |   Wrap = 0: # is the trace
 *	+--------+--------+---------------------------+
 *
 * When the timer was too late, a sink that stops on wrap holds the first part of the trace, and
 * loss is at the end. The specification leaves open where WP is then: at Start with Wrap = 1, or
 * behind Limit.
 *
 *	+---------------------------------------------+
 *	|#############################################|~~~ lost
 *	+---------------------------------------------+
 *
 * One that does not stop holds the last part, and loss is before it. How often it went round nobody
 * knows. In overwrite mode the AUX buffer itself is used so: what is in it is what it shall hold.
 *
 *	Start             WP                          Limit + A
 *	+-----------------+---------------------------+
 *	|## newer ########|## oldest, amid a message #|
 *	+-----------------+---------------------------+
 */
#define pr_fmt(fmt) "rvtrace: " fmt

#include <linux/dma-mapping.h>
#include <linux/log2.h>
#include <linux/moduleparam.h>
#include <linux/property.h>
#include <linux/sizes.h>
#include <linux/slab.h>

#include "rvtrace-aux.h"
#include "rvtrace-encoder.h"
#include "rvtrace-output.h"
#include "rvtrace-ramsink.h"
#include "trace.h"

static unsigned int rvtrace_max_buffer = SZ_4M;
module_param_named(max_buffer, rvtrace_max_buffer, uint, 0644);
MODULE_PARM_DESC(max_buffer, "upper limit of the DMA buffer of a RAM sink, in bytes");

#define RVTRACE_MIN_BUFFER	SZ_4K

/* How much of a sink's own memory is read out at a time */
#define RVTRACE_SRAM_WORDS	64

static u64 rvtrace_ramsink_read_address(struct rvtrace_ramsink *sink, u32 low, u32 high)
{
	u64 addr = rvtrace_read(&sink->comp, low);

	if (sink->high_bits)
		addr |= (u64)rvtrace_read(&sink->comp, high) << 32;
	return addr;
}

static void rvtrace_ramsink_write_address(struct rvtrace_ramsink *sink, u32 low, u32 high, u64 addr)
{
	if (sink->high_bits)
		rvtrace_write(&sink->comp, high, upper_32_bits(addr));
	rvtrace_write(&sink->comp, low, lower_32_bits(addr));
}

static u32 rvtrace_ramsink_mode(const struct rvtrace_ramsink *sink)
{
	return sink->smem ? RVTRACE_RAM_CONTROL_MODE_SMEM : 0;
}

static int rvtrace_ramsink_reset(struct rvtrace_component *comp)
{
	to_rvtrace_ramsink(comp)->length = 0;
	to_rvtrace_ramsink(comp)->stopped_aux = 0;
	/* Nothing but Active: clears Mode, StopOnWrap, MemFormat and AsyncFreq. */
	rvtrace_write(comp, RVTRACE_CONTROL, RVTRACE_CONTROL_ACTIVE);
	return 0;
}

static bool rvtrace_ramsink_try_mode(struct rvtrace_ramsink *sink, bool smem)
{
	u32 control = RVTRACE_CONTROL_ACTIVE | RVTRACE_RAM_CONTROL_STOP_ON_WRAP;

	sink->smem = smem;
	control |= rvtrace_ramsink_mode(sink);
	control ^= rvtrace_try(&sink->comp, RVTRACE_CONTROL, control);
	sink->stop_on_wrap = !(control & RVTRACE_RAM_CONTROL_STOP_ON_WRAP);
	return !(control & RVTRACE_RAM_CONTROL_MODE_SMEM);
}

/*
 * Finds out how large the sink's own memory is. It begins at 0, and Limit can be set up to its end.
 */
static int rvtrace_ramsink_probe_sram(struct rvtrace_ramsink *sink)
{
	struct rvtrace_component *comp = &sink->comp;
	u32 limit;

	rvtrace_write(comp, RVTRACE_RAM_START_LOW, 0);
	limit = rvtrace_try(comp, RVTRACE_RAM_LIMIT_LOW, ~3u);
	sink->access = RVTRACE_RAM_MIN_ACCESS;
	sink->alloc = (size_t)limit + sink->access;
	if (limit && limit != ~3u)
		return 0;
	dev_err(comp->dev.parent, "RAM sink does not say how large its memory is, not used\n");
	return -ENODEV;
}

static int rvtrace_ramsink_probe(struct rvtrace_component *comp)
{
	struct rvtrace_ramsink *sink = to_rvtrace_ramsink(comp);
	struct device *dev = comp->dev.parent;

	mutex_init(&sink->mutex);
	INIT_LIST_HEAD(&sink->aux_sinks);
	if (comp->impl & RVTRACE_RAM_IMPL_HAS_SMEM && rvtrace_ramsink_try_mode(sink, true)) {
		sink->carved = device_property_present(dev, "memory-region");
		sink->no_direct = sink->carved;
		/* No DMA can happen: Enable is not set before Start has its real value. */
		sink->high_bits = rvtrace_try(comp, RVTRACE_RAM_START_HIGH, ~0);
		rvtrace_write(comp, RVTRACE_RAM_START_HIGH, 0);
		/* A Start that is fixed does not tell whether Limit and WP have upper halves. */
		if (sink->carved)
			sink->high_bits |= rvtrace_try(comp, RVTRACE_RAM_LIMIT_HIGH, ~0);
		/* 0: what becomes of Limit will show it. */
		device_property_read_u32(dev, "rvtrace,memory-access-bytes", &sink->access);
		/* Buffers are contiguous memory, which is aligned to its size. */
		if (comp->platform->sink_boundary)
			dma_set_seg_boundary(dev, comp->platform->sink_boundary - 1);
		return dma_set_mask_and_coherent(dev, DMA_BIT_MASK(32 + fls(sink->high_bits)));
	}
	if (comp->impl & RVTRACE_RAM_IMPL_HAS_SRAM && rvtrace_ramsink_try_mode(sink, false))
		return rvtrace_ramsink_probe_sram(sink);
	dev_err(dev, "RAM sink takes no mode that it should have, not used\n");
	return -ENODEV;
}

/*
 * Memory that was set aside may be mapped without a cache. Other memory is cached, as it is read
 * much faster then, and the driver takes care of what caches do not see.
 */
static void *rvtrace_ramsink_alloc_dma(struct rvtrace_ramsink *sink, size_t size, dma_addr_t *start)
{
	struct device *dev = sink->comp.dev.parent;
	const gfp_t gfp = GFP_KERNEL | __GFP_NOWARN;
	void *vaddr;

	if (sink->carved)
		return dma_alloc_coherent(dev, size, start, gfp);
	vaddr = dma_alloc_noncoherent(dev, size, start, DMA_BIDIRECTIONAL, gfp);
	if (!vaddr)
		return NULL;
	sink->needs_sync = dma_need_sync(dev, *start);
	/* The zeros must not come over the trace. */
	if (sink->needs_sync)
		dma_sync_single_for_device(dev, *start, size, DMA_BIDIRECTIONAL);
	return vaddr;
}

static void rvtrace_ramsink_free_dma(struct rvtrace_ramsink *sink, size_t size, void *vaddr,
				     dma_addr_t start)
{
	struct device *dev = sink->comp.dev.parent;

	/* The memory is not freed if the sink did not answer, because it may still write. */
	if (sink->comp.broken)
		return;
	if (sink->carved)
		dma_free_coherent(dev, size, vaddr, start);
	else
		dma_free_noncoherent(dev, size, vaddr, start, DMA_BIDIRECTIONAL);
}

/*
 * rvtrace_ramsink_show - let the kernel see what the sink has written
 * @start: bus address, in a buffer of the sink's
 */
void rvtrace_ramsink_show(struct rvtrace_ramsink *sink, dma_addr_t start, size_t size)
{
	if (sink->needs_sync)
		dma_sync_single_for_cpu(sink->comp.dev.parent, start, size, DMA_BIDIRECTIONAL);
}

/* Allocates a buffer of @wanted bytes or less, all zeros. Returns NULL when memory is short. */
struct rvtrace_ramsink_buffer *rvtrace_ramsink_alloc(struct rvtrace_ramsink *sink, size_t wanted)
{
	struct rvtrace_ramsink_buffer *buffer = kzalloc(sizeof(*buffer), GFP_KERNEL);

	if (!buffer)
		return NULL;
	for (buffer->size = wanted; buffer->size >= RVTRACE_MIN_BUFFER; buffer->size /= 2) {
		buffer->vaddr = rvtrace_ramsink_alloc_dma(sink, buffer->size, &buffer->start);
		if (buffer->vaddr)
			return buffer;
	}
	kfree(buffer);
	return NULL;
}

void rvtrace_ramsink_free(struct rvtrace_ramsink *sink, struct rvtrace_ramsink_buffer *buffer)
{
	if (buffer)
		rvtrace_ramsink_free_dma(sink, buffer->size, buffer->vaddr, buffer->start);
	kfree(buffer);
}

/*
 * Gives @buffer to the sink, and the sink's buffer to @buffer. The sink is not in use, or disabled.
 */
static void rvtrace_ramsink_exchange(struct rvtrace_ramsink *sink,
				     struct rvtrace_ramsink_buffer *buffer)
{
	swap(sink->vaddr, buffer->vaddr);
	swap(sink->start, buffer->start);
	swap(sink->alloc, buffer->size);
	sink->dirty = 0;
	sink->length = 0;
	sink->stopped_aux = 0;
}

static int rvtrace_ramsink_first_buffer(struct rvtrace_ramsink *sink, size_t wanted)
{
	struct rvtrace_ramsink_buffer *buffer = rvtrace_ramsink_alloc(sink, wanted);

	if (!buffer)
		return -ENOMEM;
	rvtrace_ramsink_exchange(sink, buffer);
	kfree(buffer);
	return 0;
}

/*
 * Allocates a larger buffer for the next start. If memory is short, the sink keeps the buffer that
 * it has.
 */
static void rvtrace_ramsink_larger_buffer(struct rvtrace_ramsink *sink, size_t wanted)
{
	struct rvtrace_ramsink_buffer *buffer;

	buffer = xchg(&sink->larger, NULL);
	if (!buffer || buffer->size < wanted) {
		rvtrace_ramsink_free(sink, buffer);
		rvtrace_ramsink_free(sink, xchg(&sink->retired, NULL));
		if (READ_ONCE(sink->alloc) >= wanted)
			return;
		buffer = rvtrace_ramsink_alloc(sink, wanted);
	}
	/* Pairs with xchg() in rvtrace_ramsink_grow(). */
	smp_store_release(&sink->larger, buffer);
}

/* Takes a larger buffer into use at a start, when somebody has asked for one. */
static void rvtrace_ramsink_grow(struct rvtrace_ramsink *sink)
{
	struct rvtrace_ramsink_buffer *buffer;

	/* The buffer before this one has not been freed yet. */
	if (READ_ONCE(sink->retired))
		return;
	buffer = xchg(&sink->larger, NULL);
	if (!buffer)
		return;
	if (buffer->size > sink->alloc)
		rvtrace_ramsink_exchange(sink, buffer);
	/* Pairs with xchg() in rvtrace_ramsink_larger_buffer(), which frees it. */
	smp_store_release(&sink->retired, buffer);
}

/*
 * rvtrace_ramsink_get_buffer - have a buffer, of @wanted bytes or less
 *
 * When others use a buffer already, and it is smaller, the next start replaces it by a larger one:
 * its size must not depend on what an earlier user wanted. rvtrace_ramsink_put_buffer() releases
 * it. Returns 0 or -ENOMEM.
 */
int rvtrace_ramsink_get_buffer(struct rvtrace_ramsink *sink, size_t wanted)
{
	size_t limit = rounddown_pow_of_two(max_t(size_t, rvtrace_max_buffer, RVTRACE_MIN_BUFFER));
	int ret = 0;

	lockdep_assert_held(&sink->mutex);
	/*
	 * Take all memory at once: then the buffer begins where Start may be fixed, and stays
	 * there.
	 */
	if (sink->carved)
		wanted = limit;
	wanted = rounddown_pow_of_two(clamp_t(size_t, wanted, RVTRACE_MIN_BUFFER, limit));
	if (sink->smem && !sink->buffers)
		ret = rvtrace_ramsink_first_buffer(sink, wanted);
	else if (sink->smem && READ_ONCE(sink->alloc) < wanted)
		rvtrace_ramsink_larger_buffer(sink, wanted);
	if (!ret)
		sink->buffers++;
	return ret;
}

static void rvtrace_ramsink_free_buffers(struct rvtrace_ramsink *sink)
{
	struct rvtrace_ramsink_buffer last = { };

	rvtrace_ramsink_free(sink, xchg(&sink->larger, NULL));
	rvtrace_ramsink_free(sink, xchg(&sink->retired, NULL));
	rvtrace_ramsink_exchange(sink, &last);
	if (last.vaddr)
		rvtrace_ramsink_free_dma(sink, last.size, last.vaddr, last.start);
}

void rvtrace_ramsink_put_buffer(struct rvtrace_ramsink *sink)
{
	lockdep_assert_held(&sink->mutex);
	if (!--sink->buffers && sink->smem && !sink->removed)
		rvtrace_ramsink_free_buffers(sink);
}

/* Frees the buffers, because the sink's driver is being unbound. */
void rvtrace_ramsink_remove_buffers(struct rvtrace_ramsink *sink)
{
	lockdep_assert_held(&sink->mutex);
	sink->removed = true;
	if (sink->smem)
		rvtrace_ramsink_free_buffers(sink);
}

/*
 * Returns the size of the units in which the sink writes, or 0 when there is no size with which the
 * range is from @start to @end. Limit is the address of the last unit that is written. So what
 * becomes of a Limit that would be right for units of @access bytes shows their real size.
 */
VISIBLE_IF_KUNIT u32 rvtrace_ramsink_unit(u64 start, u64 end, u64 limit, u32 access)
{
	u64 unit = end - limit;

	if (limit >= end || limit <= start || unit < access || unit > RVTRACE_RAM_MAX_ACCESS)
		return 0;
	return is_power_of_2(unit) ? unit : 0;
}

static int rvtrace_ramsink_program(struct rvtrace_ramsink *sink, dma_addr_t base, size_t length)
{
	u64 end = base + length, start, limit;
	u32 access = sink->access ?: RVTRACE_RAM_MIN_ACCESS;

	if (sink->base == base && sink->length == length)
		return 0;
	sink->length = 0;
	rvtrace_write(&sink->comp, RVTRACE_CONTROL,
		      RVTRACE_CONTROL_ACTIVE | rvtrace_ramsink_mode(sink));
	/* Start first: the range of Limit may depend on it. */
	rvtrace_ramsink_write_address(sink, RVTRACE_RAM_START_LOW, RVTRACE_RAM_START_HIGH, base);
	start = rvtrace_ramsink_read_address(sink, RVTRACE_RAM_START_LOW, RVTRACE_RAM_START_HIGH);
	rvtrace_ramsink_write_address(sink, RVTRACE_RAM_LIMIT_LOW, RVTRACE_RAM_LIMIT_HIGH,
				      end - access);
	limit = rvtrace_ramsink_read_address(sink, RVTRACE_RAM_LIMIT_LOW, RVTRACE_RAM_LIMIT_HIGH);
	access = rvtrace_ramsink_unit(start, end, limit, access);
	if (start != base || !access || (sink->access && access != sink->access))
		return -EIO;
	sink->access = access;
	sink->base = base;
	sink->length = length;
	return 0;
}

/*
 * Sets up where the sink writes next: behind the trace in the AUX buffer, or at the beginning of
 * its own buffer.
 */
static int rvtrace_ramsink_set_up(struct rvtrace_ramsink *sink, struct rvtrace_cpu *rc)
{
	struct rvtrace_extent extent;
	int ret = 0;

	sink->direct = rvtrace_output_extent(rc, sink, &extent);
	if (sink->direct && !rvtrace_ramsink_program(sink, extent.start, extent.end)) {
		sink->from = extent.from;
		sink->size = extent.end - extent.from;
	} else {
		/* Some hardware needs another alignment, or can only reach a memory of its own. */
		if (sink->direct) {
			WRITE_ONCE(sink->no_direct, true);
			rvtrace_output_unguard(rc);
		}
		sink->direct = false;
		sink->from = 0;
		sink->size = sink->alloc;
		ret = rvtrace_ramsink_program(sink, sink->start, sink->alloc);
		if (ret)
			dev_err_ratelimited(&sink->comp.dev,
					    "does not take the address of its buffer\n");
	}
	/* Low last: it clears Wrap. */
	rvtrace_ramsink_write_address(sink, RVTRACE_RAM_WP_LOW, RVTRACE_RAM_WP_HIGH,
				      sink->base + sink->from);
	return ret;
}

/*
 * Returns whether the sink can resume where it was stopped: the next trace belongs there, in the
 * same AUX buffer, and there is room up to its Limit. Then its registers are right already. This is
 * the case at most context switches.
 */
static bool rvtrace_ramsink_can_resume(const struct rvtrace_ramsink *sink,
				       const struct rvtrace_cpu *rc)
{
	size_t room = sink->length - sink->stopped;

	return rc->direct && sink->stopped_aux == rc->aux->serial &&
	       sink->stopped_head == rc->handle.head + rc->written &&
	       room >= rc->aux->reserve && room <= rc->handle.size - rc->written;
}

/* Inline, as each context switch does it */
static __always_inline int rvtrace_ramsink_run(struct rvtrace_ramsink *sink, u32 stop)
{
	/* The CPU's writes to the memory (idle bytes, guard) come before those of the sink. */
	wmb();
	return rvtrace_enable(&sink->comp, rvtrace_ramsink_mode(sink) | stop);
}

/* Clears the sink's own buffer: the next process must not see the trace in it. */
static void rvtrace_ramsink_clear(struct rvtrace_ramsink *sink, const struct rvtrace_opener *owner)
{
	if (sink->smem && sink->dirty) {
		memset(sink->vaddr, 0, sink->dirty);
		if (sink->needs_sync)
			dma_sync_single_for_device(sink->comp.dev.parent, sink->start, sink->dirty,
						   DMA_BIDIRECTIONAL);
	}
	sink->dirty = 0;
	sink->owner = *owner;
}

/*
 * Returns whether the sink stops when it is full. It does not where new trace overwrites old, nor
 * where encoders stall: the timer that drains the sink would wait for the hart, which waits for the
 * sink.
 */
static bool rvtrace_ramsink_stops(const struct rvtrace_ramsink *sink, const struct rvtrace_cpu *rc)
{
	return sink->stop_on_wrap && !rc->aux->overwrite && !rvtrace_event_config(rc->event)->stall;
}

/* Starts the sink */
static int rvtrace_ramsink_enable(struct rvtrace_component *comp, struct rvtrace_cpu *rc)
{
	const struct rvtrace_config *config = rvtrace_event_config(rc->event);
	struct rvtrace_ramsink *sink = to_rvtrace_ramsink(comp);
	int ret;

	if (!rc->aux || (sink->smem && !sink->vaddr))
		return -ENOMEM;
	if (READ_ONCE(sink->larger))
		rvtrace_ramsink_grow(sink);
	if (!rvtrace_same_opener(&sink->owner, &config->opener))
		rvtrace_ramsink_clear(sink, &config->opener);
	if (rvtrace_ramsink_can_resume(sink, rc)) {
		sink->from = sink->stopped;
		sink->size = sink->length - sink->from;
	} else {
		ret = rvtrace_ramsink_set_up(sink, rc);
		if (ret)
			return ret;
	}
	return rvtrace_ramsink_run(sink, rvtrace_ramsink_stops(sink, rc) ?
					 RVTRACE_RAM_CONTROL_STOP_ON_WRAP : 0);
}

/* Returns whether the sink was full and has disabled itself. */
bool rvtrace_ramsink_stopped_itself(struct rvtrace_ramsink *sink)
{
	const u32 running = RVTRACE_RAM_CONTROL_STOP_ON_WRAP | RVTRACE_CONTROL_ENABLE;

	return (sink->comp.control & running) == running &&
	       !(rvtrace_read(&sink->comp, RVTRACE_CONTROL) & RVTRACE_CONTROL_ENABLE);
}

/*
 * Starts a sink again that stopped itself and was drained, so that what is upstream can come out.
 */
int rvtrace_ramsink_restart(struct rvtrace_ramsink *sink, struct rvtrace_cpu *rc)
{
	int ret = rvtrace_ramsink_set_up(sink, rc);

	return ret ?: rvtrace_ramsink_run(sink, RVTRACE_RAM_CONTROL_STOP_ON_WRAP);
}

/*
 * Returns the offset of WP in the buffer. Buffers are smaller than 4 GiB: the low halves suffice.
 */
static u32 rvtrace_ramsink_offset(const struct rvtrace_ramsink *sink, u32 wp)
{
	return (wp & RVTRACE_RAM_WP_ADDR) - lower_32_bits(sink->base);
}

/* Returns how many bytes a running sink has written, more or less. */
size_t rvtrace_ramsink_fill(struct rvtrace_ramsink *sink)
{
	u32 wp = rvtrace_read(&sink->comp, RVTRACE_RAM_WP_LOW);

	if (wp & RVTRACE_RAM_WP_WRAP)
		return sink->size;
	return min_t(size_t, rvtrace_ramsink_offset(sink, wp) - sink->from, sink->size);
}

/* Reads words at RP: reading trRamData moves RP on. */
static void rvtrace_ramsink_read_words(struct rvtrace_ramsink *sink, __le32 *words, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		words[i] = cpu_to_le32(rvtrace_read(&sink->comp, RVTRACE_RAM_DATA));
}

/* Copies @size bytes of the sink's own memory into the AUX buffer, from @offset on. */
static void rvtrace_ramsink_copy_sram(struct rvtrace_ramsink *sink, struct rvtrace_cpu *rc,
				      size_t offset, size_t size)
{
	__le32 words[RVTRACE_SRAM_WORDS];
	size_t n;

	rvtrace_write(&sink->comp, RVTRACE_RAM_RP_LOW, offset);
	for (; size; size -= n * sizeof(words[0])) {
		n = min(size / sizeof(words[0]), ARRAY_SIZE(words));
		rvtrace_ramsink_read_words(sink, words, n);
		rvtrace_output_copy(rc, words, n * sizeof(words[0]));
	}
}

static void rvtrace_ramsink_copy(struct rvtrace_ramsink *sink, struct rvtrace_cpu *rc,
				 size_t offset, size_t size)
{
	if (!sink->smem) {
		rvtrace_ramsink_copy_sram(sink, rc, offset, size);
		return;
	}
	if (size)
		rvtrace_ramsink_show(sink, sink->start + offset, size);
	rvtrace_output_copy(rc, sink->vaddr + offset, size);
}

/*
 * Returns the number of bytes that the sink has written into the AUX buffer. A sink that stopped at
 * the end of its extent has lost the trace after that. In overwrite mode the extent is all of the
 * AUX buffer and the sink does not stop: when it has written @all of it, it may have wrapped more
 * than once. It only matters then that the older trace is gone.
 */
VISIBLE_IF_KUNIT size_t rvtrace_ramsink_written(const struct rvtrace_ramsink *sink, size_t fill,
						bool wrap, bool stops, bool all)
{
	size_t written = fill - sink->from;

	if (wrap && stops)
		return sink->size;
	if (wrap)
		written = sink->size + fill;
	return all && written < sink->length ? written + sink->length : written;
}

static void rvtrace_ramsink_drain_direct(struct rvtrace_ramsink *sink, struct rvtrace_cpu *rc,
					 size_t fill, bool wrap, bool stops, bool all)
{
	size_t written = rvtrace_ramsink_written(sink, fill, wrap, stops, all);

	sink->traced += written;
	rvtrace_output_written(rc, written);
	if (wrap && stops)
		rvtrace_output_gap(rc);
	if (!wrap && rc->aux && !rc->aux->overwrite && IS_ALIGNED(fill, sink->access)) {
		sink->stopped = fill;
		sink->stopped_aux = rc->aux->serial;
		sink->stopped_head = rc->handle.head + rc->written;
	}
}

static void rvtrace_ramsink_drain_copy(struct rvtrace_ramsink *sink, struct rvtrace_cpu *rc,
				       size_t fill, bool wrap, bool stops)
{
	sink->dirty = wrap ? sink->size : max(sink->dirty, fill);
	sink->traced += wrap ? sink->size : fill;
	sink->copied += wrap ? sink->size : fill;
	if (sink->smem && (wrap || fill))
		rvtrace_output_ready(rc);
	if (!wrap) {
		rvtrace_ramsink_copy(sink, rc, 0, fill);
	} else if (stops) {
		rvtrace_ramsink_copy(sink, rc, 0, sink->size);
		rvtrace_output_gap(rc);
	} else {
		rvtrace_output_gap(rc);
		rvtrace_ramsink_copy(sink, rc, fill, sink->size - fill);
		rvtrace_ramsink_copy(sink, rc, 0, fill);
	}
}

/*
 * Reads from the write pointer up to which offset there is trace, and whether the sink has wrapped.
 * Returns false when the pointer is where it cannot be.
 */
VISIBLE_IF_KUNIT bool rvtrace_ramsink_position(const struct rvtrace_ramsink *sink, u32 wp,
					       size_t *fill, bool *wrap)
{
	*wrap = wp & RVTRACE_RAM_WP_WRAP;
	*fill = rvtrace_ramsink_offset(sink, wp);
	if (*fill > sink->length || (!*wrap && *fill < sink->from))
		return false;
	if (*fill == sink->length) {
		*wrap = true;
		*fill = 0;
	}
	return true;
}

/*
 * rvtrace_ramsink_kept - whether a memory of the sink's own has what flight mode left there
 * @offset: where it has stopped
 *
 * Not when an event has used it since, or the sink was reset.
 */
bool rvtrace_ramsink_kept(struct rvtrace_ramsink *sink, size_t offset)
{
	if (!sink->comp.active || !sink->length || sink->owner.tgid)
		return false;
	return (rvtrace_read(&sink->comp, RVTRACE_RAM_WP_LOW) & RVTRACE_RAM_WP_ADDR) == offset;
}

/* Makes the trace in the sink's own memory nobody's, so that flight mode can begin there. */
void rvtrace_ramsink_forget(struct rvtrace_ramsink *sink)
{
	rvtrace_ramsink_clear(sink, &(struct rvtrace_opener){ });
}

/* Reads the first @size bytes of a memory of the sink's own. The sink is disabled. */
void rvtrace_ramsink_read_out(struct rvtrace_ramsink *sink, void *to, size_t size)
{
	rvtrace_write(&sink->comp, RVTRACE_RAM_RP_LOW, 0);
	rvtrace_ramsink_read_words(sink, to, size / sizeof(__le32));
}

/*
 * rvtrace_ramsink_start_flight - start the sink in flight mode: it writes @buffer as a ring
 * @offset: where it begins. In a memory of its own, 0 or where it was left: its WP is hardware's.
 *
 * Returns 0 or -EIO.
 */
int rvtrace_ramsink_start_flight(struct rvtrace_ramsink *sink,
				 const struct rvtrace_ramsink_buffer *buffer, size_t offset)
{
	int ret;

	sink->direct = false;
	sink->stopped_aux = 0;
	sink->from = offset;
	sink->size = buffer->size - offset;
	ret = rvtrace_ramsink_program(sink, buffer->start, buffer->size);
	if (ret)
		return ret;
	/* Low last: it clears Wrap. */
	if (sink->smem || !offset)
		rvtrace_ramsink_write_address(sink, RVTRACE_RAM_WP_LOW, RVTRACE_RAM_WP_HIGH,
					      buffer->start + offset);
	return rvtrace_ramsink_run(sink, 0);
}

/*
 * rvtrace_ramsink_flight_offset - where in @buffer the sink, which is in flight mode, writes next
 *
 * Does not use @sink->length: somebody may have prepared the sink for an event meanwhile. Sets
 * *@wrap when the sink has wrapped since it was started. Returns false when the pointer is where it
 * cannot be.
 */
bool rvtrace_ramsink_flight_offset(struct rvtrace_ramsink *sink,
				   const struct rvtrace_ramsink_buffer *buffer, size_t *offset,
				   bool *wrap)
{
	u32 wp = rvtrace_read(&sink->comp, RVTRACE_RAM_WP_LOW);

	*wrap = wp & RVTRACE_RAM_WP_WRAP;
	*offset = (wp & RVTRACE_RAM_WP_ADDR) - lower_32_bits(buffer->start);
	if (*offset == buffer->size) {
		*wrap = true;
		*offset = 0;
	}
	return *offset < buffer->size;
}

/*
 * rvtrace_ramsink_drain - hand over what the sink received since it was started
 *
 * The sink is disabled and empty. Each byte is handed over once: the next start is at the beginning
 * of its buffer, or behind what is in the AUX buffer then. Returns whether trace is missing. The
 * record of @rc says so then.
 */
bool rvtrace_ramsink_drain(struct rvtrace_ramsink *sink, struct rvtrace_cpu *rc)
{
	bool stops = sink->comp.control & RVTRACE_RAM_CONTROL_STOP_ON_WRAP;
	u32 wp = rvtrace_read(&sink->comp, RVTRACE_RAM_WP_LOW);
	bool wrap, all;
	size_t fill;

	sink->stopped_aux = 0;
	/* The sink updates Empty and WP after it has written: read memory after WP. */
	rmb();
	all = sink->direct && rvtrace_output_unguard(rc);
	if (!rvtrace_ramsink_position(sink, wp, &fill, &wrap)) {
		dev_err_ratelimited(&sink->comp.dev, "write pointer outside of the buffer\n");
		rvtrace_output_gap(rc);
		return true;
	}
	trace_rvtrace_drain(sink->comp.sink_id, wrap ? sink->size : fill - sink->from, wrap,
			    sink->direct);
	if (sink->direct)
		rvtrace_ramsink_drain_direct(sink, rc, fill, wrap, stops, all);
	else
		rvtrace_ramsink_drain_copy(sink, rc, fill, wrap, stops);
	return wrap && !(sink->direct && !stops);
}

RVTRACE_ATTR_RO(memory, "%s", to_rvtrace_ramsink(comp)->smem ? "smem" : "sram");
RVTRACE_ATTR_RO(access_bytes, "%u",
		to_rvtrace_ramsink(comp)->access ?: RVTRACE_RAM_MIN_ACCESS);
RVTRACE_ATTR_RO(stop_on_wrap, "%d", to_rvtrace_ramsink(comp)->stop_on_wrap);
RVTRACE_ATTR_RO(traced_bytes, "%llu", READ_ONCE(to_rvtrace_ramsink(comp)->traced));
RVTRACE_ATTR_RO(copied_bytes, "%llu", READ_ONCE(to_rvtrace_ramsink(comp)->copied));

static struct attribute *rvtrace_ramsink_attrs[] = {
	&dev_attr_memory.attr,
	&dev_attr_access_bytes.attr,
	&dev_attr_stop_on_wrap.attr,
	&dev_attr_traced_bytes.attr,
	&dev_attr_copied_bytes.attr,
	NULL
};

static const struct attribute_group rvtrace_ramsink_group = {
	.attrs = rvtrace_ramsink_attrs,
};

static const struct attribute_group *rvtrace_ramsink_groups[] = {
	&rvtrace_component_group,
	&rvtrace_ramsink_group,
	NULL
};

const struct rvtrace_ops rvtrace_ramsink_ops = {
	.name	= "ramsink",
	.size	= sizeof(struct rvtrace_ramsink),
	.groups	= rvtrace_ramsink_groups,
	.probe	= rvtrace_ramsink_probe,
	.reset	= rvtrace_ramsink_reset,
	.enable	= rvtrace_ramsink_enable,
};
