/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Inside packets.c and packet-*.c: what a debugger asks, and how it is answered. */
#ifndef PERF_RVTRACE_GDB_PACKETS_H
#define PERF_RVTRACE_GDB_PACKETS_H

#include <sys/types.h>
#include "gdb/server.h"

/*
 * Behind those of target.h: floating point, without which gdb does not take the programs of most
 * systems; none of it is known. Then, where in the recording it is.
 */
enum { REG_F0 = TARGET_REGISTERS, REG_FFLAGS = REG_F0 + 32, REG_FRM, REG_FCSR, REG_TIME, REG_INSN,
       REGISTERS };

/*
 * packet-text.c
 *
 * packet_send - @text is the answer. packet_begin, packet_end - it is what is written in between;
 * NULL: out of memory, which packet_end() tells the debugger. 0 or -errno.
 */
int packet_send(struct server *server, const char *text);
FILE *packet_begin(struct server *server);
int packet_end(struct server *server, FILE *out);
void packet_put_hex(FILE *out, const uint8_t *bytes, size_t len);
/*
 * What the debugger says; *@text moves behind what was taken. False: something else is there.
 * packet_take_hex - a hexadecimal number. packet_take_range - "FROM,LEN". packet_take_bytes - the
 * bytes of hexadecimal text up to its end or a character that is none, zero-terminated; returns how
 * many.
 */
bool packet_take_hex(const char **text, uint64_t *value);
bool packet_take_char(const char **text, char c);
bool packet_take_word(const char **text, const char *word);
bool packet_take_range(const char **text, uint64_t *from, uint64_t *len);
size_t packet_take_bytes(const char **text, char *bytes, size_t room);

/* packet-documents.c: a document (qXfer) in pieces. 0 or -errno. */
int packet_document(struct server *server, const char *text);
/* packet-files.c: what follows "vFile:". 0 or -errno. */
int packet_file(struct server *server, const char *text);

#endif
