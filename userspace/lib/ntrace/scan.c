// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * N-Trace: messages by their bytes. Hot, and so without branches that depend on what the messages
 * are: these come in no order that a processor could foresee.
 */
#include "flow/steps.h"
#include "ntrace/scan.h"

#ifdef __x86_64__
#include <immintrin.h>
#define V3 __attribute__((target("avx2,bmi,bmi2")))
#endif

#define INLINE inline __attribute__((always_inline))
#define CHUNK 64		/* bytes that are looked at together */
#define EXCESS 24		/* that are read from where a message begins: key and time */
#define MAX_STAMP 8

/*
 * The last field before the time stamp: bit 0 is for the first. ResourceFull with RCODE 2 has one
 * more.
 */
static const uint8_t key_fields[64] = {
	[RVT_NTRACE_DIRECT_BRANCH] = 1, [RVT_NTRACE_RESOURCE_FULL] = 1,
	[RVT_NTRACE_INDIRECT_BRANCH] = 2, [RVT_NTRACE_INDIRECT_BRANCH_HIST] = 4,
};

/* The first bytes of 16. */
static const uint64_t low_masks[RVT_NTRACE_KEY_BYTES + 1][2] = {
	{}, { 0xff }, { 0xffff }, { 0xffffff }, { UINT32_MAX }, { 0xffffffffff },
	{ 0xffffffffffff }, { 0xffffffffffffff }, { UINT64_MAX }, { UINT64_MAX, 0xff },
	{ UINT64_MAX, 0xffff }, { UINT64_MAX, 0xffffff }, { UINT64_MAX, UINT32_MAX },
	{ UINT64_MAX, 0xffffffffff }, { UINT64_MAX, 0xffffffffffff },
	{ UINT64_MAX, 0xffffffffffffff }, { UINT64_MAX, UINT64_MAX },
};

static INLINE uint64_t load(const uint8_t *p)
{
	uint64_t word;

	memcpy(&word, p, sizeof(word));
	return le64toh(word);
}

/* ---- MSEO ---- */

/* Of CHUNK bytes, a bit for each. */
struct marks {
	uint64_t ends;		/* of a field */
	uint64_t lasts;		/* of a message */
};

/* The two bits of each byte. From a byte that has the reserved MSEO on nothing ends. */
static INLINE struct marks marks_of(uint64_t low, uint64_t high)
{
	const uint64_t reserved = high & ~low, good = (reserved & -reserved) - 1;

	return (struct marks){ low & good, low & high & good };
}

/* Bit 0 of each byte. */
static INLINE uint64_t gather(uint64_t word)
{
	return (word & RVT_NTRACE_ONES) * UINT64_C(0x0102040810204080) >> 56;
}

static inline struct marks read_marks(const uint8_t *p)
{
	uint64_t low = 0, high = 0;

	for (unsigned int i = 0; i < CHUNK / 8; i++) {
		uint64_t word = load(p + 8 * i);

		low |= gather(word) << 8 * i;
		high |= gather(word >> 1) << 8 * i;
	}
	return marks_of(low, high);
}

/* The end of the field that @field names, bit 0 being for the first; 0: there is none. */
static inline uint64_t select_end(unsigned int field, uint64_t ends)
{
	for (; field > 1; field >>= 1)
		ends &= ends - 1;
	return field ? ends & -ends : 0;
}

/*
 * The same with instructions that most processors have since 2013; where PEXT and PDEP are
 * microcode they are slow.
 */
#ifdef V3
static bool has_v3(void)
{
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
	       __builtin_cpu_supports("bmi2") && !__builtin_cpu_is("znver1") &&
	       !__builtin_cpu_is("znver2");
}

static inline V3 struct marks read_marks_v3(const uint8_t *p)
{
	const __m256i a = _mm256_loadu_si256((const __m256i *)p);
	const __m256i b = _mm256_loadu_si256((const __m256i *)(p + 32));
	uint32_t low_a = _mm256_movemask_epi8(_mm256_slli_epi16(a, 7));
	uint32_t low_b = _mm256_movemask_epi8(_mm256_slli_epi16(b, 7));
	uint32_t high_a = _mm256_movemask_epi8(_mm256_slli_epi16(a, 6));
	uint32_t high_b = _mm256_movemask_epi8(_mm256_slli_epi16(b, 6));

	return marks_of(low_a | (uint64_t)low_b << 32, high_a | (uint64_t)high_b << 32);
}

static inline V3 uint64_t select_end_v3(unsigned int field, uint64_t ends)
{
	return _pdep_u64(field, ends);
}

static inline V3 uint64_t pack_v3(uint64_t word)
{
	return _pext_u64(word, ~(3 * RVT_NTRACE_ONES));
}
#endif

struct ops {
	struct marks (*read_marks)(const uint8_t *p);
	uint64_t (*select_end)(unsigned int field, uint64_t ends);
	uint64_t (*pack)(uint64_t word);
};

/* ---- messages ---- */

/*
 * The message at @p, which is byte @from of the marks and ends among them. False: it cannot be a
 * step.
 */
