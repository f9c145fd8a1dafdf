// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "util/array.h"
#include "record/event.h"
#include "common/pmu.h"
#include "common/text.h"

#define MODIFIERS "ukhGH"

size_t event_length(const char *text)
{
	size_t len = strcspn(text, ",/");

	if (*text == '{') {
		len = strcspn(text, "}");
		return len + strcspn(text + len, ",");
	}
	if (text[len] != '/')
		return len;
	len += 1 + strcspn(text + len + 1, "/");
	return len + strcspn(text + len, ",");
}

/* Takes a term that every event has. Returns 1; 0: it is another term; or -EINVAL. */
static int take_common_term(struct event *event, const char *term, char **error)
{
	bool period = !strncmp(term, "period=", 7), freq = !strncmp(term, "freq=", 5);
	const char *value = strchr(term, '='), *end = value ? value + 1 : term;
	uint64_t number;

	if (!strncmp(term, "name=", 5)) {
		free(event->name);
		event->name = strdup(value + 1);
		return event->name ? 1 : -ENOMEM;
	}
	if (!period && !freq)
		return 0;
	if (read_number(&end, &number) || !number || *end)
		return pmu_invalid(error, "'%s' is no number of events or samples, in term '%s'",
				   value + 1, term);
	event->rate = true;
	event->attr.freq = freq;
	event->attr.sample_period = number;	/* and .sample_freq, which is the same */
	return 1;
}

/*
 * Writes @terms, which it changes, to @out, without those of every event and with the PMU's aliases
 * replaced. @pmu NULL: no other terms are valid.
 */
static int rewrite_terms(const struct event_roots *roots, const char *pmu, char *terms,
			 struct event *event, FILE *out, char **error)
{
	int err = 0;
	char *term;

	while (err >= 0 && (term = strsep(&terms, ","))) {
		char *alias = NULL;

		err = take_common_term(event, term, error);
		if (err || !*term)
			continue;
		if (!pmu)
			return pmu_invalid(error,
					   "unknown term '%s'; valid terms: period, freq, name",
					   term);
		if (!strchr(term, '='))
			alias = read_text("%s/bus/event_source/devices/%s/events/%s", roots->sysfs,
					  pmu, term);
		fprintf(out, "%s,", alias ? alias : term);
		free(alias);
	}
	return err < 0 ? err : 0;
}

/* Parses the parts of PMU/TERMS/MODIFIERS. */
static int parse_pmu(const struct event_roots *roots, const char *name, char *terms,
		     const char *modifiers, struct event *event, char **error)
{
	char *text = NULL;
	struct pmu pmu;
	bool modified;
	size_t len;
	FILE *out;
	int err;

	if (pmu_read(&pmu, roots->sysfs, name))
		return pmu_invalid(error, "there is neither an event nor a PMU '%s'; PMUs: ls "
				   "%s/bus/event_source/devices", name, roots->sysfs);
	out = open_memstream(&text, &len);
	if (!out)
		return -ENOMEM;
	fprintf(out, "%s/", name);
	err = rewrite_terms(roots, name, terms, event, out, error);
	fprintf(out, "/%s", modifiers);
	if (fclose(out))
		err = -ENOMEM;
	if (!err)
		err = pmu_parse_event(&pmu, name, text, &event->attr, &modified, error);
	event->attr.type = pmu.type;
	free(text);
	return err;
}

/* Parses an event with slashes: what is before, between and behind them. */
static int parse_with_terms(const struct event_roots *roots, char *text, struct event *event,
			    char **error)
{
	char *terms = strchr(text, '/'), *modifiers;
	bool modified;
	int err;

	*terms++ = 0;
	modifiers = strchr(terms, '/');
	if (!modifiers)
		return pmu_invalid(error, "event '%s/%s' lacks its closing '/'", text, terms);
	*modifiers++ = 0;
	if (*modifiers == ':')
		modifiers++;
	if (!event_find_name(text, strlen(text), &event->attr))
		return parse_pmu(roots, text, terms, modifiers, event, error);
	err = rewrite_terms(roots, NULL, terms, event, NULL, error);
	return err ? err : pmu_parse_modifiers(modifiers, &event->attr, &modified, error);
}

static int add(struct event_list *list, const struct event *event)
{
	if (array_grow(&list->events, list->n))
		return -ENOMEM;
	list->events[list->n++] = *event;
	return 0;
}

/* Parses NAME[:MODIFIERS] or PMU/.../ into @event. */
static int parse_one(const struct event_roots *roots, char *text, struct event *event, char **error)
{
	size_t len = strcspn(text, ":");
	bool modified;

	if (strchr(text, '/'))
		return parse_with_terms(roots, text, event, error);
	if (!event_find_name(text, len, &event->attr))
		return pmu_invalid(error, "there is no event '%s'; events: perf list, rHEX, "
				   "PMU/TERM=VALUE,.../, SYSTEM:TRACEPOINT", text);
	return text[len] ? pmu_parse_modifiers(text + len + 1, &event->attr, &modified, error) : 0;
}

/* Returns whether @text is SYSTEM:NAME[:MODIFIERS]. */
static bool is_tracepoint(const char *text)
{
	struct perf_event_attr attr;
	size_t len = strcspn(text, ":/");

	return text[len] == ':' && text[len + 1 + strspn(text + len + 1, MODIFIERS)] &&
		!event_find_name(text, len, &attr);
}

