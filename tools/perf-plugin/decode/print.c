// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Prints a flow as text. With one line per instruction that is a lot of text, so the lines of a
 * block are made once and then copied.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rvtrace/image.h>
#include "common/accesses.h"
#include "common/insn-code.h"
#include "common/marks.h"
#include "common/text.h"
#include "decode/decode.h"

#define OUTPUT_SIZE (1 << 20)
#define MAX_PREFIX 12
/* One line: prefix, two addresses, a number and a word. */
#define MAX_LINE (MAX_PREFIX + 16 + 1 + 16 + 1 + 20 + 1 + 20 + 1)

/*
 * The lines of whole blocks, in a direct-mapped cache with all text in one buffer. Text is copied
 * in chunks, so its buffer and the output's have room for one chunk more.
 */
#define CACHE_AFTER 4096	/* runs: most of many sources have few */
#define CACHE_ENTRIES 65536
#define CACHE_TEXT (16 << 20)
#define CACHE_CHUNK 32
#define CACHED_INSNS 64

struct cached_lines {
	const struct rvt_block *block;
	const char *text;
	uint32_t line_bytes;		/* length of each line; 0: they differ */
};

struct decode_printer {
	enum decode_print print;
	char prefix[MAX_PREFIX + 1];
	size_t prefix_len;
	struct rvt_space *space;
	struct decode_output *output;
	struct cached_lines *cache;	/* NULL for the first runs, and if memory is short */
	char *text;			/* of CACHE_TEXT bytes */
	uint32_t runs_before;		/* runs before there was a cache */
	size_t text_used;
	/* for edges: */
	bool has_last;
	uint64_t last_pc, next_pc;	/* of the last instruction, and behind it */
	const char *last_kind;
	/* for marks and accesses: */
	bool has_time;
	uint64_t time;
};

static const char *const class_names[RVT_INSN_CLASSES] = {
	[RVT_INSN_SEQUENTIAL] = "sequential",
	[RVT_INSN_BRANCH] = "branch",
	[RVT_INSN_CALL] = "call",
	[RVT_INSN_JUMP] = "jump",
	[RVT_INSN_JUMP_LINKED] = "jump-linked",
	[RVT_INSN_IND_CALL] = "indirect-call",
	[RVT_INSN_IND_JUMP] = "indirect-jump",
	[RVT_INSN_IND_JUMP_LINKED] = "indirect-jump-linked",
	[RVT_INSN_COROUTINE] = "coroutine-swap",
	[RVT_INSN_RETURN] = "return",
	[RVT_INSN_TRAP_RETURN] = "trap-return",
	[RVT_INSN_ECALL] = "ecall",
	[RVT_INSN_EBREAK] = "ebreak",
};

/* ---- output ---- */

int decode_output_open(struct decode_output *output,
		       int (*write)(void *ctx, const char *text, size_t len), void *ctx)
{
	*output = (struct decode_output){ .text = malloc(OUTPUT_SIZE), .write = write, .ctx = ctx };
	return output->text ? 0 : -ENOMEM;
}

int decode_output_flush(struct decode_output *output)
{
	if (!output->error && output->used)
		output->error = output->write(output->ctx, output->text, output->used);
	output->used = 0;
	return output->error;
}

void decode_output_close(struct decode_output *output)
{
	free(output->text);
	output->text = NULL;
}

/* Returns room for @len bytes. The caller adds to .used what it needs of them. */
static inline char *output_room(struct decode_output *output, size_t len)
{
	if (OUTPUT_SIZE - output->used < len)
		decode_output_flush(output);
	return output->text + output->used;
}

/* ---- numbers ---- */

static char *put_decimal(char *p, uint64_t value)
{
	char digits[20];
	int n = 0;

	do
		digits[n++] = '0' + value % 10;
	while (value /= 10);
	while (n)
		*p++ = digits[--n];
	return p;
}

static char *put_text(char *p, const char *text)
{
	while (*text)
		*p++ = *text++;
	return p;
}

static char *put_prefix(const struct decode_printer *printer, char *p)
{
	memcpy(p, printer->prefix, printer->prefix_len);
	return p + printer->prefix_len;
}

/* ---- runs ---- */

static uint64_t pc_of(const struct rvt_block *block, uint32_t insn)
{
	uint64_t pc = block->pc;

	for (uint32_t i = 0; i < insn; i++)
		pc += 2 * block->halfwords[i];
	return pc;
}

/* Returns the address behind the last instruction of the run. */
static uint64_t end_of(const struct rvt_run *run)
{
	if (run->first + run->count == run->block->insns)
		return run->block->pc + run->block->bytes;
	return pc_of(run->block, run->first + run->count);
}

