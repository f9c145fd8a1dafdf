/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Chips by name: parameter files in share/rvtrace/chips, found relative to the program, of `make
 * install` or of the sources.
 */
#ifndef PERF_RVTRACE_CHIPS_H
#define PERF_RVTRACE_CHIPS_H

#include <stddef.h>
#include <stdio.h>
#include <rvtrace/params.h>

struct chip {
	char *name;		/* name of the file */
	char *title;		/* its first comment that is not the licence; "": none */
	char *path;
	char *compatible;	/* in the root of a devicetree, separated by spaces; "": none */
};

/* A hint for messages to users who gave no parameters. */
#define CHIPS_HINT "give --chip NAME (--chip help lists them) or --params FILE"

/*
 * Lists all chips, sorted by name, in a malloc'd array that chips_free() takes. Returns their
 * number, or -errno after a message: there is no such directory.
 */
int chips_list(struct chip **chips);
void chips_free(struct chip *chips, size_t n);
/* Prints name and title of each chip. Returns 0, or -errno after a message. */
int chips_print(FILE *out);
/* Returns the path of a chip's file, malloc'd; NULL after a message that lists all chips. */
char *chips_path(const char *name);
/*
 * Returns the name of the chip that the devicetree of @sysfs (/sys or a copy of it) names,
 * malloc'd; NULL: none of ours.
 */
char *chips_of_machine(const char *sysfs);
/*
 * chips_params - reads the parameters of the chip @name, then the file @path; either may be NULL.
 * After a chip the file changes single keys, unless it names a protocol or a dialect. Messages name
 * @dump, what the parameters are for. Returns 0, or -errno after a message.
 */
int chips_params(const char *name, const char *path, const char *dump, struct rvt_params *params);

#endif
