// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * rvt-modes: how fast every optional mode of both protocols is counted. What a recording says was
 * executed, or a random program of RV32, is encoded by the model's encoders in each mode, and what
 * they sent is decoded, by turns, so that what else the machine does hits all modes. Each mode must
 * tell as many instructions as went in. With -r the reference walk decodes each mode once, too, and
 * both must count the same runs and edges. With -w what was encoded is written for other decoders,
 * as DIRECTORY/MODE.trace and MODE.params.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <rvtrace/etrace.h>
#include <rvtrace/image.h>
#include <rvtrace/insn.h>
#include <rvtrace/ntrace.h>
#include <rvtrace/session.h>
#include <rvtrace/stream.h>
#include "tests/unit/random-hart.h"
#include "util/array.h"

#define SEED 10	/* has no endless loop without branches, which E-Trace does not count */
#define STEPS 100000
#define REPEATS 40
#define HASH_BITS 20
#define MAX_CHUNKS 65536

static void check(int ret, const char *what)
{
	if (!ret)
		return;
	fprintf(stderr, "rvt-modes: %s: %s\n", what, strerror(ret < 0 ? -ret : ret));
	exit(2);
}

/* ---- what was executed ---- */

/* Straight lines that differ, and which of them came after which. */
struct program {
	bool rv32;
	struct rvt_image *image;
	struct rvt_retire *lines;
	size_t n_lines, lines_room;
	struct rvt_trap *traps;
	size_t n_traps, traps_room;
	uint32_t *order;		/* numbers of lines, or TRAP and that of a trap, or PAUSE */
	size_t n_order, order_room;
	uint32_t *hash;			/* by content of a line: its number + 1 */
	uint64_t insns, most;
	/* at each pause another space may hold */
	struct chunk {
		size_t first;		/* of .order */
		struct rvt_space *space;
	} chunks[MAX_CHUNKS];
	size_t n_chunks;
};

#define PAUSE UINT32_MAX	/* tracing stops, and starts again */
#define TRAP (1u << 31)

static uint32_t hash_of(const struct rvt_retire *line)
{
	const uint64_t x = line->first_pc * 0x9e3779b97f4a7c15ull ^
			   line->last_pc * 0xd6e8feb86659fd93ull ^ line->itype << 7 ^
			   line->sijump << 3;

	return (x ^ x >> 29) * 0xbf58476d1ce4e5b9ull >> (64 - HASH_BITS - 2);
}

static bool is_same(const struct rvt_retire *a, const struct rvt_retire *b)
{
	return a->first_pc == b->first_pc && a->last_pc == b->last_pc && a->itype == b->itype &&
	       a->sijump == b->sijump && a->insns == b->insns && a->prv == b->prv;
}

static void add_number(struct program *p, uint32_t number)
{
	check(array_reserve(&p->order, &p->order_room, p->n_order, 1), "program");
	p->order[p->n_order++] = number;
}

static void add_line(struct program *p, const struct rvt_retire *line)
{
	const uint32_t mask = (4u << HASH_BITS) - 1;
	uint32_t slot = hash_of(line);

	if (!p->hash)
		p->hash = calloc(mask + 1, sizeof(*p->hash));
	check(p->hash && p->n_lines < mask / 2 ? 0 : -ENOMEM, "program");
	while (p->hash[slot] && !is_same(&p->lines[p->hash[slot] - 1], line))
		slot = (slot + 1) & mask;
	if (!p->hash[slot]) {
		check(array_reserve(&p->lines, &p->lines_room, p->n_lines, 1), "program");
		p->lines[p->n_lines++] = *line;
		p->hash[slot] = p->n_lines;
	}
	add_number(p, p->hash[slot] - 1);
	p->insns += line->insns;
}

static void add_pause(struct program *p, struct rvt_space *space)
{
	struct chunk *last = p->n_chunks ? &p->chunks[p->n_chunks - 1] : NULL;

	if (p->n_order && p->order[p->n_order - 1] != PAUSE)
		add_number(p, PAUSE);
	if (last && last->space == space)
		return;
	if (last && last->first == p->n_order) {
		last->space = space;
		return;
	}
	check(p->n_chunks < MAX_CHUNKS ? 0 : -E2BIG, "processes that take turns");
	p->chunks[p->n_chunks++] = (struct chunk){ p->n_order, space };
}

