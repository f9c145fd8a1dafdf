// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Prints on several threads. Each prints slices of the trace into texts of their own, which are
 * copied to the output one after another; long ones wait in files. Where cpus take turns, a slice's
 * text has marks where time goes on, and the texts are merged by these, as one thread would have
 * printed them.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>
#include "util/array.h"
#include "common/pages.h"

#define FILE_BUFFER (1u << 16)
#define COPY_BUFFER (1u << 16)
#define TEXT_PER_THREAD (32u << 20)	/* that waits in memory */

/* The buffer is at @time from this offset of the text on. */
struct mark {
	uint64_t time;
	off_t offset;
};

/* The text of one slice. */
struct page {
	struct page *next;
	struct printer *printer;	/* of the thread that decodes it */
	FILE *out, *errors;
	char *errors_text;
	size_t errors_size;
	char *text;			/* malloc'd */
	size_t text_room;
	FILE *file;			/* has the text instead; NULL: memory has it */
	off_t size, copied;
	struct mark *marks;
	size_t n_marks, passed;	/* .passed: marks before .copied */
	size_t n_own;			/* marks up to the end of the slice */
	int err;			/* the first one, -errno */
};

/* The printer of one thread, which prints one slice after another. */
struct printer {
	struct printing *printing;
	const struct pages_ops *ops;
	struct printer *next;
	void *own;		/* what ops->open returned */
	struct rvt_session_sink sink;
	char *buffer;		/* of its page's file */
};

/* The pages of a buffer that are to be copied. */
struct queue {
	struct page *first, **last;
	size_t begun;	/* pages */
	size_t left;	/* pages to copy, with those that are not there yet */
	uint64_t time;	/* of what comes next in it */
};

/*
 * Output or error lines. When one thread tells all again, it leaves out what was written: so many
 * bytes; or with sources, so many lines of each.
 */
struct stream {
	const struct pages_ops *ops;
	FILE *out, *again;
	uint64_t written, to_drop;	/* of all sources together */
	bool any;		/* something was written */
	uint64_t *sources;	/* lines written, and then lines to drop */
	char *line;		/* an incomplete line */
	size_t len, room;
};

struct printing {
	const struct pages_ops *ops;
	struct printer *printers;
	struct page *pages;	/* not in a queue yet */
	struct page *unused;	/* that have nothing but room for text */
	size_t max_text;	/* bytes in memory */
	atomic_size_t text_room;	/* of all pages */
	struct queue *queues;
	unsigned int n_queues;
	size_t n_waiting;	/* pages in queues */
	struct stream text, errors;
};

/* ---- printers ---- */

static size_t text_per_thread(const struct pages_ops *ops)
{
	return ops->memory ? ops->memory : TEXT_PER_THREAD;
}

static size_t buffer_size(const struct pages_ops *ops)
{
	size_t most = text_per_thread(ops);

	return most < FILE_BUFFER ? most : FILE_BUFFER;
}

static void close_printer(const struct printing *printing, struct printer *printer, bool valid)
{
	if (printer->own)
		printing->ops->close(printer->own, valid);
	free(printer->buffer);
	free(printer);
}

static struct printer *create_printer(struct printing *printing)
{
	struct printer *printer = calloc(1, sizeof(*printer));

	if (!printer)
		return NULL;
	printer->printing = printing;
	printer->ops = printing->ops;
	printer->buffer = malloc(buffer_size(printing->ops));
	printer->own = printer->buffer ? printing->ops->open(printing->ops->ctx, &printer->sink) :
					 NULL;
	if (!printer->own) {
		close_printer(printing, printer, false);
		return NULL;
	}
	return printer;
}

static void *open_printer(void *ctx)
{
	struct printing *printing = ctx;
	struct printer *printer = create_printer(printing);

	if (printer) {
		printer->next = printing->printers;
		printing->printers = printer;
		printing->max_text += text_per_thread(printing->ops);
	}
	return printer;
}

/* ---- pages ---- */

