// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "common/text.h"
#include "util/array.h"

#define MAX_NUMBER (1 << 22)	/* the largest in a list: process ids are smaller */

char *read_text(const char *format, ...)
{
	char *path = NULL, *text = NULL;
	size_t len = 0, room = 0;
	va_list args;
	ssize_t n;
	int fd;

	va_start(args, format);
	n = vasprintf(&path, format, args);
	va_end(args);
	if (n < 0)
		return NULL;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	free(path);
	if (fd < 0)
		return NULL;
	do {
		if (array_reserve(&text, &room, len, 4096)) {
			n = -1;
			break;
		}
		n = read(fd, text + len, room - len - 1);
		len += n > 0 ? n : 0;
	} while (n > 0);
	close(fd);
	if (n < 0) {
		free(text);
		return NULL;
	}
	while (len && (text[len - 1] == '\n' || text[len - 1] == ' '))
		len--;
	text[len] = 0;
	return text;
}

bool has_word(const char *text, const char *word)
{
	const char *separators = " ,\n";
	size_t len = strlen(word), n;

	for (; text && *text; text += n + strspn(text + n, separators)) {
		n = strcspn(text, separators);
		if (n == len && !strncmp(text, word, len))
			return true;
	}
	return false;
}

static int compare_ints(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

int read_number(const char **text, uint64_t *value)
{
	const char *digits = *text;
	bool hex = digits[0] == '0' && (digits[1] | 0x20) == 'x' &&
		isxdigit((unsigned char)digits[2]);
	char *end;

	if (!isdigit((unsigned char)*digits))
		return -EINVAL;
	errno = 0;
	*value = strtoull(digits, &end, hex ? 16 : 10);
	*text = end;
	return -errno;
}

int read_decimal(const char **text, double *value)
{
	const char *digits = *text + (**text == '.');
	char *end;

	if (!isdigit((unsigned char)*digits) || (digits[0] == '0' && (digits[1] | 0x20) == 'x'))
		return -EINVAL;
	errno = 0;
	*value = strtod(*text, &end);
	*text = end;
	return -errno;
}

char *put_hex(char *out, uint64_t value)
{
	static const char digits[] = "0123456789abcdef";
	int shift = value ? (63 - __builtin_clzll(value)) & ~3 : 0;

	for (; shift >= 0; shift -= 4)
		*out++ = digits[value >> shift & 15];
	return out;
}

/*
 * Returns the length of the UTF-8 character that @text begins with; 0: it is a control character,
 * or not valid UTF-8.
 */
static unsigned int visible_bytes(const char *text)
{
	const unsigned char *c = (const unsigned char *)text;
	unsigned int n = c[0] < 0xc2 ? 1 : c[0] < 0xe0 ? 2 : c[0] < 0xf0 ? 3 : c[0] < 0xf5 ? 4 : 0;

	if (n == 1)
		return c[0] >= ' ' && c[0] < 0x7f;
	for (unsigned int i = 1; i < n; i++)
		if ((c[i] & 0xc0) != 0x80)
			return 0;
	/* overlong; surrogates; beyond the last plane; the control characters U+0080 to U+009f */
	if ((c[0] == 0xe0 && c[1] < 0xa0) || (c[0] == 0xed && c[1] >= 0xa0) ||
	    (c[0] == 0xf0 && c[1] < 0x90) || (c[0] == 0xf4 && c[1] >= 0x90) ||
	    (c[0] == 0xc2 && c[1] < 0xa0))
		return 0;
	return n;
}

bool text_is_visible(const char *text)
{
	unsigned int n = 1;

	for (; *text && n; text += n)
		n = visible_bytes(text);
	return n;
}

void put_visible(FILE *out, const char *text)
{
	static const char controls[] = "\a\b\t\n\v\f\r", letters[] = "abtnvfr";

	while (*text) {
		unsigned int n = visible_bytes(text);
		const char *control = n ? NULL : strchr(controls, *text);

		if (n)
			fwrite(text, 1, n, out);
		else if (control)
			fprintf(out, "\\%c", letters[control - controls]);
		else
			fprintf(out, "\\%03o", (unsigned char)*text);
		text += n ? n : 1;
	}
}

char *text_visible(const char *text)
{
	char *copy = NULL;
	size_t len;
	FILE *out = open_memstream(&copy, &len);

	if (!out)
		return NULL;
	put_visible(out, text);
	if (!fclose(out))
		return copy;
	free(copy);
	return NULL;
}

int parse_numbers(const char *text, int **result)
{
	int *numbers = NULL;
	int n = 0;

	while (*text) {
		uint64_t first, last;

		if (read_number(&text, &first) || first > MAX_NUMBER)
			goto invalid;
		last = first;
		if (*text == '-') {
			text++;
			if (read_number(&text, &last) || last < first || last > MAX_NUMBER)
				goto invalid;
		}
		if (*text && *text != ',' && *text != '\n')
			goto invalid;
		for (; first <= last; first++) {
			if (array_grow(&numbers, n)) {
				free(numbers);
				return -ENOMEM;
			}
			numbers[n++] = first;
		}
		text += !!*text;
	}
	if (!n)
		goto invalid;
	qsort(numbers, n, sizeof(int), compare_ints);
	*result = numbers;
	return n;
invalid:
	free(numbers);
	return -EINVAL;
}
