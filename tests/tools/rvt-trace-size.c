// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * rvt-trace-size [-N] [-r] [-n MAX] [-f FLOW] ELF...: how many bits of trace an instruction takes,
 * in each mode. Runs bare-metal programs and feeds an encoder of each mode with the same flow.
 *
 * E-Trace: payload, without encapsulation. -N: N-Trace, whole messages. -n: at most so many
 * instructions of each program. -r: the parameters of the E-Trace specification's reference flow:
 * synchronisation packets carry 32 bits of context, and full addresses are not shifted. -f: the
 * flow as a table of retired instructions, for that flow's encoder.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <rvtrace/etrace.h>
#include <rvtrace/ntrace.h>
#include "../../tools/model/itype.h"
#include "bare-program.h"

#ifdef HAVE_UNICORN
/* Resynchronisation periods: 2^(n + 4) packets. */
#define RARE 10
#define OFTEN 0

struct etrace_mode {
	unsigned int options, bpred, cache, stack, sync_max;
};

struct ntrace_mode {
	enum rvt_mode mode;
	unsigned int options;
};

struct mode {
	const char *name;
	struct etrace_mode etrace;
	struct ntrace_mode ntrace;
};

#define BPRED RVT_OPT_BRANCH_PREDICTION
#define JTC RVT_OPT_JUMP_TARGET_CACHE
#define RETURN RVT_OPT_IMPLICIT_RETURN
#define REPEAT RVT_OPT_REPEATED_HISTORY

static const struct mode etrace_modes[] = {
	{ "base", .etrace = { .sync_max = RARE } },
	{ "full", .etrace = { RVT_OPT_FULL_ADDRESS, 0, 0, 0, RARE } },
	{ "bpred 6", .etrace = { BPRED, 6, 0, 0, RARE } },
	{ "cache 5", .etrace = { JTC, 0, 5, 0, RARE } },
	{ "bpred 8+cache 7", .etrace = { BPRED | JTC, 8, 7, 0, RARE } },
	{ "return 5", .etrace = { RETURN, 0, 0, 5, RARE } },
	{ "all", .etrace = { BPRED | JTC | RETURN | RVT_OPT_SEQUENTIAL_JUMP, 8, 7, 5, RARE } },
	{ "base, sync 16", .etrace = { .sync_max = OFTEN } },
};

static const struct mode ntrace_modes[] = {
	{ "BTM", .ntrace = { RVT_MODE_BTM, 0 } },
	{ "HTM", .ntrace = { RVT_MODE_HTM, 0 } },
	{ "HTM repeat", .ntrace = { RVT_MODE_HTM, REPEAT } },
	{ "HTM return 5", .ntrace = { RVT_MODE_HTM, RETURN } },
	{ "HTM all", .ntrace = { RVT_MODE_HTM, RETURN | REPEAT | RVT_OPT_SEQUENTIAL_JUMP } },
};

#define COUNT(array) (sizeof(array) / sizeof(*(array)))
#define MAX_MODES COUNT(etrace_modes)

/* What was asked for. */
struct request {
	bool ntrace, reference;
	const struct mode *modes;
	size_t n_modes;
	uint64_t max;
	FILE *flow;
};

/* The encoders of one program. */
struct encoders {
	const struct request *request;
	struct rvt_etrace_encoder *etrace[MAX_MODES];
	struct rvt_ntrace_encoder *ntrace[MAX_MODES];
	uint64_t bytes[MAX_MODES];
};

static int drop(void *ctx, const uint8_t *bytes, size_t len)
{
	(void)ctx, (void)bytes, (void)len;
	return 0;
}

static int count(void *ctx, const uint8_t *bytes, size_t len)
{
	(void)bytes;
	*(uint64_t *)ctx += len;
	return 0;
}

static int create_etrace(const struct etrace_mode *mode, unsigned int xlen, bool reference,
			 struct rvt_etrace_encoder **enc)
{
	struct rvt_etrace_encoder_config config = { .emit = drop, .sync_mode = 1,
						    .sync_max = mode->sync_max };
	struct rvt_params params;

	rvt_params_init(&params, RVT_PROTOCOL_ETRACE, RVT_DIALECT_ETRACE_2_0);
	params.xlen = xlen;
	params.iaddress_width_p = xlen;
	params.options = mode->options;
	params.bpred_size_p = mode->bpred;
	params.cache_size_p = mode->cache;
	params.return_stack_size_p = mode->stack;
	params.sijump_p = 1;
	params.f0s_width_p = mode->bpred && mode->cache;
	if (reference) {
		params.nocontext_p = 0;
		params.context_width_p = 32;
		if (mode->options & RVT_OPT_FULL_ADDRESS)
			params.iaddress_lsb_p = 0;
	}
	config.params = &params;
	return rvt_etrace_encoder_create(&config, enc);
}

static int create_ntrace(const struct ntrace_mode *mode, unsigned int xlen, uint64_t *bytes,
			 struct rvt_ntrace_encoder **enc)
{
	const struct rvt_ntrace_encoder_config config = {
		.dialect = RVT_DIALECT_NTRACE_1_0, .mode = mode->mode, .xlen = xlen,
		.options = mode->options,
		.implicit_return_mode = mode->options & RETURN ? 3 : 0,
		.return_stack_depth = mode->options & RETURN ? 32 : 0,
		.sync_mode = 1, .sync_max = RARE, .icnt_bits = 16, .hist_bits = 32,
		.hrepeat_bits = mode->options & REPEAT ? 18 : 0, .emit = count, .ctx = bytes,
	};

