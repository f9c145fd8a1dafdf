/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * --json: one object a line, as Documentation/json.rst has them. Strings are as text_visible()
 * makes them, so that a line is a line and always UTF-8. json-c writes them; without it, nothing is
 * written.
 */
#ifndef PERF_RVTRACE_JSON_H
#define PERF_RVTRACE_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Objects and arrays within each other. */
#define JSON_MAX_DEPTH 4

struct json_object;

struct json {
	FILE *out;
	struct json_object *open[JSON_MAX_DEPTH];	/* the line's object first */
	unsigned int depth;				/* how many are open */
};

/* 0, or -ENOTSUP after a message: this command was built without json-c. */
int json_supported(void);
/* An object with the member "type". json_end() writes it, and the end of the line. */
struct json json_begin(FILE *out, const char *type);
void json_end(struct json *json);
/*
 * Members. @key is plain ASCII and stays as it is until json_end(). In an array @key is NULL.
 */
void json_text(struct json *json, const char *key, const char *text);
void json_number(struct json *json, const char *key, int64_t number);
/* With three digits behind the point. */
void json_real(struct json *json, const char *key, double number);
void json_flag(struct json *json, const char *key, bool value);
/* As a string, "0x80001000": not every reader has 64 bits for a number. */
void json_address(struct json *json, const char *key, uint64_t address);
/* A member that is an object or (@key NULL) an element of an array; members follow. */
void json_open(struct json *json, const char *key);
void json_close(struct json *json);
void json_open_array(struct json *json, const char *key);
void json_close_array(struct json *json);

#endif
