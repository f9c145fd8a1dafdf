/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Ground truth: every retired instruction of one hart, in order, as the emulator executed it.
 *
 * File: a zstd stream of records. Integers are LEB128; a record starts with one tag byte.
 *	HEADER	'R' "VTTRUTH" version(1) hart		first record, once
 *	BLOCK	'B' pc n halfwords[n]			defines the next block id (0, 1, ...);
 *							one byte per instruction: its 16-bit units
 *	RUN	'r' id					all instructions of the block retired
 *	PART	'p' id first count			only these did (left early, or entered late)
 *	STATE	's' prv|v<<2 flags scontext hcontext	holds for what follows
 *	TRAP	't' interrupt cause epc tval handler	nothing retired by this
 *	ON	'+' sequence time			the encoder began tracing here (InstTracing
 *							and filters); sequence grows over all harts
 *	OFF	'-' sequence time reason		it stopped here
 *	LOST	'l' / FOUND 'f'				nothing between was passed on: the encoder
 *							dropped messages; OFF ends it, too
 *	END	'e'					clean end of file
 */
#ifndef RVTRACE_TRUTH_H
#define RVTRACE_TRUTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <rvtrace/linkage.h>

RVT_BEGIN_DECLS

enum rvt_truth_type {
	RVT_TRUTH_INSNS,	/* instructions retired */
	RVT_TRUTH_STATE,
	RVT_TRUTH_TRAP,
	RVT_TRUTH_ON,
	RVT_TRUTH_OFF,
	RVT_TRUTH_LOST,
	RVT_TRUTH_FOUND,
};

struct rvt_truth_record {
	enum rvt_truth_type type;
	/* INSNS: valid until the next call */
	uint64_t pc;			/* of the first */
	uint32_t count;
	const uint8_t *halfwords;	/* of each */
	/* STATE */
	uint8_t prv, v;
	uint64_t scontext, hcontext;
	/* TRAP */
	bool interrupt;
	uint64_t cause, epc, tval, handler;
	/* ON, OFF */
	uint64_t sequence, time, reason;
};

struct rvt_truth_writer;
struct rvt_truth_reader;

/* Returns 0 or -errno. The writer buffers; close() appends END and makes the file complete. */
int rvt_truth_create(const char *path, unsigned int hart, struct rvt_truth_writer **writer);
/* Registers a block; returns its id (>= 0) or -errno. @halfwords: one byte per instruction. */
int64_t rvt_truth_block(struct rvt_truth_writer *writer, uint64_t pc, const uint8_t *halfwords,
			uint32_t n);
/* The whole block retired. Returns 0, -EINVAL (no such block), -EIO, -ENOMEM. */
int rvt_truth_run(struct rvt_truth_writer *writer, uint64_t id);
/* Only @count instructions of it did, beginning with number @first. */
int rvt_truth_part(struct rvt_truth_writer *writer, uint64_t id, uint32_t first, uint32_t count);
/*
 * The encoder has passed on all that was written so far: a LOST record that comes before the next
 * mark goes here, not where it is written. What follows stays in memory until the next mark, OFF or
 * LOST. ON is a mark.
 */
int rvt_truth_mark(struct rvt_truth_writer *writer);
/* STATE, TRAP, ON, OFF, LOST, FOUND. */
int rvt_truth_write(struct rvt_truth_writer *writer, const struct rvt_truth_record *record);
/* Makes all that was written so far readable (a zstd frame boundary). */
int rvt_truth_flush(struct rvt_truth_writer *writer);
int rvt_truth_close(struct rvt_truth_writer *writer);

/* Returns 0, -ENOENT, -EBADMSG (not a truth file, other version), -ENOMEM. */
int rvt_truth_open(const char *path, struct rvt_truth_reader **reader, unsigned int *hart);
/* Returns 1 with a record, 0 at the end, -EBADMSG for a damaged or incomplete file. */
int rvt_truth_next(struct rvt_truth_reader *reader, struct rvt_truth_record *record);
void rvt_truth_reader_close(struct rvt_truth_reader *reader);

RVT_END_DECLS

#endif
