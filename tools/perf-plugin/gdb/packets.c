// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "gdb/packets.h"

#define SIGNAL_TRAP 5
#define SIGNAL_INT 2

/* ---- threads ---- */

/*
 * Takes the name of a thread in a packet; 0 and -1 mean @any. Returns -1 if there is no such
 * thread.
 */
static ssize_t take_thread(struct server *server, const char **text, size_t any)
{
	uint64_t id;

	if (packet_take_word(text, "-1"))
		return any;
	if (!packet_take_hex(text, &id))
		return -1;
	if (!id)
		return any;
	for (size_t i = 0; i < server->n_threads; i++)
		if ((uint32_t)server->threads[i].id == id)
			return i;
	return -1;
}

/* ---- registers ---- */

static size_t width_of(const struct server *server, unsigned int number)
{
	if (number >= REG_FFLAGS && number <= REG_FCSR)
		return 4;
	return number >= TARGET_REGISTERS || !server->rv32 ? 8 : 4;
}

static bool get_register(struct server *server, unsigned int number, uint64_t *value)
{
	const struct server_thread *thread = &server->threads[server->asked];

	if (number < REG_TIME) {
		target_seek(server->target, thread->number, thread->at);
		return target_register(server->target, number, value);
	}
	*value = number == REG_INSN ? thread->at : server_time(server, server->asked, thread->at);
	return number < REGISTERS;
}

static void put_register(struct server *server, FILE *out, unsigned int number)
{
	size_t width = width_of(server, number);
	uint64_t value;

	if (number && !get_register(server, number, &value)) {
		for (size_t i = 0; i < width; i++)
			fputs("xx", out);
		return;
	}
	if (!number)
		value = 0;	/* is always zero */
	for (size_t i = 0; i < width; i++)
		fprintf(out, "%02x", (unsigned int)(value >> 8 * i & 0xff));
}

static int read_registers(struct server *server)
{
	FILE *out;

	/*
	 * LLDB takes "xx" for a value; if asked register by register, an error says that it is not
	 * known
	 */
	if (server->is_lldb)
		return packet_send(server, "");
	out = packet_begin(server);
	server_set_position(server, server->asked);
	for (unsigned int i = 0; out && i < REGISTERS; i++)
		put_register(server, out, i);
	return packet_end(server, out);
}

static int read_register(struct server *server, const char *text)
{
	uint64_t number, value;
	FILE *out;

	if (!packet_take_hex(&text, &number) || number >= REGISTERS)
		return packet_send(server, "E01");
	server_set_position(server, server->asked);
	if (server->is_lldb && number && !get_register(server, number, &value))
		return packet_send(server, "E01");
	out = packet_begin(server);
	if (out)
		put_register(server, out, number);
	return packet_end(server, out);
}

/* Writes a register. Only the position in the recording can be written, which moves there. */
static int write_register(struct server *server, const char *text)
{
	const struct server_thread *thread = &server->threads[server->asked];
	uint64_t number, value = 0;
	uint8_t bytes[9];

	if (!packet_take_hex(&text, &number) || !packet_take_char(&text, '=') ||
	    packet_take_bytes(&text, (char *)bytes, sizeof(bytes)) != 8 ||
	    (number != REG_TIME && number != REG_INSN))
		return packet_send(server, "E01");
	for (size_t i = 0; i < 8; i++)
		value |= (uint64_t)bytes[i] << 8 * i;
	if (number == REG_TIME && timeline_at(server->timeline, thread->number, value, &value))
		return packet_send(server, "E05");
	server_go(server, server->asked, value < thread->last ? value : thread->last);
	return packet_send(server, "OK");
}

/* ---- memory ---- */

static int read_memory(struct server *server, const char *text)
{
	uint64_t addr, len;
	uint8_t bytes[RSP_MAX / 2];
	FILE *out;

	if (!packet_take_range(&text, &addr, &len))
		return packet_send(server, "E01");
	if (len > sizeof(bytes))
		len = sizeof(bytes);
	server_set_position(server, server->asked);
	target_seek(server->target, server->threads[server->asked].number,
		    server->threads[server->asked].at);
	len = target_read(server->target, addr, bytes, len);
	if (!len)
		return packet_send(server, "E14");
	out = packet_begin(server);
	if (out)
		packet_put_hex(out, bytes, len);
	return packet_end(server, out);
}

