/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The register page of a component: Trace Control Interface 1.0, sections on common registers and
 * on reset.
 *
 * For the guest it is plain memory. After each store, the page is set to what the component would
 * answer; a thread answers handshakes later. The violations file lists everything that a driver
 * must not do.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include "model.h"

#define MAX_VIOLATIONS 1000
/*
 * A register that turns the power of all components on and off (with power=on); dtb-hook has the
 * same number.
 */
#define POWER_SWITCH 0x2f000u

struct component parts[MODEL_MAX_PARTS];
unsigned int n_parts;
struct model model = { .lock = PTHREAD_MUTEX_INITIALIZER };

static FILE *violations;
static unsigned int n_violations;
static pthread_cond_t wake;
static uint32_t window_size;

/* ---- violations and junk ---- */

void violation(const struct component *c, const char *fmt, ...)
{
	va_list args;

	if (!violations || n_violations++ >= MAX_VIOLATIONS)
		return;
	va_start(args, fmt);
	fprintf(violations, "%s %u: ", c->ops->name, c->index);
	vfprintf(violations, fmt, args);
	fputc('\n', violations);
	fflush(violations);
	va_end(args);
}

/* Marsaglia's xorshift */
uint32_t part_random(struct component *c)
{
	c->random ^= c->random << 13;
	c->random ^= c->random >> 7;
	c->random ^= c->random << 17;
	return (uint32_t)(c->random >> 16);
}

/* ---- the page ---- */

static uint32_t control(const struct component *c)
{
	return (c->reg[0] & ~CTL_HANDSHAKE) | c->shown |
	       __atomic_load_n(&c->sticky, __ATOMIC_ACQUIRE);
}

/* Shows Control. The data path may set sticky bits or stop the component at any time. */
void part_show(struct component *c)
{
	uint32_t value;

	do {
		if (__atomic_exchange_n(&c->stopped, false, __ATOMIC_ACQ_REL)) {
			c->enabled = false;
			c->shown = (c->shown & ~CTL_ENABLE) | CTL_EMPTY;
		}
		value = control(c);
		c->page[0] = value;
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
	} while (c->stopped || value != control(c));
}

void part_stopped(struct component *c)
{
	/* in a block with a sink inside, the block is disabled */
	if (c->front)
		part_stopped(c->front);
	__atomic_store_n(&c->stopped, true, __ATOMIC_RELEASE);
	__atomic_and_fetch(&c->page[0], ~CTL_ENABLE, __ATOMIC_SEQ_CST);
	__atomic_or_fetch(&c->page[0], CTL_EMPTY, __ATOMIC_SEQ_CST);
}

void part_sticky(struct component *c, uint32_t bit)
{
	if (c->front)
		part_sticky(c->front, bit);
	__atomic_or_fetch(&c->sticky, bit, __ATOMIC_RELEASE);
	__atomic_or_fetch(&c->page[0], bit, __ATOMIC_SEQ_CST);
}

void reg_set(struct component *c, uint32_t offset, uint32_t value)
{
	c->reg[offset / 4] = value;
	if (c->shown & CTL_ACTIVE)
		c->page[offset / 4] = value;
	if (c->front)
		v0_changed(c->front, c, offset);
}

static const struct reg_desc *find_desc(const struct component *c, uint32_t offset)
{
	for (unsigned int i = 0; i < c->n_descs; i++)
		if (c->descs[i].offset == offset)
			return &c->descs[i];
	return NULL;
}

static void show_junk(struct component *c)
{
	for (uint32_t i = 1; i < MODEL_PAGE / 4; i++)
		c->page[i] = part_random(c);
	part_show(c);
}

/* Comes out of reset: every field that the specification leaves undefined holds junk. */
static void activated(struct component *c)
{
	memset(c->reg, 0, sizeof(c->reg));
	memset(c->written, 0, sizeof(c->written));
	for (unsigned int i = 0; i < c->n_descs; i++) {
		const struct reg_desc *d = &c->descs[i];
		uint32_t junk = c->front ? 0 : part_random(c) & d->undefined & d->warl;

		if (c->ops->legal)
			junk = c->ops->legal(c, d->offset, junk);
		c->reg[d->offset / 4] = d->value | (junk & d->warl);
	}
	if (c->ops->reset)
		c->ops->reset(c);
	for (uint32_t i = 1; i < MODEL_PAGE / 4; i++)
		c->page[i] = c->reg[i];
}

