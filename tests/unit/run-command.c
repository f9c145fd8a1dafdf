// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <cmocka.h>
#include "run-command.h"

char *run_command(const char *format, ...)
{
	char *command, *text = NULL;
	size_t len = 0;
	FILE *pipe, *sum = open_memstream(&text, &len);
	va_list args;
	int c, status;

	va_start(args, format);
	assert_true(vasprintf(&command, format, args) > 0);
	va_end(args);
	pipe = popen(command, "r");
	assert_non_null(pipe);
	while ((c = getc(pipe)) != EOF)
		putc(c, sum);
	status = pclose(pipe);
	assert_true(WIFEXITED(status));
	fprintf(sum, "status %d\n", WEXITSTATUS(status));
	fclose(sum);
	free(command);
	return text;
}
