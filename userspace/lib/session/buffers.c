// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* The buffers of a recording, which are of a cpu or of a thread. */
#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include "util/array.h"
#include "state.h"

static int compare_ints(int64_t a, int64_t b)
{
	return a < b ? -1 : a > b;
}

static int compare_buffers(const void *a, const void *b)
{
	const struct buffer_key *x = a, *y = b;
	int order = compare_ints(x->cpu, y->cpu);

	if (!order)
		order = compare_ints(x->tid, y->tid);
	return order ? order : compare_ints(x->idx, y->idx);
}

/* AUX records do not tell a buffer's number: they are of a cpu, or of a thread. */
static int compare_owners(const void *a, const void *b)
{
	const struct buffer_key *x = a, *y = b;
	int order = compare_ints(x->cpu < 0 ? -1 : x->cpu, y->cpu < 0 ? -1 : y->cpu);

	return order || x->cpu >= 0 ? order : compare_ints(x->tid, y->tid);
}

static struct buffer *find_buffer(struct rvt_session *session, void *const *tree,
				  const struct buffer_key *key,
				  int (*compare)(const void *, const void *))
{
	struct buffer_key *const *found = tfind(key, tree, compare);

	return found ? &session->buffers[(*found)->number] : NULL;
}

struct buffer *rvt_session_buffer(struct rvt_session *session,
				  const struct rvt_record_auxtrace *aux)
{
	const struct buffer_key key = { .cpu = aux->cpu, .tid = aux->tid, .idx = aux->idx };

	return find_buffer(session, &session->buffer_tree, &key, compare_buffers);
}

/* The first buffer of a cpu or thread is the one that its AUX records are of. */
struct buffer *rvt_session_aux_buffer(struct rvt_session *session, const struct rvt_aux *aux)
{
	const struct buffer_key cpu = { .cpu = aux->cpu };
	const struct buffer_key thread = { .cpu = -1, .tid = aux->tid };
	struct buffer *buffer = NULL;

	/* not that of another cpu, whose buffer is behind the end of what there is of the file */
	if (session->n_buffers == 1)
		return aux->cpu < 0 || session->buffers->cpu < 0 ||
		       aux->cpu == session->buffers->cpu ? session->buffers : NULL;
	if (aux->cpu >= 0)
		buffer = find_buffer(session, &session->owner_tree, &cpu, compare_owners);
	return buffer ? buffer :
	       find_buffer(session, &session->owner_tree, &thread, compare_owners);
}

static int add_key(struct rvt_session *session, const struct buffer *buffer)
{
	struct buffer_key *key = malloc(sizeof(*key));

	if (!key)
		return -ENOMEM;
	*key = (struct buffer_key){ .cpu = buffer->cpu, .tid = buffer->tid, .idx = buffer->idx,
				    .number = buffer->number };
	if (!tsearch(key, &session->buffer_tree, compare_buffers)) {
		free(key);
		return -ENOMEM;
	}
	return tsearch(key, &session->owner_tree, compare_owners) ? 0 : -ENOMEM;
}

static void keep_key(void *key)
{
	(void)key;
}

void rvt_session_forget_buffers(struct rvt_session *session)
{
	tdestroy(session->owner_tree, keep_key);
	tdestroy(session->buffer_tree, free);
	session->owner_tree = NULL;
	session->buffer_tree = NULL;
}

struct buffer *rvt_session_add_buffer(struct rvt_session *session,
				      const struct rvt_record_auxtrace *aux)
{
	struct buffer *buffer;

	if (array_grow(&session->buffers, session->n_buffers))
		return NULL;
	buffer = &session->buffers[session->n_buffers];
	*buffer = (struct buffer){
		.session = session, .decode = &session->decode, .stats = &session->stats,
		.number = session->n_buffers, .idx = aux->idx,
		.cpu = aux->cpu, .tid = aux->tid };
	if (add_key(session, buffer))
		return NULL;
	session->n_buffers++;
	return buffer;
}

struct buffer *rvt_session_get_buffer(struct rvt_session *session,
				      const struct rvt_record_auxtrace *aux)
{
	struct buffer *buffer = rvt_session_buffer(session, aux);

	return buffer ? buffer : rvt_session_add_buffer(session, aux);
}

int rvt_buffer_add_record(struct buffer *buffer, const struct rvt_aux *aux)
{
	if (array_grow(&buffer->records, buffer->n_records))
		return -ENOMEM;
	buffer->records[buffer->n_records++] = *aux;
	return 0;
}
