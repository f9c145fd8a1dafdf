// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Decoder parameters: defaults, parser and printer, all driven by one table of keys.
 */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rvtrace/insn.h>
#include "params/params.h"
#include "util/array.h"

#define NTRACE (1u << RVT_PROTOCOL_NTRACE)
#define ETRACE (1u << RVT_PROTOCOL_ETRACE)
#define BOTH (NTRACE | ETRACE)

/* Some milliseconds of a busy loop without interrupts; followed in less than a second. */
#define BRANCH_COUNT_LIMIT (1u << 25)

/* Measured on a P550: the counter of calls saturates there. */
#define SIFIVE_RETURN_STACK_DEPTH 1023

/* Options of E-Trace that N-Trace has in one dialect. */
#define OF_CTTE (RVT_OPT_BRANCH_PREDICTION | RVT_OPT_JUMP_TARGET_CACHE)

struct name {
	const char *name;
	unsigned int value;
	unsigned int protocols;
};

static const struct name protocol_names[] = {
	{ "ntrace", RVT_PROTOCOL_NTRACE, BOTH },
	{ "etrace", RVT_PROTOCOL_ETRACE, BOTH },
	{}
};

static const struct name dialect_names[] = {
	{ "1.0.0_rc7", RVT_DIALECT_NTRACE_RC7, NTRACE },
	{ "1.0", RVT_DIALECT_NTRACE_1_0, NTRACE },
	{ "sifive", RVT_DIALECT_NTRACE_SIFIVE, NTRACE },
	{ "ctte", RVT_DIALECT_NTRACE_CTTE, NTRACE },
	{ "0.029", RVT_DIALECT_ETRACE_0_029, ETRACE },
	{ "2.0", RVT_DIALECT_ETRACE_2_0, ETRACE },
	{ "2.0.5", RVT_DIALECT_ETRACE_2_0_5, ETRACE },
	{ "esp32", RVT_DIALECT_ETRACE_ESP32, ETRACE },
	{}
};

static const struct name mode_names[] = {
	{ "btm", RVT_MODE_BTM, BOTH },
	{ "htm", RVT_MODE_HTM, BOTH },
	{ "auto", RVT_MODE_AUTO, BOTH },
	{}
};

static const struct name timestamp_names[] = {
	{ "none", RVT_TIMESTAMP_NONE, BOTH },
	{ "delta", RVT_TIMESTAMP_DELTA, BOTH },
	{ "xor", RVT_TIMESTAMP_XOR, BOTH },
	{}
};

static const struct name framing_names[] = {
	{ "none", RVT_FRAMING_NONE, BOTH },
	{ "coresight", RVT_FRAMING_CORESIGHT, BOTH },
	{ "esp32", RVT_FRAMING_ESP32, ETRACE },
	{}
};

static const struct name jump_cache_index_names[] = {
	{ "target", RVT_JUMP_CACHE_TARGET, BOTH },
	{ "source", RVT_JUMP_CACHE_SOURCE, BOTH },
	{ "hash", RVT_JUMP_CACHE_HASH, BOTH },
	{}
};

static const struct name jump_cache_returns_names[] = {
	{ "none", RVT_JUMP_CACHE_NO_RETURNS, BOTH },
	{ "mispredicted", RVT_JUMP_CACHE_MISPREDICTED, BOTH },
	{ "all", RVT_JUMP_CACHE_ALL_RETURNS, BOTH },
	{}
};

static const struct name context_packet_context_names[] = {
	{ "always", RVT_CONTEXT_PACKET_ALWAYS, BOTH },
	{ "as_others", RVT_CONTEXT_PACKET_AS_OTHERS, BOTH },
	{}
};

static const struct name context_packet_returns_names[] = {
	{ "keep", RVT_CONTEXT_PACKET_KEEPS, BOTH },
	{ "clear", RVT_CONTEXT_PACKET_CLEARS, BOTH },
	{}
};

static const struct name trap_address_names[] = {
	{ "handler", RVT_TRAP_ADDRESS_HANDLER, BOTH },
	{ "undefined", RVT_TRAP_ADDRESS_UNDEFINED, BOTH },
	{}
};

static const struct name data_packets_names[] = {
	{ "type", RVT_DATA_PACKETS_TYPE, BOTH },
	{ "all", RVT_DATA_PACKETS_ALL, BOTH },
	{}
};

static const struct name data_compression_names[] = {
	{ "both", RVT_DATA_COMPRESSION_BOTH, BOTH },
	{ "xor", RVT_DATA_COMPRESSION_XOR, BOTH },
	{ "difference", RVT_DATA_COMPRESSION_DIFFERENCE, BOTH },
	{}
};

static const struct name data_operands_names[] = {
	{ "tables", RVT_DATA_OPERANDS_TABLES, BOTH },
	{ "full", RVT_DATA_OPERANDS_FULL, BOTH },
	{}
};

