#include "merge_many.h"

/*
 * The pretoken at hand of one of those that take turns. Its parts stay where they are, linked. The
 * word orders[i] is the rank of what the part at i and the next one would become, above seven bits
 * that hold i: the least word is the merge to be done. Where nothing merges the rank is DEAD or
 * higher. orders[] are in blocks, which are searched whole. Place NOWHERE stands for what would lie
 * before the first part or behind the last one.
 */
#define BLOCK 16
#define NOWHERE BPE_MANY_BYTES
#define PLACE_BITS 7

/* Signed, since that compares fast everywhere. */
#define DEAD (INT32_MAX >> PLACE_BITS)

typedef struct lane {
    int32_t orders[BPE_MANY_BYTES + 1];
    uint32_t ids[BPE_MANY_BYTES + 1];
    uint16_t next[BPE_MANY_BYTES + 1];
    uint16_t prev[BPE_MANY_BYTES + 1];
    size_t n;
    bpe_merge_job *job;
    /* The pairs that are being looked up, and where their orders go. */
    uint64_t keys[2];
    size_t homes[2];
    size_t places[2];
} lane;

/* With more, more of them are in no near cache; with fewer, memory is slower than their turns. */
#define LANES 24

/* So many lanes take what they asked for, one after the other, and then search what they have: what
 * was just written in pieces cannot be read as a vector yet. Meanwhile the others' memory comes. */
#define ROW 8

bool bpe_merge_many_can(const bpe_rules *rules) {
    return rules->table.slots != NULL && rules->n_ranks < DEAD;
}

static inline int32_t order_of(uint32_t rank, size_t place) {
    return (int32_t)((rank < DEAD ? rank : DEAD) << PLACE_BITS | (uint32_t)place);
}

/* ---------------------------------------------------------------- what vectors do better */

#if defined(__GNUC__)
#define INLINE static inline __attribute__((always_inline))
#else
#define INLINE static inline
#endif

#if defined(__aarch64__) && defined(__ARM_NEON)
#define HAS_NEON
#include <arm_neon.h>
#elif defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define HAS_VECTORS
#endif
#endif

#if defined(HAS_NEON)

INLINE int32_t least_order(const int32_t *orders, size_t n) {
    int32x4_t least[4] = {vld1q_s32(orders), vld1q_s32(orders + 4), vld1q_s32(orders + 8),
                          vld1q_s32(orders + 12)};
    for (size_t from = BLOCK; from < n; from += BLOCK) {
        for (size_t i = 0; i < 4; i++)
            least[i] = vminq_s32(least[i], vld1q_s32(orders + from + 4 * i));
    }
    least[0] = vminq_s32(vminq_s32(least[0], least[1]), vminq_s32(least[2], least[3]));
    return vminvq_s32(least[0]);
}

INLINE uint32_t scan(const uint64_t *bucket, uint64_t key, unsigned rank_bits) {
    int64x2_t down = vdupq_n_s64(-(int64_t)rank_bits);
    uint64x2_t found = vdupq_n_u64(0);
    for (size_t i = 0; i < BPE_BUCKET_PAIRS; i += 2) {
        uint64x2_t x = veorq_u64(vld1q_u64(bucket + i), vdupq_n_u64(key));
        found = vorrq_u64(found, vandq_u64(x, vceqzq_u64(vshlq_u64(x, down))));
    }
    return (uint32_t)(vgetq_lane_u64(found, 0) | vgetq_lane_u64(found, 1));
}

#elif defined(HAS_VECTORS)

/* Vectors of the compiler's: it makes of them what the function at hand may use. */
typedef int32_t orders8 __attribute__((vector_size(32), aligned(4), may_alias));
typedef uint64_t words4 __attribute__((vector_size(32), aligned(8), may_alias));

#define LESS(a, b) (((a) & ((a) < (b))) | ((b) & ~((a) < (b))))

