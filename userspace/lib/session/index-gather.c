// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Gathers what is in a segment: when it was, who ran, and in which granules. */
#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include "util/array.h"
#include "index-gather.h"

#define SLOTS (1u << 16)
#define GRANULE (1ull << RVT_INDEX_SHIFT)

/* Something that has a number, in a tree by itself. */
struct index_name {
	uint64_t number;	/* of a granule, in its file; of a task pid and tid */
	const char *text;	/* of a granule, the address of its path */
	uint32_t id;
};

/* A block that was noted. */
struct slot {
	const struct rvt_space *space;
	uint64_t generation, pc;
	uint32_t bytes, serial;
};

struct index_gatherer {
	struct index_names *names;
	uint32_t serial;	/* of the segment */
	/* by number: the last segment that has it */
	uint32_t *seen_tasks, *seen_granules;
	size_t tasks_room, granules_room;
	struct rvt_index_task last;	/* .comm: its address is enough */
	struct slot slots[SLOTS];
};

struct index_gatherer *rvt_index_gatherer(struct index_names *names)
{
	struct index_gatherer *gatherer = calloc(1, sizeof(*gatherer));

	if (gatherer)
		gatherer->names = names;
	return gatherer;
}

void rvt_index_gatherer_free(struct index_gatherer *gatherer)
{
	free(gatherer->seen_tasks);
	free(gatherer->seen_granules);
	free(gatherer);
}

struct index_gathered *rvt_index_gather(struct index_gatherer *gatherer)
{
	struct index_gathered *gathered = calloc(1, sizeof(*gathered));

	if (!gathered)
		return NULL;
	gathered->gatherer = gatherer;
	gathered->told.earliest = UINT64_MAX;
	gathered->told.cpu = -1;
	gatherer->serial++;
	gatherer->last.comm = NULL;
	return gathered;
}

void rvt_index_gathered_free(struct index_gathered *gathered)
{
	free(gathered->tasks);
	free(gathered->granules);
	free(gathered);
}

/* ---- names ---- */

static int compare_numbers(const struct index_name *x, const struct index_name *y)
{
	return x->number != y->number ? (x->number > y->number ? 1 : -1) : 0;
}

static int compare_texts(const void *a, const void *b)
{
	const struct index_name *x = a, *y = b;
	int order = compare_numbers(x, y);

	return order ? order : strcmp(x->text, y->text);
}

static int compare_addresses(const void *a, const void *b)
{
	const struct index_name *x = a, *y = b;
	int order = compare_numbers(x, y);

	return order ? order : (x->text > y->text) - (x->text < y->text);
}

/* *@name: that of @key; *@new: it gets the number @id now. 0 or -ENOMEM. */
static int find_name(void **tree, const struct index_name *key,
		     int (*compare)(const void *, const void *), size_t id,
		     struct index_name **name, bool *new)
{
	struct index_name **found = tfind(key, tree, compare);

	*new = !found;
	if (found) {
		*name = *found;
		return 0;
	}
	if (id >= UINT32_MAX)
		return -ENOMEM;
	*name = malloc(sizeof(**name));
	if (!*name)
		return -ENOMEM;
	**name = *key;
	(*name)->id = id;
	if (tsearch(*name, tree, compare))
		return 0;
	free(*name);
	return -ENOMEM;
}

static int task_id(struct index_names *names, const struct rvt_task *task, uint32_t *id)
{
	struct rvt_index *index = names->index;
	struct index_name key = { .number = (uint64_t)(uint32_t)task->pid << 32 |
					    (uint32_t)task->tid,
				  .text = task->comm };
	struct index_name *name;
	bool new;
	char *comm;

	if (find_name(&names->tasks, &key, compare_texts, index->n_tasks, &name, &new))
		return -ENOMEM;
	*id = name->id;
	if (!new)
		return 0;
	comm = strdup(task->comm);
	if (!comm || array_grow(&index->tasks, index->n_tasks)) {
		free(comm);
		return -ENOMEM;
	}
	name->text = comm;
	index->tasks[index->n_tasks++] = (struct rvt_index_task){ task->pid, task->tid, comm };
	return 0;
}

static int keep_path(struct index_names *names, const char **path)
{
	struct rvt_index *index = names->index;
	struct index_name key = { .text = *path }, *name;
	bool new;

	if (!*path)
		return 0;
	if (find_name(&names->paths, &key, compare_texts, index->n_paths, &name, &new))
		return -ENOMEM;
	if (new) {
		char *copy = strdup(*path);

		if (!copy || array_grow(&index->paths, index->n_paths)) {
			free(copy);
			return -ENOMEM;
		}
		index->paths[index->n_paths++] = copy;
		name->text = copy;
	}
	*path = index->paths[name->id];
	return 0;
}

