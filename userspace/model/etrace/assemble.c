// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Packet directives to bytes. Knows the tables only, so that it can make what no encoder makes.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/etrace/assemble.h"
#include "model/etrace/esp32.h"
#include <etrace/packet.h>

#define SPACE " \t\r\n"
#define MAX_LINE 1000

struct assembly {
	struct rvt_etrace_codec codec;
	struct rvt_etrace_msg msg;
	char *error;
	size_t error_size;
};

__attribute__((format(printf, 2, 3)))
static int fail(struct assembly *a, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(a->error, a->error_size, format, args);
	va_end(args);
	return -EINVAL;
}

static bool parse_number(const char *text, uint64_t *value)
{
	bool negative = *text == '-';
	char *end;

	errno = 0;
	*value = strtoull(text + negative, &end, 0);
	if (negative)
		*value = -*value;
	return end != text + negative && !*end && !errno;
}

static int find_kind(const char *name)
{
	for (int kind = 0; kind < RVT_ETRACE_KINDS; kind++)
		if (!strcmp(name, rvt_etrace_kind_name(kind)))
			return kind;
	return -1;
}

static bool set_flag(struct rvt_etrace_msg *msg, const char *word)
{
	if (!strcmp(word, "notify"))
		msg->notify = true;
	else if (!strcmp(word, "updiscon"))
		msg->updiscon = true;
	else if (!strcmp(word, "irreport"))
		msg->irreport = true;
	else if (!strcmp(word, "not_taken"))
		msg->not_taken = true;
	else
		return false;
	return true;
}

/* Fields of the encapsulation. */
static bool set_outer(struct rvt_etrace_msg *msg, const char *name, uint64_t value)
{
	if (!strcmp(name, "flow")) {
		msg->flow = value & 3;
	} else if (!strcmp(name, "srcID")) {
		msg->src = value;
	} else if (!strcmp(name, "timestamp")) {
		msg->extend = true;
		msg->timestamp = value;
	} else {
		return false;
	}
	return true;
}

/* Lengths, and what they are of, are given before. */
static unsigned int field_bits(const struct assembly *a, const struct rvt_etrace_use *use)
{
	switch (use->width) {
	case RVT_ETRACE_W_MAP:
		return 31;
	case RVT_ETRACE_W_LEN:
		return a->msg.field[RVT_ETRACE_F_SIZE];
	case RVT_ETRACE_W_DATA:
		return 8 * (a->msg.field[RVT_ETRACE_F_DATA_LEN] + 1);
	case RVT_ETRACE_W_OPERAND:
		return 8 * (a->msg.field[RVT_ETRACE_F_OP_LEN] + 1);
	default:
		return use->width;
	}
}

static int set_field(struct assembly *a, const struct rvt_etrace_layout *layout, const char *name,
		     uint64_t value)
{
	for (unsigned int i = 0; i < layout->n; i++) {
		const struct rvt_etrace_use *use = &layout->uses[i];
		unsigned int bits = field_bits(a, use);

		if (strcmp(name, rvt_etrace_field_name(a->codec.params.dialect, use->field)))
			continue;
		if (use->coding == RVT_ETRACE_DIFFERS)
			return fail(a, "%s depends on the bit before it: say what it means", name);
		if (use->field == RVT_ETRACE_F_BRANCH)
			a->msg.not_taken = value;
		/* Negative numbers have ones above the field. */
		if (value & ~rvt_etrace_mask(bits) && (int64_t)value >= 0)
			return fail(a, "%s has %u bits", name, bits);
		rvt_etrace_set(&a->msg, use->field, value & rvt_etrace_mask(bits));
		return 0;
	}
	return fail(a, "no field %s in this packet", name);
}

static int read_word(struct assembly *a, const struct rvt_etrace_layout *layout, char *word)
{
	char *value = strchr(word, '=');
	uint64_t number;

	if (!value)
		return set_flag(&a->msg, word) ? 0 : fail(a, "what is %s?", word);
	*value++ = 0;
	if (!parse_number(value, &number))
		return fail(a, "no number: %s", value);
	return set_outer(&a->msg, word, number) ? 0 : set_field(a, layout, word, number);
}