INLINE int32_t least_order(const int32_t *orders, size_t n) {
    orders8 least = LESS(*(const orders8 *)orders, *(const orders8 *)(orders + 8));
    for (size_t i = BLOCK; i < n; i += BLOCK) {
        orders8 a = *(const orders8 *)(orders + i);
        orders8 b = *(const orders8 *)(orders + i + 8);
        a = LESS(a, b);
        least = LESS(least, a);
    }
    orders8 other = __builtin_shufflevector(least, least, 4, 5, 6, 7, 0, 1, 2, 3);
    least = LESS(least, other);
    other = __builtin_shufflevector(least, least, 2, 3, 0, 1, 6, 7, 4, 5);
    least = LESS(least, other);
    return least[0] < least[1] ? least[0] : least[1];
}

INLINE uint32_t scan(const uint64_t *bucket, uint64_t key, unsigned rank_bits) {
    uint64_t ranks = ((uint64_t)1 << rank_bits) - 1;
    words4 a = *(const words4 *)bucket ^ key;
    words4 b = *(const words4 *)(bucket + 4) ^ key;
    a = (a & (words4)((a & ~ranks) == 0)) | (b & (words4)((b & ~ranks) == 0));
    words4 other = __builtin_shufflevector(a, a, 2, 3, 0, 1);
    a |= other;
    return (uint32_t)(a[0] | a[1]);
}

#else

INLINE int32_t least_order(const int32_t *orders, size_t n) {
    int32_t least = INT32_MAX;
    for (size_t from = 0; from < n; from += BLOCK) {
        for (size_t i = from; i < from + BLOCK; i++)
            least = orders[i] < least ? orders[i] : least;
    }
    return least;
}

INLINE uint32_t scan(const uint64_t *bucket, uint64_t key, unsigned rank_bits) {
    return bpe_rank_table_scan(bucket, key, rank_bits);
}

#endif

/* ---------------------------------------------------------------- turns */

INLINE void ask(const bpe_rules *rules, lane *x, int which, size_t left, size_t right,
                size_t place) {
    x->keys[which] = bpe_rank_table_key(&rules->table, x->ids[left], x->ids[right]);
    x->homes[which] = bpe_rank_table_home(&rules->table, x->keys[which]);
    x->places[which] = place;
    bpe_prefetch(rules->table.slots + x->homes[which]);
}

/* The rank + 1 of a pair, or 0. */
INLINE uint32_t find(const bpe_rank_table *table, uint64_t key, size_t home) {
    const uint64_t *bucket = table->slots + home;
    uint32_t found = scan(bucket, key, table->rank_bits);
    if (bucket[BPE_BUCKET_PAIRS - 1] != 0 && found == 0)
        found = bpe_rank_table_rank(table, key, bpe_rank_table_next(table, home)) + 1;
    return found;
}

INLINE void receive_one(const bpe_rules *rules, lane *x, int which) {
    uint32_t found = find(&rules->table, x->keys[which], x->homes[which]);
    x->orders[x->places[which]] = order_of(found - 1, x->places[which] & (BPE_MANY_BYTES - 1));
}

/* Take what was asked for. */
INLINE void receive(const bpe_rules *rules, lane *x) {
    receive_one(rules, x, 0);
    receive_one(rules, x, 1);
}

INLINE void begin(const bpe_rules *rules, lane *x, bpe_merge_job *job) {
    size_t n = job->n;
    x->job = job;
    x->n = n;
    x->ids[NOWHERE] = ((uint32_t)1 << rules->table.id_bits) - 1;
    for (size_t from = 0; from < n; from += BLOCK) {
        for (size_t i = from; i < from + BLOCK; i++) {
            x->next[i] = (uint16_t)(i + 1);
            x->prev[i] = (uint16_t)(i - 1);
            x->orders[i] = order_of(DEAD, i);
        }
    }
    x->prev[0] = x->next[n - 1] = NOWHERE;
    for (size_t i = 0; i < n; i++)
        x->ids[i] = job->ids[i];
    if (rules->byte_ranks && job->bytes) {
        for (size_t i = 0; i + 1 < n; i++) {
            size_t pair = (size_t)job->bytes[i] << 8 | job->bytes[i + 1];
            x->orders[i] = order_of(rules->byte_ranks[pair], i);
        }
    } else {
        const bpe_rank_table *table = rules->first.slots ? &rules->first : &rules->table;
        for (size_t i = 0; i + 1 < n; i++) {
            uint64_t key = bpe_rank_table_key(table, x->ids[i], x->ids[i + 1]);
            x->orders[i] = order_of(find(table, key, bpe_rank_table_home(table, key)) - 1, i);
        }
    }
    x->keys[0] = x->keys[1] = bpe_rank_table_key(&rules->table, 0, x->ids[NOWHERE]);
    x->homes[0] = x->homes[1] = 0;
    x->places[0] = x->places[1] = NOWHERE;
}

