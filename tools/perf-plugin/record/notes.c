// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <fcntl.h>
#include <gelf.h>
#include <string.h>
#include <unistd.h>
#include "record/notes.h"

#define NOTE_GNU_BUILD_ID 3
#define MAX_NOTES 4096

/* notes are Nhdr, name, description, each padded to 4 bytes */
size_t notes_build_id(const char *path, uint8_t id[NOTES_ID_BYTES])
{
	uint8_t bytes[MAX_NOTES];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t len, pos = 0;

	if (fd < 0)
		return 0;
	len = read(fd, bytes, sizeof(bytes));
	close(fd);
	while (len - pos > (ssize_t)sizeof(GElf_Nhdr)) {
		const GElf_Nhdr *note = (const void *)(bytes + pos);
		uint64_t from = pos + sizeof(*note) + ((note->n_namesz + 3ULL) & ~3ULL);

		if (from + note->n_descsz > (uint64_t)len)
			return 0;
		if (note->n_type == NOTE_GNU_BUILD_ID && note->n_namesz == 4 &&
		    !memcmp(note + 1, "GNU", 4)) {
			if (note->n_descsz > NOTES_ID_BYTES)
				return 0;
			memcpy(id, bytes + from, note->n_descsz);
			return note->n_descsz;
		}
		pos = from + ((note->n_descsz + 3ULL) & ~3ULL);
	}
	return 0;
}
