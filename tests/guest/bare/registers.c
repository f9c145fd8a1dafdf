// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The model's components as a program sees them by their registers: what Trace Control
 * Interface 1.0 and Sdtrig say about them. TAP on the UART. Built with -DBAD=1 it does what a
 * driver must not do, instead.
 */
#include <stdbool.h>
#include <stdint.h>

#define WINDOW 0x83000000ul
#define ENCODER WINDOW
#define SINK (WINDOW + 0x1000)

#define ACTIVE 1u
#define ENABLE 2u
#define TRACING 4u
#define EMPTY 8u
#define MODE_HTM (6u << 4)
#define TRIG_ENABLE (1u << 11)
#define STOP_ON_WRAP (1u << 8)
#define SMEM (1u << 4)
#define NTRACE (1u << 24)

#define FEATURES 0x8
#define FILTERS 0xc
#define TS_CONTROL 0x40
#define TS_LOW 0x48
#define TS_HIGH 0x4c
#define TRIG_IN 0x54
#define TRIG_OUT 0x58
#define FILTER0 0x400
#define COMP0 0x600
#define PULSE_IN 0xe00
#define PULSED_OUT 0xe04
#define START 0x10
#define LIMIT 0x18
#define WP 0x20
#define RP 0x28
#define DATA 0x40

static uint8_t buffer[4096] __attribute__((aligned(64)));

static uint32_t rd(uintptr_t part, uint32_t offset)
{
	return *(volatile uint32_t *)(part + offset);
}

static void wr(uintptr_t part, uint32_t offset, uint32_t value)
{
	*(volatile uint32_t *)(part + offset) = value;
	__asm__ volatile("fence" ::: "memory");
}

/* ---- TAP ---- */

static unsigned int n_tests;

static void put(const char *s)
{
	for (; *s; s++)
		*(volatile uint8_t *)0x10000000 = (uint8_t)*s;
}

static void put_number(unsigned int n)
{
	char digits[2] = { (char)('0' + n % 10), 0 };

	if (n >= 10)
		put_number(n / 10);
	put(digits);
}

static void ok(bool good, const char *what)
{
	put(good ? "ok " : "not ok ");
	put_number(++n_tests);
	put(" - ");
	put(what);
	put("\n");
}

/* ---- what a driver does ---- */

static bool wait(uintptr_t part, uint32_t mask, uint32_t value)
{
	for (unsigned int i = 0; i < 100000000; i++)
		if ((rd(part, 0) & mask) == value)
			return true;
	return false;
}

static void activate(uintptr_t part)
{
	wr(part, 0, 0);
	wait(part, ACTIVE, 0);
	wr(part, 0, ACTIVE);
	wait(part, ACTIVE, ACTIVE);
}

static void activate_encoder(void)
{
	activate(ENCODER);
	wr(ENCODER, FEATURES, 0);
	wr(ENCODER, FILTERS, 0);
	wr(ENCODER, TS_CONTROL, 0);
	wr(ENCODER, TRIG_IN, 0);
	wr(ENCODER, TRIG_OUT, 0);
	for (unsigned int i = 0; i < 4; i++) {
		wr(ENCODER, FILTER0 + 0x20 * i, 0);
		wr(ENCODER, COMP0 + 0x20 * i, 0);
	}
	wr(ENCODER, 0, ACTIVE);
}

static void start_sink(uint32_t control, uint32_t bytes)
{
	activate(SINK);
	wr(SINK, 0, ACTIVE | control);
	wr(SINK, START + 4, 0);
	wr(SINK, START, (uint32_t)(uintptr_t)buffer);
	wr(SINK, LIMIT + 4, 0);
	wr(SINK, LIMIT, (uint32_t)(uintptr_t)buffer + bytes - 4);
	wr(SINK, WP + 4, 0);
	wr(SINK, WP, (uint32_t)(uintptr_t)buffer);
	wr(SINK, 0, ACTIVE | control | ENABLE);
	wait(SINK, ENABLE, ENABLE);
}

static void start_encoder(uint32_t control)
{
	control |= ACTIVE | MODE_HTM | NTRACE;
	wr(ENCODER, 0, control);
	wr(ENCODER, 0, control | ENABLE);
	wait(ENCODER, ENABLE, ENABLE);
}

static void set_tracing(bool on)
{
	uint32_t control = rd(ENCODER, 0) & ~(TRACING | EMPTY | 1u << 12);

	wr(ENCODER, 0, on ? control | TRACING : control);
}

static void stop(uintptr_t part)
{
	wr(part, 0, rd(part, 0) & ~(ENABLE | TRACING | EMPTY | 1u << 12));
	wait(part, ENABLE | EMPTY, EMPTY);
}

