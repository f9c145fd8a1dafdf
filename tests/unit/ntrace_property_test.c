// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Random programs, walked at random, through an encoder with random options: the decoder must give
 * back every instruction, trap and timestamp. Once more with messages that do not get out: what is
 * decoded must be pieces of what was executed, in order. And with damaged bytes: decoding ends by
 * itself, and every instruction is where the program is (a wrong address may well lie inside one).
 *
 * See property.h for what sets the seeds.
 */
#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <rvtrace/image.h>
#include <rvtrace/ntrace.h>
#include <rvtrace/stream.h>
#include "util/array.h"
#include "random-program.h"

#define REGION_INSNS 250
#define STEPS 3000

struct mark_seen {
	enum rvt_mark mark;
	uint64_t pc, value;
};

struct world {
	struct random random;
	struct rvt_ntrace_encoder_config config;
	struct rvt_params params;
	struct rvt_ntrace_encoder *enc;
	bool lossy;		/* messages are dropped, */
	bool damaged;		/* or bytes changed */
	struct random_program program;
	uint64_t time;
	uint8_t *trace;
	size_t len, size;
	unsigned int refuse;	/* messages that are still dropped */
	bool synced;		/* a ProgTraceSync was sent */
	bool first;		/* no trap comes before the next instruction */

	struct history executed, decoded;
	struct mark_seen sent[STEPS], seen[STEPS];	/* SiFive: beside the flow */
	size_t n_sent, n_seen;
	struct rvt_flow *flow;
	struct pauses pauses;
	struct rvt_space *space;
};

static unsigned int below(struct world *w, unsigned int n)
{
	return random_below(&w->random, n);
}

static bool one_in(struct world *w, unsigned int n)
{
	return random_one_in(&w->random, n);
}

/* ---- the walk ---- */

static void retire(void *ctx, const struct rvt_retire *run)
{
	struct world *w = ctx;

	rvt_ntrace_encoder_retire(w->enc, run);
}

static void make_program(struct world *w)
{
	static const uint64_t bases64[] = {
		0x1000, 0x80000000, 0x7ffff123f000, 0x3fc0000000, 0xffffffff80000000,
		0xffffffffffff0000,
	};
	static const uint64_t bases32[] = { 0x1000, 0x7ffffc00, 0x80201000, 0xffff0000 };
	struct program_rules *rules = &w->program.rules;
	unsigned int k = below(w, 4);

	rules->xlen = w->config.xlen;
	rules->region_insns = REGION_INSNS;
	rules->n_regions = 1 + below(w, 2);
	for (unsigned int r = 0; r < rules->n_regions; r++, k++)
		rules->bases[r] = rules->xlen == 32 ? bases32[k % 4] :
						      bases64[(k + below(w, 2)) % 6];
	/* regions must not lie on each other */
	if (rules->bases[0] == rules->bases[1])
		rules->n_regions = 1;
	rules->coroutines_return = true;
	/* only a full comparison notices a return that does not go back */
	rules->well_behaved = w->config.options & RVT_OPT_IMPLICIT_RETURN &&
			      w->config.implicit_return_mode < 3;
	rules->single = w->config.icnt_bits < 12 || one_in(w, 4);
	w->program.random = &w->random;
	w->program.executed = &w->executed;
	w->program.retire = retire;
	w->program.ctx = w;
	w->program.prv = 1;
	program_make(&w->program, w->space);
}

static int take_trap(struct world *w, int i, bool interrupt)
{
	struct program_insn *insn = &w->program.insns[i];
	int handler = below(w, w->program.n_insns);
	struct rvt_trap trap = {
		.interrupt = interrupt, .epc = insn->pc, .prv = 1,
		.handler = w->program.insns[handler].pc,
	};

	if (insn->kind == ENV && !interrupt)
		trap.ecall_halfwords = insn->halfwords;
	program_flush(&w->program);
	rvt_ntrace_encoder_trap(w->enc, &trap);
	w->executed.traps[w->executed.n_traps++] = (struct trap_seen){
		w->executed.n_pcs, trap.epc, trap.handler, .interrupt = interrupt,
	};
	w->program.previous = NO_INSN;
	return handler;
}

static bool is_ctte(const struct world *w)
{
	return w->config.dialect == RVT_DIALECT_NTRACE_CTTE;
}

