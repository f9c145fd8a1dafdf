// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* What the command writes as JSON, read with json-c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "common/json.h"
#include "common/text.h"
#ifdef HAVE_JSON
#include <json-c/json.h>

/* One line, parsed strictly. */
static struct json_object *parse(const char *line, size_t len)
{
	struct json_tokener *tokener = json_tokener_new();
	struct json_object *object;

	assert_int_equal(line[len - 1], '\n');
	assert_null(memchr(line, '\n', len - 1));
	json_tokener_set_flags(tokener, JSON_TOKENER_STRICT);
	object = json_tokener_parse_ex(tokener, line, len - 1);
	assert_int_equal(json_tokener_get_error(tokener), json_tokener_success);
	assert_int_equal(json_tokener_get_parse_end(tokener), len - 1);
	json_tokener_free(tokener);
	return object;
}

static struct json_object *get(struct json_object *object, const char *key)
{
	struct json_object *value;

	assert_true(json_object_object_get_ex(object, key, &value));
	return value;
}

/* @text comes back as text_visible() has it. */
static void check_text(const char *text)
{
	char *line, *visible = text_visible(text);
	struct json_object *object;
	struct json json;
	size_t len;
	FILE *out = open_memstream(&line, &len);

	json = json_begin(out, "test");
	json_text(&json, "text", text);
	json_end(&json);
	fclose(out);
	object = parse(line, len);
	assert_string_equal(json_object_get_string(get(object, "text")), visible);
	json_object_put(object);
	free(visible);
	free(line);
}

static void test_text(void **state)
{
	char text[3] = { 0 };

	(void)state;
	check_text("");
	check_text("\"\\\"\\\\/ <&> '");
	check_text("gr\xc3\xbc\xc3\x9f \xf0\x9f\x99\x82 \xff \xc2\x9b");
	for (int first = 1; first < 256; first++)
		for (int second = 0; second < 256; second++) {
			text[0] = first;
			text[1] = second;
			check_text(text);
		}
}

static void test_members(void **state)
{
	struct json_object *object, *inner, *list;
	struct json json;
	char *line;
	size_t len;
	FILE *out = open_memstream(&line, &len);

	(void)state;
	json = json_begin(out, "test");
	json_number(&json, "lowest", INT64_MIN);
	json_number(&json, "highest", INT64_MAX);
	json_real(&json, "real", 0.5);
	json_flag(&json, "yes", true);
	json_flag(&json, "no", false);
	json_address(&json, "address", UINT64_MAX);
	json_open(&json, "inner");
	json_text(&json, "a", "b");
	json_number(&json, "c", 1);
	json_close(&json);
	json_open(&json, "nothing");
	json_close(&json);
	json_open_array(&json, "list");
	for (int i = 0; i < 2; i++) {
		json_open(&json, NULL);
		json_number(&json, "i", i);
		json_close(&json);
	}
	json_text(&json, NULL, "last");
	json_close_array(&json);
	json_number(&json, "behind", 7);
	json_end(&json);
	fclose(out);

	object = parse(line, len);
	assert_int_equal(json_object_object_length(object), 11);
	assert_string_equal(json_object_get_string(get(object, "type")), "test");
	assert_true(json_object_get_int64(get(object, "lowest")) == INT64_MIN);
	assert_true(json_object_get_int64(get(object, "highest")) == INT64_MAX);
	assert_true(json_object_get_double(get(object, "real")) == 0.5);
	assert_true(json_object_get_boolean(get(object, "yes")));
	assert_false(json_object_get_boolean(get(object, "no")));
	assert_string_equal(json_object_get_string(get(object, "address")), "0xffffffffffffffff");
	inner = get(object, "inner");
	assert_string_equal(json_object_get_string(get(inner, "a")), "b");
	assert_int_equal(json_object_get_int(get(inner, "c")), 1);
	assert_int_equal(json_object_object_length(get(object, "nothing")), 0);
	list = get(object, "list");
	assert_int_equal(json_object_array_length(list), 3);
	assert_int_equal(json_object_get_int(get(json_object_array_get_idx(list, 1), "i")), 1);
	assert_int_equal(json_object_get_int(get(object, "behind")), 7);
	json_object_put(object);
	free(line);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_members),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
int main(void)
{
	puts("1..0 # SKIP built without json-c");
	return 0;
}
#endif