static INLINE bool scan_message(const struct rvt_ntrace_scan *scan, const struct ops *ops,
				bool timestamps, struct marks marks, const uint8_t *p,
				unsigned int from, struct rvt_ntrace_scanned *m)
{
	const uint64_t low = load(p), high = load(p + 8), last = marks.lasts & -marks.lasts;
	const unsigned int field = key_fields[low >> 2 & 63] <<
				   ((low & scan->rcode_mask) == scan->rcode_2);
	const uint64_t end = ops->select_end(field, marks.ends);
	unsigned int key_len, stamp_len;

	/* One field more, which is a time stamp, or none. */
	if (end != last && (!timestamps || ops->select_end(2 * field, marks.ends) != last))
		return false;
	key_len = __builtin_ctzll(end) + 1 - from;
	stamp_len = __builtin_ctzll(last) + 1 - from - key_len;
	if (key_len > RVT_NTRACE_KEY_BYTES || stamp_len > MAX_STAMP)
		return false;
	m->bytes[0] = low & low_masks[key_len][0];
	m->bytes[1] = high & low_masks[key_len][1];
	m->stamp = ops->pack(load(p + key_len) & low_masks[stamp_len][0]);
	m->key_len = key_len;
	m->len = key_len + stamp_len;
	return true;
}

/* The messages that end in the CHUNK bytes at @p, which are those at scan->pos. */
static INLINE void scan_chunk(struct rvt_ntrace_scan *scan, const struct ops *ops, bool timestamps,
			      const uint8_t *p, unsigned int mode, const uint32_t *guesses)
{
	struct rvt_ntrace_scanned *m = scan->msgs + scan->n;
	struct marks marks = ops->read_marks(p);
	uint64_t mix = scan->mix, before;
	unsigned int from = 0;

	while (marks.lasts && m != scan->msgs + RVT_NTRACE_SCANNED) {
		if (!scan_message(scan, ops, timestamps, marks, p + from, from, m))
			break;
		m->pos = scan->pos + from;
		before = mix;
		mix = rvt_step_mix(m->bytes, mode);
		m->mix = mix;
		m->guess = rvt_step_guess(before, mix);
		__builtin_prefetch(guesses + m->guess);
		from += m->len;
		m++;
		marks.ends &= -((marks.lasts & -marks.lasts) << 1);
		marks.lasts &= marks.lasts - 1;
	}
	scan->ended = !from;
	scan->pos += from;
	scan->n = m - scan->msgs;
	scan->mix = mix;
}

/* As many messages as fit. */
static INLINE void scan_all(struct rvt_ntrace_scan *scan, const struct ops *ops, bool timestamps,
			    const uint8_t *end, unsigned int mode, const uint32_t *guesses)
{
	uint8_t tail[CHUNK + EXCESS];

	while (!scan->ended && scan->n < RVT_NTRACE_SCANNED) {
		const size_t left = end - scan->pos;
		const uint8_t *p = scan->pos;

		if (left < sizeof(tail)) {
			memset(tail, 0, sizeof(tail));
			memcpy(tail, p, left < CHUNK ? left : CHUNK);
			p = tail;
		}
		scan_chunk(scan, ops, timestamps, p, mode, guesses);
	}
}

#ifdef V3
static V3 void scan_v3(struct rvt_ntrace_scan *scan, bool timestamps, const uint8_t *end,
		       unsigned int mode, const uint32_t *guesses)
{
	static const struct ops ops = { read_marks_v3, select_end_v3, pack_v3 };

	scan_all(scan, &ops, timestamps, end, mode, guesses);
}
#endif

static void scan_plain(struct rvt_ntrace_scan *scan, bool timestamps, const uint8_t *end,
		       unsigned int mode, const uint32_t *guesses)
{
	static const struct ops ops = { read_marks, select_end, rvt_ntrace_pack };

	scan_all(scan, &ops, timestamps, end, mode, guesses);
}

/* Bit @number of all MDO bits of a message, where it is in the first bytes. */
static uint64_t mdo_bit(unsigned int number)
{
	return 1ull << (number / 6 * 8 + 2 + number % 6);
}

void rvt_ntrace_scan_init(struct rvt_ntrace_scan *scan, const struct rvt_ntrace_reader *reader)
{
	const unsigned int rcode = 6 + reader->src_bits;

	scan->rcode_2 = RVT_NTRACE_RESOURCE_FULL << 2 | mdo_bit(rcode + 1);
	scan->rcode_mask = 0xfc;
	for (unsigned int i = 0; i < 4; i++)
		scan->rcode_mask |= mdo_bit(rcode + i);
#ifdef V3
	scan->v3 = has_v3();
#else
	scan->v3 = false;
#endif
	rvt_ntrace_scan_begin(scan, NULL);
}

/* What was taken goes, but for the last one. */
static void make_room(struct rvt_ntrace_scan *scan)
{
	const unsigned int gone = scan->at ? scan->at - 1 : 0;

	scan->at -= gone;
	scan->n -= gone;
	memmove(scan->msgs, scan->msgs + gone, scan->n * sizeof(scan->msgs[0]));
}

void rvt_ntrace_scan(struct rvt_ntrace_scan *scan, const struct rvt_ntrace_reader *reader,
		     const uint8_t *end, unsigned int mode, const struct rvt_steps *steps)
{
	const uint32_t *guesses = steps ? steps->guesses : NULL;
	unsigned int n;

	make_room(scan);
	n = scan->n;
#ifdef V3
	if (scan->v3)
		scan_v3(scan, reader->timestamps, end, mode, guesses);
	else
#endif
		scan_plain(scan, reader->timestamps, end, mode, guesses);
	/* Guesses are there by now. */
	for (; steps && n < scan->n; n++)
		rvt_steps_fetch(steps, scan->msgs[n].guess);
}