/* ---- a random program ---- */

static void on_retire(void *ctx, const struct rvt_retire *run)
{
	struct program *p = ctx;

	add_line(p, run);
}

static void on_trap(void *ctx, const struct rvt_trap *trap)
{
	struct program *p = ctx;

	check(array_reserve(&p->traps, &p->traps_room, p->n_traps, 1), "program");
	add_number(p, TRAP | p->n_traps);
	p->traps[p->n_traps++] = *trap;
}

/* The same program again and again: what is decoded is not new, as in most programs. */
static void make_random(struct program *p)
{
	const struct hart_sink sink = { p, on_retire, on_trap };
	struct rvt_space *space;

	p->rv32 = true;
	check(rvt_image_create(&p->image), "code");
	check(rvt_space_create(p->image, NULL, &space), "code");
	for (int i = 0; i < REPEATS; i++) {
		struct hart *hart = hart_create(SEED, true);

		if (!i)
			check(rvt_space_map_bytes(space, HART_BASE, hart_code(hart), HART_BYTES,
						  "code"), "code");
		add_pause(p, space);
		hart_run(hart, &sink, STEPS);
		hart_destroy(hart);
	}
}

/* ---- a recording ---- */

/* A space of the recording, and what of it is needed. */
struct copy {
	struct rvt_space *of, *space;
};

struct reader {
	struct program *program;
	struct copy copies[256];
	size_t n_copies;
	struct rvt_hart_flow *hart;	/* whose .line is */
	struct rvt_space *space;	/* its copy; NULL: at a pause */
	struct rvt_retire line;		/* not yet known how it ended */
	struct rvt_insn last;
	bool has_line;
	uint8_t iclass;
	bool after_load;		/* .last is the end of a line that fell through */
};

static struct rvt_space *copy_of(struct reader *r, struct rvt_space *of)
{
	for (size_t i = 0; i < r->n_copies; i++)
		if (r->copies[i].of == of)
			return r->copies[i].space;
	check(r->n_copies < 256 ? 0 : -E2BIG, "processes");
	r->copies[r->n_copies].of = of;
	check(rvt_space_create(r->program->image, NULL, &r->copies[r->n_copies].space), "code");
	return r->copies[r->n_copies++].space;
}

/* The mapping of @pc is in the copy, too. False: it was another before. */
static bool copy_code(struct reader *r, uint64_t pc)
{
	const uint8_t *bytes, *known;
	struct rvt_location where;
	size_t len;

	len = rvt_space_find(r->hart->space, pc, &bytes);
	if (rvt_space_find(r->space, pc, &known))
		return len >= 2 && !memcmp(bytes, known, 2);
	if (!len || rvt_space_locate(r->hart->space, pc, &where))
		return false;
	len = rvt_space_find(r->hart->space, where.map_start, &bytes);
	if (len <= pc - where.map_start)
		return false;
	check(rvt_space_map_bytes(r->space, where.map_start, bytes, len, where.path), "code");
	return true;
}

static bool decode_at(struct reader *r, uint64_t pc, struct rvt_insn *insn)
{
	const uint8_t *bytes;
	const size_t len = rvt_space_find(r->space, pc, &bytes);

	return len && !rvt_insn_decode(bytes, len, 0, insn);
}