/* Where tracing begins: CTTE does not at a taken branch or a trap, which would not be reported. */
static int first_insn(struct world *w, int i)
{
	while (is_ctte(w) && (w->program.insns[i].kind == BRANCH ||
			      w->program.insns[i].kind == ENV))
		i = below(w, w->program.n_insns);
	w->first = is_ctte(w);
	return i;
}

/* Tracing stops; it goes on here or elsewhere. */
static int interrupt_tracing(struct world *w, int i)
{
	static const struct {
		enum rvt_ntrace_evcode evcode;
		enum rvt_ntrace_sync sync;
	} kinds[] = {
		{ RVT_NTRACE_EV_DEBUG, RVT_NTRACE_SYNC_DEBUG_EXIT },
		{ RVT_NTRACE_EV_LOW_POWER, RVT_NTRACE_SYNC_POWER_DOWN_EXIT },
		{ RVT_NTRACE_EV_TRACE_DISABLED, RVT_NTRACE_SYNC_TRACE_ENABLE },
	};
	/* CTTE tells nothing of what came before a reset */
	int k = below(w, is_ctte(w) ? 3 : 4);

	program_flush(&w->program);
	if (k == 3) {
		rvt_ntrace_encoder_start(w->enc, RVT_NTRACE_SYNC_RESET_EXIT);
		i = below(w, w->program.n_insns);
	} else {
		rvt_ntrace_encoder_stop(w->enc, kinds[k].evcode, w->program.insns[i].pc);
		rvt_ntrace_encoder_start(w->enc, kinds[k].sync);
		if (one_in(w, 2))
			i = below(w, w->program.n_insns);
	}
	w->program.previous = NO_INSN;
	return first_insn(w, i);
}

/* In-circuit trace moves the reference of U-ADDR; data stands for itself. */
static void event_of_sifive(struct world *w)
{
	static const struct {
		enum rvt_ntrace_cksrc cksrc;
		enum rvt_mark mark;
	} kinds[] = {
		{ RVT_NTRACE_CK_TRIGGER, RVT_MARK_TRIGGER },
		{ RVT_NTRACE_CK_CALL, RVT_MARK_CALL },
		{ RVT_NTRACE_CK_EXCEPTION, RVT_MARK_EXCEPTION },
		{ RVT_NTRACE_CK_WATCHPOINT, RVT_MARK_WATCHPOINT },
		{ RVT_NTRACE_CK_PC_SAMPLE, RVT_MARK_PC_SAMPLE },
	};
	struct mark_seen seen = { .value = below(w, 1u << 30) * 2, .pc = 0 };
	bool has_value = one_in(w, 2);
	unsigned int k = below(w, 6);
	int ret;

	if (k == 5) {
		seen.mark = RVT_MARK_USER;
		ret = rvt_ntrace_encoder_data(w->enc, below(w, 128), seen.value);
	} else {
		seen.mark = kinds[k].mark;
		seen.pc = w->program.insns[below(w, w->program.n_insns)].pc;
		ret = rvt_ntrace_encoder_circuit(w->enc, kinds[k].cksrc, seen.pc,
						 has_value ? &seen.value : NULL);
		if (!has_value)
			seen.value = 0;
	}
	if (!ret)
		w->sent[w->n_sent++] = seen;
}

static void event_between(struct world *w)
{
	bool guest;

	switch (below(w, 5)) {
	case 0:
		if (is_ctte(w) && one_in(w, 3))
			rvt_ntrace_encoder_mark(w->enc, RVT_NTRACE_SYNC_REQUEST);
		else
			rvt_ntrace_encoder_mark(w->enc, one_in(w, 2) ?
						RVT_NTRACE_SYNC_TRACE_EVENT :
						RVT_NTRACE_SYNC_EXT_TRIGGER);
		break;
	case 1:
		guest = one_in(w, 2);
		rvt_ntrace_encoder_context(w->enc, guest, below(w, 1000));
		break;
	case 2:
		if (w->config.dialect == RVT_DIALECT_NTRACE_SIFIVE)
			event_of_sifive(w);
		else
			rvt_ntrace_encoder_drop_data(w->enc);
		break;
	default:
		rvt_ntrace_encoder_clocks(w->enc, below(w, 100));
		break;
	}
}