static void stop_all(void)
{
	stop(ENCODER);
	stop(SINK);
}

static uint32_t written(void)
{
	return (rd(SINK, WP) & ~3u) - (uint32_t)(uintptr_t)buffer;
}

/* How often a message with this TCODE begins in what was written: 6 bits above the 2 of MSEO. */
static unsigned int count_tcode(unsigned int tcode)
{
	bool first = true;
	unsigned int n = 0;

	for (uint32_t i = 0; i < written(); i++) {
		if (first && buffer[i] == 0xff)
			continue;
		if (first && buffer[i] >> 2 == tcode)
			n++;
		first = (buffer[i] & 3) == 3;
	}
	return n;
}

static __attribute__((noinline)) void loop(unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		__asm__ volatile("");
}

static uintptr_t inside(void)
{
	return (uintptr_t)loop;
}

/* Jumps whose targets no decoder can know: a message each. */
static __attribute__((noinline)) void returns(unsigned int n)
{
	void (*volatile call)(unsigned int) = loop;

	for (unsigned int i = 0; i < n; i++)
		call(1);
}

/* ---- good behaviour ---- */

static void test_activation(void)
{
	uint32_t junk = 0, value;

	ok((rd(ENCODER, 0) & (ACTIVE | ENABLE | EMPTY)) == EMPTY,
	   "out of reset an encoder is inactive and empty");
	activate(ENCODER);
	ok((rd(ENCODER, 0) & (ACTIVE | ENABLE)) == ACTIVE, "active, not enabled");
	for (unsigned int i = 0; i < 4; i++) {
		value = rd(ENCODER, FEATURES) | rd(ENCODER, FILTERS) | rd(ENCODER, FILTER0);
		junk |= value;
		activate(ENCODER);
	}
	ok(junk, "fields that are undefined after reset hold junk");
	ok(rd(ENCODER, 4) == 0x00010101, "trTeImpl: version 1.0, type 1, protocol 1.0");
	activate(SINK);
	ok((rd(SINK, 4) & 0xfff) == 0x901, "trRamImpl: version 1.0, type 9");
	ok(rd(ENCODER, 0x100) == 0, "what is not there reads 0");
}

static void test_warl(void)
{
	uint32_t mode;

	activate_encoder();
	wr(ENCODER, 0, ACTIVE | 5u << 4);
	mode = rd(ENCODER, 0) >> 4 & 7;
	ok(mode == 3 || mode == 6, "a mode that does not exist becomes one that does, not 0");
	wr(ENCODER, 0, ACTIVE | 3u << 4);
	ok((rd(ENCODER, 0) >> 4 & 7) == 3, "mode 3 is kept");
	wr(ENCODER, 0x10, ~0u & 0xf007f);
	ok(rd(ENCODER, 0x10) == 0, "N-Trace has no trTeDataControl");
	wr(ENCODER, FEATURES, 0xc0000000);
	ok(rd(ENCODER, FEATURES) >> 28 == 12, "at most 12 bits of source");
	wr(ENCODER, FEATURES, 0);
	activate(SINK);
	wr(SINK, START, 0x80001234 & ~3u);
	ok((rd(SINK, START) & 3) == 0, "trRamStart is aligned");
	wr(SINK, WP, 0x80001001);
	ok(rd(SINK, WP) == 0x80001001, "trRamWrap can be set");
}

static void test_recording(void)
{
	start_sink(SMEM, sizeof(buffer));
	activate_encoder();
	start_encoder(0);
	set_tracing(true);
	returns(5);
	set_tracing(false);
	stop_all();
	ok(count_tcode(9) == 1, "one ProgTraceSync");
	ok(count_tcode(33) == 1, "one ProgTraceCorrelation");
	/*
	 * loop() comes back 5 times; it and returns() are called directly or by a jump, that is 5
	 * or more
	 */
	ok(count_tcode(28) + count_tcode(4) >= 10,
	   "a message for each call by pointer and for each return");
	ok(buffer[0] == 9 << 2, "the sync comes first");
}

static void test_wrap(void)
{
	start_sink(SMEM, 256);
	activate_encoder();
	start_encoder(0);
	set_tracing(true);
	returns(200);
	set_tracing(false);
	stop_all();
	ok(rd(SINK, WP) & 1, "trRamWrap after more than the buffer holds");
	ok(written() < 256, "WP is in the buffer");
	start_sink(SMEM | STOP_ON_WRAP, 256);
	activate_encoder();
	start_encoder(0);
	set_tracing(true);
	returns(200);
	ok(!(rd(SINK, 0) & ENABLE), "stop on wrap: the sink clears its enable");
	ok(rd(SINK, 0) & EMPTY, "and is empty");
	ok(rd(ENCODER, 0) & 1u << 12, "the encoder says that it overflowed");
	wr(ENCODER, 0, rd(ENCODER, 0) & ~EMPTY);
	ok(!(rd(ENCODER, 0) & 1u << 12), "until 1 is written to that");
	set_tracing(false);
	stop(ENCODER);
}

