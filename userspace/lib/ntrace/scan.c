// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * N-Trace: messages by their bytes. Hot, and so without branches that depend on what the messages
 * are: these come in no order that a processor could foresee.
 */
#include "flow/memo.h"
#include "ntrace/scan.h"

#ifdef __x86_64__
#include <immintrin.h>
#define V3 __attribute__((target("avx2,bmi,bmi2")))
#endif

#define INLINE inline __attribute__((always_inline))
#define unlikely(x) __builtin_expect(!!(x), 0)
#define CHUNK RVT_NTRACE_SCAN_CHUNK
#define EXCESS 24		/* that are read from where a message begins: key and time */
#define MAX_STAMP 8

/*
 * The last field before the time stamp, by the first byte: bit 0 is for the first field. That byte
 * is a TCODE and MSEO 0: no field ends there. ResourceFull with RCODE 2 has one more.
 */
#define KEY_FIELD(tcode, field) [(tcode) << 2] = (field)
#define FIELDS_OF_KEYS \
	KEY_FIELD(RVT_NTRACE_DIRECT_BRANCH, 1), KEY_FIELD(RVT_NTRACE_RESOURCE_FULL, 1), \
	KEY_FIELD(RVT_NTRACE_INDIRECT_BRANCH, 2), KEY_FIELD(RVT_NTRACE_INDIRECT_BRANCH_HIST, 4)
static const uint8_t key_fields[256] = { FIELDS_OF_KEYS };
static const uint8_t ctte_key_fields[256] = {
	FIELDS_OF_KEYS, KEY_FIELD(RVT_NTRACE_JUMP_TARGET_CACHE, 4),
};

/* And the one behind it, which is a time stamp. */
#define FIELDS_OF_STAMPS \
	KEY_FIELD(RVT_NTRACE_DIRECT_BRANCH, 3), KEY_FIELD(RVT_NTRACE_RESOURCE_FULL, 3), \
	KEY_FIELD(RVT_NTRACE_INDIRECT_BRANCH, 6), KEY_FIELD(RVT_NTRACE_INDIRECT_BRANCH_HIST, 12)
static const uint8_t stamp_fields[256] = { FIELDS_OF_STAMPS };
static const uint8_t ctte_stamp_fields[256] = {
	FIELDS_OF_STAMPS, KEY_FIELD(RVT_NTRACE_JUMP_TARGET_CACHE, 12),
};