static uint8_t itype_of(uint8_t iclass, bool taken)
{
	switch (iclass) {
	case RVT_INSN_BRANCH:
		return taken ? RVT_ITYPE_BRANCH_TAKEN : RVT_ITYPE_BRANCH_NOT_TAKEN;
	case RVT_INSN_CALL: return RVT_ITYPE_CALL;
	case RVT_INSN_JUMP: return RVT_ITYPE_JUMP;
	case RVT_INSN_JUMP_LINKED: return RVT_ITYPE_JUMP_LINKED;
	case RVT_INSN_IND_CALL: return RVT_ITYPE_IND_CALL;
	case RVT_INSN_IND_JUMP: return RVT_ITYPE_IND_JUMP;
	case RVT_INSN_IND_JUMP_LINKED: return RVT_ITYPE_IND_JUMP_LINKED;
	case RVT_INSN_COROUTINE: return RVT_ITYPE_COROUTINE;
	case RVT_INSN_RETURN: return RVT_ITYPE_RETURN;
	case RVT_INSN_TRAP_RETURN: return RVT_ITYPE_TRAP_RETURN;
	default: return RVT_ITYPE_NONE;
	}
}

/* What follows the line is at @next. */
static void end_line(struct reader *r, uint64_t next)
{
	if (!r->has_line)
		return;
	r->line.itype = itype_of(r->iclass,
				 next != r->line.last_pc + 2 * r->line.last_halfwords);
	add_line(r->program, &r->line);
	r->has_line = false;
}

static void begin_line(struct reader *r, const struct rvt_run *run)
{
	const uint64_t last_pc = rvt_run_insn_address(run, run->count - 1);
	struct rvt_insn last = { .len_bytes = 0 }, before = r->last;
	bool after_load = r->after_load;

	r->line = (struct rvt_retire){
		.first_pc = rvt_run_insn_address(run, 0), .last_pc = last_pc, .insns = run->count,
		.halfwords = (rvt_run_insn_address(run, run->count) -
			      rvt_run_insn_address(run, 0)) / 2,
		.last_halfwords = run->block->halfwords[run->first + run->count - 1],
	};
	r->iclass = run->first + run->count == run->block->insns ? run->block->iclass :
								   RVT_INSN_SEQUENTIAL;
	r->has_line = true;
	r->after_load = false;
	if (r->iclass < RVT_INSN_IND_CALL && r->iclass != RVT_INSN_SEQUENTIAL)
		return;
	check(decode_at(r, last_pc, &last) ? 0 : -EILSEQ, "code");
	if (r->iclass == RVT_INSN_SEQUENTIAL) {
		r->last = last;
		r->after_load = last.flags & RVT_INSN_F_LOADS_IMM;
		return;
	}
	r->line.absolute = last.flags & RVT_INSN_F_ABSOLUTE;
	if (run->count > 1) {
		check(decode_at(r, rvt_run_insn_address(run, run->count - 2), &before) ? 0 :
		      -EILSEQ, "code");
		after_load = before.flags & RVT_INSN_F_LOADS_IMM;
	}
	r->line.sijump = after_load && before.rd && before.rd == last.rs1;
}

static void pause_at(struct reader *r)
{
	if (r->hart)
		end_line(r, 0);
	r->after_load = false;
	r->space = NULL;
}

static int on_runs(void *ctx, struct rvt_hart_flow *hart, const struct rvt_run *runs, size_t n)
{
	struct reader *r = ctx;

	if (r->hart != hart)
		pause_at(r);
	r->hart = hart;
	for (size_t i = 0; i < n; i++) {
		if (r->program->insns >= r->program->most)
			return 1;
		end_line(r, rvt_run_insn_address(&runs[i], 0));
		if (!r->space) {
			r->space = copy_of(r, hart->space);
			add_pause(r->program, r->space);
		}
		if (!copy_code(r, runs[i].block->pc) ||
		    !copy_code(r, rvt_run_insn_address(&runs[i], runs[i].count - 1))) {
			/* another program has begun in this space: it gets another copy */
			for (size_t k = 0; k < r->n_copies; k++)
				if (r->copies[k].of == hart->space)
					r->copies[k].of = NULL;
			pause_at(r);
			r->space = copy_of(r, hart->space);
			add_pause(r->program, r->space);
			check(copy_code(r, runs[i].block->pc) ? 0 : -ENOENT, "code");
		}
		begin_line(r, &runs[i]);
	}
	return 0;
}

