// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* The metadata text of a recording: what each encoder is and does. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "util/array.h"
#include "session/perf-info.h"
#include "state.h"

#define FIRST_LINE "rvtrace 1"
#define MAX_FOREIGN_CPUS 1024
/* Encoders are searched one by one; Linux has at most 512 harts. */
#define MAX_ENCODERS 4096
#define FOREIGN_FORMAT_NTRACE 1	/* trTeFormat */
#define PID_MAX_LIMIT (4u << 20)	/* no thread id is greater: linux/threads.h */

/* Cuts "key = value" at the '='; NULL when there is none. */
static char *split(char *line, char **value)
{
	char *equals = strchr(line, '='), *end;

	if (!equals)
		return NULL;
	for (end = equals; end > line && isspace((unsigned char)end[-1]); end--)
		;
	*end = 0;
	for (*value = equals + 1; isspace((unsigned char)**value); (*value)++)
		;
	return line;
}

int rvt_session_add_encoder(struct rvt_session *session, const struct encoder *encoder)
{
	if (array_grow(&session->encoders, session->n_encoders))
		return -ENOMEM;
	session->encoders[session->n_encoders++] = *encoder;
	return 0;
}

static int add_encoder(struct rvt_session *session, struct encoder *encoder, const char *text,
		       char **error)
{
	char *why = NULL;
	int err;

	if (session->n_encoders == MAX_ENCODERS)
		return rvt_session_fail(error, -ENOTSUP,
					"%s: its metadata has more than %d encoders",
					rvt_perfdata_path(session->file), MAX_ENCODERS);
	rvt_params_init(&encoder->params, RVT_PROTOCOL_NTRACE, RVT_DIALECT_NTRACE_1_0);
	err = rvt_params_parse(&encoder->params, "metadata", text, strlen(text), &why);
	if (err) {
		rvt_session_fail(error, -ENOTSUP, "%s: the encoder of cpu %d cannot be decoded by "
					      "this version "
				 "of rvtrace (%s); use a newer one, or give the parameters with "
				 "--params FILE",
				 rvt_perfdata_path(session->file), encoder->cpu,
				 why ? why : "out of memory");
		free(why);
		return err == -ENOMEM ? err : -ENOTSUP;
	}
	return rvt_session_add_encoder(session, encoder);
}

/* Reads a section: where the encoder is, and its parameters. */
static int read_section(struct rvt_session *session, const char *section, char **error)
{
	struct encoder encoder = { .cpu = -1 };
	char *copy = strdup(section), *rest = copy, *line;

	if (!copy)
		return -ENOMEM;
	while ((line = strsep(&rest, "\n"))) {
		char *value, *key = split(line, &value);

		if (key && !strcmp(key, "cpu")) {
			encoder.cpu = atoi(value);
		} else if (key && !strcmp(key, "src")) {
			encoder.src = strtoul(value, NULL, 0);
			encoder.has_src = true;
		}
	}
	free(copy);
	return add_encoder(session, &encoder, section, error);
}

static int read_sections(struct rvt_session *session, char *text, char **error)
{
	char *section = strstr(text, "\n[");
	int err = 0;

	while (section && !err) {
		char *body = strchr(section + 1, '\n');
		char *next = body ? strstr(body, "\n[") : NULL;

		if (!body)
			break;
		if (next)
			*next = 0;
		if (!strncmp(section + 1, "[encoder", strlen("[encoder")))
			err = read_section(session, body + 1, error);
		if (next)
			*next = '\n';
		section = next;
	}
	return err;
}

int rvt_session_read_params(struct rvt_session *session, char **error)
{
	struct encoder encoder = { .cpu = -1, .params.size = sizeof(encoder.params) };
	char *why = NULL;
	int err = rvt_params_load(&encoder.params, session->options.params, &why);

	if (err) {
		rvt_session_fail(error, err, "%s", why ? why : strerror(-err));
		free(why);
		return err;
	}
	return rvt_session_add_encoder(session, &encoder);
}

char *rvt_session_meta(const struct rvt_session *session, const char *key)
{
	char *copy = session->meta ? strdup(session->meta) : NULL;
	char *rest = copy, *line, *result = NULL;

	while (!result && (line = strsep(&rest, "\n")) && line[0] != '[') {
		char *value;

		if (split(line, &value) && !strcmp(line, key))
			result = strdup(value);
	}
	free(copy);
	return result;
}

static uint64_t all_ones(unsigned long bits)
{
	return bits < 64 ? (1ull << bits) - 1 : UINT64_MAX;
}

static bool has_value(const struct rvt_session *session, const char *key, const char *wanted)
{
	char *value = rvt_session_meta(session, key);
	bool same = value && !strcmp(value, wanted);

	free(value);
	return same;
}

/* Finds out how the trace says whose it is, if it does. */
static void read_contexts(struct rvt_session *session)
{
	char *bits = rvt_session_meta(session, "hcontext_bits");
	bool none = has_value(session, "context", "none");

	session->hcontext_max = bits ? all_ones(strtoul(bits, NULL, 0)) : 0;
	session->contexts = !none && (!bits || session->hcontext_max >= PID_MAX_LIMIT);
	session->foreign_ids = none || has_value(session, "pid_namespace", "other");
	free(bits);
}

/* Reads what ->meta says of the recording, but for its sections. */
static void read_head(struct rvt_session *session)
{
	char *value = rvt_session_meta(session, "pmu_type");

	session->has_pmu_type = value;
	session->pmu_type = value ? strtoul(value, NULL, 0) : 0;
	free(value);
	read_contexts(session);
}

