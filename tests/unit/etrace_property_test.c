// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Random programs, walked at random, through an encoder with random parameters and options, in
 * every dialect: the decoder must give back every instruction, trap, mark and timestamp. Once
 * more with packets that do not get out: what is decoded must be pieces of what was executed,
 * in order.
 *
 * See property.h for what sets the seeds. RVT_PROPERTY_OPTIONS is a mask of the options to try,
 * RVT_PROPERTY_DIALECT the only dialect (0 to 3); RVT_PROPERTY_VERBOSE=1 prints everything.
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
#include <rvtrace/dump.h>
#include <rvtrace/etrace.h>
#include <rvtrace/image.h>
#include <rvtrace/stream.h>
#include "util/array.h"
#include "random-program.h"

#define INSNS 400
#define STEPS 4000
#define ENOUGH 7	/* ends decoding */

struct world {
	struct random random;
	struct rvt_etrace_encoder_config config;
	struct rvt_params params;
	struct rvt_etrace_encoder *enc;
	bool lossy, damaged;
	bool draft;

	struct random_program program;
	bool after_trap;	/* nothing of the handler retired yet */

	uint64_t time;
	uint8_t *trace;
	size_t len, size;
	unsigned int refuse;	/* packets that are still dropped */

	struct history executed, decoded;
	uint64_t n_decoded;
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

	rvt_etrace_encoder_retire(w->enc, run);
}

static void make_program(struct world *w)
{
	static const uint64_t bases64[] = {
		0x100, 0x80000000, 0x7ffff123f000, 0x3fc0000000, 0xffffffff80000000,
	};
	static const uint64_t bases32[] = { 0x100, 0x7ffffc00, 0x80201000, 0xfff00000 };
	struct program_rules *rules = &w->program.rules;

	rules->xlen = w->params.xlen;
	rules->n_regions = 1;
	rules->region_insns = INSNS;
	rules->bases[0] = w->params.xlen == 32 ? bases32[below(w, 4)] : bases64[below(w, 5)];
	if (w->params.xlen == 64 && w->params.iaddress_width_p < 40)
		rules->bases[0] = bases64[below(w, 2)];
	rules->only_words = w->params.iaddress_lsb_p == 2;
	/* 2.0.5 cannot tell whether a call to where it returns to did return. */
	rules->absolute = rules->forward = rules->privileges = true;
	/* only a full comparison notices a return that does not go back */
	rules->well_behaved = !w->params.return_stack_size_p;
	rules->single = one_in(w, 4);
	w->program.random = &w->random;
	w->program.executed = &w->executed;
	w->program.retire = retire;
	w->program.ctx = w;
	program_make(&w->program, w->space);
}

static int step(struct world *w, int i)
{
	i = program_step(&w->program, i);
	w->after_trap = false;
	return i;
}

/* One handler for each cause: implicit exception mode needs it. */
static int handler_of(const struct world *w, bool interrupt, uint64_t cause)
{
	return (cause * 37 + interrupt * 11 + w->program.insns[3].favourite) % INSNS;
}

static int enter_handler(struct world *w, int i, bool interrupt, uint64_t cause)
{
	int handler = handler_of(w, interrupt, cause);
	struct rvt_trap trap = {
		.interrupt = interrupt, .cause = cause, .epc = w->program.insns[i].pc,
		.tval = interrupt ? 0 : cause == 2 ? 0x1f : w->program.insns[i].pc,
		.handler = w->program.insns[handler].pc,
		.prv = w->program.prv > 1 || one_in(w, 2) ? 3 : 1,
	};

	program_flush(&w->program);
	w->program.prv = trap.prv;
	rvt_etrace_encoder_trap(w->enc, &trap);
	/* 0.029 cannot report a trap whose handler was not entered. */
	if (w->draft && w->after_trap)
		w->executed.n_traps--;
	w->executed.traps[w->executed.n_traps++] = (struct trap_seen){
		w->executed.n_pcs, trap.epc, trap.handler, cause, trap.tval, interrupt,
	};
	w->program.previous = NO_INSN;
	w->after_trap = true;
	return handler;
}

