// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <errno.h>
#include <fcntl.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "common/calls.h"
#include "common/cmd.h"
#include "export/export.h"
#include "util/array.h"

#ifdef HAVE_SQLITE
#include <sqlite3.h>

__asm__(".section .rodata\n"
	"export_schema:\n"
	".incbin \"" EXPORT_DIR "/schema.sql\"\n"
	".byte 0\n"
	".previous\n");
extern const char export_schema[];

/* Values of calls.flags, as in perf. */
#define NO_CALL 1
#define NO_RETURN 2
#define JUMP 6

#define ROOT_PATH 1

enum { STMT_THREAD, STMT_COMM, STMT_COMM_THREAD, STMT_DSO, STMT_SYMBOL, STMT_PATH, STMT_CALL,
       STMT_SWITCH, STMT_SAMPLE, STMT_TYPE, STMTS };

static const char *const statements[STMTS] = {
	[STMT_THREAD] = "INSERT INTO threads VALUES (?, 1, ?, ?, ?)",
	[STMT_COMM] = "INSERT INTO comms VALUES (?, ?, ?, ?, 0, 1)",
	[STMT_COMM_THREAD] = "INSERT INTO comm_threads VALUES (?, ?, ?)",
	[STMT_DSO] = "INSERT INTO dsos VALUES (?, 1, ?, ?, '')",
	[STMT_SYMBOL] = "INSERT INTO symbols VALUES (?, ?, ?, ?, 1, ?)",
	[STMT_PATH] = "INSERT INTO call_paths VALUES (?, ?, ?, ?)",
	[STMT_CALL] = "INSERT INTO calls VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0)",
	[STMT_SWITCH] = "INSERT INTO context_switches VALUES (?, 1, ?, ?, ?, ?, ?, ?, 0)",
	[STMT_SAMPLE] = "INSERT INTO samples VALUES "
			"(?, 1, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?, 0, 0)",
	[STMT_TYPE] = "INSERT INTO branch_types VALUES (?, ?)",
};

/* Something with a row of its own: a file, a function, a call path, or the name of a thread. */
struct row {
	uint64_t above;		/* id of the row that it is in */
	const char *name;	/* NULL: .number identifies it */
	uint64_t number;
	uint64_t id;
};

struct table {
	void *tree;		/* tsearch tree of struct row */
	uint64_t last;		/* last id */
};

struct open_call {
	uint64_t id, path, branches;
};

struct thread {
	uint64_t id, comm;
	int32_t pid, tid;
	struct open_call *calls;	/* open calls, by depth */
	size_t room;
	uint64_t branches;		/* so far */
	uint64_t insns;			/* when the last branch was written */
};

struct export {
	sqlite3 *db;
	sqlite3_stmt *stmts[STMTS];
	struct places *places;
	bool branches;
	struct table dsos, symbols, paths, comms;
	uint64_t threads, comm_threads, calls, switches, samples, types;
	struct thread **all;
	struct thread *last;	/* thread of the last line */
	struct { uint64_t thread, comm; } *cpus;	/* last task, by cpu + 1 */
	size_t n_cpus;
	const char *type_names[32];
};

static int compare_rows(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->above != y->above)
		return x->above < y->above ? -1 : 1;
	if (x->name && y->name)
		return strcmp(x->name, y->name);
	return x->number < y->number ? -1 : x->number > y->number;
}

/*
 * Finds or makes the row of @key. Sets *@id; *@is_new: the caller must write it. Returns 0 or
 * -ENOMEM.
 */
static int find(struct table *table, const struct row *key, uint64_t *id, bool *is_new)
{
	struct row **found = tfind(key, &table->tree, compare_rows), *row;

	*is_new = !found;
	if (found) {
		*id = (*found)->id;
		return 0;
	}
	row = malloc(sizeof(*row));
	if (!row || (*row = *key, !tsearch(row, &table->tree, compare_rows))) {
		free(row);
		return -ENOMEM;
	}
	*id = row->id = ++table->last;
	return 0;
}

