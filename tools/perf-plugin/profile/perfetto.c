// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Calls over time in Perfetto's own format: a track for each thread, below its process, and one for
 * each cpu with the threads that it ran. Packets are written as they are made, and a name with the
 * first packet that uses it, so that memory grows only with the number of names.
 */
#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include "common/cmd.h"
#include "profile/profile.h"

#ifdef HAVE_PROTOBUF
#include "perfetto.pb-c.h"
#include "profile/protobuf.h"
#include "profile/timeline.h"

#define SEQUENCE 1	/* all packets are of one writer */
#define MAX_CPUS 4096

/* The upper half of a track's id says what the lower half is the number of. */
enum { TRACK_PROCESS = 1, TRACK_THREAD, TRACK_CPU };

/* .name first, for tsearch(). */
struct interned {
	const char *name;
	uint64_t iid;
};

/* What a cpu runs. */
struct cpu_track {
	bool known, running;
	int32_t tid;
	uint64_t last;		/* time of its last event */
};

struct perfetto {
	struct timeline timeline;
	FILE *out;
	void *names;		/* tsearch tree of struct interned */
	uint64_t n_names;
	bool any;
	struct cpu_track *cpus;
};

static uint64_t track_of(unsigned int kind, int32_t number)
{
	return (uint64_t)kind << 32 | (uint32_t)number;
}

/* Writes a trace of one packet: concatenated traces are one trace. */
static int put(struct perfetto *perfetto, Perfetto__TracePacket *packet)
{
	Perfetto__TracePacket *packets[] = { packet };
	Perfetto__Trace trace = PERFETTO__TRACE__INIT;

	packet->has_trusted_packet_sequence_id = true;
	packet->trusted_packet_sequence_id = SEQUENCE;
	packet->has_sequence_flags = true;
	packet->sequence_flags =
		PERFETTO__TRACE_PACKET__SEQUENCE_FLAGS__SEQ_NEEDS_INCREMENTAL_STATE;
	if (!perfetto->any)
		packet->sequence_flags |=
			PERFETTO__TRACE_PACKET__SEQUENCE_FLAGS__SEQ_INCREMENTAL_STATE_CLEARED;
	perfetto->any = true;
	trace.n_packet = 1;
	trace.packet = packets;
	return protobuf_put(&trace.base, perfetto->out);
}

static int compare_names(const void *a, const void *b)
{
	const struct interned *x = a, *y = b;

	return strcmp(x->name, y->name);
}

/*
 * Sets *@iid to the number of @name, and *@is_new if the packet must define it. Returns 0 or
 * -ENOMEM.
 */
static int intern(struct perfetto *perfetto, const char *name, uint64_t *iid, bool *is_new)
{
	struct interned key = { name, 0 }, *interned;
	struct interned **found = tfind(&key, &perfetto->names, compare_names);

	*is_new = !found;
	if (found) {
		*iid = (*found)->iid;
		return 0;
	}
	interned = malloc(sizeof(*interned));
	if (!interned)
		return -ENOMEM;
	*interned = (struct interned){ strdup(name), ++perfetto->n_names };
	*iid = interned->iid;
	if (interned->name && tsearch(interned, &perfetto->names, compare_names))
		return 0;
	free((char *)interned->name);
	free(interned);
	return -ENOMEM;
}

static void free_interned(void *data)
{
	struct interned *interned = data;

	free((char *)interned->name);
	free(interned);
}

/* Writes the beginning of a slice, or with @name NULL the end of one. */
static int put_event(struct perfetto *perfetto, uint64_t track, uint64_t time, const char *name)
{
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
	Perfetto__TrackEvent event = PERFETTO__TRACK_EVENT__INIT;
	Perfetto__InternedData data = PERFETTO__INTERNED_DATA__INIT;
	Perfetto__EventName event_name = PERFETTO__EVENT_NAME__INIT;
	Perfetto__EventName *event_names[] = { &event_name };
	bool is_new = false;

	packet.has_timestamp = true;
	packet.timestamp = time;
	packet.track_event = &event;
	event.has_track_uuid = event.has_type = true;
	event.track_uuid = track;
	event.type = name ? PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN :
		PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_END;
	if (name && intern(perfetto, name, &event.name_iid, &is_new))
		return -ENOMEM;
	event.has_name_iid = !!name;
	if (is_new) {
		event_name.has_iid = true;
		event_name.iid = event.name_iid;
		event_name.name = (char *)name;
		data.n_event_names = 1;
		data.event_names = event_names;
		packet.interned_data = &data;
	}
	return put(perfetto, &packet);
}

/* ---- threads ---- */

static int put_process(struct perfetto *perfetto, const struct timeline_thread *thread)
{
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
	Perfetto__TrackDescriptor track = PERFETTO__TRACK_DESCRIPTOR__INIT;
	Perfetto__ProcessDescriptor process = PERFETTO__PROCESS_DESCRIPTOR__INIT;

	packet.track_descriptor = &track;
	track.has_uuid = process.has_pid = true;
	track.uuid = track_of(TRACK_PROCESS, thread->pid);
	track.process = &process;
	process.pid = thread->pid;
	if (thread->pid == thread->tid)
		process.process_name = (char *)thread->comm;
	return put(perfetto, &packet);
}

