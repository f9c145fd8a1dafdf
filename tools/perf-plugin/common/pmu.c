// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "common/pmu.h"
#include "common/text.h"

/* Parses "config1:0-3,7". */
static int parse_format(const char *text, struct pmu_term *term)
{
	const char *colon = strchr(text, ':');
	int *bits, n;

	if (!colon || strncmp(text, "config", 6))
		return -EINVAL;
	term->word = text[6] == ':' ? 0 : text[6] - '0';
	if (term->word > 3)
		return -EINVAL;
	n = parse_numbers(colon + 1, &bits);
	if (n < 0)
		return n;
	term->bits = 0;
	for (int i = 0; i < n; i++)
		term->bits |= bits[i] < 64 ? 1ULL << bits[i] : 0;
	free(bits);
	return term->bits ? 0 : -EINVAL;
}

int pmu_read(struct pmu *pmu, const char *sysfs, const char *name)
{
	char *text = read_text("%s/bus/event_source/devices/%s/type", sysfs, name);
	char path[512];
	struct dirent *entry;
	DIR *dir;

	memset(pmu, 0, sizeof(*pmu));
	if (!text)
		return -ENOENT;
	pmu->type = strtoul(text, NULL, 10);
	free(text);
	snprintf(path, sizeof(path), "%s/bus/event_source/devices/%s/format", sysfs, name);
	dir = opendir(path);
	if (!dir)
		return 0;
	while ((entry = readdir(dir)) && pmu->n_terms < PMU_MAX_TERMS) {
		struct pmu_term *term = &pmu->terms[pmu->n_terms];

		if (entry->d_name[0] == '.' || strlen(entry->d_name) >= sizeof(term->name))
			continue;
		text = read_text("%s/%s", path, entry->d_name);
		strcpy(term->name, entry->d_name);
		if (text && !parse_format(text, term))
			pmu->n_terms++;
		free(text);
	}
	closedir(dir);
	return 0;
}

static const struct pmu_term *find_term(const struct pmu *pmu, const char *name)
{
	for (unsigned int i = 0; i < pmu->n_terms; i++)
		if (!strcmp(pmu->terms[i].name, name))
			return &pmu->terms[i];
	return NULL;
}

static __u64 *config_word(const struct pmu_term *term, struct perf_event_attr *attr)
{
	switch (term->word) {
	case 0: return &attr->config;
	case 1: return &attr->config1;
	case 2: return &attr->config2;
#ifdef PERF_ATTR_SIZE_VER8
	case 3: return &attr->config3;
#endif
	default: return NULL;
	}
}

/*
 * Sets a term. Returns 0; -ERANGE: @value does not fit; -EOPNOTSUPP: the system on which this was
 * built has no config3.
 */
static int set_term(const struct pmu_term *term, uint64_t value, struct perf_event_attr *attr)
{
	int width = __builtin_popcountll(term->bits);
	__u64 *word = config_word(term, attr);

	if (!word)
		return -EOPNOTSUPP;
	if (width < 64 && value >> width)
		return -ERANGE;
	*word &= ~term->bits;
	for (int bit = 0; bit < 64; bit++) {
		if (!(term->bits >> bit & 1))
			continue;
		*word |= (value & 1) << bit;
		value >>= 1;
	}
	return 0;
}

void pmu_switch_on(const struct pmu *pmu, const char *name, struct perf_event_attr *attr)
{
	const struct pmu_term *term = find_term(pmu, name);

	if (term)
		set_term(term, 1, attr);
}

uint64_t pmu_value(const struct pmu *pmu, const char *name, const struct perf_event_attr *attr)
{
	const struct pmu_term *term = find_term(pmu, name);
	const __u64 *from = term ? config_word(term, (struct perf_event_attr *)attr) : NULL;
	uint64_t word = from ? *from : 0, value = 0;

	for (int bit = 63; from && bit >= 0; bit--)
		if (term->bits >> bit & 1)
			value = value << 1 | (word >> bit & 1);
	return value;
}