static void test_filter(void)
{
	uintptr_t lo = inside();

	/* only loop(), by comparator 0: lo <= iaddr && iaddr < lo + 8 */
	start_sink(SMEM, sizeof(buffer));
	activate_encoder();
	wr(ENCODER, COMP0, 0u | 5u << 4 | 2u << 8 | 1u << 12);
	wr(ENCODER, COMP0 + 0x10, (uint32_t)lo);
	wr(ENCODER, COMP0 + 0x14, (uint32_t)(lo >> 32));
	wr(ENCODER, COMP0 + 0x18, (uint32_t)lo + 8);
	wr(ENCODER, COMP0 + 0x1c, (uint32_t)(lo >> 32));
	wr(ENCODER, FILTER0 + 4, 0);
	wr(ENCODER, FILTER0, 1u | 1u << 4);
	wr(ENCODER, FILTERS, 1);
	start_encoder(0);
	set_tracing(true);
	returns(7);
	set_tracing(false);
	stop_all();
	ok(count_tcode(9) == 7, "address range: trace starts each time that it is entered");
	ok(count_tcode(33) == 7, "and stops each time");
	/* M-mode is all there is: a filter for the others leaves nothing */
	start_sink(SMEM, sizeof(buffer));
	activate_encoder();
	wr(ENCODER, FILTER0 + 4, 3);
	wr(ENCODER, FILTER0, 3);
	wr(ENCODER, FILTERS, 1);
	start_encoder(0);
	set_tracing(true);
	returns(7);
	set_tracing(false);
	stop_all();
	ok(written() == 0, "privilege filter: nothing of M-mode");
}

static void test_triggers(void)
{
	start_sink(SMEM, sizeof(buffer));
	activate_encoder();
	wr(ENCODER, TRIG_IN, 2u | 3u << 4 | 4u << 8);
	wr(ENCODER, TRIG_OUT, 1u | 2u << 4);
	start_encoder(0);
	wr(ENCODER, PULSE_IN, 1);
	ok(!(rd(ENCODER, 0) & TRACING), "no trigger without trTeInstTrigEnable");
	wr(ENCODER, 0, (rd(ENCODER, 0) & ~EMPTY) | TRIG_ENABLE);
	wr(ENCODER, PULSE_IN, 1);
	ok(rd(ENCODER, 0) & TRACING, "trace-on");
	ok(rd(ENCODER, PULSED_OUT) == 1, "output 0 pulsed at the start");
	returns(1);
	wr(ENCODER, PULSE_IN, 4);
	returns(1);
	wr(ENCODER, PULSE_IN, 2);
	ok(!(rd(ENCODER, 0) & TRACING), "trace-off");
	ok(rd(ENCODER, PULSED_OUT) == 3, "output 1 pulsed at the stop");
	stop_all();
	/* TCODE 9, 12 or 29: start, and the notification */
	ok(count_tcode(9) + count_tcode(12) + count_tcode(29) == 2,
	   "trace-notify makes a sync message");
}

static uint64_t counter(void)
{
	uint32_t high, low;

	do {
		high = rd(ENCODER, TS_HIGH);
		low = rd(ENCODER, TS_LOW);
	} while (high != rd(ENCODER, TS_HIGH));
	return (uint64_t)high << 32 | low;
}

static void test_timestamp(void)
{
	uint64_t a, b;

	activate_encoder();
	ok(rd(ENCODER, TS_CONTROL) >> 24 == 63, "trTsWidth");
	wr(ENCODER, TS_CONTROL, 1u | 1u << 1 | 3u << 4);
	a = counter();
	loop(1000);
	b = counter();
	ok(b > a, "an internal counter counts");
	wr(ENCODER, TS_CONTROL, 1u | 3u << 4);
	a = counter();
	loop(1000);
	ok(counter() == a, "and stands without trTsCount");
	wr(ENCODER, TS_CONTROL, 1u | 3u << 4 | 1u << 2);
	ok(counter() == 0, "trTsReset makes it 0");
	wr(ENCODER, TS_CONTROL, 1u | 7u << 4);
	ok((rd(ENCODER, TS_CONTROL) >> 4 & 7) != 7, "a mode that does not exist is not kept");
	wr(ENCODER, TS_CONTROL, 0);
}

