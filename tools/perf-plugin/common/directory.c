// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "common/cmd.h"
#include "common/directory.h"

/* Makes *@file the path of @name in @path, if there is such a file. Returns 0 or -ENOMEM. */
static int find(const char *path, const char *name, char **file)
{
	if (asprintf(file, "%s/%s", path, name) < 0) {
		*file = NULL;
		return -ENOMEM;
	}
	if (access(*file, F_OK)) {
		free(*file);
		*file = NULL;
	}
	return 0;
}

/* Forgets a copy of /proc/kallsyms whose addresses are all 0: kptr_restrict hid them. */
static void drop_hidden(struct directory *directory)
{
	bool hidden = true;
	char line[64];
	struct stat st;
	FILE *in;

	/* whoever reads it says what else is wrong with it */
	if (!directory->kallsyms || stat(directory->kallsyms, &st) || !S_ISREG(st.st_mode))
		return;
	in = fopen(directory->kallsyms, "re");
	if (!in)
		return;
	while (hidden && fgets(line, sizeof(line), in))
		hidden = !strtoull(line, NULL, 16);
	fclose(in);
	if (!hidden)
		return;
	cmd_warning("%s has no addresses, so the kernel's functions have no names: it was recorded "
		    "without the right to see them (sysctl kernel.kptr_restrict)",
		    directory->kallsyms);
	free(directory->kallsyms);
	directory->kallsyms = NULL;
}

int directory_find(const char *path, struct directory *directory)
{
	char *other = NULL;
	struct stat st;
	int err;

	*directory = (struct directory){};
	if (stat(path, &st) || !S_ISDIR(st.st_mode))
		return 0;
	err = find(path, "data", &directory->data);
	if (!err)
		err = find(path, "data.0", &other);
	if (!err)
		err = find(path, "kcore_dir/kcore", &directory->kcore);
	if (!err)
		err = find(path, "kcore_dir/kallsyms", &directory->kallsyms);
	if (err)
		cmd_error(err, "out of memory");
	else if (!directory->data)
		err = cmd_error(-EINVAL, "%s: not a regular file, and no directory with the file "
				"'data', as perf record --kcore makes", path);
	else if (other)
		err = cmd_error(-EINVAL, "%s: recorded with --threads, into several files: only "
				"one file can be read", path);
	free(other);
	if (err)
		directory_free(directory);
	else
		drop_hidden(directory);
	return err;
}

void directory_free(struct directory *directory)
{
	free(directory->data);
	free(directory->kcore);
	free(directory->kallsyms);
	*directory = (struct directory){};
}