static void free_text(struct printing *printing, struct page *page)
{
	free(page->text);
	printing->text_room -= page->text_room;
	page->text = NULL;
	page->text_room = 0;
}

/* Keeps the page's room for text, unless that is much. */
static void free_page(struct printing *printing, struct page *page)
{
	if (page->out)
		fclose(page->out);
	if (page->errors)
		fclose(page->errors);
	free(page->errors_text);
	if (page->file)
		fclose(page->file);
	free(page->marks);
	if (!page->text || printing->text_room > printing->max_text / 2) {
		free_text(printing, page);
		free(page);
		return;
	}
	*page = (struct page){ .text = page->text, .text_room = page->text_room,
			       .next = printing->unused };
	printing->unused = page;
}

static struct page *create_page(struct printing *printing)
{
	struct page *page = printing->unused;

	if (!page)
		return calloc(1, sizeof(*page));
	printing->unused = page->next;
	page->next = NULL;
	return page;
}

/* Whether the text may have @size bytes in memory. */
static bool may_have(const struct printing *printing, const struct page *page, size_t size)
{
	return size <= page->text_room || printing->text_room + size <= printing->max_text;
}

static int make_room(struct printing *printing, struct page *page, size_t size)
{
	size_t room = page->text_room;
	int err = array_reserve(&page->text, &page->text_room, page->size, size);

	printing->text_room += page->text_room - room;
	return err;
}

static int move_into_file(struct printing *printing, struct page *page)
{
	page->file = tmpfile();
	if (!page->file ||
	    (page->size && fwrite(page->text, page->size, 1, page->file) != 1))
		return -errno;
	free_text(printing, page);
	return 0;
}

static int add_text(struct page *page, const char *bytes, size_t size)
{
	struct printing *printing = page->printer->printing;
	int err = 0;

	if (!page->file && !may_have(printing, page, page->size + size))
		err = move_into_file(printing, page);
	if (!err && !page->file)
		err = make_room(printing, page, size);
	if (err)
		return err;
	if (!page->file)
		memcpy(page->text + page->size, bytes, size);
	else if (fwrite(bytes, size, 1, page->file) != 1)
		return -errno;
	page->size += size;
	return 0;
}

static ssize_t write_text(void *ctx, const char *bytes, size_t size)
{
	struct page *page = ctx;
	int err = add_text(page, bytes, size);

	page->err = page->err ? page->err : err;
	return err ? 0 : size;
}

/* For ftello(). */
static int tell_text(void *ctx, off64_t *offset, int whence)
{
	const struct page *page = ctx;

	if (*offset || whence == SEEK_SET)
		return -1;
	*offset = page->size;
	return 0;
}

static void *begin_page(void *ctx, void *printer, unsigned int buffer)
{
	const cookie_io_functions_t functions = { .write = write_text, .seek = tell_text };
	struct printing *printing = ctx;
	struct page *page = create_page(printing);

	if (!page)
		return NULL;
	page->printer = printer;
	page->out = fopencookie(page, "w", functions);
	if (printing->ops->errors)
		page->errors = open_memstream(&page->errors_text, &page->errors_size);
	if (!page->out || (printing->ops->errors && !page->errors)) {
		free_page(printing, page);
		return NULL;
	}
	setvbuf(page->out, page->printer->buffer, _IOFBF, buffer_size(printing->ops));
	printing->ops->begin(page->printer->own, &(struct pages_slice){
		.out = page->out, .errors = page->errors,
		.buffer = buffer, .number = printing->queues[buffer].begun++ });
	page->next = printing->pages;
	printing->pages = page;
	return page;
}

static void mark_page(void *ctx, uint64_t time, bool left)
{
	struct page *page = ctx;
	const struct printer *printer = page->printer;

	if (printer->ops->moment)
		printer->ops->moment(printer->own);
	if (array_grow(&page->marks, page->n_marks)) {
		page->err = -ENOMEM;
		return;
	}
	page->marks[page->n_marks++] = (struct mark){ time, ftello(page->out) };
	if (!left)
		page->n_own = page->n_marks;
}

