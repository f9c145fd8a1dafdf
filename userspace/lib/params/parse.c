// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Decoder parameters from text: lines `key = value`. */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rvtrace/insn.h>
#include "keys.h"
#include "util/sized.h"

/* Options of E-Trace that N-Trace has in one dialect. */
#define OF_CTTE (RVT_OPT_BRANCH_PREDICTION | RVT_OPT_JUMP_TARGET_CACHE)

/* What recordings, and files of chips, say besides, which is no matter for a decoder. */
static const char *const passed_over[] = { "cpu", "src", "timestamp_frequency", "compatible" };

struct parser {
	struct rvt_params *params;
	const char *name;
	unsigned int line;
	bool protocol_given, dialect_given, xlen_given, type_given;
	bool type_bits_given, data_type_given;
	char **error;
};

struct text {
	const char *s;
	size_t len;
};

static bool text_is(struct text t, const char *s)
{
	return t.len == strlen(s) && !memcmp(t.s, s, t.len);
}

static struct text trim(struct text t)
{
	while (t.len && isspace((unsigned char)t.s[0]))
		t.s++, t.len--;
	while (t.len && isspace((unsigned char)t.s[t.len - 1]))
		t.len--;
	return t;
}

/* Cuts what precedes @sep off *rest; all of it when there is no @sep. */
static struct text cut(struct text *rest, char sep)
{
	const char *end = memchr(rest->s, sep, rest->len);
	struct text head = { rest->s, end ? (size_t)(end - rest->s) : rest->len };
	size_t used = head.len + (end ? 1 : 0);

	rest->s += used;
	rest->len -= used;
	return trim(head);
}

/* What is valid where the error is: keys, names or a range. */
static void print_valid(FILE *f, const struct key *key, unsigned int protocol)
{
	const char *sep = "";
	unsigned int mask = protocol ? 1u << protocol : BOTH;

	if (!key) {
		for (size_t i = 0; i < rvt_params_n_keys; i++) {
			if (!(rvt_params_keys[i].protocols & mask))
				continue;
			fprintf(f, "%s%s%s", sep, rvt_params_keys[i].name,
				rvt_params_keys[i].type == KEY_VECTORS ? "N" : "");
			sep = ", ";
		}
		return;
	}
	switch (key->type) {
	case KEY_NUMBER:
		fprintf(f, "%u..%u", key->min, key->max);
		break;
	case KEY_NAME:
	case KEY_SET:
	case KEY_IOPTIONS:
		for (const struct name *n = key->names; n->name; n++) {
			if (!(n->protocols & mask))
				continue;
			fprintf(f, "%s%s", sep, n->name);
			sep = ", ";
		}
		if (key->type == KEY_IOPTIONS)
			fprintf(f, "%s-", sep);
		break;
	default:
		fputs("an address, such as 0x80000000", f);
		break;
	}
}

/* Sets the message "FILE:LINE: <what> 'text'; valid <keys|values>: ..." and returns -EINVAL. */
static int fail(struct parser *p, const char *what, struct text t, const struct key *key)
{
	size_t size;
	FILE *f = open_memstream(p->error, &size);

	if (!f)
		return -ENOMEM;
	fprintf(f, "%s:%u: %s '%.*s'", p->name, p->line, what, (int)t.len, t.s);
	if (key)
		fprintf(f, " for '%s%s'", key->name, key->type == KEY_VECTORS ? "N" : "");
	fprintf(f, "; valid %s: ", key ? "values" : "keys");
	print_valid(f, key, p->params->protocol);
	return fclose(f) ? -ENOMEM : -EINVAL;
}

static int parse_fail(char **error, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vasprintf(error, format, args);
	va_end(args);
	if (n < 0)
		*error = NULL;
	return n < 0 ? -ENOMEM : -EINVAL;
}

