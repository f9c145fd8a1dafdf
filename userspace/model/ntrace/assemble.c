// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Message directives to bytes. Knows the table only, so that it can make what no encoder makes.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/ntrace/assemble.h"
#include <ntrace/message.h>

#define SPACE " \t\r\n"
#define MAX_LINE 4096

struct assembly {
	const struct rvt_params *params;
	uint8_t *bytes;
	size_t size;
	char *error;
	size_t error_size;
};

__attribute__((format(printf, 2, 3)))
static int fail(struct assembly *assembly, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(assembly->error, assembly->error_size, format, args);
	va_end(args);
	return -EINVAL;
}

/* Decimal, 0x, 0b; underscores anywhere behind the prefix. *end: behind the number. */
static bool parse_number(const char *text, uint64_t *value, const char **end)
{
	unsigned int base = 10;
	const char *first;

	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'b')) {
		base = text[1] == 'x' ? 16 : 2;
		text += 2;
	}
	first = text;
	for (*value = 0; *text; text++) {
		unsigned int digit;

		if (*text == '_')
			continue;
		if (*text >= '0' && *text <= '9')
			digit = *text - '0';
		else if (*text >= 'a' && *text <= 'f')
			digit = *text - 'a' + 10;
		else
			break;
		if (digit >= base || *value > (UINT64_MAX - digit) / base)
			return false;
		*value = *value * base + digit;
	}
	*end = text;
	return text != first;
}

static bool find_field(const char *name, size_t len, enum rvt_ntrace_field *field)
{
	for (unsigned int i = 0; i < RVT_NTRACE_FIELDS; i++) {
		const char *known = rvt_ntrace_fields[i].name;

		if (strlen(known) == len && !memcmp(known, name, len)) {
			*field = i;
			return true;
		}
	}
	return false;
}

/* The use of a field in a message; NULL if the message does not have it. */
static const struct rvt_ntrace_use *find_use(const struct rvt_ntrace_format *format,
					     enum rvt_ntrace_field field)
{
	static const struct rvt_ntrace_use src = { RVT_NTRACE_F_SRC, RVT_NTRACE_MAX_SRC_BITS, 0 };
	static const struct rvt_ntrace_use tstamp = { RVT_NTRACE_F_TSTAMP, 0, 0 };

	if (field == RVT_NTRACE_F_SRC)
		return &src;
	if (field == RVT_NTRACE_F_TSTAMP)
		return &tstamp;
	for (const struct rvt_ntrace_use *use = format->uses; use->field != RVT_NTRACE_FIELDS;
	     use++)
		if (use->field == field)
			return use;
	return NULL;
}

/* NAME=VALUE[@BITS] */
static int parse_field(struct assembly *assembly, const struct rvt_ntrace_format *format,
		       const char *word, struct rvt_ntrace_msg *msg)
{
	const char *equals = strchr(word, '=');
	const struct rvt_ntrace_use *use;
	enum rvt_ntrace_field field;
	uint64_t value, bits = 0;
	const char *end;

	if (!equals || !find_field(word, equals - word, &field))
		return fail(assembly, "'%s': no field of N-Trace", word);
	use = find_use(format, field);
	if (!use)
		return fail(assembly, "%s has no %.*s", format->name, (int)(equals - word), word);
	if (!parse_number(equals + 1, &value, &end))
		return fail(assembly, "'%s': no number", word);
	if (*end == '@' && !(parse_number(end + 1, &bits, &end) && bits <= 255))
		return fail(assembly, "'%s': no number of bits", word);
	if (*end)
		return fail(assembly, "'%s': unexpected '%s'", word, end);
	if (use->bits && (bits || value >> use->bits))
		return fail(assembly, "'%s': field has %u bits", word, use->bits);
	if (field == RVT_NTRACE_F_SRC && value >> assembly->params->src_bits)
		return fail(assembly, "'%s': src_bits is %u", word, assembly->params->src_bits);
	msg->field[field] = value;
	msg->bits[field] = bits;
	msg->present |= UINT64_C(1) << field;
	return 0;
}

static int assemble_message(struct assembly *assembly, const struct rvt_ntrace_format *format,
			    char **save)
{
	uint8_t bytes[RVT_NTRACE_MAX_MESSAGE_BYTES];
	struct rvt_ntrace_msg msg = { 0 };
	char *word;
	int len;

	msg.field[RVT_NTRACE_F_TCODE] = format->tcode;
	while ((word = strtok_r(NULL, SPACE, save))) {
		int ret = parse_field(assembly, format, word, &msg);

		if (ret)
			return ret;
	}
	len = rvt_ntrace_write(&msg, assembly->params->src_bits, bytes);
	if (len < 0)
		return fail(assembly, "message is longer than %d bytes",
			    RVT_NTRACE_MAX_MESSAGE_BYTES);
	if ((size_t)len > assembly->size)
		return -ENOSPC;
	memcpy(assembly->bytes, bytes, len);
	return len;
}

static int assemble_idle(struct assembly *assembly, char **save)
{
	const char *word = strtok_r(NULL, SPACE, save), *end;
	uint64_t count = 1;

	if (word && (!parse_number(word, &count, &end) || *end))
		return fail(assembly, "'%s': no number", word);
	if (count > assembly->size)
		return -ENOSPC;
	memset(assembly->bytes, 0xff, count);
	return count;
}

static int assemble_bytes(struct assembly *assembly, char **save)
{
	size_t n = 0;
	char *word, *end;

	while ((word = strtok_r(NULL, SPACE, save))) {
		unsigned long byte = strtoul(word, &end, 16);

		if (*end || byte > 0xff)
			return fail(assembly, "'%s': no byte", word);
		if (n == assembly->size)
			return -ENOSPC;
		assembly->bytes[n++] = byte;
	}
	return n;
}

int rvt_ntrace_assemble(const struct rvt_params *params, const char *line, uint8_t *bytes,
			size_t size, char *error, size_t error_size)
{
	struct assembly assembly = { params, bytes, size, error, error_size };
	char copy[MAX_LINE], *save, *word;
	size_t len = strcspn(line, "#");

	if (len >= sizeof(copy))
		return fail(&assembly, "line is too long");
	memcpy(copy, line, len);
	copy[len] = 0;
	word = strtok_r(copy, SPACE, &save);
	if (!word)
		return 0;
	if (!strcmp(word, "idle"))
		return assemble_idle(&assembly, &save);
	if (!strcmp(word, "bytes"))
		return assemble_bytes(&assembly, &save);
	for (size_t i = 0; i < RVT_NTRACE_FORMATS; i++)
		if (!strcmp(word, rvt_ntrace_formats[i].name))
			return assemble_message(&assembly, &rvt_ntrace_formats[i], &save);
	return fail(&assembly, "'%s': no message of N-Trace", word);
}
