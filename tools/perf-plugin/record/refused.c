// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Explains which term of the event the hardware refuses, and what it takes instead. */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/cmd.h"
#include "common/text.h"
#include "record/record.h"

/* Terms with values that the hardware may lack, and the file in caps/ that lists those it has. */
static const struct {
	const char *term, *caps;
} value_terms[] = {
	{ "mode", "modes" },
	{ "syncmode", "syncmodes" },
	{ "syncmax", "syncmax_values" },
	{ "implicit_return_mode", "implicit_return_modes" },
	{ "format", "formats" },
};

/* Reads a file of the encoder of @cpu, malloc'd; NULL: there is none. */
static char *encoder_text(int cpu, const char *file)
{
	char *text = NULL;
	glob_t found;

	if (glob(RECORD_ENCODERS, 0, NULL, &found))
		return NULL;
	for (size_t i = 0; i < found.gl_pathc && !text; i++) {
		char *number = read_text("%s/cpu", found.gl_pathv[i]);

		if (number && atoi(number) == cpu)
			text = read_text("%s/%s", found.gl_pathv[i], file);
		free(number);
	}
	globfree(&found);
	return text;
}

static bool explain_features(const struct recorder *rec, int cpu)
{
	char *features = encoder_text(cpu, "features");
	bool found = false;

	for (unsigned int i = 0; features && i < rec->pmu.n_terms; i++) {
		const char *term = rec->pmu.terms[i].name;

		if (!record_is_feature(term) || !record_term(rec, term) || has_word(features, term))
			continue;
		cmd_error(0, "the trace hardware of cpu %d has no '%s'; it has: %s", cpu, term,
			  *features ? features : "no options");
		found = true;
	}
	free(features);
	return found;
}

static bool explain_values(const struct recorder *rec)
{
	bool found = false;

	for (size_t i = 0; i < sizeof(value_terms) / sizeof(*value_terms); i++) {
		const char *term = value_terms[i].term;
		uint64_t value = record_term(rec, term);
		char *valid, number[24];

		/* 0 leaves the choice to the driver; syncmax is only used with syncmode */
		if (!record_term(rec, strcmp(term, "syncmax") ? term : "syncmode"))
			continue;
		snprintf(number, sizeof(number), "%llu", (unsigned long long)value);
		valid = record_caps(value_terms[i].caps);
		if (valid && !has_word(valid, number)) {
			for (char *newline = valid; (newline = strchr(newline, '\n')); )
				*newline = ',';
			cmd_error(0, "the trace hardware has no %s=%s; valid values: %s",
				  term, number, *valid ? valid : "none");
			found = true;
		}
		free(valid);
	}
	return found;
}

/* Returns what is wrong with the terms about contexts; NULL: nothing. */
static const char *context_problem(const struct recorder *rec)
{
	bool hcontext = record_term(rec, "hcontext");
	bool context = hcontext || record_term(rec, "context");
	bool thread = record_term(rec, "thread");
	bool has_scontext = record_has_scontext(), has_hcontext = record_hcontext_bits();

	if (hcontext && thread)
		return "'thread' compares scontext: it does not go together with 'hcontext'";
	if (thread && !has_scontext)
		return "the harts have no CSR scontext, which 'thread' compares";
	if (context && !has_scontext && !has_hcontext)
		return "the harts have no CSR scontext: 'context' is of no use; record with "
		       "context=0";
	if (hcontext && !has_hcontext)
		return "the harts have no CSR hcontext; record without 'hcontext'";
	if (context && (hcontext || !has_scontext) && !record_wants_ntrace(rec))
		return "E-Trace has no room for the CSR hcontext; record with context=0,hcontext=0";
	return NULL;
}

bool record_explain_refused(const struct recorder *rec, int cpu)
{
	const char *problem = context_problem(rec);
	bool found = explain_features(rec, cpu);

	found |= explain_values(rec);
	if (problem)
		cmd_error(0, "%s", problem);
	return found || problem;
}
