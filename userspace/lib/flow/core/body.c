// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Bodies: the recorder.
 */
#include <string.h>
#include "flow/core/blocks.h"
#include "flow/core/body.h"

/* Returns room for @n words, which stand for @runs runs in @half. NULL: there is none. */
static uint32_t *add_words(struct rvt_body *body, unsigned int n, unsigned int runs,
			   unsigned int half)
{
	uint32_t *words = body->words + body->n_words;

	body->halves |= 1u << half;
	body->too_long |= body->n_words + n > RVT_BODY_WORDS ||
			  body->n_runs + runs > RVT_BODY_RUNS;
	if (body->too_long)
		return NULL;
	body->n_words += n;
	body->n_runs += runs;
	return words;
}

void rvt_body_add_run(struct rvt_body *body, const struct rvt_run *run)
{
	uint32_t *words = add_words(body, RVT_BODY_RUN_WORDS, 1, rvt_va_half(run->block->pc));

	if (!words)
		return;
	words[0] = RVT_BODY_RUN;
	memcpy(words + 1, run, sizeof(*run));
}

void rvt_body_add_segment(struct rvt_body *body, uint32_t number, unsigned int runs,
			  unsigned int half)
{
	uint32_t *words = add_words(body, 1, runs, half);

	if (words)
		*words = number;
}