/* By numbers of bytes. Together, so that one register tells where they are. */
static const struct {
	uint64_t low[RVT_NTRACE_KEY_BYTES + 1];		/* the first ones of 16 */
	uint64_t high[RVT_NTRACE_KEY_BYTES + 1];
	uint64_t stamp[MAX_STAMP + 1];			/* of 8, without MSEO */
} masks = {
	.low = {
		0, 0xff, 0xffff, 0xffffff, UINT32_MAX, 0xffffffffff, 0xffffffffffff,
		0xffffffffffffff, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX,
		UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX,
	},
	.high = {
		0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xffff, 0xffffff, UINT32_MAX, 0xffffffffff,
		0xffffffffffff, 0xffffffffffffff, UINT64_MAX, UINT64_MAX,
	},
	.stamp = {
		0, 0xfc, 0xfcfc, 0xfcfcfc, 0xfcfcfcfc, 0xfcfcfcfcfc, 0xfcfcfcfcfcfc,
		0xfcfcfcfcfcfcfc, 0xfcfcfcfcfcfcfcfc,
	},
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

/* A bit for each of CHUNK bytes of which the bits of @mask are @byte. */
static inline uint64_t find(const uint8_t *p, uint8_t mask, uint8_t byte)
{
	const uint64_t rest = RVT_NTRACE_ONES * 0x7f;
	uint64_t found = 0;

	for (unsigned int i = 0; i < CHUNK / 8; i++) {
		const uint64_t differ = (load(p + 8 * i) & RVT_NTRACE_ONES * mask) ^
					RVT_NTRACE_ONES * byte;

		/* Bit 7 of each byte is set where any bit differs. */
		found |= gather(~(((differ & rest) + rest) | differ) >> 7) << 8 * i;
	}
	return found;
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

/* The ends of the fields that @fields names, bit 0 being for the first, as far as there are any. */
static inline uint64_t select_ends(unsigned int fields, uint64_t ends)
{
	uint64_t selected = 0;

	for (; fields; fields >>= 1, ends &= ends - 1)
		selected |= fields & 1 ? ends & -ends : 0;
	return selected;
}

/* Reads the first @n bytes, at most 8. */
static inline uint64_t read_stamp(const uint8_t *p, uint64_t n)
{
	return rvt_ntrace_pack(load(p) & masks.stamp[n]);
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

static inline V3 uint64_t find_v3(const uint8_t *p, uint8_t mask, uint8_t byte)
{
	const __m256i wanted = _mm256_set1_epi8(byte), bits = _mm256_set1_epi8(mask);
	const __m256i a = _mm256_and_si256(_mm256_loadu_si256((const __m256i *)p), bits);
	const __m256i b = _mm256_and_si256(_mm256_loadu_si256((const __m256i *)(p + 32)), bits);

	return (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(a, wanted)) |
	       (uint64_t)(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(b, wanted)) << 32;
}

static inline V3 uint64_t select_ends_v3(unsigned int fields, uint64_t ends)
{
	return _pdep_u64(fields, ends);
}

static inline V3 uint64_t read_stamp_v3(const uint8_t *p, uint64_t n)
{
	return _pext_u64(load(p), masks.stamp[n]);
}
#endif

struct ops {
	struct marks (*read_marks)(const uint8_t *p);
	uint64_t (*find)(const uint8_t *p, uint8_t mask, uint8_t byte);
	uint64_t (*select_ends)(unsigned int fields, uint64_t ends);
	uint64_t (*read_stamp)(const uint8_t *p, uint64_t n);
};

/* ---- messages ---- */

/* The message at @p, where @marks begin. False: it cannot be a memo. */
static INLINE bool scan_message(const struct rvt_ntrace_scan *scan, const struct ops *ops,
				const uint8_t fields[256], struct marks marks, const uint8_t *p,
				struct rvt_ntrace_scanned *m)
{
	const uint64_t word = load(p);
	const bool rcode_2 = (word & scan->rcode_mask) == scan->rcode_2;
	const uint64_t ends = ops->select_ends((unsigned int)fields[p[0]] << rcode_2, marks.ends);
	uint64_t key_len, len;

	/* The message must end, and with one of these fields. */
	if (!(ends & marks.lasts & -marks.lasts))
		return false;
	key_len = (unsigned int)__builtin_ctzll(ends) + UINT64_C(1);
	len = (unsigned int)__builtin_ctzll(marks.lasts) + UINT64_C(1);
	m->rest = 0;
	if (unlikely(!(ends & ((1u << (RVT_NTRACE_KEY_BYTES - 1)) - 1)))) {
		if (key_len > RVT_NTRACE_KEY_BYTES)
			return false;
		m->rest = p[RVT_NTRACE_KEY_BYTES - 1] << RVT_NTRACE_REST_SHIFT;
	}
	if (unlikely(len - key_len > MAX_STAMP))
		return false;
	m->bytes[0] = word & masks.low[key_len];
	m->bytes[1] = load(p + 8) & masks.high[key_len];
	m->stamp = ops->read_stamp(p + key_len, len - key_len);
	m->key_len = key_len;
	m->len = len;
	return true;
}

/*
 * The messages that end in the CHUNK bytes at @p, which are those at scan->pos; they are told to be
 * at @p.
 */
static INLINE void scan_chunk(struct rvt_ntrace_scan *scan, const struct ops *ops,
			      const uint8_t fields[256], const uint8_t *p,
			      uintptr_t predictor)
{
	const uint8_t *begin = p;
	struct rvt_ntrace_scanned *m = scan->msgs + scan->n;
	struct marks marks = ops->read_marks(p);

	while (scan_message(scan, ops, fields, marks, p, m)) {
		m->pos = p;
		m->mix = rvt_ntrace_mix(m->bytes);
		rvt_predictor_fetch(predictor, m->mix);
		p += m->len;
		/* The message is shorter than the marks are. */
		marks.ends >>= m->len;
		marks.lasts >>= m->len;
		m++;
	}
	scan->ended = p == begin;
	scan->pos += p - begin;
	scan->n = m - scan->msgs;
}

/* ---- groups ---- */

#define GROUP_BYTES 16		/* at most */
/* A message that groups have has at least two bytes. */
_Static_assert(GROUP_BYTES / 2 <= RVT_MEMO_GROUP, "a group fits one of memos");

/*
 * Of a chunk: where a message begins that is DirectBranch or IndirectBranch, and bytes that look
 * like that.
 */
struct heads {
	uint64_t direct, indirect;
};

/*
 * The messages at @p, where @marks and @heads begin, of which one memo can say what they do. They
 * need not be well-formed: what is not becomes no memo. Returns how many bytes they have; 0: there
 * are none.
 */
static INLINE unsigned int
scan_group(struct marks marks, struct heads heads, const uint8_t *p, struct rvt_ntrace_scanned *m)
{
	const uint64_t begins = marks.lasts << 1 | 1;
	const uint64_t others = begins & ~(heads.direct | heads.indirect);
	const uint64_t reach = ((others & -others) - 1) & ((1u << GROUP_BYTES) - 1);
	/* From where such a message begins the sum carries to its last byte. */
	const uint64_t indirect = (~marks.lasts + (begins & heads.indirect)) & marks.lasts & reach;
	const uint64_t all = indirect ? indirect : marks.lasts & reach;
	unsigned int len;

	if (unlikely(!all))
		return 0;
	len = 64 - (unsigned int)__builtin_clzll(all);
	m->bytes[0] = load(p) & masks.low[len];
	m->bytes[1] = load(p + 8) & masks.high[len];
	m->stamp = 0;
	m->key_len = m->len = len;
	m->rest = 0;
	m->n = __builtin_popcountll(marks.lasts & ((UINT64_C(1) << len) - 1));
	m->direct = !indirect;
	return len;
}

/*
 * The same as scan_chunk() where messages are grouped, and have no time stamps. No group is cut
 * where the chunk ends, unless it is the last one (@at_end): what is cut elsewhere each time is not
 * known again.
 */
static INLINE void scan_groups(struct rvt_ntrace_scan *scan, const struct ops *ops,
			       const uint8_t fields[256], const uint8_t *p, bool at_end,
			       uintptr_t predictor)
{
	const uint8_t *begin = p, *reach = p + (at_end ? CHUNK - 1 : CHUNK - GROUP_BYTES);
	struct rvt_ntrace_scanned *m = scan->msgs + scan->n;
	struct marks marks = ops->read_marks(p);
	/* B-TYPE 0, in the second byte: another one has no memo. */
	struct heads heads = {
		ops->find(p, 0xff, RVT_NTRACE_DIRECT_BRANCH << 2),
		ops->find(p, 0xff, RVT_NTRACE_INDIRECT_BRANCH << 2) & ops->find(p, 3 << 2, 0) >> 1,
	};

	while (p <= reach) {
		unsigned int len = scan_group(marks, heads, p, m);

		if (unlikely(!len)) {
			if (!scan_message(scan, ops, fields, marks, p, m))
				break;
			len = m->len;
			m->n = 1;
			m->direct = rvt_ntrace_scanned_is(m, RVT_NTRACE_DIRECT_BRANCH);
		}
		m->pos = p;
		m->mix = rvt_ntrace_mix(m->bytes);
		rvt_predictor_fetch(predictor, m->mix);
		p += len;
		marks.ends >>= len;
		marks.lasts >>= len;
		heads.direct >>= len;
		heads.indirect >>= len;
		m++;
	}
	scan->ended = p == begin;
	scan->pos += p - begin;
	scan->n = m - scan->msgs;
}

/* ---- all ---- */

/* Scans where fewer bytes are @left. */
static INLINE void scan_tail(struct rvt_ntrace_scan *scan, const struct ops *ops,
			     const uint8_t fields[256], size_t left, bool groups,
			     uintptr_t predictor)
{
	const uint8_t *pos = scan->pos;
	uint8_t tail[CHUNK + EXCESS] = {};
	unsigned int n = scan->n;

	memcpy(tail, pos, left < CHUNK ? left : CHUNK);
	if (groups)
		scan_groups(scan, ops, fields, tail, true, predictor);
	else
		scan_chunk(scan, ops, fields, tail, predictor);
	for (; n < scan->n; n++)
		scan->msgs[n].pos = pos + (scan->msgs[n].pos - tail);
}

/* Scans as many messages as fit. */
static INLINE void scan_all(struct rvt_ntrace_scan *scan, const struct ops *ops, bool timestamps,
			    bool groups, const uint8_t *end, uintptr_t predictor)
{
	const uint8_t *fields = scan->ctte ? timestamps ? ctte_stamp_fields : ctte_key_fields :
				timestamps ? stamp_fields : key_fields;

	while (!scan->ended && scan->n < RVT_NTRACE_SCANNED) {
		const size_t left = end - scan->pos;

		if (left < CHUNK + EXCESS)
			scan_tail(scan, ops, fields, left, groups, predictor);
		else if (groups)
			scan_groups(scan, ops, fields, scan->pos, false, predictor);
		else
			scan_chunk(scan, ops, fields, scan->pos, predictor);
	}
}

#ifdef V3
static V3 void scan_v3(struct rvt_ntrace_scan *scan, bool timestamps, const uint8_t *end,
		       uintptr_t predictor)
{
	static const struct ops ops = {
		read_marks_v3, find_v3, select_ends_v3, read_stamp_v3,
	};

	if (scan->groups)
		scan_all(scan, &ops, timestamps, true, end, predictor);
	else
		scan_all(scan, &ops, timestamps, false, end, predictor);
}
#endif

static void scan_plain(struct rvt_ntrace_scan *scan, bool timestamps, const uint8_t *end,
		       uintptr_t predictor)
{
	static const struct ops ops = { read_marks, find, select_ends, read_stamp };

	if (scan->groups)
		scan_all(scan, &ops, timestamps, true, end, predictor);
	else
		scan_all(scan, &ops, timestamps, false, end, predictor);
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
	scan->ctte = reader->ctte;
	scan->groups = false;
#ifdef V3
	scan->v3 = has_v3();
#else
	scan->v3 = false;
#endif
	rvt_ntrace_scan_begin(scan, NULL);
}

/* Drops the messages that were taken, but for the last one. */
static void make_room(struct rvt_ntrace_scan *scan)
{
	const unsigned int gone = scan->at ? scan->at - 1 : 0;

	scan->at -= gone;
	scan->n -= gone;
	memmove(scan->msgs, scan->msgs + gone, scan->n * sizeof(scan->msgs[0]));
}

void rvt_ntrace_scan(struct rvt_ntrace_scan *scan, const struct rvt_ntrace_reader *reader,
		     const uint8_t *end, const struct rvt_memos *memos)
{
	const uintptr_t predictor = rvt_memos_predictor(memos);
	unsigned int n;

	make_room(scan);
	n = scan->n;
#ifdef V3
	if (scan->v3)
		scan_v3(scan, reader->timestamps, end, predictor);
	else
#endif
		scan_plain(scan, reader->timestamps, end, predictor);
	/* Predictions are there by now. */
	for (; memos && n < scan->n; n++) {
		struct rvt_ntrace_scanned *m = &scan->msgs[n];

		m->memo = rvt_memos_predict(memos, m->mix);
		rvt_memos_fetch(memos, m->memo);
	}
}
