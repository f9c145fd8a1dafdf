// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include "followed.h"
#include "state.h"

struct followed_hart {
	struct rvt_hart_flow base;	/* first: what callers have */
	struct rvt_cursor *cursor;
};

struct rvt_followed {
	const struct rvt_session *session;
	struct decode_context decode;	/* of its own: nobody else may move these spaces */
	void *harts;	/* tsearch tree, by .number */
};

static int compare(const void *a, const void *b)
{
	const struct followed_hart *x = a, *y = b;

	return x->base.number < y->base.number ? -1 : x->base.number > y->base.number;
}

static void destroy_hart(void *data)
{
	struct followed_hart *hart = data;

	rvt_cursor_destroy(hart->cursor);
	free(hart->base.user);
	free(hart);
}

void rvt_followed_forget(struct rvt_followed *followed)
{
	tdestroy(followed->harts, destroy_hart);
	followed->harts = NULL;
}

void rvt_followed_destroy(struct rvt_followed *followed)
{
	if (!followed)
		return;
	rvt_followed_forget(followed);
	rvt_image_destroy(followed->decode.image);
	free(followed);
}

struct rvt_followed *rvt_followed_create(struct rvt_session *session)
{
	struct rvt_followed *followed = calloc(1, sizeof(*followed));

	if (!followed)
		return NULL;
	followed->session = session;
	if (!rvt_session_open_context(session, &followed->decode))
		return followed;
	rvt_followed_destroy(followed);
	return NULL;
}

struct rvt_hart_flow *rvt_followed_hart(struct rvt_followed *followed, uint64_t number,
					int32_t cpu)
{
	const struct decode_context *decode = &followed->decode;
	struct followed_hart key = { .base.number = number }, **found, *hart;

	found = tfind(&key, &followed->harts, compare);
	if (found)
		return &(*found)->base;
	hart = calloc(1, sizeof(*hart));
	if (!hart)
		return NULL;
	hart->base.number = number;
	hart->base.cpu = cpu;
	hart->base.space = decode->kernel;
	if (rvt_cursor_create(followed->session->sideband, decode->image, decode->kernel,
			      &hart->cursor) ||
	    !tsearch(hart, &followed->harts, compare)) {
		destroy_hart(hart);
		return NULL;
	}
	return &hart->base;
}

int rvt_followed_set(struct rvt_followed *followed, struct rvt_hart_flow *base, int32_t tid,
		     bool guest, uint64_t moved)
{
	const struct decode_context *decode = &followed->decode;
	struct followed_hart *hart = (struct followed_hart *)base;

	if (rvt_cursor_seek(hart->cursor, moved) < 0)
		return -ENOMEM;
	base->moved = moved;
	base->task = tid < 0 ? NULL : rvt_cursor_task(hart->cursor, tid);
	base->space = base->task ? base->task->space : decode->kernel;
	if (guest) {
		base->space = decode->guest;
		base->task = base->task ? rvt_cursor_guest(hart->cursor, tid, decode->guest) :
					  NULL;
	}
	return tid >= 0 && !base->task ? -ENOMEM : 0;
}