static void walk(struct world *w)
{
	int i = first_insn(w, below(w, w->program.n_insns));

	w->program.previous = NO_INSN;
	rvt_ntrace_encoder_start(w->enc, RVT_NTRACE_SYNC_TRACE_ENABLE);
	for (int steps = 0; steps < STEPS; steps++) {
		if (w->lossy && !w->damaged && one_in(w, 150))
			w->refuse = 1 + below(w, 3);
		if (one_in(w, 40)) {
			program_flush(&w->program);
			event_between(w);
		}
		if (one_in(w, 400))
			i = interrupt_tracing(w, i);
		if (w->first)
			i = program_step(&w->program, i);
		else if (w->program.insns[i].kind == ENV || one_in(w, 60))
			i = take_trap(w, i, one_in(w, w->program.insns[i].kind == ENV ? 6 : 2));
		else
			i = program_step(&w->program, i);
		w->first = false;
	}
	program_flush(&w->program);
	rvt_ntrace_encoder_stop(w->enc, RVT_NTRACE_EV_TRACE_DISABLED, w->program.insns[i].pc);
}

/* ---- the encoder ---- */

static uint64_t now(void *ctx)
{
	struct world *w = ctx;

	return w->time += below(w, 50);
}

static int emit(void *ctx, const uint8_t *bytes, size_t len)
{
	struct world *w = ctx;

	if (w->refuse) {
		w->refuse--;
		return -ENOSPC;
	}
	assert_int_equal(array_reserve(&w->trace, &w->size, w->len, len + 3), 0);
	if (one_in(w, 20))
		w->trace[w->len++] = 0xff;
	memcpy(w->trace + w->len, bytes, len);
	w->len += len;
	/* a difference before the first sync (tracing that starts disabled) means nothing */
	w->synced |= bytes[0] >> 2 == RVT_NTRACE_PROG_TRACE_SYNC;
	if (w->config.timestamp != RVT_TIMESTAMP_NONE && w->synced)
		w->executed.times[w->executed.n_times++] = w->time;
	/* nor does one between two traces */
	w->synced &= bytes[0] >> 2 != RVT_NTRACE_PROG_TRACE_CORRELATION;
	return 0;
}

static unsigned int random_options(struct world *w)
{
	static const unsigned int all[] = {
		RVT_OPT_SEQUENTIAL_JUMP, RVT_OPT_IMPLICIT_RETURN, RVT_OPT_REPEATED_HISTORY,
		RVT_OPT_ALL_JUMPS, RVT_OPT_EXTEND_ADDRESS_MSB,
	};
	unsigned int options = 0;

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (one_in(w, 2))
			options |= all[i];
	return options;
}

/* It compares whole addresses of returns, and predicts branches in place of repeating history. */
static void make_ctte(struct world *w)
{
	struct rvt_ntrace_encoder_config *c = &w->config;

	c->options &= ~(RVT_OPT_EXTEND_ADDRESS_MSB | RVT_OPT_ALL_JUMPS);
	c->implicit_return_mode = 3;
	c->configuration = one_in(w, 2);
	if (c->mode != RVT_MODE_HTM)
		return;
	c->hist_sync = one_in(w, 2);
	if (one_in(w, 2))
		c->options |= RVT_OPT_JUMP_TARGET_CACHE;
	if (one_in(w, 2)) {
		c->options = (c->options & ~RVT_OPT_REPEATED_HISTORY) | RVT_OPT_BRANCH_PREDICTION;
		c->bcnt_bits = 0;
		c->hist_sync = false;
	}
}

