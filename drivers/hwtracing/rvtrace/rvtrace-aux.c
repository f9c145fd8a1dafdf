// SPDX-License-Identifier: GPL-2.0-only
/*
 * RISC-V trace: AUX buffers, and the sinks' buffers that go with them.
 */
#define pr_fmt(fmt) "rvtrace: " fmt

#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "rvtrace.h"

/*
 * A sink's buffer is a quarter of the AUX buffer, so that there is room for what is drained while
 * user space still reads. Where old trace gives way to new, it is all that a snapshot can hold.
 */
#define RVTRACE_AUX_PER_SINK	4

void rvtrace_free_aux(void *data)
{
	struct rvtrace_aux *aux = data;
	unsigned int i;

	for (i = 0; i < aux->nr_sinks; i++)
		rvtrace_ramsink_put_buffer(aux->sinks[i]);
	vunmap(aux->base);
	kfree(aux);
}

static int rvtrace_aux_add_sink(struct rvtrace_aux *aux, struct rvtrace_encoder *enc, u32 number)
{
	struct rvtrace_path *path = rvtrace_encoder_path(enc, number);
	struct rvtrace_ramsink *sink = path ? rvtrace_path_ram(path) : NULL;
	unsigned int i;
	int ret;

	if (!sink)
		return 0;
	for (i = 0; i < aux->nr_sinks; i++)
		if (aux->sinks[i] == sink)
			return 0;
	ret = rvtrace_ramsink_get_buffer(sink, aux->overwrite ? aux->size :
						aux->size / RVTRACE_AUX_PER_SINK);
	if (ret)
		return ret;
	aux->nr_sinks++;
	aux->sinks[aux->nr_sinks - 1] = sink;
	return 0;
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
	aux->size = (size_t)nr_pages << PAGE_SHIFT;
	aux->overwrite = overwrite;
	aux->base = rvtrace_map_pages(pages, nr_pages);
	if (!aux->base) {
		kfree(aux);
		return NULL;
	}
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