static int end_page(void *ctx, void *slice)
{
	const struct printing *printing = ctx;
	struct page *page = slice;
	int err = printing->ops->end ? printing->ops->end(page->printer->own) : 0;

	if ((fclose(page->out) || (page->file && fflush(page->file))) && !page->err)
		page->err = -errno;
	page->out = NULL;
	if (page->errors && fclose(page->errors))
		page->err = -ENOMEM;
	page->errors = NULL;
	while (page->n_marks > page->n_own && page->marks[page->n_marks - 1].offset == page->size)
		page->n_marks--;
	return page->err ? page->err : err;
}

/* ---- sources ---- */

/* Calls @take with each complete line, in one piece. Returns 0 or what @take returned. */
static int each_line(struct stream *stream, const char *bytes, size_t size,
		     int (*take)(struct stream *stream, const char *line, size_t len))
{
	while (size) {
		const char *newline = memchr(bytes, '\n', size);
		size_t n = newline ? (size_t)(newline + 1 - bytes) : size;
		int err;

		if (!stream->len && newline) {
			err = take(stream, bytes, n);
		} else {
			err = array_reserve(&stream->line, &stream->room, stream->len, n);
			if (!err)
				memcpy(stream->line + stream->len, bytes, n);
			stream->len += err ? 0 : n;
			if (!err && newline) {
				err = take(stream, stream->line, stream->len);
				stream->len = 0;
			}
		}
		if (err)
			return err;
		bytes += n;
		size -= n;
	}
	return 0;
}

static unsigned int source_of(const struct stream *stream, const char *line, size_t len)
{
	return stream->ops->source(stream->ops->ctx, stream->out == stderr, line, len);
}

static int count_line(struct stream *stream, const char *line, size_t len)
{
	stream->sources[source_of(stream, line, len)]++;
	stream->written++;
	return 0;
}

static int count_written(struct stream *stream, const char *bytes, size_t size)
{
	if (stream->sources)
		return each_line(stream, bytes, size, count_line);
	stream->written += size;
	return 0;
}

static int pass_line(struct stream *stream, const char *line, size_t len)
{
	uint64_t *source = &stream->sources[source_of(stream, line, len)];

	if (!*source)
		return fwrite(line, 1, len, stream->out) == len ? 0 : -EPIPE;
	--*source;
	stream->to_drop--;
	return 0;
}

/* ---- copying ---- */

/* Writes what was not written before all was told again. Only used without sources in that case. */
static int write_once(struct stream *stream, const char *bytes, size_t size)
{
	size_t drop = size < stream->to_drop ? size : stream->to_drop, left = size - drop;

	stream->any |= size > 0;
	stream->to_drop -= drop;
	if (left && fwrite(bytes + drop, 1, left, stream->out) != left)
		return -EPIPE;
	return count_written(stream, bytes + drop, left);
}

static int copy(struct printing *printing, struct page *page, off_t end)
{
	char bytes[COPY_BUFFER];
	int err = 0;

	if (!page->file && page->copied < end) {
		err = write_once(&printing->text, page->text + page->copied, end - page->copied);
		page->copied = end;
	}
	while (page->copied < end && !err) {
		size_t want = end - page->copied;
		ssize_t n = pread(fileno(page->file), bytes,
				  want < sizeof(bytes) ? want : sizeof(bytes), page->copied);

		if (n <= 0)
			return n ? -errno : -EIO;
		page->copied += n;
		err = write_once(&printing->text, bytes, n);
	}
	return err;
}

static int copy_errors(struct printing *printing, const struct page *page)
{
	/* if errors cannot be written, this cannot be reported either */
	write_once(&printing->errors, page->errors_text, page->errors_size);
	return 0;
}

/*
 * Returns whether @queue comes before @other. Of buffers with the same time the first comes first,
 * as in session.c.
 */
static bool is_behind(const struct queue *queue, const struct queue *other)
{
	return queue->time < other->time || (queue->time == other->time && queue < other);
}

