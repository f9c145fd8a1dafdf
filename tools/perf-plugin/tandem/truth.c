// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * `perf-rvtrace tandem to-truth`: makes ground truth (rvtrace/truth.h) from a tandem trace, so that
 * any core that emits one can test the decoders.
 */
#include <errno.h>
#include <getopt.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <rvtrace/truth.h>
#include "common/cmd.h"
#include "tandem/tandem.h"

#define CSR_SCONTEXT 0x5a8
#define CSR_HCONTEXT 0x6a8
#define MAX_BLOCK 256u

struct block {
	uint64_t pc, id;
	uint32_t n;
	uint8_t halfwords[MAX_BLOCK];
};

struct bridge {
	struct rvt_tandem_shadow shadow;
	struct rvt_truth_writer *truth;
	void *blocks;			/* tree of struct block */
	struct block current;		/* instructions in a straight line, not yet written */
	uint64_t next_pc;		/* address behind .current */
	struct rvt_truth_record state;
	bool on;
	uint64_t insns, problems;
};

static int compare_blocks(const void *a, const void *b)
{
	const struct block *p = a, *q = b;

	if (p->pc != q->pc)
		return p->pc < q->pc ? -1 : 1;
	if (p->n != q->n)
		return p->n < q->n ? -1 : 1;
	return memcmp(p->halfwords, q->halfwords, p->n);
}

/* Keeps a copy of .current under its id, and sets *@block to it. */
static int new_block(struct bridge *b, struct block **block)
{
	struct block *copy;
	int64_t id;

	id = rvt_truth_block(b->truth, b->current.pc, b->current.halfwords, b->current.n);
	if (id < 0)
		return id;
	copy = malloc(sizeof(*copy));
	if (!copy)
		return -ENOMEM;
	*copy = b->current;
	copy->id = id;
	if (!tsearch(copy, &b->blocks, compare_blocks)) {
		free(copy);
		return -ENOMEM;
	}
	*block = copy;
	return 0;
}

static int flush(struct bridge *b)
{
	struct block **found, *block = NULL;
	int ret = 0;

	if (!b->current.n)
		return 0;
	found = tfind(&b->current, &b->blocks, compare_blocks);
	if (found)
		block = *found;
	else
		ret = new_block(b, &block);
	if (!ret)
		ret = rvt_truth_run(b->truth, block->id);
	b->current.n = 0;
	return ret;
}

static int retired(struct bridge *b, uint64_t pc, unsigned int bytes)
{
	int ret = 0;

	if (b->current.n && (b->next_pc != pc || b->current.n == MAX_BLOCK))
		ret = flush(b);
	if (!b->current.n)
		b->current.pc = pc;
	b->current.halfwords[b->current.n++] = bytes / 2;
	b->next_pc = pc + bytes;
	b->insns++;
	return ret;
}

static int write_state(struct bridge *b)
{
	struct rvt_truth_record state = {
		.type = RVT_TRUTH_STATE,
		.prv = b->shadow.privilege,
		.scontext = b->shadow.regs[CSR_SCONTEXT],
		.hcontext = b->shadow.regs[CSR_HCONTEXT],
	};
	int ret;

	if (b->on && state.prv == b->state.prv && state.scontext == b->state.scontext &&
	    state.hcontext == b->state.hcontext)
		return 0;
	ret = flush(b);
	b->state = state;
	return ret ? ret : rvt_truth_write(b->truth, &state);
}

static bool updates(const struct rvt_tandem_group *group, unsigned int reg)
{
	size_t i;

	for (i = 0; i < group->updates_len; i++)
		if (group->updates[i].reg == reg)
			return true;
	return false;
}

/*
 * A trap writes xcause and xepc, of M or S mode; no instruction writes both. Returns the number of
 * xepc, or 0.
 */
static unsigned int trap_epc(const struct rvt_tandem_group *group)
{
	static const unsigned int epcs[] = { 0x341, 0x141, 0x241 };
	size_t i;

	for (i = 0; i < sizeof(epcs) / sizeof(epcs[0]); i++)
		if (updates(group, epcs[i]) && updates(group, epcs[i] + 1))
			return epcs[i];
	return 0;
}

static int write_trap(struct bridge *b, unsigned int epc)
{
	uint64_t top = UINT64_C(1) << (b->shadow.params.xlen - 1);
	uint64_t cause = b->shadow.regs[epc + 1];
	struct rvt_truth_record trap = {
		.type = RVT_TRUTH_TRAP,
		.interrupt = cause & top,
		.cause = cause & ~top,
		.epc = b->shadow.regs[epc],
		.tval = b->shadow.regs[epc + 2],
		.handler = b->shadow.pc,
	};
	int ret = flush(b);

	return ret ? ret : rvt_truth_write(b->truth, &trap);
}

