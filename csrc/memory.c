#if defined(__linux__) && !defined(_DEFAULT_SOURCE)
#define _DEFAULT_SOURCE /* madvise, which is not part of C11 */
#endif

#include "memory.h"

#include <stdlib.h>
#include <string.h>
#if defined(__linux__)
#include <sys/mman.h>
#endif

#ifdef BPE_TEST_ALLOC
long bpe_test_live_allocations = 0;
long bpe_test_fail_after = -1;

static bool may_allocate(void) {
    if (bpe_test_fail_after == 0)
        return false;
    if (bpe_test_fail_after > 0)
        bpe_test_fail_after--;
    return true;
}

static void *counted(void *p) {
    if (p)
        bpe_test_live_allocations++;
    return p;
}
#else
static inline bool may_allocate(void) { return true; }
static inline void *counted(void *p) { return p; }
#endif

/* Positions in errors pair a part with an index, and sizes are compared with 2^32 and more. */
_Static_assert(sizeof(size_t) >= 8, "pybpe needs a machine with 64-bit addresses");

/* Tables from this size on ask for pages of 2 MB; pages are multiples of the smallest size that
 * systems have. */
#define HUGE_PAGES_FROM ((size_t)4 << 20)
#define SMALL_PAGE 4096u

/* Bytes for n elements, at least 1 so that malloc never returns NULL for "nothing"; false on
 * overflow. */
static bool product(size_t n, size_t size, size_t *bytes) {
    if (size != 0 && n > (size_t)PTRDIFF_MAX / size)
        return false;
    *bytes = n * size;
    if (*bytes == 0)
        *bytes = 1;
    return true;
}

void *bpe_mem_array(size_t n, size_t size) {
    size_t bytes;
    if (!product(n, size, &bytes) || !may_allocate())
        return NULL;
    return counted(malloc(bytes));
}

void *bpe_mem_zeroed(size_t n, size_t size) {
    size_t bytes;
    if (!product(n, size, &bytes) || !may_allocate())
        return NULL;
    return counted(calloc(1, bytes));
}

void *bpe_mem_table(size_t n, size_t size) {
    void *p = bpe_mem_zeroed(n, size);
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    if (p && n * size >= HUGE_PAGES_FROM) {
        /* Memory of this size is a mapping of its own. What is asked of the system is a hint: only
         * whole pages within the table, and whether it is followed does not matter. */
        uintptr_t first = ((uintptr_t)p + SMALL_PAGE - 1) & ~(uintptr_t)(SMALL_PAGE - 1);
        uintptr_t end = ((uintptr_t)p + n * size) & ~(uintptr_t)(SMALL_PAGE - 1);
        (void)madvise((void *)first, end - first, MADV_HUGEPAGE);
    }
#endif
    return p;
}

void *bpe_mem_lines(size_t n, size_t size, void **memory) {
    size_t bytes;
    if (!product(n, size, &bytes) || bytes > PTRDIFF_MAX - BPE_LINE_BYTES)
        return NULL;
    *memory = bpe_mem_table(bytes + BPE_LINE_BYTES, 1);
    if (!*memory)
        return NULL;
    uintptr_t mask = BPE_LINE_BYTES - 1;
    return (void *)(((uintptr_t)*memory + mask) & ~mask);
}

void bpe_mem_touch(void *p, size_t n) {
    volatile uint8_t *bytes = p;
    for (size_t i = 0; i < n; i += SMALL_PAGE)
        bytes[i] = 0;
}

void *bpe_mem_copy(const void *source, size_t n, size_t size) {
    void *p = bpe_mem_array(n, size);
    if (p && n * size != 0)
        memcpy(p, source, n * size);
    return p;
}

void bpe_mem_free(void *p) {
#ifdef BPE_TEST_ALLOC
    if (p)
        bpe_test_live_allocations--;
#endif
    free(p);
}

bool bpe_mem_grow(void **p, size_t *cap, size_t need, size_t size) {
    if (need <= *cap)
        return true;
    size_t wanted = *cap + *cap / 2 + 16;
    if (wanted < need)
        wanted = need;
    size_t bytes;
    if (!product(wanted, size, &bytes) || !may_allocate())
        return false;
    void *grown = realloc(*p, bytes);
    if (!grown)
        return false;
    if (!*p)
        counted(grown);
    *p = grown;
    *cap = wanted;
    return true;
}

void bpe_mem_trim(void **p, size_t *cap, size_t keep) {
    if (*cap <= keep)
        return;
    bpe_mem_free(*p);
    *p = NULL;
    *cap = 0;
}

uint64_t bpe_seed(const void *allocation) {
    uint64_t here = (uint64_t)(uintptr_t)&allocation;
    uint64_t x = (uint64_t)(uintptr_t)allocation ^ (here << 32 | here >> 32);
    /* The finaliser of splitmix64: every bit of the addresses reaches every bit. */
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return x ^ x >> 31;
}

bpe_status bpe_fail(bpe_error *err, bpe_status code, size_t pos) {
    if (err) {
        err->code = code;
        err->pos = pos;
    }
    return code;
}

const char *bpe_status_message(bpe_status status) {
    switch (status) {
    case BPE_OK:
        return "success";
    case BPE_ERR_NOMEM:
        return "out of memory";
    case BPE_ERR_ARG:
        return "an argument breaks a stated rule";
    case BPE_ERR_ID:
        return "no token has this id";
    case BPE_ERR_CAPACITY:
        return "the output buffer is too small";
    case BPE_ERR_LIMIT:
        return "larger than a documented limit";
    case BPE_ERR_MODEL:
        return "the model's data contradict each other";
    case BPE_ERR_FORBIDDEN:
        return "the text spells a forbidden string";
    case BPE_ERR_JSON:
        return "not a line of JSON with a text under the key";
    case BPE_ERR_SPLIT:
        return "the split tables contradict each other";
    default:
        return "unknown status";
    }
}