/* Returns the buffer whose turn it is, but not @but. NULL: all others are copied. */
static struct queue *next_queue(const struct printing *printing, const struct queue *but)
{
	struct queue *next = NULL;

	for (unsigned int i = 0; i < printing->n_queues; i++) {
		struct queue *queue = &printing->queues[i];

		if (queue != but && queue->left && (!next || is_behind(queue, next)))
			next = queue;
	}
	return next;
}

/* Copies the buffer's first page, up to its end or until the buffer is ahead of the others. */
static int copy_page(struct printing *printing, struct queue *queue)
{
	const struct queue *other = next_queue(printing, queue);
	struct page *page = queue->first;
	int err;

	do {
		if (page->passed == page->n_marks) {
			err = copy(printing, page, page->size);
			if (!err)
				err = copy_errors(printing, page);
			queue->first = page->next;
			queue->left--;
			printing->n_waiting--;
			free_page(printing, page);
			return err;
		}
		queue->time = page->marks[page->passed++].time;
	} while (!other || is_behind(queue, other));
	return copy(printing, page, page->marks[page->passed - 1].offset);
}

static int join_page(void *ctx, void *slice, unsigned int buffer)
{
	struct printing *printing = ctx;
	struct queue *queue = &printing->queues[buffer];
	struct page *page = slice, **link = &printing->pages;
	int err = 0;

	while (*link != page)
		link = &(*link)->next;
	*link = page->next;
	page->next = NULL;
	if (queue->first)
		*queue->last = page;
	else
		queue->first = page;
	queue->last = &page->next;
	printing->n_waiting++;
	while (!err && (queue = next_queue(printing, NULL)) && queue->first)
		err = copy_page(printing, queue);
	return err;
}

static size_t waiting(void *ctx, unsigned int *buffer)
{
	struct printing *printing = ctx;
	const struct queue *queue = next_queue(printing, NULL);

	if (!queue || queue->first)
		return 0;
	*buffer = queue - printing->queues;
	return printing->n_waiting;
}

/* ---- beginning, and beginning again ---- */

static int plan(void *ctx, const size_t *n_slices, unsigned int n_buffers)
{
	struct printing *printing = ctx;

	printing->queues = calloc(n_buffers + 1, sizeof(*printing->queues));
	if (!printing->queues)
		return -ENOMEM;
	printing->n_queues = n_buffers;
	for (unsigned int i = 0; i < n_buffers; i++)
		printing->queues[i].left = n_slices[i];
	return 0;
}

static void free_pages(struct printing *printing, struct page *page)
{
	while (page) {
		struct page *next = page->next;

		free_page(printing, page);
		page = next;
	}
}

/* Discards pages, queues and printers. @valid: what was printed so far counts. */
static void forget(struct printing *printing, bool valid)
{
	free_pages(printing, printing->pages);
	printing->pages = NULL;
	for (unsigned int i = 0; i < printing->n_queues; i++)
		free_pages(printing, printing->queues[i].first);
	while (printing->unused) {
		struct page *unused = printing->unused;

		printing->unused = unused->next;
		free_text(printing, unused);
		free(unused);
	}
	printing->max_text = 0;
	free(printing->queues);
	printing->queues = NULL;
	printing->n_queues = 0;
	printing->n_waiting = 0;
	while (printing->printers) {
		struct printer *next = printing->printers->next;

		close_printer(printing, printing->printers, valid);
		printing->printers = next;
	}
}

static ssize_t print_again(void *ctx, const char *bytes, size_t size)
{
	struct stream *stream = ctx;
	size_t drop = size < stream->to_drop ? size : stream->to_drop, left = size - drop;

	stream->any |= size > 0;
	if (stream->sources && (stream->to_drop || stream->len))
		return each_line(stream, bytes, size, pass_line) ? 0 : (ssize_t)size;
	stream->to_drop -= drop;
	return fwrite(bytes + drop, 1, left, stream->out) == left ? (ssize_t)size : 0;
}

