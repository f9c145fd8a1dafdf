// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* decode --guess: prints what the parameters of a dump may be, without decoding it. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "common/chips.h"
#include "common/cmd.h"
#include "decode/decode.h"
#include "file/file.h"
#include "guess/guess.h"

#define GUESS_BYTES (1 << 20)
#define MAX_SHOWN 6

/* The code, for harts of one width. */
struct code {
	struct rvt_image *image;
	struct rvt_space *space;
};

/* ---- code ---- */

/* Returns EI_CLASS of an ELF file; ELFCLASSNONE: not an ELF file. */
static unsigned char class_of(const char *path)
{
	unsigned char ident[EI_NIDENT] = { 0 };
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, ident, sizeof(ident)) : -1;

	if (fd >= 0)
		close(fd);
	return n == sizeof(ident) && !memcmp(ident, ELFMAG, SELFMAG) ? ident[EI_CLASS] :
								       ELFCLASSNONE;
}

static int map_image(struct rvt_space *space, const struct rvt_dump_image *image)
{
	struct stat st;

	if (!image->raw)
		return rvt_space_map_elf(space, image->path, image->address);
	if (stat(image->path, &st))
		return -errno;
	return rvt_space_map_file(space, image->address, st.st_size, 0, image->path, NULL, 0);
}

static int open_code(struct code *code, const struct rvt_dump_image *images, unsigned int n)
{
	int ret = rvt_image_create(&code->image);

	if (!ret)
		ret = rvt_space_create(code->image, NULL, &code->space);
	for (unsigned int i = 0; i < n && !ret; i++) {
		ret = map_image(code->space, &images[i]);
		if (ret)
			cmd_error(0, "%s: %s", images[i].path, ret == -ENOEXEC ?
				  "not a RISC-V ELF file with code in it" : strerror(-ret));
	}
	return ret;
}

/* Opens the code for both widths. A memory image may be of either; an ELF file says which. */
static int open_codes(struct code codes[2], const struct rvt_dump_image *images, unsigned int n)
{
	bool is32 = false, is64 = false;
	int ret = 0;

	for (unsigned int i = 0; i < n; i++) {
		unsigned char elf_class = images[i].raw ? ELFCLASSNONE : class_of(images[i].path);

		is32 |= elf_class == ELFCLASS32;
		is64 |= elf_class == ELFCLASS64;
	}
	if (n && !is64)
		ret = open_code(&codes[0], images, n);
	if (n && !ret && !is32)
		ret = open_code(&codes[1], images, n);
	return ret;
}

/* ---- chips ---- */

/* Returns the number of chips, or -errno. */
static int load_chips(struct rvt_guess_chip **result, struct chip **chips)
{
	int n = chips_list(chips), ret = 0;

	*result = n >= 0 ? calloc(n + 1, sizeof(**result)) : NULL;
	if (n >= 0 && !*result)
		return -ENOMEM;
	for (int i = 0; i < n && !ret; i++) {
		(*result)[i].name = (*chips)[i].name;
		ret = chips_params((*chips)[i].name, NULL, NULL, &(*result)[i].params);
	}
	return n < 0 ? n : ret ? ret : n;
}

/* ---- output ---- */

/* Prints the parameters that are not the dialect's defaults, with @sep between them. */
static void print_params(FILE *out, const struct rvt_params *params, const char *sep)
{
	struct rvt_params defaults;
	char *text = NULL, *usual = NULL, *rest, *line, *other;
	const char *before = "";

	rvt_params_init(&defaults, params->protocol, params->dialect);
	if (rvt_params_print(params, &text) || rvt_params_print(&defaults, &usual)) {
		free(text);
		return;
	}
	other = usual;
	for (rest = text; (line = strsep(&rest, "\n")) && *line; ) {
		char *end = strchrnul(other, '\n');
		bool same = !strncmp(line, other, end - other) && !line[end - other];

		other = *end ? end + 1 : end;
		if (same && strncmp(line, "protocol", 8) && strncmp(line, "dialect", 7) &&
		    strncmp(line, "xlen", 4))
			continue;
		fprintf(out, "%s%s", before, line);
		before = sep;
	}
	free(text);
	free(usual);
}

static void print_candidate(const struct rvt_guess *guess, bool has_code)
{
	printf("# %9" PRIu64 " %7" PRIu64, guess->messages, guess->wrong);
	if (has_code)
		printf(" %12" PRIu64 " %7" PRIu64, guess->insns, guess->errors);
	fputs(guess->alike ? "  the same: " : "  ", stdout);
	if (guess->chip)
		printf("--chip %s: ", guess->chip);
	print_params(stdout, &guess->params, ", ");
	putchar('\n');
}

static const char *confidence_text(enum rvt_guess_confidence confidence, bool has_code)
{
	switch (confidence) {
	case RVT_GUESS_SURE:
		return "sure: the code is followed far without an error, which nothing else does";
	case RVT_GUESS_LIKELY:
		return has_code ? "likely: few errors, or not much code was followed" :
		       "likely: all messages make sense; with --image it could be sure";
	case RVT_GUESS_UNSURE:
		return has_code ? "not sure: others are as good, or there are errors" :
		       "not sure: others are as good, or some messages make no sense; give "
		       "--image ELF";
	default:
		return "none: no candidate makes sense of it";
	}
}

static int print_result(const struct decode_guess *job, const struct rvt_guess *guesses, size_t n,
			enum rvt_guess_confidence confidence, uint64_t len)
{
	const bool has_code = job->n_images;

