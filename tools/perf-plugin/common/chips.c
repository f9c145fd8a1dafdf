// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Finds chips by name. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "common/chips.h"
#include "common/cmd.h"
#include "common/text.h"

/* Relative to the program: for bin of an installation, and for build/host of the sources. */
static const char *const directories[] = { "../share/rvtrace/chips", "../../share/rvtrace/chips" };

/* Finds the chips' directory, malloc'd; NULL after a message. */
static char *find_directory(void)
{
	char program[PATH_MAX], *slash, *path;
	ssize_t len = readlink("/proc/self/exe", program, sizeof(program) - 1);

	program[len > 0 ? len : 0] = 0;
	slash = strrchr(program, '/');
	if (slash)
		*slash = 0;
	for (size_t i = 0; i < sizeof(directories) / sizeof(*directories); i++) {
		if (asprintf(&path, "%s/%s", program, directories[i]) < 0)
			break;
		if (!access(path, R_OK | X_OK))
			return path;
		free(path);
	}
	cmd_error(0, "there is no directory %s/%s with the chips' parameter files: give --params "
		  "FILE", program, directories[0]);
	return NULL;
}

/* Returns the first comment in @text that is not the licence; malloc'd. */
static char *title_of(const char *text)
{
	for (const char *line = text; line && *line == '#'; line = strchrnul(line, '\n'), line++) {
		const char *begin = line + 1 + strspn(line + 1, " ");

		if (strncmp(begin, "SPDX-", strlen("SPDX-")))
			return strndup(begin, strcspn(begin, "\n"));
		if (!*strchrnul(line, '\n'))
			break;
	}
	return strdup("");
}

/* Skips hidden files and backups of editors (with ~). */
static int is_name(const struct dirent *entry)
{
	return entry->d_name[strspn(entry->d_name,
				    "abcdefghijklmnopqrstuvwxyz0123456789-_.")] == 0 &&
	       entry->d_name[0] != '.';
}

/* Returns the value of `compatible =`; malloc'd. */
static char *compatible_of(const char *text)
{
	static const char key[] = "\ncompatible = ";
	const char *value = text ? strstr(text, key) : NULL;

	return value ? strndup(value + sizeof(key) - 1, strcspn(value + sizeof(key) - 1, "#\n")) :
		       strdup("");
}

static int read_chip(const char *directory, const char *name, struct chip *chip)
{
	char *text;

	chip->name = strdup(name);
	if (asprintf(&chip->path, "%s/%s", directory, name) < 0)
		chip->path = NULL;
	text = chip->path ? read_text("%s", chip->path) : NULL;
	chip->title = title_of(text);
	chip->compatible = compatible_of(text);
	free(text);
	return chip->name && chip->path && chip->title && chip->compatible ? 0 : -ENOMEM;
}

int chips_list(struct chip **chips)
{
	char *directory = find_directory();
	struct dirent **names = NULL;
	int n, ret;

	*chips = NULL;
	if (!directory)
		return -ENOENT;
	n = scandir(directory, &names, is_name, alphasort);
	ret = n < 0 ? -errno : 0;
	if (n >= 0)
		*chips = calloc(n + 1, sizeof(**chips));
	if (!ret && !*chips)
		ret = -ENOMEM;
	for (int i = 0; i < n && !ret; i++)
		ret = read_chip(directory, names[i]->d_name, &(*chips)[i]);
	for (int i = 0; i < n; i++)
		free(names[i]);
	free(names);
	if (ret) {
		cmd_error(0, "%s: %s", directory, strerror(-ret));
		chips_free(*chips, n > 0 ? n : 0);
		*chips = NULL;
	}
	free(directory);
	return ret ? ret : n;
}

void chips_free(struct chip *chips, size_t n)
{
	for (size_t i = 0; chips && i < n; i++) {
		free(chips[i].name);
		free(chips[i].title);
		free(chips[i].path);
		free(chips[i].compatible);
	}
	free(chips);
}

int chips_print(FILE *out)
{
	struct chip *chips;
	int n = chips_list(&chips);

	for (int i = 0; i < n; i++)
		fprintf(out, "%-14s %s\n", chips[i].name, chips[i].title);
	chips_free(chips, n > 0 ? n : 0);
	return n < 0 ? n : 0;
}

static void report_unknown(const char *name, const struct chip *chips, int n)
{
	size_t size;
	char *names = NULL;
	FILE *f = open_memstream(&names, &size);

	for (int i = 0; f && i < n; i++)
		fprintf(f, "%s%s", i ? ", " : "", chips[i].name);
	if (f)
		fclose(f);
	cmd_error(0, "--chip: there is no parameter file for '%s'; chips: %s", name,
		  names ? names : "");
	free(names);
}

char *chips_path(const char *name)
{
	struct chip *chips;
	int n = chips_list(&chips);
	char *path = NULL;

	for (int i = 0; i < n && !path; i++)
		if (!strcmp(chips[i].name, name)) {
			path = chips[i].path;
			chips[i].path = NULL;
		}
	if (n >= 0 && !path)
		report_unknown(name, chips, n);
	chips_free(chips, n > 0 ? n : 0);
	return path;
}

/*
 * Returns whether a property, strings with terminating zeroes, has one of the chip's names, which
 * have spaces in between.
 */
static bool names_chip(const char *strings, size_t len, const struct chip *chip)
{
	for (const char *word = chip->compatible; *word; word += strspn(word, " ")) {
		size_t word_len = strcspn(word, " ");

		for (const char *s = strings; s < strings + len; s += strlen(s) + 1)
			if (strlen(s) == word_len && !memcmp(s, word, word_len))
				return true;
		word += word_len;
	}
	return false;
}

char *chips_of_machine(const char *sysfs)
{
	char strings[512] = "", *path, *name = NULL;
	struct chip *chips;
	size_t len = 0;
	FILE *in;
	int n;

	if (asprintf(&path, "%s/firmware/devicetree/base/compatible", sysfs) < 0)
		return NULL;
	in = fopen(path, "re");
	free(path);
	if (!in)
		return NULL;
	len = fread(strings, 1, sizeof(strings) - 1, in);
	fclose(in);
	n = chips_list(&chips);
	for (int i = 0; i < n && !name; i++)
		if (names_chip(strings, len, &chips[i]))
			name = strdup(chips[i].name);
	chips_free(chips, n > 0 ? n : 0);
	return name;
}

static int load(const char *path, struct rvt_params *params)
{
	char *error = NULL;
	int ret = rvt_params_load(params, path, &error);

	if (ret)
		cmd_error(0, "%s", error ? error : strerror(-ret));
	free(error);
	return ret;
}

/* Changes single keys. */
static int change(const char *path, struct rvt_params *params)
{
	char *text = read_text("%s", path), *error = NULL;
	int ret;

	if (!text)
		return cmd_error(-ENOENT, "%s: cannot be read; it must be a text file", path);
	ret = rvt_params_parse(params, path, text, strlen(text), &error);
	if (ret)
		cmd_error(0, "%s", error ? error : strerror(-ret));
	free(error);
	free(text);
	return ret;
}

int chips_params(const char *name, const char *path, const char *dump, struct rvt_params *params)
{
	char *chip;
	int ret;

	params->size = sizeof(*params);
	if (!name && !path)
		return cmd_error(-EINVAL, "%s: a bare dump does not say what it is: " CHIPS_HINT,
				 dump);
	if (!name)
		return load(path, params);
	chip = chips_path(name);
	if (!chip)
		return -ENOENT;
	ret = load(chip, params);
	free(chip);
	return ret || !path ? ret : change(path, params);
}
