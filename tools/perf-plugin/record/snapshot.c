// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Writes the tasks and mappings that exist when a recording begins, by a BPF program
 * (snapshot.bpf.c). If BPF cannot be used, or was not compiled in, proc.c reads them from /proc.
 */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "common/cmd.h"
#include "record/record.h"
#include "record/tasks.h"
#include "bpf/snapshot.h"

#ifdef HAVE_LIBBPF
#include "bpf/load.h"

static int put_maps(struct recorder *rec, const char *bytes, size_t len)
{
	const size_t head = offsetof(struct snapshot_map, name);
	int err = 0;

	for (size_t pos = 0; !err && len - pos > head; ) {
		struct snapshot_map map;

		memcpy(&map, bytes + pos, head);
		if (map.name_len > len - pos - head || map.name_len > SNAPSHOT_PATH)
			break;
		memcpy(map.name, bytes + pos + head, map.name_len);
		map.name[map.name_len ? map.name_len - 1 : 0] = 0;
		err = record_put_map(rec, &map);
		pos += head + map.name_len;
	}
	return err;
}

static int put_all(struct recorder *rec, struct bpf_object *object)
{
	char *tasks = NULL, *maps = NULL;
	size_t n_tasks = 0, n_maps = 0;
	int err = bpf_read_iterator(object, "tasks", &tasks, &n_tasks);

	if (!err)
		err = bpf_read_iterator(object, "maps", &maps, &n_maps);
	n_tasks /= sizeof(struct snapshot_task);
	if (!err && !n_tasks)
		err = -ENOTSUP;
	for (size_t i = 0; i < n_tasks && !err; i++)
		err = record_put_task(rec, &((const struct snapshot_task *)tasks)[i]);
	if (!err)
		err = put_maps(rec, maps, n_maps);
	free(tasks);
	free(maps);
	return err;
}

/*
 * Writes the snapshot. Returns -ENOTSUP, and sets *@why, if not possible by BPF. The iterators see
 * everything, with the first namespace's numbers.
 */
static int snapshot(struct recorder *rec, const char **why)
{
	struct bpf_object *object;
	int err;

	if (geteuid())
		*why = "that needs root";
	else if (!record_in_first_pid_namespace())
		*why = RECORD_IN_CONTAINER;
	if (*why)
		return -ENOTSUP;
	object = bpf_open_snapshot();
	err = object ? bpf_object__load(object) : -errno;
	if (err) {
		*why = bpf_refusal(err);
		err = -ENOTSUP;
	} else {
		*why = "the kernel's iterators give nothing";
		err = put_all(rec, object);
	}
	bpf_object__close(object);
	return err;
}
#else
static int snapshot(struct recorder *rec, const char **why)
{
	(void)rec;
	*why = RECORD_WITHOUT_BPF;
	return -ENOTSUP;
}
#endif

int record_snapshot(struct recorder *rec)
{
	const char *why = NULL;
	int err = snapshot(rec, &why);

	if (err == -ENOTSUP)
		cmd_info("what ran before is read from /proc, not by a BPF program: %s", why);
	else
		cmd_info("what ran before is told by a BPF program");
	return err;
}