static bool parse_number(struct text t, uint64_t *value)
{
	char buf[32], *end;

	if (!t.len || t.len >= sizeof(buf) || !isdigit((unsigned char)t.s[0]))
		return false;
	memcpy(buf, t.s, t.len);
	buf[t.len] = 0;
	errno = 0;
	*value = strtoull(buf, &end, 0);
	return !errno && !*end;
}

static const struct name *find_name(const struct key *key, struct text t, unsigned int protocol)
{
	for (const struct name *n = key->names; n->name; n++)
		if (n->protocols & 1u << protocol && text_is(t, n->name))
			return n;
	return NULL;
}

static int parse_set(struct parser *p, const struct key *key, struct text value)
{
	unsigned int *field = (void *)((char *)p->params + key->offset);

	*field = 0;
	while (value.len) {
		struct text item = cut(&value, ',');
		const struct name *n = find_name(key, item, p->params->protocol);

		if (!n)
			return fail(p, "unknown value", item, key);
		*field |= n->value;
	}
	return 0;
}

static int parse_ioptions(struct parser *p, const struct key *key, struct text value)
{
	unsigned int *items = (unsigned int *)((char *)p->params + key->offset);
	unsigned int *n_items = items - 1;

	*n_items = 0;
	memset(items, 0, RVT_MAX_IOPTIONS * sizeof(*items));
	while (value.len) {
		struct text item = cut(&value, ',');
		const struct name *n = find_name(key, item, p->params->protocol);

		if (!n && !text_is(item, "-"))
			return fail(p, "unknown value", item, key);
		if (*n_items == RVT_MAX_IOPTIONS)
			return fail(p, "too many bits at", item, key);
		items[(*n_items)++] = n ? n->value : 0;
	}
	return 0;
}

/* @index: what follows "trap_vector.exception." */
static int parse_vectors(struct parser *p, const struct key *key, struct text index,
			 struct text value)
{
	struct rvt_trap_vectors *v = &p->params->vectors;
	bool interrupt = key->offset == FIELD(vectors.interrupt);
	uint64_t cause, address;

	if (!parse_number(index, &cause) || cause >= RVT_MAX_CAUSES)
		return parse_fail(p->error,
				  "%s:%u: unknown cause '%.*s' for '%sN'; valid values: 0..%u",
				  p->name, p->line, (int)index.len, index.s, key->name,
				  RVT_MAX_CAUSES - 1);
	if (!parse_number(value, &address))
		return fail(p, "unknown value", value, key);
	*(interrupt ? &v->interrupt_valid : &v->exception_valid) |= 1ull << cause;
	(interrupt ? v->interrupt : v->exception)[cause] = address;
	return 0;
}

static int parse_value(struct parser *p, const struct key *key, struct text index,
		       struct text value)
{
	void *field = (char *)p->params + key->offset;
	const struct name *n;
	uint64_t number;

	switch (key->type) {
	case KEY_NAME:
		n = find_name(key, value, p->params->protocol);
		if (!n)
			return fail(p, "unknown value", value, key);
		*(unsigned int *)field = n->value;
		return 0;
	case KEY_SET:
		return parse_set(p, key, value);
	case KEY_NUMBER:
		if (!parse_number(value, &number) || number < key->min || number > key->max)
			return fail(p, "unknown value", value, key);
		*(unsigned int *)field = number;
		return 0;
	case KEY_ADDRESS:
		if (!parse_number(value, field))
			return fail(p, "unknown value", value, key);
		return 0;
	case KEY_IOPTIONS:
		return parse_ioptions(p, key, value);
	case KEY_VECTOR:
		if (!parse_number(value, &p->params->vectors.base))
			return fail(p, "unknown value", value, key);
		p->params->vectors.base_valid = true;
		return 0;
	case KEY_VECTORS:
		return parse_vectors(p, key, index, value);
	}
	return -EINVAL;
}