static int on_event(void *ctx, struct rvt_hart_flow *hart, const struct rvt_event *event)
{
	(void)hart;
	if (event->type == RVT_EVENT_START || event->type == RVT_EVENT_STOP ||
	    event->type == RVT_EVENT_LOST || event->type == RVT_EVENT_TRAP)
		pause_at(ctx);
	return 0;
}

static void read_recording(struct program *p, const char *path, const char *symfs)
{
	const struct rvt_session_options options = {
		.size = sizeof(options), .symfs = symfs, .by_cpu = true,
	};
	struct reader *r = calloc(1, sizeof(*r));
	const struct rvt_session_sink sink = {
		.size = sizeof(sink), .ctx = r, .runs = on_runs, .event = on_event,
	};
	struct rvt_session *session;
	char *error = NULL;
	int ret;

	check(r ? 0 : -ENOMEM, path);
	r->program = p;
	check(rvt_image_create(&p->image), "code");
	ret = rvt_session_open(path, &options, &session, &error);
	if (ret)
		fprintf(stderr, "rvt-modes: %s\n", error ? error : "no memory");
	check(ret, path);
	ret = rvt_session_run(session, &sink);
	check(ret < 0 ? ret : 0, path);
	pause_at(r);
	rvt_session_close(session);
	free(r);
}

/* ---- modes ---- */

struct mode {
	const char *name;
	enum rvt_protocol protocol;
	enum rvt_dialect dialect;
	enum rvt_mode mode;
	unsigned int options;
	bool no_resync;
};

#define IR RVT_OPT_IMPLICIT_RETURN
#define SJ RVT_OPT_SEQUENTIAL_JUMP
#define RH RVT_OPT_REPEATED_HISTORY
#define AJ RVT_OPT_ALL_JUMPS
#define BP RVT_OPT_BRANCH_PREDICTION
#define TC RVT_OPT_JUMP_TARGET_CACHE
#define FA RVT_OPT_FULL_ADDRESS
#define N_HTM(name, options) \
	{ name, RVT_PROTOCOL_NTRACE, RVT_DIALECT_NTRACE_1_0, RVT_MODE_HTM, options, false }
#define N_BTM(name, options) \
	{ name, RVT_PROTOCOL_NTRACE, RVT_DIALECT_NTRACE_1_0, RVT_MODE_BTM, options, false }
#define E_2_0(name, options) \
	{ name, RVT_PROTOCOL_ETRACE, RVT_DIALECT_ETRACE_2_0, RVT_MODE_AUTO, options, false }

static const struct mode modes[] = {
	N_HTM("N-Trace HTM", 0),
	N_HTM("N-Trace HTM, implicit return", IR),
	N_HTM("N-Trace HTM, sequential jump", SJ),
	N_HTM("N-Trace HTM, repeated history", RH),
	N_HTM("N-Trace HTM, all jumps", AJ),
	N_HTM("N-Trace HTM, ir, sj, rh", IR | SJ | RH),
	N_BTM("N-Trace BTM", 0),
	N_BTM("N-Trace BTM, implicit return", IR),
	N_BTM("N-Trace BTM, sequential jump", SJ),
	N_BTM("N-Trace BTM, ir, sj", IR | SJ),
	E_2_0("E-Trace", 0),
	E_2_0("E-Trace, full addresses", FA),
	E_2_0("E-Trace, implicit return", IR),
	{ "E-Trace, implicit return, no resync", RVT_PROTOCOL_ETRACE, RVT_DIALECT_ETRACE_2_0,
	  RVT_MODE_AUTO, IR, true },
	E_2_0("E-Trace, sequential jump", SJ),
	E_2_0("E-Trace, branch prediction", BP),
	E_2_0("E-Trace, jump target cache", TC),
	E_2_0("E-Trace, bp, tc", BP | TC),
	E_2_0("E-Trace, ir, sj, bp, tc", IR | SJ | BP | TC),
	{ "E-Trace 0.029, ir, sj, bp, tc", RVT_PROTOCOL_ETRACE, RVT_DIALECT_ETRACE_0_029,
	  RVT_MODE_AUTO, IR | SJ | BP | TC, false },
	{ "E-Trace 2.0.5, ir, sj, bp, tc", RVT_PROTOCOL_ETRACE, RVT_DIALECT_ETRACE_2_0_5,
	  RVT_MODE_AUTO, IR | SJ | BP | TC, false },
};

