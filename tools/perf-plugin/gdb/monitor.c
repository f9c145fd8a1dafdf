// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The debugger's `monitor` command: tells the position in the recording, and what is missing there.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "common/text.h"
#include "gdb/server.h"

#define NS 1000000000

static void tell_lines(struct server *server, char *text)
{
	char *line = text, *end;

	for (; line && *line; line = end) {
		end = strchr(line, '\n');
		if (end)
			*end++ = 0;
		server_tell(server, "%s\n", line);
	}
	free(text);
}

static void help(struct server *server, const char *text)
{
	(void)text;
	server_tell(server,
		    "monitor where          thread, instruction and time\n"
		    "monitor stack          the call stack that the trace gives\n"
		    "monitor losses         what of the recording is missing\n"
		    "monitor threads        what each thread executed\n"
		    "monitor goto POSITION  begin, end, a time in seconds (12.345), or #NUMBER of "
		    "an instruction;\n"
		    "                       gdb notices after: maintenance flush register-cache.\n"
		    "                       `set $trace_time = NANOSECONDS` and `set $trace_insn = "
		    "NUMBER` need no such help\n");
}

static void where(struct server *server, const char *text)
{
	const struct server_thread *thread = &server->threads[server->asked];
	const struct timeline_thread *of = timeline_thread(server->timeline, thread->number);
	uint64_t time = server_time(server, server->asked, thread->at);

	(void)text;
	server_tell(server, "thread %d (%s), instruction %" PRIu64 " of %" PRIu64 ", at %" PRIu64
		    ".%09" PRIu64 " s\n", of->tid, of->comm, thread->at, of->insns, time / NS,
		    time % NS);
}

static void losses(struct server *server, const char *text)
{
	char *lines = NULL;
	size_t size;
	FILE *out = open_memstream(&lines, &size);

	(void)text;
	if (!out)
		return;
	view_print_losses(server->view, out, "");
	for (size_t i = 0; i < server->n_threads; i++) {
		const struct timeline_thread *thread =
			timeline_thread(server->timeline, server->threads[i].number);

		if (thread->losses)
			fprintf(out, "thread %d (%s): %" PRIu64 " places where flow is lost\n",
				thread->tid, thread->comm, thread->losses);
	}
	if (fclose(out))
		free(lines);
	else
		tell_lines(server, lines);
}

static void threads(struct server *server, const char *text)
{
	(void)text;
	for (size_t i = 0; i < server->n_threads; i++) {
		const struct timeline_thread *thread =
			timeline_thread(server->timeline, server->threads[i].number);

		server_tell(server, "thread %d (%s): %" PRIu64 " instructions, %" PRIu64
			    ".%09" PRIu64 " to %" PRIu64 ".%09" PRIu64 " s\n", thread->tid,
			    thread->comm, thread->insns, thread->from / NS, thread->from % NS,
			    thread->to / NS, thread->to % NS);
	}
}

static void stack(struct server *server, const char *text)
{
	const struct server_thread *thread = &server->threads[server->asked];
	char *lines = NULL;
	size_t size;
	FILE *out = open_memstream(&lines, &size);

	(void)text;
	if (!out)
		return;
	target_seek(server->target, thread->number, thread->at);
	target_put_stack(server->target, out);
	if (fclose(out))
		free(lines);
	else
		tell_lines(server, lines);
}

/* Parses a position. Returns false if it is none. */
static bool find_position(struct server *server, const char *text, uint64_t *number)
{
	const struct server_thread *thread = &server->threads[server->asked];
	const char *end = text;
	double seconds;

	if (!strcmp(text, "begin"))
		return *number = 0, true;
	if (!strcmp(text, "end"))
		return *number = thread->last, true;
	if (*text == '#') {
		end++;
		return !read_number(&end, number) && !*end;
	}
	if (read_decimal(&end, &seconds) || *end || seconds * NS >= 0x1p63)
		return false;
	return !timeline_at(server->timeline, thread->number, (uint64_t)(seconds * NS + 0.5),
			    number);
}

static void go_to(struct server *server, const char *text)
{
	const struct server_thread *thread = &server->threads[server->asked];
	uint64_t number;

	if (!find_position(server, text, &number)) {
		server_tell(server, "monitor goto: '%s' is no position; give begin, end, a time in "
			    "seconds or #NUMBER\n", text);
		return;
	}
	server_go(server, server->asked, number < thread->last ? number : thread->last);
	where(server, text);
}

bool monitor_execute(struct server *server, const char *line)
{
	static const struct {
		const char *name;
		void (*run)(struct server *server, const char *text);
	} commands[] = {
		{ "help", help }, { "where", where }, { "losses", losses }, { "goto", go_to },
		{ "threads", threads }, { "stack", stack },
	};

	while (*line == ' ')
		line++;
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		size_t len = strlen(commands[i].name);

		if (strncmp(line, commands[i].name, len) || (line[len] && line[len] != ' '))
			continue;
		line += len;
		commands[i].run(server, line + strspn(line, " "));
		return true;
	}
	return false;
}
