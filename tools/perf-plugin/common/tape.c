// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * A tape is a sequence of items, each with a byte in front that says what it is. Numbers are
 * LEB128, addresses differences to the address before them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "callstack/returns.h"
#include "common/pages.h"
#include "common/tape.h"
#include "session/followed.h"
#include "util/array.h"

enum item {
	ITEM_RECORD,	/* and the record itself */
	ITEM_HART,	/* buffer, cpu: whose what follows is; the address before is 0 */
	ITEM_TASK,	/* what it runs: .tid + 1, .guest, .moved */
	ITEM_RAN,	/* struct tape_ran, .place and .parent as their sum */
	ITEM_BASE,
	ITEM_RETURNED,	/* where to, and how much deeper */
	ITEM_STEP = 0x80,	/* and bits of this byte; .from and .to, as far as it has them */
};

#define STEP_KIND_SHIFT 5
#define STEP_TRANSFER_SHIFT 2
#define STEP_SECOND 2	/* indirect, crossing or executed */
#define STEP_WIDE 1	/* the call has 4 bytes, not 2 */
#define MAX_ITEM 64	/* bytes, but for records */

/* ---- writing ---- */

static void put_byte(struct tape *tape, uint8_t byte)
{
	tape->bytes[tape->n++] = byte;
}

static void put_number(struct tape *tape, uint64_t number)
{
	for (; number > 0x7f; number >>= 7)
		put_byte(tape, 0x80 | number);
	put_byte(tape, number);
}

static void put_difference(struct tape *tape, int64_t difference)
{
	put_number(tape, (uint64_t)difference << 1 ^ (difference < 0 ? UINT64_MAX : 0));
}

static void put_address(struct tape *tape, uint64_t address)
{
	put_difference(tape, address - tape->last);
	tape->last = address;
}

void tape_begin(struct tape *tape, FILE *out)
{
	tape->out = out;
	tape->has_hart = tape->moved_on = false;
	tape->n = 0;
}

int tape_end(struct tape *tape)
{
	size_t n = tape->n;

	tape->n = 0;
	return !n || fwrite_unlocked(tape->bytes, n, 1, tape->out) ? 0 : -EIO;
}

int tape_moment(struct tape *tape)
{
	tape->moved_on = true;
	return tape_end(tape);
}

/* Items of at most @n bytes follow. */
static int make_room(struct tape *tape, size_t n)
{
	return n > sizeof(tape->bytes) - tape->n ? tape_end(tape) : 0;
}

struct tape_hart tape_hart(const struct rvt_hart_flow *hart)
{
	return (struct tape_hart){ .number = hart->number, .moved = hart->moved,
				   .tid = hart->task ? hart->task->tid : -1,
				   .guest = rvt_hart_in_guest(hart) };
}

bool tape_same_hart(const struct tape_hart *a, const struct tape_hart *b)
{
	return a->number == b->number && a->moved == b->moved && a->tid == b->tid &&
		a->guest == b->guest;
}

/* An item follows, which is of @hart. Others may have moved the kernel's code to their time. */
static int put_hart(struct tape *tape, const struct tape_hart *hart)
{
	bool other = !tape->has_hart || tape->moved_on || tape->hart.number != hart->number;

	if (make_room(tape, 3 * MAX_ITEM))
		return -EIO;
	if (other) {
		put_byte(tape, ITEM_HART);
		put_number(tape, hart->number >> 32);
		put_number(tape, (uint32_t)hart->number);
		tape->last = 0;
	}
	if (other || !tape_same_hart(&tape->hart, hart)) {
		put_byte(tape, ITEM_TASK);
		put_number(tape, (uint64_t)hart->tid + 1);
		put_byte(tape, hart->guest);
		put_number(tape, hart->moved);
		tape->hart = *hart;
	}
	tape->has_hart = true;
	tape->moved_on = false;
	return 0;
}