/* Z0 and Z1 do the same. */
static int set_breakpoint(struct server *server, const char *text, bool set)
{
	uint64_t addr;

	if (*text != '0' && *text != '1')
		return packet_send(server, "");
	text++;
	if (!packet_take_char(&text, ',') || !packet_take_hex(&text, &addr))
		return packet_send(server, "E01");
	return packet_send(server, server_set_breakpoint(server, addr, set) ? "E0c" : "OK");
}

/* ---- stopping and running ---- */

/*
 * Tells LLDB a reason, as it does not know where recordings begin and end. It needs one at the
 * start, too, where it takes a trap at the program's entry for its own breakpoint, and continues.
 */
static void put_reason(const struct server *server, FILE *out)
{
	const char *text = server->stop == STOP_FIRST ? "recording" :
			   server->stop == STOP_BEGIN ? "beginning of the recording" :
			   server->stop == STOP_END ? "end of the recording" : NULL;

	if (!text)
		return;
	fputs("reason:exception;description:", out);
	packet_put_hex(out, (const uint8_t *)text, strlen(text));
	putc(';', out);
}

static int send_stop(struct server *server)
{
	const struct server_thread *thread = &server->threads[server->current];
	int signal = server->stop == STOP_SIGNAL ? thread->signal :
		     server->stop == STOP_INTERRUPT ? SIGNAL_INT : SIGNAL_TRAP;
	FILE *out = packet_begin(server);

	server->asked = server->current;
	if (!out)
		return packet_end(server, out);
	fprintf(out, "T%02x", signal);
	if (server->stop == STOP_BREAKPOINT && server->swbreak)
		fputs("swbreak:;", out);
	if (server->stop == STOP_BEGIN || server->stop == STOP_END)
		fprintf(out, "replaylog:%s;", server->stop == STOP_BEGIN ? "begin" : "end");
	if (server->is_lldb)
		put_reason(server, out);
	fprintf(out, "thread:%x;%02x:", thread->id, TARGET_PC);
	put_register(server, out, TARGET_PC);
	putc(';', out);
	return packet_end(server, out);
}

static int resume(struct server *server, const struct resumption *how)
{
	int err = server_resume(server, how);

	if (err)
		server_tell(server, "[decoding failed: %s]\n", strerror(-err));
	if (err)
		server->stop = STOP_INTERRUPT;
	return send_stop(server);
}

/* Resumes by c, s, C, S, bc, bs: the thread that Hc named. */
static int resume_one(struct server *server, bool is_step, bool back)
{
	const struct resumption how = {
		.back = back, .step = is_step, .all = !is_step && server->all,
		.thread = server->all ? server->current : server->resumed };

	return resume(server, &how);
}

/* Takes an action of vCont into *@how. Returns false if it is none. */
static bool take_action(const char **text, struct resumption *how)
{
	uint64_t signal;
	char c = **text;

	if (!c)
		return false;
	++*text;
	*how = (struct resumption){ .step = c == 's' || c == 'S' || c == 'r' };
	if (c == 'r')
		return packet_take_hex(text, &how->from) && packet_take_char(text, ',') &&
			packet_take_hex(text, &how->to);
	if (c == 'C' || c == 'S')
		return packet_take_hex(text, &signal);
	return c == 'c' || c == 's';
}

/*
 * Resumes by vCont. A thread that steps decides what happens; else all threads with a "c", or the
 * only one, run.
 */
static int resume_threads(struct server *server, const char *text)
{
	struct resumption chosen = { 0 }, how;
	bool any = false;

	while (packet_take_char(&text, ';')) {
		bool named;
		ssize_t thread = server->current;

		if (!take_action(&text, &how))
			return packet_send(server, "E01");
		named = packet_take_char(&text, ':');
		if (named)
			thread = take_thread(server, &text, server->current);
		if (thread < 0)
			return packet_send(server, "E01");
		how.thread = thread;
		how.all = !named && !how.step;
		if (!any || (how.step && !chosen.step) || (how.all && !chosen.step))
			chosen = how;
		any = true;
	}
	return any && !*text ? resume(server, &chosen) : packet_send(server, "E01");
}

