// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * --filter in perf's syntax, with names of functions: "filter main @ /bin/app", "start f @ lib.so",
 * "filter schedule" (the kernel), "filter * @ /bin/app", "filter 0x100 / 0x40 @ /bin/app", "stop f
 * / g @ /bin/app" (leave this part out); for one of several functions of a name "f #2", "f #g". The
 * kernel only takes numbers: offsets in files, or addresses of its own.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <rvtrace/symbol.h>
#include "common/cmd.h"
#include "common/text.h"
#include "record/record.h"

#define KERNEL "[kernel.kallsyms]"
#define SEPARATORS ", \t\n"

enum { GLOBAL, ANY = -1 };

/* A function, a number or "*". */
struct name {
	char *word;	/* NULL: none was given */
	int which;	/* for several functions: ANY, GLOBAL, or the n-th from 1 */
};

struct filter {
	const char *action;	/* for the kernel: filter, start or stop */
	struct name from, to;
	char *path;		/* NULL: the kernel */
	uint64_t start, size;
};

static const struct {
	const char *name, *action;
} actions[] = {
	{ "filter", "filter" }, { "start", "start" }, { "tracestop", "stop" }, { "stop", "stop" },
};

static void skip_space(const char **text)
{
	*text += strspn(*text, " \t\n");
}

/* Takes a word, up to a character that has a meaning here. */
static char *take_word(const char **text)
{
	size_t len;
	char *word;

	skip_space(text);
	len = strcspn(*text, "#/@" SEPARATORS);
	word = len ? strndup(*text, len) : NULL;
	*text += len;
	return word;
}

/* Takes a word and, as in perf, "#2" or "#g" ("#0") behind it. */
static int take_name(const char **text, struct name *name)
{
	uint64_t which;

	name->word = take_word(text);
	name->which = ANY;
	skip_space(text);
	if (!name->word || **text != '#')
		return 0;
	++*text;
	if (**text == 'g' || **text == 'G') {
		name->which = GLOBAL;
		++*text;
		return 0;
	}
	if (read_number(text, &which) || which > INT32_MAX)
		return cmd_error(-EINVAL, "--filter: '#' is followed by a number or by 'g': which "
				 "of several functions '%s'", name->word);
	name->which = which;
	return 0;
}

static bool is_number(const char *word, uint64_t *number)
{
	return !read_number(&word, number) && !*word;
}

static int take_path(const char **text, struct filter *filter)
{
	char path[PATH_MAX], resolved[PATH_MAX];
	size_t len;

	skip_space(text);
	len = strcspn(*text, SEPARATORS);
	if (!len || len >= sizeof(path))
		return cmd_error(-EINVAL, "--filter: the name of a file is missing after '@'");
	snprintf(path, sizeof(path), "%.*s", (int)len, *text);
	*text += len;
	if (!realpath(path, resolved))
		return cmd_error(-errno, "--filter: %s: %s", path, strerror(errno));
	filter->path = strdup(resolved);
	return filter->path ? 0 : -ENOMEM;
}

/* Takes "ACTION FROM [/ TO] [@ FILE]". */
static int take_filter(const char **text, struct filter *filter)
{
	char *word = take_word(text);
	int err;

	for (size_t i = 0; word && i < sizeof(actions) / sizeof(*actions); i++)
		if (!strcmp(word, actions[i].name))
			filter->action = actions[i].action;
	if (!filter->action) {
		cmd_error(0, "--filter: '%s' is none of filter, start, stop, tracestop",
			  word ? word : *text);
		free(word);
		return -EINVAL;
	}
	free(word);
	err = take_name(text, &filter->from);
	if (err)
		return err;
	if (!filter->from.word)
		return cmd_error(-EINVAL, "--filter: a function or an address is missing after "
				 "'%s'", filter->action);
	skip_space(text);
	if (**text == '/') {
		++*text;
		err = take_name(text, &filter->to);
		if (err)
			return err;
		if (!filter->to.word)
			return cmd_error(-EINVAL, "--filter: a size or a function is missing "
					 "after '/'");
		skip_space(text);
	}
	if (**text != '@')
		return 0;
	++*text;
	return take_path(text, filter);
}

/* Lists the functions called @name: "#1 0x1234 local". */
static int explain_choice(struct rvt_symbols *symbols, const char *path, const char *name)
{
	struct rvt_named found;

	cmd_error(0, "--filter: which function '%s' in %s? There are", name, path);
	for (size_t n = 0; rvt_symbols_nth(symbols, path, name, n, &found); n++)
		fprintf(stderr, "  #%zu 0x%" PRIx64 " %s\n", n + 1, found.addr,
			found.global ? "global" : "local");
	fprintf(stderr, "  Choose one: '%s #2', or the global one: '%s #g'\n", name, name);
	return -EINVAL;
}

