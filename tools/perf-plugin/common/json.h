/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * --json: writes one object per line, as Documentation/json.rst describes them. Strings are those
 * of text_visible(), so that each object is one line and always UTF-8. Uses json-c; without it,
 * nothing is written.
 */
#ifndef PERF_RVTRACE_JSON_H
#define PERF_RVTRACE_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Depth of nested objects and arrays. */
#define JSON_MAX_DEPTH 4

struct json_object;

struct json {
	FILE *out;
	struct json_object *open[JSON_MAX_DEPTH];	/* the line's object first */
	unsigned int depth;				/* how many are open */
};

/* Returns 0, or -ENOTSUP after a message: this command was built without json-c. */
int json_supported(void);
/* Begins an object with the member "type". json_end() writes it, and the end of the line. */
struct json json_begin(FILE *out, const char *type);
void json_end(struct json *json);
/*
 * Add members. @key is plain ASCII, and must not change before json_end(). In an array @key is
 * NULL.
 */
void json_text(struct json *json, const char *key, const char *text);
void json_number(struct json *json, const char *key, int64_t number);
/* Adds a number with three digits behind the point. */
void json_real(struct json *json, const char *key, double number);
void json_flag(struct json *json, const char *key, bool value);
/* Adds an address as a string, "0x80001000", as not every reader has 64 bits for a number. */
void json_address(struct json *json, const char *key, uint64_t address);
/*
 * Open a member that is an object or an array, or with @key NULL an element of an array; its
 * members follow.
 */
void json_open(struct json *json, const char *key);
void json_close(struct json *json);
void json_open_array(struct json *json, const char *key);
void json_close_array(struct json *json);

#endif