/* ---- rows ---- */

/* Writes a row, with @id in the first column; then numbers, or text where @types has a t. */
static int put(struct export *export, int number, const char *types, ...)
{
	sqlite3_stmt *stmt = export->stmts[number];
	va_list args;
	int err = 0;

	va_start(args, types);
	for (int i = 0; types[i] && !err; i++)
		err = types[i] == 't' ?
			sqlite3_bind_text(stmt, i + 1, va_arg(args, const char *), -1,
					  SQLITE_STATIC) :
			sqlite3_bind_int64(stmt, i + 1, va_arg(args, uint64_t));
	va_end(args);
	if (!err && sqlite3_step(stmt) != SQLITE_DONE)
		err = SQLITE_ERROR;
	sqlite3_reset(stmt);
	return err ? -EIO : 0;
}

static const char *base_name(const char *path)
{
	const char *base = strrchr(path, '/');

	return base ? base + 1 : path;
}

static int get_dso(struct export *export, const char *name, uint64_t *id)
{
	const struct row key = { .name = base_name(name) };
	bool is_new;
	int err = find(&export->dsos, &key, id, &is_new);

	return err || !is_new ? err : put(export, STMT_DSO, "ntt", *id, base_name(name), name);
}

static int get_symbol(struct export *export, const char *name, const char *dso, uint64_t start,
		      uint64_t end, uint64_t *id)
{
	struct row key = { .name = name };
	bool is_new;
	int err = get_dso(export, dso, &key.above);

	if (!err)
		err = find(&export->symbols, &key, id, &is_new);
	return err || !is_new ? err :
		put(export, STMT_SYMBOL, "nnnnt", *id, key.above, start, end, name);
}

static int get_path(struct export *export, uint64_t parent, uint64_t symbol, uint64_t ip,
		    uint64_t *id)
{
	const struct row key = { .above = parent, .number = symbol };
	bool is_new;
	int err = find(&export->paths, &key, id, &is_new);

	return err || !is_new ? err : put(export, STMT_PATH, "nnnn", *id, parent, symbol, ip);
}

/* Returns the id of the process' first thread, or of @thread if that was not seen. */
static uint64_t process_of(const struct export *export, const struct thread *thread)
{
	for (uint64_t i = 0; i < export->threads; i++)
		if (export->all[i]->pid == thread->pid && export->all[i]->tid == thread->pid)
			return export->all[i]->id;
	return thread->id;
}

static int take_thread(void *ctx, struct call_thread *thread)
{
	struct export *export = ctx;
	struct thread *own = thread->user;
	struct row key = { .name = thread->comm };
	bool is_new;
	int err = 0;

	if (!own) {
		own = calloc(1, sizeof(*own));
		if (!own || array_grow(&export->all, export->threads)) {
			free(own);
			return -ENOMEM;
		}
		export->all[export->threads++] = own;
		own->id = export->threads;
		own->pid = thread->pid;
		own->tid = thread->tid;
		thread->user = own;
		err = put(export, STMT_THREAD, "nnnn", own->id, process_of(export, own),
			  (uint64_t)(int64_t)thread->pid, (uint64_t)(int64_t)thread->tid);
	}
	key.number = 0;
	if (!err)
		err = find(&export->comms, &key, &own->comm, &is_new);
	if (!err && is_new)
		err = put(export, STMT_COMM, "ntnn", own->comm, thread->comm, own->id,
			  thread->until);
	return err ? err : put(export, STMT_COMM_THREAD, "nnn", ++export->comm_threads, own->comm,
			       own->id);
}

