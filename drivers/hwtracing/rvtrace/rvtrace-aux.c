// SPDX-License-Identifier: GPL-2.0-only
/*
 * RISC-V trace: AUX buffers, and the sinks' buffers that go with them.
 */
#define pr_fmt(fmt) "rvtrace: " fmt

#include <linux/dma-mapping.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "rvtrace.h"

/*
 * A sink's buffer is a quarter of the AUX buffer, so that there is room for what is drained while
 * user space still reads. Where old trace gives way to new, it is all that a snapshot can hold.
 */
#define RVTRACE_AUX_PER_SINK	4

/* When a sink writes into the AUX buffer, its own is for what comes when that is full. */
#define RVTRACE_AUX_SPARE	SZ_64K
/* Smallest part of the AUX buffer that a sink is started in, as a fraction and in bytes */
#define RVTRACE_AUX_RESERVE	16
#define RVTRACE_RESERVE_MIN	SZ_1K
#define RVTRACE_RESERVE_MAX	SZ_64K

static void rvtrace_aux_unmap(const struct rvtrace_aux *aux, struct rvtrace_aux_sink *to,
			      unsigned int nr_runs)
{
	while (nr_runs--)
		dma_unmap_single_attrs(to->sink->comp.dev.parent, to->runs[nr_runs],
				       aux->runs[nr_runs].end - aux->runs[nr_runs].start,
				       DMA_FROM_DEVICE, DMA_ATTR_SKIP_CPU_SYNC);
	to->direct = false;
}

/*
 * Lets a sink write into the AUX buffer: when nobody else's trace can be in it, and when what it
 * has written is there for everybody to read.
 */
static void rvtrace_aux_map(const struct rvtrace_aux *aux, struct rvtrace_aux_sink *to)
{
	struct device *dev = to->sink->comp.dev.parent;
	const struct rvtrace_run *run;
	unsigned int i;

	if (!aux->nr_runs || (aux->overwrite ? aux->nr_runs > 1 : !to->sink->stop_on_wrap))
		return;
	to->direct = true;
	for (i = 0; i < aux->nr_runs && to->direct; i++) {
		run = &aux->runs[i];
		to->direct = run->end - run->start <= dma_max_mapping_size(dev);
		if (!to->direct)
			break;
		/* Several sinks may share the memory: it is clear, and the kernel lets it be. */
		to->runs[i] = dma_map_single_attrs(dev, run->addr, run->end - run->start,
						   DMA_FROM_DEVICE, DMA_ATTR_SKIP_CPU_SYNC);
		to->direct = !dma_mapping_error(dev, to->runs[i]);
		if (!to->direct)
			break;
		to->direct = !dma_need_sync(dev, to->runs[i]);
	}
	if (!to->direct)
		rvtrace_aux_unmap(aux, to, i);
}

/* A sink that did not answer may still write: nobody else may get the memory. */
static void rvtrace_aux_abandon(const struct rvtrace_aux *aux)
{
	size_t offset;

	for (offset = 0; offset < aux->size; offset += PAGE_SIZE)
		get_page(vmalloc_to_page(aux->base + offset));
}

void rvtrace_free_aux(void *data)
{
	struct rvtrace_aux *aux = data;
	struct rvtrace_aux_sink *to;
	bool abandon = false;

	for (to = aux->sinks; to < aux->sinks + aux->nr_sinks; to++) {
		if (to->direct && to->sink->comp.broken)
			abandon = true;
		else if (to->direct)
			rvtrace_aux_unmap(aux, to, aux->nr_runs);
		rvtrace_ramsink_put_buffer(to->sink);
	}
	if (abandon)
		rvtrace_aux_abandon(aux);
	vunmap(aux->base);
	kfree(aux);
}

static int rvtrace_aux_add_sink(struct rvtrace_aux *aux, struct rvtrace_encoder *enc, u32 number)
{
	struct rvtrace_path *path = rvtrace_encoder_path(enc, number);
	struct rvtrace_ramsink *sink = path ? path->ram : NULL;
	size_t wanted = aux->overwrite ? aux->size : aux->size / RVTRACE_AUX_PER_SINK;
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
	if (sink->smem && rvtrace_path_is_own(path) && !sink->choosy)
		rvtrace_aux_map(aux, to);
	if (to->direct)
		wanted = min_t(size_t, wanted, RVTRACE_AUX_SPARE);
	ret = rvtrace_ramsink_get_buffer(sink, wanted);
	if (!ret)
		return 0;
	if (to->direct)
		rvtrace_aux_unmap(aux, to, aux->nr_runs);
	aux->nr_sinks--;
	return ret;
}

/* Of which pieces of contiguous memory the AUX buffer consists */
VISIBLE_IF_KUNIT void rvtrace_aux_find_runs(struct rvtrace_aux *aux, void **pages, int nr_pages)
{
	struct rvtrace_run *run = NULL;
	int i;

	aux->reserve = clamp_t(size_t, aux->size / RVTRACE_AUX_RESERVE, RVTRACE_RESERVE_MIN,
			       RVTRACE_RESERVE_MAX);
	for (i = 0; i < nr_pages; i++) {
		if (!run || pages[i] != run->addr + (run->end - run->start)) {
			if (aux->nr_runs == RVTRACE_AUX_RUNS)
				goto none;
			run = &aux->runs[aux->nr_runs++];
			run->addr = pages[i];
			run->start = (size_t)i << PAGE_SHIFT;
			run->end = run->start;
		}
		run->end += PAGE_SIZE;
	}
	for (i = 0; i < aux->nr_runs; i++)
		if (aux->runs[i].end - aux->runs[i].start < 2 * aux->reserve)
			goto none;
	return;
none:
	aux->nr_runs = 0;
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

/*
 * perf's setup_aux: returns what perf_aux_output_begin() will return, or NULL when memory is short.
 */
void *rvtrace_setup_aux(struct perf_event *event, void **pages, int nr_pages, bool overwrite)
{
	const struct rvtrace_config *config = rvtrace_event_config(event);
	struct rvtrace_encoder *enc;
	struct rvtrace_aux *aux;
	int cpu;

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
	rvtrace_aux_find_runs(aux, pages, nr_pages);
	for_each_possible_cpu(cpu) {
		enc = READ_ONCE(per_cpu(rvtrace_cpus, cpu).encoder);
		if (!enc || (event->cpu >= 0 && event->cpu != cpu))
			continue;
		if (rvtrace_aux_add_sink(aux, enc, config->sink)) {
			rvtrace_free_aux(aux);
			return NULL;
		}
	}
	return aux;
}
