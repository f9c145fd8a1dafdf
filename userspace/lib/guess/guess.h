/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Parameters of a trace that came without: candidates are tried on its first bytes. Two things
 * speak for one: messages that make sense by themselves, and code that can be followed by them.
 * Internal to librvtrace and the command.
 *
 * Threads: a guess is made in the thread that calls.
 */
#ifndef RVTRACE_GUESS_H
#define RVTRACE_GUESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <rvtrace/image.h>
#include <rvtrace/params.h>

/* Parameters that somebody has written down. */
struct rvt_guess_chip {
	const char *name;
	struct rvt_params params;
};

struct rvt_guess_input {
	const uint8_t *bytes;		/* the oldest first */
	size_t len;
	/*
	 * The code as it is for RV32 and RV64, spaces of different images; both NULL: none is
	 * given. One of them NULL: it is known to be code for the other.
	 */
	struct rvt_space *space32, *space64;
	const struct rvt_guess_chip *chips;
	size_t n_chips;
};

struct rvt_guess {
	const char *chip;		/* of the input; NULL: none of those */
	struct rvt_params params;
	uint64_t messages;
	uint64_t wrong;			/* damaged, reserved, or of no sense by themselves */
	double wrong_share;		/* of the bytes, idle ones apart: 0 to 1 */
	/* with code: */
	uint64_t insns;			/* that could be followed */
	uint64_t errors;		/* where messages and code contradict each other */
	bool alike;			/* does with this trace what the one before it does */
};

/* How sure the first guess is. */
enum rvt_guess_confidence {
	RVT_GUESS_NONE,		/* no candidate makes sense */
	RVT_GUESS_UNSURE,	/* others are as good, or there are errors */
	RVT_GUESS_LIKELY,	/* no errors, but it is little that was looked at; or few errors */
	RVT_GUESS_SURE,		/* the code was followed far, without an error, by no other one */
};

#define RVT_GUESS_MAX 512

/*
 * rvt_guess - the candidates worth naming, the best first, in a malloc'd array *@guesses of *@n.
 * *@confidence is about the first one. Of candidates that do the same with this trace one of each
 * dialect is kept, a chip before others. Returns 0 or -ENOMEM.
 */
int rvt_guess(const struct rvt_guess_input *input, struct rvt_guess **guesses, size_t *n,
	      enum rvt_guess_confidence *confidence);

/* ---- between the files of the guess ---- */

/* What messages say by themselves. */
struct rvt_guess_reading {
	uint64_t messages, wrong;
	uint64_t bytes, wrong_bytes;	/* without idle ones */
	bool timestamps;		/* N-Trace: there are some */
};

/* Read @bytes by @params, which are of that protocol. Return 0, -EINVAL or -ENOMEM. */
int rvt_guess_read_ntrace(const struct rvt_params *params, const uint8_t *bytes, size_t len,
			  struct rvt_guess_reading *result);
int rvt_guess_read_etrace(const struct rvt_params *params, const uint8_t *bytes, size_t len,
			  struct rvt_guess_reading *result);
/*
 * What CoreSight frames in @bytes have of the trace id with most bytes, in a malloc'd *@out.
 * Returns 0 or -ENOMEM.
 */
int rvt_guess_deframe(const uint8_t *bytes, size_t len, uint8_t **out, size_t *out_len);
/* The same of what an ESP32 wrote; *@skipped: bytes that belong to no packet. */
int rvt_guess_unpack(const uint8_t *bytes, size_t len, uint8_t **out, size_t *out_len,
		     size_t *skipped);

#endif
