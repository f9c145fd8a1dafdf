// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Prints what `perf rvtrace doctor` found, as text or as JSON. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include "common/json.h"
#include "common/text.h"
#include "record/doctor.h"

bool doctor_json;
static unsigned int counts[VERDICTS];

void doctor_tell(enum verdict verdict, const char *name, const char *next, const char *format, ...)
{
	static const char *const words[] = { "good", "note", "bad" };
	char *text = NULL;
	va_list args;
	int ret;

	va_start(args, format);
	ret = vasprintf(&text, format, args);
	va_end(args);
	counts[verdict]++;
	if (ret < 0)
		return;
	if (doctor_json) {
		struct json object = json_begin(stdout, "check");

		json_text(&object, "verdict", words[verdict]);
		json_text(&object, "name", name);
		json_text(&object, "text", text);
		if (next)
			json_text(&object, "next", next);
		json_end(&object);
	} else {
		printf("%-4s  %-12s  ", words[verdict], name);
		put_visible(stdout, text);
		putchar('\n');
		if (next)
			printf("%20s%s\n", "", next);
	}
	/* the next check may hang */
	fflush(stdout);
	free(text);
}

int doctor_conclude(void)
{
	if (doctor_json) {
		struct json object = json_begin(stdout, "verdict");

		json_flag(&object, "works", !counts[VERDICT_BAD]);
		json_number(&object, "good", counts[VERDICT_GOOD]);
		json_number(&object, "note", counts[VERDICT_NOTE]);
		json_number(&object, "bad", counts[VERDICT_BAD]);
		json_end(&object);
	} else if (counts[VERDICT_BAD]) {
		printf("\n%u of %u checks are bad: begin with the first of them\n",
		       counts[VERDICT_BAD],
		       counts[VERDICT_GOOD] + counts[VERDICT_NOTE] + counts[VERDICT_BAD]);
	} else {
		printf("\nnothing is wrong that could be seen\n");
	}
	return counts[VERDICT_BAD] > 0;
}
