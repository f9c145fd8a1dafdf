// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Ranks of MPI: what perf-rvtrace-mpi has in place of tools/perf-plugin/fleet/ranks.c. Errors of
 * MPI are returned and told. That does not make a rank survive another one: the usual launchers end
 * all ranks when one dies, and what is done then is in the spool.
 */
#include <errno.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "common/cmd.h"
#include "fleet/ranks.h"

#define MOMENT_NS 2000000
#define CHUNK (1u << 30)	/* MPI counts in int */
#define TAG 32			/* any number */

static int rank, size = 1;
static MPI_Win window = MPI_WIN_NULL;	/* rank 0's counter */

/* 0, or -EIO after a message. */
static int check(int status, const char *what)
{
	char text[MPI_MAX_ERROR_STRING] = "";
	int len;

	if (status == MPI_SUCCESS)
		return 0;
	MPI_Error_string(status, text, &len);
	return cmd_error(-EIO, "rank %d: %s: %s", rank, what, text);
}

static int make_counter(void)
{
	uint64_t *counter;
	int err = check(MPI_Win_allocate(rank ? 0 : sizeof(*counter), sizeof(*counter),
					 MPI_INFO_NULL, MPI_COMM_WORLD, &counter, &window),
			"making the counter");

	if (err)
		return err;
	MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
	if (!rank)
		*counter = 0;
	/* nobody takes a number before it is there */
	err = check(MPI_Barrier(MPI_COMM_WORLD), "beginning");
	return err ? err : check(MPI_Win_lock_all(MPI_MODE_NOCHECK, window), "opening the counter");
}

int ranks_begin(void)
{
	int provided;

	if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS)
		return cmd_error(-EIO, "MPI cannot be initialised");
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	return make_counter();
}

unsigned int ranks_rank(void)
{
	return rank;
}

unsigned int ranks_size(void)
{
	return size;
}

size_t ranks_next(void)
{
	const uint64_t one = 1;
	uint64_t next;

	if (check(MPI_Fetch_and_op(&one, &next, MPI_UINT64_T, 0, 0, MPI_SUM, window),
		  "taking a number") || check(MPI_Win_flush(0, window), "taking a number"))
		return SIZE_MAX;
	return next;
}

/*
 * MPI goes on only while it is called: where the counter is not in shared memory, rank 0 serves it.
 */
void ranks_wait(void)
{
	int there;

	MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
	nanosleep(&(struct timespec){ .tv_nsec = MOMENT_NS }, NULL);
}

/* Waits without using the processor, which others may decode with. */
static int complete(MPI_Request *request, const char *what)
{
	int done = 0, err = 0;

	while (!err && !done) {
		err = check(MPI_Test(request, &done, MPI_STATUS_IGNORE), what);
		if (!err && !done)
			ranks_wait();
	}
	return err;
}

void ranks_meet(void)
{
	MPI_Request request;

	if (!check(MPI_Ibarrier(MPI_COMM_WORLD, &request), "meeting"))
		complete(&request, "meeting");
}

int ranks_share(char **bytes, size_t *len)
{
	uint64_t n = *len;
	int err = check(MPI_Bcast(&n, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD), "sharing the work");

	if (!err && rank) {
		*len = n;
		*bytes = malloc(n + 1);
	}
	if (!*bytes)
		return err ? err : n ? -ENOMEM : 0;
	for (uint64_t at = 0; at < n && !err; at += CHUNK)
		err = check(MPI_Bcast(*bytes + at, n - at < CHUNK ? n - at : CHUNK, MPI_BYTE, 0,
				      MPI_COMM_WORLD), "sharing the work");
	return err;
}

/* ---- by twos ---- */

static int move(bool out, void *bytes, size_t n, int other)
{
	const char *what = out ? "giving sums" : "taking sums";
	MPI_Request request;
	int status = out ? MPI_Isend(bytes, n, MPI_BYTE, other, TAG, MPI_COMM_WORLD, &request) :
		MPI_Irecv(bytes, n, MPI_BYTE, other, TAG, MPI_COMM_WORLD, &request);

	return check(status, what) ? -EIO : complete(&request, what);
}

static int move_all(bool out, char *bytes, size_t len, int other)
{
	int err = 0;

	for (size_t at = 0; at < len && !err; at += CHUNK)
		err = move(out, bytes + at, len - at < CHUNK ? len - at : CHUNK, other);
	return err;
}

/* Length 0: it has none to give. */
static int give(int to, int (*put)(void *ctx, FILE *out), void *ctx)
{
	char *bytes = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&bytes, &len);
	uint64_t n;
	int err = out ? put(ctx, out) : -ENOMEM, moved;

	if (out && fclose(out) && !err)
		err = -ENOMEM;
	n = err ? 0 : len;
	moved = move(true, &n, sizeof(n), to);
	if (!moved)
		moved = move_all(true, bytes, n, to);
	free(bytes);
	return err ? err : moved;
}

static int take_from(int from, int (*take)(void *ctx, FILE *in), void *ctx)
{
	uint64_t n = 0;
	int err = move(false, &n, sizeof(n), from);
	char *bytes = err ? NULL : malloc(n + 1);
	FILE *in;

	/* what another rank could not give is in the spool still */
	if (err || !n) {
		free(bytes);
		return 0;
	}
	if (!bytes)
		return -ENOMEM;
	err = move_all(false, bytes, n, from);
	in = err ? NULL : fmemopen(bytes, n, "r");
	if (in) {
		err = take(ctx, in);
		fclose(in);
	}
	free(bytes);
	return in ? err : 0;
}

int ranks_collect(int (*put)(void *ctx, FILE *out), int (*take)(void *ctx, FILE *in), void *ctx)
{
	int err = 0;

	for (int step = 1; step < size; step *= 2) {
		if (rank & step)
			return give(rank - step, put, ctx);
		if (rank + step < size && !err)
			err = take_from(rank + step, take, ctx);
	}
	return err;
}

void ranks_end(void)
{
	int finalized = 0;

	if (MPI_Finalized(&finalized) == MPI_SUCCESS && finalized)
		return;
	if (window != MPI_WIN_NULL) {
		MPI_Win_unlock_all(window);
		MPI_Win_free(&window);
	}
	MPI_Finalize();
}