static int begin_call(void *ctx, struct call_thread *thread, struct call *call)
{
	struct export *export = ctx;
	struct thread *own = thread->user;
	size_t depth = thread->n - 1;
	const struct call_function *function = call->function;
	struct open_call *open;
	uint64_t symbol;
	int err;

	if (array_reserve(&own->calls, &own->room, depth, 1))
		return -ENOMEM;
	open = &own->calls[depth];
	*open = (struct open_call){ .id = ++export->calls, .branches = own->branches };
	err = get_symbol(export, function->name, function->dso, call->addr, call->addr, &symbol);
	return err ? err : get_path(export, depth ? own->calls[depth - 1].path : ROOT_PATH, symbol,
				    call->addr, &open->path);
}

static int end_call(void *ctx, struct call_thread *thread, const struct call *call)
{
	struct export *export = ctx;
	const struct thread *own = thread->user;
	const struct open_call *open = &own->calls[thread->n];
	const struct open_call *parent = thread->n ? open - 1 : NULL;
	uint64_t flags = !call->whole ? NO_CALL | NO_RETURN : call->tail ? JUMP : 0;

	return put(export, STMT_CALL, "nnnnnnnnnnnnn", open->id, own->id, own->comm, open->path,
		   call->began, call->began + call->time, own->branches - open->branches,
		   (uint64_t)0, (uint64_t)0, parent ? parent->path : (uint64_t)ROOT_PATH, flags,
		   parent ? parent->id : (uint64_t)0, call->insns);
}

static int take_line(void *ctx, struct call_thread *thread, struct rvt_hart_flow *hart,
		     const struct rvt_straight_line *line, struct rvt_callstack *stack)
{
	struct export *export = ctx;
	struct thread *own = thread->user;
	size_t cpu = hart->cpu < 0 ? 0 : (size_t)hart->cpu + 1;
	uint64_t before, before_comm;

	(void)stack;
	export->last = own;
	own->branches++;
	own->insns += line->insns;
	while (export->n_cpus <= cpu) {
		if (array_grow(&export->cpus, export->n_cpus))
			return -ENOMEM;
		memset(&export->cpus[export->n_cpus++], 0, sizeof(*export->cpus));
	}
	before = export->cpus[cpu].thread;
	before_comm = export->cpus[cpu].comm;
	if (before == own->id)
		return 0;
	export->cpus[cpu].thread = own->id;
	export->cpus[cpu].comm = own->comm;
	return put(export, STMT_SWITCH, "nnnnnnn", ++export->switches, line->began,
		   (uint64_t)(int64_t)hart->cpu, before, before_comm, own->id, own->comm);
}

/* Finds or makes the number of perf's words for a branch. */
static int get_type(struct export *export, const char *flags, uint64_t *id)
{
	size_t i = 0;

	while (i < export->types && strcmp(export->type_names[i], flags))
		i++;
	*id = i;
	if (i < export->types ||
	    i == sizeof(export->type_names) / sizeof(*export->type_names))
		return 0;
	export->type_names[export->types++] = flags;
	return put(export, STMT_TYPE, "nt", *id, flags);
}

/* One end of a branch. */
struct side {
	uint64_t dso, symbol, offset;
};

static int get_side(struct export *export, struct rvt_space *space, uint64_t pc, struct side *side)
{
	const struct place *place = places_find(export->places, space, pc);
	int err = get_dso(export, place->dso, &side->dso);

	side->symbol = 0;
	side->offset = place->offset;
	return err || !place->symbol ? err :
		get_symbol(export, place->symbol, place->dso, place->start, place->end,
			   &side->symbol);
}

static int take_after(void *ctx, struct rvt_hart_flow *hart, const struct rvt_transfer *transfer,
		      struct rvt_callstack *stack, size_t ended)
{
	struct export *export = ctx;
	struct thread *own = export->last;
	struct side from, to;
	uint64_t type, insns;
	int err;

