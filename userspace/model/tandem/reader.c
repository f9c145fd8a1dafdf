// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* From bytes to records and groups; the rules of groups (ch. 3). */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <rvtrace/tandem.h>
#include "file/file.h"
#include "util/array.h"

/* Of a pipe, in one go. */
#define READ_AT_LEAST (1u << 20)

struct rvt_tandem_reader {
	struct rvt_tandem_params params;
	const uint8_t *bytes;
	size_t len, pos;
	/* at most one: what close() releases */
	struct rvt_mapped_file *mapping;
	void *buffer;
	struct rvt_tandem_record previous;
	bool has_pending;		/* a record that belongs to the next group */
	struct rvt_tandem_record pending;
	uint64_t gaps;			/* times that bytes were skipped */
	uint64_t gaps_told;		/* with the groups so far */
	struct {			/* of the current group, for its rules */
		bool open, has_insn, init, reset, inc_pc;
		uint64_t inc_pc_offset;
		uint16_t states;
	} rules;
	/* twice the group in which a register was last named, from 1; 1 more: by its full value */
	uint64_t group_number, named[RVT_TANDEM_REGS];
	struct rvt_tandem_update *updates;
	struct rvt_tandem_access *accesses;
	size_t updates_cap, accesses_cap;
	rvt_tandem_problem_fn problem;
	void *problem_ctx;
	struct rvt_tandem_stats stats;
};

static int create(const struct rvt_tandem_params *params, struct rvt_tandem_reader **reader)
{
	struct rvt_tandem_reader *r;

	if (rvt_tandem_params_check(params))
		return -EINVAL;
	r = calloc(1, sizeof(*r));
	if (!r)
		return -ENOMEM;
	r->params = *params;
	r->group_number = 1;
	*reader = r;
	return 0;
}

int rvt_tandem_open_memory(const void *bytes, size_t len, const struct rvt_tandem_params *params,
			   struct rvt_tandem_reader **reader)
{
	int ret = create(params, reader);

	if (ret)
		return ret;
	(*reader)->bytes = bytes;
	(*reader)->len = len;
	(*reader)->stats.bytes = len;
	return 0;
}

/* A pipe cannot be mapped. */
static int read_all(struct rvt_tandem_reader *r, int fd)
{
	size_t cap = 0;
	ssize_t n;

	do {
		if (array_reserve(&r->buffer, &cap, r->len, READ_AT_LEAST))
			return -ENOMEM;
		n = read(fd, (uint8_t *)r->buffer + r->len, cap - r->len);
		if (n < 0 && errno != EINTR)
			return -errno;
		r->len += n > 0 ? n : 0;
	} while (n);
	r->bytes = r->buffer;
	return 0;
}

static int map_file(struct rvt_tandem_reader *r, int fd, const char *path)
{
	struct stat st;
	int err;

	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return read_all(r, fd);
	r->len = st.st_size;
	if (!r->len)
		return 0;
	err = rvt_file_map(fd, r->len, path, &r->mapping);
	if (err)
		return err;
	madvise(r->mapping->bytes, r->len, MADV_SEQUENTIAL);
	r->bytes = r->mapping->bytes;
	return 0;
}

int rvt_tandem_open(const char *path, const struct rvt_tandem_params *params,
		    struct rvt_tandem_reader **reader)
{
	bool is_stdin = !strcmp(path, "-");
	int ret, fd;

	ret = create(params, reader);
	if (ret)
		return ret;
	fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	ret = fd < 0 ? -errno : map_file(*reader, fd, path);
	if (fd >= 0 && !is_stdin)
		close(fd);
	if (ret) {
		rvt_tandem_close(*reader);
		*reader = NULL;
		return ret;
	}
	(*reader)->stats.bytes = (*reader)->len;
	return 0;
}

void rvt_tandem_close(struct rvt_tandem_reader *r)
{
	if (!r)
		return;
	rvt_file_unmap(r->mapping);
	free(r->buffer);
	free(r->updates);
	free(r->accesses);
	free(r);
}

