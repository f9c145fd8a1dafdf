// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Parameters that nobody knows: what encoders of either protocol write with random options is
 * recognised and followed; noise is not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <rvtrace/etrace.h>
#include <rvtrace/ntrace.h>
#include "guess/guess.h"
#include "property.h"
#include "random-hart.h"
#include "../tools/coresight-formatter.h"

#define MAX_BYTES (1 << 20)
#define STEPS 5000
#define SEEDS 10

struct trip {
	struct hart *hart;
	struct rvt_ntrace_encoder *ntrace;
	struct rvt_etrace_encoder *etrace;
	struct rvt_params params;
	uint8_t *bytes;
	size_t len;
	uint64_t now;
};

static int emit(void *ctx, const uint8_t *bytes, size_t len)
{
	struct trip *t = ctx;

	assert_true(t->len + len <= MAX_BYTES);
	memcpy(t->bytes + t->len, bytes, len);
	t->len += len;
	return 0;
}

static uint64_t now(void *ctx)
{
	struct trip *t = ctx;

	return t->now += hart_random(t->hart, 100);
}

static void on_retire(void *ctx, const struct rvt_retire *run)
{
	struct trip *t = ctx;

	if (t->ntrace)
		rvt_ntrace_encoder_retire(t->ntrace, run);
	else
		rvt_etrace_encoder_retire(t->etrace, run);
}

static void on_trap(void *ctx, const struct rvt_trap *trap)
{
	struct trip *t = ctx;

	if (t->ntrace)
		rvt_ntrace_encoder_trap(t->ntrace, trap);
	else
		rvt_etrace_encoder_trap(t->etrace, trap);
}

static void run(struct trip *t)
{
	const struct hart_sink sink = { t, on_retire, on_trap };

	hart_run(t->hart, &sink, STEPS);
}

static void begin(struct trip *t, uint64_t seed, bool rv32)
{
	*t = (struct trip){ .hart = hart_create(seed, rv32), .bytes = malloc(MAX_BYTES) };
	assert_true(t->hart && t->bytes);
}

static void end(struct trip *t)
{
	hart_destroy(t->hart);
	free(t->bytes);
}

static uint64_t executed(const struct trip *t)
{
	uint64_t insns = 0;
	size_t n;
	const struct hart_truth *truth = hart_truth(t->hart, &n);

	for (size_t i = 0; i < n; i++)
		insns += truth[i].type == HART_INSN;
	return insns;
}

/* @chip: among the candidates, unless it is NULL. The best guess is *@best. */
static enum rvt_guess_confidence guess(const struct trip *t, bool code,
				       const struct rvt_guess_chip *chip, struct rvt_guess *best)
{
	struct rvt_guess_input input = {
		.bytes = t->bytes, .len = t->len, .chips = chip, .n_chips = chip != NULL,
	};
	struct rvt_image *images[2];
	struct rvt_space *spaces[2];
	enum rvt_guess_confidence confidence;
	struct rvt_guess *guesses;
	size_t n;

	for (int i = 0; i < 2; i++) {
		assert_int_equal(rvt_image_create(&images[i]), 0);
		assert_int_equal(rvt_space_create(images[i], NULL, &spaces[i]), 0);
		assert_int_equal(rvt_space_map_bytes(spaces[i], HART_BASE, hart_code(t->hart),
						     HART_BYTES, "code"), 0);
	}
	if (code) {
		input.space32 = spaces[0];
		input.space64 = spaces[1];
	}
	assert_int_equal(rvt_guess(&input, &guesses, &n, &confidence), 0);
	memset(best, 0, sizeof(*best));
	if (n)
		*best = guesses[0];
	free(guesses);
	rvt_image_destroy(images[0]);
	rvt_image_destroy(images[1]);
	return confidence;
}