	return rvt_ntrace_encoder_create(&config, enc);
}

static int start(struct encoders *e, unsigned int xlen)
{
	for (size_t i = 0; i < e->request->n_modes; i++) {
		const struct mode *mode = &e->request->modes[i];

		if (e->request->ntrace) {
			if (create_ntrace(&mode->ntrace, xlen, &e->bytes[i], &e->ntrace[i]))
				return -1;
			rvt_ntrace_encoder_start(e->ntrace[i], RVT_NTRACE_SYNC_TRACE_ENABLE);
		} else {
			if (create_etrace(&mode->etrace, xlen, e->request->reference,
					  &e->etrace[i]))
				return -1;
			rvt_etrace_encoder_start(e->etrace[i]);
		}
	}
	return 0;
}

static void stop(struct encoders *e, uint64_t next)
{
	struct rvt_etrace_encoder_stats stats;

	for (size_t i = 0; i < e->request->n_modes; i++) {
		if (e->request->ntrace) {
			rvt_ntrace_encoder_stop(e->ntrace[i], RVT_NTRACE_EV_TRACE_DISABLED, next);
			continue;
		}
		rvt_etrace_encoder_stop(e->etrace[i], true);
		rvt_etrace_encoder_stats(e->etrace[i], &stats);
		e->bytes[i] = stats.payload_bytes;
	}
}

static void destroy(struct encoders *e)
{
	for (size_t i = 0; i < e->request->n_modes; i++) {
		rvt_etrace_encoder_destroy(e->etrace[i]);
		rvt_ntrace_encoder_destroy(e->ntrace[i]);
	}
}

/* A row of the reference flow's table. */
static void put_insn(void *ctx, enum rvt_itype itype, uint64_t pc, unsigned int halfwords)
{
	/* itype of three bits: returns and all other uninferable jumps are 6 */
	static const uint8_t narrow[16] = { [3] = 3, [4] = 4, [5] = 5, [8] = 6, [10] = 6, [12] = 6,
					    [13] = 6, [14] = 6 };
	const struct encoders *e = ctx;

	fprintf(e->request->flow, "%u,0,0,3,%" PRIx64 ",0,0,%u,%u\n", narrow[itype], pc, halfwords,
		halfwords / 2);
}

static void retire(void *ctx, const struct rvt_retire *run)
{
	struct encoders *e = ctx;

	for (size_t i = 0; i < e->request->n_modes; i++) {
		if (e->request->ntrace)
			rvt_ntrace_encoder_retire(e->ntrace[i], run);
		else
			rvt_etrace_encoder_retire(e->etrace[i], run);
	}
}

/* ---- the table ---- */

static void print_row(const struct request *request, const char *name, uint64_t insns,
		      const uint64_t *bytes)
{
	printf("%-32s %10" PRIu64, name, insns);
	for (size_t i = 0; i < request->n_modes; i++)
		printf(" %15.4f", 8.0 * bytes[i] / insns);
	printf("\n");
}

static void measure(const struct request *request, const char *path, uint64_t *insns,
		    uint64_t *bytes)
{
	struct bare_program *p = bare_program_load(path);
	struct encoders e = { .request = request };
	const struct bare_listener listener = { retire, request->flow ? put_insn : NULL, &e };
	const char *slash = strrchr(path, '/');
	uint64_t n = 0, next;

	if (p && !start(&e, bare_program_is_rv32(p) ? 32 : 64))
		n = bare_program_run(p, request->max, &listener, &next);
	if (n) {
		stop(&e, next);
		print_row(request, slash ? slash + 1 : path, n, e.bytes);
		*insns += n;
		for (size_t i = 0; i < request->n_modes; i++)
			bytes[i] += e.bytes[i];
	}
	destroy(&e);
	bare_program_free(p);
}

static bool parse(int argc, char **argv, struct request *request)
{
	int option;

	while ((option = getopt(argc, argv, "Nrn:f:")) != -1) {
		if (option == 'N')
			request->ntrace = true;
		else if (option == 'r')
			request->reference = true;
		else if (option == 'n')
			request->max = strtoull(optarg, NULL, 0);
		else if (option != 'f' || !(request->flow = fopen(optarg, "w")))
			return false;
	}
	request->modes = request->ntrace ? ntrace_modes : etrace_modes;
	request->n_modes = request->ntrace ? COUNT(ntrace_modes) : COUNT(etrace_modes);
	return optind < argc;
}

int main(int argc, char **argv)
{
	struct request request = { .max = 20000000 };
	uint64_t insns = 0, bytes[MAX_MODES] = { 0 };

	if (!parse(argc, argv, &request)) {
		fputs("usage: rvt-trace-size [-N] [-r] [-n MAX] [-f FLOW] ELF...\n", stderr);
		return 2;
	}
	if (request.flow)
		fputs("itype_0,cause,tval,priv,iaddr_0,context,ctype,iretire_0,ilastsize_0\n",
		      request.flow);
	printf("%-32s %10s", "bits per instruction", "insns");
	for (size_t i = 0; i < request.n_modes; i++)
		printf(" %15s", request.modes[i].name);
	printf("\n");
	for (; optind < argc; optind++)
		measure(&request, argv[optind], &insns, bytes);
	if (insns)
		print_row(&request, "all", insns, bytes);
	return !insns || (request.flow && fclose(request.flow));
}
#else
int main(void)
{
	fputs("rvt-trace-size: built without Unicorn (libunicorn-dev)\n", stderr);
	return 77;
}
#endif