void rvt_tandem_on_problem(struct rvt_tandem_reader *r, rvt_tandem_problem_fn fn, void *ctx)
{
	r->problem = fn;
	r->problem_ctx = ctx;
}

const struct rvt_tandem_stats *rvt_tandem_stats(const struct rvt_tandem_reader *r)
{
	return &r->stats;
}

static void report(struct rvt_tandem_reader *r, uint64_t offset, enum rvt_tandem_problem problem)
{
	r->stats.problems[problem]++;
	if (r->problem)
		r->problem(r->problem_ctx, offset, problem);
}

/* Whether a run of whole records, or the end of the trace, starts here. */
static bool plausible(const struct rvt_tandem_reader *r, size_t pos)
{
	struct rvt_tandem_record record, previous = { .op = 0 };
	enum rvt_tandem_problem problem;
	unsigned int i;
	int n;

	for (i = 0; i < 8 && pos < r->len; i++) {
		n = rvt_tandem_decode(&r->params, r->bytes + pos, r->len - pos, &previous, &record,
				      &problem);
		if (n < 0)
			return false;
		previous = record;
		pos += n;
	}
	return true;
}

static void resync(struct rvt_tandem_reader *r)
{
	size_t from = r->pos;
	const uint8_t *next;

	for (;;) {
		r->pos++;
		next = r->pos < r->len ? memchr(r->bytes + r->pos, RVT_TANDEM_END_GROUP,
						r->len - r->pos) : NULL;
		if (!next) {
			r->pos = r->len;
			break;
		}
		r->pos = next - r->bytes;
		if (r->pos + 1 < r->len && next[1] == RVT_TANDEM_BEGIN_GROUP &&
		    plausible(r, r->pos + 1)) {
			r->pos++;
			break;
		}
	}
	r->stats.skipped_bytes += r->pos - from;
	r->rules.open = false;
	r->group_number++;
	r->previous.op = 0;
	r->gaps++;
}

/* Field order within a group is free, so what needs company is judged at its end. */
static void end_group(struct rvt_tandem_reader *r, uint64_t offset)
{
	if (r->rules.inc_pc && !r->rules.has_insn)
		report(r, r->rules.inc_pc_offset, RVT_TANDEM_INC_PC_ALONE);
	if (r->rules.inc_pc && r->rules.states >> RVT_TANDEM_PC & 1)
		report(r, r->rules.inc_pc_offset, RVT_TANDEM_AMBIGUOUS);
	if (r->rules.init && (r->rules.has_insn || r->rules.reset))
		report(r, offset, RVT_TANDEM_INIT_MIXED);
	memset(&r->rules, 0, sizeof(r->rules));
	r->group_number++;
}

/* Order means nothing in a group: a full value beside another update says nothing. */
static void check_register(struct rvt_tandem_reader *r, const struct rvt_tandem_record *record)
{
	uint64_t *named = &r->named[record->reg];
	bool full = record->op == RVT_TANDEM_REG_FULL;

	if (*named / 2 == r->group_number && (full || *named % 2))
		report(r, record->offset, RVT_TANDEM_AMBIGUOUS);
	*named = 2 * r->group_number + full;
}

/* The rules of ch. 3 for a record in a group. */
static void check_in_group(struct rvt_tandem_reader *r, const struct rvt_tandem_record *record)
{
	switch (record->op) {
	case RVT_TANDEM_INC_PC:
		r->rules.inc_pc = true;
		r->rules.inc_pc_offset = record->offset;
		break;
	case RVT_TANDEM_STATE:
		if (r->rules.states >> record->state_id & 1)
			report(r, record->offset, RVT_TANDEM_AMBIGUOUS);
		r->rules.states |= 1u << record->state_id;
		break;
	case RVT_TANDEM_REG_FULL:
	case RVT_TANDEM_REG_ADD:
	case RVT_TANDEM_REG_OR:
		check_register(r, record);
		break;
	case RVT_TANDEM_RESET:
		r->rules.reset = true;
		break;
	case RVT_TANDEM_STATE_INIT:
		r->rules.init = true;
		break;
	case RVT_TANDEM_INSN16:
	case RVT_TANDEM_INSN32:
		if (r->rules.has_insn)
			report(r, record->offset, RVT_TANDEM_AMBIGUOUS);
		r->rules.has_insn = true;
		break;
	default:
		break;
	}
}