static int take_trap(struct world *w, int i, bool interrupt)
{
	static const uint8_t causes[] = { 0, 2, 3, 5, 8, 12, 13, 15 };
	const struct history *e = &w->executed;

	/*
	 * 0.029: a handler's first instruction that retired cannot be told from one that trapped
	 * when the hart comes there again and that time it traps.
	 */
	if (w->draft && e->n_pcs && e->pcs[e->n_pcs - 1] == w->program.insns[i].pc)
		interrupt = true;
	return enter_handler(w, i, interrupt, interrupt ? 1 + below(w, 12) : causes[below(w, 8)]);
}

static void start(struct world *w)
{
	rvt_etrace_encoder_start(w->enc);
	w->after_trap = false;
	w->program.previous = NO_INSN;
}

/* Tracing stops; it goes on here or elsewhere. */
static int interrupt_tracing(struct world *w, int i)
{
	program_flush(&w->program);
	if (w->draft && w->after_trap)
		w->executed.n_traps--;
	rvt_etrace_encoder_stop(w->enc, one_in(w, 2));
	start(w);
	return one_in(w, 2) ? (int)below(w, INSNS) : i;
}

/* Whether the next instruction is reported anyway is the encoder's business: count upper bounds. */
static void event_between(struct world *w)
{
	switch (below(w, 3)) {
	case 0:
		rvt_etrace_encoder_mark(w->enc);
		w->executed.marks[w->executed.n_marks++] = w->executed.n_pcs;
		break;
	case 1:
		rvt_etrace_encoder_context(w->enc, below(w, 1000) &
					   ((1u << w->params.context_width_p) - 1));
		break;
	default:
		rvt_etrace_encoder_clocks(w->enc, below(w, 100));
		break;
	}
}

static void walk(struct world *w)
{
	int i = below(w, INSNS);

	w->program.prv = below(w, 2) ? 3 : 1;
	start(w);
	for (int steps = 0; steps < STEPS; steps++) {
		if (w->lossy && one_in(w, 150))
			w->refuse = 1 + below(w, 3);
		if (one_in(w, 40)) {
			program_flush(&w->program);
			event_between(w);
		}
		if (one_in(w, 400))
			i = interrupt_tracing(w, i);
		if (w->program.insns[i].kind == ENV || one_in(w, 60) ||
		    (w->after_trap && one_in(w, 10)))
			i = take_trap(w, i, one_in(w, w->program.insns[i].kind == ENV ? 6 : 2));
		else
			i = step(w, i);
	}
	program_flush(&w->program);
	if (w->draft && w->after_trap)
		w->executed.n_traps--;
	rvt_etrace_encoder_stop(w->enc, true);
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
	assert_int_equal(array_reserve(&w->trace, &w->size, w->len, len + 20), 0);
	if (w->params.framing == RVT_FRAMING_ESP32)
		for (unsigned int n = one_in(w, 20) ? below(w, 16) : 0; n; n--)
			w->trace[w->len++] = 0;
	else if (one_in(w, 20))
		w->trace[w->len++] = one_in(w, 2) ? 0x80 : 0;
	if (property_setting("RVT_PROPERTY_VERBOSE", 0))
		fprintf(stderr, "%08zx: sent after instruction %zu\n", w->len, w->executed.n_pcs);
	memcpy(w->trace + w->len, bytes, len);
	w->len += len;
	return 0;
}

static unsigned int random_options(struct world *w)
{
	static const unsigned int all[] = {
		RVT_OPT_SEQUENTIAL_JUMP, RVT_OPT_IMPLICIT_RETURN, RVT_OPT_IMPLICIT_EXCEPTION,
		RVT_OPT_BRANCH_PREDICTION, RVT_OPT_JUMP_TARGET_CACHE, RVT_OPT_FULL_ADDRESS,
	};
	unsigned int options = 0, odds = 1 + below(w, 4);

	/* support packets do not say all of them */
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		w->params.ioptions[i] = one_in(w, 4) ? 0 : all[i];
		if (one_in(w, odds))
			options |= all[i];
	}
	w->params.n_ioptions = one_in(w, 4) ? below(w, 7) : 6;
	return options & property_setting("RVT_PROPERTY_OPTIONS", ~0u);
}

