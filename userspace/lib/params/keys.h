/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Inside params/: the table of keys, by which text and words are read and written. */
#ifndef PARAMS_KEYS_H
#define PARAMS_KEYS_H

#include <stdint.h>
#include <stdio.h>
#include <rvtrace/params.h>

#define NTRACE (1u << RVT_PROTOCOL_NTRACE)
#define ETRACE (1u << RVT_PROTOCOL_ETRACE)
#define BOTH (NTRACE | ETRACE)

/* A value that has a name, in these protocols. Lists of them end in one without a name. */
struct name {
	const char *name;
	unsigned int value;
	unsigned int protocols;
};

enum key_type {
	KEY_NAME,	/* one of names, unsigned int */
	KEY_SET,	/* comma list of names, or-ed into an unsigned int */
	KEY_NUMBER,	/* unsigned int in min..max */
	KEY_ADDRESS,	/* uint64_t */
	/*
	 * comma list of names in bit order, `-` for none: unsigned int[RVT_MAX_IOPTIONS], and how
	 * many before it
	 */
	KEY_IOPTIONS,
	KEY_VECTOR,	/* trap_vector */
	KEY_VECTORS,	/* trap_vector.exception.N and .interrupt.N */
};

struct key {
	const char *name;
	enum key_type type;
	unsigned int protocols;
	size_t offset;		/* in struct rvt_params */
	const struct name *names;
	unsigned int min, max;
	unsigned int word;	/* its number in recordings of perf: see params.h */
};

#define FIELD(f) offsetof(struct rvt_params, f)

/* Key 0 is "protocol", key 1 "dialect"; they stand in the order in which they are printed. */
extern const struct key rvt_params_keys[];
extern const size_t rvt_params_n_keys;

/* Names of the bits of @value, with commas between. */
void rvt_params_print_set(FILE *f, const struct key *key, unsigned int value,
			  unsigned int protocol);

#endif
