// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Candidates and their order. First all are read without code, a small part of the trace; those
 * that make most sense are then followed through the code, and improved option by option.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <rvtrace/stream.h>
#include "guess/guess.h"

/* What is read without code, and what is followed while options are tried. */
#define READ_BYTES (32 << 10)
#define TRY_BYTES (128 << 10)
/* Of each protocol so many candidates are followed through the code: with a share of wrong bytes
 * that is not much above the least. */
#define MAX_FOLLOWED 64
#define SLACK 0.02
/* Those that come farthest are tried with other options. */
#define MAX_IMPROVED 8
/* An error may cost much time: the walk goes on until nothing is left that could be meant. */
#define TRY_ERRORS 4
#define MOST_ERRORS 100
/* A candidate with more sources than harts of any machine is none. */
#define MAX_SOURCES 64
/* Of the bytes; with more that is wrong it is something else. */
#define MOST_WRONG 0.1
/* Instructions without an error that are no accident, and messages. */
#define FAR_INSNS 1000
#define MANY_MESSAGES 32

struct candidates {
	const struct rvt_guess_input *input;
	uint8_t *deframed;		/* as if the input were CoreSight frames: of one source */
	size_t deframed_len;
	uint8_t *unpacked;		/* as if it were an ESP32's */
	size_t unpacked_len, unpacked_skipped;
	struct rvt_guess list[RVT_GUESS_MAX];
	size_t n;
};

/* ---- reading without code ---- */

static struct rvt_flow *no_flow(void *ctx, unsigned int src)
{
	(void)ctx, (void)src;
	return NULL;
}

/* Parameters that a decoder takes. */
static bool is_possible(const struct rvt_params *params)
{
	const struct rvt_stream_ops ops = { .size = sizeof(ops), .flow = no_flow };
	struct rvt_stream *stream;

	if (rvt_stream_create(params, &ops, &stream))
		return false;
	rvt_stream_destroy(stream);
	return true;
}

/* Fills in what the messages tell of the parameters. */
static int read_messages(const struct candidates *c, struct rvt_guess *guess)
{
	struct rvt_params *params = &guess->params;
	const uint8_t *bytes = c->input->bytes;
	size_t len = c->input->len, skipped = 0;
	struct rvt_guess_reading seen;
	int ret;

	if (params->framing == RVT_FRAMING_CORESIGHT) {
		bytes = c->deframed;
		len = c->deframed_len;
	} else if (params->framing == RVT_FRAMING_ESP32) {
		bytes = c->unpacked;
		len = c->unpacked_len;
		skipped = c->unpacked_skipped;
	}
	len = len < READ_BYTES ? len : READ_BYTES;
	ret = params->protocol == RVT_PROTOCOL_NTRACE ?
	      rvt_guess_read_ntrace(params, bytes, len, &seen) :
	      rvt_guess_read_etrace(params, bytes, len, &seen);

	if (ret)
		return ret;
	seen.bytes += skipped;
	seen.wrong_bytes += skipped;
	guess->messages = seen.messages;
	guess->wrong = seen.wrong;
	guess->wrong_share = seen.bytes ? (double)seen.wrong_bytes / (double)seen.bytes : 1;
	if (!guess->chip && !seen.timestamps && params->dialect == RVT_DIALECT_NTRACE_1_0)
		params->timestamp = RVT_TIMESTAMP_NONE;
	return 0;
}

static int add(struct candidates *c, const char *chip, const struct rvt_params *params)
{
	struct rvt_guess guess = { .chip = chip, .params = *params };
	int ret;

	if (c->n == RVT_GUESS_MAX || !is_possible(params))
		return 0;
	ret = read_messages(c, &guess);
	if (ret)
		return ret;
	for (size_t i = 0; i < c->n && !chip; i++)
		if (!memcmp(&c->list[i].params, &guess.params, sizeof(guess.params)))
			return 0;
	c->list[c->n++] = guess;
	return 0;
}

/* ---- candidates ---- */

