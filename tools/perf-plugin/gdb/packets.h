/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* For packets.c and packet-*.c only: reads what a debugger asks, and answers. */
#ifndef PERF_RVTRACE_GDB_PACKETS_H
#define PERF_RVTRACE_GDB_PACKETS_H

#include <sys/types.h>
#include "gdb/server.h"

/*
 * Registers behind those of target.h: first floating point, without which gdb rejects the programs
 * of most systems, though none of them are known; then the position in the recording.
 */
enum { REG_F0 = TARGET_REGISTERS, REG_FFLAGS = REG_F0 + 32, REG_FRM, REG_FCSR, REG_TIME, REG_INSN,
       REGISTERS };

/*
 * gdb/packet-text.c
 *
 * packet_send - sends @text as the answer.
 *
 * packet_begin, packet_end - send what is written in between; NULL: out of memory, which
 * packet_end() tells the debugger. Return 0 or -errno.
 */
int packet_send(struct server *server, const char *text);
FILE *packet_begin(struct server *server);
int packet_end(struct server *server, FILE *out);
void packet_put_hex(FILE *out, const uint8_t *bytes, size_t len);
/*
 * Each reads from *@text, and moves it behind what was taken. Returns false if something else is
 * there. packet_take_hex - a hexadecimal number. packet_take_range - "FROM,LEN". packet_take_bytes
 * - the bytes of hexadecimal text, up to another character, with a zero behind; returns how many.
 */
bool packet_take_hex(const char **text, uint64_t *value);
bool packet_take_char(const char **text, char c);
bool packet_take_word(const char **text, const char *word);
bool packet_take_range(const char **text, uint64_t *from, uint64_t *len);
size_t packet_take_bytes(const char **text, char *bytes, size_t room);

/* gdb/packet-documents.c: answers qXfer with a piece of a document. Returns 0 or -errno. */
int packet_document(struct server *server, const char *text);
/* gdb/packet-files.c: answers what follows "vFile:". Returns 0 or -errno. */
int packet_file(struct server *server, const char *text);

#endif