/* ---- handshakes ---- */

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* Returns the clock of a component's answers: time, or reads of Control. */
static uint64_t answer_clock(const struct component *c)
{
	return model.args.late_reads ? c->reads : now_ns();
}

static uint64_t answer_delay(struct component *c)
{
	if (!model.args.late_reads)
		return model.args.delay_ns;
	return 1 + part_random(c) % model.args.late_reads;
}

static void finish(struct component *c, const struct handshake *hs)
{
	if (hs->activate)
		activated(c);
	if (hs->flush && c->ops->flush)
		c->ops->flush(c);
	c->shown = (c->shown & ~hs->clear) | hs->set;
	if (hs->clear & CTL_ACTIVE)
		show_junk(c);
	else
		part_show(c);
}

static void finish_due(struct component *c, uint64_t now)
{
	while (c->n_pending && c->pending[0].when <= now) {
		struct handshake hs = c->pending[0];

		c->n_pending--;
		memmove(c->pending, c->pending + 1, c->n_pending * sizeof(hs));
		finish(c, &hs);
	}
}

/* Answers after @step delays. */
static void answer(struct component *c, unsigned int step, struct handshake hs)
{
	/* the block in front of it answers */
	if (c->front) {
		finish(c, &hs);
		return;
	}
	if (model.args.stuck >> c->type & 1 && c->answers++ == model.args.stuck_after)
		c->mute = true;
	if (c->mute || c->n_pending == MODEL_MAX_PENDING)
		return;
	if (!model.args.delay_ns && !model.args.late_reads) {
		finish(c, &hs);
		return;
	}
	hs.when = answer_clock(c) + step * answer_delay(c);
	c->pending[c->n_pending++] = hs;
	pthread_cond_signal(&wake);
}

static void *handshake_thread(void *arg)
{
	(void)arg;
	pthread_mutex_lock(&model.lock);
	for (;;) {
		uint64_t now = now_ns(), next = UINT64_MAX;
		struct timespec ts;

		for (unsigned int i = 0; i < n_parts; i++) {
			finish_due(&parts[i], now);
			if (parts[i].n_pending && parts[i].pending[0].when < next)
				next = parts[i].pending[0].when;
		}
		if (next == UINT64_MAX) {
			pthread_cond_wait(&wake, &model.lock);
			continue;
		}
		ts.tv_sec = (time_t)(next / 1000000000u);
		ts.tv_nsec = (long)(next % 1000000000u);
		pthread_cond_timedwait(&wake, &model.lock, &ts);
	}
	return NULL;
}

/* ---- writes ---- */

static bool upstream_busy(const struct component *c)
{
	for (unsigned int i = 0; i < c->n_ins; i++)
		if (c->in[i]->enabled || (c->in[i]->shown & (CTL_ACTIVE | CTL_EMPTY)) == CTL_ACTIVE)
			return true;
	return false;
}

static bool downstream_ready(const struct component *c)
{
	for (unsigned int i = 0; i < c->n_outs; i++)
		if (c->out[i]->shown & CTL_ENABLE)
			return true;
	return !c->n_outs;
}

static void disable(struct component *c)
{
	if (upstream_busy(c))
		violation(c, "disabled before what feeds it is disabled and empty");
	c->enabled = false;
	c->shown &= ~CTL_EMPTY;
	if (c->ops->disable)
		c->ops->disable(c);
	part_show(c);
	answer(c, 1, (struct handshake){ .clear = CTL_ENABLE });
	answer(c, 2, (struct handshake){ .set = CTL_EMPTY, .flush = true });
}

static void enable(struct component *c)
{
	const char *why;

	for (unsigned int i = 0; i < c->n_descs; i++)
		if (!c->front && c->descs[i].must_init && !c->written[c->descs[i].offset / 4])
			violation(c, "enabled while register 0x%03x holds what it held after reset",
				  c->descs[i].offset);
	if (!downstream_ready(c))
		violation(c, "enabled before what it feeds");
	why = c->ops->enable ? c->ops->enable(c) : NULL;
	if (why)
		violation(c, "enabled, but %s", why);
	c->enabled = true;
	answer(c, 1, (struct handshake){ .set = CTL_ENABLE, .clear = CTL_EMPTY });
}

