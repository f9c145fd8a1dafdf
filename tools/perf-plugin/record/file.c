// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* The perf.data that is being recorded: what stands before and behind the records of the rings. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "common/cmd.h"
#include "record/record.h"

/* How the time CSR relates to perf's clock, as the kernel publishes it in the rings. */
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

int record_begin_file(struct recorder *rec, const char *path)
{
	char *meta = record_metadata(rec);
	int err;

	rec->path = path;
	if (!meta)
		return -ENOTSUP;
	err = output_create(&rec->output, path);
	if (!err)
		err = rvt_perfdata_create_fd(rec->output.fd, &rec->writer);
	if (err) {
		free(meta);
		return err;
	}
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
		err = rvt_perfdata_begin(rec->writer, meta);
	free(meta);
	if (!err)
		err = put_time_conv(rec);
	if (!err)
		err = record_synthesize_kernel(rec);
	if (!err)
		err = record_synthesize_tasks(rec);
	return err ? cmd_error(err, "cannot write %s: %s", path, strerror(-err)) : 0;
}

int record_end_file(struct recorder *rec, int argc, char **argv)
{
	int err = rvt_perfdata_flush(rec->writer);

	if (!err)
		err = record_add_features(rec, argc, argv);
	if (err)
		rvt_perfdata_abandon(rec->writer);
	else
		err = rvt_perfdata_finish(rec->writer);
	rec->writer = NULL;
	return err ? cmd_error(err, "cannot write %s: %s", rec->path, strerror(-err)) : 0;
}