int rvt_session_read_meta(struct rvt_session *session, char **error)
{
	const void *data;
	size_t len;

	if (!rvt_perfdata_feature(session->file, RVT_FEAT_RVTRACE_META, &data, &len)) {
		session->meta = strndup(data, len);
		if (!session->meta)
			return -ENOMEM;
		if (strncmp(session->meta, FIRST_LINE "\n", strlen(FIRST_LINE) + 1))
			return rvt_session_fail(error, -ENOTSUP, "%s: its metadata is of another "
							     "version "
						"than '" FIRST_LINE "'; use a newer perf-rvtrace",
						rvt_perfdata_path(session->file));
		session->is_ctr = strstr(session->meta, "\n[ctr]\n");
		read_head(session);
	}
	if (session->is_ctr)
		return 0;
	if (session->options.params)
		return rvt_session_read_params(session, error);
	return session->meta ? read_sections(session, session->meta, error) : 0;
}

static void set_k3(struct rvt_params *params)
{
	rvt_params_init(params, RVT_PROTOCOL_NTRACE, RVT_DIALECT_NTRACE_1_0);
	params->timestamp = RVT_TIMESTAMP_DELTA;
}

/*
 * What SpacemiT's record says of a cpu; the parameter file, if there is one, says the rest. The
 * sink of all encoders is a CoreSight ETR, and its driver has a time stamp put into each message.
 */
static int add_foreign_cpu(struct rvt_session *session, const struct rvt_foreign_cpu *cpu,
			   const struct rvt_params *file)
{
	struct encoder encoder = { .cpu = cpu->cpu, .src = cpu->src_id,
				   .has_src = !cpu->inhibit_src };

	if (file)
		encoder.params = *file;
	else if (cpu->format == FOREIGN_FORMAT_NTRACE)
		set_k3(&encoder.params);
	else
		return 0;
	encoder.params.framing = RVT_FRAMING_CORESIGHT;
	encoder.params.atid = 0;
	session->contexts |= cpu->context;
	if (encoder.has_src && !encoder.params.src_bits && cpu->src_bits <= 12)
		encoder.params.src_bits = cpu->src_bits;
	return rvt_session_add_encoder(session, &encoder);
}

/* A recording by perf with support for RISC-V trace; parameters of a file replace what it says. */
static int read_perf_info(struct rvt_session *session, const uint64_t *words, size_t n,
			  char **error)
{
	int err;

	if (session->meta)
		return 0;
	err = rvt_perf_info_print(words, n, &session->meta);
	if (err == -ENOTSUP)
		return rvt_session_fail(error, err, "%s: a later version of perf recorded it; use "
						    "a newer perf-rvtrace",
					rvt_perfdata_path(session->file));
	if (err == -EBADMSG)
		return rvt_session_fail(error, err, "%s: its metadata (PERF_RECORD_AUXTRACE_INFO) "
						    "is damaged",
					rvt_perfdata_path(session->file));
	if (err)
		return err;
	read_head(session);
	return session->options.params ? 0 : read_sections(session, session->meta, error);
}

/*
 * Recordings by others say it in PERF_RECORD_AUXTRACE_INFO: perf with support for RISC-V trace all,
 * SpacemiT's as much as N-Trace needs, those of the patches proposed upstream only which PMU it is.
 */
int rvt_session_add_foreign(struct rvt_session *session, const struct rvt_perfdata_record *record,
			    char **error)
{
	/* after the header: u32 type, u32 reserved, u64 priv[] */
	const uint64_t *words = (const uint64_t *)record->header + 2;
	size_t n_words = record->header->size >= 16 ? (record->header->size - 16) / 8 : 0;
	struct rvt_foreign_cpu *cpus;
	struct rvt_params file;
	bool has_file = session->options.params && session->n_encoders;
	uint32_t type = 0;
	size_t n;
	int err = 0;

	if (rvt_perf_info_is(words, n_words))
		return read_perf_info(session, words, n_words, error);
	cpus = calloc(MAX_FOREIGN_CPUS, sizeof(*cpus));
	if (!cpus)
		return -ENOMEM;
	session->foreign = rvt_perfdata_foreign(record, &type, cpus, MAX_FOREIGN_CPUS, &n) !=
		RVT_FOREIGN_NONE;
	if (session->foreign) {
		session->pmu_type = type;
		session->has_pmu_type = true;
	}
	if (has_file && n) {
		/* for any cpu, until now */
		file = session->encoders[0].params;
		session->n_encoders = 0;
	}
	for (size_t i = 0; i < n && i < MAX_FOREIGN_CPUS && !err; i++)
		err = add_foreign_cpu(session, &cpus[i], has_file ? &file : NULL);
	free(cpus);
	return err;
}

void rvt_session_set_atid(struct rvt_session *session, int32_t cpu, unsigned int atid)
{
	for (size_t i = 0; i < session->n_encoders; i++) {
		struct encoder *encoder = &session->encoders[i];

		if (encoder->cpu == cpu && encoder->params.framing == RVT_FRAMING_CORESIGHT)
			encoder->params.atid = atid;
	}
}

int rvt_session_check_encoders(const struct rvt_session *session, char **error)
{
	if (session->n_encoders || session->is_ctr)
		return 0;
	return rvt_session_fail(error, -ENOTSUP, "%s: it does not say how its trace is encoded%s; "
					     "give the "
				"parameters with --params FILE", rvt_perfdata_path(session->file),
				session->meta ? "" : " (not recorded by perf rvtrace record?)");
}

const struct encoder *rvt_session_encoder(const struct rvt_session *session, int32_t cpu)
{
	for (size_t i = 0; i < session->n_encoders; i++)
		if (session->encoders[i].cpu == cpu || session->encoders[i].cpu < 0)
			return &session->encoders[i];
	return NULL;
}