static void make_config(struct world *w)
{
	static const enum rvt_dialect dialects[] = {
		RVT_DIALECT_NTRACE_RC7, RVT_DIALECT_NTRACE_1_0, RVT_DIALECT_NTRACE_SIFIVE,
		RVT_DIALECT_NTRACE_CTTE,
	};
	struct rvt_ntrace_encoder_config *c = &w->config;
	bool sifive;

	c->dialect = dialects[below(w, 4)];
	c->mode = one_in(w, 3) ? RVT_MODE_BTM : RVT_MODE_HTM;
	c->xlen = one_in(w, 3) ? 32 : 64;
	c->options = random_options(w);
	if (c->dialect == RVT_DIALECT_NTRACE_SIFIVE)
		c->options &= ~RVT_OPT_EXTEND_ADDRESS_MSB;
	sifive = c->dialect == RVT_DIALECT_NTRACE_SIFIVE;
	c->implicit_return_mode = sifive ? 1 : 1 + below(w, 3);
	c->return_stack_depth = 1 + below(w, sifive ? 1023 : 32);
	c->src_bits = one_in(w, 2) ? below(w, 13) : 0;
	c->src = below(w, 1u << c->src_bits);
	c->context = one_in(w, 2);
	c->timestamp = below(w, 3);
	c->sync_mode = below(w, 4);
	c->sync_max = below(w, 6);
	c->icnt_bits = 4 + below(w, 19);
	c->hist_bits = 2 + below(w, 31);
	c->hrepeat_bits = 2 + below(w, 17);
	c->bcnt_bits = sifive ? 0 : below(w, 19);
	if (is_ctte(w))
		make_ctte(w);
	c->emit = emit;
	c->now = now;
	c->ctx = w;
	rvt_params_init(&w->params, RVT_PROTOCOL_NTRACE, c->dialect);
	w->params.xlen = c->xlen;
	w->params.options = c->options;
	/* the stream tells it */
	if (c->configuration)
		w->params.options &= ~RVT_OPT_BRANCH_PREDICTION;
	w->params.mode = one_in(w, 4) ? RVT_MODE_AUTO : c->mode;
	w->params.src_bits = c->src_bits;
	w->params.timestamp = c->timestamp;
	w->params.implicit_return_mode = c->options & RVT_OPT_IMPLICIT_RETURN ?
					 c->implicit_return_mode : 0;
	w->params.return_stack_depth = sifive || is_ctte(w) ? c->return_stack_depth : 0;
}

/* ---- the decoder ---- */

static int got_runs(void *ctx, const struct rvt_run *runs, size_t n)
{
	struct world *w = ctx;

	history_add_runs(&w->decoded, runs, n);
	return 0;
}

static int got_event(void *ctx, const struct rvt_event *event)
{
	struct world *w = ctx;

	pauses_event(&w->pauses, &w->random, event);
	history_add_event(&w->decoded, event);
	if (event->type == RVT_EVENT_MARK && (event->own_pc || event->mark == RVT_MARK_USER) &&
	    w->n_seen < STEPS)
		w->seen[w->n_seen++] = (struct mark_seen){
			event->mark, event->own_pc ? event->pc : 0,
			event->mark == RVT_MARK_CALL ? event->target : event->value,
		};
	if (event->type == RVT_EVENT_LOST && !w->lossy)
		print_error("lost after %zu pcs: %s\n", w->decoded.n_pcs, event->detail);
	return 0;
}

static struct rvt_flow *get_flow(void *ctx, unsigned int src)
{
	struct world *w = ctx;

	if (w->damaged && src != w->config.src)
		return NULL;
	assert_int_equal(src, w->config.src);
	return w->flow;
}

static void decode(struct world *w)
{
	struct rvt_flow_sink sink = { .size = sizeof(sink),
		.ctx = w, .runs = got_runs, .event = got_event };
	struct rvt_stream_ops ops = { .size = sizeof(ops), .ctx = w, .flow = get_flow };
	struct rvt_flow_config config = { .size = sizeof(config) };
	struct rvt_stream *stream;
	size_t taken;

	rvt_stream_flow_config(&w->params, &config);
	config.reference_walk = one_in(w, 4);
	assert_int_equal(rvt_flow_create(&config, &sink, &w->flow), 0);
	rvt_flow_set_space(w->flow, w->space);
	assert_int_equal(rvt_stream_create(&w->params, &ops, &stream), 0);
	w->pauses = (struct pauses){ .stream = stream };
	for (size_t pos = 0; pos < w->len; ) {
		size_t piece = 1 + below(w, 2000);

		if (piece > w->len - pos)
			piece = w->len - pos;
		assert_int_equal(pauses_feed(&w->pauses, &w->random, w->trace + pos, piece, pos,
					     &taken), 0);
		pos += taken;
	}
	assert_int_equal(rvt_stream_finish(stream), 0);
	rvt_stream_destroy(stream);
	rvt_flow_destroy(w->flow);
}

/* ---- comparison ---- */