#define N_MODES (sizeof(modes) / sizeof(*modes))

/* ---- encoding ---- */

struct trace {
	const struct mode *mode;
	struct rvt_params params;
	struct rvt_ntrace_encoder *ntrace;
	struct rvt_etrace_encoder *etrace;
	uint8_t *bytes;
	size_t len, room;
	size_t *ends;			/* of each chunk of the program, in .bytes */
};

static int emit(void *ctx, const uint8_t *bytes, size_t len)
{
	struct trace *t = ctx;

	check(array_reserve(&t->bytes, &t->room, t->len, len), "trace");
	memcpy(t->bytes + t->len, bytes, len);
	t->len += len;
	return 0;
}

static void set_params(struct trace *t, bool rv32)
{
	struct rvt_params *p = &t->params;

	rvt_params_init(p, t->mode->protocol, t->mode->dialect);
	p->xlen = rv32 ? 32 : 64;
	p->mode = t->mode->mode;
	p->options = t->mode->options;
	if (t->mode->protocol == RVT_PROTOCOL_NTRACE) {
		p->implicit_return_mode = p->options & IR ? 2 : 0;
		return;
	}
	p->iaddress_width_p = p->xlen;
	p->nocontext_p = p->notime_p = 1;
	p->ecause_width_p = 6;
	p->f0s_width_p = 1;
	p->bpred_size_p = t->mode->dialect == RVT_DIALECT_ETRACE_2_0_5 ? 7 : 9;
	p->cache_size_p = 6;
	p->return_stack_size_p = 5;
	p->sijump_p = 1;
	p->n_ioptions = 6;
	p->ioptions[0] = IR;
	p->ioptions[1] = RVT_OPT_IMPLICIT_EXCEPTION;
	p->ioptions[2] = FA;
	p->ioptions[3] = TC;
	p->ioptions[4] = BP;
	p->ioptions[5] = SJ;
}

static void create_encoder(struct trace *t)
{
	const unsigned int sync_mode = t->mode->no_resync ? 0 : 3;
	const struct rvt_ntrace_encoder_config ntrace = {
		.dialect = t->mode->dialect, .mode = t->mode->mode, .xlen = t->params.xlen,
		.options = t->mode->options, .sync_mode = sync_mode, .sync_max = 15,
		.implicit_return_mode = t->params.implicit_return_mode,
		.return_stack_depth = t->params.implicit_return_mode ? 32 : 0,
		.icnt_bits = 16, .hist_bits = 32,
		.hrepeat_bits = t->mode->options & RH ? 12 : 0, .emit = emit, .ctx = t,
	};
	const struct rvt_etrace_encoder_config etrace = {
		.params = &t->params, .sync_mode = sync_mode, .sync_max = 15, .emit = emit,
		.ctx = t,
	};

	if (t->mode->protocol == RVT_PROTOCOL_NTRACE)
		check(rvt_ntrace_encoder_create(&ntrace, &t->ntrace), t->mode->name);
	else
		check(rvt_etrace_encoder_create(&etrace, &t->etrace), t->mode->name);
}

static void start(struct trace *t)
{
	if (t->ntrace)
		rvt_ntrace_encoder_start(t->ntrace, RVT_NTRACE_SYNC_TRACE_ENABLE);
	else
		rvt_etrace_encoder_start(t->etrace);
}

static void stop(struct trace *t, uint64_t next)
{
	if (t->ntrace)
		rvt_ntrace_encoder_stop(t->ntrace, RVT_NTRACE_EV_TRACE_DISABLED, next);
	else
		rvt_etrace_encoder_stop(t->etrace, false);
}

static void trap(struct trace *t, const struct rvt_trap *trap)
{
	if (t->ntrace)
		rvt_ntrace_encoder_trap(t->ntrace, trap);
	else
		rvt_etrace_encoder_trap(t->etrace, trap);
}

