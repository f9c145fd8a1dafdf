// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "gdb/server.h"

#define SIGNAL_TRAP 5
#define SIGNAL_INT 2
/* File errors of the protocol (not of this system). */
#define FILE_ENOENT 2
#define FILE_EBADF 9
#define FILE_EINVAL 22
#define FILE_ENOSYS 88
#define FILE_EMFILE 24
#define FILE_CREATES 0x601	/* write-only, read-write, or anything that changes the file */
#define STAT_BYTES 64

/*
 * Behind those of target.h: floating point, without which gdb does not take the programs of most
 * systems; none of it is known. Then, where in the recording it is.
 */
enum { REG_F0 = TARGET_REGISTERS, REG_FFLAGS = REG_F0 + 32, REG_FRM, REG_FCSR, REG_TIME, REG_INSN,
       REGISTERS };

/* ---- replies ---- */

static int send_text(struct server *server, const char *text)
{
	return rsp_send(&server->rsp, text, strlen(text));
}

static FILE *begin_reply(struct server *server)
{
	free(server->reply);
	server->reply = NULL;
	server->len = 0;
	return open_memstream(&server->reply, &server->len);
}

static int end_reply(struct server *server, FILE *out)
{
	if (!out || fclose(out))
		return send_text(server, "E0c");
	return rsp_send(&server->rsp, server->reply, server->len);
}

static void put_hex(FILE *out, const uint8_t *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		fprintf(out, "%02x", bytes[i]);
}

/* ---- reading what the debugger says ---- */

/* A hexadecimal number; *@text moves behind it. False: there is none. */
static bool take_hex(const char **text, uint64_t *value)
{
	char *end;

	if (!strchr("0123456789abcdefABCDEF", **text) || !**text)
		return false;
	*value = strtoull(*text, &end, 16);
	*text = end;
	return true;
}

static bool take_char(const char **text, char c)
{
	if (**text != c)
		return false;
	++*text;
	return true;
}

/* "word" at the beginning; *@text moves behind it. */
static bool take_word(const char **text, const char *word)
{
	size_t len = strlen(word);

	if (strncmp(*text, word, len))
		return false;
	*text += len;
	return true;
}

static bool take_range(const char **text, uint64_t *from, uint64_t *len)
{
	return take_hex(text, from) && take_char(text, ',') && take_hex(text, len);
}

/* The bytes of hexadecimal text up to its end or a character that is none; zero-terminated. */
static size_t take_bytes(const char **text, char *bytes, size_t room)
{
	size_t n = 0;

	while (n + 1 < room) {
		char pair[3] = { (*text)[0], (*text)[0] ? (*text)[1] : 0, 0 }, *end;
		unsigned long byte = strtoul(pair, &end, 16);

		if (!pair[1] || *end)
			break;
		bytes[n++] = byte;
		*text += 2;
	}
	bytes[n] = 0;
	return n;
}

/* A thread as packets name it. -1: there is none; 0 and -1 in the packet are @any. */
static ssize_t take_thread(struct server *server, const char **text, size_t any)
{
	uint64_t id;

	if (take_word(text, "-1"))
		return any;
	if (!take_hex(text, &id))
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
		value = 0;	/* it is always that */
	for (size_t i = 0; i < width; i++)
		fprintf(out, "%02x", (unsigned int)(value >> 8 * i & 0xff));
}

static int read_registers(struct server *server)
{
	FILE *out;

	/* it takes "xx" for a value: one by one an error says that there is none */
	if (server->is_lldb)
		return send_text(server, "");
	out = begin_reply(server);
	server_place(server, server->asked);
	for (unsigned int i = 0; out && i < REGISTERS; i++)
		put_register(server, out, i);
	return end_reply(server, out);
}

static int read_register(struct server *server, const char *text)
{
	uint64_t number, value;
	FILE *out;

	if (!take_hex(&text, &number) || number >= REGISTERS)
		return send_text(server, "E01");
	server_place(server, server->asked);
	if (server->is_lldb && number && !get_register(server, number, &value))
		return send_text(server, "E01");
	out = begin_reply(server);
	if (out)
		put_register(server, out, number);
	return end_reply(server, out);
}