/* Do the next merge and ask for what it brings about. False when there is none. */
INLINE bool step(const bpe_rules *rules, lane *x) {
    int32_t order = least_order(x->orders, x->n);
    uint32_t rank = (uint32_t)order >> PLACE_BITS;
    if (rank >= DEAD)
        return false;
    size_t at = (size_t)order & (BPE_MANY_BYTES - 1);
    size_t gone = x->next[at];
    size_t left = x->prev[at];
    size_t right = x->next[gone];
    x->next[at] = (uint16_t)right;
    x->prev[right] = (uint16_t)at;
    x->orders[gone] = order_of(DEAD, gone);
    x->ids[at] = bpe_rules_made(rules, rank, x->ids[at], x->ids[gone]);
    ask(rules, x, 0, left, at, left);
    ask(rules, x, 1, at, right, at);
    return true;
}

static void finish(const lane *x) {
    uint32_t *to = x->job->ids;
    for (size_t i = 0; i != NOWHERE; i = x->next[i])
        *to++ = x->ids[i];
    x->job->n = (uint32_t)(to - x->job->ids);
}

INLINE void take_turns(const bpe_rules *rules, bpe_merge_job *jobs, size_t n_jobs) {
    lane lanes[LANES];
    lane *busy[LANES];
    size_t n_busy = 0;
    size_t next = 0;
    for (; next < n_jobs && n_busy < LANES; next++) {
        if (jobs[next].n < 2)
            continue;
        busy[n_busy] = &lanes[n_busy];
        begin(rules, busy[n_busy++], &jobs[next]);
    }
    while (n_busy > 0) {
        for (size_t from = 0; from < n_busy; from += ROW) {
            size_t to = from + ROW < n_busy ? from + ROW : n_busy;
            for (size_t i = from; i < to; i++)
                receive(rules, busy[i]);
            for (size_t i = from; i < to && i < n_busy; i++) {
                if (step(rules, busy[i]))
                    continue;
                finish(busy[i]);
                while (next < n_jobs && jobs[next].n < 2)
                    next++;
                if (next < n_jobs) {
                    begin(rules, busy[i], &jobs[next++]);
                    continue;
                }
                busy[i] = busy[--n_busy];
                if (n_busy >= to) /* it comes from another row */
                    receive(rules, busy[i]);
                i--;
            }
        }
    }
}

void bpe_merge_many_plain(const bpe_rules *rules, bpe_merge_job *jobs, size_t n_jobs) {
    take_turns(rules, jobs, n_jobs);
}

#if defined(HAS_VECTORS) && defined(__x86_64__) && !defined(__AVX2__)

__attribute__((target("avx2"))) static void with_avx2(const bpe_rules *rules, bpe_merge_job *jobs,
                                                      size_t n_jobs) {
    take_turns(rules, jobs, n_jobs);
}

void bpe_merge_many(const bpe_rules *rules, bpe_merge_job *jobs, size_t n_jobs) {
    if (__builtin_cpu_supports("avx2"))
        with_avx2(rules, jobs, n_jobs);
    else
        take_turns(rules, jobs, n_jobs);
}

#else

void bpe_merge_many(const bpe_rules *rules, bpe_merge_job *jobs, size_t n_jobs) {
    take_turns(rules, jobs, n_jobs);
}

#endif