/* The address that comes after what tracing stops behind: none is known but for straight code. */
static uint64_t behind(const struct rvt_retire *line)
{
	return line->last_pc + 2 * line->last_halfwords;
}

static void encode(struct trace *t, const struct program *p)
{
	const struct rvt_retire *last = NULL;
	size_t chunk = 0;

	create_encoder(t);
	t->ends = calloc(p->n_chunks, sizeof(*t->ends));
	check(t->ends ? 0 : -ENOMEM, "trace");
	for (size_t i = 0; i < p->n_order; i++) {
		if (p->order[i] == PAUSE) {
			if (last)
				stop(t, behind(last));
			last = NULL;
			continue;
		}
		while (chunk + 1 < p->n_chunks && p->chunks[chunk + 1].first <= i)
			t->ends[chunk++] = t->len;
		if (!last)
			start(t);
		if (p->order[i] & TRAP) {
			trap(t, &p->traps[p->order[i] & ~TRAP]);
			continue;
		}
		last = &p->lines[p->order[i]];
		if (t->ntrace)
			rvt_ntrace_encoder_retire(t->ntrace, last);
		else
			rvt_etrace_encoder_retire(t->etrace, last);
	}
	if (last)
		stop(t, behind(last));
	while (chunk < p->n_chunks)
		t->ends[chunk++] = t->len;
	rvt_ntrace_encoder_destroy(t->ntrace);
	rvt_etrace_encoder_destroy(t->etrace);
	t->ntrace = NULL;
	t->etrace = NULL;
}

/* ---- decoding ---- */

/* Counts, in any order. */
struct told {
	uint64_t insns, runs, edges, refuted;
};

static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 32) * 0xd6e8feb86659fd93ull;
	return x ^ x >> 32;
}

static int count_run(void *ctx, const struct rvt_run *run, uint64_t times)
{
	struct told *told = ctx;
	uint64_t pc = rvt_run_insn_address(run, 0);

	for (uint32_t i = run->first; i < run->first + run->count; i++) {
		told->runs += times * mix(pc);
		pc += 2 * run->block->halfwords[i];
	}
	return 0;
}

static int count_edge(void *ctx, uint64_t from, uint64_t to, enum rvt_insn_class iclass,
		      int64_t times)
{
	struct told *told = ctx;

	(void)iclass;
	told->edges += times * mix(from + 3 * mix(to));
	return 0;
}

static struct rvt_flow *the_flow(void *ctx, unsigned int src)
{
	(void)src;
	return ctx;
}

static double seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

/* Returns how many seconds of a processor it took. */
static __attribute__((noinline, noclone)) double
decode(const struct trace *t, const struct program *p, bool reference, struct told *told)
{
	const struct rvt_count_sink sink = {
		.size = sizeof(sink), .ctx = told, .run = count_run, .edge = count_edge,
	};
	struct rvt_flow_config config = { .size = sizeof(config) };
	struct rvt_stream_ops ops = { .size = sizeof(ops), .flow = the_flow };
	struct rvt_flow_stats stats = { .size = sizeof(stats) };
	struct rvt_stream *stream;
	struct rvt_flow *flow;
	size_t from = 0;
	double begin;

	*told = (struct told){ .insns = 0 };
	rvt_stream_flow_config(&t->params, &config);
	config.reference_walk = reference;
	check(rvt_flow_create(&config, NULL, &flow), "flow");
	check(rvt_flow_count(flow), "flow");
	ops.ctx = flow;
	check(rvt_stream_create(&t->params, &ops, &stream), "stream");
	begin = seconds();
	for (size_t i = 0; i < p->n_chunks; i++) {
		rvt_flow_set_space(flow, p->chunks[i].space);
		check(rvt_stream_feed(stream, t->bytes + from, t->ends[i] - from, from),
		      "decoding");
		from = t->ends[i];
	}
	check(rvt_stream_finish(stream), "decoding");
	check(rvt_flow_counts(flow, &sink), "counts");
	begin = seconds() - begin;
	rvt_flow_stats(flow, &stats);
	told->insns = stats.insns;
	told->refuted = stats.refuted;
	rvt_stream_destroy(stream);
	rvt_flow_destroy(flow);
	return begin;
}