/* Only the place in the recording can be set: that goes there. */
static int write_register(struct server *server, const char *text)
{
	const struct server_thread *thread = &server->threads[server->asked];
	uint64_t number, value = 0;
	uint8_t bytes[9];

	if (!take_hex(&text, &number) || !take_char(&text, '=') ||
	    take_bytes(&text, (char *)bytes, sizeof(bytes)) != 8 ||
	    (number != REG_TIME && number != REG_INSN))
		return send_text(server, "E01");
	for (size_t i = 0; i < 8; i++)
		value |= (uint64_t)bytes[i] << 8 * i;
	if (number == REG_TIME && timeline_at(server->timeline, thread->number, value, &value))
		return send_text(server, "E05");
	server_go(server, server->asked, value < thread->last ? value : thread->last);
	return send_text(server, "OK");
}

/* ---- memory ---- */

static int read_memory(struct server *server, const char *text)
{
	uint64_t addr, len;
	uint8_t bytes[RSP_MAX / 2];
	FILE *out;

	if (!take_range(&text, &addr, &len))
		return send_text(server, "E01");
	if (len > sizeof(bytes))
		len = sizeof(bytes);
	server_place(server, server->asked);
	target_seek(server->target, server->threads[server->asked].number,
		    server->threads[server->asked].at);
	len = target_read(server->target, addr, bytes, len);
	if (!len)
		return send_text(server, "E14");
	out = begin_reply(server);
	if (out)
		put_hex(out, bytes, len);
	return end_reply(server, out);
}

/* Z0, Z1: they are the same. */
static int set_breakpoint(struct server *server, const char *text, bool set)
{
	uint64_t addr;

	if (*text != '0' && *text != '1')
		return send_text(server, "");
	text++;
	if (!take_char(&text, ',') || !take_hex(&text, &addr))
		return send_text(server, "E01");
	return send_text(server, server_set_breakpoint(server, addr, set) ? "E0c" : "OK");
}

/* ---- stopping and going ---- */

/*
 * For LLDB, which does not know where recordings begin and end. At first, too: it takes any trap at
 * the program's entry for its own breakpoint there, and runs on.
 */
static void put_reason(const struct server *server, FILE *out)
{
	const char *text = server->stop == STOP_FIRST ? "recording" :
			   server->stop == STOP_BEGIN ? "beginning of the recording" :
			   server->stop == STOP_END ? "end of the recording" : NULL;

	if (!text)
		return;
	fputs("reason:exception;description:", out);
	put_hex(out, (const uint8_t *)text, strlen(text));
	putc(';', out);
}

