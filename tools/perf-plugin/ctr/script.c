// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* `perf rvtrace script` of Control Transfer Records: each sample and its records. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "common/cmd.h"
#include "ctr/ctr.h"
#include "common/places.h"

struct ctr_script {
	struct view *view;
	struct places *places;
	bool raw;
	uint64_t lines, max_lines;
};

static const struct {
	uint32_t type;
	uint64_t config;
	const char *name;
} triggers[] = {
	{ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, "cpu-clock" },
	{ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, "task-clock" },
	{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, "cycles" },
	{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, "instructions" },
	{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, "branches" },
	{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, "branch-misses" },
	{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, "cache-misses" },
};

const char *ctr_trigger_name(uint32_t type, uint64_t config)
{
	for (size_t i = 0; i < sizeof(triggers) / sizeof(*triggers); i++)
		if (triggers[i].type == type && triggers[i].config == config)
			return triggers[i].name;
	return "riscv_ctr";
}

int ctr_refuse(const char *option)
{
	return option ? cmd_error(-EINVAL, "%s: not for Control Transfer Records", option) : 0;
}

bool ctr_wants(struct view *view, const struct rvt_ctr_sample *sample,
	       const struct rvt_task *task)
{
	const struct rvt_hart_flow hart = { .cpu = sample->cpu, .task = task,
						     .time = sample->time };

	return view_wants(view, &hart);
}

static void print_place(struct ctr_script *script, const struct rvt_task *task, uint64_t addr)
{
	const struct place *place;

	if (!addr) {
		printf("%16s", "[not recorded]");
		return;
	}
	place = places_find(script->places, task->space, addr);
	printf("%16" PRIx64 " %s", addr, place->symbol ? place->symbol : "[unknown]");
	if (place->symbol)
		printf("+0x%" PRIx64, place->offset);
	printf(" (%s)", place->dso);
}

static void print_entry(struct ctr_script *script, const struct rvt_task *task,
			const struct rvt_ctr_entry *entry)
{
	printf("\t%-14s ", rvt_ctr_type_name(entry->type));
	print_place(script, task, entry->source);
	fputs(" => ", stdout);
	print_place(script, task, entry->target);
	if (entry->mispredicted)
		fputs(" mispredicted", stdout);
	if (entry->cycles_valid)
		printf(" %" PRIu32 " cycles", entry->cycles);
	putchar('\n');
}

static void print_raw(const struct rvt_ctr_sample *sample)
{
	struct rvt_ctr_entry entry;

	printf("sample %d %d %d %u %" PRIx64 " %" PRIu64 " %" PRIu64, sample->cpu, sample->pid,
	       sample->tid, sample->privilege, sample->ip, sample->time, sample->period);
	printf(" %x %" PRIx64 " %u %u %u %u %u\n", sample->flags, sample->control, sample->depth,
	       sample->limit, sample->skipped, sample->write_index, sample->n);
	for (unsigned int i = 0; !rvt_ctr_get(sample, i, &entry); i++)
		printf("entry %u %" PRIx64 " %" PRIx64 " %d %d %" PRIu32 "\n", entry.type,
		       entry.source, entry.target, entry.mispredicted, entry.cycles_valid,
		       entry.cycles);
}

static int on_sample(void *ctx, const struct rvt_ctr_sample *sample, const struct rvt_task *task)
{
	struct ctr_script *script = ctx;
	struct rvt_ctr_entry entry;

	if (!ctr_wants(script->view, sample, task))
		return 0;
	if ((script->max_lines && script->lines >= script->max_lines) || ferror(stdout))
		return -ECANCELED;
	script->lines++;
	if (script->raw) {
		print_raw(sample);
		return 0;
	}
	printf("%16s %7d/%-7d [%03d] %5" PRIu64 ".%09" PRIu64 ": %10" PRIu64 " %s: ",
	       places_keep(script->places, task->comm),
	       sample->pid, sample->tid, sample->cpu, sample->time / 1000000000,
	       sample->time % 1000000000, sample->period,
	       ctr_trigger_name(sample->trigger_type, sample->trigger_config));
	print_place(script, task, sample->ip);
	putchar('\n');
	for (unsigned int i = 0; !rvt_ctr_get(sample, i, &entry); i++)
		print_entry(script, task, &entry);
	return 0;
}

int ctr_script(struct view *view, bool raw, uint64_t max_lines)
{
	struct rvt_session *session = view_session(view);
	struct ctr_script script = { .view = view, .raw = raw, .max_lines = max_lines,
				     .places = places_create(session) };
	const struct rvt_session_ctr_sink sink = { sizeof(sink), &script, on_sample, view_warning };
	int err = script.places ? rvt_session_run_ctr(session, &sink) : -ENOMEM;

	places_destroy(script.places);
	if (err && err != -ECANCELED)
		return cmd_error(err, "decoding ended: %s", strerror(-err));
	return view_summary(view, 0);
}