static void check_group_rules(struct rvt_tandem_reader *r, const struct rvt_tandem_record *record)
{
	if (record->op == RVT_TANDEM_BEGIN_GROUP) {
		if (r->rules.open) {
			report(r, record->offset, RVT_TANDEM_NESTED_BEGIN);
			end_group(r, record->offset);
		}
		r->rules.open = true;
	} else if (record->op == RVT_TANDEM_END_GROUP) {
		if (r->rules.open)
			end_group(r, record->offset);
		else
			report(r, record->offset, RVT_TANDEM_ORPHAN_END);
	} else if (r->rules.open) {
		check_in_group(r, record);
	} else if (record->op == RVT_TANDEM_INC_PC) {
		report(r, record->offset, RVT_TANDEM_INC_PC_ALONE);
	} else if (record->op == RVT_TANDEM_STATE_INIT) {
		report(r, record->offset, RVT_TANDEM_INIT_ALONE);
	}
}

static void check_sequence(struct rvt_tandem_reader *r, const struct rvt_tandem_record *record)
{
	if (record->quirks)
		report(r, record->offset, RVT_TANDEM_QUIRK);
	if (record->op != RVT_TANDEM_MEM_RSP)
		return;
	if (r->previous.op != RVT_TANDEM_MEM_REQ)
		report(r, record->offset, RVT_TANDEM_ORPHAN_RSP);
	else if (r->previous.mem_size != record->mem_size)
		report(r, record->offset, RVT_TANDEM_RSP_SIZE);
}

int rvt_tandem_next(struct rvt_tandem_reader *r, struct rvt_tandem_record *record)
{
	enum rvt_tandem_problem problem;
	int n;

	while (r->pos < r->len) {
		n = rvt_tandem_decode(&r->params, r->bytes + r->pos, r->len - r->pos, &r->previous,
				      record, &problem);
		if (n < 0) {
			report(r, r->pos, problem);
			resync(r);
			continue;
		}
		record->offset = r->pos;
		r->pos += n;
		r->stats.ops[record->op]++;
		check_sequence(r, record);
		check_group_rules(r, record);
		r->previous = *record;
		return 1;
	}
	if (r->rules.open) {
		report(r, r->len, RVT_TANDEM_OPEN_AT_END);
		end_group(r, r->len);
	}
	return 0;
}

static int add_update(struct rvt_tandem_reader *r, struct rvt_tandem_group *group,
		      const struct rvt_tandem_record *record)
{
	if (array_reserve(&r->updates, &r->updates_cap, group->updates_len, 1))
		return -ENOMEM;
	r->updates[group->updates_len++] = (struct rvt_tandem_update){
		.reg = record->reg, .op = record->op, .value = record->value,
	};
	return 0;
}

static int add_request(struct rvt_tandem_reader *r, struct rvt_tandem_group *group,
		       const struct rvt_tandem_record *record)
{
	if (array_reserve(&r->accesses, &r->accesses_cap, group->accesses_len, 1))
		return -ENOMEM;
	r->accesses[group->accesses_len++] = (struct rvt_tandem_access){
		.addr = record->addr, .store_data = record->value,
		.mem_op = record->mem_op, .mem_size = record->mem_size,
	};
	return 0;
}