int tape_step(struct tape *tape, const struct tape_hart *hart, const struct rvt_step *step)
{
	uint8_t head = ITEM_STEP | step->kind << STEP_KIND_SHIFT |
		       step->transfer << STEP_TRANSFER_SHIFT;
	int err = put_hart(tape, hart);

	if (err)
		return err;
	if (step->indirect || step->crossing || step->executed)
		head |= STEP_SECOND;
	if (step->kind == RVT_STEP_TRANSFER && step->back == step->from + 4)
		head |= STEP_WIDE;
	put_byte(tape, head);
	if (step->kind == RVT_STEP_TRANSFER)
		put_address(tape, step->from);
	if (step->kind != RVT_STEP_LOST)
		put_address(tape, step->to);
	return 0;
}

static int put_step(void *ctx, struct rvt_hart_flow *flow, const struct rvt_step *step)
{
	const struct tape_hart hart = tape_hart(flow);

	return tape_step(ctx, &hart, step);
}

void tape_steps(struct tape *tape, struct transfers *transfers)
{
	rvt_transfers_tell_steps(transfers_inner(transfers), put_step, tape);
}

int tape_ran(struct tape *tape, const struct tape_hart *hart, const struct tape_ran *ran)
{
	int err = put_hart(tape, hart);

	if (err)
		return err;
	put_byte(tape, ITEM_RAN);
	put_number(tape, (uint64_t)ran->place + ran->parent);
	put_address(tape, ran->addr);
	put_number(tape, ran->insns);
	put_number(tape, ran->lines);
	put_number(tape, ran->ns);
	put_number(tape, ran->calls);
	return 0;
}

int tape_base(struct tape *tape, const struct tape_hart *hart)
{
	int err = put_hart(tape, hart);

	if (!err)
		put_byte(tape, ITEM_BASE);
	return err;
}

int tape_returned(struct tape *tape, const struct tape_hart *hart, uint64_t to, int64_t above)
{
	int err = put_hart(tape, hart);

	if (err)
		return err;
	put_byte(tape, ITEM_RETURNED);
	put_address(tape, to);
	put_difference(tape, above);
	return 0;
}

int tape_record(struct tape *tape, const struct rvt_hart_flow *hart,
		const struct perf_event_header *record)
{
	int err;

	if (hart) {
		const struct tape_hart whose = tape_hart(hart);

		err = put_hart(tape, &whose);
	} else {
		err = make_room(tape, MAX_ITEM);
	}
	if (err)
		return err;
	put_byte(tape, ITEM_RECORD);
	if (record->size > sizeof(tape->bytes) - tape->n) {
		err = tape_end(tape);
		return err || fwrite_unlocked(record, record->size, 1, tape->out) ? err : -EIO;
	}
	memcpy(tape->bytes + tape->n, record, record->size);
	tape->n += record->size;
	return 0;
}

/* ---- reading ---- */

struct tape_reader {
	struct view *view;
	struct tape_reads reads;
	struct rvt_followed *followed;	/* NULL: there are no stacks */
	struct rvt_transfers *transfers;
	struct rvt_hart_flow *hart;	/* whose what follows is */
	uint64_t last;
	int err;		/* the first */
	uint8_t *bytes;		/* that were not read yet */
	size_t len, room;
	uint64_t aligned[8192];	/* a record */
};

/* Bytes that are being read; .failed: there are too few. */
struct item_reader {
	const uint8_t *at, *end;
	bool failed;
};

static uint8_t get_byte(struct item_reader *item)
{
	if (item->at == item->end) {
		item->failed = true;
		return 0;
	}
	return *item->at++;
}

static uint64_t get_number(struct item_reader *item)
{
	uint64_t number = 0;
	unsigned int shift = 0;
	uint8_t byte;

	do {
		byte = get_byte(item);
		number |= shift < 64 ? (uint64_t)(byte & 0x7f) << shift : 0;
		shift += 7;
	} while (byte & 0x80);
	return number;
}

static uint64_t get_difference(struct item_reader *item)
{
	uint64_t number = get_number(item);

	return number >> 1 ^ (number & 1 ? UINT64_MAX : 0);
}

