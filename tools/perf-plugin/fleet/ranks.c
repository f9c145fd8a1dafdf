// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Ranks without MPI: this process is the only one. */
#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include "common/cmd.h"
#include "fleet/ranks.h"

#define MOMENT_NS 2000000

static size_t next;

/* Returns whether a launcher of MPI has started several of us: each would do all of the work. */
static bool has_company(void)
{
	static const char *const sizes[] = { "OMPI_COMM_WORLD_SIZE", "PMI_SIZE" };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		const char *size = getenv(sizes[i]);

		if (size && atoi(size) > 1)
			return true;
	}
	return false;
}

int ranks_begin(void)
{
	if (has_company())
		return cmd_error(-EINVAL, "this program knows no MPI: let mpirun or srun start "
				 "'perf-rvtrace-mpi fleet', which `make fleet` builds");
	return 0;
}

unsigned int ranks_rank(void)
{
	return 0;
}

unsigned int ranks_size(void)
{
	return 1;
}

int ranks_share(char **bytes, size_t *len)
{
	(void)bytes, (void)len;
	return 0;
}

size_t ranks_next(void)
{
	return next++;
}

void ranks_wait(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = MOMENT_NS }, NULL);
}

void ranks_meet(void)
{
}

int ranks_collect(int (*put)(void *ctx, FILE *out), int (*take)(void *ctx, FILE *in), void *ctx)
{
	(void)put, (void)take, (void)ctx;
	return 0;
}

void ranks_end(void)
{
}