/* Chooses one of the functions called @name->word. */
static int choose(struct rvt_symbols *symbols, const char *path, const struct name *name,
		  struct rvt_named *chosen)
{
	struct rvt_named found;
	size_t n = 0, matching = 0;

	for (; rvt_symbols_nth(symbols, path, name->word, n, &found); n++) {
		if (name->which == GLOBAL ? !found.global : name->which != ANY &&
		    name->which != (int)n + 1)
			continue;
		*chosen = found;
		matching++;
	}
	if (matching == 1)
		return 0;
	return n ? explain_choice(symbols, path, name->word) : -ENOENT;
}

static int look_up(struct rvt_symbols *symbols, const struct filter *filter,
		   const struct name *name, uint64_t *start, uint64_t *size)
{
	const char *path = filter->path ? filter->path : KERNEL;
	struct rvt_named found;
	int err = choose(symbols, path, name, &found);

	if (err == -ENOENT)
		return cmd_error(err, "--filter: there is no function '%s' in %s%s", name->word,
				 filter->path ? filter->path : "the kernel",
				 filter->path ? "" :
				 " (for one of a program: FUNCTION @ FILE; and kernel.kptr_restrict"
				 " hides addresses)");
	if (err)
		return err;
	*start = filter->path ? found.offset : found.addr;
	*size = found.size;
	return 0;
}

static int resolve_whole_file(struct filter *filter)
{
	struct stat st;

	if (!filter->path || filter->to.word || strcmp(filter->action, "filter"))
		return cmd_error(-EINVAL, "--filter: '*' is for whole files: filter * @ FILE");
	if (stat(filter->path, &st))
		return cmd_error(-errno, "--filter: %s: %s", filter->path, strerror(errno));
	filter->size = st.st_size;
	return 0;
}

static int resolve(struct rvt_symbols *symbols, struct filter *filter)
{
	bool start = !strcmp(filter->action, "start");
	bool range = !strcmp(filter->action, "filter") || filter->to.word;
	uint64_t size = 0, end;
	int err = 0;

	if (!strcmp(filter->from.word, "*"))
		return resolve_whole_file(filter);
	if (!is_number(filter->from.word, &filter->start))
		err = look_up(symbols, filter, &filter->from, &filter->start, &size);
	if (err)
		return err;
	if (start && filter->to.word)
		return cmd_error(-EINVAL, "--filter: 'start' is at one address: it has no '/'");
	if (!range)
		return 0;
	if (filter->to.word && !is_number(filter->to.word, &size)) {
		/* to the end of the second function */
		err = look_up(symbols, filter, &filter->to, &end, &size);
		if (err)
			return err;
		size = end + size > filter->start ? end + size - filter->start : 0;
	}
	if (!size)
		return cmd_error(-EINVAL, "--filter: how large is '%s'? Give FROM/SIZE or "
				 "FROM/FUNCTION", filter->from.word);
	filter->size = size;
	return 0;
}

static void print_filter(FILE *out, const struct filter *filter)
{
	fprintf(out, "%s%s 0x%" PRIx64, ftell(out) > 0 ? "," : "", filter->action, filter->start);
	if (filter->size)
		fprintf(out, "/0x%" PRIx64, filter->size);
	if (filter->path)
		fprintf(out, "@%s", filter->path);
}

/* Makes symbols. Filters that need no names work without any. */
static int make_symbols(struct rvt_symbols **symbols)
{
	int err = rvt_symbols_create(NULL, symbols);
	char *text = err ? NULL : read_text("/proc/kallsyms");

	if (text && strtoull(text, NULL, 16))
		err = rvt_symbols_add_kallsyms(*symbols, text, strlen(text));
	free(text);
	return err;
}

int record_resolve_filter(const char *text, char **result)
{
	struct rvt_symbols *symbols = NULL;
	size_t len;
	FILE *out = open_memstream(result, &len);
	int err = out ? make_symbols(&symbols) : -ENOMEM;

	text += strspn(text, SEPARATORS);
	while (!err && *text) {
		struct filter filter = { 0 };

		err = take_filter(&text, &filter);
		if (!err)
			err = resolve(symbols, &filter);
		if (!err)
			print_filter(out, &filter);
		free(filter.from.word);
		free(filter.to.word);
		free(filter.path);
		text += strspn(text, SEPARATORS);
	}
	if (out)
		fclose(out);
	rvt_symbols_destroy(symbols);
	if (err == -ENOMEM)
		cmd_error(err, "out of memory");
	if (err) {
		free(*result);
		*result = NULL;
	}
	return err;
}
