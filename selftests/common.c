// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "../include/uapi/linux/rvtrace.h"
#include "common.h"

/* ---- TAP ---- */

static unsigned int planned, run, failed;

void tap_plan(unsigned int n)
{
	planned = n;
	printf("TAP version 13\n1..%u\n", n);
	fflush(stdout);
}

static void tap_line(const char *status, const char *format, va_list args)
{
	printf("%s %u ", status, ++run);
	vprintf(format, args);
}

bool tap_check(bool ok, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	tap_line(ok ? "ok" : "not ok", format, args);
	va_end(args);
	putchar('\n');
	fflush(stdout);
	failed += !ok;
	return ok;
}

void tap_skip(const char *reason, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	tap_line("ok", format, args);
	va_end(args);
	printf(" # SKIP %s\n", reason);
	fflush(stdout);
}

void tap_note(const char *format, ...)
{
	va_list args;

	printf("# ");
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
	fflush(stdout);
}

void tap_skip_all(const char *reason)
{
	printf("TAP version 13\n1..0 # SKIP %s\n", reason);
	exit(EXIT_SKIP);
}

void tap_end(void)
{
	if (run != planned)
		tap_note("planned %u tests, ran %u", planned, run);
	exit(failed || run != planned);
}

/* ---- the PMU ---- */

void require_pmu(void)
{
	if (access(PMU_DIR "/type", R_OK))
		tap_skip_all("no PMU rvtrace: no trace hardware, or rvtrace.ko is not loaded");
}

const char *read_line(const char *format, ...)
{
	static char line[4096];
	char path[512];
	va_list args;
	FILE *in;

	va_start(args, format);
	vsnprintf(path, sizeof(path), format, args);
	va_end(args);
	in = fopen(path, "r");
	if (!in)
		return NULL;
	if (!fgets(line, sizeof(line), in))
		line[0] = 0;
	fclose(in);
	line[strcspn(line, "\n")] = 0;
	return line;
}

int write_line(const char *path, const char *text)
{
	FILE *out = fopen(path, "w");
	int ret;

	if (!out)
		return -errno;
	ret = fputs(text, out) < 0 ? -errno : 0;
	if (fclose(out) && !ret)
		ret = -errno;
	return ret;
}

bool has_context(void)
{
	struct perf_event_attr attr;
	int fd;

	attr_init(&attr, CONFIG_CONTEXT);
	fd = event_open(&attr, 0, -1);
	if (fd >= 0)
		close(fd);
	return fd != -EOPNOTSUPP;
}

int set_online(int cpu, bool online)
{
	char path[64];
	int ret = 0;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online", cpu);
	for (int i = 0; i < 100; i++) {
		ret = write_line(path, online ? "1" : "0");
		if (!ret)
			break;
		if (!i)
			tap_note("cpu%d does not go %sline at once: %s", cpu, online ? "on" : "off",
				 strerror(-ret));
		usleep(10000);
	}
	return ret;
}

bool all_encoders(const char *state)
{
	const char *line;
	bool any = false;

	for (int cpu = 0; cpu < 64; cpu++) {
		line = read_line(BUS_DIR "/encoder-%d/state", cpu);
		if (!line)
			continue;
		any = true;
		if (strcmp(line, state))
			return false;
	}
	return any;
}

bool soon_all_encoders(const char *state)
{
	for (int i = 0; i < 100; i++) {
		if (all_encoders(state))
			return true;
		usleep(10000);
	}
	return false;
}

void attr_init(struct perf_event_attr *attr, uint64_t config)
{
	memset(attr, 0, sizeof(*attr));
	attr->size = sizeof(*attr);
	attr->type = (uint32_t)atoi(read_line(PMU_DIR "/type"));
	attr->config = config;
	attr->sample_period = 1;
	attr->sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
	attr->sample_id_all = 1;
	attr->disabled = 1;
	attr->exclude_kernel = 1;
	attr->exclude_hv = 1;
}