#define CSR(op, csr, out, in) __asm__ volatile(#op " %0, " #csr ", %1" : "=r"(out) : "r"(in))
#define CSRI(op, csr, out, in) __asm__ volatile(#op " %0, " #csr ", %1" : "=r"(out) : "i"(in))

static void test_context(void)
{
	uint64_t v;

	CSR(csrrw, 0x5a8, v, 0x1234567890ul);
	CSR(csrrs, 0x5a8, v, 0xful);
	ok(v == 0x34567890, "scontext: csrrw; 32 bits are kept");
	CSR(csrrc, 0x5a8, v, 0x1ul);
	ok(v == 0x3456789f, "csrrs");
	CSRI(csrrsi, 0x5a8, v, 1);
	ok(v == 0x3456789e, "csrrc");
	CSRI(csrrci, 0x5a8, v, 2);
	ok(v == 0x3456789f, "csrrsi");
	CSRI(csrrwi, 0x5a8, v, 21);
	ok(v == 0x3456789d, "csrrci");
	CSRI(csrrsi, 0x5a8, v, 0);
	ok(v == 21, "csrrwi");
	CSR(csrrw, 0x6a8, v, 0xfffful);
	CSRI(csrrsi, 0x6a8, v, 0);
	ok(v == 0x3fff, "hcontext: 14 bits are kept");
}

static void test_sram(void)
{
	uint32_t words[4], limit;

	activate(SINK);
	if (!(rd(SINK, 4) & 1u << 12))
		return;
	wr(SINK, 0, ACTIVE);
	wr(SINK, LIMIT, 0xfffffffc);
	limit = rd(SINK, LIMIT);
	ok(limit == 4096 - 4, "SRAM: the limit tells its size");
	wr(SINK, START, 0);
	wr(SINK, WP, 0);
	wr(SINK, 0, ACTIVE | ENABLE);
	wait(SINK, ENABLE, ENABLE);
	activate_encoder();
	start_encoder(0);
	set_tracing(true);
	returns(5);
	set_tracing(false);
	stop_all();
	wr(SINK, RP, 0);
	ok(rd(SINK, RP) == 0, "trRamRP is there");
	for (unsigned int i = 0; i < 4; i++)
		words[i] = rd(SINK, DATA);
	ok((words[0] & 0xff) == 9 << 2, "trRamData: the first byte is that of a ProgTraceSync");
	ok(rd(SINK, RP) == 16, "each read moves RP on");
	wr(SINK, RP, 4);
	ok(rd(SINK, DATA) == words[1], "RP chooses what is read");
	wr(SINK, RP, limit);
	rd(SINK, DATA);
	ok(rd(SINK, RP) == 0, "behind the limit comes the start");
}

static void good(void)
{
	test_activation();
	test_warl();
	test_recording();
	test_wrap();
	test_filter();
	test_triggers();
	test_timestamp();
	test_context();
	test_sram();
	put("1..");
	put_number(n_tests);
	put("\n");
}

/* ---- bad behaviour; the test knows what each line of the report should be ---- */

static void bad(void)
{
	rd(ENCODER, FILTERS);
	wr(ENCODER, FILTERS, 0);
	wr(ENCODER, 0, ACTIVE | MODE_HTM);
	wr(ENCODER, 0, 0);
	activate(ENCODER);
	*(volatile uint64_t *)(ENCODER + FEATURES) = 0;
	wr(ENCODER, FILTERS, 0xffff0000);
	wr(ENCODER, 0, ACTIVE | MODE_HTM | NTRACE | 1u << 30);
	wr(ENCODER, 0, ACTIVE | TRACING | MODE_HTM | NTRACE);
	wr(ENCODER, 0, ACTIVE | MODE_HTM | NTRACE);
	wr(ENCODER, 0, ACTIVE | MODE_HTM | NTRACE | ENABLE);
	wr(ENCODER, 0, ACTIVE | MODE_HTM | NTRACE | ENABLE | 1u << 9);
	wr(ENCODER, FEATURES, 0);
	wr(ENCODER, 0, ACTIVE | MODE_HTM | NTRACE | ENABLE | 1u << 9 | TRIG_ENABLE | 1u << 12);
	wr(ENCODER, 0, 0);
	activate(ENCODER);
	start_sink(SMEM, sizeof(buffer));
	activate_encoder();
	start_encoder(0);
	stop(SINK);
	stop(ENCODER);
	wr(SINK, START, 0x10000000);
	wr(SINK, 0, ACTIVE | SMEM | ENABLE);
}

void test_main(void)
{
	if (BAD)
		bad();
	else
		good();
}
