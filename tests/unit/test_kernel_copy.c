/* Copies of boxes, filling, gathering and streaming stores, compared with one element at a time. */
#include "base/checked.h"
#include "kernel_test.h"

enum { MAX_ROOM = 1 << 16, MAX_AXES = 6 };
static const size_t sizes[5] = {1, 2, 4, 8, 16};

typedef struct box {
    int ndim;
    int64_t shape[MAX_AXES], ds[MAX_AXES], ss[MAX_AXES];
    int64_t d0, s0; /* positions of element (0, ..., 0) in the destination and in the source */
} box;

/* Makes a random layout of `shape`: any order of axes, positive or negative strides, gaps, and axes of stride 0 if `repeats`.
 * Returns the position of element 0. The layout fits in MAX_ROOM bytes. */
static int64_t layout(const box *b, int64_t size, bool repeats, uint64_t *seed, int64_t *strides)
{
    int order[MAX_AXES];
    int64_t step = size * (next_random(seed) % 4 ? 1 : 2), first = 0;
    for (int d = 0; d < b->ndim; d++) order[d] = b->ndim - 1 - d;
    for (int d = 0; d < b->ndim && next_random(seed) % 3; d++) {
        int e = (int)(next_random(seed) % (uint64_t)b->ndim), o = order[d];
        order[d] = order[e];
        order[e] = o;
    }
    for (int k = 0; k < b->ndim; k++) {
        int d = order[k];
        uint64_t r = next_random(seed);
        strides[d] = step;
        if (repeats && r % 5 == 0) {
            strides[d] = 0;
            continue;
        }
        step *= b->shape[d] + (r / 5 % 6 == 0);
        if (r / 30 % 5 == 0 && b->shape[d] > 0) {
            first += (b->shape[d] - 1) * strides[d];
            strides[d] = -strides[d];
        }
    }
    return first;
}

static void reference_copy(const box *b, size_t size, char *dst, const char *src)
{
    int64_t count = 0, idx[MAX_AXES] = {0};
    assert_false(cb_count(b->ndim, b->shape, &count));
    for (int64_t i = 0; i < count; i++) {
        int64_t d = b->d0, s = b->s0;
        for (int k = 0; k < b->ndim; k++) {
            d += idx[k] * b->ds[k];
            s += idx[k] * b->ss[k];
        }
        memcpy(dst + d, src + s, size);
        for (int k = b->ndim - 1; k >= 0; k--) {
            if (++idx[k] < b->shape[k]) break;
            idx[k] = 0;
        }
    }
}

static void random_box(box *b, uint64_t *seed)
{
    /* Choose extents near the size of a tile, but at most 4000 elements in total. */
    static const int64_t extents[] = {1, 2, 3, 5, 31, 32, 33, 64, 70};
    int64_t left = 4000;
    b->ndim = (int)(next_random(seed) % (MAX_AXES + 1));
    for (int d = 0; d < b->ndim; d++) {
        uint64_t r = next_random(seed);
        b->shape[d] = extents[r % 9];
        if (r / 9 % 40 == 0) b->shape[d] = 0;
        if (b->shape[d] > left) b->shape[d] = left > 2 ? 2 : 1;
        if (b->shape[d] > 0) left /= b->shape[d] + 1;
    }
}

static void test_boxes(void **state)
{
    static char src[MAX_ROOM], got[MAX_ROOM], want[MAX_ROOM];
    (void)state;
    uint64_t seed = 1;
    for (size_t i = 0; i < MAX_ROOM; i++) src[i] = (char)next_random(&seed);
    for (int round = 0; round < 4000; round++) {
        box b = {0};
        size_t size = sizes[next_random(&seed) % 5];
        random_box(&b, &seed);
        b.d0 = layout(&b, (int64_t)size, false, &seed, b.ds);
        b.s0 = layout(&b, (int64_t)size, round % 2, &seed, b.ss);
        /* Layouts that do not fit in the room are skipped. */
        int64_t end = 0, send = 0;
        for (int d = 0; d < b.ndim; d++) {
            end += llabs(b.ds[d]) * cb_max_i64(b.shape[d] - 1, 0);
            send += llabs(b.ss[d]) * cb_max_i64(b.shape[d] - 1, 0);
        }
        if (end + 16 > MAX_ROOM || send + 16 > MAX_ROOM) continue;
        memset(got, 0x33, sizeof got);
        memset(want, 0x33, sizeof want);
        reference_copy(&b, size, want, src);
        cb_copy_box(b.ndim, b.shape, size, got + b.d0, b.ds, src + b.s0, b.ss);
        if (memcmp(got, want, sizeof got) != 0) {
            for (int d = 0; d < b.ndim; d++)
                print_message("axis %d: extent %lld, strides %lld from %lld\n", d,
                              (long long)b.shape[d], (long long)b.ds[d], (long long)b.ss[d]);
            fail_msg("copy of a box, round %d, element size %zu", round, size);
        }
        memset(got, 0x33, sizeof got);
        memset(want, 0x33, sizeof want);
        memset(b.ss, 0, sizeof b.ss);
        reference_copy(&b, size, want, src);
        cb_copy_box(b.ndim, b.shape, size, got + b.d0, b.ds, src + b.s0, b.ss); /* fills */
        assert_memory_equal(got, want, sizeof got);
    }
}