static void deactivate(struct component *c)
{
	if (c->enabled) {
		violation(c, "deactivated while enabled");
		disable(c);
	}
	c->shown &= ~CTL_ENABLE;
	part_show(c);
	answer(c, 3, (struct handshake){ .clear = CTL_ACTIVE | CTL_ENABLE, .set = CTL_EMPTY });
}

static void write_fields(struct component *c, const struct reg_desc *d, uint32_t value)
{
	uint32_t old = reg_get(c, d->offset), new = value & d->warl;

	if (c->ops->legal)
		new = c->ops->legal(c, d->offset, new) & d->warl;
	reg_set(c, d->offset, (old & ~d->warl) | new);
	c->written[d->offset / 4] = 1;
}

/* Writes Control of an active component. */
static void write_active_control(struct component *c, const struct reg_desc *d, uint32_t value)
{
	uint32_t change = (value ^ reg_get(c, 0)) & d->warl & ~c->ops->live_control;

	if (value & ~d->known)
		violation(c, "wrote 0x%08x to Control: reserved bits", value);
	if (change && c->enabled && value & CTL_ENABLE)
		violation(c, "Control reconfigured while enabled: 0x%08x to 0x%08x", control(c),
			  value);
	/* a write about other bits that also clears a write-1-to-clear bit: read-modify-write */
	if (value & c->ops->write_1_clears && (value ^ control(c)) & d->warl)
		violation(c, "wrote 0x%08x to Control: clears 0x%08x by the way", value,
			  value & c->ops->write_1_clears);
	if (c->enabled && !(value & CTL_ENABLE))
		disable(c);
	write_fields(c, d, value);
	if (!c->enabled && value & CTL_ENABLE)
		enable(c);
	if (c->ops->wrote)
		c->ops->wrote(c, 0, value);
	part_show(c);
}

static void write_control(struct component *c, uint32_t value)
{
	part_show(c);
	finish_due(c, answer_clock(c));
	if (c->n_pending)
		violation(c, "wrote 0x%08x to Control before the last change was answered", value);
	finish_due(c, UINT64_MAX);
	if (!(value & CTL_ACTIVE)) {
		/* a reset helps, if the component ever answered */
		if (c->mute && model.args.stuck_after) {
			c->mute = false;
			if (c->enabled && c->ops->disable)
				c->ops->disable(c);
			c->enabled = false;
		}
		if (value)
			violation(c, "wrote 0x%08x to Control: settings while deactivating", value);
		if (c->shown & CTL_ACTIVE)
			deactivate(c);
		return;
	}
	if (c->shown & CTL_ACTIVE) {
		write_active_control(c, &c->descs[0], value);
		return;
	}
	if (value != CTL_ACTIVE)
		violation(c, "wrote 0x%08x to Control while inactive: only Active may be set",
			  value);
	answer(c, 1, (struct handshake){ .set = CTL_ACTIVE | CTL_EMPTY, .activate = true });
}

/* Reports an access that is a bus error on some hardware. */
static void check_hole(const struct component *c, uint32_t offset, const char *what)
{
	if (model.args.holes && !find_desc(c, offset))
		violation(c, "%s register 0x%03x, which is not there", what, offset);
}

static void write_register(struct component *c, uint32_t offset, uint32_t value)
{
	const struct reg_desc *d = find_desc(c, offset);

	/* it may have stopped itself since the last write */
	part_show(c);
	if (!(c->shown & CTL_ACTIVE)) {
		violation(c, "wrote register 0x%03x while inactive", offset);
		return;
	}
	if (!d) {
		check_hole(c, offset, "wrote");
		return;
	}
	if (value & ~d->known)
		violation(c, "wrote 0x%08x to register 0x%03x: reserved bits", value, offset);
	if (!d->live && (c->enabled || !(c->shown & CTL_EMPTY)))
		violation(c, "wrote register 0x%03x while enabled or not empty", offset);
	write_fields(c, d, value);
	if (c->ops->wrote)
		c->ops->wrote(c, offset, value);
}

void part_write(struct component *c, uint32_t offset, uint32_t value)
{
	if (offset)
		write_register(c, offset, value);
	else
		write_control(c, value);
}

static struct component *find_part(uint64_t offset)
{
	for (unsigned int i = 0; i < n_parts; i++)
		if (offset - parts[i].offset < MODEL_PAGE)
			return &parts[i];
	return NULL;
}

