// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "gdb/packets.h"

/* ---- replies ---- */

int packet_send(struct server *server, const char *text)
{
	return rsp_send(&server->rsp, text, strlen(text));
}

FILE *packet_begin(struct server *server)
{
	free(server->reply);
	server->reply = NULL;
	server->len = 0;
	return open_memstream(&server->reply, &server->len);
}

int packet_end(struct server *server, FILE *out)
{
	if (!out || fclose(out))
		return packet_send(server, "E0c");
	return rsp_send(&server->rsp, server->reply, server->len);
}

void packet_put_hex(FILE *out, const uint8_t *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		fprintf(out, "%02x", bytes[i]);
}

/* ---- reading packets ---- */

/* Takes a hexadecimal number, and moves *@text behind it. Returns false if there is none. */
bool packet_take_hex(const char **text, uint64_t *value)
{
	char *end;

	if (!strchr("0123456789abcdefABCDEF", **text) || !**text)
		return false;
	*value = strtoull(*text, &end, 16);
	*text = end;
	return true;
}

bool packet_take_char(const char **text, char c)
{
	if (**text != c)
		return false;
	++*text;
	return true;
}

/* Takes @word off the beginning, and moves *@text behind it. Returns false if it is not there. */
bool packet_take_word(const char **text, const char *word)
{
	size_t len = strlen(word);

	if (strncmp(*text, word, len))
		return false;
	*text += len;
	return true;
}

bool packet_take_range(const char **text, uint64_t *from, uint64_t *len)
{
	return packet_take_hex(text, from) && packet_take_char(text, ',') &&
		packet_take_hex(text, len);
}

/* Takes the bytes of hexadecimal text, up to another character; adds a zero. Returns how many. */
size_t packet_take_bytes(const char **text, char *bytes, size_t room)
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