static unsigned int xlen_of(const struct rvt_guess_input *input)
{
	return input->space32 && !input->space64 ? 32 : 64;
}

static int add_chips(struct candidates *c)
{
	int ret = 0;

	for (size_t i = 0; i < c->input->n_chips && !ret; i++)
		ret = add(c, c->input->chips[i].name, &c->input->chips[i].params);
	return ret;
}

static int add_ntrace(struct candidates *c, enum rvt_framing framing)
{
	static const struct {
		enum rvt_dialect dialect;
		enum rvt_timestamp timestamp;
	} kinds[] = {
		{ RVT_DIALECT_NTRACE_1_0, RVT_TIMESTAMP_DELTA },
		{ RVT_DIALECT_NTRACE_1_0, RVT_TIMESTAMP_XOR },
		{ RVT_DIALECT_NTRACE_SIFIVE, RVT_TIMESTAMP_XOR },
		{ RVT_DIALECT_NTRACE_SIFIVE, RVT_TIMESTAMP_DELTA },
		{ RVT_DIALECT_NTRACE_CTTE, RVT_TIMESTAMP_DELTA },
	};
	int ret = 0;

	for (unsigned int src_bits = 0; src_bits <= 12; src_bits++)
		for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds) && !ret; i++) {
			struct rvt_params params;

			rvt_params_init(&params, RVT_PROTOCOL_NTRACE, kinds[i].dialect);
			params.timestamp = kinds[i].timestamp;
			params.src_bits = src_bits;
			params.xlen = xlen_of(c->input);
			params.framing = framing;
			ret = add(c, NULL, &params);
		}
	return ret;
}

static int add_etrace(struct candidates *c)
{
	static const enum rvt_dialect dialects[] = {
		RVT_DIALECT_ETRACE_2_0, RVT_DIALECT_ETRACE_2_0_5, RVT_DIALECT_ETRACE_0_029,
	};
	static const unsigned int timestamp_bytes[] = { 0, 8, 4 }, context_bits[] = { 0, 32 };
	int ret = 0;

	for (unsigned int i = 0; i < 3 * 3 * 2 * 2 * 2 * 2 && !ret; i++) {
		struct rvt_params params;

		rvt_params_init(&params, RVT_PROTOCOL_ETRACE, dialects[i % 3]);
		params.timestamp_bytes = timestamp_bytes[i / 3 % 3];
		params.srcid_bits = i / 9 % 2 ? 8 : 0;
		if (i / 18 % 2)
			params.type_bits = params.type_instruction = 2;
		params.context_width_p = context_bits[i / 36 % 2];
		params.ecause_width_p = i / 72 ? 6 : 4;
		params.nocontext_p = !params.context_width_p;
		params.xlen = params.iaddress_width_p = xlen_of(c->input);
		ret = add(c, NULL, &params);
	}
	return ret;
}

/* ---- following the code ---- */

struct followed {
	struct rvt_space *space;
	struct rvt_flow_config config;
	struct rvt_flow *flows[MAX_SOURCES];
	unsigned int n;
	uint64_t errors, most_errors;
	int error;
};

/* What call-backs end decoding with. */
#define ENOUGH 1

static int on_event(void *ctx, const struct rvt_event *event)
{
	struct followed *f = ctx;

	if (event->type != RVT_EVENT_LOST)
		return 0;
	switch (event->reason) {
	case RVT_REASON_BAD_PACKET:
	case RVT_REASON_BAD_FLOW:
	case RVT_REASON_NO_CODE:
	case RVT_REASON_BAD_INSN:
		return ++f->errors < f->most_errors ? 0 : ENOUGH;
	default:
		return 0;
	}
}

static struct rvt_flow *add_source(void *ctx, unsigned int src)
{
	struct followed *f = ctx;
	const struct rvt_flow_sink sink = { .size = sizeof(sink), .ctx = f, .event = on_event };
	struct rvt_flow *flow;

