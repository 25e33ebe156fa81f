/* Compares sorting with insertion by an independent comparison: each type, axis, direction and a few lengths, with NaNs and
 * zeros of both signs. */
#include "kernel_test.h"

#include "block/block.h"
#include "block/block_order.h"
#include "block/params.h"
#include "dtype/element.h"

static const cubed_dtype types[] = {
    CUBED_BOOL,    CUBED_INT8,    CUBED_INT16,     CUBED_INT32,      CUBED_INT64,
    CUBED_UINT8,   CUBED_UINT16,  CUBED_UINT32,    CUBED_UINT64,     CUBED_FLOAT32,
    CUBED_FLOAT64, CUBED_FLOAT16, CUBED_COMPLEX64, CUBED_COMPLEX128, CUBED_DATETIME64,
    CUBED_BYTES,   CUBED_STRING};

static cb_kernels kernels;

/* The order of values in NumPy's sort: by class, then by real part, then by imaginary part. */
typedef struct rank {
    int class;
    double re, im;
    int64_t whole;
    bool is_unsigned;
} rank;

static rank rank_of(cubed_dtype t, const char *x)
{
    cubed_scalar v = {.c128 = {0, 0}}, wide;
    rank r = {0};
    size_t size = cubed_dtype_size(t);
    memcpy(&v, x, size);
    if (cubed_dtype_family(t) == CUBED_DATETIME64) {
        r.whole = v.i64;
        r.class = v.i64 == INT64_MIN;
    } else if (t == CUBED_FLOAT16) {
        r.re = cubed_half_value(t, v.u16);
        r.class = 2 * (r.re != r.re);
    } else if (cubed_dtype_kind(t) >= CUBED_KIND_FLOAT) {
        cb_scalar_cast(t, &v, CUBED_COMPLEX128, &wide);
        r.re = wide.c128[0];
        r.im = wide.c128[1];
        r.class = 2 * (r.re != r.re) + (r.im != r.im);
    } else {
        cb_scalar_cast(t, &v, cubed_dtype_kind(t) == CUBED_KIND_INT ? CUBED_INT64 : CUBED_UINT64,
                       &wide);
        r.whole = wide.i64;
        r.is_unsigned = cubed_dtype_kind(t) != CUBED_KIND_INT;
    }
    return r;
}

static int compare_parts(double a, double b) { return a < b ? -1 : a > b; }

static int compare(cubed_dtype t, const char *x, const char *y)
{
    if (cubed_dtype_kind(t) == CUBED_KIND_TEXT) return cb_text_compare(t, x, y);
    rank a = rank_of(t, x), b = rank_of(t, y);
    if (a.class != b.class) return a.class < b.class ? -1 : 1;
    int c = compare_parts(a.re, b.re);
    if (c == 0) c = compare_parts(a.im, b.im);
    if (c != 0 || a.whole == b.whole) return c;
    if (a.is_unsigned) return (uint64_t)a.whole < (uint64_t)b.whole ? -1 : 1;
    return a.whole < b.whole ? -1 : 1;
}

static void fill(cubed_dtype t, char *x, int64_t n, uint64_t *seed)
{
    size_t size = cubed_dtype_size(t);
    for (int64_t i = 0; i < n; i++) {
        cubed_scalar v =
            edge(t < CUBED_DTYPE_COUNT ? t : CUBED_INT64, (int)(next_random(seed) % EDGES));
        if (next_random(seed) % 3) v.u64 = next_random(seed);
        if (next_random(seed) % 4 == 0) v.u64 &= 0x8000000080008080u;
        if (t == CUBED_BOOL) v.u8 &= 1;
        if (t >= CUBED_DTYPE_COUNT && next_random(seed) % 5 == 0) v.i64 = INT64_MIN;
        if (size == 16 && next_random(seed) % 2) v.c128[0] = 1;
        if (cubed_dtype_kind(t) == CUBED_KIND_TEXT) {
            const size_t unit = cubed_dtype_family(t) == CUBED_STRING ? 4 : 1;
            for (size_t k = 0; k < size; k++) v.bytes[k] = 0;
            for (size_t k = next_random(seed) % (size / unit + 1); k > 0; k--)
                v.bytes[(k - 1) * unit] = (uint8_t)(254 + next_random(seed) % 2);
        }
        memcpy(x + (size_t)i * size, &v, size);
    }
}

