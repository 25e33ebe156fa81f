/* Finds elements that are members of another array. Each call has one block of the members, in any order. The call inserts
 * the members into a hash table in scratch memory, and looks up the elements. The results of all calls are combined. Keys
 * are the bits of elements; -0 has the key of 0. Keys need no order, so complex numbers are also possible. NaN is never a member.
 * Strings have no keys: their table contains the numbers of the members, counted from 1. */
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "block/functions.h"
#include "block/params.h"

#define CB_ISIN_JOIN(a, b)  a##_##b
#define CB_ISIN_PASTE(a, b) CB_ISIN_JOIN(a, b)

typedef struct two_words {
    uint64_t a, b;
} two_words;

/* Mixes a key, so that each bit of the result depends on all bits of the key. */
static inline uint64_t mixed(uint64_t key)
{
    key = (key ^ key >> 32) * UINT64_C(0x9e3779b97f4a7c15);
    key = (key ^ key >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
    return key ^ key >> 32;
}

#define K          uint32_t
#define TAG        4
#define SAME(x, y) ((x) == (y))
#define IS_ZERO(x) ((x) == 0)
#define HASH(x)    mixed(x)
#include "block/isin.inc.h"
#define K          uint64_t
#define TAG        8
#define SAME(x, y) ((x) == (y))
#define IS_ZERO(x) ((x) == 0)
#define HASH(x)    mixed(x)
#include "block/isin.inc.h"
#define K          two_words
#define TAG        16
#define SAME(x, y) ((x).a == (y).a && (x).b == (y).b)
#define IS_ZERO(x) (((x).a | (x).b) == 0)
#define HASH(x)    mixed((x).a ^ mixed((x).b))
#include "block/isin.inc.h"

/* Number of elements whose keys are computed at a time. The size of the union is that of its largest member, two_words. */
enum { SLAB = 256 };

typedef struct slab {
    union {
        uint32_t k4[SLAB];
        uint64_t k8[SLAB];
        two_words k16[SLAB];
    } key;
    bool valid[SLAB];
} slab;

/* --- Keys ------------------------------------------------------------------------------------------------ */

static inline uint32_t key_of_f4(float x, bool *valid)
{
    uint32_t bits;
    *valid &= x == x;
    if (x == 0) return 0;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline uint64_t key_of_f8(double x, bool *valid)
{
    uint64_t bits;
    *valid &= x == x;
    if (x == 0) return 0;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static void keys_of_integers(size_t size, const void *from, int n, bool positive, slab *s)
{
    const uint8_t *u1 = from;
    const uint16_t *u2 = from;
    const uint32_t *u4 = from;
    const uint64_t *u8 = from;
    for (int i = 0; i < n && size == 1; i++) s->key.k4[i] = u1[i];
    for (int i = 0; i < n && size == 2; i++) s->key.k4[i] = u2[i];
    for (int i = 0; i < n && size == 4; i++) s->key.k4[i] = u4[i];
    for (int i = 0; i < n && size == 8; i++) s->key.k8[i] = u8[i];
    for (int i = 0; i < n && size == 8 && positive; i++) s->valid[i] = !(u8[i] >> 63);
}

/* Computes keys of elements. If `positive`, the keys of 64-bit integers with the highest bit set are invalid. */
static void make_keys(cubed_dtype dtype, const void *from, int n, bool positive, slab *s)
{
    const float *f = from;
    const double *d = from;
    for (int i = 0; i < n; i++) s->valid[i] = true;
    switch (dtype) {
    case CUBED_FLOAT32:
        for (int i = 0; i < n; i++) s->key.k4[i] = key_of_f4(f[i], &s->valid[i]);
        break;
    case CUBED_FLOAT64:
        for (int i = 0; i < n; i++) s->key.k8[i] = key_of_f8(d[i], &s->valid[i]);
        break;
    case CUBED_COMPLEX64:
        for (int i = 0; i < n; i++) {
            const size_t at = 2 * (size_t)i;
            uint64_t real = key_of_f4(f[at], &s->valid[i]);
            s->key.k8[i] = real << 32 | key_of_f4(f[at + 1], &s->valid[i]);
        }
        break;
    case CUBED_COMPLEX128:
        for (int i = 0; i < n; i++) {
            const size_t at = 2 * (size_t)i;
            uint64_t real = key_of_f8(d[at], &s->valid[i]);
            s->key.k16[i] = (two_words){real, key_of_f8(d[at + 1], &s->valid[i])};
        }
        break;
    default: keys_of_integers(cubed_dtype_size(dtype), from, n, positive, s);
    }
}

/* --- Tables ---------------------------------------------------------------------------------------------- */

static size_t key_size(cubed_dtype dtype)
{
    if (cubed_dtype_kind(dtype) == CUBED_KIND_TEXT) return sizeof(uint64_t);
    return dtype == CUBED_COMPLEX128 ? 16 : cubed_dtype_size(dtype) == 8 ? 8 : 4;
}

static int64_t elements(const cubed_block *b)
{
    int64_t n = 1;
    for (int d = 0; d < b->ndim; d++) n *= b->shape[d];
    return n;
}

/* Returns the capacity of the table for n elements of a type. At least a third of its entries are free. */
static size_t capacity(cubed_dtype dtype, int64_t n)
{
    size_t size = cubed_dtype_size(dtype), most = (size_t)n;
    if (size <= 2) most = cb_min_size(most, (size_t)1 << 8 * size);
    return cb_sat_add(cb_sat_add(most, most / 2), 1);
}

static cubed_block_need need(const cubed_block_call *call, void *ctx)
{
    const cubed_block *members = &call->in[1];
    (void)ctx;
    return (cubed_block_need){
        cb_sat_mul(capacity(members->dtype, elements(members)), key_size(members->dtype)), 0};
}

static cubed_status check(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    const cb_isin_params *p = call->params;
    (void)ctx;
    if (call->params_size != sizeof *p || call->nin != 2 || call->nout != 1 || p->invert >> 1 ||
        p->positive >> 1)
        return cb_fail(err, CUBED_E_FORMAT,
                       "the number of operands or size of parameters does not match the function");
    const cubed_block *x = &call->in[0], *members = &call->in[1], *y = &call->out[0];
    const bool texts = cubed_dtype_kind(x->dtype) == CUBED_KIND_TEXT;
    if (x->dtype >= CUBED_DTYPE_COUNT && !texts)
        return cb_fail(err, CUBED_E_TYPE, "the function is not defined for %s",
                       cubed_dtype_name(x->dtype));
    if (texts ? cubed_dtype_family(members->dtype) != cubed_dtype_family(x->dtype)
              : members->dtype != x->dtype)
        return cb_fail(err, CUBED_E_FORMAT, "the types of operands do not match the function");
    if (y->dtype != CUBED_BOOL || x->ndim != y->ndim)
        return cb_fail(err, CUBED_E_FORMAT,
                       "the types or dimensions of operands do not match the function");
    for (int d = 0; d < x->ndim; d++) {
        if (x->shape[d] != y->shape[d])
            return cb_fail(err, CUBED_E_FORMAT, "the shapes of operands do not match the function");
    }
    return CUBED_OK;
}

static void put(const cubed_block *members, bool positive, void *table, size_t cap,
                const cubed_block_call *call, bool *zero)
{
    const size_t item = cubed_dtype_size(members->dtype), size = key_size(members->dtype);
    const int64_t n = elements(members);
    slab s;
    memset(table, 0, cap * size);
    for (int64_t i = 0; i < n && !cubed_block_cancelled(call); i += SLAB) {
        int m = (int)cb_min_i64(SLAB, n - i);
        make_keys(members->dtype, (const char *)members->data + (size_t)i * item, m, positive, &s);
        if (size == 4) insert_4(table, cap, s.key.k4, s.valid, m, zero);
        if (size == 8) insert_8(table, cap, s.key.k8, s.valid, m, zero);
        if (size == 16) insert_16(table, cap, s.key.k16, s.valid, m, zero);
    }
}

/* --- Strings ------------------------------------------------------------------------------------------ */

/* A string without padding. */
typedef struct text {
    const char *bytes;
    size_t n;
} text;

static text text_of(const cubed_block *x, int64_t i)
{
    size_t n = cubed_dtype_size(x->dtype);
    const char *bytes = (const char *)x->data + (size_t)i * n;
    while (n > 0 && bytes[n - 1] == 0) n--;
    return (text){bytes, n};
}

static uint64_t hash_of(text t)
{
    uint64_t hash = t.n;
    for (size_t i = 0; i < t.n; i += sizeof hash) {
        uint64_t word = 0;
        memcpy(&word, t.bytes + i, cb_min_size(sizeof word, t.n - i));
        hash = mixed(hash ^ word);
    }
    return hash;
}

/* Returns the entry of a string, or the free entry where the string can be inserted. */
static size_t find_text(const uint64_t *table, size_t cap, const cubed_block *members, text t)
{
    size_t at = (size_t)(((unsigned __int128)hash_of(t) * cap) >> 64);
    for (; table[at]; at = at + 1 == cap ? 0 : at + 1) {
        const text have = text_of(members, (int64_t)table[at] - 1);
        if (have.n == t.n && memcmp(have.bytes, t.bytes, t.n) == 0) break;
    }
    return at;
}

static void find_texts(const cubed_block_call *call, uint64_t *table, size_t cap, bool *found)
{
    const cubed_block *x = &call->in[0], *members = &call->in[1];
    const int64_t n = elements(x), m = elements(members);
    memset(table, 0, cap * sizeof *table);
    for (int64_t i = 0; i < m && !cubed_block_cancelled(call); i++)
        table[find_text(table, cap, members, text_of(members, i))] = (uint64_t)i + 1;
    for (int64_t i = 0; i < n && !cubed_block_cancelled(call); i++)
        found[i] = found[i] || table[find_text(table, cap, members, text_of(x, i))];
}

static void find_numbers(const cubed_block_call *call, bool *found)
{
    const cb_isin_params *p = call->params;
    const cubed_block *x = &call->in[0], *members = &call->in[1];
    const size_t item = cubed_dtype_size(x->dtype), size = key_size(x->dtype);
    const size_t cap = capacity(x->dtype, elements(members));
    const int64_t n = elements(x);
    bool zero = false;
    slab s;
    put(members, p->positive, call->scratch, cap, call, &zero);
    for (int64_t i = 0; i < n && !cubed_block_cancelled(call); i += SLAB) {
        int m = (int)cb_min_i64(SLAB, n - i);
        make_keys(x->dtype, (const char *)x->data + (size_t)i * item, m, p->positive, &s);
        if (size == 4) look_up_4(call->scratch, cap, s.key.k4, s.valid, m, zero, found + i);
        if (size == 8) look_up_8(call->scratch, cap, s.key.k8, s.valid, m, zero, found + i);
        if (size == 16) look_up_16(call->scratch, cap, s.key.k16, s.valid, m, zero, found + i);
    }
}

static cubed_status run(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    const cb_isin_params *p = call->params;
    const cubed_block *x = &call->in[0], *members = &call->in[1];
    const int64_t n = elements(x);
    bool *found = call->out[0].data;
    (void)ctx;
    (void)err;
    if (!found) return CUBED_OK;
    if (call->first) memset(found, 0, (size_t)n);
    if (cubed_dtype_kind(x->dtype) == CUBED_KIND_TEXT)
        find_texts(call, call->scratch, capacity(members->dtype, elements(members)), found);
    else
        find_numbers(call, found);
    for (int64_t i = 0; i < n && call->last && p->invert; i++) found[i] = !found[i];
    return CUBED_OK;
}

const cubed_block_fn cb_block_isin = {
    .name = "isin", .check = check, .need = need, .run = run, .divisible = true};