static int read_hart(struct tape_reader *reader, struct item_reader *item)
{
	uint64_t buffer = get_number(item), cpu = get_number(item);

	if (item->failed)
		return 0;
	reader->last = 0;
	reader->hart = rvt_followed_hart(reader->followed, buffer << 32 | cpu, cpu);
	return reader->hart ? 0 : -ENOMEM;
}

static int read_task(struct tape_reader *reader, struct item_reader *item)
{
	int32_t tid = (int32_t)get_number(item) - 1;
	bool guest = get_byte(item);
	uint64_t moved = get_number(item);

	return item->failed ? 0 : rvt_followed_set(reader->followed, reader->hart, tid, guest,
						   moved);
}

static int read_step(struct tape_reader *reader, struct item_reader *item, uint8_t head)
{
	struct rvt_step step = {
		.kind = head >> STEP_KIND_SHIFT & 3, .transfer = head >> STEP_TRANSFER_SHIFT & 7,
		.indirect = head & STEP_SECOND, .crossing = head & STEP_SECOND,
		.executed = head & STEP_SECOND, .to = reader->last,
	};

	if (step.kind == RVT_STEP_TRANSFER)
		step.to = step.from = reader->last + get_difference(item);
	step.back = step.from + (head & STEP_WIDE ? 4 : 2);
	if (step.kind != RVT_STEP_LOST)
		step.to += get_difference(item);
	if (item->failed)
		return 0;
	reader->last = step.to;
	return rvt_transfers_take_step(reader->transfers, reader->hart, &step);
}

static int read_ran(struct tape_reader *reader, struct item_reader *item)
{
	uint64_t place = get_number(item);
	struct tape_ran ran = { .place = place < TAPE_GOES_ON ? place : TAPE_GOES_ON };
	struct rvt_callstack *stack = NULL;
	int err = 0;

	ran.parent = place - ran.place;
	ran.addr = reader->last + get_difference(item);
	ran.insns = get_number(item);
	ran.lines = get_number(item);
	ran.ns = get_number(item);
	ran.calls = get_number(item);
	if (item->failed)
		return 0;
	reader->last = ran.addr;
	/* the stack may have gone on by now, or be of another program */
	if (ran.place == TAPE_BEGINS)
		err = rvt_transfers_stack(reader->transfers, reader->hart, &stack);
	return err || !reader->reads.ran ? err :
		reader->reads.ran(reader->reads.ctx, reader->hart, &ran, stack);
}

static int read_base(struct tape_reader *reader)
{
	struct rvt_callstack *stack;
	int err = rvt_transfers_stack(reader->transfers, reader->hart, &stack);

	return err || !reader->reads.base ? err :
		reader->reads.base(reader->reads.ctx, reader->hart, stack);
}

static int read_returned(struct tape_reader *reader, struct item_reader *item)
{
	uint64_t to = reader->last + get_difference(item), above = get_difference(item);
	struct rvt_callstack *stack;
	int err;

	if (item->failed)
		return 0;
	reader->last = to;
	err = rvt_transfers_stack(reader->transfers, reader->hart, &stack);
	if (!err)
		rvt_callstack_note_return(stack, to, rvt_callstack_depth(stack) + above);
	return err;
}

static int read_record(struct tape_reader *reader, struct item_reader *item)
{
	size_t left = item->end - item->at;
	struct perf_event_header header;
	struct rvt_callstack *stack = NULL;
	int err = 0;

	if (left >= sizeof(header))
		memcpy(&header, item->at, sizeof(header));
	if (left < sizeof(header) || left < header.size) {
		item->failed = true;
		return 0;
	}
	memcpy(reader->aligned, item->at, header.size);
	item->at += header.size;
	if (reader->hart)
		err = rvt_transfers_stack(reader->transfers, reader->hart, &stack);
	return err || !reader->reads.record ? err :
		reader->reads.record(reader->reads.ctx, (void *)reader->aligned, stack);
}

