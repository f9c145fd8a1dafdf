// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Which segments of a recording are decoded. */
#include <errno.h>
#include <stdlib.h>
#include "util/array.h"
#include "index-state.h"

void rvt_index_choice_free(struct index_choice *choice)
{
	if (!choice)
		return;
	free(choice->spans);
	free(choice->expected);
	free(choice);
}

/* The segments [@first, @end), which are of one buffer. */
static int add_span(struct rvt_session *session, struct index_choice *choice, size_t first,
		    size_t end)
{
	const struct rvt_index *index = choice->index;
	const struct index_segment *begin = &index->segments[first];
	const struct buffer *buffer = &session->buffers[begin->buffer];
	bool last = index_is_last(index, end - 1);
	size_t n = choice->n_spans;

	if (array_grow(&choice->spans, n) || array_grow(&choice->expected, n))
		return -ENOMEM;
	choice->n_spans++;
	choice->spans[n] = (struct span){
		.buffer = begin->buffer, .from = begin->from, .record = begin->record,
		.done = begin->from ? begin->from - buffer->records[begin->record].offset : 0,
		.to = last ? UINT64_MAX : index->segments[end].from,
		.end_record = last ? buffer->n_records : index->segments[end].record,
		.entry = begin->from ? &begin[-1].exit : NULL,
		.exit = &index->segments[end - 1].exit,
	};
	choice->expected[n] = (struct rvt_session_totals){ .flow.insns = 0 };
	for (size_t i = first; i < end; i++)
		rvt_session_add_stats(&choice->expected[n], &index->segments[i].stats);
	return 0;
}

static void skip(struct index_choice *choice, const struct index_segment *segment)
{
	rvt_session_add_stats(&choice->skipped, &segment->stats);
	choice->losses.lost += segment->told.lost;
	choice->losses.no_code += segment->told.no_code;
	choice->losses.kernel_lost |= segment->told.kernel_lost;
}

static int make_choice(struct rvt_session *session, struct index_choice *choice,
		       bool (*wants)(void *ctx, const struct rvt_index_segment *segment), void *ctx,
		       uint64_t *chosen)
{
	const struct rvt_index *index = choice->index;
	/* of those that are chosen in succession: the first, and how many */
	size_t first = 0, n = 0;
	int err = array_grow(&choice->spans, 0);

	*chosen = 0;
	for (size_t i = 0; i < index->n_segments && !err; i++) {
		const struct index_segment *segment = &index->segments[i];
		bool wanted = segment->told.always || wants(ctx, &segment->told);

		if (wanted) {
			first = n++ ? first : i;
			*chosen += segment->stats.session.trace_bytes;
		} else {
			skip(choice, segment);
		}
		if (n && (!wanted || index_is_last(index, i))) {
			err = add_span(session, choice, first, i + wanted);
			n = 0;
		}
	}
	for (size_t i = 0; i < choice->n_spans; i++)
		choice->spans[i].expected = &choice->expected[i];
	return err;
}

int rvt_index_choose(struct rvt_session *session, const struct rvt_index *index,
		     bool (*wants)(void *ctx, const struct rvt_index_segment *segment), void *ctx,
		     uint64_t *chosen)
{
	struct index_choice *choice = calloc(1, sizeof(*choice));
	int err = -ENOMEM;

	if (choice) {
		choice->index = index;
		err = make_choice(session, choice, wants, ctx, chosen);
	}
	if (err) {
		rvt_index_choice_free(choice);
		return err;
	}
	rvt_index_choice_free(session->choice);
	session->choice = choice;
	session->spans = choice->spans;
	session->n_spans = choice->n_spans;
	return 0;
}

bool rvt_index_skipped(const struct rvt_session *session, struct rvt_index_losses *losses)
{
	*losses = session->choice ? session->choice->losses :
				    (struct rvt_index_losses){ .lost = 0 };
	return session->choice;
}