int pmu_invalid(char **error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (vasprintf(error, format, args) < 0)
		*error = NULL;
	va_end(args);
	return -EINVAL;
}

static int unknown_term(const struct pmu *pmu, const char *name, char **error)
{
	char *list = NULL;
	size_t len;
	FILE *out = open_memstream(&list, &len);

	if (!out)
		return -ENOMEM;
	for (unsigned int i = 0; i < pmu->n_terms; i++)
		fprintf(out, "%s %s", i ? "," : "", pmu->terms[i].name);
	fclose(out);
	pmu_invalid(error, "unknown term '%s'; valid terms:%s", name, list);
	free(list);
	return -EINVAL;
}

static int parse_one_term(const struct pmu *pmu, char *text, struct perf_event_attr *attr,
			  char **error)
{
	char *equals = strchr(text, '=');
	const struct pmu_term *term;
	uint64_t value = 1;
	int err;

	if (equals) {
		const char *end = equals + 1;

		*equals = 0;
		if (read_number(&end, &value) || *end)
			return pmu_invalid(error, "'%s' is no number, in term '%s'", equals + 1,
					   text);
	}
	if (!strcmp(text, "config") || (!strncmp(text, "config", 6) && text[6] >= '1' &&
					 text[6] <= '3' && !text[7])) {
		const struct pmu_term raw = { .word = text[6] ? text[6] - '0' : 0, .bits = ~0ULL };

		if (set_term(&raw, value, attr))
			return pmu_invalid(error, "this build knows no %s", text);
		return 0;
	}
	term = find_term(pmu, text);
	if (!term)
		return unknown_term(pmu, text, error);
	err = set_term(term, value, attr);
	if (err == -EOPNOTSUPP)
		return pmu_invalid(error, "term '%s': this was built with headers of a kernel "
				   "before 6.3, which has no config3", text);
	if (err)
		return pmu_invalid(error, "%llu is too large for term '%s', which has %d bits",
			       (unsigned long long)value, text, __builtin_popcountll(term->bits));
	return 0;
}

int pmu_parse_modifiers(const char *text, struct perf_event_attr *attr, bool *modified,
			char **error)
{
	const char *guest = strchr(text, 'G'), *host = strchr(text, 'H');

	attr->exclude_host = guest && !host;
	attr->exclude_guest = host && !guest;
	*modified = strpbrk(text, "ukh");
	if (*modified)
		attr->exclude_user = attr->exclude_kernel = attr->exclude_hv = 1;
	for (; *text; text++) {
		if (*text == 'u')
			attr->exclude_user = 0;
		else if (*text == 'k')
			attr->exclude_kernel = 0;
		else if (*text == 'h')
			attr->exclude_hv = 0;
		else if (*text != 'G' && *text != 'H')
			return pmu_invalid(error, "unknown modifier '%c'; valid: u (user), k "
					   "(kernel), h (firmware), G (guests), H (host)", *text);
	}
	return 0;
}

int pmu_parse_event(const struct pmu *pmu, const char *name, const char *event,
		    struct perf_event_attr *attr, bool *modified, char **error)
{
	size_t name_len = strlen(name);
	char *copy, *rest, *end, *term;
	int err = 0;

	*error = NULL;
	*modified = false;
	if (strncmp(event, name, name_len) || (event[name_len] && !strchr("/:", event[name_len])))
		return pmu_invalid(error, "event '%s' is not an event of the PMU '%s' (write "
				      "%s/TERMS/uk)",
			       event, name, name);
	copy = strdup(event + name_len);
	if (!copy)
		return -ENOMEM;
	rest = copy;
	if (*rest == '/') {
		end = strchr(++rest, '/');
		if (!end) {
			err = pmu_invalid(error, "event '%s' lacks its closing '/'", event);
			goto out;
		}
		*end = 0;
		while (!err && (term = strsep(&rest, ",")))
			if (*term)
				err = parse_one_term(pmu, term, attr, error);
		rest = end + 1;
	}
	if (!err)
		err = pmu_parse_modifiers(*rest == ':' ? rest + 1 : rest, attr, modified, error);
out:
	free(copy);
	return err;
}