/* ---- questions ---- */

/* Tells LLDB why a thread is stopped: the others are because the current one is. */
static int tell_thread(struct server *server, const char *text)
{
	ssize_t thread = take_thread(server, &text, server->current);
	char reply[32];

	if (thread < 0)
		return packet_send(server, "E01");
	if ((size_t)thread == server->current)
		return send_stop(server);
	snprintf(reply, sizeof(reply), "T00thread:%x;", server->threads[thread].id);
	return packet_send(server, reply);
}

static int list_threads(struct server *server)
{
	FILE *out = packet_begin(server);

	for (size_t i = 0; out && i < server->n_threads; i++)
		fprintf(out, "%c%x", i ? ',' : 'm', server->threads[i].id);
	return packet_end(server, out);
}

static int tell_supported(struct server *server, const char *text)
{
	char reply[512];

	server->swbreak = strstr(text, "swbreak+");
	/* gdb skips bytes that are in no packet; LLDB loses its thread */
	server->rsp.skips_bytes = strstr(text, "qRelocInsn+");
	snprintf(reply, sizeof(reply), "PacketSize=%x;QStartNoAckMode+;qXfer:features:read+;"
		 "qXfer:threads:read+;qXfer:auxv:read+;qXfer:libraries-svr4:read+;"
		 "qXfer:libraries:read+;qXfer:exec-file:read+;ReverseStep+;ReverseContinue+;"
		 "swbreak+;hwbreak+;"
		 "vContSupported+", RSP_MAX);
	return packet_send(server, reply);
}

/* Tells gdb where the program is, if it does not take it for one of Linux. */
static int tell_offsets(struct server *server)
{
	char reply[64];
	uint64_t start;

	target_seek(server->target, server->threads[server->current].number,
		    server->threads[server->current].at);
	if (!target_start(server->target, &start))
		return packet_send(server, "");
	snprintf(reply, sizeof(reply), "TextSeg=%" PRIx64, start);
	return packet_send(server, reply);
}

static int execute(struct server *server, const char *text)
{
	char line[1024];

	packet_take_bytes(&text, line, sizeof(line));
	if (!monitor_execute(server, line))
		server_tell(server, "there is no such command; see: monitor help\n");
	return packet_send(server, "OK");
}

/* Tells LLDB about the process. */
static int tell_process(struct server *server)
{
	const struct timeline_thread *thread =
		timeline_thread(server->timeline, server->threads[0].number);
	char reply[256];

	snprintf(reply, sizeof(reply), "pid:%x;triple:%s;ostype:linux;vendor:unknown;"
		 "endian:little;ptrsize:%d;", thread->pid > 0 ? thread->pid : 1,
		 server->rv32 ? "72697363763332" "2d756e6b6e6f776e2d6c696e75782d676e75" :
		 "72697363763634" "2d756e6b6e6f776e2d6c696e75782d676e75", server->rv32 ? 4 : 8);
	return packet_send(server, reply);
}

static int tell_host(struct server *server)
{
	return packet_send(server, server->rv32 ?
			 "triple:726973637633322d756e6b6e6f776e2d6c696e75782d676e75;endian:little;"
			 "ptrsize:4;" :
			 "triple:726973637636342d756e6b6e6f776e2d6c696e75782d676e75;endian:little;"
			 "ptrsize:8;");
}

static int take_query(struct server *server, const char *text)
{
	char reply[32];

	if (packet_take_word(&text, "qXfer:"))
		return packet_document(server, text);
	if (packet_take_word(&text, "qfThreadInfo"))
		return list_threads(server);
	if (packet_take_word(&text, "qsThreadInfo"))
		return packet_send(server, "l");
	if (packet_take_word(&text, "qThreadStopInfo"))
		return tell_thread(server, text);
	if (packet_take_word(&text, "qOffsets"))
		return tell_offsets(server);
	if (packet_take_word(&text, "qRcmd,"))
		return execute(server, text);
	if (packet_take_word(&text, "qAttached"))
		return packet_send(server, "1");
	if (packet_take_word(&text, "qHostInfo"))
		return tell_host(server);
	if (packet_take_word(&text, "qProcessInfo") && !*text)
		return tell_process(server);
	if (!strcmp(text, "qC")) {
		snprintf(reply, sizeof(reply), "QC%x", server->threads[server->current].id);
		return packet_send(server, reply);
	}
	return packet_send(server, "");
}