/* Sets *index to what follows the name of an indexed key. */
static const struct key *find_key(struct text name, unsigned int protocol, struct text *index)
{
	for (size_t i = 0; i < rvt_params_n_keys; i++) {
		size_t len = strlen(rvt_params_keys[i].name);

		if (!(rvt_params_keys[i].protocols & 1u << protocol))
			continue;
		if (rvt_params_keys[i].type == KEY_VECTORS && name.len > len &&
		    !memcmp(name.s, rvt_params_keys[i].name, len)) {
			*index = (struct text){ name.s + len, name.len - len };
			return &rvt_params_keys[i];
		}
		if (text_is(name, rvt_params_keys[i].name))
			return &rvt_params_keys[i];
	}
	return NULL;
}

/*
 * The protocol decides what a dialect may be, and both decide the defaults of all else: one pass
 * over the text for each.
 */
enum pass { PASS_PROTOCOL, PASS_DIALECT, PASS_REST };

static enum pass pass_of(struct text name)
{
	if (text_is(name, "protocol"))
		return PASS_PROTOCOL;
	return text_is(name, "dialect") ? PASS_DIALECT : PASS_REST;
}

static int parse_protocol(struct parser *p, struct text value)
{
	const struct name *n = find_name(&rvt_params_keys[0], value, RVT_PROTOCOL_NTRACE);

	if (!n)
		return fail(p, "unknown value", value, &rvt_params_keys[0]);
	p->protocol_given = true;
	rvt_params_set_defaults(p->params, n->value, n->value == RVT_PROTOCOL_NTRACE ?
		     RVT_DIALECT_NTRACE_1_0 : RVT_DIALECT_ETRACE_2_0);
	return 0;
}

/* Without a protocol the name of the dialect says which. */
static int parse_dialect(struct parser *p, struct text value)
{
	const struct key *key = &rvt_params_keys[1];
	const struct name *n;

	if (p->protocol_given) {
		n = find_name(key, value, p->params->protocol);
	} else {
		n = find_name(key, value, RVT_PROTOCOL_NTRACE);
		if (!n)
			n = find_name(key, value, RVT_PROTOCOL_ETRACE);
	}
	if (!n)
		return fail(p, "unknown value", value, key);
	rvt_params_set_defaults(p->params, n->protocols == NTRACE ? RVT_PROTOCOL_NTRACE :
		     RVT_PROTOCOL_ETRACE, n->value);
	p->dialect_given = true;
	return 0;
}

/* What has this framing is of this dialect, if nothing else is said. */
static void imply_dialect(struct parser *p, struct text name, struct text value)
{
	if (text_is(name, "framing") && text_is(value, "esp32") && !p->dialect_given &&
	    p->params->protocol != RVT_PROTOCOL_NTRACE)
		rvt_params_set_defaults(p->params, RVT_PROTOCOL_ETRACE, RVT_DIALECT_ETRACE_ESP32);
}

static bool is_passed_over(struct text name)
{
	for (size_t i = 0; i < sizeof(passed_over) / sizeof(*passed_over); i++)
		if (text_is(name, passed_over[i]))
			return true;
	return false;
}

static int parse_rest(struct parser *p, struct text name, struct text value)
{
	struct text index = {};
	const struct key *key = find_key(name, p->params->protocol, &index);

	if (!key)
		return is_passed_over(name) ? 0 : fail(p, "unknown key", name, NULL);
	if (text_is(name, "xlen"))
		p->xlen_given = true;
	if (text_is(name, "type_instruction"))
		p->type_given = true;
	p->type_bits_given |= text_is(name, "type_bits");
	p->data_type_given |= text_is(name, "type_data");
	return parse_value(p, key, index, value);
}

static int parse_line(struct parser *p, struct text line, enum pass pass)
{
	struct text value = cut(&line, '#'), name;

	if (!value.len)
		return 0;
	if (!memchr(value.s, '=', value.len))
		return pass == PASS_REST ? fail(p, "no '=' in", value, NULL) : 0;
	name = cut(&value, '=');
	value = trim(value);
	if (pass == PASS_DIALECT)
		imply_dialect(p, name, value);
	if (pass_of(name) != pass)
		return 0;
	switch (pass) {
	case PASS_PROTOCOL:
		return parse_protocol(p, value);
	case PASS_DIALECT:
		return parse_dialect(p, value);
	default:
		return parse_rest(p, name, value);
	}
}

