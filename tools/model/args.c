/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Parses the plugin's arguments, NAME=VALUE, which README.md describes. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "model.h"
#include "number.h"

enum arg_type { ARG_TEXT, ARG_BOOL, ARG_U32, ARG_U64, ARG_LIST, ARG_WORD };

struct arg {
	const char *name;
	enum arg_type type;
	size_t offset;
	/*
	 * LIST and WORD: names of the values, separated by spaces; two spaces enclose a value
	 * without name
	 */
	const char *words;
};

#define ARG(name, type, field, ...) { name, type, offsetof(struct model_args, field), __VA_ARGS__ }

static const struct arg table[] = {
	ARG("ram", ARG_TEXT, ram_path, NULL),
	ARG("rambase", ARG_U64, ram_base, NULL),
	ARG("ramsize", ARG_U64, ram_size, NULL),
	ARG("window", ARG_U64, window, NULL),
	ARG("truth", ARG_TEXT, truth_dir, NULL),
	ARG("truth-all", ARG_BOOL, truth_all, NULL),
	ARG("user-io", ARG_BOOL, user_io, NULL),
	ARG("truth-after", ARG_BOOL, truth_after, NULL),
	ARG("violations", ARG_TEXT, violations_path, NULL),
	ARG("seed", ARG_U64, seed, NULL),
	ARG("delay", ARG_U64, delay_ns, NULL),
	ARG("late-reads", ARG_U32, late_reads, NULL),
	ARG("wp-lag", ARG_U32, wp_lag, NULL),
	ARG("holes", ARG_BOOL, holes, NULL),
	ARG("power", ARG_BOOL, power, NULL),
	ARG("clock-gate", ARG_BOOL, clock_gate, NULL),
	ARG("idle-loss", ARG_BOOL, idle_loss, NULL),
	ARG("coherent", ARG_BOOL, coherent, NULL),
	ARG("late-data", ARG_BOOL, late_data, NULL),
	ARG("funnel-drops", ARG_U32, funnel_drops, NULL),
	ARG("carveout", ARG_U32, carveout, NULL),
	ARG("stuck", ARG_LIST, stuck, "- encoder - - - - - - funnel sink pib - - - atb"),
	ARG("own-hart", ARG_BOOL, own_hart, NULL),
	ARG("stuck-after", ARG_U32, stuck_after, NULL),
	ARG("registers", ARG_WORD, registers, "1.0 v0"),
	ARG("version", ARG_U32, version, NULL),
	ARG("protocol", ARG_U32, protocol_version, NULL),
	ARG("modes", ARG_LIST, modes, "0 1 2 3 4 5 6 7"),
	ARG("sync-modes", ARG_LIST, sync_modes, "0 1 2 3"),
	ARG("filters", ARG_U32, filters, NULL),
	ARG("comparators", ARG_U32, comparators, NULL),
	ARG("warl-control", ARG_U32, warl_control, NULL),
	ARG("warl-features", ARG_U32, warl_features, NULL),
	ARG("warl-filter", ARG_U32, warl_filter, NULL),
	ARG("warl-triggers", ARG_U32, warl_triggers, NULL),
	ARG("warl-funnel", ARG_U32, warl_funnel, NULL),
	ARG("pib-modes", ARG_LIST, pib_modes, "0 1 2 3 4 5 6 7 8 9 10 11 12"),
	ARG("ts-modes", ARG_LIST, ts_modes, "none external system core shared"),
	ARG("formats", ARG_LIST, formats, "etrace ntrace"),
	ARG("etrace", ARG_TEXT, etrace_path, NULL),
	ARG("topology", ARG_WORD, topology, "direct funnel tree both pib atb k3 k3-etr"),
	ARG("capture", ARG_TEXT, capture_dir, NULL),
	ARG("width", ARG_U32, access_width, NULL),
	ARG("sram", ARG_U32, sram, NULL),
	ARG("smem", ARG_BOOL, smem, NULL),
	ARG("live-read", ARG_BOOL, live_read, NULL),
	ARG("fifo", ARG_U32, fifo, NULL),
	ARG("drain", ARG_U32, drain, NULL),
	ARG("stall", ARG_BOOL, stall, NULL),
	ARG("dialect", ARG_WORD, dialect, "rc7 1.0    sifive"),
	ARG("icnt-bits", ARG_U32, icnt_bits, NULL),
	ARG("hist-bits", ARG_U32, hist_bits, NULL),
	ARG("hrepeat-bits", ARG_U32, hrepeat_bits, NULL),
	ARG("bcnt-bits", ARG_U32, bcnt_bits, NULL),
	ARG("stack-depth", ARG_U32, stack_depth, NULL),
	ARG("timestamp", ARG_WORD, timestamp, "none delta xor"),
	ARG("ts-width", ARG_U32, ts_width, NULL),
	ARG("clock", ARG_WORD, clock, "time insns even"),
	ARG("zcm", ARG_BOOL, zcm, NULL),
	ARG("scontext-bits", ARG_U32, scontext_bits, NULL),
	ARG("hcontext-bits", ARG_U32, hcontext_bits, NULL),
	ARG("guest-scontext", ARG_BOOL, guest_scontext, NULL),
	ARG("impdef-bits", ARG_U32, impdef_bits, NULL),
	ARG("discovery0", ARG_U64, discovery[0], NULL),
	ARG("discovery1", ARG_U64, discovery[1], NULL),
	ARG("warl-comparator", ARG_U32, warl_comparator, NULL),
};