static int put_thread(void *ctx, const struct timeline_thread *thread)
{
	struct perfetto *perfetto = ctx;
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
	Perfetto__TrackDescriptor track = PERFETTO__TRACK_DESCRIPTOR__INIT;
	Perfetto__ThreadDescriptor descriptor = PERFETTO__THREAD_DESCRIPTOR__INIT;
	int err = put_process(perfetto, thread);

	packet.track_descriptor = &track;
	track.has_uuid = track.has_parent_uuid = true;
	track.uuid = track_of(TRACK_THREAD, thread->tid);
	track.parent_uuid = track_of(TRACK_PROCESS, thread->pid);
	track.thread = &descriptor;
	descriptor.has_pid = descriptor.has_tid = true;
	descriptor.pid = thread->pid;
	descriptor.tid = thread->tid;
	descriptor.thread_name = (char *)thread->comm;
	return err ? err : put(perfetto, &packet);
}

static int put_begin(void *ctx, const struct timeline_thread *thread,
		     const struct timeline_slice *slice)
{
	return put_event(ctx, track_of(TRACK_THREAD, thread->tid), slice->begin, slice->name);
}

static int put_end(void *ctx, const struct timeline_thread *thread,
		   const struct timeline_slice *slice, uint64_t time)
{
	(void)slice;
	return put_event(ctx, track_of(TRACK_THREAD, thread->tid), time, NULL);
}

/* ---- cpus ---- */

static int put_cpu(struct perfetto *perfetto, int32_t cpu)
{
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
	Perfetto__TrackDescriptor track = PERFETTO__TRACK_DESCRIPTOR__INIT;
	char name[24];

	snprintf(name, sizeof(name), "cpu %d", cpu);
	packet.track_descriptor = &track;
	track.has_uuid = true;
	track.uuid = track_of(TRACK_CPU, cpu);
	track.name = name;
	return put(perfetto, &packet);
}

/* Writes who runs from now on; with @comm NULL, nobody known. */
static int put_switch(struct perfetto *perfetto, int32_t cpu, uint64_t time, int32_t tid,
		      const char *comm)
{
	struct cpu_track *track = &perfetto->cpus[cpu];
	char name[128];
	int err = 0;

	if (time < track->last)
		time = track->last;
	track->last = time;
	if (track->running == !!comm && (!comm || track->tid == tid))
		return 0;
	if (!track->known)
		err = put_cpu(perfetto, cpu);
	track->known = true;
	if (!err && track->running)
		err = put_event(perfetto, track_of(TRACK_CPU, cpu), time, NULL);
	track->running = !!comm;
	track->tid = tid;
	if (err || !comm)
		return err;
	snprintf(name, sizeof(name), "%s %d", comm, tid);
	return put_event(perfetto, track_of(TRACK_CPU, cpu), time, name);
}

static int perfetto_after(void *ctx, struct rvt_hart_flow *hart,
			  const struct rvt_transfer *transfer, struct rvt_callstack *stack,
			  size_t ended)
{
	struct perfetto *perfetto = ctx;
	int err = 0;

	(void)transfer;
	if (hart->cpu >= 0 && hart->cpu < MAX_CPUS)
		err = put_switch(perfetto, hart->cpu, hart->time, hart->task ? hart->task->tid : 0,
				 hart->task ? places_comm(perfetto->timeline.places, hart) : NULL);
	return err ? err : timeline_after(&perfetto->timeline, hart, stack, ended);
}

/* ---- the format ---- */

void *perfetto_create(struct places *places, const struct rvt_session_options *options, FILE *out)
{
	struct perfetto *perfetto = calloc(1, sizeof(*perfetto));

	(void)options;
	if (!perfetto)
		return NULL;
	perfetto->timeline = (struct timeline){
		.places = places,
		.ops = { .ctx = perfetto, .thread = put_thread, .begin = put_begin,
			 .end = put_end },
	};
	perfetto->out = out;
	perfetto->cpus = calloc(MAX_CPUS, sizeof(*perfetto->cpus));
	if (!perfetto->cpus) {
		free(perfetto);
		return NULL;
	}
	return perfetto;
}

void perfetto_ops(struct rvt_transfers_ops *ops)
{
	ops->after = perfetto_after;
}

int perfetto_write(void *data, const char *name, const char *dso, FILE *out)
{
	struct perfetto *perfetto = data;
	int err = timeline_end(&perfetto->timeline);

	(void)name;
	(void)dso;
	(void)out;
	for (int32_t cpu = 0; cpu < MAX_CPUS && !err; cpu++)
		err = put_switch(perfetto, cpu, 0, 0, NULL);
	return err;
}

void perfetto_destroy(void *data)
{
	struct perfetto *perfetto = data;

	perfetto->timeline.ops = (struct timeline_ops){ 0 };
	timeline_end(&perfetto->timeline);
	tdestroy(perfetto->names, free_interned);
	free(perfetto->cpus);
	free(perfetto);
}
#else
void *perfetto_create(struct places *places, const struct rvt_session_options *options, FILE *out)
{
	(void)places, (void)options, (void)out;
	cmd_error(0, "the format perfetto needs protobuf-c: install libprotobuf-c-dev and "
		     "protobuf-c-compiler, and build again");
	return NULL;
}

void perfetto_ops(struct rvt_transfers_ops *ops)
{
	(void)ops;
}

int perfetto_write(void *data, const char *name, const char *dso, FILE *out)
{
	(void)data, (void)name, (void)dso, (void)out;
	return -ENOTSUP;
}

void perfetto_destroy(void *data)
{
	(void)data;
}
#endif