/* Turns the component's power off: it loses its state, and is in reset when the power is back. */
static void lose_power(struct component *c)
{
	/* what CoreSight loses is not modelled */
	if (c->ops->foreign_write)
		return;
	part_show(c);
	if (c->enabled) {
		violation(c, "lost its power while enabled");
		c->enabled = false;
		if (c->ops->disable)
			c->ops->disable(c);
	}
	c->n_pending = 0;
	c->shown = CTL_EMPTY;
	memset(c->reg, 0, sizeof(c->reg));
	show_junk(c);
}

/* Returns whether there is a switch for all components. */
static bool has_switch(void)
{
	return model.args.power || model.args.clock_gate;
}

/* Switches power, or the clock. */
static void switch_power(bool on)
{
	for (unsigned int i = 0; i < n_parts && !on && !model.off; i++)
		if (model.args.power)
			lose_power(&parts[i]);
		else if (parts[i].enabled)
			violation(&parts[i], "still enabled when its clock stopped");
	model.off = !on;
}

void regs_hart_sleeps(unsigned int vcpu, void *userdata)
{
	(void)userdata;
	this_hart = &harts[vcpu];
	pthread_mutex_lock(&model.lock);
	for (unsigned int i = 0; i < n_parts; i++)
		if (parts[i].offset / (2 * MODEL_PAGE) == vcpu)
			lose_power(&parts[i]);
	pthread_mutex_unlock(&model.lock);
	this_hart = NULL;
}

static void guest_wrote(uint64_t where, uint32_t value)
{
	struct component *c = find_part(where);
	uint32_t offset = (uint32_t)where % MODEL_PAGE;

	if (has_switch() && where == POWER_SWITCH)
		switch_power(value & 1);
	if (!c)
		return;
	if (c->ops->foreign_write) {
		c->ops->foreign_write(c, offset, value);
		c->page[offset / 4] = c->reg[offset / 4];
		return;
	}
	part_write(c, offset, value);
	/* replace what the store left in the page by the component's answer */
	if (!offset)
		part_show(c);
	else
		c->page[offset / 4] = c->shown & CTL_ACTIVE ? c->reg[offset / 4] : part_random(c);
}

/* Returns the offset of an access in the window, or -1. */
static int64_t window_offset(qemu_plugin_meminfo_t info, uint64_t vaddr)
{
	struct qemu_plugin_hwaddr *hw = qemu_plugin_get_hwaddr(info, vaddr);
	uint64_t offset;

	if (!hw || qemu_plugin_hwaddr_is_io(hw))
		return -1;
	offset = qemu_plugin_hwaddr_phys_addr(hw) - model.args.window;
	return offset < window_size ? (int64_t)offset : -1;
}

/*
 * Reports an access without power or clock: on real hardware the bus does not answer, and the hart
 * waits forever.
 */
static void check_power(const struct component *c, const char *what)
{
	if (model.off && c)
		violation(c, "%s without %s", what, model.args.power ? "power" : "clock");
}

/* Reports an access by another hart: on real hardware, an access fault or a meaningless value. */
static void check_hart(const struct component *c, unsigned int vcpu, const char *what)
{
	if (!model.args.own_hart || !c)
		return;
	if (c->type != PART_ENCODER &&
	    !(c->type == PART_ATB_BRIDGE && model.args.topology >= TOPOLOGY_K3))
		return;
	if (c->index != vcpu)
		violation(c, "%s by hart %u", what, vcpu);
}

void regs_stored(unsigned int vcpu, qemu_plugin_meminfo_t info, uint64_t vaddr, void *userdata)
{
	int64_t offset = window_offset(info, vaddr);
	qemu_plugin_mem_value v;

	(void)userdata;
	if (offset < 0)
		return;
	v = qemu_plugin_mem_get_value(info);
	this_hart = &harts[vcpu];
	pthread_mutex_lock(&model.lock);
	check_hart(find_part((uint64_t)offset), vcpu, "written");
	check_power(find_part((uint64_t)offset), "written");
	if (v.type == QEMU_PLUGIN_MEM_VALUE_U32 && !(offset & 3)) {
		guest_wrote((uint64_t)offset, v.data.u32);
	} else {
		struct component *c = find_part((uint64_t)offset);

		if (c)
			violation(c, "wrote at 0x%03x other than by an aligned 32-bit store",
				  (unsigned int)offset % MODEL_PAGE);
	}
	pthread_mutex_unlock(&model.lock);
	this_hart = NULL;
}

