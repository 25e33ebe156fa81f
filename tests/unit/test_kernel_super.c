/* Superinstructions of every instruction set give the bits of their operations, one after another. */
#include "kernel_test.h"

#define LONGEST 130

static int arity(int op)
{
    cubed_op found;
    int n = 0;
    assert_true(cubed_op_parse(cubed_op_name((cubed_op)op), &found, &n));
    assert_int_equal(found, op);
    return n;
}

/* Returns true if operation k of a superinstruction has another operand in addition to the previous result. */
static bool is_binary(const cb_super *s, int k) { return arity(s->op[k]) == 2; }

static void check_rows(const cb_kernels *k)
{
    assert_true(k->nsuper > 0 && k->nsuper <= CB_MAX_SUPER);
    for (int i = 0; i < k->nsuper; i++) {
        const cb_super *s = &k->super[i];
        const bool cast = s->op[0] == CB_SUPER_CAST, uses_b = !cast && is_binary(s, 0);
        assert_in_range(s->n, 2, 3);
        for (int j = 1; j < s->n; j++) assert_true(s->pos[j - 1] < arity(s->op[j]));
        /* Check the position of the operand that only the last operation uses. */
        if (s->n == 3 && is_binary(s, 2))
            assert_true(s->place == 2 ? !is_binary(s, 1) : s->place == 1 && !uses_b);
        for (int t = 0; t < CUBED_DTYPE_COUNT; t++) {
            bool is_float = t == CUBED_FLOAT32 || t == CUBED_FLOAT64;
            assert_int_equal(k->super_fn[i][t] != NULL, is_float);
        }
        for (int j = 0; j < i; j++) {
            cb_super o = k->super[j];
            o.place = s->place;
            assert_int_not_equal(memcmp(&o, s, sizeof o), 0);
        }
    }
}
static void test_rows(void **state)
{
    (void)state;
    for_each_isa(check_rows);
}

/* Performs the operations of a superinstruction one by one. p[0], p[1] and p[2] are its operands. */
static void run_steps(const cb_kernels *k, const cb_super *s, cubed_dtype t, char *const *p,
                      char *out, size_t n)
{
    if (s->op[0] == CB_SUPER_CAST)
        k->cast[s->from][t](out, p[0], n);
    else
        k->elem[s->op[0]][t](out, p[0], p[1], NULL, n);
    for (int j = 1; j < s->n; j++) {
        const char *other = is_binary(s, j) ? p[j == 1 ? 2 : s->place] : NULL;
        if (s->pos[j - 1] == 0)
            k->elem[s->op[j]][t](out, out, other, NULL, n);
        else
            k->elem[s->op[j]][t](out, other, out, NULL, n);
    }
}

static void check_row(const cb_kernels *k, int row, cubed_dtype t, size_t n, size_t shift)
{
    static _Alignas(64) char room[5][(LONGEST + 8) * 8];
    const cb_super *s = &k->super[row];
    const size_t size = cubed_dtype_size(t);
    const bool cast = s->op[0] == CB_SUPER_CAST;
    char *p[5];
    for (int j = 0; j < 5; j++) p[j] = room[j] + shift * size;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < 3; j++) {
            const cubed_dtype type = cast && j == 0 ? (cubed_dtype)s->from : t;
            cubed_scalar v =
                edge(type, (int)((i * (2 * j + 1) + i / EDGES * (j + 1) + shift) % EDGES));
            memcpy(p[j] + i * cubed_dtype_size(type), &v, cubed_dtype_size(type));
        }
    }
    run_steps(k, s, t, p, p[3], n);
    /* Write to a separate buffer first, then over each operand whose elements have the same size. */
    for (int to = 4; to >= (cast ? 1 : 0); to--) {
        if (to == 3) continue;
        char saved[LONGEST * 8];
        memcpy(saved, p[to], n * size);
        k->super_fn[row][t](p[to], p[0], p[1], p[2], n);
        for (size_t i = 0; i < n; i++) {
            if (same_value(t, p[to] + i * size, p[3] + i * size)) continue;
            fail_msg("%s: row %d (%s), n = %zu: element %zu is %g, in steps %g", k->isa, row,
                     cubed_dtype_name(t), n, i, shown(t, p[to] + i * size),
                     shown(t, p[3] + i * size));
        }
        memcpy(p[to], saved, n * size);
    }
}

static void check_bits(const cb_kernels *k)
{
    for (int row = 0; row < k->nsuper; row++) {
        for (size_t n = 0; n <= LONGEST; n++) {
            check_row(k, row, CUBED_FLOAT32, n, n % 7);
            check_row(k, row, CUBED_FLOAT64, n, n % 7);
        }
    }
}
static void test_bits(void **state)
{
    (void)state;
    for_each_isa(check_bits);
}

/* Results that bypass the caches have the same bits as others. */
static void check_stream(const cb_kernels *k, cb_elem_fn fn, cb_elem_fn stream, cubed_dtype t,
                         bool cast, cubed_dtype from)
{
    static _Alignas(64) char room[5][CB_VECTOR * 8];
    for (size_t i = 0; i < CB_VECTOR; i++) {
        for (size_t j = 0; j < 3; j++) {
            const cubed_dtype type = cast && j == 0 ? from : t;
            cubed_scalar v = edge(type, (int)((i * (2 * j + 1) + i / EDGES * (j + 1)) % EDGES));
            memcpy(room[j] + i * cubed_dtype_size(type), &v, cubed_dtype_size(type));
        }
    }
    /* length in elements of a multiple of a cache line, for both types */
    const size_t line = CB_STREAM_LINE / 4;
    for (size_t n = 0; n <= CB_VECTOR; n += line) {
        memset(room[3], 1, sizeof room[3]);
        memset(room[4], 1, sizeof room[4]);
        fn(room[3], room[0], room[1], room[2], n);
        stream(room[4], room[0], room[1], room[2], n);
        cb_stream_fence();
        for (size_t i = 0; i < CB_VECTOR; i++) {
            const size_t at = i * cubed_dtype_size(t);
            if (i < n ? !same_value(t, room[3] + at, room[4] + at)
                      : memcmp(room[3] + at, room[4] + at, cubed_dtype_size(t)) != 0)
                fail_msg("%s: n = %zu: element %zu of %s", k->isa, n, i, cubed_dtype_name(t));
        }
    }
}
static void check_streams(const cb_kernels *k)
{
    int found = 0;
    for (int t = 0; t < CUBED_DTYPE_COUNT; t++) {
        for (int op = 0; op < CUBED_OP_COUNT; op++) {
            if (!k->elem_stream[op][t]) continue;
            assert_non_null(k->elem[op][t]);
            if (cb_op_result((cubed_op)op, (cubed_dtype)t) != (cubed_dtype)t) continue;
            check_stream(k, k->elem[op][t], k->elem_stream[op][t], (cubed_dtype)t, false, 0);
            found++;
        }
        for (int row = 0; row < k->nsuper; row++) {
            const cb_super *s = &k->super[row];
            if (!k->super_stream[row][t]) continue;
            check_stream(k, k->super_fn[row][t], k->super_stream[row][t], (cubed_dtype)t,
                         s->op[0] == CB_SUPER_CAST, (cubed_dtype)s->from);
            found++;
        }
    }
    assert_true(found == 0 || found >= 2 * k->nsuper);
}
static void test_streams(void **state)
{
    (void)state;
    for_each_isa(check_streams);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_bits),
        cmocka_unit_test(test_streams),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
