// SPDX-License-Identifier: GPL-2.0-only
/*
 * RISC-V trace: AUX buffers, and the sinks' buffers that go with them.
 */
#define pr_fmt(fmt) "rvtrace: " fmt

#include <linux/dma-mapping.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/rcupdate.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "rvtrace-aux.h"
#include "rvtrace-cpu.h"
#include "rvtrace-encoder.h"
#include "rvtrace-ramsink.h"

/*
 * A sink's buffer is a quarter of the AUX buffer, so that there is room for what is drained while
 * user space still reads. Where old trace gives way to new, it is all that a snapshot can hold.
 */
#define RVTRACE_AUX_PER_SINK	4

/* Buffer of a sink that writes into the AUX buffer: used when that is full */
#define RVTRACE_AUX_SPARE	SZ_64K
/* Smallest part of the AUX buffer that a sink is started in, as a fraction and in bytes */
#define RVTRACE_AUX_RESERVE	16
#define RVTRACE_RESERVE_MIN	SZ_1K
#define RVTRACE_RESERVE_MAX	SZ_64K

static void rvtrace_aux_unmap(const struct rvtrace_aux *aux, struct rvtrace_aux_sink *to,
			      unsigned int nr_segments)
{
	while (nr_segments--)
		dma_unmap_single_attrs(to->sink->comp.dev.parent, to->segments[nr_segments],
				       aux->segments[nr_segments].end -
				       aux->segments[nr_segments].start,
				       DMA_FROM_DEVICE, DMA_ATTR_SKIP_CPU_SYNC);
	to->direct = false;
}

/*
 * Lets a sink write into the AUX buffer. Only for a sink whose trace is all this event's, and whose
 * writes are coherent, so that user space can read them without a sync.
 */
static void rvtrace_aux_map(const struct rvtrace_aux *aux, struct rvtrace_aux_sink *to)
{
	struct device *dev = to->sink->comp.dev.parent;
	const struct rvtrace_segment *segment;
	unsigned int i;

	if (!aux->nr_segments || (aux->overwrite ? aux->nr_segments > 1 : !to->sink->stop_on_wrap))
		return;
	to->direct = true;
	for (i = 0; i < aux->nr_segments && to->direct; i++) {
		segment = &aux->segments[i];
		to->direct = segment->end - segment->start <= dma_max_mapping_size(dev);
		if (!to->direct)
			break;
		/* Several sinks may share the memory; the kernel does not write to it meanwhile. */
		to->segments[i] = dma_map_single_attrs(dev, segment->addr,
						       segment->end - segment->start,
						       DMA_FROM_DEVICE, DMA_ATTR_SKIP_CPU_SYNC);
		to->direct = !dma_mapping_error(dev, to->segments[i]);
		if (!to->direct)
			break;
		to->direct = !dma_need_sync(dev, to->segments[i]);
	}
	if (!to->direct)
		rvtrace_aux_unmap(aux, to, i);
}

/* Keeps the pages for ever: a sink that did not answer may still write to them. */
static void rvtrace_aux_abandon(const struct rvtrace_aux *aux)
{
	size_t offset;

	for (offset = 0; offset < aux->size; offset += PAGE_SIZE)
		get_page(vmalloc_to_page(aux->base + offset));
}

/* Releases what an AUX buffer has of a sink. Returns whether the sink may still write into it. */
static bool rvtrace_aux_release_sink(struct rvtrace_aux *aux, struct rvtrace_aux_sink *to)
{
	struct rvtrace_ramsink *sink = to->sink;
	bool abandon;

	mutex_lock(&sink->mutex);
	abandon = to->direct && sink->comp.broken;
	if (to->direct && !abandon)
		rvtrace_aux_unmap(aux, to, aux->nr_segments);
	list_del(&to->entry);
	rvtrace_ramsink_put_buffer(sink);
	mutex_unlock(&sink->mutex);
	put_device(&sink->comp.dev);
	return abandon;
}

void rvtrace_free_aux(void *data)
{
	struct rvtrace_aux *aux = data;
	struct rvtrace_aux_sink *to;
	bool abandon = false;

	for (to = aux->sinks; to < aux->sinks + aux->nr_sinks; to++)
		abandon |= rvtrace_aux_release_sink(aux, to);
	if (abandon)
		rvtrace_aux_abandon(aux);
	vunmap(aux->base);
	kfree(aux);
}

/*
 * rvtrace_aux_remove_sink - the sink's driver is being unbound
 *
 * AUX buffers stay with those who mapped them. The sink has been stopped and nothing starts it.
 */
void rvtrace_aux_remove_sink(struct rvtrace_ramsink *sink)
{
	struct rvtrace_aux_sink *to;

	mutex_lock(&sink->mutex);
	list_for_each_entry(to, &sink->aux_sinks, entry)
		if (to->direct && !sink->comp.broken)
			rvtrace_aux_unmap(to->aux, to, to->aux->nr_segments);
	rvtrace_ramsink_remove_buffers(sink);
	mutex_unlock(&sink->mutex);
}