	printf("# %s, %" PRIu64 " bytes%s\n# %s\n", job->path, len,
	       has_code ? "" : ", without code", confidence_text(confidence, has_code));
	printf("#  messages   wrong%s  parameters\n", has_code ? " instructions  errors" : "");
	for (size_t i = 0; i < n && i < MAX_SHOWN && (!guesses[0].insns || guesses[i].insns); i++)
		print_candidate(&guesses[i], has_code);
	if (confidence == RVT_GUESS_NONE)
		return cmd_error(1, "%s: nothing that is known makes sense of it. Is it the sink's "
				 "memory as it was, and does it begin with the oldest byte "
				 "(--wrapped-at)?%s", job->path, has_code ?
				 " Is that the code that was executed?" : "");
	if (guesses[0].chip)
		printf("# as --chip %s\n", guesses[0].chip);
	print_params(stdout, &guesses[0].params, "\n");
	putchar('\n');
	return confidence == RVT_GUESS_UNSURE;
}

/* Reads the oldest bytes. The caller frees them; NULL after a message. */
static uint8_t *read_bytes(const struct decode_guess *job, size_t *len)
{
	struct rvt_mapped_file *mapped = NULL;
	struct stat st;
	int fd = rvt_file_open(job->path, 0, &st);
	int ret = fd < 0 ? fd : rvt_file_map(fd, st.st_size, job->path, &mapped);
	uint8_t *bytes = NULL;

	if (fd >= 0)
		close(fd);
	if (!ret && job->oldest > mapped->len)
		ret = -ERANGE;
	if (!ret) {
		size_t behind = mapped->len - job->oldest;

		*len = mapped->len < GUESS_BYTES ? mapped->len : GUESS_BYTES;
		bytes = malloc(*len + 1);
		behind = behind < *len ? behind : *len;
		if (bytes) {
			memcpy(bytes, mapped->bytes + job->oldest, behind);
			memcpy(bytes + behind, mapped->bytes, *len - behind);
		}
	}
	rvt_file_unmap(mapped);
	if (!bytes)
		cmd_error(0, "%s: %s", job->path, ret == -EINVAL ? "not a regular file" :
			  strerror(ret ? -ret : ENOMEM));
	return bytes;
}

/*
 * Uses the guesses, the best first; @len: how many bytes they were made from. Returns the exit
 * status.
 */
typedef int (*guess_use)(const struct decode_guess *job, const struct rvt_guess *guesses, size_t n,
			 enum rvt_guess_confidence confidence, uint64_t len);

static int with_guesses(const struct decode_guess *job, guess_use use)
{
	enum rvt_guess_confidence confidence;
	struct rvt_guess_input input = { 0 };
	struct rvt_guess_chip *params = NULL;
	struct code codes[2] = { 0 };
	struct rvt_guess *guesses = NULL;
	struct chip *chips = NULL;
	size_t n;
	uint8_t *bytes = read_bytes(job, &input.len);
	int n_chips = bytes ? load_chips(&params, &chips) : -1, ret = 2;

	if (n_chips >= 0 && !open_codes(codes, job->images, job->n_images)) {
		input.bytes = bytes;
		input.chips = params;
		input.n_chips = n_chips;
		input.space32 = codes[0].space;
		input.space64 = codes[1].space;
		if (rvt_guess(&input, &guesses, &n, &confidence))
			cmd_error(0, "%s: %s", job->path, strerror(ENOMEM));
		else
			ret = use(job, guesses, n, confidence, input.len);
	}
	free(guesses);
	rvt_image_destroy(codes[0].image);
	rvt_image_destroy(codes[1].image);
	free(params);
	chips_free(chips, n_chips > 0 ? n_chips : 0);
	free(bytes);
	return ret;
}

int decode_guess(const struct decode_guess *job)
{
	return with_guesses(job, print_result);
}

static bool has_line(const char *text, const char *line)
{
	const size_t len = strlen(line);
	const char *end;

	for (; (end = strchr(text, '\n')); text = end + 1)
		if ((size_t)(end - text) == len && !memcmp(text, line, len))
			return true;
	return false;
}

/*
 * Lists the parameters that differ, as @a has them. The caller frees the text; NULL: out of memory.
 */
static char *differences(const struct rvt_params *a, const struct rvt_params *b)
{
	char *text = NULL, *other = NULL, *rest, *line, *result = NULL;
	const char *sep = "";
	size_t size;
	FILE *out;

	if (rvt_params_print(a, &text) || rvt_params_print(b, &other)) {
		free(text);
		return NULL;
	}
	out = open_memstream(&result, &size);
	for (rest = text; out && (line = strsep(&rest, "\n")) && *line; ) {
		if (has_line(other, line))
			continue;
		fprintf(out, "%s%s", sep, line);
		sep = ", ";
	}
	if (out && fclose(out)) {
		free(result);
		result = NULL;
	}
	free(text);
	free(other);
	return result;
}

static int print_likely(const struct decode_guess *job, const struct rvt_guess *guesses, size_t n,
			enum rvt_guess_confidence confidence, uint64_t len)
{
	char *text;

	(void)len;
	if (!n || confidence < RVT_GUESS_LIKELY || guesses[0].errors)
		return 0;
	text = differences(&guesses[0].params, job->params);
	if (text && *text)
		cmd_error(0, "%s: the dump contradicts its parameters. With these it does not: %s "
			  "(decode --guess tells more)", job->path, text);
	free(text);
	return 0;
}

void decode_hint(const struct decode_guess *job)
{
	with_guesses(job, print_likely);
}