static int send_stop(struct server *server)
{
	const struct server_thread *thread = &server->threads[server->current];
	int signal = server->stop == STOP_SIGNAL ? thread->signal :
		     server->stop == STOP_INTERRUPT ? SIGNAL_INT : SIGNAL_TRAP;
	FILE *out = begin_reply(server);

	server->asked = server->current;
	if (!out)
		return end_reply(server, out);
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
	return end_reply(server, out);
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

/* c, s, C, S, bc, bs: of the thread that Hc named. */
static int resume_one(struct server *server, bool is_step, bool back)
{
	const struct resumption how = {
		.back = back, .step = is_step, .all = !is_step && server->all,
		.thread = server->all ? server->current : server->resumed };

	return resume(server, &how);
}

/* An action of vCont: *@how is what it says; false: it is none. */
static bool take_action(const char **text, struct resumption *how)
{
	uint64_t signal;
	char c = **text;

	if (!c)
		return false;
	++*text;
	*how = (struct resumption){ .step = c == 's' || c == 'S' || c == 'r' };
	if (c == 'r')
		return take_hex(text, &how->from) && take_char(text, ',') &&
			take_hex(text, &how->to);
	if (c == 'C' || c == 'S')
		return take_hex(text, &signal);
	return c == 'c' || c == 's';
}

/*
 * vCont: a thread that steps decides what happens; without one all threads with a "c", or the only
 * one, run.
 */
static int resume_threads(struct server *server, const char *text)
{
	struct resumption chosen = { 0 }, how;
	bool any = false;

	while (take_char(&text, ';')) {
		bool named;
		ssize_t thread = server->current;

		if (!take_action(&text, &how))
			return send_text(server, "E01");
		named = take_char(&text, ':');
		if (named)
			thread = take_thread(server, &text, server->current);
		if (thread < 0)
			return send_text(server, "E01");
		how.thread = thread;
		how.all = !named && !how.step;
		if (!any || (how.step && !chosen.step) || (how.all && !chosen.step))
			chosen = how;
		any = true;
	}
	return any && !*text ? resume(server, &chosen) : send_text(server, "E01");
}

/* ---- documents (qXfer) ---- */

static void put_float_registers(FILE *out)
{
	static const char *const status[] = { "fflags", "frm", "fcsr" };

	fputs("</feature><feature name=\"org.gnu.gdb.riscv.fpu\">", out);
	for (unsigned int i = 0; i < 32; i++)
		fprintf(out, "<reg name=\"f%u\" bitsize=\"64\" type=\"ieee_double\" "
			"regnum=\"%u\"/>", i, REG_F0 + i);
	for (unsigned int i = 0; i < 3; i++)
		fprintf(out, "<reg name=\"%s\" bitsize=\"32\" type=\"int\" regnum=\"%u\"/>",
			status[i], REG_FFLAGS + i);
	fputs("</feature>", out);
}

static void put_target(struct server *server, FILE *out)
{
	static const char *const names[] = {
		"zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "fp", "s1",
		"a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7",
		"s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11",
		"t3", "t4", "t5", "t6", "pc" };
	unsigned int bits = server->rv32 ? 32 : 64;

	fprintf(out, "<?xml version=\"1.0\"?><!DOCTYPE target SYSTEM \"gdb-target.dtd\">"
		"<target version=\"1.0\"><architecture>riscv:rv%u</architecture>"
		"<osabi>GNU/Linux</osabi><feature name=\"org.gnu.gdb.riscv.cpu\">", bits);
	for (unsigned int i = 0; i < TARGET_REGISTERS; i++) {
		const char *type = i == TARGET_PC || i == TARGET_RA ? "code_ptr" :
			i == TARGET_SP || i == TARGET_FP ? "data_ptr" : "int";
		/* LLDB has a number for pc that DWARF has not, and unwinds with it */
		const char *generic = i == TARGET_PC ? " generic=\"pc\" dwarf_regnum=\"11451\"" :
			i == TARGET_SP ? " generic=\"sp\"" : i == TARGET_FP ? " generic=\"fp\"" :
			i == TARGET_RA ? " generic=\"ra\"" : "";

		fprintf(out, "<reg name=\"%s\" bitsize=\"%u\" type=\"%s\" regnum=\"%u\"%s/>",
			names[i], bits, type, i, generic);
	}
	put_float_registers(out);
	fprintf(out, "<feature name=\"org.rvtrace.recording\">"
		"<reg name=\"trace_time\" bitsize=\"64\" type=\"uint64\" regnum=\"%u\" "
		"group=\"trace\" save-restore=\"no\"/>"
		"<reg name=\"trace_insn\" bitsize=\"64\" type=\"uint64\" regnum=\"%u\" "
		"group=\"trace\" save-restore=\"no\"/></feature></target>", REG_TIME, REG_INSN);
}

static void put_name(FILE *out, const char *name)
{
	for (; *name; name++)
		if (*name == '&' || *name == '<' || *name == '>' || *name == '"' ||
		    (unsigned char)*name < ' ' || (unsigned char)*name > '~')
			putc('?', out);
		else
			putc(*name, out);
}

static void put_threads(struct server *server, FILE *out)
{
	fputs("<?xml version=\"1.0\"?><threads>", out);
	for (size_t i = 0; i < server->n_threads; i++) {
		const struct timeline_thread *thread =
			timeline_thread(server->timeline, server->threads[i].number);

		fprintf(out, "<thread id=\"%x\" name=\"", server->threads[i].id);
		put_name(out, thread->comm);
		fprintf(out, "\">%" PRIu64 " instructions", thread->insns);
		if (thread->losses)
			fprintf(out, ", %" PRIu64 " losses", thread->losses);
		fputs("</thread>", out);
	}
	fputs("</threads>", out);
}

/*
 * gdb asks for these when it takes the program for one of Linux. Then it does not let the stub
 * step, but sets breakpoints where it expects the next instruction (its
 * riscv_software_single_step()).
 */
static void put_linux_libraries(struct server *server, FILE *out)
{
	server->guesses = !server->is_lldb;
	target_put_libraries(server->target, true, out);
}

static bool put_document(struct server *server, const char **text, FILE *out)
{
	if (take_word(text, "features:read:target.xml"))
		put_target(server, out);
	else if (take_word(text, "threads:read:"))
		put_threads(server, out);
	else if (take_word(text, "auxv:read:"))
		target_put_auxv(server->target, out);
	else if (take_word(text, "libraries-svr4:read:"))
		put_linux_libraries(server, out);
	else if (take_word(text, "libraries:read:"))
		target_put_libraries(server->target, false, out);
	else if (take_word(text, "exec-file:read:"))
		target_put_program(server->target, out);
	else
		return false;
	/* the annex may name a process: there is one */
	while (**text && **text != ':')
		++*text;
	return true;
}

/* A document in pieces; it is made again for each, and is the same until the program moves. */
static int send_document(struct server *server, const char *text)
{
	uint64_t offset, len;
	char *document = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&document, &size);
	bool known, more;
	int err;

	if (!out)
		return send_text(server, "E0c");
	target_seek(server->target, server->threads[server->current].number,
		    server->threads[server->current].at);
	known = put_document(server, &text, out);
	if (fclose(out) || !known || !take_char(&text, ':') || !take_range(&text, &offset, &len)) {
		free(document);
		return send_text(server, known ? "E01" : "");
	}
	if (offset > size)
		offset = size;
	if (len > RSP_MAX - 1)
		len = RSP_MAX - 1;
	more = len < size - offset;
	if (!more)
		len = size - offset;
	out = begin_reply(server);
	if (out) {
		putc(more ? 'm' : 'l', out);
		fwrite(document + offset, 1, len, out);
	}
	err = end_reply(server, out);
	free(document);
	return err;
}