static bool compare(const struct trace *t, const struct program *p, const struct told *told)
{
	struct told expected;

	decode(t, p, true, &expected);
	if (!memcmp(told, &expected, sizeof(*told)))
		return true;
	printf("%s: counts %" PRIu64 " instructions, the reference walk %" PRIu64
	       ", or what is counted differs\n", t->mode->name, told->insns, expected.insns);
	return false;
}

static void write_file(const char *directory, const char *name, const char *suffix,
		       const void *bytes, size_t len)
{
	char *path;
	FILE *file;

	check(asprintf(&path, "%s/%s.%s", directory, name, suffix) < 0 ? -ENOMEM : 0, name);
	file = fopen(path, "w");
	check(file ? 0 : -errno, path);
	check(fwrite(bytes, 1, len, file) == len ? 0 : -EIO, path);
	check(fclose(file) ? -errno : 0, path);
	free(path);
}

static void write_trace(const char *directory, const struct trace *t)
{
	char *text;

	check(rvt_params_print(&t->params, &text), t->mode->name);
	write_file(directory, t->mode->name, "params", text, strlen(text));
	write_file(directory, t->mode->name, "trace", t->bytes, t->len);
	free(text);
}

static int usage(void)
{
	fprintf(stderr, "usage: rvt-modes [-n ROUNDS] [-m INSTRUCTIONS] [-s SYMFS] [-o NAME] [-r] "
		"[-w DIRECTORY]\n                 [RECORDING]\n");
	return 2;
}

int main(int argc, char **argv)
{
	static struct program program = { .most = 100000000 };
	static struct trace traces[N_MODES];
	struct told told[N_MODES];
	double times[N_MODES] = { 0 };
	const char *symfs = NULL, *only = NULL, *written = NULL;
	unsigned int rounds = 3;
	bool reference = false;
	int c, status = 0;

	while ((c = getopt(argc, argv, "n:m:s:o:rw:")) != -1) {
		switch (c) {
		case 'n': rounds = atoi(optarg) > 0 ? atoi(optarg) : 1; break;
		case 'm': program.most = strtoull(optarg, NULL, 10); break;
		case 's': symfs = optarg; break;
		case 'o': only = optarg; break;
		case 'r': reference = true; break;
		case 'w': written = optarg; break;
		default: return usage();
		}
	}
	if (optind < argc - 1)
		return usage();
	if (optind < argc)
		read_recording(&program, argv[optind], symfs);
	else
		make_random(&program);
	for (size_t i = 0; i < N_MODES; i++) {
		traces[i].mode = &modes[i];
		set_params(&traces[i], program.rv32);
		if (!only || !strcmp(only, modes[i].name))
			encode(&traces[i], &program);
		if (written && traces[i].len)
			write_trace(written, &traces[i]);
	}
	for (unsigned int round = 0; round < rounds; round++)
		for (size_t i = 0; i < N_MODES; i++) {
			const double time = traces[i].len ?
					    decode(&traces[i], &program, false, &told[i]) : 0;

			if (!round || time < times[i])
				times[i] = time;
		}
	for (size_t i = 0; i < N_MODES; i++) {
		if (!traces[i].len)
			continue;
		printf("%-38s %10zu bytes %10" PRIu64 " instructions %8.1f M insn/s\n",
		       modes[i].name, traces[i].len, told[i].insns, told[i].insns / times[i] / 1e6);
		if (told[i].refuted || told[i].insns != program.insns) {
			printf("%s: %" PRIu64 " instructions were encoded, %" PRIu64
			       " contradictions\n", modes[i].name, program.insns, told[i].refuted);
			status = 1;
		}
		if (reference && !compare(&traces[i], &program, &told[i]))
			status = 1;
	}
	return status;
}