/* Computes the stable order of a line by insertion: the positions of its elements. */
static void order_line(cubed_dtype t, const char *x, int64_t stride, int64_t n, bool descending,
                       int64_t *out)
{
    for (int64_t i = 0; i < n; i++) {
        int64_t k = i;
        for (; k > 0; k--) {
            int c = compare(t, x + out[k - 1] * stride, x + i * stride);
            if (descending ? c >= 0 : c <= 0) break;
            out[k] = out[k - 1];
        }
        out[k] = i;
    }
}

static void check_case(cubed_dtype t, const int64_t *shape, int axis, bool descending,
                       uint64_t *seed)
{
    size_t size = cubed_dtype_size(t);
    int64_t count = shape[0] * shape[1] * shape[2], inner = 1, n = shape[axis];
    char *x = calloc((size_t)count + 1, size), *y = calloc((size_t)count + 1, size);
    int64_t *positions = calloc((size_t)count + 1, 8), *want = calloc((size_t)n + 1, 8);
    const int64_t origin[3] = {0}, index[1] = {0};
    const cb_sort_params params = {axis, descending};
    for (int d = axis + 1; d < 3; d++) inner *= shape[d];
    fill(t, x, count, seed);
    for (int k = 0; k < 2; k++) {
        const cubed_block in = {x, t, 3, shape, origin};
        const cubed_block out = {k ? (void *)positions : y, k ? CUBED_INT64 : t, 3, shape, origin};
        const cubed_block_fn *fn = cb_block_fn(k ? "argsort" : "sort");
        cubed_block_call call = {.nin = 1,
                                 .nout = 1,
                                 .in = &in,
                                 .out = &out,
                                 .params = &params,
                                 .params_size = sizeof params,
                                 .first = true,
                                 .last = true,
                                 .index = index};
        cubed_error err = CUBED_ERROR_INIT;
        assert_int_equal(fn->check(&call, NULL, &err), CUBED_OK);
        size_t need = fn->need(&call, NULL).scratch;
        call.scratch = aligned_alloc(64, (need + 63) / 64 * 64 + 64);
        assert_int_equal(fn->run(&call, &kernels, &err), CUBED_OK);
        free(call.scratch);
    }
    for (int64_t line = 0; n > 0 && line < count / n; line++) {
        int64_t at = line / inner * n * inner + line % inner, step = inner * (int64_t)size;
        const char *from = x + (size_t)at * size;
        order_line(t, from, step, n, descending, want);
        for (int64_t i = 0; i < n; i++) {
            if (positions[at + i * inner] != want[i] ||
                memcmp(y + (size_t)(at + i * inner) * size, from + want[i] * step, size) != 0)
                fail_msg("%s (%d, %d, %d) axis %d%s: line %d, element %d", cubed_dtype_name(t),
                         (int)shape[0], (int)shape[1], (int)shape[2], axis,
                         descending ? " descending" : "", (int)line, (int)i);
        }
    }
    free(x);
    free(y);
    free(positions);
    free(want);
}

static void test_sort(void **state)
{
    static const int64_t shapes[][3] = {{1, 1, 0},  {1, 1, 1},  {2, 3, 7},   {3, 2, 48},
                                        {1, 49, 2}, {70, 1, 3}, {1, 1, 600}, {2, 90, 19}};
    uint64_t seed = 1;
    (void)state;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        cubed_dtype t = types[i];
        if (t == CUBED_DATETIME64)
            assert_int_equal(cubed_dtype_time(t, CUBED_UNIT_NS, 1, &t, NULL), CUBED_OK);
        if (t == CUBED_BYTES || t == CUBED_STRING)
            assert_int_equal(cubed_dtype_fixed(t, 3, &t, NULL), CUBED_OK);
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
            for (int k = 0; k < 6; k++) check_case(t, shapes[s], k / 2, k % 2, &seed);
        }
    }
}