static const struct name data_address_names[] = {
	{ "full", RVT_DATA_ADDRESS_FULL, BOTH },
	{ "xor", RVT_DATA_ADDRESS_XOR, BOTH },
	{}
};

static const struct name xlen_names[] = {
	{ "32", 32, BOTH },
	{ "64", 64, BOTH },
	{}
};

/* `isa =` lists extensions; the width comes from xlen. */
static const struct name isa_names[] = {
	{ "zcmp", RVT_ISA_ZCMP, BOTH },
	{ "zcmt", RVT_ISA_ZCMT, BOTH },
	{ "x1_link", RVT_ISA_X1_LINK, BOTH },
	{}
};

static const struct name option_names[] = {
	{ "implicit_return", RVT_OPT_IMPLICIT_RETURN, BOTH },
	{ "sequential_jump", RVT_OPT_SEQUENTIAL_JUMP, BOTH },
	{ "repeated_history", RVT_OPT_REPEATED_HISTORY, NTRACE },
	{ "all_jumps", RVT_OPT_ALL_JUMPS, NTRACE },
	{ "extend_address_msb", RVT_OPT_EXTEND_ADDRESS_MSB, NTRACE },
	{ "implicit_exception", RVT_OPT_IMPLICIT_EXCEPTION, ETRACE },
	{ "branch_prediction", RVT_OPT_BRANCH_PREDICTION, BOTH },
	{ "jump_target_cache", RVT_OPT_JUMP_TARGET_CACHE, BOTH },
	{ "full_address", RVT_OPT_FULL_ADDRESS, ETRACE },
	{ "data_no_address", RVT_OPT_DATA_NO_ADDRESS, ETRACE },
	{ "data_no_value", RVT_OPT_DATA_NO_VALUE, ETRACE },
	{ "multi_access", RVT_OPT_MULTI_ACCESS, ETRACE },
	{}
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
#define NUMBER(f, lo, hi, word) { #f, KEY_NUMBER, ETRACE, FIELD(f), NULL, lo, hi, word }

_Static_assert(sizeof(enum rvt_protocol) == sizeof(unsigned int), "KEY_NAME stores unsigned int");
_Static_assert(FIELD(n_ioptions) + sizeof(unsigned int) == FIELD(ioptions), "KEY_IOPTIONS");
_Static_assert(FIELD(n_doptions) + sizeof(unsigned int) == FIELD(doptions), "KEY_IOPTIONS");

static const struct key keys[] = {
	{ "protocol", KEY_NAME, BOTH, FIELD(protocol), protocol_names, 0, 0, 0 },
	{ "dialect", KEY_NAME, BOTH, FIELD(dialect), dialect_names, 0, 0, 1 },
	{ "xlen", KEY_NAME, BOTH, FIELD(xlen), xlen_names, 0, 0, 2 },
	{ "isa", KEY_SET, BOTH, FIELD(isa), isa_names, 0, 0, 3 },
	{ "jvt", KEY_ADDRESS, BOTH, FIELD(jvt), NULL, 0, 0, 4 },
	{ "options", KEY_SET, BOTH, FIELD(options), option_names, 0, 0, 5 },
	{ "framing", KEY_NAME, BOTH, FIELD(framing), framing_names, 0, 0, 40 },
	{ "atid", KEY_NUMBER, BOTH, FIELD(atid), NULL, 0, 0x6f, 41 },
	{ "mode", KEY_NAME, NTRACE, FIELD(mode), mode_names, 0, 0, 6 },
	{ "src_bits", KEY_NUMBER, NTRACE, FIELD(src_bits), NULL, 0, 12, 7 },
	{ "address_bits", KEY_NUMBER, NTRACE, FIELD(address_bits), NULL, 0, 64, 42 },
	{ "timestamp", KEY_NAME, NTRACE, FIELD(timestamp), timestamp_names, 0, 0, 8 },
	{ "implicit_return_mode", KEY_NUMBER, NTRACE, FIELD(implicit_return_mode), NULL, 0, 3, 9 },
	{ "return_stack_depth", KEY_NUMBER, BOTH, FIELD(return_stack_depth), NULL, 0, 65536, 32 },
	NUMBER(iaddress_width_p, 8, 64, 10),
	NUMBER(iaddress_lsb_p, 0, 2, 11),
	NUMBER(context_width_p, 0, 64, 12),
	NUMBER(nocontext_p, 0, 1, 13),
	NUMBER(time_width_p, 0, 64, 14),
	NUMBER(notime_p, 0, 1, 15),
	NUMBER(privilege_width_p, 1, 8, 16),
	NUMBER(ecause_width_p, 1, 64, 17),
	NUMBER(f0s_width_p, 0, 8, 18),
	NUMBER(bpred_size_p, 0, 20, 19),
	NUMBER(cache_size_p, 0, 20, 20),
	NUMBER(return_stack_size_p, 0, 16, 21),
	NUMBER(call_counter_size_p, 0, 16, 22),
	NUMBER(sijump_p, 0, 1, 23),
	NUMBER(arch_p, 0, 255, 43),
	NUMBER(encoder_mode_bits, 0, 32, 24),
	{ "ioptions", KEY_IOPTIONS, ETRACE, FIELD(ioptions), option_names, 0, 0, 25 },
	NUMBER(doptions_bits, 0, 64, 26),
	NUMBER(srcid_bits, 0, 16, 27),
	NUMBER(timestamp_bytes, 0, 8, 28),
	NUMBER(type_bits, 0, 8, 29),
	NUMBER(type_instruction, 0, 255, 30),
	NUMBER(support_time_bits, 2, 3, 31),
	NUMBER(branch_count_limit, 0, 0xffffffff, 33),
	{ "jump_cache_index", KEY_NAME, ETRACE, FIELD(jump_cache_index),
	  jump_cache_index_names, 0, 0, 34 },
	{ "jump_cache_returns", KEY_NAME, ETRACE, FIELD(jump_cache_returns),
	  jump_cache_returns_names, 0, 0, 35 },
	{ "context_packet_context", KEY_NAME, ETRACE, FIELD(context_packet_context),
	  context_packet_context_names, 0, 0, 36 },
	{ "context_packet_returns", KEY_NAME, ETRACE, FIELD(context_packet_returns),
	  context_packet_returns_names, 0, 0, 37 },
	NUMBER(data_width_p, 0, 64, 44),
	NUMBER(daddress_width_p, 0, 64, 45),
	NUMBER(lrid_width_p, 0, 8, 46),
	NUMBER(dtype_width_p, 0, 4, 47),
	{ "data_packets", KEY_NAME, ETRACE, FIELD(data_packets), data_packets_names, 0, 0, 48 },
	NUMBER(type_data, 0, 255, 49),
	{ "data_compression", KEY_NAME, ETRACE, FIELD(data_compression), data_compression_names,
	  0, 0, 50 },
	{ "data_operands", KEY_NAME, ETRACE, FIELD(data_operands), data_operands_names, 0, 0, 51 },
	{ "doptions", KEY_IOPTIONS, ETRACE, FIELD(doptions), option_names, 0, 0, 52 },
	{ "data_address", KEY_NAME, NTRACE, FIELD(data_address), data_address_names, 0, 0, 53 },
	{ "trap_address", KEY_NAME, ETRACE, FIELD(trap_address), trap_address_names, 0, 0, 38 },
	{ "trap_vector", KEY_VECTOR, ETRACE, 0, NULL, 0, 0, 39 },
	{ "trap_vector.exception.", KEY_VECTORS, ETRACE, FIELD(vectors.exception), NULL, 0, 0,
	  0x100 },
	{ "trap_vector.interrupt.", KEY_VECTORS, ETRACE, FIELD(vectors.interrupt), NULL, 0, 0,
	  0x200 },
};

#define N_KEYS (sizeof(keys) / sizeof(keys[0]))

/* What recordings, and files of chips, say besides, which is no matter for a decoder. */
static const char *const passed_over[] = { "cpu", "src", "timestamp_frequency", "compatible" };

static void set_defaults(struct rvt_params *params, enum rvt_protocol protocol,
			 enum rvt_dialect dialect)
{
	memset(params, 0, sizeof(*params));
	params->size = sizeof(*params);
	params->protocol = protocol;
	params->dialect = dialect;
	params->xlen = 64;
	if (dialect == RVT_DIALECT_NTRACE_SIFIVE) {
		params->timestamp = RVT_TIMESTAMP_XOR;
		params->implicit_return_mode = 1;
		params->return_stack_depth = SIFIVE_RETURN_STACK_DEPTH;
	}
	if (protocol != RVT_PROTOCOL_ETRACE)
		return;
	params->iaddress_width_p = 32;
	params->iaddress_lsb_p = 1;
	params->context_width_p = 1;
	params->nocontext_p = dialect != RVT_DIALECT_ETRACE_0_029;
	params->time_width_p = 1;
	params->notime_p = 1;
	params->privilege_width_p = dialect == RVT_DIALECT_ETRACE_0_029 ? 3 : 2;
	params->ecause_width_p = 4;
	params->encoder_mode_bits = dialect == RVT_DIALECT_ETRACE_2_0_5 ? 2 : 1;
	params->support_time_bits = 2;
	params->jump_cache_returns = RVT_JUMP_CACHE_MISPREDICTED;
	params->branch_count_limit = BRANCH_COUNT_LIMIT;
	if (dialect == RVT_DIALECT_ETRACE_ESP32) {
		params->framing = RVT_FRAMING_ESP32;
		params->xlen = 32;
		params->options = RVT_OPT_FULL_ADDRESS;
		params->privilege_width_p = 1;
		params->ecause_width_p = 5;
		params->encoder_mode_bits = 0;
	}
}

int rvt_params_set_defaults(struct rvt_params *params, enum rvt_protocol protocol,
			    enum rvt_dialect dialect)
{
	struct rvt_params full;

	set_defaults(&full, protocol, dialect);
	return sized_fill(params, &full, sizeof(full));
}

/* ---- parser ---- */

struct parser {
	struct rvt_params *params;
	const char *name;
	unsigned int line;
	bool protocol_given, dialect_given, xlen_given, type_given;
	bool type_bits_given, data_type_given;
	char **error;
};

struct text {
	const char *s;
	size_t len;
};

static bool text_is(struct text t, const char *s)
{
	return t.len == strlen(s) && !memcmp(t.s, s, t.len);
}

static struct text trim(struct text t)
{
	while (t.len && isspace((unsigned char)t.s[0]))
		t.s++, t.len--;
	while (t.len && isspace((unsigned char)t.s[t.len - 1]))
		t.len--;
	return t;
}

/* Cuts what precedes @sep off *rest; all of it when there is no @sep. */
static struct text cut(struct text *rest, char sep)
{
	const char *end = memchr(rest->s, sep, rest->len);
	struct text head = { rest->s, end ? (size_t)(end - rest->s) : rest->len };
	size_t used = head.len + (end ? 1 : 0);

	rest->s += used;
	rest->len -= used;
	return trim(head);
}

/* What is valid where the error is: keys, names or a range. */
static void print_valid(FILE *f, const struct key *key, unsigned int protocol)
{
	const char *sep = "";
	unsigned int mask = protocol ? 1u << protocol : BOTH;

	if (!key) {
		for (size_t i = 0; i < N_KEYS; i++) {
			if (!(keys[i].protocols & mask))
				continue;
			fprintf(f, "%s%s%s", sep, keys[i].name,
				keys[i].type == KEY_VECTORS ? "N" : "");
			sep = ", ";
		}
		return;
	}
	switch (key->type) {
	case KEY_NUMBER:
		fprintf(f, "%u..%u", key->min, key->max);
		break;
	case KEY_NAME:
	case KEY_SET:
	case KEY_IOPTIONS:
		for (const struct name *n = key->names; n->name; n++) {
			if (!(n->protocols & mask))
				continue;
			fprintf(f, "%s%s", sep, n->name);
			sep = ", ";
		}
		if (key->type == KEY_IOPTIONS)
			fprintf(f, "%s-", sep);
		break;
	default:
		fputs("an address, such as 0x80000000", f);
		break;
	}
}

/* Sets the message "FILE:LINE: <what> 'text'; valid <keys|values>: ..." and returns -EINVAL. */
static int fail(struct parser *p, const char *what, struct text t, const struct key *key)
{
	size_t size;
	FILE *f = open_memstream(p->error, &size);

	if (!f)
		return -ENOMEM;
	fprintf(f, "%s:%u: %s '%.*s'", p->name, p->line, what, (int)t.len, t.s);
	if (key)
		fprintf(f, " for '%s%s'", key->name, key->type == KEY_VECTORS ? "N" : "");
	fprintf(f, "; valid %s: ", key ? "values" : "keys");
	print_valid(f, key, p->params->protocol);
	return fclose(f) ? -ENOMEM : -EINVAL;
}

static int parse_fail(char **error, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vasprintf(error, format, args);
	va_end(args);
	if (n < 0)
		*error = NULL;
	return n < 0 ? -ENOMEM : -EINVAL;
}

static bool parse_number(struct text t, uint64_t *value)
{
	char buf[32], *end;

	if (!t.len || t.len >= sizeof(buf) || !isdigit((unsigned char)t.s[0]))
		return false;
	memcpy(buf, t.s, t.len);
	buf[t.len] = 0;
	errno = 0;
	*value = strtoull(buf, &end, 0);
	return !errno && !*end;
}

static const struct name *find_name(const struct key *key, struct text t, unsigned int protocol)
{
	for (const struct name *n = key->names; n->name; n++)
		if (n->protocols & 1u << protocol && text_is(t, n->name))
			return n;
	return NULL;
}

static int parse_set(struct parser *p, const struct key *key, struct text value)
{
	unsigned int *field = (void *)((char *)p->params + key->offset);

	*field = 0;
	while (value.len) {
		struct text item = cut(&value, ',');
		const struct name *n = find_name(key, item, p->params->protocol);

		if (!n)
			return fail(p, "unknown value", item, key);
		*field |= n->value;
	}
	return 0;
}

static int parse_ioptions(struct parser *p, const struct key *key, struct text value)
{
	unsigned int *items = (unsigned int *)((char *)p->params + key->offset);
	unsigned int *n_items = items - 1;

	*n_items = 0;
	memset(items, 0, RVT_MAX_IOPTIONS * sizeof(*items));
	while (value.len) {
		struct text item = cut(&value, ',');
		const struct name *n = find_name(key, item, p->params->protocol);

		if (!n && !text_is(item, "-"))
			return fail(p, "unknown value", item, key);
		if (*n_items == RVT_MAX_IOPTIONS)
			return fail(p, "too many bits at", item, key);
		items[(*n_items)++] = n ? n->value : 0;
	}
	return 0;
}

/* @index: what follows "trap_vector.exception." */
static int parse_vectors(struct parser *p, const struct key *key, struct text index,
			 struct text value)
{
	struct rvt_trap_vectors *v = &p->params->vectors;
	bool interrupt = key->offset == FIELD(vectors.interrupt);
	uint64_t cause, address;

	if (!parse_number(index, &cause) || cause >= RVT_MAX_CAUSES)
		return parse_fail(p->error,
				  "%s:%u: unknown cause '%.*s' for '%sN'; valid values: 0..%u",
				  p->name, p->line, (int)index.len, index.s, key->name,
				  RVT_MAX_CAUSES - 1);
	if (!parse_number(value, &address))
		return fail(p, "unknown value", value, key);
	*(interrupt ? &v->interrupt_valid : &v->exception_valid) |= 1ull << cause;
	(interrupt ? v->interrupt : v->exception)[cause] = address;
	return 0;
}

static int parse_value(struct parser *p, const struct key *key, struct text index,
		       struct text value)
{
	void *field = (char *)p->params + key->offset;
	const struct name *n;
	uint64_t number;

	switch (key->type) {
	case KEY_NAME:
		n = find_name(key, value, p->params->protocol);
		if (!n)
			return fail(p, "unknown value", value, key);
		*(unsigned int *)field = n->value;
		return 0;
	case KEY_SET:
		return parse_set(p, key, value);
	case KEY_NUMBER:
		if (!parse_number(value, &number) || number < key->min || number > key->max)
			return fail(p, "unknown value", value, key);
		*(unsigned int *)field = number;
		return 0;
	case KEY_ADDRESS:
		if (!parse_number(value, field))
			return fail(p, "unknown value", value, key);
		return 0;
	case KEY_IOPTIONS:
		return parse_ioptions(p, key, value);
	case KEY_VECTOR:
		if (!parse_number(value, &p->params->vectors.base))
			return fail(p, "unknown value", value, key);
		p->params->vectors.base_valid = true;
		return 0;
	case KEY_VECTORS:
		return parse_vectors(p, key, index, value);
	}
	return -EINVAL;
}

/* Sets *index to what follows the name of an indexed key. */
static const struct key *find_key(struct text name, unsigned int protocol, struct text *index)
{
	for (size_t i = 0; i < N_KEYS; i++) {
		size_t len = strlen(keys[i].name);

		if (!(keys[i].protocols & 1u << protocol))
			continue;
		if (keys[i].type == KEY_VECTORS && name.len > len &&
		    !memcmp(name.s, keys[i].name, len)) {
			*index = (struct text){ name.s + len, name.len - len };
			return &keys[i];
		}
		if (text_is(name, keys[i].name))
			return &keys[i];
	}
	return NULL;
}

/*
 * The protocol decides what a dialect may be, and both decide the defaults of all else: one pass
 * over the text for each.
 */
enum pass { PASS_PROTOCOL, PASS_DIALECT, PASS_REST };

static enum pass pass_of(struct text name)
{
	if (text_is(name, "protocol"))
		return PASS_PROTOCOL;
	return text_is(name, "dialect") ? PASS_DIALECT : PASS_REST;
}

static int parse_protocol(struct parser *p, struct text value)
{
	const struct name *n = find_name(&keys[0], value, RVT_PROTOCOL_NTRACE);

	if (!n)
		return fail(p, "unknown value", value, &keys[0]);
	p->protocol_given = true;
	set_defaults(p->params, n->value, n->value == RVT_PROTOCOL_NTRACE ?
		     RVT_DIALECT_NTRACE_1_0 : RVT_DIALECT_ETRACE_2_0);
	return 0;
}

/* Without a protocol the name of the dialect says which. */
static int parse_dialect(struct parser *p, struct text value)
{
	const struct key *key = &keys[1];
	const struct name *n;

	if (p->protocol_given) {
		n = find_name(key, value, p->params->protocol);
	} else {
		n = find_name(key, value, RVT_PROTOCOL_NTRACE);
		if (!n)
			n = find_name(key, value, RVT_PROTOCOL_ETRACE);
	}
	if (!n)
		return fail(p, "unknown value", value, key);
	set_defaults(p->params, n->protocols == NTRACE ? RVT_PROTOCOL_NTRACE :
		     RVT_PROTOCOL_ETRACE, n->value);
	p->dialect_given = true;
	return 0;
}

/* What has this framing is of this dialect, if nothing else is said. */
static void imply_dialect(struct parser *p, struct text name, struct text value)
{
	if (text_is(name, "framing") && text_is(value, "esp32") && !p->dialect_given &&
	    p->params->protocol != RVT_PROTOCOL_NTRACE)
		set_defaults(p->params, RVT_PROTOCOL_ETRACE, RVT_DIALECT_ETRACE_ESP32);
}

static bool is_passed_over(struct text name)
{
	for (size_t i = 0; i < sizeof(passed_over) / sizeof(*passed_over); i++)
		if (text_is(name, passed_over[i]))
			return true;
	return false;
}

static int parse_rest(struct parser *p, struct text name, struct text value)
{
	struct text index = {};
	const struct key *key = find_key(name, p->params->protocol, &index);

	if (!key)
		return is_passed_over(name) ? 0 : fail(p, "unknown key", name, NULL);
	if (text_is(name, "xlen"))
		p->xlen_given = true;
	if (text_is(name, "type_instruction"))
		p->type_given = true;
	p->type_bits_given |= text_is(name, "type_bits");
	p->data_type_given |= text_is(name, "type_data");
	return parse_value(p, key, index, value);
}

static int parse_line(struct parser *p, struct text line, enum pass pass)
{
	struct text value = cut(&line, '#'), name;

	if (!value.len)
		return 0;
	if (!memchr(value.s, '=', value.len))
		return pass == PASS_REST ? fail(p, "no '=' in", value, NULL) : 0;
	name = cut(&value, '=');
	value = trim(value);
	if (pass == PASS_DIALECT)
		imply_dialect(p, name, value);
	if (pass_of(name) != pass)
		return 0;
	switch (pass) {
	case PASS_PROTOCOL:
		return parse_protocol(p, value);
	case PASS_DIALECT:
		return parse_dialect(p, value);
	default:
		return parse_rest(p, name, value);
	}
}

static int parse_pass(struct parser *p, struct text rest, enum pass pass)
{
	int ret = 0;

	for (p->line = 1; rest.len && !ret; p->line++)
		ret = parse_line(p, cut(&rest, '\n'), pass);
	return ret;
}

/* @params is whole. */
static int parse_all(struct rvt_params *params, const char *name, struct text all, char **error)
{
	struct parser p = { .params = params, .name = name, .error = error };
	int ret;

	ret = parse_pass(&p, all, PASS_PROTOCOL);
	if (!ret)
		ret = parse_pass(&p, all, PASS_DIALECT);
	if (ret)
		return ret;
	if (params->protocol == RVT_PROTOCOL_NONE)
		return parse_fail(error, "%s: no 'protocol'; add a line 'protocol = ntrace' or "
				  "'protocol = etrace'", name);
	ret = parse_pass(&p, all, PASS_REST);
	if (ret)
		return ret;
	if (params->protocol == RVT_PROTOCOL_ETRACE && !p.xlen_given)
		params->xlen = params->iaddress_width_p <= 32 ? 32 : 64;
	/* The encapsulation specification's example of a wider type field says 2. */
	if (!p.type_given && params->type_bits >= 2)
		params->type_instruction = 2;
	/* No text gives one; of two values it is the other. */
	if (!p.data_type_given && p.type_bits_given && params->type_bits)
		params->type_data = params->type_bits == 1 ? !params->type_instruction : 3;
	if (params->protocol == RVT_PROTOCOL_NTRACE && params->options & OF_CTTE &&
	    params->dialect != RVT_DIALECT_NTRACE_CTTE)
		return parse_fail(error, "%s: branch_prediction and jump_target_cache are "
				  "options of N-Trace in 'dialect = ctte' only", name);
	params->isa &= ~RVT_ISA_RV32;
	if (params->xlen == 32)
		params->isa |= RVT_ISA_RV32;
	return 0;
}

int rvt_params_parse(struct rvt_params *params, const char *name, const char *text, size_t len,
		     char **error)
{
	struct rvt_params full;
	int ret;

	*error = NULL;
	if (sized_copy(&full, sizeof(full), params))
		return parse_fail(error, "%s: struct rvt_params does not say its size", name);
	ret = parse_all(&full, name, (struct text){ text, len }, error);
	return ret ? ret : sized_fill(params, &full, sizeof(full));
}

int rvt_params_load(struct rvt_params *params, const char *path, char **error)
{
	struct rvt_params none;
	char buf[4096], *text = NULL;
	FILE *in = fopen(path, "re"), *out;
	size_t len = 0, n;
	int ret;

	*error = NULL;
	if (!in) {
		ret = -errno;
		parse_fail(error, "%s: %s", path, strerror(-ret));
		return ret;
	}
	out = open_memstream(&text, &len);
	if (!out) {
		fclose(in);
		return -ENOMEM;
	}
	while ((n = fread(buf, 1, sizeof(buf), in)))
		fwrite(buf, 1, n, out);
	ret = ferror(in) ? -EIO : 0;
	fclose(in);
	if (fclose(out))
		ret = -ENOMEM;
	if (ret == -EIO)
		parse_fail(error, "%s: cannot be read; it must be a text file", path);
	memset(&none, 0, sizeof(none));
	if (!ret && sized_fill(params, &none, sizeof(none)))
		ret = parse_fail(error, "%s: struct rvt_params does not say its size", path);
	if (!ret)
		ret = rvt_params_parse(params, path, text, len, error);
	free(text);
	return ret;
}

/* ---- printer ---- */

static void print_set(FILE *f, const struct key *key, unsigned int value, unsigned int protocol)
{
	const char *sep = "";

	for (const struct name *n = key->names; n->name; n++)
		if (n->protocols & 1u << protocol && value & n->value) {
			fprintf(f, "%s%s", sep, n->name);
			sep = ", ";
		}
}

static void print_ioptions(FILE *f, const struct key *key, const struct rvt_params *params)
{
	const unsigned int *items = (const unsigned int *)((const char *)params + key->offset);

	for (unsigned int i = 0; i < items[-1]; i++) {
		const char *name = "-";

		for (const struct name *n = key->names; n->name; n++)
			if (items[i] == n->value)
				name = n->name;
		fprintf(f, "%s%s", i ? ", " : "", name);
	}
}

static void print_vectors(FILE *f, const struct key *key, const struct rvt_trap_vectors *v)
{
	bool interrupt = key->offset == FIELD(vectors.interrupt);
	uint64_t valid = interrupt ? v->interrupt_valid : v->exception_valid;

	for (unsigned int i = 0; i < RVT_MAX_CAUSES; i++)
		if (valid >> i & 1)
			fprintf(f, "%s%u = 0x%llx\n", key->name, i, (unsigned long long)
				(interrupt ? v->interrupt : v->exception)[i]);
}

static void print_key(FILE *f, const struct key *key, const struct rvt_params *params)
{
	const void *field = (const char *)params + key->offset;
	unsigned int number = 0;

	switch (key->type) {
	case KEY_VECTORS:
		print_vectors(f, key, &params->vectors);
		return;
	case KEY_VECTOR:
		if (params->vectors.base_valid)
			fprintf(f, "%s = 0x%llx\n", key->name,
				(unsigned long long)params->vectors.base);
		return;
	case KEY_ADDRESS:
		fprintf(f, "%s = 0x%llx\n", key->name,
			(unsigned long long)*(const uint64_t *)field);
		return;
	default:
		memcpy(&number, field, sizeof(number));
		break;
	}
	fprintf(f, "%s = ", key->name);
	switch (key->type) {
	case KEY_NAME:
		for (const struct name *n = key->names; n->name; n++)
			if (n->value == number && n->protocols & 1u << params->protocol)
				fputs(n->name, f);
		break;
	case KEY_SET:
		print_set(f, key, number, params->protocol);
		break;
	case KEY_IOPTIONS:
		print_ioptions(f, key, params);
		break;
	default:
		fprintf(f, "%u", number);
		break;
	}
	fputc('\n', f);
}

int rvt_params_print(const struct rvt_params *params, char **text)
{
	struct rvt_params room;
	size_t size;
	FILE *f;

	*text = NULL;
	params = rvt_params_whole(params, &room);
	if (!params)
		return -EINVAL;
	f = open_memstream(text, &size);
	if (!f)
		return -ENOMEM;
	for (size_t i = 0; i < N_KEYS; i++)
		if (keys[i].protocols & 1u << params->protocol)
			print_key(f, &keys[i], params);
	return fclose(f) ? -ENOMEM : 0;
}

/* ---- numeric form ---- */

/* 4 bits of a list: an option's number + 2, 1 for "-", 0 behind the last */
#define WORD_ITEM_BITS 4
#define WORD_ITEMS (64 / WORD_ITEM_BITS)

static const struct key *find_word(uint64_t number)
{
	for (size_t i = 0; i < N_KEYS; i++)
		if (number == keys[i].word ||
		    (keys[i].type == KEY_VECTORS && number > keys[i].word &&
		     number < keys[i].word + RVT_MAX_CAUSES))
			return &keys[i];
	return NULL;
}

static uint64_t word_value(const uint64_t *words, size_t n, uint64_t number)
{
	for (size_t i = 0; i < n; i++)
		if (words[2 * i] == number)
			return words[2 * i + 1];
	return 0;
}

/* Names of the same value: any of them, for the text is read with a protocol that has one. */
static const char *name_of(const struct key *key, uint64_t value, unsigned int protocol)
{
	for (const struct name *n = key->names; n->name; n++)
		if (n->value == value && n->protocols & 1u << protocol)
			return n->name;
	return "?";
}

static void print_word_list(FILE *f, const struct key *key, const uint64_t *value,
			    unsigned int protocol)
{
	const char *sep = "";

	for (unsigned int i = 0; i < RVT_MAX_IOPTIONS; i++) {
		uint64_t item = value[i / WORD_ITEMS] >> (i % WORD_ITEMS * WORD_ITEM_BITS) &
				((1u << WORD_ITEM_BITS) - 1);

		if (!item)
			return;
		fprintf(f, "%s%s", sep, item == 1 ? "-" :
			name_of(key, 1ull << (item - 2), protocol));
		sep = ", ";
	}
}

/* @words: all of them, for a list goes on in another */
static void print_word(FILE *f, const struct key *key, const uint64_t *word, const uint64_t *words,
		       size_t n, unsigned int protocol)
{
	const uint64_t list[] = { word[1], word_value(words, n, word[0] + RVT_WORD_MORE) };

	fprintf(f, "%s", key->name);
	if (key->type == KEY_VECTORS)
		fprintf(f, "%u", (unsigned int)(word[0] - key->word));
	fputs(" = ", f);
	switch (key->type) {
	case KEY_NAME:
		fputs(name_of(key, word[1], protocol), f);
		break;
	case KEY_SET:
		print_set(f, key, word[1], protocol);
		break;
	case KEY_IOPTIONS:
		print_word_list(f, key, list, protocol);
		break;
	default:
		fprintf(f, "0x%llx", (unsigned long long)word[1]);
		break;
	}
	fputc('\n', f);
}

int rvt_params_words_print(const uint64_t *words, size_t n, FILE *f)
{
	unsigned int protocol = word_value(words, n, keys[0].word);

	if (protocol != RVT_PROTOCOL_NTRACE && protocol != RVT_PROTOCOL_ETRACE)
		return -ENOTSUP;
	for (size_t i = 0; i < n; i++) {
		const struct key *key = find_word(words[2 * i]);

		if (key)
			print_word(f, key, &words[2 * i], words, n, protocol);
		else if (!(key = find_word(words[2 * i] - RVT_WORD_MORE)) ||
			 key->type != KEY_IOPTIONS)
			return -ENOTSUP;
	}
	return 0;
}

struct word_list {
	uint64_t *words;
	size_t n, room;		/* pairs */
	bool failed;
};

static void add_word(struct word_list *list, uint64_t number, uint64_t value)
{
	if (array_reserve(&list->words, &list->room, 2 * list->n, 2)) {
		list->failed = true;
		return;
	}
	list->words[2 * list->n] = number;
	list->words[2 * list->n + 1] = value;
	list->n++;
}

static void add_word_list(struct word_list *list, const struct key *key,
			  const unsigned int *items)
{
	uint64_t value[2] = { 0 };

	for (unsigned int i = 0; i < items[-1]; i++) {
		uint64_t item = items[i] ? (uint64_t)__builtin_ctz(items[i]) + 2 : 1;

		value[i / WORD_ITEMS] |= item << (i % WORD_ITEMS * WORD_ITEM_BITS);
	}
	add_word(list, key->word, value[0]);
	if (value[1])
		add_word(list, key->word + RVT_WORD_MORE, value[1]);
}

static void add_word_vectors(struct word_list *list, const struct key *key,
			     const struct rvt_trap_vectors *v)
{
	bool interrupt = key->offset == FIELD(vectors.interrupt);
	uint64_t valid = interrupt ? v->interrupt_valid : v->exception_valid;

	for (unsigned int i = 0; i < RVT_MAX_CAUSES; i++)
		if (valid >> i & 1)
			add_word(list, key->word + i, (interrupt ? v->interrupt : v->exception)[i]);
}

/* What has names: some bits follow from other parameters. */
static void add_word_set(struct word_list *list, const struct key *key, unsigned int value,
			 unsigned int protocol)
{
	unsigned int named = 0;

	for (const struct name *n = key->names; n->name; n++)
		if (n->protocols & 1u << protocol)
			named |= n->value;
	add_word(list, key->word, value & named);
}

static void add_key(struct word_list *list, const struct key *key, const struct rvt_params *params)
{
	const void *field = (const char *)params + key->offset;

	switch (key->type) {
	case KEY_SET:
		add_word_set(list, key, *(const unsigned int *)field, params->protocol);
		break;
	case KEY_IOPTIONS:
		add_word_list(list, key, field);
		break;
	case KEY_VECTORS:
		add_word_vectors(list, key, &params->vectors);
		break;
	case KEY_VECTOR:
		if (params->vectors.base_valid)
			add_word(list, key->word, params->vectors.base);
		break;
	case KEY_ADDRESS:
		add_word(list, key->word, *(const uint64_t *)field);
		break;
	default:
		add_word(list, key->word, *(const unsigned int *)field);
		break;
	}
}

int rvt_params_words(const struct rvt_params *params, uint64_t **words, size_t *n)
{
	struct word_list list = { 0 };
	struct rvt_params room;

	params = rvt_params_whole(params, &room);
	if (!params)
		return -EINVAL;
	for (size_t i = 0; i < N_KEYS; i++)
		if (keys[i].protocols & 1u << params->protocol)
			add_key(&list, &keys[i], params);
	if (list.failed) {
		free(list.words);
		return -ENOMEM;
	}
	*words = list.words;
	*n = list.n;
	return 0;
}
