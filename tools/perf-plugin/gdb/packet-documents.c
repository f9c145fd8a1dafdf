// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Answers qXfer: the target's description, threads, libraries. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "gdb/packets.h"

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
		"zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2",
		"fp", "s1", "a0", "a1", "a2", "a3", "a4", "a5",
		"a6", "a7", "s2", "s3", "s4", "s5", "s6", "s7",
		"s8", "s9", "s10", "s11",
		"t3", "t4", "t5", "t6", "pc" };
	unsigned int bits = server->rv32 ? 32 : 64;

	fprintf(out, "<?xml version=\"1.0\"?><!DOCTYPE target SYSTEM \"gdb-target.dtd\">"
		"<target version=\"1.0\"><architecture>riscv:rv%u</architecture>"
		"<osabi>%s</osabi><feature name=\"org.gnu.gdb.riscv.cpu\">", bits,
		server->is_lldb ? "GNU/Linux" : "none");
	for (unsigned int i = 0; i < TARGET_REGISTERS; i++) {
		const char *type = i == TARGET_PC || i == TARGET_RA ? "code_ptr" :
			i == TARGET_SP || i == TARGET_FP ? "data_ptr" : "int";
		/* LLDB gives pc a number that DWARF does not have, and unwinds by it */
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
 * Writes libraries, and notes that gdb guesses. gdb asks for these if it takes the program for one
 * of Linux, because a file of its own says so (those that it gets here do not). Then it does not
 * let the stub step, but sets breakpoints where it expects the next instruction (its
 * riscv_software_single_step()).
 */
static void put_linux_libraries(struct server *server, FILE *out)
{
	server->guesses = !server->is_lldb;
	target_put_libraries(server->target, true, out);
}

static bool put_document(struct server *server, const char **text, FILE *out)
{
	if (packet_take_word(text, "features:read:target.xml"))
		put_target(server, out);
	else if (packet_take_word(text, "threads:read:"))
		put_threads(server, out);
	else if (packet_take_word(text, "auxv:read:"))
		target_put_auxv(server->target, out);
	else if (packet_take_word(text, "libraries-svr4:read:"))
		put_linux_libraries(server, out);
	else if (packet_take_word(text, "libraries:read:"))
		target_put_libraries(server->target, false, out);
	else if (packet_take_word(text, "exec-file:read:"))
		target_put_program(server->target, out);
	else
		return false;
	/* the annex may name a process, but there is only one */
	while (**text && **text != ':')
		++*text;
	return true;
}

/*
 * Sends a piece of a document. The document is made anew for each piece, but only changes when the
 * program moves.
 */
int packet_document(struct server *server, const char *text)
{
	uint64_t offset, len;
	char *document = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&document, &size);
	bool known, more;
	int err;

	if (!out)
		return packet_send(server, "E0c");
	target_seek(server->target, server->threads[server->current].number,
		    server->threads[server->current].at);
	known = put_document(server, &text, out);
	if (fclose(out) || !known || !packet_take_char(&text, ':') ||
	    !packet_take_range(&text, &offset, &len)) {
		free(document);
		return packet_send(server, known ? "E01" : "");
	}
	if (offset > size)
		offset = size;
	if (len > RSP_MAX - 1)
		len = RSP_MAX - 1;
	more = len < size - offset;
	if (!more)
		len = size - offset;
	out = packet_begin(server);
	if (out) {
		putc(more ? 'm' : 'l', out);
		fwrite(document + offset, 1, len, out);
	}
	err = packet_end(server, out);
	free(document);
	return err;
}