/* H: chooses the thread that the next packets are about. */
static int choose_thread(struct server *server, const char *text)
{
	bool runs = *text == 'c', all;
	ssize_t thread;

	if (*text != 'c' && *text != 'g')
		return packet_send(server, "E01");
	text++;
	all = !strcmp(text, "0") || !strcmp(text, "-1");
	thread = take_thread(server, &text, server->current);
	if (thread < 0)
		return packet_send(server, "E01");
	if (runs) {
		server->all = all;
		server->resumed = thread;
	} else {
		server->asked = thread;
	}
	return packet_send(server, "OK");
}

static int is_alive(struct server *server, const char *text)
{
	return packet_send(server, take_thread(server, &text, 0) < 0 ? "E01" : "OK");
}

static int take_v(struct server *server, const char *text)
{
	if (!strcmp(text, "vCont?"))
		return packet_send(server, "vCont;c;C;s;S;r");
	if (packet_take_word(&text, "vCont"))
		return resume_threads(server, text);
	if (packet_take_word(&text, "vFile:"))
		return packet_file(server, text);
	if (packet_take_word(&text, "vKill"))
		server->done = true;
	return packet_send(server, server->done ? "OK" : "");
}

/* Answers packets that need no program. Returns false if the packet needs it. */
static bool take_greeting(struct server *server, const char *text, int *err)
{
	if (packet_take_word(&text, "qSupported")) {
		*err = tell_supported(server, text);
	} else if (!strcmp(text, "QStartNoAckMode")) {
		*err = packet_send(server, "OK");
		server->rsp.no_ack = true;
	} else if (!strcmp(text, "QThreadSuffixSupported")) {
		server->is_lldb = true;
		*err = packet_send(server, "");
	} else if (!strcmp(text, "vMustReplyEmpty") || !*text) {
		*err = packet_send(server, "");
	} else {
		return false;
	}
	return true;
}

static int take_packet(struct server *server, const char *data, size_t len)
{
	const char *text = data + 1;
	int err = 0;

	if (strlen(data) != len && *data != 'v')
		return packet_send(server, "E01");
	if (take_greeting(server, data, &err))
		return err;
	if (server->open)
		err = server->open(server);
	server->open = NULL;
	if (err)
		return err;
	switch (*data) {
	case '?': return send_stop(server);
	case 'H': return choose_thread(server, text);
	case 'T': return is_alive(server, text);
	case 'g': return read_registers(server);
	case 'p': return read_register(server, text);
	case 'P': return write_register(server, text);
	case 'm': return read_memory(server, text);
	case 'Z': return set_breakpoint(server, text, true);
	case 'z': return set_breakpoint(server, text, false);
	case 'c':
	case 'C': return resume_one(server, false, false);
	case 's':
	case 'S': return resume_one(server, true, false);
	case 'b':
		if (*text == 'c' || *text == 's')
			return resume_one(server, *text == 's', true);
		return packet_send(server, "");
	case 'v': return take_v(server, data);
	case 'q':
	case 'Q': return take_query(server, data);
	case 'D':
		server->done = true;
		return packet_send(server, "OK");
	case 'k':
		server->done = true;
		return 0;
	/* a recording cannot be changed */
	case 'G': case 'M': case 'X': return packet_send(server, "E01");
	default: return packet_send(server, "");
	}
}

int packets_serve(struct server *server)
{
	int err = 0;

	while (!err && !server->done) {
		switch (rsp_read(&server->rsp)) {
		case RSP_PACKET:
			err = take_packet(server, server->rsp.reader.data, server->rsp.reader.len);
			break;
		case RSP_TOO_LONG:
			err = rsp_send(&server->rsp, "E22", 3);
			break;
		case RSP_END:
			return 0;
		default:
			break;
		}
	}
	return err;
}
