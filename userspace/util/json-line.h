/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* JSON by json-c, one object a line. Only where it was built in (HAVE_JSON). */
#ifndef RVT_UTIL_JSON_LINE_H
#define RVT_UTIL_JSON_LINE_H

#include <inttypes.h>
#include <stdio.h>
#include <json-c/json.h>

/*
 * A member that @object has not yet. @key, which stays as it is, is not copied; @value is given
 * away.
 */
static inline void json_add(struct json_object *object, const char *key, struct json_object *value)
{
	json_object_object_add_ex(object, key, value,
				  JSON_C_OBJECT_ADD_KEY_IS_NEW | JSON_C_OBJECT_KEY_IS_CONSTANT);
}

/* A string, "0x80001000": not every reader has 64 bits for a number. */
static inline struct json_object *json_new_hex(uint64_t value)
{
	char text[sizeof("0x") + 16];

	return json_object_new_string_len(text, snprintf(text, sizeof(text), "0x%" PRIx64, value));
}

/* Writes @object and the end of the line, and frees it. */
static inline void json_put_line(FILE *out, struct json_object *object)
{
	size_t len;
	const char *text = json_object_to_json_string_length(object, JSON_C_TO_STRING_PLAIN |
							     JSON_C_TO_STRING_NOSLASHESCAPE, &len);

	fwrite(text, 1, len, out);
	putc('\n', out);
	json_object_put(object);
}

#endif