	(void)src;
	if (f->n == MAX_SOURCES) {
		f->errors++;
		return NULL;
	}
	f->error = rvt_flow_create(&f->config, &sink, &flow);
	if (f->error)
		return NULL;
	f->flows[f->n++] = flow;
	f->error = rvt_flow_count(flow);
	rvt_flow_set_space(flow, f->space);
	return flow;
}

static int decode(struct followed *f, const struct rvt_params *params, const uint8_t *bytes,
		  size_t len)
{
	const struct rvt_stream_ops ops = {
		.size = sizeof(ops), .ctx = f, .flow = add_source, .event = on_event,
	};
	struct rvt_stream *stream;
	int ret = rvt_stream_create(params, &ops, &stream);

	if (ret)
		return ret;
	ret = rvt_stream_feed(stream, bytes, len, 0);
	/* What is cut off is no error: no rvt_stream_finish(). */
	for (unsigned int i = 0; i < f->n && !ret; i++)
		ret = rvt_flow_flush(f->flows[i]);
	rvt_stream_destroy(stream);
	return ret ? ret : f->error;
}

/* Until @most_errors, or @limit bytes. */
static int follow(const struct rvt_guess_input *input, struct rvt_guess *guess, size_t limit,
		  uint64_t most_errors)
{
	struct followed *f = calloc(1, sizeof(*f));
	int ret;

	if (!f)
		return -ENOMEM;
	f->space = guess->params.xlen == 32 ? input->space32 : input->space64;
	f->most_errors = most_errors;
	f->config.size = sizeof(f->config);
	rvt_stream_flow_config(&guess->params, &f->config);
	guess->insns = guess->errors = 0;
	ret = f->space ? decode(f, &guess->params, input->bytes,
				input->len < limit ? input->len : limit) : 0;
	for (unsigned int i = 0; i < f->n; i++) {
		struct rvt_flow_stats stats = { .size = sizeof(stats) };

		rvt_flow_stats(f->flows[i], &stats);
		guess->insns += stats.insns;
		rvt_flow_destroy(f->flows[i]);
	}
	guess->errors = f->errors;
	free(f);
	return ret == -ENOMEM ? ret : 0;
}

/* ---- the order ---- */

static double reach(const struct rvt_guess *guess)
{
	return (double)guess->insns / (double)(guess->errors + 1);
}

/* How far one comes; then how little the messages have that is wrong; then a chip. */
static int compare(const void *a, const void *b)
{
	const struct rvt_guess *x = a, *y = b;

	if (reach(x) != reach(y))
		return reach(x) < reach(y) ? 1 : -1;
	if (x->wrong_share != y->wrong_share)
		return x->wrong_share > y->wrong_share ? 1 : -1;
	if (!x->chip != !y->chip)
		return x->chip ? -1 : 1;
	if (x->params.framing != y->params.framing)
		return x->params.framing < y->params.framing ? -1 : 1;
	if (x->params.protocol != y->params.protocol)
		return x->params.protocol < y->params.protocol ? -1 : 1;
	if (x->params.src_bits != y->params.src_bits)
		return x->params.src_bits < y->params.src_bits ? -1 : 1;
	return memcmp(&x->params, &y->params, sizeof(x->params));
}

static void sort(struct candidates *c)
{
	qsort(c->list, c->n, sizeof(*c->list), compare);
}

/* They follow the code to the same end. */
static bool is_alike(const struct rvt_guess *a, const struct rvt_guess *b)
{
	return a->insns && a->insns == b->insns && a->errors == b->errors;
}

/* Of those that do the same the first of each dialect stays. */
static void drop_alike(struct candidates *c)
{
	size_t kept = 0;

	for (size_t i = 0; i < c->n; i++) {
		bool known = false;

		for (size_t j = 0; j < kept && !known; j++)
			known = is_alike(&c->list[i], &c->list[j]) &&
				c->list[i].params.dialect == c->list[j].params.dialect;
		if (known)
			continue;
		c->list[kept] = c->list[i];
		c->list[kept].alike = kept && is_alike(&c->list[kept], &c->list[kept - 1]);
		kept++;
	}
	c->n = kept;
}

/* ---- options ---- */