	(void)stack;
	(void)ended;
	if (!export->branches || !own || transfer->kind >= RVT_TRANSFER_START)
		return 0;
	err = get_side(export, hart->space, transfer->from, &from);
	if (!err)
		err = get_side(export, hart->space, transfer->to, &to);
	if (!err)
		err = get_type(export, transfer->flags ? transfer->flags : "", &type);
	insns = own->insns;
	own->insns = 0;
	return err ? err : put(export, STMT_SAMPLE, "nnnnnnnnnnnnnnnn", ++export->samples, own->id,
			       own->comm, from.dso, from.symbol, from.offset, transfer->from,
			       hart->time, (uint64_t)(int64_t)hart->cpu, to.dso, to.symbol,
			       to.offset, transfer->to, type, (uint64_t)0, insns);
}

/* ---- the database ---- */

static int run_sql(struct export *export, const char *sql)
{
	return sqlite3_exec(export->db, sql, NULL, NULL, NULL) ? -EIO : 0;
}

static int open_database(struct export *export, const char *path)
{
	int err = sqlite3_open_v2(path, &export->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
				  NULL) ? -EIO : 0;

	/* no journal: an incomplete database is of no use anyway */
	if (!err)
		err = run_sql(export, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN");
	if (!err)
		err = run_sql(export, export_schema);
	for (int i = 0; i < STMTS && !err; i++)
		err = sqlite3_prepare_v2(export->db, statements[i], -1, &export->stmts[i], NULL) ?
			-EIO : 0;
	return err;
}

static int finish(struct export *export, struct view *view)
{
	struct view_losses losses;
	bool lost = view_losses(view, &losses);
	char *sql = sqlite3_mprintf("INSERT INTO losses VALUES (1, %d, %lld, %lld, %lld, %lld, "
		"%lld);CREATE INDEX calls_path ON calls (call_path_id);"
		"CREATE INDEX calls_parent ON calls (parent_id);"
		"CREATE INDEX paths_parent ON call_paths (parent_id); COMMIT", lost, losses.insns,
		losses.gaps, losses.all_bytes, losses.bytes, losses.overruns);
	int err = sql ? run_sql(export, sql) : -ENOMEM;

	sqlite3_free(sql);
	return err;
}

static void close_database(struct export *export)
{
	for (int i = 0; i < STMTS; i++)
		sqlite3_finalize(export->stmts[i]);
	sqlite3_close(export->db);
	tdestroy(export->dsos.tree, free);
	tdestroy(export->symbols.tree, free);
	tdestroy(export->paths.tree, free);
	tdestroy(export->comms.tree, free);
	for (size_t i = 0; i < export->threads; i++) {
		free(export->all[i]->calls);
		free(export->all[i]);
	}
	free(export->all);
	free(export->cpus);
	places_destroy(export->places);
}

int export_sqlite(struct view *view, const char *path, bool branches, uint64_t *errors)
{
	struct export export = { .branches = branches, .paths.last = ROOT_PATH };
	const struct calls_ops ops = {
		.ctx = &export, .thread = take_thread, .begin = begin_call, .end = end_call,
		.line = take_line, .after = take_after };
	bool timed = false;
	int fd, err;

	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return cmd_error(-errno, "%s: %s", path, errno == EEXIST ?
				 "is there already; give another name" : strerror(errno));
	close(fd);
	export.places = places_create(view_session(view));
	err = export.places ? open_database(&export, path) : -ENOMEM;
	if (!err)
		err = calls_run(view, export.places, &ops, &timed, errors);
	if (!err)
		err = finish(&export, view);
	if (err)
		cmd_error(err, "%s: %s", path,
			  err == -EIO && export.db ? sqlite3_errmsg(export.db) : strerror(-err));
	else if (!timed && export.threads)
		cmd_warning("the trace has no time stamps: times of calls mean little");
	close_database(&export);
	if (err)
		unlink(path);
	return err;
}
#else
int export_sqlite(struct view *view, const char *path, bool branches, uint64_t *errors)
{
	(void)view, (void)path, (void)branches, (void)errors;
	return cmd_error(-ENOTSUP, "export needs SQLite: install libsqlite3-dev and build again");
}
#endif