static int compare_u64(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static int compare_u32(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* Returns key number i of a distribution: random bits, few bits, runs, a few outliers, or equal keys. */
static uint64_t key_of(int distribution, int64_t i, uint64_t *seed)
{
    uint64_t r = next_random(seed);
    switch (distribution) {
    case 0: return r;
    case 1: return r & 0x0300000003000003;
    case 2: return (uint64_t)i % 700;
    case 3: return r % 100 == 0 ? r : 0x4000000000000000 + r % 64;
    default: return 7;
    }
}

/* Checks that long lists are sorted, that positions move with their keys, and that equal keys keep their order. */
static void check_keys(size_t size, int64_t n, int distribution, uint64_t *seed)
{
    const cb_order_width *w = cb_order_width_of(size);
    char *keys = calloc((size_t)n, size), *alone = calloc((size_t)n, size);
    char *was = calloc((size_t)n, size), *spare = calloc((size_t)n, size);
    uint32_t *pos = calloc((size_t)n, sizeof *pos), *spare_pos = calloc((size_t)n, sizeof *pos);
    for (int64_t i = 0; i < n; i++) {
        uint64_t key = key_of(distribution, i, seed);
        /* copies the highest bytes of the key */
        memcpy(was + (size_t)i * size, (char *)&key + 8 - size, size);
        if (distribution == 2) memcpy(was + (size_t)i * size, &key, size);
        pos[i] = (uint32_t)i;
    }
    memcpy(keys, was, (size_t)n * size);
    memcpy(alone, was, (size_t)n * size);
    w->sort_keys(keys, pos, n, spare, spare_pos);
    w->sort_keys(alone, NULL, n, spare, NULL);
    assert_memory_equal(keys, alone, (size_t)n * size);
    uint64_t before = 0, key = 0;
    for (int64_t i = 0; i < n; i++) {
        memcpy(&key, keys + (size_t)i * size, size);
        assert_memory_equal(keys + (size_t)i * size, was + (size_t)pos[i] * size, size);
        assert_true(i == 0 || before < key || (before == key && pos[i - 1] < pos[i]));
        before = key;
    }
    free(keys);
    free(alone);
    free(was);
    free(spare);
    free(pos);
    free(spare_pos);
}

static void test_keys(void **state)
{
    static const int64_t lengths[] = {49, 3000, 16384, 16385};
    uint64_t seed = 5;
    (void)state;
    for (size_t size = 1; size <= 8; size *= 2) {
        for (int k = 0; k < 4; k++) {
            for (int d = 0; d < 5; d++) check_keys(size, lengths[k], d, &seed);
        }
    }
}

/* Without positions: compares with qsort. Memory after the keys, and after the spare room, stays unchanged. */
static void check_kernel(const cb_kernels *k, size_t size, int64_t n, int distribution,
                         uint64_t *seed)
{
    enum { MOST = 2100 };
    static _Alignas(64) uint64_t keys[MOST + 8], spare[MOST + 8], want[MOST + 8];
    assert_true(n <= MOST);
    for (int64_t i = 0; i < n + 8; i++) {
        uint64_t key = key_of(distribution, i, seed);
        if (distribution == 5) key = i % 7 == 0 ? 0 : UINT64_MAX;
        if (distribution == 6) key = (uint64_t)-i;
        if (size == 4 && distribution != 2 && distribution != 6) key >>= 32;
        memcpy((char *)keys + (size_t)i * size, &key, size);
    }
    memcpy(want, keys, ((size_t)n + 8) * size);
    memcpy(spare, keys, ((size_t)n + 8) * size);
    qsort(want, (size_t)n, size, size == 8 ? compare_u64 : compare_u32);
    cb_order_sort(k, size, keys, n, spare);
    if (memcmp(keys, want, ((size_t)n + 8) * size) != 0)
        fail_msg("%s: %d keys of %zu bytes, distribution %d", k->isa, (int)n, size, distribution);
    assert_memory_equal((char *)spare + (size_t)n * size, (char *)want + (size_t)n * size,
                        8 * size);
}

static void check_kernels(const cb_kernels *k)
{
    uint64_t seed = 6;
    for (int d = 0; d < 7; d++) {
        for (int64_t n = 0; n < 300; n++) {
            check_kernel(k, 4, n, d, &seed);
            check_kernel(k, 8, n, d, &seed);
        }
        for (int64_t n = 300; n < 2100; n += 173) {
            check_kernel(k, 4, n, d, &seed);
            check_kernel(k, 8, n, d, &seed);
        }
    }
}

static void test_kernels(void **state)
{
    (void)state;
    for_each_isa(check_kernels);
}

/* Keys whose samples in sort.inc.h are always the least of the remaining keys: a pivot then separates only about half a
 * sample. */
static void make_bad_pivots(uint64_t *keys, int64_t n)
{
    int64_t *left = calloc((size_t)n, sizeof *left), given = 0;
    for (int64_t i = 0; i < n; i++) {
        left[i] = i;
        keys[i] = UINT64_MAX;
    }
    while (n > 128) {
        const int64_t sample = n < 1024 ? 8 : 64, step = n / sample;
        int64_t kept = 0;
        for (int64_t i = 0; i <= sample / 2; i++) {
            uint64_t *key = &keys[left[i * step + step / 2]];
            if (*key == UINT64_MAX) *key = (uint64_t)given++;
        }
        for (int64_t i = 0; i < n; i++) { /* the largest key of these is the pivot */
            if (keys[left[i]] >= (uint64_t)given - 1) left[kept++] = left[i];
        }
        n = kept;
    }
    free(left);
}

static void check_bad_pivots(const cb_kernels *k)
{
    enum { N = 4096 };
    static uint64_t keys[N], want[N], spare[N];
    make_bad_pivots(keys, N);
    memcpy(want, keys, sizeof keys);
    qsort(want, N, sizeof *want, compare_u64);
    if (k->sort64) assert_false(k->sort64(keys, N, spare));
    make_bad_pivots(keys, N);
    cb_order_sort(k, 8, keys, N, spare);
    assert_memory_equal(keys, want, sizeof keys);
}

static void test_bad_pivots(void **state)
{
    (void)state;
    for_each_isa(check_bad_pivots);
}

static void test_refusals(void **state)
{
    const int64_t shape[2] = {3, 4}, other[2] = {3, 5}, origin[2] = {0};
    cubed_block in = {NULL, CUBED_FLOAT64, 2, shape, origin}, out = in;
    cb_sort_params params = {2, 0};
    const cubed_block_fn *fn = cb_block_fn("sort");
    cubed_block_call call = {.nin = 1,
                             .nout = 1,
                             .in = &in,
                             .out = &out,
                             .params = &params,
                             .params_size = sizeof params};
    (void)state;
    /* fails because the array does not have this axis */
    assert_int_equal(fn->check(&call, NULL, NULL), CUBED_E_FORMAT);
    params.axis = 1;
    assert_int_equal(fn->check(&call, NULL, NULL), CUBED_OK);
    params.descending = 2;
    assert_int_equal(fn->check(&call, NULL, NULL), CUBED_E_FORMAT);
    params.descending = 1;
    call.params_size = 4;
    assert_int_equal(fn->check(&call, NULL, NULL), CUBED_E_FORMAT);
    call.params_size = sizeof params;
    out.shape = other;
    assert_int_equal(fn->check(&call, NULL, NULL), CUBED_E_FORMAT);
    out.shape = shape;
    out.dtype = CUBED_FLOAT32;
    assert_int_equal(fn->check(&call, NULL, NULL), CUBED_E_FORMAT);
    assert_int_equal(cb_block_fn("argsort")->check(&call, NULL, NULL), CUBED_E_FORMAT);
    assert_null(cb_block_fn("no such function"));
}

int main(void)
{
    if (!cb_kernels_init(NULL, &kernels)) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sort),     cmocka_unit_test(test_keys),
        cmocka_unit_test(test_kernels),  cmocka_unit_test(test_bad_pivots),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