/* ---- files (vFile) ---- */

static int file_error(struct server *server, int error)
{
	char text[16];

	snprintf(text, sizeof(text), "F-1,%x", error);
	return send_text(server, text);
}

static int file_open(struct server *server, const char *text)
{
	char name[4096];
	uint64_t flags;
	const char *path;

	if (!take_bytes(&text, name, sizeof(name)) || !take_char(&text, ',') ||
	    !take_hex(&text, &flags) || flags & FILE_CREATES)
		return file_error(server, FILE_EINVAL);
	/* nothing but what the program had mapped: the debugger may be anybody's */
	path = target_file(server->target, name);
	if (!path)
		return file_error(server, FILE_ENOENT);
	for (size_t fd = 0; fd < SERVER_FILES; fd++) {
		char reply[16];

		if (server->opened[fd])
			continue;
		server->opened[fd] = strdup(path);
		snprintf(reply, sizeof(reply), "F%zx", fd);
		return send_text(server, reply);
	}
	return file_error(server, FILE_EMFILE);
}

/* What the descriptor at *@text, which moves on, is; NULL: nothing. */
static char **take_file_number(struct server *server, const char **text)
{
	uint64_t fd;

	if (!take_hex(text, &fd) || fd >= SERVER_FILES || !server->opened[fd])
		return NULL;
	return &server->opened[fd];
}

static int file_pread(struct server *server, const char *text)
{
	char **path = take_file_number(server, &text);
	uint64_t count, offset;
	uint8_t bytes[RSP_MAX / 2];
	FILE *in, *out;
	size_t n;

	if (!path || !take_char(&text, ',') || !take_range(&text, &count, &offset) ||
	    offset > INT64_MAX)
		return file_error(server, FILE_EBADF);
	in = fopen(*path, "re");
	if (!in)
		return file_error(server, FILE_ENOENT);
	n = fseeko(in, offset, SEEK_SET) ? 0 :
		fread(bytes, 1, count < sizeof(bytes) ? count : sizeof(bytes), in);
	fclose(in);
	out = begin_reply(server);
	if (out) {
		fprintf(out, "F%zx;", n);
		fwrite(bytes, 1, n, out);
	}
	return end_reply(server, out);
}