static const struct model_args defaults = {
	.version = 0x01,
	.protocol_version = 0x01,
	.modes = 1u << 3 | 1u << 6,
	.sync_modes = 1u << 1 | 1u << 2 | 1u << 3,
	.formats = 1u << 1,
	.filters = 4,
	.comparators = 4,
	.warl_control = ~0u,
	.warl_features = 0xffff07ff,
	.warl_filter = 0x1ffff,
	.warl_comparator = ~0u,
	.warl_triggers = ~0u,
	.warl_funnel = 0xffff,
	.pib_modes = 1u << 0 | 1u << 4 | 1u << 5 | 0x1fu << 8,
	.ts_modes = 1u << 1 | 1u << 2 | 1u << 3,
	.access_width = 4,
	.smem = true,
	.coherent = true,
	.live_read = true,
	.drain = 250,
	.dialect = RVT_DIALECT_NTRACE_1_0,
	.icnt_bits = 22,
	.hist_bits = 32,
	.hrepeat_bits = 18,
	.stack_depth = 32,
	.timestamp = RVT_TIMESTAMP_DELTA,
	.ts_width = 63,
	.scontext_bits = 32,
	.hcontext_bits = 14,
	.impdef_bits = 8,
	.seed = 1,
};

/* Returns the position of @word (of @len letters) in a list of names, or -1. */
static int find_word(const char *words, const char *word, size_t len)
{
	int i = 0;

	for (const char *w = words; *w; i++) {
		size_t n = strcspn(w, " ");

		if (n == len && !strncmp(w, word, n))
			return i;
		w += n + (w[n] == ' ');
	}
	return -1;
}

/* Parses a set like "3+6". */
static int parse_list(const char *words, const char *text, uint32_t *set)
{
	*set = 0;
	while (*text) {
		size_t n = strcspn(text, "+");
		int i = find_word(words, text, n);

		if (i < 0)
			return -EINVAL;
		*set |= 1u << i;
		text += n + (text[n] == '+');
	}
	return 0;
}

static int parse_bool(const char *text, bool *value)
{
	*value = !strcmp(text, "on");
	return *value || !strcmp(text, "off") ? 0 : -EINVAL;
}

