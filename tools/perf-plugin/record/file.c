// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Writes the parts of the perf.data before and behind the records of the rings. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "common/cmd.h"
#include "record/record.h"
#include "record/tasks.h"
#include "session/perf-info.h"

/* Writes how the time CSR relates to perf's clock, as the kernel publishes it in the rings. */
static int put_time_conv(struct recorder *rec)
{
	struct rvt_record_time_conv conv;

	if (!ring_time_conv(&rec->rings[0], &conv)) {
		cmd_warning("this kernel does not say how its clock relates to the trace's time "
			    "stamps; mappings are placed by trace buffer instead");
		return 0;
	}
	return rvt_perfdata_write(rec->writer, &conv, sizeof(conv));
}

static int add_output(struct recorder *rec, const struct bpf_output *output)
{
	const struct extra_event *event = &output->event;

	if (!event->n_ids)
		return 0;
	return rvt_perfdata_add_event(rec->writer, &event->attr, event->name, event->ids,
				      event->n_ids);
}

/* Writes what perf must know of the encoders, behind the clock that it decodes time stamps with. */
static int put_auxtrace_info(struct recorder *rec, const struct rvt_perfdata_info *info)
{
	struct {
		struct perf_event_header header;
		uint32_t type, reserved;
	} record = { .header.type = RVT_RECORD_AUXTRACE_INFO, .type = RVT_PERF_AUXTRACE_TYPE };
	uint64_t *words;
	size_t n;
	int err = rvt_perf_info_words(info, &words, &n);

	if (err)
		return err;
	if (n > (UINT16_MAX - sizeof(record)) / sizeof(*words)) {
		free(words);
		cmd_warning("--auxtrace-info: what there is to say of %zu encoders does not fit: "
			    "perf cannot read this recording", info->n_cpus);
		return 0;
	}
	record.header.size = sizeof(record) + n * sizeof(*words);
	err = rvt_perfdata_write(rec->writer, &record, sizeof(record));
	if (!err)
		err = rvt_perfdata_write(rec->writer, words, n * sizeof(*words));
	free(words);
	return err;
}

/* Begins the file as record_begin_file() does, with complete metadata. */
static int begin_file(struct recorder *rec, const char *path, const char *meta,
		      const struct rvt_perfdata_info *info)
{
	int err = output_create(&rec->output, path);
	if (!err)
		err = rvt_perfdata_create_fd(rec->output.fd, &rec->writer);
	if (err)
		return err;
	err = rvt_perfdata_add_event(rec->writer, &rec->trace_attr, rec->options.event,
				     rec->trace_ids, rec->n_trace_ids);
	if (!err)
		err = rvt_perfdata_add_event(rec->writer, &rec->side_attr, "dummy:u", rec->side_ids,
					     rec->n_side_ids);
	for (size_t i = 0; i < rec->n_extra && !err; i++)
		err = rvt_perfdata_add_event(rec->writer, &rec->extra[i].attr, rec->extra[i].name,
					     rec->extra[i].ids, rec->extra[i].n_ids);
	if (!err)
		err = add_output(rec, &rec->code);
	if (!err)
		err = add_output(rec, &rec->switches);
	if (!err)
		err = add_output(rec, &rec->user_code);
	if (!err)
		err = rvt_perfdata_begin(rec->writer, meta);
	if (!err)
		err = put_time_conv(rec);
	if (!err && rec->options.auxtrace_info)
		err = put_auxtrace_info(rec, info);
	if (!err)
		err = record_synthesize_kernel(rec);
	if (!err)
		err = record_synthesize_tasks(rec);
	return err ? cmd_error(err, "cannot write %s: %s", path, strerror(-err)) : 0;
}

int record_begin_file(struct recorder *rec, const char *path)
{
	struct rvt_perfdata_info info = { 0 };
	char *meta = record_metadata(rec, &info);
	int err = -ENOTSUP;

	rec->path = path;
	rec->files++;
	rec->file_snapshots = 0;
	rec->trace_before = rec->trace_bytes;
	if (meta)
		err = begin_file(rec, path, meta, &info);
	rvt_perf_info_fini(&info);
	free(meta);
	return err;
}

int record_end_file(struct recorder *rec)
{
	int err = rvt_perfdata_flush(rec->writer);

	if (!err)
		err = record_add_features(rec);
	if (err)
		rvt_perfdata_abandon(rec->writer);
	else
		err = rvt_perfdata_finish(rec->writer);
	rec->writer = NULL;
	/* Without trace there is nothing to find. */
	if (!err && rec->options.index &&
	    (rec->options.in_samples || rec->trace_bytes > rec->trace_before))
		err = index_queue_add(&rec->indexes, rec->path);
	return err ? cmd_error(err, "cannot write %s: %s", rec->path, strerror(-err)) : 0;
}