static void encode_ntrace(struct trip *t, enum rvt_dialect dialect, bool rv32)
{
	struct hart *h = t->hart;
	struct rvt_ntrace_encoder_config c = {
		.dialect = dialect, .mode = hart_random(h, 2) ? RVT_MODE_BTM : RVT_MODE_HTM,
		.xlen = rv32 ? 32 : 64, .src_bits = hart_random(h, 5),
		.timestamp = hart_random(h, 3), .sync_mode = 3, .sync_max = 6, .icnt_bits = 16,
		.hist_bits = 32, .hrepeat_bits = 8, .emit = emit, .now = now, .ctx = t,
	};

	c.src = hart_random(h, 1 << c.src_bits);
	if (dialect == RVT_DIALECT_NTRACE_CTTE) {
		c.mode = RVT_MODE_HTM;
		c.options = RVT_OPT_BRANCH_PREDICTION | RVT_OPT_JUMP_TARGET_CACHE;
		c.timestamp = c.timestamp ? RVT_TIMESTAMP_DELTA : RVT_TIMESTAMP_NONE;
		c.configuration = true;
	}
	if (dialect == RVT_DIALECT_NTRACE_1_0 && hart_random(h, 2))
		c.options |= RVT_OPT_SEQUENTIAL_JUMP;
	assert_int_equal(rvt_ntrace_encoder_create(&c, &t->ntrace), 0);
	rvt_ntrace_encoder_start(t->ntrace, RVT_NTRACE_SYNC_TRACE_ENABLE);
	run(t);
	rvt_ntrace_encoder_stop(t->ntrace, RVT_NTRACE_EV_TRACE_DISABLED, hart_pc(h));
	rvt_ntrace_encoder_destroy(t->ntrace);
}

static void test_ntrace(void **state)
{
	static const enum rvt_dialect dialects[] = {
		RVT_DIALECT_NTRACE_1_0, RVT_DIALECT_NTRACE_SIFIVE, RVT_DIALECT_NTRACE_CTTE,
	};

	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		enum rvt_guess_confidence confidence;
		const bool rv32 = seed % 4 == 0;
		struct rvt_guess best;
		struct trip t;

		begin(&t, seed, rv32);
		encode_ntrace(&t, dialects[seed % 3], rv32);
		confidence = guess(&t, true, NULL, &best);
		if (confidence != RVT_GUESS_SURE || best.insns != executed(&t) || best.errors)
			fail_msg("seed %lu: confidence %d, %lu of %lu instructions, %lu errors, "
				 "src_bits %u", seed, confidence, best.insns, executed(&t),
				 best.errors, best.params.src_bits);
		end(&t);
	}
}

/*
 * Without code the messages tell that it is N-Trace, mostly by which width of SRC; but nothing
 * more.
 */
static void test_without_code(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		enum rvt_guess_confidence confidence;
		struct rvt_guess best;
		struct trip t;

		begin(&t, seed, false);
		encode_ntrace(&t, RVT_DIALECT_NTRACE_1_0, false);
		confidence = guess(&t, false, NULL, &best);
		if (confidence == RVT_GUESS_SURE || confidence == RVT_GUESS_NONE || best.wrong ||
		    best.params.protocol != RVT_PROTOCOL_NTRACE)
			fail_msg("seed %lu: confidence %d, %lu wrong", seed, confidence,
				 best.wrong);
		end(&t);
	}
}

static void encode_etrace(struct trip *t, bool rv32)
{
	struct rvt_etrace_encoder_config c = {
		.params = &t->params, .sync_mode = 3, .sync_max = 6, .emit = emit, .now = now,
		.ctx = t,
	};
	struct rvt_params *p = &t->params;

	rvt_params_init(p, RVT_PROTOCOL_ETRACE, hart_random(t->hart, 2) ? RVT_DIALECT_ETRACE_2_0 :
			RVT_DIALECT_ETRACE_0_029);
	p->xlen = p->iaddress_width_p = rv32 ? 32 : 64;
	p->ecause_width_p = 6;
	p->context_width_p = 0;
	p->nocontext_p = 1;
	p->timestamp_bytes = hart_random(t->hart, 2) ? 8 : 0;
	p->srcid_bits = hart_random(t->hart, 2) ? 8 : 0;
	assert_int_equal(rvt_etrace_encoder_create(&c, &t->etrace), 0);
	rvt_etrace_encoder_start(t->etrace);
	run(t);
	rvt_etrace_encoder_stop(t->etrace, true);
	rvt_etrace_encoder_destroy(t->etrace);
}

