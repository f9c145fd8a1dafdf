// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Files in memory, and what becomes of them when they are cut: the kernel sends SIGBUS to whoever
 * reads behind the new end. The handler maps zeros there, and the reader goes on.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "file/file.h"

/*
 * All there are, for the handler, which cannot lock: elements are added at the front, and stay.
 * Those of files that are gone have no bytes, and are used again.
 */
static _Atomic(struct rvt_mapped_file *) all;
static struct rvt_mapped_file *unused;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static _Atomic(struct rvt_mapped_file *) first_cut;
static void (*when_other)(void);

static struct rvt_mapped_file *take_unused(void)
{
	struct rvt_mapped_file *mapped;

	pthread_mutex_lock(&lock);
	mapped = unused;
	if (mapped)
		unused = mapped->next_unused;
	pthread_mutex_unlock(&lock);
	return mapped;
}

static struct rvt_mapped_file *add_new(void)
{
	struct rvt_mapped_file *mapped = calloc(1, sizeof(*mapped));

	if (!mapped)
		return NULL;
	mapped->next = atomic_load(&all);
	while (!atomic_compare_exchange_weak(&all, &mapped->next, mapped))
		;
	return mapped;
}

static void put_unused(struct rvt_mapped_file *mapped)
{
	pthread_mutex_lock(&lock);
	mapped->next_unused = unused;
	unused = mapped;
	pthread_mutex_unlock(&lock);
}

int rvt_file_map(int fd, size_t len, const char *path, struct rvt_mapped_file **result)
{
	struct rvt_mapped_file *mapped = take_unused();
	void *bytes;
	int err;

	if (!mapped)
		mapped = add_new();
	if (!mapped)
		return -ENOMEM;
	mapped->len = 0;
	mapped->path = strdup(path);
	if (!mapped->path) {
		err = -ENOMEM;
		goto fail;
	}
	if (len) {
		bytes = mmap(NULL, len, PROT_READ, MAP_PRIVATE, fd, 0);
		if (bytes == MAP_FAILED) {
			err = -errno;
			goto fail;
		}
		mapped->len = len;
		__atomic_store_n(&mapped->bytes, bytes, __ATOMIC_RELEASE);
	}
	*result = mapped;
	return 0;
fail:
	free(mapped->path);
	mapped->path = NULL;
	put_unused(mapped);
	return err;
}

void rvt_file_unmap(struct rvt_mapped_file *mapped)
{
	uint8_t *bytes;

	if (!mapped)
		return;
	bytes = mapped->bytes;
	__atomic_store_n(&mapped->bytes, NULL, __ATOMIC_RELEASE);
	if (bytes)
		munmap(bytes, mapped->len);
	/* of the first that was cut the name stays, and so does it */
	if (mapped == atomic_load(&first_cut))
		return;
	free(mapped->path);
	mapped->path = NULL;
	mapped->cut = false;
	put_unused(mapped);
}

const char *rvt_file_first_cut(void)
{
	const struct rvt_mapped_file *mapped = atomic_load(&first_cut);

	return mapped ? mapped->path : NULL;
}

/* Whether @addr is in the file, of which there are zeros from there on now. */
static bool fill(struct rvt_mapped_file *mapped, uintptr_t addr, uintptr_t page)
{
	uintptr_t bytes = (uintptr_t)__atomic_load_n(&mapped->bytes, __ATOMIC_ACQUIRE);
	uintptr_t from = addr & -page;
	struct rvt_mapped_file *none = NULL;

	if (!bytes || addr < bytes || addr - bytes >= mapped->len ||
	    mmap((void *)from, mapped->len - (from - bytes), PROT_READ,
		 MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)
		return false;
	mapped->cut = true;
	atomic_compare_exchange_strong(&first_cut, &none, mapped);
	return true;
}

static void handle(int signal, siginfo_t *info, void *context)
{
	static atomic_uintptr_t page_size;
	struct rvt_mapped_file *mapped = atomic_load(&all);
	uintptr_t page = atomic_load(&page_size);
	int saved = errno;

	(void)signal;
	(void)context;
	if (!page) {
		page = (uintptr_t)sysconf(_SC_PAGESIZE);
		atomic_store(&page_size, page);
	}
	while (mapped && !fill(mapped, (uintptr_t)info->si_addr, page))
		mapped = mapped->next;
	if (!mapped)
		when_other();
	errno = saved;
}

void rvt_file_guard(void (*other)(void))
{
	struct sigaction action = { .sa_sigaction = handle, .sa_flags = SA_SIGINFO };

	when_other = other;
	sigemptyset(&action.sa_mask);
	sigaction(SIGBUS, &action, NULL);
}