static void add_response(struct rvt_tandem_reader *r, struct rvt_tandem_group *group,
			 const struct rvt_tandem_record *record, bool follows)
{
	struct rvt_tandem_access *access;

	/* An orphan belongs to nothing (and was reported). */
	if (!follows || !group->accesses_len)
		return;
	access = &r->accesses[group->accesses_len - 1];
	access->has_response = true;
	access->load_data = record->value;
	access->result = record->mem_result;
}

static int add(struct rvt_tandem_reader *r, struct rvt_tandem_group *group,
	       const struct rvt_tandem_record *record, bool follows_request)
{
	switch (record->op) {
	case RVT_TANDEM_INC_PC:
		group->inc_pc = true;
		break;
	case RVT_TANDEM_REG_FULL:
	case RVT_TANDEM_REG_ADD:
	case RVT_TANDEM_REG_OR:
		return add_update(r, group, record);
	case RVT_TANDEM_STATE:
		group->states |= 1u << record->state_id;
		group->state[record->state_id] = record->value;
		break;
	case RVT_TANDEM_MEM_REQ:
		return add_request(r, group, record);
	case RVT_TANDEM_MEM_RSP:
		add_response(r, group, record, follows_request);
		break;
	case RVT_TANDEM_RESET:
		group->reset = true;
		break;
	case RVT_TANDEM_STATE_INIT:
		group->init = true;
		break;
	case RVT_TANDEM_INSN16:
	case RVT_TANDEM_INSN32:
		group->has_insn = true;
		group->insn = record->value;
		group->insn_bytes = record->op == RVT_TANDEM_INSN16 ? 2 : 4;
		break;
	default:
		break;
	}
	return 0;
}

static int finish(struct rvt_tandem_reader *r, struct rvt_tandem_group *group, uint64_t end)
{
	group->end = end;
	group->after_gap = r->gaps != r->gaps_told;
	r->gaps_told = r->gaps;
	group->updates = r->updates;
	group->accesses = r->accesses;
	group->inc_pc = group->inc_pc && group->in_group && group->has_insn;
	r->stats.groups += group->in_group;
	return 1;
}

static bool take(struct rvt_tandem_reader *r, struct rvt_tandem_record *record)
{
	if (r->has_pending) {
		*record = r->pending;
		r->has_pending = false;
		return true;
	}
	return rvt_tandem_next(r, record) == 1;
}

/* Outside of groups: the next thing is one record, with the response if it is a request. */
static bool alone_is_complete(struct rvt_tandem_reader *r, const struct rvt_tandem_record *record)
{
	return !(record->op == RVT_TANDEM_MEM_REQ && r->pos < r->len &&
		 r->bytes[r->pos] == RVT_TANDEM_MEM_RSP);
}

int rvt_tandem_next_group(struct rvt_tandem_reader *r, struct rvt_tandem_group *group)
{
	struct rvt_tandem_record record;
	bool any = false, was_request = false;
	uint64_t gaps = r->gaps;
	int ret;

	memset(group, 0, sizeof(*group));
	while (take(r, &record)) {
		/* What came before a gap in this group is incomplete and not used. */
		if (r->gaps != gaps) {
			memset(group, 0, sizeof(*group));
			any = false;
			gaps = r->gaps;
		}
		if (!any)
			group->offset = record.offset;
		if (record.op == RVT_TANDEM_BEGIN_GROUP) {
			if (any) {
				/* the implied end (ch. 3) */
				r->pending = record;
				r->has_pending = true;
				return finish(r, group, record.offset);
			}
			group->in_group = any = true;
			continue;
		}
		if (record.op == RVT_TANDEM_END_GROUP) {
			if (group->in_group)
				return finish(r, group, r->pos);
			continue;
		}
		any = true;
		ret = add(r, group, &record, was_request);
		if (ret)
			return ret;
		was_request = record.op == RVT_TANDEM_MEM_REQ;
		if (!group->in_group && alone_is_complete(r, &record))
			return finish(r, group, r->pos);
	}
	/* a group that damage cut off at the end of the trace is not used either */
	return any && r->gaps == gaps ? finish(r, group, r->len) : 0;
}