static void describe(const struct world *w, uint64_t seed)
{
	const struct rvt_ntrace_encoder_config *c = &w->config;

	print_error("RVT_PROPERTY_SEED=%" PRIu64 ": %s %s xlen %u options 0x%x implicit return "
		    "%u/%u src %u/%u timestamp %u sync %u/%u icnt %u hist %u hrepeat %u bcnt %u"
		    "%s\n", seed,
		    c->dialect == RVT_DIALECT_NTRACE_SIFIVE ? "sifive" :
		    c->dialect == RVT_DIALECT_NTRACE_CTTE ? "ctte" :
		    c->dialect == RVT_DIALECT_NTRACE_RC7 ? "rc7" : "1.0",
		    c->mode == RVT_MODE_BTM ? "btm" : "htm", c->xlen, c->options,
		    c->implicit_return_mode, c->return_stack_depth, c->src, c->src_bits,
		    c->timestamp, c->sync_mode, c->sync_max, c->icnt_bits, c->hist_bits,
		    c->hrepeat_bits, c->bcnt_bits,
		    w->damaged ? " damaged" : w->lossy ? " lossy" : "");
}

static bool same(const struct world *w)
{
	const struct history *e = &w->executed, *d = &w->decoded;

	if (!history_same_flow(e, d))
		return false;
	for (size_t i = 0; i < e->n_traps; i++) {
		const struct trap_seen *a = &e->traps[i], *b = &d->traps[i];

		if (a->at != b->at || a->epc != b->epc || a->handler != b->handler ||
		    a->interrupt != b->interrupt) {
			print_error("trap %zu differs\n", i);
			return false;
		}
	}
	if (w->n_sent != w->n_seen) {
		print_error("%zu marks, decoded %zu\n", w->n_sent, w->n_seen);
		return false;
	}
	for (size_t i = 0; i < w->n_sent; i++) {
		const struct mark_seen *a = &w->sent[i], *b = &w->seen[i];

		if (a->mark != b->mark || a->pc != b->pc || a->value != b->value) {
			print_error("mark %zu differs\n", i);
			return false;
		}
	}
	if (e->n_times != d->n_times ||
	    memcmp(e->times, d->times, e->n_times * sizeof(e->times[0]))) {
		print_error("timestamps differ: %zu, decoded %zu\n", e->n_times, d->n_times);
		return false;
	}
	return true;
}

/* Cuts, flipped bits, zeros and noise. */
static void damage(struct world *w)
{
	size_t at = below(w, w->len), n = 1 + below(w, 40);

	if (n > w->len - at)
		n = w->len - at;
	switch (below(w, 4)) {
	case 0:
		memmove(w->trace + at, w->trace + at + n, w->len - at - n);
		w->len -= n;
		break;
	case 1:
		w->trace[at] ^= 1 << below(w, 8);
		break;
	case 2:
		memset(w->trace + at, 0, n);
		break;
	default:
		while (n--)
			w->trace[at + n] = random_word(&w->random) >> 32;
		break;
	}
}

static size_t check_case(uint64_t seed, enum property_kind kind)
{
	struct world *w = calloc(1, sizeof(*w));
	struct rvt_image *image;
	size_t decoded;

	assert_non_null(w);
	random_seed(&w->random, seed);
	w->lossy = kind != CHECK_ALL;
	w->damaged = kind == CHECK_DAMAGE;
	assert_int_equal(rvt_image_create(&image), 0);
	assert_int_equal(rvt_space_create(image, NULL, &w->space), 0);
	make_config(w);
	make_program(w);
	assert_int_equal(rvt_ntrace_encoder_create(&w->config, &w->enc), 0);
	walk(w);
	rvt_ntrace_encoder_destroy(w->enc);
	if (w->damaged)
		for (unsigned int n = 1 + below(w, 5); n; n--)
			damage(w);
	decode(w);
	if (!(w->damaged ? program_has(&w->program, &w->decoded) :
	      w->lossy ? history_is_part(&w->executed, &w->decoded) : same(w))) {
		describe(w, seed);
		fail();
	}
	decoded = w->decoded.n_pcs;
	rvt_image_destroy(image);
	free(w->trace);
	free(w);
	return decoded;
}

int main(void)
{
	return property_main("ntrace properties", check_case, STEPS, 2);
}
