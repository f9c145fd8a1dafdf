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

/* How many fields there are before the time stamp: by kind of message, and RCODE. 0: no step. */
enum kind { OTHER, ONE, TWO, THREE, BY_RCODE };
static const uint8_t kinds[64] = {
	[RVT_NTRACE_DIRECT_BRANCH] = ONE, [RVT_NTRACE_INDIRECT_BRANCH] = TWO,
	[RVT_NTRACE_INDIRECT_BRANCH_HIST] = THREE, [RVT_NTRACE_RESOURCE_FULL] = BY_RCODE,
};
#define ALL_16(n) { n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n }
static const uint8_t n_fields[5][16] = {
	[ONE] = ALL_16(1), [TWO] = ALL_16(2), [THREE] = ALL_16(3), [BY_RCODE] = { 0, 1, 2 },
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

static INLINE struct marks read_marks(const uint8_t *p)
{
	uint64_t low = 0, high = 0;

	for (unsigned int i = 0; i < CHUNK / 8; i++) {
		uint64_t word = load(p + 8 * i);

		low |= gather(word) << 8 * i;
		high |= gather(word >> 1) << 8 * i;
	}
	return marks_of(low, high);
}

#ifdef V3
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
#endif

/* ---- messages ---- */

/* How many fields a message has before its time stamp that begins with @low; 0: it is no step. */
static INLINE unsigned int fields_of(unsigned int src_bits, uint64_t low)
{
	const unsigned int rcode = rvt_ntrace_pack(low & UINT32_MAX) >> (6 + src_bits) & 15;

	return n_fields[kinds[low >> 2 & 63]][rcode];
}

/*
 * The message at @p, which is byte @from of the marks and ends among them. False: it cannot be a
 * step.
 */
static INLINE bool scan_message(const struct rvt_ntrace_reader *reader, struct marks marks,
				const uint8_t *p, unsigned int from, struct rvt_ntrace_scanned *m)
{
	const uint64_t low = load(p), high = load(p + 8), last_bit = marks.lasts & -marks.lasts;
	const unsigned int n = fields_of(reader->src_bits, low);
	uint64_t ends = marks.ends, rest;
	unsigned int key_len, stamp_len;

	rest = ends & (ends - 1);
	ends = n >= 2 ? rest : ends;
	rest = ends & (ends - 1);
	ends = n >= 3 ? rest : ends;
	rest = ends & (ends - 1);
	/* One field more, which is a time stamp, or none. */
	if (!n || ((ends & -ends) != last_bit &&
		   (!reader->timestamps || (rest & -rest) != last_bit)))
		return false;
	key_len = __builtin_ctzll(ends) + 1 - from;
	stamp_len = __builtin_ctzll(last_bit) + 1 - from - key_len;
	if (key_len > RVT_NTRACE_KEY_BYTES || stamp_len > MAX_STAMP)
		return false;
	m->bytes[0] = low & low_masks[key_len][0];
	m->bytes[1] = high & low_masks[key_len][1];
	m->stamp = rvt_ntrace_pack(load(p + key_len) & low_masks[stamp_len][0]);
	m->key_len = key_len;
	m->len = key_len + stamp_len;
	m->full = (low >> 2 & 63) == RVT_NTRACE_RESOURCE_FULL;
	return true;
}

/* The messages that end in the CHUNK bytes at @p, which are those at scan->pos. */
static INLINE void scan_chunk(struct rvt_ntrace_scan *scan, const struct rvt_ntrace_reader *reader,
			      struct marks marks, const uint8_t *p, unsigned int mode)
{
	unsigned int from = 0, n = scan->n;
	uint64_t mix = scan->mix;

	while (marks.lasts && n - scan->at < RVT_NTRACE_SCANNED) {
		struct rvt_ntrace_scanned *m = rvt_ntrace_scanned(scan, n);

		if (!scan_message(reader, marks, p + from, from, m))
			break;
		m->pos = scan->pos + from;
		m->mix = rvt_step_mix(m->bytes, mode);
		m->guess = rvt_step_guess(mix, m->mix);
		mix = m->mix;
		n++;
		from += m->len;
		marks.ends &= -((marks.lasts & -marks.lasts) << 1);
		marks.lasts &= marks.lasts - 1;
	}
	scan->ended = !from;
	scan->pos += from;
	scan->n = n;
	scan->mix = mix;
}

#ifdef V3
static V3 void scan_v3(struct rvt_ntrace_scan *scan, const struct rvt_ntrace_reader *reader,
		       const uint8_t *p, unsigned int mode)
{
	scan_chunk(scan, reader, read_marks_v3(p), p, mode);
}
#endif

void rvt_ntrace_scan(struct rvt_ntrace_scan *scan, const struct rvt_ntrace_reader *reader,
		     const uint8_t *end, unsigned int mode)
{
	const size_t left = end - scan->pos;
	const uint8_t *p = scan->pos;
	uint8_t tail[CHUNK + EXCESS];

	if (left < sizeof(tail)) {
		memset(tail, 0, sizeof(tail));
		memcpy(tail, p, left < CHUNK ? left : CHUNK);
		p = tail;
	}
#ifdef V3
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
	    __builtin_cpu_supports("bmi2")) {
		scan_v3(scan, reader, p, mode);
		return;
	}
#endif
	scan_chunk(scan, reader, read_marks(p), p, mode);
}