void regs_loaded(unsigned int vcpu, qemu_plugin_meminfo_t info, uint64_t vaddr, void *userdata)
{
	int64_t where = window_offset(info, vaddr);
	uint32_t offset = (uint32_t)where % MODEL_PAGE;
	struct component *c;

	(void)userdata;
	if (where < 0)
		return;
	this_hart = &harts[vcpu];
	memory_register_was_read(vcpu);
	pthread_mutex_lock(&model.lock);
	c = find_part((uint64_t)where);
	check_hart(c, vcpu, "read");
	check_power(c, "read");
	if (c && c->ops->foreign_write) {
		if (c->ops->was_read)
			c->ops->was_read(c, offset);
		c = NULL;
	}
	if (c && offset && !(c->shown & CTL_ACTIVE))
		violation(c, "read register 0x%03x while inactive", offset);
	else if (c && offset)
		check_hole(c, offset, "read");
	if (c && offset && c->shown & CTL_ACTIVE && c->ops->was_read)
		c->ops->was_read(c, offset);
	/* answers that are due must not wait until the thread gets to run */
	if (c && !offset) {
		c->reads++;
		finish_due(c, answer_clock(c));
	}
	pthread_mutex_unlock(&model.lock);
	this_hart = NULL;
}

/* ---- beginning and end ---- */

struct component *part_new(enum part_type type, const struct part_ops *ops,
			   const struct reg_desc *descs, unsigned int n_descs, unsigned int index,
			   uint32_t offset)
{
	struct component *c;

	if (n_parts == MODEL_MAX_PARTS)
		return NULL;
	c = &parts[n_parts++];
	c->type = type;
	c->ops = ops;
	c->descs = descs;
	c->n_descs = n_descs;
	c->index = index;
	c->offset = offset;
	c->page = (volatile uint32_t *)(model.ram + (model.args.window - model.args.ram_base) +
					offset);
	c->shown = CTL_EMPTY;
	c->random = (model.args.seed + n_parts) * 0x9e3779b97f4a7c15ull | 1;
	pthread_mutex_init(&c->path_lock, NULL);
	if (offset + MODEL_PAGE > window_size)
		window_size = offset + MODEL_PAGE;
	show_junk(c);
	return c;
}

/* Maps the guest's memory. Without ram=, no guest finds the components. */
static int map_ram(void)
{
	int fd = -1;
	void *ram;

	if (model.args.ram_path) {
		fd = open(model.args.ram_path, O_RDWR);
		if (fd < 0)
			return -errno;
	} else {
		model.args.ram_base = model.args.window = 1ull << 60;
		model.args.ram_size = MODEL_DEFAULT_EXTRA;
	}
	ram = mmap(NULL, model.args.ram_size, PROT_READ | PROT_WRITE,
		   fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED, fd, 0);
	if (fd >= 0)
		close(fd);
	if (ram == MAP_FAILED)
		return -errno;
	model.ram = ram;
	return 0;
}

int regs_init(void)
{
	pthread_condattr_t attr;
	pthread_t thread;
	int ret = map_ram();

	if (ret) {
		fprintf(stderr, "rvtrace-model: cannot map the guest's memory %s: %s\n",
			model.args.ram_path, strerror(-ret));
		return ret;
	}
	if (model.args.violations_path) {
		violations = fopen(model.args.violations_path, "w");
		if (!violations) {
			ret = -errno;
			fprintf(stderr, "rvtrace-model: cannot write %s: %s\n",
				model.args.violations_path, strerror(errno));
			return ret;
		}
	}
	model.off = has_switch();
	if (has_switch())
		window_size = POWER_SWITCH + MODEL_PAGE;
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&wake, &attr);
	/* reads of Control give the answers that are due by their number */
	return model.args.late_reads ? 0 : -pthread_create(&thread, NULL, handshake_thread, NULL);
}

void regs_exit(void)
{
	pthread_mutex_lock(&model.lock);
	for (unsigned int i = 0; i < n_parts; i++)
		if (parts[i].enabled)
			violation(&parts[i], "still enabled when the machine was turned off");
	pthread_mutex_unlock(&model.lock);
}
