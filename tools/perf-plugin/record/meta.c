// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Gathers what a decoder must know from sysfs into the recording's metadata. */
#include <errno.h>
#include <glob.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <rvtrace/params.h>
#include "common/cmd.h"
#include "common/text.h"
#include "record/ctr.h"
#include "record/record.h"
#include "session/perf-info.h"

/* PROC_PID_INIT_INO of linux/proc_ns.h */
#define FIRST_PID_NAMESPACE "4026531836"

/* The decoder's options that terms of the event switch on. */
static const struct {
	const char *term;
	unsigned int option;
} option_terms[] = {
	{ "branch_prediction", RVT_OPT_BRANCH_PREDICTION },
	{ "jump_target_cache", RVT_OPT_JUMP_TARGET_CACHE },
	{ "implicit_return", RVT_OPT_IMPLICIT_RETURN },
	{ "sequential_jump", RVT_OPT_SEQUENTIAL_JUMP },
	{ "repeated_history", RVT_OPT_REPEATED_HISTORY },
	{ "all_jumps", RVT_OPT_ALL_JUMPS },
	{ "extend_address_msb", RVT_OPT_EXTEND_ADDRESS_MSB },
	{ "full_address", RVT_OPT_FULL_ADDRESS },
	{ "implicit_exception", RVT_OPT_IMPLICIT_EXCEPTION },
};

/* Returns the address of Linux's only trap handler; 0 if we may not see it. */
static uint64_t trap_handler(void)
{
	FILE *in = fopen("/proc/kallsyms", "re");
	char line[512], name[256];
	uint64_t addr, found = 0;

	while (in && !found && fgets(line, sizeof(line), in))
		if (sscanf(line, "%" SCNx64 " %*c %255s", &addr, name) == 2 &&
		    !strcmp(name, "handle_exception"))
			found = addr;
	if (in)
		fclose(in);
	return found;
}

/* Sets the address of the trap handler, for traps whose handlers are not in the trace. */
static void set_trap_vector(struct rvt_params *params)
{
	if (params->protocol != RVT_PROTOCOL_ETRACE || params->vectors.base_valid ||
	    !(params->options & RVT_OPT_IMPLICIT_EXCEPTION))
		return;
	params->vectors.base = trap_handler();
	params->vectors.base_valid = params->vectors.base;
	if (!params->vectors.base)
		cmd_warning("/proc/kallsyms hides the kernel's trap handler, which "
			    "implicit_exception leaves out of the trace: flow is lost at traps.\n"
			    "  Record as root, or set kernel.kptr_restrict to 0");
}

/* Applies the event's terms to the driver's parameters, which only say what the encoder is. */
static void apply_event(const struct recorder *rec, struct rvt_params *params)
{
	uint64_t mode = record_term(rec, "implicit_return_mode");

	for (size_t i = 0; i < sizeof(option_terms) / sizeof(*option_terms); i++) {
		params->options &= ~option_terms[i].option;
		if (record_term(rec, option_terms[i].term))
			params->options |= option_terms[i].option;
	}
	if (mode)
		params->implicit_return_mode = mode;
	set_trap_vector(params);
	/* do not wait for time stamps if there are none: AUX records have times */
	if (!record_term(rec, "timestamp")) {
		params->timestamp = RVT_TIMESTAMP_NONE;
		params->timestamp_bytes = 0;
	}
	if (params->protocol != RVT_PROTOCOL_NTRACE)
		return;
	/* trTeInstMode: 3 is branch trace, 6 branch history */
	mode = record_term(rec, "mode");
	if (mode)
		params->mode = mode == 6 ? RVT_MODE_HTM : RVT_MODE_BTM;
}

static int unknown_protocol(const struct recorder *rec, const char *dir, const char *why)
{
	char *protocol = read_text("%s/protocol", dir), *version = read_text("%s/protocol_version",
									     dir);
	int err = -ENOTSUP;

	if (rec->options.force)
		cmd_warning("%s: protocol '%s' version '%s' cannot be decoded: %s", dir,
			    protocol ? protocol : "?", version ? version : "?", why);
	else
		cmd_error(0, "%s: this version of perf-rvtrace does not know protocol '%s' "
			     "version '%s'\n  "
			  "(%s).\n  Use a newer perf-rvtrace, or record the bytes anyway with "
			  "--force",
			  dir, protocol ? protocol : "?", version ? version : "?", why);
	free(protocol);
	free(version);
	return rec->options.force ? 0 : err;
}

static void put_value(FILE *out, const char *dir, const char *file, const char *key)
{
	char *text = read_text("%s/%s", dir, file);

	if (text && *text)
		fprintf(out, "%s = %s\n", key, text);
	free(text);
}

/*
 * Reads the parameters of the format that the event asks for (trTeFormat + 1), or of the encoder's
 * default.
 */
static char *read_params(const struct recorder *rec, const char *dir)
{
	static const char *const files[] = { "params", "params_etrace", "params_ntrace" };
	uint64_t format = record_term(rec, "format");

	return format < 3 ? read_text("%s/%s", dir, files[format]) : NULL;
}

/*
 * Writes the discovery attributes of E-Trace. What decoders need of them is in the parameters, too.
 */
static void put_discovery(FILE *out, const char *dir)
{
	char *pattern;
	glob_t found;

	if (asprintf(&pattern, "%s/discovery/*", dir) < 0)
		return;
	if (!glob(pattern, 0, NULL, &found)) {
		fprintf(out, "\n[discovery %s]\n", strrchr(dir, '-') + 1);
		for (size_t i = 0; i < found.gl_pathc; i++) {
			const char *name = strrchr(found.gl_pathv[i], '/') + 1;

			put_value(out, dir, found.gl_pathv[i] + strlen(dir) + 1, name);
		}
		globfree(&found);
	}
	free(pattern);
}