static int put_packet(struct assembly *a, struct rvt_params *params, uint8_t *bytes, size_t size,
		      char **save)
{
	const struct rvt_etrace_layout *layout = rvt_etrace_layout(&a->codec, a->msg.kind);
	uint8_t frame[RVT_ETRACE_MAX_FRAME_BYTES + RVT_ESP32_HEADER_BYTES];
	uint64_t index = 0;
	char *word;
	int len;

	if (!layout)
		return fail(a, "no such packet with these parameters");
	while ((word = strtok_r(NULL, SPACE, save))) {
		int ret = 0;

		if (a->codec.params.framing == RVT_FRAMING_ESP32 && !strncmp(word, "index=", 6))
			ret = parse_number(word + 6, &index) ? 0 : fail(a, "no number: %s", word);
		else
			ret = read_word(a, layout, word);
		if (ret)
			return ret;
	}
	len = rvt_etrace_write(&a->codec, &a->msg, frame, NULL);
	if (len > 0 && a->codec.params.framing == RVT_FRAMING_ESP32)
		len = rvt_esp32_wrap(frame, len, index);
	if (len < 0)
		return fail(a, len == -E2BIG ? "too long a packet" : "a value that cannot be");
	if ((size_t)len > size)
		return -ENOSPC;
	memcpy(bytes, frame, len);
	if (a->msg.kind != RVT_ETRACE_SYNC_SUPPORT)
		return len;
	/* Fields that were not given are 0. */
	for (unsigned int i = 0; i < layout->n; i++)
		if (!rvt_etrace_has(&a->msg, layout->uses[i].field))
			rvt_etrace_set(&a->msg, layout->uses[i].field, 0);
	if (rvt_etrace_codec_support(&a->codec, &a->msg))
		return fail(a, "impossible values");
	*params = a->codec.params;
	return len;
}

static int put_bytes(struct assembly *a, uint8_t *bytes, size_t size, char **save)
{
	size_t n = 0;
	char *word;

	while ((word = strtok_r(NULL, SPACE, save))) {
		char *end;
		unsigned long value = strtoul(word, &end, 16);

		if (*end || value > 255)
			return fail(a, "no byte: %s", word);
		if (n == size)
			return -ENOSPC;
		bytes[n++] = value;
	}
	return n;
}

static int put_nulls(struct assembly *a, uint8_t *bytes, size_t size, char **save)
{
	char *word = strtok_r(NULL, SPACE, save);
	uint64_t count = 1;

	if (word && !parse_number(word, &count))
		return fail(a, "no number: %s", word);
	if (count > size)
		return -ENOSPC;
	memset(bytes, 0, count);
	return count;
}

int rvt_etrace_assemble(struct rvt_params *params, const char *line, uint8_t *bytes, size_t size,
			char *error, size_t error_size)
{
	struct assembly a = { .error = error, .error_size = error_size };
	char copy[MAX_LINE], *save, *word;
	int kind;

	if (rvt_etrace_codec_init(&a.codec, params))
		return fail(&a, "parameters out of range");
	snprintf(copy, sizeof(copy), "%.*s", (int)strcspn(line, "#"), line);
	word = strtok_r(copy, SPACE, &save);
	if (!word)
		return 0;
	if (!strcmp(word, "bytes"))
		return put_bytes(&a, bytes, size, &save);
	if (!strcmp(word, "null"))
		return put_nulls(&a, bytes, size, &save);
	if (!strcmp(word, "align")) {
		if (!size)
			return -ENOSPC;
		*bytes = 0x80;
		return 1;
	}
	kind = find_kind(word);
	if (kind < 0)
		return fail(&a, "no packet or directive: %s", word);
	a.msg.kind = kind;
	return put_packet(&a, params, bytes, size, &save);
}