static int rvtrace_aux_map_sink(struct rvtrace_aux *aux, struct rvtrace_aux_sink *to,
				const struct rvtrace_path *path,
				const struct rvtrace_config *config)
{
	size_t wanted = aux->overwrite ? aux->size : aux->size / RVTRACE_AUX_PER_SINK;
	struct rvtrace_ramsink *sink = to->sink;
	int ret;

	/* See rvtrace_output_begin() for events that stall. */
	if (sink->smem && rvtrace_path_is_exclusive(path) && !sink->no_direct &&
	    (aux->overwrite || !config->stall))
		rvtrace_aux_map(aux, to);
	if (to->direct)
		wanted = min_t(size_t, wanted, RVTRACE_AUX_SPARE);
	ret = rvtrace_ramsink_get_buffer(sink, wanted);
	if (ret && to->direct)
		rvtrace_aux_unmap(aux, to, aux->nr_segments);
	return ret;
}

static int rvtrace_aux_add_sink(struct rvtrace_aux *aux, struct rvtrace_encoder *enc,
				const struct rvtrace_config *config)
{
	struct rvtrace_path *path = rvtrace_encoder_path(enc, config->sink);
	struct rvtrace_ramsink *sink = path ? path->ram : NULL;
	struct rvtrace_aux_sink *to;
	unsigned int i;
	int ret;

	if (!sink)
		return 0;
	for (i = 0; i < aux->nr_sinks; i++)
		if (aux->sinks[i].sink == sink)
			return 0;
	aux->nr_sinks++;
	to = &aux->sinks[aux->nr_sinks - 1];
	to->sink = sink;
	to->aux = aux;
	mutex_lock(&sink->mutex);
	ret = sink->removed ? -ENODEV : rvtrace_aux_map_sink(aux, to, path, config);
	if (!ret) {
		get_device(&sink->comp.dev);
		list_add(&to->entry, &sink->aux_sinks);
	} else {
		aux->nr_sinks--;
	}
	mutex_unlock(&sink->mutex);
	/* A sink that has gone gets no trace. */
	return ret == -ENODEV ? 0 : ret;
}

/* Finds the segments of contiguous memory that the AUX buffer consists of */
VISIBLE_IF_KUNIT void rvtrace_aux_find_segments(struct rvtrace_aux *aux, void **pages, int nr_pages)
{
	struct rvtrace_segment *segment = NULL;
	int i;

	aux->reserve = clamp_t(size_t, aux->size / RVTRACE_AUX_RESERVE, RVTRACE_RESERVE_MIN,
			       RVTRACE_RESERVE_MAX);
	for (i = 0; i < nr_pages; i++) {
		if (!segment || pages[i] != segment->addr + (segment->end - segment->start)) {
			if (aux->nr_segments == RVTRACE_AUX_SEGMENTS)
				goto none;
			segment = &aux->segments[aux->nr_segments++];
			segment->addr = pages[i];
			segment->start = (size_t)i << PAGE_SHIFT;
			segment->end = segment->start;
		}
		segment->end += PAGE_SIZE;
	}
	for (i = 0; i < aux->nr_segments; i++)
		if (aux->segments[i].end - aux->segments[i].start < 2 * aux->reserve)
			goto none;
	return;
none:
	aux->nr_segments = 0;
}

static void *rvtrace_map_pages(void **pages, int nr_pages)
{
	struct page **list;
	void *base;
	int i;

	list = kvmalloc_array(nr_pages, sizeof(*list), GFP_KERNEL);
	if (!list)
		return NULL;
	for (i = 0; i < nr_pages; i++)
		list[i] = virt_to_page(pages[i]);
	base = vmap(list, nr_pages, VM_MAP, PAGE_KERNEL);
	kvfree(list);
	return base;
}

/* Returns the hart's encoder or NULL. The reference to it also holds all that it can reach. */
static struct rvtrace_encoder *rvtrace_aux_get_encoder(int cpu)
{
	struct rvtrace_encoder *enc;

	guard(rcu)();
	enc = READ_ONCE(per_cpu(rvtrace_cpus, cpu).encoder);
	if (enc)
		get_device(&enc->comp.dev);
	return enc;
}

/*
 * perf's setup_aux: returns what perf_aux_output_begin() will return, or NULL when memory is short.
 */
void *rvtrace_setup_aux(struct perf_event *event, void **pages, int nr_pages, bool overwrite)
{
	const struct rvtrace_config *config = rvtrace_event_config(event);
	struct rvtrace_encoder *enc;
	struct rvtrace_aux *aux;
	int cpu, ret;

	aux = kzalloc(struct_size(aux, sinks, nr_cpu_ids), GFP_KERNEL);
	if (!aux)
		return NULL;
	aux->serial = rvtrace_new_serial();
	aux->size = (size_t)nr_pages << PAGE_SHIFT;
	aux->overwrite = overwrite;
	aux->guard = get_random_u64();
	aux->base = rvtrace_map_pages(pages, nr_pages);
	if (!aux->base) {
		kfree(aux);
		return NULL;
	}
	rvtrace_aux_find_segments(aux, pages, nr_pages);
	for_each_possible_cpu(cpu) {
		if (event->cpu >= 0 && event->cpu != cpu)
			continue;
		enc = rvtrace_aux_get_encoder(cpu);
		if (!enc)
			continue;
		ret = rvtrace_aux_add_sink(aux, enc, config);
		put_device(&enc->comp.dev);
		if (ret) {
			rvtrace_free_aux(aux);
			return NULL;
		}
	}
	return aux;
}