static void put_big_endian(FILE *out, uint64_t value, size_t width)
{
	while (width--)
		putc(value >> 8 * width & 0xff, out);
}

/* struct stat of the protocol: what debuggers look at is the size. */
static int file_stat(struct server *server, const char *text)
{
	char **path = take_file_number(server, &text);
	struct stat st;
	FILE *out;

	if (!path || stat(*path, &st))
		return file_error(server, FILE_EBADF);
	out = begin_reply(server);
	if (out) {
		fprintf(out, "F%x;", STAT_BYTES);
		put_big_endian(out, 0, 4);
		put_big_endian(out, 0, 4);
		put_big_endian(out, 0100444, 4);
		put_big_endian(out, 1, 4);
		for (int i = 0; i < 3; i++)
			put_big_endian(out, 0, 4);
		put_big_endian(out, st.st_size, 8);
		put_big_endian(out, 4096, 8);
		put_big_endian(out, (st.st_size + 511) / 512, 8);
		for (int i = 0; i < 3; i++)
			put_big_endian(out, st.st_mtime, 4);
	}
	return end_reply(server, out);
}

static int file_close(struct server *server, const char *text)
{
	char **path = take_file_number(server, &text);

	if (!path)
		return file_error(server, FILE_EBADF);
	free(*path);
	*path = NULL;
	return send_text(server, "F0");
}

static int take_file(struct server *server, const char *text)
{
	target_seek(server->target, server->threads[server->current].number,
		    server->threads[server->current].at);
	if (take_word(&text, "setfs:"))
		return send_text(server, "F0");
	if (take_word(&text, "open:"))
		return file_open(server, text);
	if (take_word(&text, "pread:"))
		return file_pread(server, text);
	if (take_word(&text, "fstat:"))
		return file_stat(server, text);
	if (take_word(&text, "close:"))
		return file_close(server, text);
	return send_text(server, "");
}

/* ---- questions ---- */

/* For LLDB: why a thread is stopped; all but one because that one is. */
static int tell_thread(struct server *server, const char *text)
{
	ssize_t thread = take_thread(server, &text, server->current);
	char reply[32];

	if (thread < 0)
		return send_text(server, "E01");
	if ((size_t)thread == server->current)
		return send_stop(server);
	snprintf(reply, sizeof(reply), "T00thread:%x;", server->threads[thread].id);
	return send_text(server, reply);
}

static int list_threads(struct server *server)
{
	FILE *out = begin_reply(server);

	for (size_t i = 0; out && i < server->n_threads; i++)
		fprintf(out, "%c%x", i ? ',' : 'm', server->threads[i].id);
	return end_reply(server, out);
}

static int tell_supported(struct server *server, const char *text)
{
	char reply[512];

	server->swbreak = strstr(text, "swbreak+");
	/* gdb skips what is in no packet; LLDB loses its thread over it */
	server->rsp.skips_bytes = strstr(text, "qRelocInsn+");
	snprintf(reply, sizeof(reply), "PacketSize=%x;QStartNoAckMode+;qXfer:features:read+;"
		 "qXfer:threads:read+;qXfer:auxv:read+;qXfer:libraries-svr4:read+;"
		 "qXfer:libraries:read+;qXfer:exec-file:read+;ReverseStep+;ReverseContinue+;"
		 "swbreak+;hwbreak+;"
		 "vContSupported+", RSP_MAX);
	return send_text(server, reply);
}

/* Where the program is, for a gdb that does not take it for one of Linux. */
static int tell_offsets(struct server *server)
{
	char reply[64];
	uint64_t start;

	target_seek(server->target, server->threads[server->current].number,
		    server->threads[server->current].at);
	if (!target_start(server->target, &start))
		return send_text(server, "");
	snprintf(reply, sizeof(reply), "TextSeg=%" PRIx64, start);
	return send_text(server, reply);
}

static int execute(struct server *server, const char *text)
{
	char line[1024];

	take_bytes(&text, line, sizeof(line));
	if (!monitor_execute(server, line))
		server_tell(server, "there is no such command; see: monitor help\n");
	return send_text(server, "OK");
}

