// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Sessions of recordings (perf.data): code and symbols come from the sideband and the file. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "util/array.h"
#include "state.h"
#include "symbol/kallsyms.h"

#define READ_AT_LEAST (64u << 10)

static int load_file(const char *path, char **text, size_t *len)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t room = 0;
	ssize_t n = 0;
	int err = 0;

	*text = NULL;
	*len = 0;
	if (fd < 0)
		return -errno;
	do {
		err = array_reserve(text, &room, *len, READ_AT_LEAST);
		if (err)
			break;
		n = read(fd, *text + *len, room - *len - 1);
		if (n < 0)
			err = -errno;
		else
			*len += n;
	} while (n > 0);
	close(fd);
	if (err)
		free(*text);
	else
		(*text)[*len] = 0;
	return err;
}

/* Functions that came and went while it was recorded are not in the copy of its end. */
static int add_ksymbols(const struct rvt_session *session, char **text, size_t *len)
{
	size_t room = *len;

	if (!session->ksymbols)
		return 0;
	if (array_reserve(text, &room, *len, session->ksymbols_len + 1))
		return -ENOMEM;
	memcpy(*text + *len, session->ksymbols, session->ksymbols_len + 1);
	*len += session->ksymbols_len;
	return 0;
}

/* An rvt_kallsyms_reader: the recording's own copy. */
static int unpack_kallsyms(void *ctx, char **text, size_t *len)
{
	const struct rvt_session *session = ctx;

	if (rvt_perfdata_kallsyms(session->file, text, len)) {
		*text = NULL;
		*len = 0;
		if (!session->ksymbols)
			return -ENOENT;
	}
	return add_ksymbols(session, text, len);
}

/* Reads the copy of /proc/kallsyms at @path, which the user gave. */
static int read_kallsyms(const char *path, char **text, size_t *len, char **error)
{
	int err = load_file(path, text, len);

	if (err)
		return rvt_session_fail(error, err, "%s: %s", path, strerror(-err));
	if (rvt_kallsyms_names_code(*text, *len))
		return 0;
	free(*text);
	return rvt_session_fail(error, -ENODATA, "%s: no copy of /proc/kallsyms with addresses, "
				"as root has it", path);
}

static int load_kallsyms(struct rvt_session *session, char **error)
{
	char *text;
	size_t len;
	int err = read_kallsyms(session->options.kallsyms, &text, &len, error);

	if (err)
		return err;
	err = add_ksymbols(session, &text, &len);
	if (!err)
		err = rvt_symbols_add_kallsyms(session->symbols, text, len);
	free(text);
	return err;
}

static int load_guest_kallsyms(struct rvt_session *session, char **error)
{
	const struct rvt_session_options *options = &session->options;
	char *text;
	size_t len;
	int err;

	if (!options->guest_kallsyms || !options->guest_vmlinux)
		return 0;
	err = read_kallsyms(options->guest_kallsyms, &text, &len, error);
	if (err)
		return err;
	err = rvt_symbols_add_guest(session->symbols, options->guest_vmlinux, text, len);
	free(text);
	return err;
}

static int load_symbols(struct rvt_session *session, char **error)
{
	const struct rvt_code *vdso = rvt_sideband_vdso(session->sideband);
	int err = rvt_symbols_create(session->options.symfs, &session->symbols);

	if (err)
		return err;
	if (vdso)
		rvt_symbols_add_image(session->symbols, "[vdso]", vdso->bytes, vdso->len);
	err = load_guest_kallsyms(session, error);
	if (err)
		return err;
	if (session->options.kallsyms)
		return load_kallsyms(session, error);
	rvt_symbols_read_kallsyms(session->symbols, unpack_kallsyms, session);
	return 0;
}

static int perfdata_kernel(struct rvt_session *session, struct rvt_image *image,
			   struct rvt_space **kernel)
{
	return rvt_sideband_kernel(session->sideband, image, kernel);
}

static void perfdata_release(struct rvt_session *session, const void *bytes, size_t len)
{
	rvt_perfdata_release(session->file, bytes, len);
}

static const char *perfdata_warning(const struct rvt_session *session)
{
	return rvt_perfdata_warning(session->file);
}

static void perfdata_close(struct rvt_session *session)
{
	rvt_perfdata_close(session->file);
}

static const struct session_source perfdata_source = {
	.kernel = perfdata_kernel,
	.release = perfdata_release,
	.warning = perfdata_warning,
	.close = perfdata_close,
};

static int load_kernel(struct rvt_session *session, char **error)
{
	const struct rvt_session_options *options = &session->options;
	int err = perfdata_kernel(session, session->decode.image, &session->decode.kernel);
	const char *path = options->vmlinux ?: options->kcore ?: options->firmware ?:
			   rvt_perfdata_path(session->file);

	if (!err) {
		path = options->guest_vmlinux;
		err = rvt_session_open_guest(session, &session->decode);
	}
	if (!err || err == -ENOMEM)
		return err;
	return rvt_session_fail(error, err, "%s: %s", path, err == -ENOEXEC ?
				"not a RISC-V ELF file with code" : strerror(-err));
}

/* Recordings of chosen tasks, and those that have nothing else to go by, name threads. */
static void choose_by_task(struct rvt_session *session)
{
	char *target = rvt_session_meta(session, "target");

	session->by_task = target && !strcmp(target, "task");
	/* nothing else tells; and the proposed driver ends a record with each switch */
	if (session->foreign && !session->has_switches && !session->contexts)
		session->by_task = true;
	free(target);
}

int rvt_session_open(const char *path, const struct rvt_session_options *options,
		     struct rvt_session **result, char **error)
{
	struct rvt_session *session;
	int err = rvt_session_create(&perfdata_source, options, &session, error);

	if (err)
		return err;
	err = rvt_perfdata_open(path, &session->file, error);
	if (!err)
		err = rvt_session_create_sideband(session);
	if (!err)
		err = rvt_session_read_meta(session, error);
	if (!err)
		err = rvt_session_read_records(session, error);
	if (!err)
		err = rvt_image_create(&session->decode.image);
	if (!err)
		err = load_kernel(session, error);
	if (!err)
		err = load_symbols(session, error);
	if (err)
		return rvt_session_give_up(session, err, path, error);
	choose_by_task(session);
	*result = session;
	return 0;
}