static int parse_tracepoint(const struct event_roots *roots, char *system,
			    struct event_list *list, char **error)
{
	struct perf_event_attr attr = { 0 };
	char *name = strchr(system, ':'), *modifiers;
	bool modified;
	int err = 0;

	*name++ = 0;
	modifiers = strchr(name, ':');
	if (modifiers) {
		*modifiers++ = 0;
		err = pmu_parse_modifiers(modifiers, &attr, &modified, error);
	}
	return err ? err : tracepoint_add(roots->tracefs, system, name, &attr, list, error);
}

int event_parse(const struct event_roots *roots, const char *text, struct event_list *list,
		char **error)
{
	struct event event = { 0 };
	char *copy = strdup(text);
	int err;

	*error = NULL;
	if (!copy)
		return -ENOMEM;
	if (is_tracepoint(text)) {
		err = parse_tracepoint(roots, copy, list, error);
		free(copy);
		return err;
	}
	err = parse_one(roots, copy, &event, error);
	free(copy);
	if (!err && !event.name) {
		event.name = strdup(text);
		err = event.name ? 0 : -ENOMEM;
	}
	if (!err)
		err = add(list, &event);
	if (err)
		free(event.name);
	return err;
}

void event_list_clear(struct event_list *list)
{
	for (size_t i = 0; i < list->n; i++) {
		free(list->events[i].name);
		free(list->events[i].tracepoint);
		free(list->events[i].filter);
	}
	free(list->events);
	*list = (struct event_list){ 0 };
}

/* Returns the length of a term. */
static size_t term_length(const char *term)
{
	return strcspn(term, ",/");
}

static uint32_t find_aux_action(const char *name, size_t len)
{
	static const struct {
		const char *name;
		enum event_aux_action action;
	} actions[] = {
		{ "start-paused", EVENT_AUX_START_PAUSED },
		{ "pause", EVENT_AUX_PAUSE },
		{ "resume", EVENT_AUX_RESUME },
	};

	for (size_t i = 0; i < sizeof(actions) / sizeof(*actions); i++)
		if (strlen(actions[i].name) == len && !strncmp(actions[i].name, name, len))
			return actions[i].action;
	return 0;
}

/*
 * Changes "SYSTEM:TRACEPOINT//u" to "SYSTEM:TRACEPOINT:u", as tracepoints have no terms of their
 * own.
 */
static void drop_slashes(char *text)
{
	char *slashes = strstr(text, "//");
	const char *colon = strchr(text, ':');

	if (!slashes || !colon || colon > slashes)
		return;
	if (slashes[2] == ':' || !slashes[2])
		memmove(slashes, slashes + 2, strlen(slashes + 2) + 1);
	else
		memmove(slashes + 1, slashes + 2, strlen(slashes + 2) + 1);
	if (*slashes == '/')
		*slashes = ':';
}

/*
 * Takes the term @key ("NAME=") out of @text, and sets *value to its value, malloc'd, or to NULL
 * when there is no such term. Returns 0 or -ENOMEM.
 */
static int take_term(char *text, const char *key, char **value)
{
	char *term = strchr(text, '/'), *end;
	size_t len;

	*value = NULL;
	while (term && strncmp(term + 1, key, strlen(key)))
		term = term[1 + term_length(term + 1)] == ',' ?
		       term + 1 + term_length(term + 1) : NULL;
	if (!term)
		return 0;
	term++;
	len = term_length(term);
	*value = strndup(term + strlen(key), len - strlen(key));
	if (!*value)
		return -ENOMEM;
	end = term + len;
	/* takes the comma behind it, or the one before */
	if (*end == ',')
		end++;
	else if (term[-1] == ',')
		term--;
	memmove(term, end, strlen(end) + 1);
	drop_slashes(text);
	return 0;
}

int event_take_aux_action(char *text, uint32_t *action, char **error)
{
	char *value;
	int err = take_term(text, "aux-action=", &value);

	*action = 0;
	*error = NULL;
	if (err || !value)
		return err;
	*action = find_aux_action(value, strlen(value));
	if (!*action)
		err = pmu_invalid(error, "aux-action is start-paused (of the trace), pause or "
				  "resume, not '%s'", value);
	free(value);
	return err;
}

int event_sample_size(const char *text, uint32_t *size, char **error)
{
	const char *end = text;
	uint64_t number;

	if (read_number(&end, &number) || *end || !number || number > EVENT_MAX_AUX_SAMPLE ||
	    number % sizeof(uint64_t))
		return pmu_invalid(error, "'%s' is no size of trace in samples: bytes, a multiple "
				   "of 8, at most %u", text, EVENT_MAX_AUX_SAMPLE);
	*size = number;
	return 0;
}

int event_take_aux_sample_size(char *text, uint32_t *size, char **error)
{
	char *value;
	int err = take_term(text, "aux-sample-size=", &value);

	*size = 0;
	*error = NULL;
	if (!err && value)
		err = event_sample_size(value, size, error);
	free(value);
	return err;
}

void event_set_aux_action(struct perf_event_attr *attr, uint32_t action)
{
	/* in the reserved word of 32 bits behind the size of AUX samples */
	memcpy((char *)attr + offsetof(struct perf_event_attr, aux_sample_size) + sizeof(uint32_t),
	       &action, sizeof(action));
}