static int switch_on(struct bridge *b)
{
	struct rvt_truth_record on = { .type = RVT_TRUTH_ON };
	int ret;

	if (b->on)
		return 0;
	ret = write_state(b);
	b->on = true;
	return ret ? ret : rvt_truth_write(b->truth, &on);
}

static int convert_group(struct bridge *b, const struct rvt_tandem_group *group)
{
	bool pc_known = b->shadow.pc_known;
	uint64_t pc = b->shadow.pc;
	unsigned int epc = trap_epc(group);
	int ret;

	ret = rvt_tandem_shadow_apply(&b->shadow, group);
	if (ret || group->init || group->reset || !pc_known)
		return ret;
	ret = switch_on(b);
	if (!ret && epc)
		ret = write_trap(b, epc);
	else if (!ret && group->has_insn)
		ret = retired(b, pc, group->insn_bytes);
	return ret ? ret : write_state(b);
}

static void problem(void *ctx, uint64_t offset, enum rvt_tandem_problem problem)
{
	struct bridge *b = ctx;

	if (problem <= RVT_TANDEM_FORGIVEN)
		return;
	b->problems++;
	cmd_warning("offset 0x%jx: %s", (uintmax_t)offset, rvt_tandem_problem_name(problem));
}

static int convert(struct bridge *b, struct rvt_tandem_reader *reader)
{
	struct rvt_truth_record off = { .type = RVT_TRUTH_OFF, .sequence = 1 };
	struct rvt_tandem_group group;
	int ret;

	rvt_tandem_on_problem(reader, problem, b);
	while ((ret = rvt_tandem_next_group(reader, &group)) == 1) {
		ret = convert_group(b, &group);
		if (ret)
			return ret;
	}
	if (!ret)
		ret = flush(b);
	if (!ret && b->on)
		ret = rvt_truth_write(b->truth, &off);
	return ret;
}

static int run(const char *path, const char *output, const struct rvt_tandem_params *params,
	       unsigned int hart)
{
	struct rvt_tandem_reader *reader = NULL;
	struct bridge *b = calloc(1, sizeof(*b));
	int ret, closed;

	if (!b)
		return cmd_error(2, "%s", strerror(ENOMEM));
	ret = rvt_tandem_shadow_init(&b->shadow, params);
	if (!ret)
		ret = rvt_tandem_open(path, params, &reader);
	if (ret) {
		cmd_error(2, "%s: %s", path, strerror(-ret));
		goto out;
	}
	ret = rvt_truth_create(output, hart, &b->truth);
	if (!ret) {
		ret = convert(b, reader);
		closed = rvt_truth_close(b->truth);
		ret = ret ? ret : closed;
	}
	if (ret)
		cmd_error(2, "%s: %s", output, strerror(-ret));
	else
		printf("%ju instructions\n", (uintmax_t)b->insns);
out:
	ret = ret ? 2 : b->problems ? 1 : 0;
	tdestroy(b->blocks, free);
	rvt_tandem_close(reader);
	rvt_tandem_shadow_fini(&b->shadow);
	free(b);
	return ret;
}

static int usage(void)
{
	fputs("usage: perf rvtrace tandem to-truth [OPTIONS] -o TRUTH TRACE\n\n"
	      "  -o, --output FILE  the ground-truth file to write\n"
	      "  -H, --hart N       the hart's number in it (0)\n"
	      "  -x, --xlen BITS    32 or 64 (64); sets the defaults of the other three\n"
	      "  -f, --flen, -m, --mlen, -i, --ilen BITS\n", stdout);
	return 0;
}

int tandem_to_truth(int argc, char **argv)
{
	static const struct option options[] = {
		{ "output", required_argument, NULL, 'o' },
		{ "hart", required_argument, NULL, 'H' },
		{ "xlen", required_argument, NULL, 'x' }, { "flen", required_argument, NULL, 'f' },
		{ "mlen", required_argument, NULL, 'm' }, { "ilen", required_argument, NULL, 'i' },
		{ "help", no_argument, NULL, 'h' }, { 0 }
	};
	struct rvt_tandem_params params;
	const char *output = NULL, *trace;
	uint64_t hart = 0;
	int option, bad = 0;

	rvt_tandem_params_init(&params, 64);
	while ((option = getopt_long(argc, argv, "o:H:x:f:m:i:h", options, NULL)) != -1) {
		if (option == 'h')
			return usage();
		if (option == '?')
			return cmd_try_help(2);
		if (option == 'o')
			output = optarg;
		else if (option == 'H')
			bad = cmd_number("--hart", optarg, 0, UINT32_MAX, &hart);
		else
			bad = tandem_param(&params, option, optarg);
		if (bad)
			return 2;
	}
	if (!output) {
		cmd_error(0, "where to write the ground truth? Give -o FILE");
		return cmd_try_help(2);
	}
	trace = cmd_one_file(argc, argv, "a trace");
	return !trace ? 2 : run(trace, output, &params, hart);
}