static char *put_pcs(const struct decode_printer *printer, char *p, const struct rvt_run *run)
{
	const uint8_t *halfwords = run->block->halfwords + run->first;
	uint64_t pc = pc_of(run->block, run->first);

	for (uint32_t i = 0; i < run->count; i++) {
		p = put_hex(put_prefix(printer, p), pc);
		*p++ = '\n';
		pc += 2 * halfwords[i];
	}
	return p;
}

/* Puts the lines of @block into the slot @cached, which it takes from another block. */
static void cache_lines(struct decode_printer *printer, struct cached_lines *cached,
			const struct rvt_block *block)
{
	const struct rvt_run all = { block, 0, block->insns };
	char *end, *text;

	if (CACHE_TEXT - printer->text_used < CACHED_INSNS * (MAX_PREFIX + 17) + CACHE_CHUNK) {
		memset(printer->cache, 0, CACHE_ENTRIES * sizeof(printer->cache[0]));
		printer->text_used = 0;
	}
	*cached = (struct cached_lines){ .block = block };
	if (block->insns > CACHED_INSNS)
		return;
	text = printer->text + printer->text_used;
	end = put_pcs(printer, text, &all);
	/* equal lengths if no carry adds a digit: so all are as long as the first */
	cached->line_bytes = (end - text) / block->insns;
	if (text[cached->line_bytes - 1] != '\n' || (end - text) % block->insns)
		cached->line_bytes = 0;
	cached->text = text;
	printer->text_used += end - text;
}

static void create_cache(struct decode_printer *printer)
{
	printer->runs_before = 0;
	printer->text = malloc(CACHE_TEXT);
	if (printer->text)
		printer->cache = calloc(CACHE_ENTRIES, sizeof(printer->cache[0]));
	if (printer->cache)
		return;
	free(printer->text);
	printer->text = NULL;
}

/* Finds or makes the lines of @block. NULL: there is no cache. */
static const struct cached_lines *lines_of(struct decode_printer *printer,
					   const struct rvt_block *block)
{
	struct cached_lines *cached;

	if (!printer->cache) {
		if (++printer->runs_before > CACHE_AFTER)
			create_cache(printer);
		if (!printer->cache)
			return NULL;
	}
	cached = &printer->cache[((uintptr_t)block >> 4) % CACHE_ENTRIES];
	if (cached->block != block)
		cache_lines(printer, cached, block);
	return cached;
}

static void print_pcs(struct decode_printer *printer, const struct rvt_run *run)
{
	const struct cached_lines *cached = lines_of(printer, run->block);
	char *to = output_room(printer->output, run->count * (MAX_PREFIX + 17) + CACHE_CHUNK);
	const char *from;
	size_t len;

	if (!cached || !cached->line_bytes) {
		printer->output->used += put_pcs(printer, to, run) - to;
		return;
	}
	from = cached->text + run->first * cached->line_bytes;
	len = run->count * cached->line_bytes;
	for (size_t i = 0; i < len; i += CACHE_CHUNK)
		memcpy(to + i, from + i, CACHE_CHUNK);
	printer->output->used += len;
}

static void print_insn(struct decode_printer *printer, uint64_t pc, uint32_t halfwords,
		       const char *class_name)
{
	char *line = output_room(printer->output, MAX_LINE), *p = put_prefix(printer, line);
	uint8_t bytes[INSN_CODE_BYTES];
	unsigned int len = insn_code(printer->space, pc, bytes);
	uint64_t code = 0;

	for (unsigned int i = 0; i < len; i++)
		code |= (uint64_t)bytes[i] << 8 * i;
	p = put_hex(p, pc);
	p += sprintf(p, " %0*llx %s\n", (int)halfwords * 4, (unsigned long long)code, class_name);
	printer->output->used += p - line;
}

static void print_insns(struct decode_printer *printer, const struct rvt_run *run)
{
	const struct rvt_block *block = run->block;
	uint64_t pc = pc_of(block, run->first);

	for (uint32_t i = run->first; i < run->first + run->count; i++) {
		print_insn(printer, pc, block->halfwords[i],
			   class_names[i + 1 == block->insns ? block->iclass :
				       RVT_INSN_SEQUENTIAL]);
		pc += 2 * block->halfwords[i];
	}
}

static void print_block(struct decode_printer *printer, const struct rvt_run *run)
{
	char *line = output_room(printer->output, MAX_LINE), *p = put_prefix(printer, line);

	p = put_hex(p, pc_of(run->block, run->first));
	*p++ = ' ';
	p = put_hex(p, end_of(run));
	*p++ = ' ';
	p = put_decimal(p, run->count);
	*p++ = '\n';
	printer->output->used += p - line;
}