static int parse_pass(struct parser *p, struct text rest, enum pass pass)
{
	int ret = 0;

	for (p->line = 1; rest.len && !ret; p->line++)
		ret = parse_line(p, cut(&rest, '\n'), pass);
	return ret;
}

/* @params is whole. */
static int parse_all(struct rvt_params *params, const char *name, struct text all, char **error)
{
	struct parser p = { .params = params, .name = name, .error = error };
	int ret;

	ret = parse_pass(&p, all, PASS_PROTOCOL);
	if (!ret)
		ret = parse_pass(&p, all, PASS_DIALECT);
	if (ret)
		return ret;
	if (params->protocol == RVT_PROTOCOL_NONE)
		return parse_fail(error, "%s: no 'protocol'; add a line 'protocol = ntrace' or "
				  "'protocol = etrace'", name);
	ret = parse_pass(&p, all, PASS_REST);
	if (ret)
		return ret;
	if (params->protocol == RVT_PROTOCOL_ETRACE && !p.xlen_given)
		params->xlen = params->iaddress_width_p <= 32 ? 32 : 64;
	/* The encapsulation specification's example of a wider type field says 2. */
	if (!p.type_given && params->type_bits >= 2)
		params->type_instruction = 2;
	/* No text gives one; of two values it is the other. */
	if (!p.data_type_given && p.type_bits_given && params->type_bits)
		params->type_data = params->type_bits == 1 ? !params->type_instruction : 3;
	if (params->protocol == RVT_PROTOCOL_NTRACE && params->options & OF_CTTE &&
	    params->dialect != RVT_DIALECT_NTRACE_CTTE)
		return parse_fail(error, "%s: branch_prediction and jump_target_cache are "
				  "options of N-Trace in 'dialect = ctte' only", name);
	params->isa &= ~RVT_ISA_RV32;
	if (params->xlen == 32)
		params->isa |= RVT_ISA_RV32;
	return 0;
}

int rvt_params_parse(struct rvt_params *params, const char *name, const char *text, size_t len,
		     char **error)
{
	struct rvt_params full;
	int ret;

	*error = NULL;
	if (sized_copy(&full, sizeof(full), params))
		return parse_fail(error, "%s: struct rvt_params does not say its size", name);
	ret = parse_all(&full, name, (struct text){ text, len }, error);
	return ret ? ret : sized_fill(params, &full, sizeof(full));
}

int rvt_params_load(struct rvt_params *params, const char *path, char **error)
{
	struct rvt_params none;
	char buf[4096], *text = NULL;
	FILE *in = fopen(path, "re"), *out;
	size_t len = 0, n;
	int ret;

	*error = NULL;
	if (!in) {
		ret = -errno;
		parse_fail(error, "%s: %s", path, strerror(-ret));
		return ret;
	}
	out = open_memstream(&text, &len);
	if (!out) {
		fclose(in);
		return -ENOMEM;
	}
	while ((n = fread(buf, 1, sizeof(buf), in)))
		fwrite(buf, 1, n, out);
	ret = ferror(in) ? -EIO : 0;
	fclose(in);
	if (fclose(out))
		ret = -ENOMEM;
	if (ret == -EIO)
		parse_fail(error, "%s: cannot be read; it must be a text file", path);
	memset(&none, 0, sizeof(none));
	if (!ret && sized_fill(params, &none, sizeof(none)))
		ret = parse_fail(error, "%s: struct rvt_params does not say its size", path);
	if (!ret)
		ret = rvt_params_parse(params, path, text, len, error);
	free(text);
	return ret;
}