/*
 * A file's granules are told apart by where they are in it, those of other code by address. *@len:
 * bytes up to the end of the granule.
 */
static int granule_id(struct index_names *names, struct rvt_space *space, uint64_t addr,
		      uint32_t *id, uint64_t *len)
{
	struct rvt_location location = { .path = NULL };
	struct rvt_index *index = names->index;
	struct index_name key, *name;
	struct rvt_index_granule granule;
	uint64_t into;
	bool new;

	if (!space || rvt_space_locate(space, addr, &location))
		location = (struct rvt_location){ .path = NULL };
	into = (location.path && location.path[0] == '/' ? location.file_offset : addr) % GRANULE;
	*len = GRANULE - into;
	if (keep_path(names, &location.path))
		return -ENOMEM;
	key = (struct index_name){ .text = location.path };
	key.number = location.path && location.path[0] == '/' ? location.file_offset - into :
								addr - into;
	if (find_name(&names->granules, &key, compare_addresses, index->n_granules, &name, &new))
		return -ENOMEM;
	*id = name->id;
	granule = (struct rvt_index_granule){
		.path = location.path, .file_offset = location.file_offset - into,
		.addr = addr - into, .map_start = location.map_start };
	if (!new) {
		/* whoever comes first */
		if (granule.addr < index->granules[*id].addr)
			index->granules[*id] = granule;
		return 0;
	}
	if (array_grow(&index->granules, index->n_granules))
		return -ENOMEM;
	index->granules[index->n_granules++] = granule;
	return 0;
}

void rvt_index_names_free(struct index_names *names)
{
	tdestroy(names->tasks, free);
	tdestroy(names->granules, free);
	tdestroy(names->paths, free);
}

/* ---- of a segment ---- */

/* Adds @id to @list, unless it is there. 0 or -ENOMEM. */
static int add_id(uint32_t id, uint32_t serial, uint32_t **seen, size_t *room, uint32_t **list,
		  size_t *n)
{
	size_t known = *room;

	if (id >= *room) {
		if (array_reserve(seen, room, known, id + 1 - known))
			return -ENOMEM;
		memset(*seen + known, 0, (*room - known) * sizeof(**seen));
	}
	if ((*seen)[id] == serial)
		return 0;
	if (array_grow(list, *n))
		return -ENOMEM;
	(*seen)[id] = serial;
	(*list)[(*n)++] = id;
	return 0;
}

static int note_task(struct index_gathered *gathered, const struct rvt_task *task)
{
	struct index_gatherer *gatherer = gathered->gatherer;
	struct rvt_index_task *last = &gatherer->last;
	uint32_t id;
	int err;

	if (!task || (last->comm == task->comm && last->tid == task->tid && last->pid == task->pid))
		return 0;
	*last = (struct rvt_index_task){ task->pid, task->tid, task->comm };
	pthread_mutex_lock(&gatherer->names->lock);
	err = task_id(gatherer->names, task, &id);
	pthread_mutex_unlock(&gatherer->names->lock);
	return err ? err : add_id(id, gatherer->serial, &gatherer->seen_tasks,
				  &gatherer->tasks_room, &gathered->tasks, &gathered->n_tasks);
}

static int note_code(struct index_gathered *gathered, struct rvt_space *space, uint64_t addr,
		     uint64_t bytes)
{
	struct index_gatherer *gatherer = gathered->gatherer;
	uint64_t done = 0, len;
	uint32_t id;
	int err = 0;

	while (done < bytes && !err) {
		pthread_mutex_lock(&gatherer->names->lock);
		err = granule_id(gatherer->names, space, addr + done, &id, &len);
		pthread_mutex_unlock(&gatherer->names->lock);
		if (!err)
			err = add_id(id, gatherer->serial, &gatherer->seen_granules,
				     &gatherer->granules_room, &gathered->granules,
				     &gathered->n_granules);
		done += len;
	}
	return err;
}

static int note_block(struct index_gathered *gathered, struct rvt_space *space,
		      uint64_t generation, const struct rvt_block *block)
{
	struct index_gatherer *gatherer = gathered->gatherer;
	uint64_t hash = (block->pc >> 1 ^ (uintptr_t)space >> 4) * 0x9e3779b97f4a7c15ull;
	struct slot *slot = &gatherer->slots[hash >> 48];

	_Static_assert(SLOTS == 1u << 16, "bits of the hash");
	if (slot->serial == gatherer->serial && slot->pc == block->pc && slot->space == space &&
	    slot->generation == generation && slot->bytes == block->bytes)
		return 0;
	*slot = (struct slot){ space, generation, block->pc, block->bytes, gatherer->serial };
	return note_code(gathered, space, block->pc, block->bytes);
}