static void put_edge(struct decode_printer *printer, uint64_t from, uint64_t to, const char *kind)
{
	char *line = output_room(printer->output, MAX_LINE), *p = put_prefix(printer, line);

	p = put_hex(p, from);
	*p++ = ' ';
	p = put_hex(p, to);
	*p++ = ' ';
	p = put_text(p, kind);
	*p++ = '\n';
	printer->output->used += p - line;
}

static void print_edge(struct decode_printer *printer, const struct rvt_run *run)
{
	const struct rvt_block *block = run->block;
	uint32_t end = run->first + run->count;
	uint64_t pc = pc_of(block, run->first);

	if (printer->has_last && printer->next_pc != pc)
		put_edge(printer, printer->last_pc, pc, printer->last_kind);
	printer->has_last = true;
	printer->next_pc = end_of(run);
	printer->last_pc = printer->next_pc - 2 * block->halfwords[end - 1];
	printer->last_kind = class_names[end == block->insns ? block->iclass : RVT_INSN_SEQUENTIAL];
}

int decode_printer_runs(struct decode_printer *printer, const struct rvt_run *runs, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		switch (printer->print) {
		case PRINT_PC:
			print_pcs(printer, &runs[i]);
			break;
		case PRINT_INSN:
			print_insns(printer, &runs[i]);
			break;
		case PRINT_BLOCK:
			print_block(printer, &runs[i]);
			break;
		case PRINT_EDGE:
			print_edge(printer, &runs[i]);
			break;
		default:
			break;
		}
	}
	return printer->output->error;
}

/* Prints "TIME PC KIND ..."; "-" for what is not known. */
static void put_mark(struct decode_printer *printer, const struct rvt_event *event)
{
	char text[MARK_TEXT_SIZE], time[21] = "-", pc[17] = "-";
	struct decode_output *output = printer->output;

	if (printer->has_time)
		snprintf(time, sizeof(time), "%" PRIu64, printer->time);
	if (event->pc)
		snprintf(pc, sizeof(pc), "%" PRIx64, event->pc);
	mark_text(event, text);
	output->used += sprintf(output_room(output, MAX_LINE + MARK_TEXT_SIZE), "%s%s %s %s%s\n",
				printer->prefix, time, pc, mark_name(event->mark), text);
}

/* Prints "TIME KIND BYTES ADDRESS VALUE ...". */
static void put_access(struct decode_printer *printer, const struct rvt_access *access)
{
	char text[ACCESS_TEXT_SIZE], time[21] = "-";
	struct decode_output *output = printer->output;

	if (printer->has_time)
		snprintf(time, sizeof(time), "%" PRIu64, printer->time);
	access_text(access, text);
	output->used += sprintf(output_room(output, MAX_LINE + ACCESS_TEXT_SIZE), "%s%s %s\n",
				printer->prefix, time, text);
}

/* Prints a mark or an access. */
static int mark_event(struct decode_printer *printer, const struct rvt_event *event)
{
	if (event->type == RVT_EVENT_MARK && printer->print == PRINT_MARK)
		put_mark(printer, event);
	if (event->type == RVT_EVENT_ACCESS)
		put_access(printer, event->access);
	if (event->type == RVT_EVENT_TIME) {
		printer->has_time = true;
		printer->time = event->time;
	}
	return printer->output->error;
}

int decode_printer_event(struct decode_printer *printer, const struct rvt_event *event)
{
	if (printer->print == PRINT_MARK || printer->print == PRINT_DATA)
		return mark_event(printer, event);
	if (printer->print != PRINT_EDGE)
		return printer->output->error;
	if (event->type == RVT_EVENT_TRAP)
		put_edge(printer, event->pc, event->target,
			 event->interrupt ? "interrupt" : "exception");
	/* what comes next is not a jump from the last instruction */
	if (event->type == RVT_EVENT_TRAP || event->type == RVT_EVENT_START ||
	    event->type == RVT_EVENT_STOP || event->type == RVT_EVENT_LOST)
		printer->has_last = false;
	return printer->output->error;
}

void decode_printer_end(struct decode_printer *printer, const uint64_t *next_pc)
{
	if (printer->has_last && next_pc && printer->next_pc != *next_pc)
		put_edge(printer, printer->last_pc, *next_pc, printer->last_kind);
	printer->has_last = false;
}

struct decode_printer *decode_printer_create(enum decode_print print, const char *prefix,
					     struct rvt_space *space, struct decode_output *output)
{
	struct decode_printer *printer = calloc(1, sizeof(*printer));

	if (!printer)
		return NULL;
	printer->print = print;
	printer->space = space;
	printer->output = output;
	printer->prefix_len = snprintf(printer->prefix, sizeof(printer->prefix), "%s", prefix);
	return printer;
}

void decode_printer_destroy(struct decode_printer *printer)
{
	if (!printer)
		return;
	free(printer->cache);
	free(printer->text);
	free(printer);
}