static void set_return_mode(struct rvt_params *params, unsigned int value)
{
	params->implicit_return_mode = value;
	if (!value)
		params->return_stack_depth = 0;
}

static void set_address_bits(struct rvt_params *params, unsigned int value)
{
	params->address_bits = value;
}

static void set_option(struct rvt_params *params, unsigned int value)
{
	params->options |= value;
}

static void set_width(struct rvt_params *params, unsigned int value)
{
	params->iaddress_width_p = value;
}

static void set_ecause(struct rvt_params *params, unsigned int value)
{
	params->ecause_width_p = value;
}

static void set_privilege(struct rvt_params *params, unsigned int value)
{
	params->privilege_width_p = value;
}

/* What may be otherwise than a candidate has it. */
static const struct change {
	enum rvt_protocol protocol;
	void (*set)(struct rvt_params *params, unsigned int value);
	unsigned int value;
} changes[] = {
	{ RVT_PROTOCOL_NTRACE, set_address_bits, 48 },
	{ RVT_PROTOCOL_NTRACE, set_address_bits, 39 },
	{ RVT_PROTOCOL_NTRACE, set_option, RVT_OPT_EXTEND_ADDRESS_MSB },
	{ RVT_PROTOCOL_NTRACE, set_return_mode, 0 },
	{ RVT_PROTOCOL_NTRACE, set_return_mode, 3 },
	{ RVT_PROTOCOL_NTRACE, set_return_mode, 2 },
	{ RVT_PROTOCOL_NTRACE, set_return_mode, 1 },
	{ RVT_PROTOCOL_NTRACE, set_option, RVT_OPT_SEQUENTIAL_JUMP },
	{ RVT_PROTOCOL_NTRACE, set_option, RVT_OPT_ALL_JUMPS },
	{ RVT_PROTOCOL_ETRACE, set_ecause, 5 },
	{ RVT_PROTOCOL_ETRACE, set_ecause, 6 },
	{ RVT_PROTOCOL_ETRACE, set_privilege, 1 },
	{ RVT_PROTOCOL_ETRACE, set_privilege, 3 },
	{ RVT_PROTOCOL_ETRACE, set_width, 39 },
	{ RVT_PROTOCOL_ETRACE, set_width, 48 },
	{ RVT_PROTOCOL_ETRACE, set_option, RVT_OPT_SEQUENTIAL_JUMP },
	{ RVT_PROTOCOL_ETRACE, set_option, RVT_OPT_FULL_ADDRESS },
};

/* Twice: one change may be needed before another helps. */
static int improve(const struct rvt_guess_input *input, struct rvt_guess *guess)
{
	int ret = 0;

	for (size_t i = 0; i < 2 * sizeof(changes) / sizeof(*changes) && !ret; i++) {
		const struct change *change = &changes[i % (sizeof(changes) / sizeof(*changes))];
		struct rvt_guess other = *guess;

		if (!guess->errors && guess->insns)
			return 0;
		if (guess->params.protocol != change->protocol)
			continue;
		change->set(&other.params, change->value);
		if (!is_possible(&other.params))
			continue;
		ret = follow(input, &other, TRY_BYTES, TRY_ERRORS);
		if (!ret && reach(&other) > reach(guess)) {
			*guess = other;
			guess->chip = NULL;
		}
	}
	return ret;
}

/* Both widths, where the code does not tell. */
static void add_xlens(struct candidates *c)
{
	size_t n = c->n;

	if (!c->input->space32 || !c->input->space64)
		return;
	for (size_t i = 0; i < n && c->n < RVT_GUESS_MAX; i++) {
		struct rvt_guess other = c->list[i];

		if (other.chip)
			continue;
		other.params.xlen = 96 - other.params.xlen;
		if (other.params.protocol == RVT_PROTOCOL_ETRACE)
			other.params.iaddress_width_p = other.params.xlen;
		c->list[c->n++] = other;
	}
}

