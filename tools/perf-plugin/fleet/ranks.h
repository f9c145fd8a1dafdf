/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Ranks, as in MPI: the processes that share the work of `perf rvtrace fleet`. ranks.c has one;
 * perf-rvtrace-mpi is linked with tools/fleet-mpi/ranks.c instead. All ranks call ranks_begin(),
 * ranks_share(), ranks_meet(), ranks_collect() and ranks_end(), in this order.
 */
#ifndef PERF_RVTRACE_FLEET_RANKS_H
#define PERF_RVTRACE_FLEET_RANKS_H

#include <stddef.h>
#include <stdio.h>

/* Returns 0, or -errno after a message. */
int ranks_begin(void);
/* Returns the number of this rank, from 0 on. */
unsigned int ranks_rank(void);
unsigned int ranks_size(void);
/*
 * Copies *@bytes (malloc'd, *@len of them) of rank 0 to *@bytes of all others. Returns 0, -ENOMEM,
 * or -EIO.
 */
int ranks_share(char **bytes, size_t *len);
/*
 * Returns the next number that no rank has, from 0 on. SIZE_MAX: the counter cannot be reached any
 * more.
 */
size_t ranks_next(void);
/* Sleeps for a moment, in which other ranks may take numbers. */
void ranks_wait(void);
/* Returns when all ranks have called it. */
void ranks_meet(void);
/*
 * Collects the results of all ranks in rank 0, in pairs: one rank writes with @put, the other adds
 * with @take (0 or -errno). Leaves out, after a message, what it cannot get from a rank. Returns 0
 * or -errno.
 */
int ranks_collect(int (*put)(void *ctx, FILE *out), int (*take)(void *ctx, FILE *in), void *ctx);
void ranks_end(void);

#endif
