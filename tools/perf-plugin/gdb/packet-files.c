// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Answers vFile: serves the program's files to a debugger that has none of them. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "gdb/packets.h"

/* File errors of the protocol (with its own numbers). */
#define FILE_ENOENT 2
#define FILE_EBADF 9
#define FILE_EINVAL 22
#define FILE_EMFILE 24
#define FILE_CREATES 0x601	/* write-only, read-write, or anything that changes the file */
#define STAT_BYTES 64

static int file_error(struct server *server, int error)
{
	char text[16];

	snprintf(text, sizeof(text), "F-1,%x", error);
	return packet_send(server, text);
}

static int file_open(struct server *server, const char *text)
{
	char name[4096];
	uint64_t flags;
	const char *path;

	if (!packet_take_bytes(&text, name, sizeof(name)) || !packet_take_char(&text, ',') ||
	    !packet_take_hex(&text, &flags) || flags & FILE_CREATES)
		return file_error(server, FILE_EINVAL);
	/* serves only files that the program had mapped, as anybody may have connected */
	path = target_file(server->target, name);
	if (!path)
		return file_error(server, FILE_ENOENT);
	for (size_t fd = 0; fd < SERVER_FILES; fd++) {
		char reply[16];

		if (server->opened[fd])
			continue;
		server->opened[fd] = strdup(path);
		snprintf(reply, sizeof(reply), "F%zx", fd);
		return packet_send(server, reply);
	}
	return file_error(server, FILE_EMFILE);
}

/* Takes a descriptor off *@text, and returns its entry. NULL: it is not open. */
static char **take_file_number(struct server *server, const char **text)
{
	uint64_t fd;

	if (!packet_take_hex(text, &fd) || fd >= SERVER_FILES || !server->opened[fd])
		return NULL;
	return &server->opened[fd];
}

/*
 * Hides the ABI note in @bytes, which are those of the file from @offset on, by giving it no type.
 * gdb takes a program with this note for one of Linux, and does not let the stub step then (see
 * put_linux_libraries()).
 */
static void hide_note(uint64_t note, uint64_t offset, uint8_t *bytes, size_t n)
{
	for (uint64_t at = note; note && at < note + FILE_NOTE_TYPE; at++)
		if (at >= offset && at - offset < n)
			bytes[at - offset] = 0;
}

static int file_pread(struct server *server, const char *text)
{
	char **path = take_file_number(server, &text);
	uint64_t count, offset;
	uint8_t bytes[RSP_MAX / 2];
	FILE *in, *out;
	size_t n;

	if (!path || !packet_take_char(&text, ',') || !packet_take_range(&text, &count, &offset) ||
	    offset > INT64_MAX)
		return file_error(server, FILE_EBADF);
	in = fopen(*path, "re");
	if (!in)
		return file_error(server, FILE_ENOENT);
	n = fseeko(in, offset, SEEK_SET) ? 0 :
		fread(bytes, 1, count < sizeof(bytes) ? count : sizeof(bytes), in);
	fclose(in);
	if (!server->is_lldb)
		hide_note(target_abi_note(server->target, *path), offset, bytes, n);
	out = packet_begin(server);
	if (out) {
		fprintf(out, "F%zx;", n);
		fwrite(bytes, 1, n, out);
	}
	return packet_end(server, out);
}

static void put_big_endian(FILE *out, uint64_t value, size_t width)
{
	while (width--)
		putc(value >> 8 * width & 0xff, out);
}

/* Sends struct stat of the protocol. Debuggers look at the size. */
static int file_stat(struct server *server, const char *text)
{
	char **path = take_file_number(server, &text);
	struct stat st;
	FILE *out;

	if (!path || stat(*path, &st))
		return file_error(server, FILE_EBADF);
	out = packet_begin(server);
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
	return packet_end(server, out);
}

static int file_close(struct server *server, const char *text)
{
	char **path = take_file_number(server, &text);

	if (!path)
		return file_error(server, FILE_EBADF);
	free(*path);
	*path = NULL;
	return packet_send(server, "F0");
}

int packet_file(struct server *server, const char *text)
{
	target_seek(server->target, server->threads[server->current].number,
		    server->threads[server->current].at);
	if (packet_take_word(&text, "setfs:"))
		return packet_send(server, "F0");
	if (packet_take_word(&text, "open:"))
		return file_open(server, text);
	if (packet_take_word(&text, "pread:"))
		return file_pread(server, text);
	if (packet_take_word(&text, "fstat:"))
		return file_stat(server, text);
	if (packet_take_word(&text, "close:"))
		return file_close(server, text);
	return packet_send(server, "");
}