/* Has one thread print all again, but for what was copied. */
static void start_again(void *ctx)
{
	struct printing *printing = ctx;

	forget(printing, false);
	fflush(printing->text.out);
	if (printing->ops->again)
		printing->ops->again(printing->ops->ctx);
	if (printing->ops->anew)
		return;
	printing->text.to_drop = printing->text.written;
	printing->errors.to_drop = printing->errors.written;
}

/* ---- the call-backs of a slice, which go to its printer ---- */

static int page_runs(void *ctx, struct rvt_hart_flow *hart, const struct rvt_run *runs, size_t n)
{
	const struct rvt_session_sink *sink = &((struct page *)ctx)->printer->sink;

	return sink->runs(sink->ctx, hart, runs, n);
}

static int page_damage(void *ctx, unsigned int buffer, const struct rvt_event *event)
{
	const struct rvt_session_sink *sink = &((struct page *)ctx)->printer->sink;

	return sink->damage(sink->ctx, buffer, event);
}

static int page_event(void *ctx, struct rvt_hart_flow *hart, const struct rvt_event *event)
{
	const struct rvt_session_sink *sink = &((struct page *)ctx)->printer->sink;

	return sink->event(sink->ctx, hart, event);
}

static void page_hart_end(void *ctx, struct rvt_hart_flow *hart)
{
	const struct rvt_session_sink *sink = &((struct page *)ctx)->printer->sink;

	if (sink->end)
		sink->end(sink->ctx, hart);
}

/* ---- all of it ---- */

/* Raises the limit of open files: pages are files, and there are some for each thread. */
static void allow_files(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static bool open_stream(struct stream *stream, const struct pages_ops *ops, FILE *out)
{
	const cookie_io_functions_t functions = { .write = print_again };

	stream->ops = ops;
	stream->out = out;
	stream->again = fopencookie(stream, "w", functions);
	if (ops->source)
		stream->sources = calloc(ops->n_sources, sizeof(*stream->sources));
	return stream->again && (stream->sources || !ops->source);
}

static int close_stream(struct stream *stream, int err)
{
	if (stream->again && fclose(stream->again) && !err)
		err = -EPIPE;
	free(stream->sources);
	free(stream->line);
	return err;
}

static int run(struct printing *printing, struct page *only)
{
	const struct pages_ops *ops = printing->ops;
	const struct rvt_session_sink *own = &only->printer->sink;
	const struct rvt_session_slices slices = {
		.ctx = printing, .overlap = ops->overlap, .apart = ops->apart,
		.in_turns = ops->in_turns, .plan = plan, .open = open_printer,
		.begin = begin_page, .moment = mark_page, .end = end_page, .join = join_page,
		.waiting = waiting, .reset = start_again,
	};
	const struct rvt_session_sink sink = {
		.size = sizeof(sink),
		.ctx = only, .runs = own->runs ? page_runs : NULL, .event = page_event,
		.damage = own->damage ? page_damage : NULL, .end = page_hart_end,
		.warning = own->warning,
	};
	int err;

	ops->begin(only->printer->own, &(struct pages_slice){
		.out = printing->text.again, .errors = printing->errors.again });
	err = ops->run(ops->ctx, &sink, &slices);
	if (!err && ops->end)
		err = ops->end(only->printer->own);
	return err;
}

int pages_run(const struct pages_ops *ops, FILE *out)
{
	struct printing printing = { .ops = ops };
	struct page only = { .printer = NULL };
	bool opened = open_stream(&printing.text, ops, out) &
		      open_stream(&printing.errors, ops, stderr);
	int err = -ENOMEM;

	only.printer = opened ? create_printer(&printing) : NULL;
	allow_files();
	if (only.printer)
		err = run(&printing, &only);
	/* as the printer of all noticed */
	if (err == -EIO && ferror(out))
		err = -EPIPE;
	err = close_stream(&printing.text, err);
	err = close_stream(&printing.errors, err);
	if (ops->told_errors)
		*ops->told_errors = printing.errors.any;
	forget(&printing, true);
	if (only.printer)
		close_printer(&printing, only.printer, true);
	return err;
}
