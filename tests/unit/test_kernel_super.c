/* Superinstructions of every instruction set give the bits of their two operations. */
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

static void check_rows(const cb_kernels *k)
{
    assert_true(k->nsuper > 0 && k->nsuper <= CB_MAX_SUPER);
    for (int i = 0; i < k->nsuper; i++) {
        const cb_super *s = &k->super[i];
        assert_true(s->pos < arity(s->outer));
        for (int t = 0; t < CUBED_DTYPE_COUNT; t++) {
            bool is_float = t == CUBED_FLOAT32 || t == CUBED_FLOAT64;
            assert_int_equal(k->super_fn[i][t] != NULL, is_float);
        }
        for (int j = 0; j < i; j++) {
            const cb_super *o = &k->super[j];
            assert_false(o->inner == s->inner && o->outer == s->outer && o->pos == s->pos);
        }
    }
}
static void test_rows(void **state)
{
    (void)state;
    for_each_isa(check_rows);
}

static void check_row(const cb_kernels *k, int row, cubed_dtype t, size_t n, size_t shift)
{
    static _Alignas(64) char room[5][(LONGEST + 8) * 8];
    const cb_super *s = &k->super[row];
    size_t size = cubed_dtype_size(t);
    char *p[5];
    for (int j = 0; j < 5; j++) p[j] = room[j] + shift * size;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < 3; j++) {
            cubed_scalar v =
                edge(t, (int)((i * (2 * j + 1) + i / EDGES * (j + 1) + shift) % EDGES));
            memcpy(p[j] + i * size, &v, size);
        }
    }
    bool unary = arity(s->outer) == 1;
    k->elem[s->inner][t](p[3], p[0], p[1], NULL, n);
    if (s->pos == 0)
        k->elem[s->outer][t](p[3], p[3], unary ? NULL : p[2], NULL, n);
    else
        k->elem[s->outer][t](p[3], p[2], p[3], NULL, n);
    /* Into a buffer of its own, then onto each operand. */
    for (int to = 4; to >= 0; to--) {
        if (to == 3) continue;
        char saved[LONGEST * 8];
        memcpy(saved, p[to], n * size);
        k->super_fn[row][t](p[to], p[0], arity(s->inner) == 1 ? NULL : p[1], unary ? NULL : p[2],
                            n);
        for (size_t i = 0; i < n; i++) {
            if (same_value(t, p[to] + i * size, p[3] + i * size)) continue;
            fail_msg("%s: %s of %s(%s), place %d, n = %zu: element %zu is %g, in two steps %g",
                     k->isa, cubed_op_name((cubed_op)s->outer), cubed_op_name((cubed_op)s->inner),
                     cubed_dtype_name(t), s->pos, n, i, shown(t, p[to] + i * size),
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