/* Reads an item, unless it is not complete. */
static int read_item(struct tape_reader *reader, struct item_reader *item)
{
	uint8_t head = get_byte(item);

	if (head == ITEM_RECORD)
		return read_record(reader, item);
	if (!reader->followed)
		return -EINVAL;
	if (head == ITEM_HART)
		return read_hart(reader, item);
	if (!reader->hart)
		return -EINVAL;
	if (head == ITEM_TASK)
		return read_task(reader, item);
	if (head == ITEM_RAN)
		return read_ran(reader, item);
	if (head == ITEM_BASE)
		return read_base(reader);
	if (head == ITEM_RETURNED)
		return read_returned(reader, item);
	return head & ITEM_STEP ? read_step(reader, item, head) : -EINVAL;
}

/* Reads all items that are complete. Returns what is left at @*left, or an error. */
static int read_items(struct tape_reader *reader, const uint8_t *at, const uint8_t *end,
		      const uint8_t **left)
{
	struct item_reader item = { at, end, false };
	int err = 0;

	while (!err && !item.failed && item.at < end) {
		at = item.at;
		err = read_item(reader, &item);
	}
	*left = item.failed ? at : item.at;
	return err;
}

static int read_bytes(struct tape_reader *reader, const char *bytes, size_t len)
{
	const uint8_t *at = (const uint8_t *)bytes, *end = at + len, *left;
	int err;

	if (reader->len) {
		err = array_reserve(&reader->bytes, &reader->room, reader->len, len);
		if (err)
			return err;
		memcpy(reader->bytes + reader->len, bytes, len);
		at = reader->bytes;
		end = at + reader->len + len;
	}
	err = read_items(reader, at, end, &left);
	reader->len = end - left;
	if (!reader->len)
		return err;
	if (!err && at != reader->bytes)
		err = array_reserve(&reader->bytes, &reader->room, 0, reader->len);
	if (!err)
		memmove(reader->bytes, left, reader->len);
	return err;
}

static int open_stacks(struct tape_reader *reader)
{
	const struct rvt_transfers_ops ops = { .size = sizeof(ops), .ctx = reader->reads.ctx,
					       .after = reader->reads.after };
	struct rvt_session *session = view_session(reader->view);

	if (!reader->followed)
		reader->followed = rvt_followed_create(session);
	reader->transfers = rvt_transfers_create(&ops, rvt_session_symbols(session),
						 MAX_CALL_DEPTH);
	return reader->followed && reader->transfers ? 0 : -ENOMEM;
}

struct tape_reader *tape_reader_create(struct view *view, bool stacks,
				       const struct tape_reads *reads)
{
	struct tape_reader *reader = calloc(1, sizeof(*reader));

	if (!reader)
		return NULL;
	reader->view = view;
	reader->reads = *reads;
	if (stacks && open_stacks(reader)) {
		tape_reader_destroy(reader);
		return NULL;
	}
	return reader;
}

void tape_reader_destroy(struct tape_reader *reader)
{
	if (!reader)
		return;
	if (reader->transfers)
		view_cut(reader->view, rvt_transfers_cuts(reader->transfers));
	rvt_transfers_destroy(reader->transfers);
	rvt_followed_destroy(reader->followed);
	free(reader->bytes);
	free(reader);
}

void tape_reader_restart(struct tape_reader *reader, int err)
{
	reader->len = 0;
	reader->hart = NULL;
	reader->err = err;
	if (!reader->followed || err)
		return;
	rvt_transfers_destroy(reader->transfers);
	rvt_followed_forget(reader->followed);
	reader->err = open_stacks(reader);
}

static ssize_t take_bytes(void *ctx, const char *bytes, size_t len)
{
	struct tape_reader *reader = ctx;

	if (!reader->err)
		reader->err = read_bytes(reader, bytes, len);
	return reader->err ? 0 : len;
}

int tape_run(struct tape_reader *reader, const struct pages_ops *ops)
{
	FILE *out = fopencookie(reader, "w", (cookie_io_functions_t){ .write = take_bytes });
	int err = out ? pages_run(ops, out) : -ENOMEM;

	if (out && fclose(out) && !err)
		err = -EIO;
	return reader->err ? reader->err : err;
}
