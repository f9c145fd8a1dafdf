// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* How much of the trace the driver copies: nothing, where a sink can write into the AUX buffer. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "common.h"

#define AUX_SIZE (128u << 10)
#define BRANCHES 2000000ul

/* Over all RAM sinks */
static uint64_t bytes(const char *what)
{
	uint64_t sum = 0;

	for (int i = 0; i < 64; i++) {
		const char *line = read_line(BUS_DIR "/ramsink-%d/%s", i, what);

		sum += line ? strtoull(line, NULL, 10) : 0;
	}
	return sum;
}

/* A sink of its own for each encoder, which writes to system memory and can stop when it is full */
static bool direct(void)
{
	const char *line = read_line(BUS_DIR "/encoder-0/src_bits");

	if (!line || strcmp(line, "0"))
		return false;
	line = read_line(BUS_DIR "/ramsink-0/memory");
	if (!line || strcmp(line, "smem"))
		return false;
	line = read_line(BUS_DIR "/ramsink-0/stop_on_wrap");
	return line && !strcmp(line, "1");
}

static void check_copies(const char *name, uint64_t traced, uint64_t copied)
{
	if (direct())
		tap_check(traced && !copied, "%s: %llu bytes traced, %llu copied", name,
			  (unsigned long long)traced, (unsigned long long)copied);
	else
		tap_check(traced && copied == traced,
			  "%s: other hardware: %llu bytes traced, %llu copied", name,
			  (unsigned long long)traced, (unsigned long long)copied);
}

/*
 * Idle bytes between messages: all ones, which no message begins with (N-Trace 1.0, 3.4). A byte
 * whose two lowest bits are set ends a message or is idle.
 */
static size_t idle_bytes(const struct recording *rec)
{
	size_t idle = 0;

	for (size_t i = 1; i < rec->n_bytes; i++)
		if (rec->bytes[i] == 0xff && (rec->bytes[i - 1] & 3) == 3)
			idle++;
	return idle;
}

/* More than once round the AUX buffer; how often depends on how fast the machine reads */
static void test_round(void)
{
	uint64_t traced = bytes("traced_bytes"), copied = bytes("copied_bytes");
	struct perf_event_attr attr;
	struct recording rec;
	struct messages m;
	int go, ret, status;
	size_t idle;
	pid_t pid;

	attr_init(&attr, 0);
	pid = fork_child(BRANCHES, &go);
	ret = recording_open(&rec, &attr, pid, -1, AUX_SIZE);
	if (!ret)
		ret = recording_enable(&rec);
	start_child(go);
	if (!tap_check(!ret, "round: opened (%d)", ret)) {
		waitpid(pid, &status, 0);
		return;
	}
	while (!waitpid(pid, &status, WNOHANG)) {
		recording_read(&rec, true);
		usleep(500);
	}
	recording_read(&rec, false);
	messages_count(&rec, &m);
	traced = bytes("traced_bytes") - traced;
	copied = bytes("copied_bytes") - copied;
	tap_note("round: %zu bytes in %u records, %u partial, %u truncated, %u messages",
		 rec.n_bytes, rec.records, rec.partial, rec.truncated, m.n);
	/*
	 * A stretch that follows a loss begins in the midst of a message, if the sink goes round.
	 */
	tap_check(m.n && (m.whole || rec.partial), "round: whole messages");
	/*
	 * The driver fills what is too small for the sink with idle bytes: how much depends on
	 * where records end, and on the pieces that the buffer's memory is in. A full AUX buffer
	 * takes less than there is. Behind a message that a loss cut off, the first idle byte is
	 * not seen as one.
	 */
	idle = idle_bytes(&rec);
	tap_check(rec.n_bytes > AUX_SIZE && (rec.truncated || rec.n_bytes >= traced) &&
		  rec.n_bytes - idle <= traced + rec.partial,
		  "round: every byte once: %zu recorded, %zu of them idle, %llu traced",
		  rec.n_bytes, idle, (unsigned long long)traced);
	check_copies("round", traced, copied);
	recording_close(&rec);
}

static void test_overwrite(void)
{
	uint64_t traced = bytes("traced_bytes"), copied = bytes("copied_bytes");
	struct perf_event_attr attr;
	struct recording rec;
	struct messages m;
	int ret;

	attr_init(&attr, 0);
	ret = recording_open_overwrite(&rec, &attr, 0, -1, AUX_SIZE);
	if (!tap_check(!ret, "overwrite: opened (%d)", ret))
		return;
	recording_enable(&rec);
	work(BRANCHES);
	recording_disable(&rec);
	recording_snapshot(&rec);
	messages_count(&rec, &m);
	tap_check(m.whole && m.syncs && rec.page->aux_head > AUX_SIZE,
		  "overwrite: %u messages, head %llu", m.n, (unsigned long long)rec.page->aux_head);
	check_copies("overwrite", bytes("traced_bytes") - traced, bytes("copied_bytes") - copied);
	recording_close(&rec);
}

int main(void)
{
	require_pmu();
	if (!read_line(BUS_DIR "/ramsink-0/traced_bytes"))
		tap_skip_all("no RAM sink");
	tap_plan(7);
	test_round();
	test_overwrite();
	tap_end();
}
