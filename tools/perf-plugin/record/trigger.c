// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Parses --trigger. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "util/array.h"
#include "common/cmd.h"
#include "common/durations.h"
#include "common/text.h"
#include "record/trigger.h"

#define FORMS "sym:[FILE:]FUNCTION, uprobe:FILE:SYMBOL[+OFFSET], uprobe:FILE+OFFSET, " \
	"signal:NAME or exit!=0"

static int invalid(const char *spec, const char *why)
{
	return cmd_error(-EINVAL, "--trigger '%s': %s; triggers are " FORMS, spec, why);
}

/* Takes ":over=TIME" and ":every=TIME" off the end of @text. */
static int take_times(struct trigger *trigger, char *text)
{
	static const char *const keys[] = { "over=", "every=" };
	uint64_t *const values[] = { &trigger->over_ns, &trigger->every_ns };
	char *colon;

	while ((colon = strrchr(text, ':'))) {
		size_t key = 0;

		while (key < 2 && strncmp(colon + 1, keys[key], strlen(keys[key])))
			key++;
		if (key == 2)
			return 0;
		*colon = 0;
		if (duration_parse("--trigger", colon + 1 + strlen(keys[key]), values[key]))
			return -EINVAL;
		if (!key && !trigger->over_ns)
			return invalid(trigger->spec, "over= is longer than nothing");
		if (!key && trigger->kind != TRIGGER_CODE)
			return invalid(trigger->spec, "only calls of functions have over=");
	}
	return 0;
}

/* Parses "SEGV", "SIGSEGV" or "11". */
static int find_signal(const char *name)
{
	uint64_t number;

	if (!strncmp(name, "SIG", 3))
		name += 3;
	for (int i = 1; i < SIGRTMIN; i++)
		if (sigabbrev_np(i) && !strcmp(name, sigabbrev_np(i)))
			return i;
	return !read_number(&name, &number) && !*name && number && number <= (uint64_t)SIGRTMAX ?
		(int)number : 0;
}

/* Cuts "+OFFSET" off the end of @text. Returns false if what follows the plus is no offset. */
static bool take_offset(char *text, uint64_t *offset)
{
	char *plus = strrchr(text, '+');
	const char *number = plus ? plus + 1 : NULL;

	if (!plus)
		return true;
	*plus = 0;
	return !read_number(&number, offset) && !*number;
}

/* Takes "[FILE:]FUNCTION", of sym. */
static int take_function(struct trigger *trigger, const char *text)
{
	const char *colon = strchr(text, ':');

	if (!*text || (colon && (colon == text || !colon[1])))
		return invalid(trigger->spec, "a function is missing");
	if (colon)
		trigger->file = strndup(text, colon - text);
	trigger->function = strdup(colon ? colon + 1 : text);
	return trigger->function && (!colon || trigger->file) ? 0 : -ENOMEM;
}

/* Takes "FILE:SYMBOL[+OFFSET]" or "FILE+OFFSET", of uprobe. */
static int take_location(struct trigger *trigger, char *text)
{
	char *colon = strchr(text, ':'), *last = colon ? colon + 1 : text;
	bool has_offset = strchr(last, '+');

	if (!take_offset(last, &trigger->offset))
		return invalid(trigger->spec, "what is behind + is no number");
	if (colon)
		*colon = 0;
	if (!*text || !*last || (!colon && !has_offset))
		return invalid(trigger->spec, "a file with a symbol or an offset is missing");
	if (trigger->offset % 2)
		return invalid(trigger->spec, "no instruction begins at an odd offset");
	if (trigger->over_ns && trigger->offset && colon)
		return invalid(trigger->spec, "over= is for whole functions");
	trigger->file = strdup(text);
	trigger->function = colon ? strdup(last) : NULL;
	return trigger->file && (!colon || trigger->function) ? 0 : -ENOMEM;
}

static int take_signal(struct trigger *trigger, const char *text)
{
	trigger->signal = find_signal(text);
	return trigger->signal ? 0 : invalid(trigger->spec, "there is no such signal");
}

/* Parses @text, and changes it. */
static int parse(struct trigger *trigger, char *text)
{
	static const struct {
		const char *prefix;
		enum trigger_kind kind;
	} kinds[] = {
		{ "sym:", TRIGGER_CODE }, { "uprobe:", TRIGGER_CODE },
		{ "signal:", TRIGGER_SIGNAL }, { "exit!=0", TRIGGER_EXIT },
	};
	size_t i = 0;
	int err;

	while (i < 4 && strncmp(text, kinds[i].prefix, strlen(kinds[i].prefix)))
		i++;
	if (i == 4)
		return invalid(trigger->spec, "unknown");
	trigger->kind = kinds[i].kind;
	err = take_times(trigger, text);
	if (err)
		return err;
	text += strlen(kinds[i].prefix);
	switch (i) {
	case 0: return take_function(trigger, text);
	case 1: return take_location(trigger, text);
	case 2: return take_signal(trigger, text);
	default: return *text ? invalid(trigger->spec, "unknown") : 0;
	}
}

int trigger_parse(struct trigger_list *list, const char *spec)
{
	struct trigger *trigger;
	char *copy = strdup(spec);
	int err;

	if (!copy || array_grow(&list->triggers, list->n)) {
		free(copy);
		return -ENOMEM;
	}
	trigger = &list->triggers[list->n++];
	*trigger = (struct trigger){ .spec = spec, .every_ns = TRIGGER_EVERY_NS };
	err = parse(trigger, copy);
	free(copy);
	return err;
}

void trigger_close(struct trigger *trigger)
{
	trigger_stop_measuring(trigger);
	for (size_t n = 0; n < trigger->n_counters; n++)
		close(trigger->counters[n]);
	free(trigger->counters);
	trigger->counters = NULL;
	trigger->n_counters = 0;
}

void trigger_list_clear(struct trigger_list *list)
{
	for (size_t i = 0; i < list->n; i++) {
		struct trigger *trigger = &list->triggers[i];

		free(trigger->entries);
		free(trigger->file);
		free(trigger->function);
	}
	free(list->triggers);
	*list = (struct trigger_list){ 0 };
}