static void test_etrace(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		enum rvt_guess_confidence confidence;
		const bool rv32 = seed % 3 == 0;
		struct rvt_guess best;
		struct trip t;

		begin(&t, seed, rv32);
		encode_etrace(&t, rv32);
		confidence = guess(&t, true, NULL, &best);
		if (confidence < RVT_GUESS_LIKELY || best.errors ||
		    best.params.protocol != RVT_PROTOCOL_ETRACE)
			fail_msg("seed %lu: confidence %d, %lu of %lu instructions, %lu errors",
				 seed, confidence, best.insns, executed(&t), best.errors);
		end(&t);
	}
}

/* The same in frames: CoreSight. */
static void test_frames(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		enum rvt_guess_confidence confidence;
		struct formatter formatter = { .id = -1 };
		struct rvt_guess best;
		struct trip t;
		uint8_t *ids;

		begin(&t, seed, false);
		encode_ntrace(&t, RVT_DIALECT_NTRACE_1_0, false);
		ids = malloc(t.len);
		assert_non_null(ids);
		memset(ids, 0x15, t.len);
		formatter_write(&formatter, ids, t.bytes, t.len, NULL);
		free(ids);
		free(t.bytes);
		t.bytes = formatter.out;
		t.len = formatter.len;
		confidence = guess(&t, true, NULL, &best);
		if (confidence != RVT_GUESS_SURE || best.insns != executed(&t) || best.errors ||
		    best.params.framing != RVT_FRAMING_CORESIGHT)
			fail_msg("seed %lu: confidence %d, %lu of %lu instructions, %lu errors",
				 seed, confidence, best.insns, executed(&t), best.errors);
		end(&t);
	}
}

/* A chip with widths that nobody would try is found by its name. */
static void test_chip(void **state)
{
	struct rvt_guess_chip chip = { .name = "chip" };
	enum rvt_guess_confidence confidence;
	struct rvt_guess best;
	struct trip t;

	(void)state;
	begin(&t, 7, false);
	rvt_params_init(&chip.params, RVT_PROTOCOL_NTRACE, RVT_DIALECT_NTRACE_1_0);
	encode_ntrace(&t, RVT_DIALECT_NTRACE_1_0, false);
	confidence = guess(&t, true, NULL, &best);
	assert_int_equal(confidence, RVT_GUESS_SURE);
	assert_null(best.chip);
	chip.params = best.params;
	confidence = guess(&t, true, &chip, &best);
	assert_int_equal(confidence, RVT_GUESS_SURE);
	assert_string_equal(best.chip, "chip");
	end(&t);
}

static void test_noise(void **state)
{
	struct rvt_guess best;
	struct random random;
	struct trip t;

	(void)state;
	begin(&t, 1, false);
	random_seed(&random, 1);
	assert_int_equal(guess(&t, true, NULL, &best), RVT_GUESS_NONE);
	for (int size = 1; size < 1 << 17; size *= 3) {
		for (t.len = 0; t.len < (size_t)size; t.len++)
			t.bytes[t.len] = random_word(&random);
		assert_int_equal(guess(&t, true, NULL, &best), RVT_GUESS_NONE);
		if (size > 100)
			assert_int_equal(guess(&t, false, NULL, &best), RVT_GUESS_NONE);
	}
	memset(t.bytes, 0, t.len);
	assert_int_equal(guess(&t, true, NULL, &best), RVT_GUESS_NONE);
	assert_int_equal(guess(&t, false, NULL, &best), RVT_GUESS_NONE);
	memset(t.bytes, 0xff, t.len);
	assert_int_equal(guess(&t, false, NULL, &best), RVT_GUESS_NONE);
	end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ntrace),
		cmocka_unit_test(test_without_code),
		cmocka_unit_test(test_etrace),
		cmocka_unit_test(test_frames),
		cmocka_unit_test(test_chip),
		cmocka_unit_test(test_noise),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
