// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* What the driver's flight mode left in memory: see <linux/rvtrace.h>. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "common/cmd.h"
#include "crash/crash.h"

/* A header with larger values is not the driver's. */
#define MAX_HARTS 8192
#define MAX_RECORD (1u << 20)
#define MAX_BUFFER (1ULL << 32)

struct search {
	const struct vmcore *core;
	struct crash_flight *flight;
};

static bool is_header(const struct rvtrace_flight_header *header, uint64_t addr)
{
	return !memcmp(header->magic, RVTRACE_FLIGHT_MAGIC, sizeof(header->magic)) &&
	       header->self == addr && header->version >= RVTRACE_FLIGHT_VERSION &&
	       header->header_bytes >= sizeof(*header) && header->header_bytes <= MAX_RECORD &&
	       header->hart_bytes > sizeof(struct rvtrace_flight_hart) &&
	       header->hart_bytes <= MAX_RECORD && header->nr_harts <= MAX_HARTS;
}

/* Takes the header. If there are several, it is that of the kernel that panicked. */
static bool look_at_page(void *ctx, uint64_t addr, const uint8_t *page)
{
	struct search *search = ctx;
	struct crash_flight *flight = search->flight;
	struct rvtrace_flight_header header;

	memcpy(&header, page, sizeof(header));
	if (!is_header(&header, addr))
		return false;
	header.release[sizeof(header.release) - 1] = 0;
	if (!flight->headers++ || (header.panic_time && !flight->header.panic_time))
		flight->header = header;
	return false;
}

bool crash_flight_find(const struct vmcore *core, struct crash_flight *flight)
{
	struct search search = { core, flight };

	*flight = (struct crash_flight){ 0 };
	vmcore_pages(core, look_at_page, &search);
	return flight->headers;
}

static bool read_buffer(const struct vmcore *core, const struct rvtrace_flight_hart *record,
			uint8_t *bytes)
{
	const uint8_t *from;
	size_t len;

	if (!record->physical)
		return vmcore_read(core, record->address, bytes, record->bytes);
	from = vmcore_physical(core, record->physical, &len);
	if (!from || len < record->bytes)
		return false;
	memcpy(bytes, from, record->bytes);
	return true;
}

/* Copies the trace, the oldest byte first. */
static int read_trace(const struct vmcore *core, struct crash_hart *hart)
{
	const struct rvtrace_flight_hart *record = &hart->record;
	size_t older = record->bytes - record->offset;
	uint8_t *bytes = malloc(record->bytes);

	hart->trace = malloc(record->bytes);
	if (!bytes || !hart->trace) {
		free(bytes);
		return cmd_error(-ENOMEM, "out of memory");
	}
	if (!read_buffer(core, record, bytes)) {
		free(bytes);
		return cmd_error(-ENODATA, "CPU %u: its trace is not in the dump (a dump without "
				 "the kernel's own pages?)", record->cpu);
	}
	if (record->flags & RVTRACE_FLIGHT_F_WRAPPED) {
		memcpy(hart->trace, bytes + record->offset, older);
		memcpy(hart->trace + older, bytes, record->offset);
		hart->len = record->bytes;
	} else {
		memcpy(hart->trace, bytes, record->offset);
		hart->len = record->offset;
	}
	free(bytes);
	return 1;
}

int crash_hart_read(const struct vmcore *core, const struct crash_flight *flight, unsigned int n,
		    struct crash_hart *hart)
{
	const struct rvtrace_flight_header *header = &flight->header;
	uint64_t addr = header->self + header->header_bytes + (uint64_t)n * header->hart_bytes;
	struct rvtrace_flight_hart *record = &hart->record;
	size_t len;
	const uint8_t *bytes = vmcore_physical(core, addr, &len);

	*hart = (struct crash_hart){ 0 };
	if (!bytes || len < header->hart_bytes)
		return cmd_error(-ENODATA, "CPU %u: what the driver says of it is not in the dump",
				 n);
	memcpy(record, bytes, sizeof(*record));
	if (!(record->flags & RVTRACE_FLIGHT_F_VALID))
		return 0;
	if (record->flags & RVTRACE_FLIGHT_F_RUNNING && record->flags & RVTRACE_FLIGHT_F_COPY)
		return cmd_error(-ENODATA, "CPU %u: its trace was not read out of its sink's "
				 "memory: only a panic does so, on a hart that the sink answers, "
				 "with kdump only if the driver gets to stop it (boot with "
				 "crash_kexec_post_notifiers)", record->cpu);
	if (record->flags & RVTRACE_FLIGHT_F_RUNNING)
		return cmd_error(-ENODATA, "CPU %u: its sink was still writing: where the trace "
				 "ends is not known (the kernel has not panicked, or kdump began "
				 "before the driver could stop it: boot with "
				 "crash_kexec_post_notifiers)", record->cpu);
	if (!record->bytes || record->bytes > MAX_BUFFER || record->offset > record->bytes)
		return cmd_error(-EINVAL, "CPU %u: what the driver says of its trace is damaged",
				 n);
	hart->params = strndup((const char *)bytes + sizeof(*record),
			       header->hart_bytes - sizeof(*record));
	return hart->params ? read_trace(core, hart) : cmd_error(-ENOMEM, "out of memory");
}

void crash_hart_free(struct crash_hart *hart)
{
	free(hart->params);
	free(hart->trace);
}