uint64_t often_synced(void)
{
	const char *modes = read_line(PMU_DIR "/caps/syncmodes") ?: "";

	/* syncmode=1,syncmax=0; else syncmode=2 or 3, syncmax=8 */
	if (strchr(modes, '1'))
		return 1ull << 18;
	return strchr(modes, '3') ? 3ull << 18 | 8ull << 20 :
	       strchr(modes, '2') ? 2ull << 18 | 8ull << 20 : 0;
}

int event_open(const struct perf_event_attr *attr, pid_t pid, int cpu)
{
	long fd = syscall(SYS_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

/* ---- an event with its buffers ---- */

static int recording_map(struct recording *rec, int fd, int cpu, size_t aux_size, int prot)
{
	size_t page_size = (size_t)sysconf(_SC_PAGESIZE);
	int ret;

	memset(rec, 0, sizeof(*rec));
	rec->gap = true;
	rec->cpu = cpu;
	rec->fd = fd;
	if (rec->fd < 0)
		return rec->fd;
	rec->data_size = 16 * page_size;
	rec->page = mmap(NULL, page_size + rec->data_size, PROT_READ | PROT_WRITE, MAP_SHARED,
			 rec->fd, 0);
	if (rec->page == MAP_FAILED) {
		ret = -errno;
		close(rec->fd);
		return ret;
	}
	rec->data = (uint8_t *)rec->page + page_size;
	rec->aux_size = aux_size;
	rec->page->aux_offset = page_size + rec->data_size;
	rec->page->aux_size = aux_size;
	rec->aux = mmap(NULL, aux_size, prot, MAP_SHARED, rec->fd, (off_t)rec->page->aux_offset);
	if (rec->aux == MAP_FAILED) {
		ret = -errno;
		munmap(rec->page, page_size + rec->data_size);
		close(rec->fd);
		return ret;
	}
	return 0;
}

int recording_map_fd(struct recording *rec, int fd, int cpu, size_t aux_size)
{
	return recording_map(rec, fd, cpu, aux_size, PROT_READ | PROT_WRITE);
}

int recording_open(struct recording *rec, const struct perf_event_attr *attr, pid_t pid, int cpu,
		   size_t aux_size)
{
	return recording_map(rec, event_open(attr, pid, cpu), cpu, aux_size,
			     PROT_READ | PROT_WRITE);
}

int recording_open_overwrite(struct recording *rec, const struct perf_event_attr *attr, pid_t pid,
			     int cpu, size_t aux_size)
{
	return recording_map(rec, event_open(attr, pid, cpu), cpu, aux_size, PROT_READ);
}

int recording_enable(struct recording *rec)
{
	return ioctl(rec->fd, PERF_EVENT_IOC_ENABLE, 0) ? -errno : 0;
}

int recording_disable(struct recording *rec)
{
	cpu_set_t set;
	int ret;

	sched_getaffinity(0, sizeof(set), &set);
	if (rec->cpu >= 0)
		pin(rec->cpu);
	ret = ioctl(rec->fd, PERF_EVENT_IOC_DISABLE, 0) ? -errno : 0;
	sched_setaffinity(0, sizeof(set), &set);
	return ret;
}

static void take_aux(struct recording *rec, uint64_t offset, uint64_t size, uint64_t flags,
		     uint32_t tid, uint64_t time)
{
	const bool late = flags & RVTRACE_AUX_FLAG_LATE;

	rec->spans = reallocarray(rec->spans, rec->records + 1, sizeof(*rec->spans));
	rec->spans[rec->records++] = (struct aux_span){
		.start = rec->n_bytes, .tid = late ? rec->named : tid, .late = late,
		.partial = flags & PERF_AUX_FLAG_PARTIAL, .time = time,
	};
	if (rec->gap && size) {
		rec->starts = reallocarray(rec->starts, rec->n_starts + 1, sizeof(*rec->starts));
		rec->starts[rec->n_starts++] = rec->n_bytes;
		rec->gap = false;
	}
	rec->bytes = realloc(rec->bytes, rec->n_bytes + size + 1);
	for (uint64_t i = 0; i < size; i++)
		rec->bytes[rec->n_bytes++] = rec->aux[(offset + i) % rec->aux_size];
	rec->partial += !!(flags & PERF_AUX_FLAG_PARTIAL);
	rec->truncated += !!(flags & PERF_AUX_FLAG_TRUNCATED);
	rec->collision += !!(flags & PERF_AUX_FLAG_COLLISION);
	if (flags & (PERF_AUX_FLAG_PARTIAL | PERF_AUX_FLAG_TRUNCATED | PERF_AUX_FLAG_COLLISION))
		rec->gap = true;
}

/* The oldest message is cut where new trace has gone over it: what is kept begins behind it. */
void recording_snapshot(struct recording *rec)
{
	uint64_t head = __atomic_load_n(&rec->page->aux_head, __ATOMIC_ACQUIRE);
	uint64_t from = head > rec->aux_size ? head - rec->aux_size : 0;

	if (from)
		while (from < head && (rec->aux[from++ % rec->aux_size] & 3) != 3)
			;
	rec->n_bytes = 0;
	rec->n_starts = 0;
	rec->gap = true;
	take_aux(rec, from, head - from, 0, 0, 0);
}

static void copy_out(const struct recording *rec, uint64_t from, void *to, size_t size)
{
	for (size_t i = 0; i < size; i++)
		((uint8_t *)to)[i] = rec->data[(from + i) % rec->data_size];
}

/* With a sample id as attr_init() asks for it */
struct aux_record {
	struct perf_event_header header;
	uint64_t offset, size, flags;
	uint32_t pid, tid;
	uint64_t time;
};

struct hw_id_record {
	struct perf_event_header header;
	uint64_t hw_id;
};

static void take_hw_id(struct recording *rec, uint64_t hw_id)
{
	rec->named = (uint32_t)((hw_id & RVTRACE_HW_ID_TID) >> 32);
}

bool recording_full(const struct recording *rec)
{
	uint64_t tail = rec->page->data_tail;
	uint64_t head = __atomic_load_n(&rec->page->data_head, __ATOMIC_ACQUIRE);
	struct aux_record record;

	for (; tail < head; tail += record.header.size) {
		copy_out(rec, tail, &record, sizeof(record));
		if (record.header.type == PERF_RECORD_AUX && record.flags & PERF_AUX_FLAG_TRUNCATED)
			return true;
	}
	return false;
}

void recording_read(struct recording *rec, bool again)
{
	uint64_t tail = rec->page->data_tail;
	uint64_t head = __atomic_load_n(&rec->page->data_head, __ATOMIC_ACQUIRE);
	struct aux_record record;
	struct hw_id_record hw_id;
	unsigned int truncated = rec->truncated;

	while (tail < head) {
		copy_out(rec, tail, &record.header, sizeof(record.header));
		if (record.header.type == PERF_RECORD_AUX) {
			copy_out(rec, tail, &record, sizeof(record));
			take_aux(rec, record.offset, record.size, record.flags, record.tid,
				 record.time);
			__atomic_store_n(&rec->page->aux_tail, record.offset + record.size,
					 __ATOMIC_RELEASE);
		} else if (record.header.type == PERF_RECORD_AUX_OUTPUT_HW_ID) {
			copy_out(rec, tail, &hw_id, sizeof(hw_id));
			take_hw_id(rec, hw_id.hw_id);
		} else if (record.header.type == PERF_RECORD_LOST) {
			rec->lost++;
		}
		tail += record.header.size;
	}
	__atomic_store_n(&rec->page->data_tail, tail, __ATOMIC_RELEASE);
	if (again && rec->truncated != truncated)
		recording_enable(rec);
}

void recording_close(struct recording *rec)
{
	munmap(rec->aux, rec->aux_size);
	munmap(rec->page, (size_t)sysconf(_SC_PAGESIZE) + rec->data_size);
	close(rec->fd);
	free(rec->bytes);
	free(rec->starts);
	free(rec->spans);
	memset(rec, 0, sizeof(*rec));
}

/* ---- N-Trace ---- */

/* N-Trace 1.0, messages table: TCODE values */
enum {
	OWNERSHIP = 2,
	ERROR = 8,
	TRACE_SYNC = 9,
	DIRECT_SYNC = 11,
	INDIRECT_SYNC = 12,
	HIST_SYNC = 29,
	CORRELATION = 33
};

/*
 * A variable-length field that begins at bit @bit of the payload: ends with the next MSEO 01 or 11.
 */
static uint64_t variable(const uint8_t *m, size_t len, unsigned int *bit)
{
	uint64_t value = 0;
	unsigned int shift = 0;

	while (*bit / 6 < len) {
		unsigned int byte = *bit / 6, low = *bit % 6;

		if (shift < 64)
			value |= (uint64_t)(m[byte] >> 2 >> low) << shift;
		shift += 6 - low;
		*bit = (byte + 1) * 6;
		if (m[byte] & 1)
			break;
	}
	return value;
}

static unsigned int src_bits(void)
{
	const char *line = NULL;

	for (int cpu = 0; cpu < 64 && !line; cpu++)
		line = read_line(BUS_DIR "/encoder-%d/src_bits", cpu);
	return line ? (unsigned int)atoi(line) : 0;
}

/* @n bits that need not end with a byte */
static uint64_t fixed(const uint8_t *m, size_t len, unsigned int *bit, unsigned int n)
{
	uint64_t value = 0;

	for (unsigned int i = 0; i < n && *bit / 6 < len; i++, ++*bit)
		value |= (uint64_t)(m[*bit / 6] >> 2 >> *bit % 6 & 1) << i;
	return value;
}

static void context(struct messages *messages, uint64_t value)
{
	unsigned int i;

	messages->context = value;
	for (i = 0; i < messages->n_contexts; i++)
		if (messages->contexts[i] == value)
			return;
	if (messages->n_contexts < CONTEXTS)
		messages->contexts[messages->n_contexts++] = value;
}

static void message(struct messages *messages, const uint8_t *m, size_t len)
{
	unsigned int tcode = m[0] >> 2, bit = 6;
	uint64_t value;

	value = 1ull << (fixed(m, len, &bit, messages->src_bits) & 63);
	messages->sources |= value;
	messages->n++;
	if (tcode == ERROR) {
		messages->errors++;
		messages->error_sources |= value;
	}
	messages->correlations += tcode == CORRELATION;
	if (tcode == OWNERSHIP) {
		messages->ownerships++;
		/* FORMAT 2, PRV 2, V 1, CONTEXT */
		value = variable(m, len, &bit);
		if ((value & 3) == 2)
			context(messages, value >> 5);
		else if ((value & 3) == 3)
			messages->hcontext = value >> 5;
	}
	if (tcode != TRACE_SYNC && tcode != DIRECT_SYNC && tcode != INDIRECT_SYNC &&
	    tcode != HIST_SYNC)
		return;
	messages->syncs++;
	bit += tcode == TRACE_SYNC || tcode == DIRECT_SYNC ? 4 : 6;
	variable(m, len, &bit);
	value = variable(m, len, &bit);
	messages->low = value << 1 < messages->low ? value << 1 : messages->low;
	messages->high = value << 1 > messages->high ? value << 1 : messages->high;
	messages->within += value << 1 >= messages->from && value << 1 < messages->to;
	/* F-ADDR has no bit 0: bit 62 of it is bit 63 of the address. */
	if (value >> 62 & 1)
		messages->kernel_syncs++;
	else
		messages->user_syncs++;
}

static void stretch(struct messages *messages, const uint8_t *p, const uint8_t *end)
{
	const uint8_t *m;

	while (p < end) {
		if (*p == 0xff) {
			p++;
			continue;
		}
		if (*p & 3) {
			messages->whole = false;
			return;
		}
		for (m = p; p < end && (*p & 3) != 3; p++)
			;
		if (p == end) {
			messages->whole = false;
			return;
		}
		message(messages, m, (size_t)(++p - m));
	}
}

void messages_count(const struct recording *rec, struct messages *messages)
{
	messages_count_within(rec, messages, NULL, NULL);
}

void messages_count_within(const struct recording *rec, struct messages *messages, const char *from,
			   const char *to)
{
	unsigned int i;

	*messages = (struct messages){ .whole = true, .low = ~0ull, .src_bits = src_bits(),
				       .from = (uintptr_t)from, .to = (uintptr_t)to };
	for (i = 0; i < rec->n_starts; i++)
		stretch(messages, rec->bytes + rec->starts[i], rec->bytes +
			(i + 1 < rec->n_starts ? rec->starts[i + 1] : rec->n_bytes));
}

void messages_count_record(const struct recording *rec, unsigned int i, struct messages *messages)
{
	size_t end = i + 1 < rec->records ? rec->spans[i + 1].start : rec->n_bytes;
	size_t start = 0;
	const struct recording part = {
		.bytes = rec->bytes + rec->spans[i].start, .n_bytes = end - rec->spans[i].start,
		.starts = &start, .n_starts = 1,
	};

	messages_count(&part, messages);
}

/* ---- things to trace ---- */

unsigned long work(unsigned long n)
{
	volatile unsigned long sum = 0;

	for (unsigned long i = 0; i < n; i++)
		if (i * 2654435761u >> 7 & 1)
			sum += i;
	return sum;
}

void pin_thread(pid_t tid, int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(tid, sizeof(set), &set))
		tap_note("cannot run on CPU %d", cpu);
}

void pin(int cpu)
{
	pin_thread(0, cpu);
}

pid_t fork_child(unsigned long n, int *go)
{
	int fds[2];
	pid_t pid;
	char c;

	fflush(stdout);
	if (pipe(fds))
		return -1;
	pid = fork();
	if (!pid) {
		close(fds[1]);
		if (read(fds[0], &c, 1) == 1)
			work(n);
		_exit(0);
	}
	close(fds[0]);
	*go = fds[1];
	return pid;
}

void start_child(int go)
{
	if (write(go, "", 1) != 1)
		perror("pipe");
	close(go);
}

pid_t busy_child(int cpu, unsigned int pause_us)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid)
		return pid;
	if (cpu >= 0)
		pin(cpu);
	for (;;) {
		work(3000);
		if (pause_us)
			usleep(pause_us);
	}
}

void end_child(pid_t pid)
{
	if (pid <= 0)
		return;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

struct partner partner_start(int cpu)
{
	int to[2], from[2];
	struct partner partner;
	char c;

	if (pipe(to) || pipe(from))
		exit(1);
	fflush(stdout);
	partner.pid = fork();
	if (!partner.pid) {
		pin(cpu);
		close(to[1]);
		while (read(to[0], &c, 1) == 1)
			if (write(from[1], &c, 1) != 1)
				break;
		_exit(0);
	}
	close(to[0]);
	close(from[1]);
	partner.to = to[1];
	partner.from = from[0];
	return partner;
}

void partner_rounds(const struct partner *partner, unsigned int n)
{
	char c = 0;

	for (unsigned int i = 0; i < n; i++)
		if (write(partner->to, &c, 1) != 1 || read(partner->from, &c, 1) != 1)
			exit(1);
}

void partner_end(struct partner *partner)
{
	close(partner->to);
	close(partner->from);
	waitpid(partner->pid, NULL, 0);
}