/* It has nothing that is optional. */
static void random_esp32(struct world *w)
{
	struct rvt_params *p = &w->params;

	p->isa = RVT_ISA_RV32;
	p->privilege_width_p = 2;
	p->options = one_in(w, 2) ? RVT_OPT_FULL_ADDRESS : 0;
	w->draft = true;
}

static void random_params(struct world *w)
{
	static const enum rvt_dialect dialects[] = {
		RVT_DIALECT_ETRACE_0_029, RVT_DIALECT_ETRACE_2_0, RVT_DIALECT_ETRACE_2_0_5,
		RVT_DIALECT_ETRACE_ESP32,
	};
	struct rvt_params *p = &w->params;

	rvt_params_init(p, RVT_PROTOCOL_ETRACE,
			dialects[property_setting("RVT_PROPERTY_DIALECT", below(w, 4)) & 3]);
	if (p->dialect == RVT_DIALECT_ETRACE_ESP32) {
		random_esp32(w);
		return;
	}
	w->draft = p->dialect == RVT_DIALECT_ETRACE_0_029;
	p->xlen = one_in(w, 3) ? 32 : 64;
	p->isa = p->xlen == 32 ? RVT_ISA_RV32 : 0;
	p->iaddress_width_p = p->xlen == 32 || one_in(w, 5) ? 32 : one_in(w, 2) ? 64 : 48;
	p->iaddress_lsb_p = one_in(w, 8) ? 0 : 1 + one_in(w, 5);
	p->nocontext_p = one_in(w, 2);
	p->context_width_p = 4 + below(w, 8);
	p->notime_p = !one_in(w, 3);
	p->time_width_p = p->dialect == RVT_DIALECT_ETRACE_2_0_5 ? 16 * (1 + below(w, 4)) :
			  8 + below(w, 50);
	p->privilege_width_p = 2 + below(w, 2);
	p->ecause_width_p = 4 + below(w, 3);
	p->bpred_size_p = 1 + below(w, 7);
	p->cache_size_p = 1 + below(w, 7);
	p->f0s_width_p = 1;
	p->return_stack_size_p = one_in(w, 3) ? 0 : 1 + below(w, 6);
	p->call_counter_size_p = one_in(w, 3) ? 0 : 1 + below(w, 6);
	p->encoder_mode_bits = 1 + below(w, 3);
	p->doptions_bits = below(w, 5);
	p->srcid_bits = one_in(w, 2) ? below(w, 17) : 0;
	p->timestamp_bytes = one_in(w, 3) ? 1 + below(w, 8) : 0;
	p->type_bits = below(w, 3);
	p->type_instruction = p->type_bits == 2 ? 2 : 0;
	p->jump_cache_index = below(w, 3);
	p->jump_cache_returns = below(w, 3);
	p->trap_address = below(w, 2);
	if (w->draft) {
		p->context_packet_context = below(w, 2);
		p->context_packet_returns = below(w, 2);
	}
	p->options = random_options(w);
}

static void make_config(struct world *w)
{
	struct rvt_etrace_encoder_config *c = &w->config;

	random_params(w);
	c->params = &w->params;
	c->src = below(w, 1u << w->params.srcid_bits);
	c->flow = below(w, 4);
	c->context = !w->params.nocontext_p && one_in(w, 2);
	c->context_precise = one_in(w, 2);
	c->timestamp_all = one_in(w, 2);
	c->sync_mode = below(w, 4);
	c->sync_max = below(w, 6);
	/* Return targets that are in the cache and followed by a synchronisation are too much. */
	c->cache_kept = w->draft && w->params.jump_cache_returns != RVT_JUMP_CACHE_ALL_RETURNS;
	c->max_branch_count = one_in(w, 2) ? below(w, 100) : 0;
	c->emit = emit;
	c->now = now;
	c->ctx = w;
}

/* ---- the decoder ---- */

static int got_runs(void *ctx, const struct rvt_run *runs, size_t n)
{
	struct world *w = ctx;

	history_add_runs(&w->decoded, runs, n);
	for (size_t i = 0; i < n; i++)
		w->n_decoded += runs[i].count;
	/* Damaged branch counts can be huge. */
	return w->n_decoded > 100 * STEPS ? ENOUGH : 0;
}