static int note_hart(struct index_gathered *gathered, const struct rvt_hart_flow *hart,
		     uint64_t from, uint64_t to)
{
	struct rvt_index_segment *told = &gathered->told;

	if (told->earliest > told->latest)
		told->cpu = hart->cpu;
	told->any_cpu |= told->cpu != hart->cpu;
	if (from < told->earliest)
		told->earliest = from;
	if (to > told->latest)
		told->latest = to;
	return note_task(gathered, hart->task);
}

/* Returns the address of instruction number @insn, or behind the last one. */
static uint64_t address(const struct rvt_block *block, uint32_t insn)
{
	uint64_t pc = block->pc;

	if (insn == block->insns)
		return pc + block->bytes;
	for (uint32_t i = 0; i < insn; i++)
		pc += 2 * block->halfwords[i];
	return pc;
}

/*
 * Behind the end of a segment (hart.left) views are told how the line of code goes on, up to a
 * transfer (transfers.c), and so it is here.
 */
int rvt_index_runs(void *ctx, struct rvt_hart_flow *hart, const struct rvt_run *runs, size_t n)
{
	struct index_gathered *gathered = ctx;
	uint64_t insns = 0, generation = hart->space ? rvt_space_generation(hart->space) : 0;
	int err = 0;

	for (size_t i = 0; i < n && !err; i++) {
		const struct rvt_run *run = &runs[i];

		err = note_block(gathered, hart->space, generation, run->block);
		gathered->told.always |= rvt_hart_loop_uncounted(hart, run);
		if (!err && gathered->crossed && address(run->block, run->first) != gathered->next)
			err = RVT_SLICE_DONE;
		gathered->crossed = hart->left;
		if (gathered->crossed)
			gathered->next = address(run->block, run->first + run->count);
		insns += run->count;
	}
	if (note_hart(gathered, hart, rvt_hart_time(hart, 0), rvt_hart_time(hart, insns)))
		return -ENOMEM;
	return err;
}

/* Views say more of it than how often it was lost. */
static bool is_in_no_file(const struct rvt_hart_flow *hart, uint64_t pc)
{
	struct rvt_location location;

	if (!hart->space || rvt_space_locate(hart->space, pc, &location) || !location.path)
		return false;
	return location.path[0] != '/' || location.path[1] == '/' ||
		!strncmp(location.path, "/memfd:", 7) || !strncmp(location.path, "/dev/zero", 9) ||
		!strncmp(location.path, "/SYSV", 5);
}

static void note_loss(struct index_gathered *gathered, const struct rvt_hart_flow *hart,
		      const struct rvt_event *event)
{
	gathered->told.lost++;
	if (event->reason != RVT_REASON_NO_CODE)
		return;
	gathered->told.no_code++;
	if (rvt_hart_in_guest(hart))
		gathered->told.always = true;
	else if ((int64_t)event->pc < 0)
		gathered->told.kernel_lost = true;
	else
		gathered->told.always |= is_in_no_file(hart, event->pc);
}

int rvt_index_event(void *ctx, struct rvt_hart_flow *hart, const struct rvt_event *event)
{
	struct index_gathered *gathered = ctx;
	int err;

	/* behind the end it is the next segment's */
	if (event->type == RVT_EVENT_LOST && !hart->left)
		note_loss(gathered, hart, event);
	/* nobody is asked whether these pass filters */
	if (event->type == RVT_EVENT_TIME || event->type == RVT_EVENT_CONTEXT)
		return 0;
	err = note_hart(gathered, hart, hart->time, hart->time);
	if (!err && event->pc)
		err = note_code(gathered, hart->space, event->pc, 1);
	if (!err && event->target)
		err = note_code(gathered, hart->space, event->target, 1);
	if (err)
		return err;
	switch (event->type) {
	case RVT_EVENT_TRAP: case RVT_EVENT_START: case RVT_EVENT_STOP: case RVT_EVENT_LOST:
		gathered->crossed = false;
		return hart->left ? RVT_SLICE_DONE : 0;
	case RVT_EVENT_MARK:
		return hart->left ? RVT_SLICE_DONE : 0;
	default:
		return 0;
	}
}
