// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <rvtrace/sideband.h>
#include "archive/files.h"
#include "archive/tar.h"
#include "common/cmd.h"
#include "file/file.h"

#define COPY_BYTES (64u << 10)
#define RECORDING "perf.data"

/* Writes the recording, and then its header once more, with its size. */
static int put_recording(struct rvt_perfdata *file, int fd)
{
	struct stat st;
	off_t start, end;
	int err;

	if (stat(rvt_perfdata_path(file), &st))
		return -errno;
	err = tar_header(fd, RECORDING, &st);
	start = lseek(fd, 0, SEEK_CUR);
	if (!err)
		err = rvt_perfdata_archive(file, fd);
	if (err)
		return err;
	end = lseek(fd, 0, SEEK_CUR);
	if (start < 0 || end < 0 || lseek(fd, 0, SEEK_SET) < 0)
		return -errno;
	st.st_size = end - start;
	err = tar_header(fd, RECORDING, &st);
	if (!err && lseek(fd, 0, SEEK_END) < 0)
		err = -errno;
	return err ? err : tar_pad(fd, st.st_size);
}

/* Writes exactly @size bytes: zeros if the file has become shorter. */
static int put_bytes(int fd, int from, uint64_t size, const char *name)
{
	char part[COPY_BYTES];
	uint64_t left = size;
	int err = 0;

	while (left && !err) {
		size_t want = left < sizeof(part) ? left : sizeof(part);
		ssize_t n = read(from, part, want);

		if (n <= 0) {
			if (n < 0)
				cmd_warning("%s: %s: the rest is zeros", name, strerror(errno));
			else
				cmd_warning("%s became shorter while it was read", name);
			memset(part, 0, sizeof(part));
			for (; left && !err; left -= want) {
				want = left < sizeof(part) ? left : sizeof(part);
				err = rvt_file_write(fd, part, want);
			}
			break;
		}
		err = rvt_file_write(fd, part, n);
		left -= n;
	}
	return err ? err : tar_pad(fd, size);
}

static int put_file(int fd, int from, const char *name, const struct stat *st)
{
	char *member;
	int err;

	if (asprintf(&member, "files%s", name) < 0)
		return -ENOMEM;
	err = tar_header(fd, member, st);
	free(member);
	return err ? err : put_bytes(fd, from, st->st_size, name);
}

/* Writes the debug file of this build, if the system has it. */
static int put_debug_file(int fd, const uint8_t *id, size_t len)
{
	char name[PATH_MAX] = "/usr/lib/debug/.build-id/", *end = name + strlen(name);
	struct stat st;
	int from, err;

	if (len < 2 || len > 64)
		return 0;
	for (size_t i = 0; i < len; i++)
		end += sprintf(end, "%02x%s", id[i], i ? "" : "/");
	strcpy(end, ".debug");
	from = rvt_file_open(name, 0, &st);
	if (from < 0)
		return 0;
	err = put_file(fd, from, name, &st);
	close(from);
	return err;
}

/* Returns the build id of the ELF file @fd, malloc'd; NULL: it has none. */
static uint8_t *build_id_of(int fd, size_t *len)
{
	uint8_t *copy = NULL;
	const void *id;
	ssize_t n;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	n = elf ? dwelf_elf_gnu_build_id(elf, &id) : 0;
	if (n > 0)
		copy = malloc(n);
	if (copy)
		memcpy(copy, id, n);
	elf_end(elf);
	*len = copy ? n : 0;
	return copy;
}

static bool leads_out(const char *name)
{
	size_t len = strlen(name);

	return strstr(name, "/../") || (len >= 3 && !strcmp(name + len - 3, "/.."));
}

/* Writes a mapped file. The names of mappings are no links, unless somebody made one since. */
static int put_mapped(struct rvt_perfdata *file, int fd, const char *name)
{
	const uint8_t *recorded;
	size_t recorded_len = rvt_perfdata_build_id(file, name, &recorded), len;
	struct stat st;
	uint8_t *id;
	int from = leads_out(name) ? -EINVAL : rvt_file_open(name, O_NOFOLLOW, &st), err;

	if (from < 0) {
		cmd_warning("%s is not in the archive: %s", name,
			    from == -EINVAL ? "it is no regular file" : strerror(-from));
		return 0;
	}
	id = build_id_of(from, &len);
	if (recorded_len && (len != recorded_len || memcmp(id, recorded, len)))
		cmd_warning("%s has changed since it was recorded: its code cannot be decoded",
			    name);
	if (lseek(from, 0, SEEK_SET) < 0)
		err = -errno;
	else
		err = put_file(fd, from, name, &st);
	close(from);
	if (!err && len)
		err = put_debug_file(fd, id, len);
	free(id);
	return err;
}

static int read_mappings(struct rvt_perfdata *file, struct rvt_sideband *sideband)
{
	struct rvt_perfdata_record record;
	uint64_t pos = 0;
	int err;

	while ((err = rvt_perfdata_next(file, &pos, &record)) > 0) {
		err = rvt_sideband_add(sideband, &record);
		if (err == -ENOMEM)
			return err;
	}
	/* the decoder will report the damage */
	return rvt_sideband_sort(sideband);
}

int archive_with_files(struct rvt_perfdata *file, int fd)
{
	const struct rvt_sideband_options options = { .size = sizeof(options) };
	struct rvt_sideband *sideband;
	const char *name;
	int err = rvt_sideband_create(&options, &sideband);

	if (err)
		return err;
	err = put_recording(file, fd);
	if (!err)
		err = read_mappings(file, sideband);
	for (size_t n = 0; !err && (name = rvt_sideband_file(sideband, n)); n++)
		err = put_mapped(file, fd, name);
	rvt_sideband_destroy(sideband);
	return err ? err : tar_end(fd);
}