/* A long repeated row whose size is neither a page nor a divisor of one: 3000 bytes. */
static void test_repeated_rows(void **state)
{
    static char row[9000], got[12 * 9000 + 1];
    static const int64_t widths[] = {1, 3, 3000, 4096, 4097, 9000};
    (void)state;
    for (size_t i = 0; i < sizeof row; i++) row[i] = (char)(i * 7 + i / 251);
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
        int64_t shape[2] = {12, widths[w]}, ds[2] = {widths[w], 1}, ss[2] = {0, 1};
        got[12 * widths[w]] = 0x44;
        cb_copy_box(2, shape, 1, got, ds, row, ss);
        for (int64_t r = 0; r < 12; r++)
            assert_memory_equal(got + r * widths[w], row, (size_t)widths[w]);
        assert_int_equal(got[12 * widths[w]], 0x44);
    }
}

/* Copies an array with the maximum number of axes. Two axes have more than one element. */
static void test_many_axes(void **state)
{
    int64_t shape[CUBED_MAX_NDIM], ds[CUBED_MAX_NDIM], ss[CUBED_MAX_NDIM];
    int32_t src[6] = {1, 2, 3, 4, 5, 6}, got[6] = {0}, want[6] = {1, 4, 2, 5, 3, 6};
    (void)state;
    for (int d = 0; d < CUBED_MAX_NDIM; d++) {
        shape[d] = 1;
        /* Strides of axes of extent 1 have no effect. */
        ds[d] = ss[d] = INT64_MIN + d;
    }
    shape[3] = 3;
    ds[3] = 8;
    ss[3] = 4;
    shape[30] = 2;
    ds[30] = 4;
    ss[30] = 12;
    cb_copy_box(CUBED_MAX_NDIM, shape, 4, got, ds, src, ss);
    assert_memory_equal(got, want, sizeof want);
}

static void check_moves(const cb_kernels *k)
{
    static _Alignas(64) char src[40000], got[40000], want[40000];
    uint64_t seed = 2;
    for (size_t i = 0; i < sizeof src; i++) src[i] = (char)next_random(&seed);
    for (size_t v = 0; v < 5; v++) {
        size_t size = sizes[v];
        for (size_t n = 0; n <= 130; n++) {
            char *to = got + size * (n % 5);
            memset(got, 0x11, sizeof got);
            memset(want, 0x11, sizeof want);
            for (size_t i = 0; i < n; i++) memcpy(want + size * (n % 5 + i), src + n, size);
            k->splat(to, src + n, size, n);
            assert_memory_equal(got, want, sizeof got);
            const int64_t strides[] = {0, (int64_t)size, -(int64_t)size, 5 * (int64_t)size, -48, 3};
            for (size_t s = 0; s < 6; s++) {
                const char *from = src + 20000;
                for (size_t i = 0; i < n; i++)
                    memcpy(want + size * (n % 5 + i), from + (int64_t)i * strides[s], size);
                k->gather(to, from, strides[s], size, n);
                assert_memory_equal(got, want, sizeof got);
            }
        }
    }
    for (size_t bytes = 0; bytes < 700; bytes += 1 + bytes / 200) {
        for (size_t at = 0; at < 64; at += 7) {
            memset(got, 0x11, 2000);
            memset(want, 0x11, 2000);
            memcpy(want + at, src + at % 3, bytes);
            k->stream(got + at, src + at % 3, bytes);
            cb_stream_fence();
            assert_memory_equal(got, want, 2000);
        }
    }
    int64_t index[130];
    for (size_t n = 0; n <= 129; n++) {
        index[n] = 99;
        k->index(index, INT64_MAX - 5, -3, n);
        for (size_t i = 0; i < n; i++) assert_int_equal(index[i], INT64_MAX - 5 - 3 * (int64_t)i);
        assert_int_equal(index[n], 99);
    }
}
static void test_moves(void **state)
{
    (void)state;
    for_each_isa(check_moves);
}

/* Names: the best first, the requested one, and an error for an unknown one. */
static void test_names(void **state)
{
    const char *names[5];
    cb_kernels k;
    (void)state;
    cb_kernels_available(names);
    assert_true(cb_kernels_init(NULL, &k));
    assert_string_equal(k.isa, names[0]);
    assert_false(cb_kernels_init("x86-64-v9", &k));
    assert_false(cb_kernels_init("", &k));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_boxes),     cmocka_unit_test(test_repeated_rows),
        cmocka_unit_test(test_many_axes), cmocka_unit_test(test_moves),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