/* The best of each protocol, as far as messages tell. */
static void keep_best(struct candidates *c)
{
	unsigned int n[RVT_PROTOCOL_ETRACE + 1] = { 0 };
	const double limit = c->n ? c->list[0].wrong_share + SLACK : 0;
	size_t kept = 0;

	for (size_t i = 0; i < c->n && c->list[i].wrong_share <= limit; i++)
		if (n[c->list[i].params.protocol]++ < MAX_FOLLOWED)
			c->list[kept++] = c->list[i];
	c->n = kept;
}

static int follow_best(struct candidates *c)
{
	int ret = 0;

	add_xlens(c);
	sort(c);
	keep_best(c);
	for (size_t i = 0; i < c->n && !ret; i++)
		ret = follow(c->input, &c->list[i], TRY_BYTES, TRY_ERRORS);
	sort(c);
	for (size_t i = 0; i < c->n && i < MAX_IMPROVED && !ret; i++)
		ret = improve(c->input, &c->list[i]);
	for (size_t i = 0; i < c->n && !ret; i++)
		ret = follow(c->input, &c->list[i], c->input->len, MOST_ERRORS);
	sort(c);
	return ret;
}

/* ---- how sure it is ---- */

static enum rvt_guess_confidence by_messages(const struct candidates *c)
{
	const struct rvt_guess *best = &c->list[0];

	if (!best->messages || best->wrong_share > MOST_WRONG)
		return RVT_GUESS_NONE;
	if (best->wrong || best->messages < MANY_MESSAGES ||
	    (c->n > 1 && !c->list[1].wrong))
		return RVT_GUESS_UNSURE;
	return RVT_GUESS_LIKELY;
}

static enum rvt_guess_confidence by_code(const struct candidates *c)
{
	const struct rvt_guess *best = &c->list[0];

	if (!best->insns || best->wrong_share > MOST_WRONG || best->errors > best->messages / 8)
		return RVT_GUESS_NONE;
	if (best->errors)
		return best->errors * 100 <= best->messages ? RVT_GUESS_LIKELY : RVT_GUESS_UNSURE;
	for (size_t i = 1; i < c->n; i++)
		if (!c->list[i].errors && c->list[i].insns >= best->insns / 2 &&
		    !is_alike(&c->list[i], best))
			return RVT_GUESS_UNSURE;
	return best->insns >= FAR_INSNS ? RVT_GUESS_SURE : RVT_GUESS_LIKELY;
}

int rvt_guess(const struct rvt_guess_input *input, struct rvt_guess **guesses, size_t *n,
	      enum rvt_guess_confidence *confidence)
{
	const bool has_code = input->space32 || input->space64;
	struct candidates *c = calloc(1, sizeof(*c));
	int ret;

	*guesses = NULL;
	*n = 0;
	*confidence = RVT_GUESS_NONE;
	if (!c)
		return -ENOMEM;
	c->input = input;
	ret = rvt_guess_deframe(input->bytes, input->len < READ_BYTES ? input->len : READ_BYTES,
				&c->deframed, &c->deframed_len);
	if (!ret)
		ret = rvt_guess_unpack(input->bytes,
				       input->len < READ_BYTES ? input->len : READ_BYTES,
				       &c->unpacked, &c->unpacked_len, &c->unpacked_skipped);
	if (!ret)
		ret = add_chips(c);
	if (!ret)
		ret = add_ntrace(c, RVT_FRAMING_NONE);
	if (!ret)
		ret = add_ntrace(c, RVT_FRAMING_CORESIGHT);
	if (!ret)
		ret = add_etrace(c);
	sort(c);
	if (!ret && has_code)
		ret = follow_best(c);
	drop_alike(c);
	if (!ret && c->n)
		*confidence = has_code ? by_code(c) : by_messages(c);
	if (!ret)
		*guesses = malloc(c->n * sizeof(**guesses) + 1);
	if (*guesses)
		memcpy(*guesses, c->list, c->n * sizeof(**guesses));
	*n = *guesses ? c->n : 0;
	free(c->deframed);
	free(c->unpacked);
	free(c);
	return *guesses ? 0 : ret ? ret : -ENOMEM;
}