/* For LLDB. */
static int tell_process(struct server *server)
{
	const struct timeline_thread *thread =
		timeline_thread(server->timeline, server->threads[0].number);
	char reply[256];

	snprintf(reply, sizeof(reply), "pid:%x;triple:%s;ostype:linux;vendor:unknown;"
		 "endian:little;ptrsize:%d;", thread->pid > 0 ? thread->pid : 1,
		 server->rv32 ? "72697363763332" "2d756e6b6e6f776e2d6c696e75782d676e75" :
		 "72697363763634" "2d756e6b6e6f776e2d6c696e75782d676e75", server->rv32 ? 4 : 8);
	return send_text(server, reply);
}

static int tell_host(struct server *server)
{
	return send_text(server, server->rv32 ?
			 "triple:726973637633322d756e6b6e6f776e2d6c696e75782d676e75;endian:little;"
			 "ptrsize:4;" :
			 "triple:726973637636342d756e6b6e6f776e2d6c696e75782d676e75;endian:little;"
			 "ptrsize:8;");
}

static int take_query(struct server *server, const char *text)
{
	char reply[32];

	if (take_word(&text, "qXfer:"))
		return send_document(server, text);
	if (take_word(&text, "qfThreadInfo"))
		return list_threads(server);
	if (take_word(&text, "qsThreadInfo"))
		return send_text(server, "l");
	if (take_word(&text, "qThreadStopInfo"))
		return tell_thread(server, text);
	if (take_word(&text, "qOffsets"))
		return tell_offsets(server);
	if (take_word(&text, "qRcmd,"))
		return execute(server, text);
	if (take_word(&text, "qAttached"))
		return send_text(server, "1");
	if (take_word(&text, "qHostInfo"))
		return tell_host(server);
	if (take_word(&text, "qProcessInfo") && !*text)
		return tell_process(server);
	if (!strcmp(text, "qC")) {
		snprintf(reply, sizeof(reply), "QC%x", server->threads[server->current].id);
		return send_text(server, reply);
	}
	return send_text(server, "");
}

/* H: whom what follows is about. */
static int choose_thread(struct server *server, const char *text)
{
	bool runs = *text == 'c', all;
	ssize_t thread;

	if (*text != 'c' && *text != 'g')
		return send_text(server, "E01");
	text++;
	all = !strcmp(text, "0") || !strcmp(text, "-1");
	thread = take_thread(server, &text, server->current);
	if (thread < 0)
		return send_text(server, "E01");
	if (runs) {
		server->all = all;
		server->resumed = thread;
	} else {
		server->asked = thread;
	}
	return send_text(server, "OK");
}

static int is_alive(struct server *server, const char *text)
{
	return send_text(server, take_thread(server, &text, 0) < 0 ? "E01" : "OK");
}

static int take_v(struct server *server, const char *text)
{
	if (!strcmp(text, "vCont?"))
		return send_text(server, "vCont;c;C;s;S;r");
	if (take_word(&text, "vCont"))
		return resume_threads(server, text);
	if (take_word(&text, "vFile:"))
		return take_file(server, text);
	if (take_word(&text, "vKill"))
		server->done = true;
	return send_text(server, server->done ? "OK" : "");
}

/* What needs no program. False: it is about the program. */
static bool take_greeting(struct server *server, const char *text, int *err)
{
	if (take_word(&text, "qSupported")) {
		*err = tell_supported(server, text);
	} else if (!strcmp(text, "QStartNoAckMode")) {
		*err = send_text(server, "OK");
		server->rsp.no_ack = true;
	} else if (!strcmp(text, "QThreadSuffixSupported")) {
		server->is_lldb = true;
		*err = send_text(server, "");
	} else if (!strcmp(text, "vMustReplyEmpty") || !*text) {
		*err = send_text(server, "");
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
		return send_text(server, "E01");
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
		return send_text(server, "");
	case 'v': return take_v(server, data);
	case 'q':
	case 'Q': return take_query(server, data);
	case 'D':
		server->done = true;
		return send_text(server, "OK");
	case 'k':
		server->done = true;
		return 0;
	/* the recording is as it is: nothing can be changed in it */
	case 'G': case 'M': case 'X': return send_text(server, "E01");
	default: return send_text(server, "");
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
