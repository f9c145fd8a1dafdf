// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Writes Control Transfer Records as perf's branch stacks: a perf.data of ordinary samples with the
 * recording's sideband, for perf script -F brstack, perf report -b, llvm-profgen, and so on.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/cmd.h"
#include "common/features.h"
#include "common/insn-code.h"
#include "common/output.h"
#include "ctr/ctr.h"

#define SAMPLE_TYPE (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | \
		     PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD)
#define MAX_ENTRIES 256
#define FEAT_BRANCH_STACK 15	/* stock perf's HEADER_BRANCH_STACK */
#define FIXED_WORDS 6		/* identifier, ip, pid/tid, time, cpu, period */

struct injection {
	struct view *view;
	struct rvt_perfdata *file;
	struct rvt_perfdata_writer *writer;
	struct perf_event_attr attr;
	uint64_t id;		/* of the event */
	uint64_t samples;
	bool chains;		/* RAS emulation: call chains instead of branch stacks */
};

uint64_t ctr_return_address(struct rvt_space *space, uint64_t addr)
{
	uint8_t bytes[INSN_CODE_BYTES];
	unsigned int len = insn_code(space, addr, bytes);

	return addr + (len ? len : 2);
}

/* Fills in a call chain, with markers between user and kernel addresses as in the kernel's own. */
static size_t fill_chain(const struct rvt_ctr_sample *sample, const struct rvt_task *task,
			 uint64_t *chain)
{
	struct rvt_ctr_entry entry;
	uint64_t context = 0, addr = sample->ip;
	size_t n = 0;

	for (unsigned int i = 0; ; i++) {
		uint64_t now = (int64_t)addr < 0 ? PERF_CONTEXT_KERNEL : PERF_CONTEXT_USER;

		if (now != context)
			chain[n++] = context = now;
		chain[n++] = addr;
		if (rvt_ctr_get(sample, i, &entry))
			return n;
		addr = ctr_return_address(task->space, entry.source);
	}
}

static size_t fill_branches(const struct rvt_ctr_sample *sample, const struct rvt_task *task,
			    uint64_t *words)
{
	struct perf_branch_entry branch;
	struct rvt_ctr_entry entry;

	for (unsigned int i = 0; !rvt_ctr_get(sample, i, &entry); i++) {
		rvt_ctr_branch(&entry, insn_is_ecall(task->space, entry.source), &branch);
		memcpy(words, &branch, sizeof(branch));
		words += sizeof(branch) / sizeof(*words);
	}
	return sample->n * sizeof(branch) / sizeof(*words);
}

static int on_sample(void *ctx, const struct rvt_ctr_sample *sample, const struct rvt_task *task)
{
	struct injection *injection = ctx;
	struct {
		struct perf_event_header header;
		uint64_t words[FIXED_WORDS + 1 + 3 * (MAX_ENTRIES + 1)];
	} record = { .header.type = PERF_RECORD_SAMPLE };
	uint64_t *p = record.words;
	size_t n;

	if (!ctr_wants(injection->view, sample, task))
		return 0;
	record.header.misc = sample->privilege ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER;
	*p++ = injection->id;
	*p++ = sample->ip;
	*p++ = (uint32_t)sample->pid | (uint64_t)(uint32_t)sample->tid << 32;
	*p++ = sample->time;
	*p++ = (uint32_t)sample->cpu;
	*p++ = sample->period;
	if (injection->chains) {
		n = fill_chain(sample, task, p + 1);
		*p++ = n;
	} else {
		n = fill_branches(sample, task, p + 1);
		*p++ = sample->n;
	}
	record.header.size = (uint16_t)((char *)(p + n) - (char *)&record);
	injection->samples++;
	return rvt_perfdata_write(injection->writer, &record, record.header.size);
}

/* The first sample tells what triggered; its control register what the samples are like. */
static int look_at_first(void *ctx, const struct rvt_ctr_sample *sample,
			 const struct rvt_task *task)
{
	struct injection *injection = ctx;

	(void)task;
	injection->chains = sample->control & RVT_CTR_CONTROL_RASEMU;
	injection->attr.type = sample->trigger_type;
	injection->attr.config = sample->trigger_config;
	return -ECANCELED;
}

static const struct rvt_perfdata_event *ctr_event(const struct injection *injection)
{
	char *type = rvt_session_meta(view_session(injection->view), "pmu_type");
	const struct rvt_perfdata_event *event = NULL;

	for (size_t i = 0; type && i < rvt_perfdata_n_events(injection->file) && !event; i++) {
		event = rvt_perfdata_event(injection->file, i);
		if (event->attr.type != strtoul(type, NULL, 0))
			event = NULL;
	}
	free(type);
	return event;
}

