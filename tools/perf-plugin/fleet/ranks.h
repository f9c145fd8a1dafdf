/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The processes that share the work of `perf rvtrace fleet`: ranks, as MPI has them. ranks.c knows
 * one; perf-rvtrace-mpi is linked with tools/fleet-mpi/ranks.c in its place. All ranks call
 * ranks_begin(), ranks_share(), ranks_meet(), ranks_collect() and ranks_end(), in this order.
 */
#ifndef PERF_RVTRACE_FLEET_RANKS_H
#define PERF_RVTRACE_FLEET_RANKS_H

#include <stddef.h>
#include <stdio.h>

/* 0, or -errno after a message. */
int ranks_begin(void);
/* From 0 on. */
unsigned int ranks_rank(void);
unsigned int ranks_size(void);
/*
 * All get what rank 0 has: there *@bytes (malloc'd, *@len of them) goes in, elsewhere it comes out.
 * 0, -ENOMEM, or -EIO.
 */
int ranks_share(char **bytes, size_t *len);
/* The next number that no rank has: from 0 on. SIZE_MAX: the counter cannot be reached any more. */
size_t ranks_next(void);
/* Sleeps for a moment, in which others may take numbers. */
void ranks_wait(void);
/* Comes back when all ranks have called it. */
void ranks_meet(void);
/*
 * What all ranks have comes to rank 0, by twos: one writes with @put, the other one adds with @take
 * (0 or -errno). What cannot be had of a rank is left out, after a message. 0 or -errno.
 */
int ranks_collect(int (*put)(void *ctx, FILE *out), int (*take)(void *ctx, FILE *in), void *ctx);
void ranks_end(void);

#endif
