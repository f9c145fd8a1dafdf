// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "common/json.h"
#include "common/text.h"

static void put_quoted(FILE *out, const char *text)
{
	putc('"', out);
	for (size_t n; *text; text += n) {
		n = strcspn(text, "\"\\");
		fwrite(text, 1, n, out);
		if (!text[n])
			break;
		putc('\\', out);
		putc(text[n++], out);
	}
	putc('"', out);
}

static void put_string(FILE *out, const char *text)
{
	char *visible;

	if (text_is_visible(text)) {
		put_quoted(out, text);
		return;
	}
	visible = text_visible(text);
	put_quoted(out, visible ? visible : "?");
	free(visible);
}

static void put_key(struct json *json, const char *key)
{
	if (json->more)
		putc(',', json->out);
	json->more = true;
	if (key)
		fprintf(json->out, "\"%s\":", key);
}

struct json json_begin(FILE *out, const char *type)
{
	struct json json = { .out = out };

	putc('{', out);
	json_text(&json, "type", type);
	return json;
}

void json_end(struct json *json)
{
	fputs("}\n", json->out);
}

void json_text(struct json *json, const char *key, const char *text)
{
	put_key(json, key);
	put_string(json->out, text);
}

void json_number(struct json *json, const char *key, int64_t number)
{
	put_key(json, key);
	fprintf(json->out, "%" PRId64, number);
}

void json_real(struct json *json, const char *key, double number)
{
	put_key(json, key);
	fprintf(json->out, "%.3f", number);
}

void json_flag(struct json *json, const char *key, bool value)
{
	put_key(json, key);
	fputs(value ? "true" : "false", json->out);
}

void json_address(struct json *json, const char *key, uint64_t address)
{
	put_key(json, key);
	fprintf(json->out, "\"0x%" PRIx64 "\"", address);
}

static void open_with(struct json *json, const char *key, char bracket)
{
	put_key(json, key);
	putc(bracket, json->out);
	json->more = false;
}

static void close_with(struct json *json, char bracket)
{
	putc(bracket, json->out);
	json->more = true;
}

void json_open(struct json *json, const char *key)
{
	open_with(json, key, '{');
}

void json_close(struct json *json)
{
	close_with(json, '}');
}

void json_open_array(struct json *json, const char *key)
{
	open_with(json, key, '[');
}

void json_close_array(struct json *json)
{
	close_with(json, ']');
}
