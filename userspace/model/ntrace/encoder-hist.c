// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The HIST register (N-Trace 8.3) and repeated history (9.3).
 *
 * Without repetition the register holds as many bits as one HIST field. With it, the register is
 * twice as long: bits are kept until their period is found, then only counted. The specification
 * leaves open how patterns are found.
 */
#include "model/ntrace/encoder.h"

/* Payload bits of a HIST field. */
static unsigned int capacity(const struct rvt_ntrace_encoder *enc)
{
	return enc->config.hist_bits - 1;
}

static bool repeats(const struct rvt_ntrace_encoder *enc)
{
	return enc->config.options & RVT_OPT_REPEATED_HISTORY;
}

/* SiFive counts branches that all have the same outcome, 1.0 any pattern. */
static unsigned int max_period(const struct rvt_ntrace_encoder *enc, unsigned int bits)
{
	return rvt_ntrace_encoder_is_sifive(enc) && bits ? 1 : bits;
}

static uint64_t low_bits(uint64_t value, unsigned int n)
{
	return n < 64 ? value & ((UINT64_C(1) << n) - 1) : value;
}

/* The oldest @n bits leave as ResourceFull RCODE=1. */
static void send_oldest(struct rvt_ntrace_encoder *enc, unsigned int n)
{
	struct rvt_ntrace_hist *hist = &enc->hist;
	uint64_t oldest = hist->bits >> (hist->n - n);

	hist->n -= n;
	hist->bits = low_bits(hist->bits, hist->n);
	rvt_ntrace_send_full(enc, 1, UINT64_C(1) << n | oldest, 0);
}

static void send_pattern(struct rvt_ntrace_encoder *enc, uint64_t count)
{
	struct rvt_ntrace_hist *hist = &enc->hist;
	uint64_t rdata = UINT64_C(1) << hist->period | hist->pattern;

	if (count > 1 && rvt_ntrace_encoder_is_sifive(enc))
		rvt_ntrace_send_full(enc, hist->pattern ? 9 : 8, count, 0);
	else if (count > 1)
		rvt_ntrace_send_full(enc, 2, rdata, count);
	else if (count)
		rvt_ntrace_send_full(enc, 1, rdata, 0);
}

/* Back to single bits: those of the pattern that began once more. */
static void end_repetition(struct rvt_ntrace_encoder *enc)
{
	struct rvt_ntrace_hist *hist = &enc->hist;
	uint64_t begun = hist->pattern >> (hist->period - hist->matched);
	uint64_t count = hist->count;

	if (count == 1 && hist->period + hist->matched <= capacity(enc)) {
		hist->bits = hist->pattern << hist->matched | begun;
		hist->n = hist->period + hist->matched;
	} else {
		hist->bits = begun;
		hist->n = hist->matched;
		send_pattern(enc, count);
	}
	hist->period = 0;
	hist->count = 0;
	hist->matched = 0;
}

/* Does the whole register repeat with a period of at most @max bits? */
static bool find_repetition(struct rvt_ntrace_hist *hist, unsigned int max)
{
	for (unsigned int period = 1; period <= max; period++) {
		if (low_bits(hist->bits ^ hist->bits >> period, hist->n - period))
			continue;
		hist->pattern = hist->bits >> (hist->n - period);
		hist->period = period;
		hist->count = hist->n / period;
		hist->matched = hist->n % period;
		hist->n = 0;
		hist->bits = 0;
		return true;
	}
	return false;
}

static void match(struct rvt_ntrace_encoder *enc)
{
	struct rvt_ntrace_hist *hist = &enc->hist;
	uint64_t max = (UINT64_C(1) << enc->config.hrepeat_bits) - 1;

	if (++hist->matched < hist->period)
		return;
	hist->matched = 0;
	if (++hist->count == max) {
		send_pattern(enc, max);
		hist->count = 0;
	}
}

/* Makes room for a bit in a register that may be full. */
static void make_room(struct rvt_ntrace_encoder *enc)
{
	struct rvt_ntrace_hist *hist = &enc->hist;
	unsigned int full = capacity(enc);

	if (!repeats(enc)) {
		if (hist->n == full)
			send_oldest(enc, full);
		return;
	}
	if (hist->n == 2 * full && !find_repetition(hist, max_period(enc, full)))
		send_oldest(enc, full);
	if (hist->n == full)
		find_repetition(hist, max_period(enc, full / 2));
}

void rvt_ntrace_hist_add(struct rvt_ntrace_encoder *enc, bool taken)
{
	struct rvt_ntrace_hist *hist = &enc->hist;

	if (!hist->period)
		make_room(enc);
	if (hist->period) {
		if ((hist->pattern >> (hist->period - 1 - hist->matched) & 1) == taken) {
			match(enc);
			return;
		}
		end_repetition(enc);
	}
	hist->bits = hist->bits << 1 | taken;
	hist->n++;
}

uint64_t rvt_ntrace_hist_take(struct rvt_ntrace_encoder *enc)
{
	struct rvt_ntrace_hist *hist = &enc->hist;
	uint64_t field;

	if (hist->period)
		end_repetition(enc);
	if (hist->n > capacity(enc))
		send_oldest(enc, capacity(enc));
	field = UINT64_C(1) << hist->n | hist->bits;
	hist->n = 0;
	hist->bits = 0;
	return field;
}