static int got_event(void *ctx, const struct rvt_event *event)
{
	struct world *w = ctx;
	struct history *d = &w->decoded;

	if (event->type == RVT_EVENT_TIME && !w->damaged && d->n_times)
		assert_true(event->time > d->times[d->n_times - 1]);
	if (event->type == RVT_EVENT_LOST && !w->lossy && !w->damaged)
		print_error("lost after %zu pcs: %s\n", d->n_pcs, event->detail);
	pauses_event(&w->pauses, &w->random, event);
	history_add_event(d, event);
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

static void set_vectors(struct world *w)
{
	struct rvt_trap_vectors *v = &w->params.vectors;

	v->exception_valid = v->interrupt_valid = UINT64_MAX;
	for (int i = 0; i < RVT_MAX_CAUSES; i++) {
		v->exception[i] = w->program.insns[handler_of(w, false, i)].pc;
		v->interrupt[i] = w->program.insns[handler_of(w, true, i)].pc;
	}
}

static void decode(struct world *w)
{
	struct rvt_flow_sink sink = { .size = sizeof(sink),
		.ctx = w, .runs = got_runs, .event = got_event };
	struct rvt_stream_ops ops = { .size = sizeof(ops), .ctx = w, .flow = get_flow };
	struct rvt_flow_config config = { .size = sizeof(config) };
	struct rvt_stream_stats stats = { .size = sizeof(stats) };
	struct rvt_stream *stream;
	size_t taken;
	int ret = 0;

	/* the support packet says so, as far as it has bits; that of ESP32 has none */
	if (w->params.dialect == RVT_DIALECT_ETRACE_2_0_5)
		w->params.options = 0;
	for (unsigned int i = 0; i < w->params.n_ioptions; i++)
		w->params.options &= ~w->params.ioptions[i];
	set_vectors(w);
	rvt_stream_flow_config(&w->params, &config);
	config.reference_walk = one_in(w, 4);
	assert_int_equal(rvt_flow_create(&config, &sink, &w->flow), 0);
	rvt_flow_set_space(w->flow, w->space);
	assert_int_equal(rvt_stream_create(&w->params, &ops, &stream), 0);
	w->pauses = (struct pauses){ .stream = stream, .holds = true };
	for (size_t pos = 0; pos < w->len; ) {
		size_t piece = 1 + below(w, 2000);

		if (piece > w->len - pos)
			piece = w->len - pos;
		ret = pauses_feed(&w->pauses, &w->random, w->trace + pos, piece, pos, &taken);
		if (ret)
			break;
		pos += taken;
	}
	if (!ret)
		ret = rvt_stream_finish(stream);
	rvt_stream_stats(stream, &stats);
	if (!w->damaged || ret != ENOUGH) {
		assert_int_equal(ret, 0);
		assert_int_equal(stats.bytes, w->len);
	}
	rvt_stream_destroy(stream);
	rvt_flow_destroy(w->flow);
}

/* ---- comparison ---- */

static void describe(const struct world *w, uint64_t seed)
{
	const struct rvt_etrace_encoder_config *c = &w->config;
	char *text = NULL;

	print_error("RVT_PROPERTY_SEED=%" PRIu64 ": src %u sync %u/%u context %u/%u max count %u"
		    "%s%s\n", seed, c->src, c->sync_mode, c->sync_max, c->context,
		    c->context_precise,
		    c->max_branch_count, w->program.rules.single ? " single" : "",
		    w->lossy ? " lossy" : "");
	if (!rvt_params_print(&w->params, &text))
		print_error("%.900s\n", text);
	free(text);
}

static bool same_trap(const struct world *w, const struct trap_seen *a, const struct trap_seen *b)
{
	uint64_t causes = (1ull << w->params.ecause_width_p) - 1;

	if (a->at != b->at || (a->cause & causes) != b->cause || a->interrupt != b->interrupt)
		return false;
	/* A handler that was not entered need not be told. */
	if (a->handler != b->handler && b->handler != RVT_UNLIMITED)
		return false;
	/* Nor is the EPC always: 0.029, after a jump; 2.0, in the second of two traps. */
	if (a->epc != b->epc && b->epc)
		return w->draft;
	return w->draft || a->tval == b->tval;
}

static bool same(const struct world *w)
{
	const struct history *e = &w->executed, *d = &w->decoded;
	size_t mark = 0;

	if (!history_same_flow(e, d))
		return false;
	for (size_t i = 0; i < e->n_traps; i++) {
		if (!same_trap(w, &e->traps[i], &d->traps[i])) {
			const struct trap_seen *a = &e->traps[i], *b = &d->traps[i];

			print_error("trap %zu: after %zu epc %" PRIx64 " handler %" PRIx64
				    " cause %" PRIu64 " tval %" PRIx64 ", decoded: %zu %" PRIx64
				    " %" PRIx64 " %" PRIu64 " %" PRIx64 "\n", i, a->at, a->epc,
				    a->handler, a->cause, a->tval, b->at, b->epc, b->handler,
				    b->cause, b->tval);
			return false;
		}
	}
	/* With irets, which need no marks of our own, each mark was asked for. */
	for (size_t i = 0; i < d->n_marks && w->params.dialect == RVT_DIALECT_ETRACE_2_0_5; i++) {
		while (mark < e->n_marks && e->marks[mark] < d->marks[i])
			mark++;
		if (mark == e->n_marks || e->marks[mark] != d->marks[i]) {
			print_error("mark %zu, before instruction %zu, was not asked for\n", i,
				    d->marks[i]);
			return false;
		}
	}
	return true;
}

/* The packets, and every instruction and trap that they should tell. */
static void print_case(const struct world *w)
{
	const struct history *e = &w->executed;
	struct rvt_dump *dump;
	size_t trap = 0;

	assert_int_equal(rvt_dump_create(&w->params, 0, stderr, &dump), 0);
	rvt_dump_feed(dump, w->trace, w->len, 0);
	rvt_dump_finish(dump);
	rvt_dump_destroy(dump);
	for (size_t i = 0; i < e->n_pcs; i++) {
		const struct program_insn *insn = &w->program.insns[program_find(&w->program,
										 e->pcs[i])];

		for (; trap < e->n_traps && e->traps[trap].at == i; trap++)
			fprintf(stderr, "trap epc %" PRIx64 " handler %" PRIx64 "\n",
				e->traps[trap].epc, e->traps[trap].handler);
		fprintf(stderr, "%zu: %" PRIx64 " kind %u target %" PRIx64 "\n", i, insn->pc,
			insn->kind, w->program.insns[insn->target].pc);
	}
}

/* Flips a bit, or takes away or doubles some bytes, every 300 bytes or so. */
static void damage(struct world *w)
{
	for (size_t pos = below(w, 300); pos + 20 < w->len; pos += 1 + below(w, 600)) {
		unsigned int n = 1 + below(w, 8);

		switch (below(w, 3)) {
		case 0:
			w->trace[pos] ^= 1u << below(w, 8);
			break;
		case 1:
			memmove(w->trace + pos, w->trace + pos + n, w->len - pos - n);
			w->len -= n;
			break;
		default:
			assert_int_equal(array_reserve(&w->trace, &w->size, w->len, n), 0);
			memmove(w->trace + pos + n, w->trace + pos, w->len - pos);
			w->len += n;
			break;
		}
	}
}

static size_t check_case(uint64_t seed, enum property_kind kind)
{
	struct world *w = calloc(1, sizeof(*w));
	struct rvt_image *image;
	unsigned int options;
	size_t decoded;

	assert_non_null(w);
	random_seed(&w->random, seed);
	w->lossy = kind == CHECK_LOSS;
	w->damaged = kind == CHECK_DAMAGE;
	assert_int_equal(rvt_image_create(&image), 0);
	assert_int_equal(rvt_space_create(image, NULL, &w->space), 0);
	make_config(w);
	make_program(w);
	assert_int_equal(rvt_etrace_encoder_create(&w->config, &w->enc), 0);
	walk(w);
	rvt_etrace_encoder_destroy(w->enc);
	options = w->params.options;
	if (property_setting("RVT_PROPERTY_VERBOSE", 0))
		print_case(w);
	if (w->damaged)
		damage(w);
	decode(w);
	if (!(w->damaged ? program_has(&w->program, &w->decoded) :
	      w->lossy ? history_is_part(&w->executed, &w->decoded) : same(w))) {
		w->params.options = options;
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
	return property_main("etrace properties", check_case, STEPS, 1);
}