static unsigned int read_attribute(const char *dir, const char *file)
{
	char *text = read_text("%s/%s", dir, file);
	unsigned int number = text ? strtoul(text, NULL, 0) : 0;

	free(text);
	return number;
}

static int put_encoder(const struct recorder *rec, FILE *out, const char *dir,
		       struct rvt_perfdata_info *info)
{
	char *text = read_params(rec, dir), *error = NULL;
	struct rvt_params params;
	int err = 0;

	rvt_params_init(&params, RVT_PROTOCOL_NTRACE, RVT_DIALECT_NTRACE_1_0);
	fprintf(out, "\n[encoder %s]\n", strrchr(dir, '-') + 1);
	put_value(out, dir, "cpu", "cpu");
	put_value(out, dir, "src_id", "src");
	put_value(out, dir, "timestamp_frequency", "timestamp_frequency");
	if (!text) {
		err = unknown_protocol(rec, dir, "the driver has no 'params' file");
	} else if (rvt_params_parse(&params, "params", text, strlen(text), &error)) {
		err = unknown_protocol(rec, dir, error ? error : "its parameters make no sense");
		free(error);
	} else {
		free(text);
		text = NULL;
		apply_event(rec, &params);
		if (params.protocol == RVT_PROTOCOL_ETRACE && params.arch_p > RVT_ETRACE_ARCH)
			cmd_warning("%s: version %u of E-Trace's architecture; this perf-rvtrace "
				    "knows up to %u, and may decode it wrong", dir, params.arch_p,
				    RVT_ETRACE_ARCH);
		err = rvt_params_print(&params, &text);
		if (!err)
			err = rvt_perf_info_add(info, read_attribute(dir, "cpu"),
						read_attribute(dir, "src_id"), &params);
	}
	if (!err && text)
		fprintf(out, "%s\n", text);
	put_discovery(out, dir);
	free(text);
	return err;
}

/* Returns false in a container, where the kernel numbers threads differently than the trace. */
bool record_in_first_pid_namespace(void)
{
	char name[64];
	ssize_t len = readlink("/proc/self/ns/pid", name, sizeof(name) - 1);

	if (len <= 0)
		return true;
	name[len] = 0;
	return !strcmp(name, "pid:[" FIRST_PID_NAMESPACE "]");
}

/*
 * Returns whether hcontext says which thread runs: if the event says so, or the harts have no
 * scontext.
 */
static bool uses_hcontext(const struct recorder *rec)
{
	return record_term(rec, "hcontext") ||
	       (record_term(rec, "context") && !record_has_scontext());
}

/*
 * Writes how wide the context is, or that it is none: packets of E-Trace have a context even if
 * software writes none.
 */
static void put_context(const struct recorder *rec, FILE *out)
{
	if (uses_hcontext(rec))
		fprintf(out, "hcontext_bits = %u\n", record_hcontext_bits());
	else if (!record_term(rec, "context"))
		fputs("context = none\n", out);
}

static void set_perf_info(const struct recorder *rec, struct rvt_perfdata_info *info)
{
	info->pmu_type = rec->pmu.type;
	info->snapshot = rec->options.snapshot;
	info->system = rec->target == TARGET_SYSTEM;
	info->other_pids = !record_in_first_pid_namespace();
	info->context = record_term(rec, "context");
	info->hcontext = uses_hcontext(rec);
	info->hcontext_bits = record_hcontext_bits();
}

/*
 * Writes how perf's clock differs from CLOCK_MONOTONIC, with which JIT compilers stamp their dumps.
 */
static void put_monotonic_offset(const struct recorder *rec, FILE *out)
{
#ifdef __riscv
	struct rvt_record_time_conv conv;
	struct timespec now;
	uint64_t ticks;

	if (!ring_time_conv(&rec->rings[0], &conv))
		return;
	clock_gettime(CLOCK_MONOTONIC, &now);
	__asm__ volatile("rdtime %0" : "=r" (ticks));
	fprintf(out, "monotonic_offset = %lld\n", (long long)(rvt_time_to_perf(&conv, ticks) -
		now.tv_sec * 1000000000ULL - now.tv_nsec));
#else
	(void)rec, (void)out;
#endif
}

char *record_metadata(struct recorder *rec, struct rvt_perfdata_info *info)
{
	char *text = NULL;
	size_t len;
	glob_t found;
	FILE *out;
	int err = 0;

	if (rec->ctr)
		return record_ctr_metadata(rec);
	if (glob(RECORD_ENCODERS, 0, NULL, &found)) {
		cmd_error(0, "there is no encoder under /sys/bus/rvtrace/devices although the PMU "
			  "exists: the driver is of another version than this command");
		return NULL;
	}
	set_perf_info(rec, info);
	out = open_memstream(&text, &len);
	if (out) {
		fprintf(out, "rvtrace 1\npmu_type = %u\nevent = %s\ntarget = %s\n", rec->pmu.type,
			rec->options.event, rec->target == TARGET_SYSTEM ? "system" : "task");
		if (!record_in_first_pid_namespace())
			fputs("pid_namespace = other\n", out);
		put_context(rec, out);
		put_monotonic_offset(rec, out);
		for (size_t i = 0; i < found.gl_pathc && !err; i++)
			err = put_encoder(rec, out, found.gl_pathv[i], info);
		fclose(out);
	}
	globfree(&found);
	if (err) {
		free(text);
		return NULL;
	}
	return text;
}
