// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>
#include "record/ring.h"

int ring_map(struct ring *ring, uint64_t data_bytes, uint64_t aux_bytes, bool overwrite)
{
	uint64_t page_size = sysconf(_SC_PAGESIZE);
	void *base;

	base = mmap(NULL, page_size + data_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, 0);
	if (base == MAP_FAILED)
		return -errno;
	ring->page = base;
	ring->data_bytes = data_bytes;
	if (!aux_bytes)
		return 0;
	ring->page->aux_offset = page_size + data_bytes;
	ring->page->aux_size = aux_bytes;
	/* writable, so that the kernel waits for aux_tail instead of overwriting */
	base = mmap(NULL, aux_bytes, overwrite ? PROT_READ : PROT_READ | PROT_WRITE, MAP_SHARED,
		    ring->fd, ring->page->aux_offset);
	if (base == MAP_FAILED)
		return -errno;
	ring->aux = base;
	ring->aux_bytes = aux_bytes;
	return 0;
}

void ring_unmap(struct ring *ring)
{
	if (ring->aux)
		munmap(ring->aux, ring->aux_bytes);
	if (ring->page)
		munmap(ring->page, sysconf(_SC_PAGESIZE) + ring->data_bytes);
	ring->aux = NULL;
	ring->page = NULL;
}

bool ring_time_conv(const struct ring *ring, struct rvt_record_time_conv *result)
{
	const struct perf_event_mmap_page *page = ring->page;
	struct rvt_record_time_conv conv = {
		.header = { RVT_RECORD_TIME_CONV, 0, sizeof(conv) },
	};
	uint32_t lock;

	do {
		/* Pairs with the two increments of lock in perf_event_update_userpage(),
		 * kernel/events/core.c: an odd or changed value is a torn read. */
		lock = __atomic_load_n(&page->lock, __ATOMIC_ACQUIRE);
		conv.time_shift = page->time_shift;
		conv.time_mult = page->time_mult;
		conv.time_zero = page->time_zero;
		conv.cap_user_time_zero = page->cap_user_time_zero;
		conv.cap_user_time_short = page->cap_user_time_short;
		if (conv.cap_user_time_short) {
			conv.time_cycles = page->time_cycles;
			conv.time_mask = page->time_mask;
		}
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
	} while (lock & 1 || __atomic_load_n(&page->lock, __ATOMIC_RELAXED) != lock);
	*result = conv;
	return conv.cap_user_time_zero;
}