static int add_events(struct injection *injection)
{
	const struct rvt_perfdata_event *ctr = ctr_event(injection), *event;
	struct perf_event_attr *attr = &injection->attr;
	char name[64];
	int err;

	if (!ctr || !ctr->n_ids)
		return -ENODATA;
	injection->id = ctr->ids[0];
	attr->size = sizeof(*attr);
	attr->sample_type = SAMPLE_TYPE |
		(injection->chains ? PERF_SAMPLE_CALLCHAIN : PERF_SAMPLE_BRANCH_STACK);
	attr->sample_id_all = 1;
	attr->sample_period = ctr->attr.sample_period;
	attr->freq = ctr->attr.freq;
	attr->exclude_user = ctr->attr.exclude_user;
	attr->exclude_kernel = ctr->attr.exclude_kernel;
	attr->exclude_hv = ctr->attr.exclude_hv;
	if (!injection->chains)
		attr->branch_sample_type = PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_TYPE_SAVE |
			PERF_SAMPLE_BRANCH_PRIV_SAVE |
			(attr->exclude_user ? 0 : PERF_SAMPLE_BRANCH_USER) |
			(attr->exclude_kernel ? 0 : PERF_SAMPLE_BRANCH_KERNEL);
	snprintf(name, sizeof(name), "%s%s", ctr_trigger_name(attr->type, attr->config),
		 attr->exclude_kernel ? ":u" : attr->exclude_user ? ":k" : "");
	err = rvt_perfdata_add_event(injection->writer, attr, name, ctr->ids, ctr->n_ids);
	for (size_t i = 0; i < rvt_perfdata_n_events(injection->file) && !err; i++) {
		event = rvt_perfdata_event(injection->file, i);
		if (event != ctr)
			err = rvt_perfdata_add_event(injection->writer, &event->attr, event->name,
						     event->ids, event->n_ids);
	}
	return err;
}

/* What stock perf reads without knowing AUX data. */
static bool is_sideband(uint32_t type)
{
	switch (type) {
	case PERF_RECORD_MMAP: case PERF_RECORD_MMAP2: case PERF_RECORD_COMM:
	case PERF_RECORD_FORK: case PERF_RECORD_EXIT: case PERF_RECORD_KSYMBOL:
	case PERF_RECORD_BPF_EVENT: case PERF_RECORD_CGROUP: case PERF_RECORD_NAMESPACES:
	case PERF_RECORD_TEXT_POKE: case PERF_RECORD_SWITCH: case PERF_RECORD_SWITCH_CPU_WIDE:
	case PERF_RECORD_LOST: case RVT_RECORD_TIME_CONV:
		return true;
	default:
		return false;
	}
}

static int copy_sideband(struct injection *injection)
{
	struct rvt_perfdata_record record;
	uint64_t pos = 0;
	int err = 0;

	while (!err && rvt_perfdata_next(injection->file, &pos, &record) > 0)
		if (is_sideband(record.type))
			err = rvt_perfdata_write(injection->writer, record.header,
						 record.header->size);
	return err;
}

static int copy_features(struct injection *injection, bool arch)
{
	int err = features_copy(injection->file, injection->writer, arch);

	if (!err && !injection->chains)
		err = rvt_perfdata_add_feature(injection->writer, FEAT_BRANCH_STACK, "", 0);
	return err;
}

static int write_file(struct injection *injection, const char *output, bool arch)
{
	struct rvt_session *session = view_session(injection->view);
	const struct rvt_session_ctr_sink first = { sizeof(first), injection, look_at_first, NULL };
	const struct rvt_session_ctr_sink sink = { sizeof(sink),
						   injection, on_sample, view_warning };
	struct output_file file;
	int err = rvt_session_run_ctr(session, &first);

	if (err && err != -ECANCELED)
		return cmd_error(err, "decoding ended: %s", strerror(-err));
	err = output_create(&file, output);
	if (err)
		return err;
	err = rvt_perfdata_create_fd(file.fd, &injection->writer);
	if (!err)
		err = add_events(injection);
	if (!err)
		err = rvt_perfdata_begin(injection->writer, NULL);
	if (!err)
		err = copy_sideband(injection);
	if (!err)
		err = rvt_session_run_ctr(session, &sink);
	if (!err)
		err = copy_features(injection, arch);
	if (err)
		rvt_perfdata_abandon(injection->writer);
	else
		err = rvt_perfdata_finish(injection->writer);
	if (!err)
		return 0;
	output_discard(&file);
	return cmd_error(err, "cannot write %s: %s", output, strerror(-err));
}

int ctr_inject(struct view *view, const char *output, bool arch)
{
	struct injection injection = { .view = view, .file = rvt_session_file(view_session(view)) };
	int err = write_file(&injection, output, arch);

	if (err)
		return err;
	fprintf(stderr, "[ perf rvtrace inject: %llu samples with %s in %s ]\n",
		(unsigned long long)injection.samples,
		injection.chains ? "call chains" : "branch stacks", output);
	return view_summary(view, 0);
}