static int parse_value(struct model_args *args, const struct arg *arg, const char *text)
{
	void *field = (char *)args + arg->offset;
	uint64_t number = 0;
	int ret = 0;

	switch (arg->type) {
	case ARG_TEXT:
		*(const char **)field = text;
		return 0;
	case ARG_BOOL:
		return parse_bool(text, field);
	case ARG_U32:
		ret = model_number(text, UINT32_MAX, &number);
		*(uint32_t *)field = (uint32_t)number;
		return ret;
	case ARG_U64:
		return model_number(text, UINT64_MAX, field);
	case ARG_LIST:
		return parse_list(arg->words, text, field);
	case ARG_WORD:
		*(int *)field = find_word(arg->words, text, strlen(text));
		return *(int *)field < 0 ? -EINVAL : 0;
	}
	return -EINVAL;
}

static int parse_one(struct model_args *args, const char *text)
{
	size_t n = strcspn(text, "=");

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		if (strlen(table[i].name) != n || strncmp(text, table[i].name, n))
			continue;
		if (text[n] == '=' && !parse_value(args, &table[i], text + n + 1))
			return 0;
		fprintf(stderr, "rvtrace-model: bad value: %s\n", text);
		return -EINVAL;
	}
	fprintf(stderr, "rvtrace-model: no argument %.*s; there are", (int)n, text);
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		fprintf(stderr, " %s", table[i].name);
	fputc('\n', stderr);
	return -EINVAL;
}

static const char *check(const struct model_args *a)
{
	uint32_t w = a->access_width;

	if (a->ram_path && (!a->ram_base || !a->ram_size))
		return "with ram= there must be rambase= and ramsize=";
	if (w < 4 || w > 64 || w & (w - 1))
		return "width is 4, 8, 16, 32 or 64";
	if (a->filters > 16 || a->comparators > 8)
		return "there are at most 16 filters and 8 comparators";
	if (a->sram & 3)
		return "sram is a multiple of 4";
	if (!a->smem && !a->sram)
		return "a sink has SMEM or SRAM";
	if (a->ts_width > 63)
		return "ts-width is at most 63";
	if (a->registers == REGISTERS_V0 && a->topology != TOPOLOGY_DIRECT &&
	    a->topology != TOPOLOGY_FUNNEL)
		return "registers=v0 is for the topologies direct and funnel";
	if (a->registers == REGISTERS_V0 && (a->sram || a->dialect != RVT_DIALECT_NTRACE_SIFIVE))
		return "registers=v0 is for dialect=sifive, and has no sram=";
	if (a->carveout & 0xfff || a->carveout > MODEL_CARVEOUTS / MODEL_MAX_HARTS)
		return "carveout is whole pages, and at most 1 MiB";
	if ((a->power || a->clock_gate) && a->registers == REGISTERS_V0)
		return "power=on and clock-gate=on are for registers=1.0";
	if (a->power && a->clock_gate)
		return "give one of power= and clock-gate=";
	if (a->delay_ns && a->late_reads)
		return "give one of delay= and late-reads=";
	return NULL;
}

/* Reads the parameters of etrace=; without it they are the defaults of E-Trace 2.0. */
static int parse_etrace(const char *path)
{
	char *error = NULL;
	int ret = 0;

	rvt_params_init(&model.etrace, RVT_PROTOCOL_ETRACE, RVT_DIALECT_ETRACE_2_0);
	if (path)
		ret = rvt_params_load(&model.etrace, path, &error);
	if (ret)
		fprintf(stderr, "rvtrace-model: %s\n", error ? error : strerror(-ret));
	free(error);
	return ret;
}

int args_parse(struct model_args *args, int argc, char **argv)
{
	const char *why;

	*args = defaults;
	for (int i = 0; i < argc; i++)
		if (parse_one(args, argv[i]))
			return -EINVAL;
	if (!args->window)
		args->window = args->ram_base + args->ram_size - MODEL_DEFAULT_EXTRA;
	if (parse_etrace(args->etrace_path))
		return -EINVAL;
	why = check(args);
	if (why)
		fprintf(stderr, "rvtrace-model: %s\n", why);
	return why ? -EINVAL : 0;
}
