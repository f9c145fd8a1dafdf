/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Chips by name: parameter files in share/rvtrace/chips. They lie beside the program, where `make
 * install` or the sources have them.
 */
#ifndef PERF_RVTRACE_CHIPS_H
#define PERF_RVTRACE_CHIPS_H

#include <stddef.h>
#include <stdio.h>
#include <rvtrace/params.h>

struct chip {
	char *name;		/* of the file */
	char *title;		/* its first comment that is no licence; "": none */
	char *path;
	char *compatible;	/* in the root of a devicetree, with spaces between; "": none */
};

/* What messages say to somebody who named no parameters. */
#define CHIPS_HINT "give --chip NAME (--chip help lists them) or --params FILE"

/*
 * All chips, sorted by name, in a malloc'd array that chips_free() takes. Returns their number, or
 * -errno after a message: there is no such directory.
 */
int chips_list(struct chip **chips);
void chips_free(struct chip *chips, size_t n);
/* Prints name and title of each. Returns 0 or -errno after a message. */
int chips_print(FILE *out);
/* The file of a chip, malloc'd; NULL after a message, which lists those that there are. */
char *chips_path(const char *name);
/*
 * The name of the chip that the devicetree of @sysfs (/sys or a copy of it) names, malloc'd; NULL:
 * none of these.
 */
char *chips_of_machine(const char *sysfs);
/*
 * chips_params - parameters of the chip @name, then what the file @path says; either may be NULL.
 * Behind a chip the file changes single keys, unless it names a protocol or a dialect. @dump: what
 * they are for, in messages. Returns 0, or -errno after a message.
 */
int chips_params(const char *name, const char *path, const char *dump, struct rvt_params *params);

#endif
