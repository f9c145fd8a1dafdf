// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Finds the code of a trigger: in the program, in one of its libraries, or in a file. */
#include <errno.h>
#include <glob.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <rvtrace/symbol.h>
#include "common/cmd.h"
#include "common/text.h"
#include "record/record.h"

/* Finds @name in one of the directories @dirs, separated by ':'; malloc'd. NULL: in none. */
static char *find_in(const char *dirs, const char *name)
{
	while (dirs && *dirs) {
		int len = strcspn(dirs, ":");
		char *path;

		if (asprintf(&path, "%.*s/%s", len, dirs, name) < 0)
			return NULL;
		if (!access(path, R_OK))
			return path;
		free(path);
		dirs += len + (dirs[len] == ':');
	}
	return NULL;
}

/* Finds @name where the system has its libraries. */
static char *find_library(const char *name)
{
	static const char *const patterns[] = {
		"/lib/*-linux-gnu*/%s", "/lib/%s", "/lib64/%s", "/usr/lib/*-linux-gnu*/%s",
		"/usr/lib/%s", "/usr/lib64/%s", "/usr/lib64/lp64d/%s", "/usr/local/lib/%s",
	};
	char *result = find_in(getenv("LD_LIBRARY_PATH"), name);

	for (size_t i = 0; !result && i < sizeof(patterns) / sizeof(*patterns); i++) {
		char pattern[PATH_MAX];
		glob_t found;

		snprintf(pattern, sizeof(pattern), patterns[i], name);
		if (glob(pattern, 0, NULL, &found))
			continue;
		result = strdup(found.gl_pathv[0]);
		globfree(&found);
	}
	return result;
}

/* Returns whether "libfoo.so" may mean "libfoo.so.1". */
static bool is_called(const char *path, const char *name)
{
	const char *base = strrchr(path, '/') + 1;
	size_t len = strlen(name);

	return !strncmp(base, name, len) && (!base[len] || !strncmp(base + len, ".so", 3) ||
					     base[len] == '.');
}

/* Finds what process @pid has mapped as @name; malloc'd. NULL: nothing. */
static char *find_mapped(pid_t pid, const char *name)
{
	char *maps = read_text("/proc/%d/maps", pid), *rest = maps, *line, *result = NULL;

	while (!result && (line = strsep(&rest, "\n"))) {
		const char *path = strchr(line, '/');

		if (path && is_called(path, name))
			result = strdup(path);
	}
	free(maps);
	return result;
}

/* Returns the process whose program is meant, if it runs already; 0: there is none. */
static pid_t get_process(const struct recorder *rec)
{
	return rec->target == TARGET_TASKS && rec->n_tids ? rec->tids[0] : 0;
}

static char *find_program(const struct recorder *rec)
{
	pid_t pid = get_process(rec);
	char link[32], path[PATH_MAX];
	ssize_t len;

	if (!pid && !rec->options.command)
		return NULL;
	if (!pid && strchr(rec->options.command[0], '/'))
		return strdup(rec->options.command[0]);
	if (!pid)
		return find_in(getenv("PATH"), rec->options.command[0]);
	snprintf(link, sizeof(link), "/proc/%d/exe", pid);
	len = readlink(link, path, sizeof(path));
	return len > 0 ? strndup(path, len) : NULL;
}

static char *find_named(const struct recorder *rec, const char *name)
{
	pid_t pid = get_process(rec);
	char *path = NULL;

	if (strchr(name, '/'))
		return strdup(name);
	if (pid)
		path = find_mapped(pid, name);
	if (!path)
		path = find_library(name);
	return path || access(name, R_OK) ? path : strdup(name);
}

static int find_file(const struct recorder *rec, const struct trigger *trigger, char **path)
{
	char *found = trigger->file ? find_named(rec, trigger->file) : find_program(rec);

	*path = NULL;
	if (!found && trigger->file)
		return cmd_error(-ENOENT, "--trigger '%s': no library '%s' is mapped or in the "
				 "system's directories; give its path", trigger->spec,
				 trigger->file);
	if (!found)
		return cmd_error(-ENOENT, "--trigger '%s': of which program? With neither a "
				 "command nor -p: sym:FILE:FUNCTION", trigger->spec);
	*path = realpath(found, NULL);
	if (!*path)
		cmd_error(-errno, "--trigger '%s': %s: %s", trigger->spec, found, strerror(errno));
	free(found);
	return *path ? 0 : -ENOENT;
}

/* Lists each place that has that name. */
static int explain_choice(struct rvt_symbols *symbols, const struct trigger *trigger,
			  const char *path)
{
	struct rvt_named found;

	cmd_error(0, "--trigger '%s': %s has several of that name; give one of", trigger->spec,
		  path);
	for (size_t n = 0; rvt_symbols_nth(symbols, path, trigger->function, n, &found); n++)
		fprintf(stderr, "  uprobe:%s+0x%" PRIx64 " (%s)\n", path, found.offset,
			found.global ? "global" : "local");
	return -EINVAL;
}

/* Adds the function's offset in the file to *@offset. */
static int find_function(const struct trigger *trigger, const char *path, uint64_t *offset)
{
	struct rvt_symbols *symbols = NULL;
	struct rvt_named found, other;
	int err = rvt_symbols_create(NULL, &symbols);

	if (err)
		return err;
	if (!rvt_symbols_nth(symbols, path, trigger->function, 0, &found))
		err = cmd_error(-ENOENT, "--trigger '%s': there is no function '%s' in %s; in "
				"another file: sym:FILE:FUNCTION", trigger->spec, trigger->function,
				path);
	else if (rvt_symbols_nth(symbols, path, trigger->function, 1, &other))
		err = explain_choice(symbols, trigger, path);
	else
		*offset += found.offset;
	rvt_symbols_destroy(symbols);
	return err;
}

int trigger_find(const struct recorder *rec, const struct trigger *trigger, char **path,
		 uint64_t *offset)
{
	int err = find_file(rec, trigger, path);

	*offset = trigger->offset;
	if (!err && trigger->function)
		err = find_function(trigger, *path, offset);
	if (!err && strpbrk(*path, " \t\n"))
		err = cmd_error(-EINVAL, "--trigger '%s': the kernel takes no blanks in the name "
				"of %s; give a link to it", trigger->spec, *path);
	if (err) {
		free(*path);
		*path = NULL;
	}
	return err;
}
