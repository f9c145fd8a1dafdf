// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include "common/cmd.h"
#include "common/json.h"
#include "common/text.h"

#ifdef HAVE_JSON
#include "util/json-line.h"

int json_supported(void)
{
	return 0;
}

static void put(struct json *json, const char *key, struct json_object *value)
{
	struct json_object *to = json->open[json->depth - 1];

	if (key)
		json_add(to, key, value);
	else
		json_object_array_add(to, value);
}

static void open_with(struct json *json, const char *key, struct json_object *value)
{
	put(json, key, value);
	json->open[json->depth++] = value;
}

static struct json_object *new_text(const char *text)
{
	struct json_object *value;
	char *visible;

	if (text_is_visible(text))
		return json_object_new_string(text);
	visible = text_visible(text);
	value = json_object_new_string(visible ? visible : "?");
	free(visible);
	return value;
}

struct json json_begin(FILE *out, const char *type)
{
	struct json json = { .out = out, .open = { json_object_new_object() }, .depth = 1 };

	json_text(&json, "type", type);
	return json;
}

void json_end(struct json *json)
{
	json_put_line(json->out, json->open[0]);
}

void json_text(struct json *json, const char *key, const char *text)
{
	put(json, key, new_text(text));
}

void json_number(struct json *json, const char *key, int64_t number)
{
	put(json, key, json_object_new_int64(number));
}

void json_real(struct json *json, const char *key, double number)
{
	char text[32];

	snprintf(text, sizeof(text), "%.3f", number);
	put(json, key, json_object_new_double_s(number, text));
}

void json_flag(struct json *json, const char *key, bool value)
{
	put(json, key, json_object_new_boolean(value));
}

void json_address(struct json *json, const char *key, uint64_t address)
{
	put(json, key, json_new_hex(address));
}

void json_open(struct json *json, const char *key)
{
	open_with(json, key, json_object_new_object());
}

void json_open_array(struct json *json, const char *key)
{
	open_with(json, key, json_object_new_array());
}

static void close_last(struct json *json)
{
	json->depth--;
}
#else
int json_supported(void)
{
	return cmd_error(-ENOTSUP, "--json needs json-c: install libjson-c-dev and build again");
}

struct json json_begin(FILE *out, const char *type)
{
	(void)type;
	return (struct json){ .out = out };
}

void json_end(struct json *json)
{
	(void)json;
}

void json_text(struct json *json, const char *key, const char *text)
{
	(void)json, (void)key, (void)text;
}

void json_number(struct json *json, const char *key, int64_t number)
{
	(void)json, (void)key, (void)number;
}

void json_real(struct json *json, const char *key, double number)
{
	(void)json, (void)key, (void)number;
}

void json_flag(struct json *json, const char *key, bool value)
{
	(void)json, (void)key, (void)value;
}

void json_address(struct json *json, const char *key, uint64_t address)
{
	(void)json, (void)key, (void)address;
}

void json_open(struct json *json, const char *key)
{
	(void)json, (void)key;
}

void json_open_array(struct json *json, const char *key)
{
	(void)json, (void)key;
}

static void close_last(struct json *json)
{
	(void)json;
}
#endif

void json_close(struct json *json)
{
	close_last(json);
}

void json_close_array(struct json *json)
{
	close_last(json);
}
