/* Messages of GRIB: their sections and values, also if they are damaged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/error.h"
#include "files/grib_message.h"
#include "grib_test.h"

static cubed_status read_bytes(void *ctx, uint64_t offset, void *dst, size_t n, cubed_error *err)
{
    const message *m = ctx;
    (void)err;
    assert_true(offset <= m->size && n <= m->size - offset);
    memcpy(dst, m->bytes + offset, n);
    return CUBED_OK;
}

static void keep_values(void *ctx, uint64_t i, const double *values, int count)
{
    assert_true(i + (unsigned)count <= POINTS);
    memcpy((double *)ctx + i, values, (size_t)count * sizeof *values);
}

/* Unpacks all fields of a message. */
static cubed_status unpack_field(void *ctx, const cb_grib_field *f, cubed_error *err)
{
    message *m = ctx;
    cb_grib_packing packing;
    double values[POINTS];
    const cb_grib_source s = {read_bytes, m, m->size};
    uint8_t *copy = malloc(m->size + MOST);
    size_t n;
    cubed_status st = CUBED_OK;
    assert_non_null(copy);
    CB_GO(cb_grib_header(&s, f, copy, err));
    CB_GO(cb_grib_alone(&s, f, copy, &n, err));
    assert_true(n <= m->size && cb_grib_header_size(f) <= m->size + MOST);
    CB_GO(cb_grib_packing_of(&s, f, &packing, err));
    if (packing.simple) CB_GO(cb_grib_unpack(m->bytes, f, POINTS, keep_values, values, err));
out:
    free(copy);
    return st;
}

static cubed_status unpack(message *m)
{
    cubed_error err = CUBED_ERROR_INIT;
    const cb_grib_source s = {read_bytes, m, m->size};
    const cubed_status st = cb_grib_each_field(&s, unpack_field, m, &err);
    assert_true(st == CUBED_OK || st == CUBED_E_FORMAT || st == CUBED_E_UNSUPPORTED);
    assert_int_equal(st == CUBED_OK, err.message[0] == 0);
    return st;
}

static void test_values(void **state)
{
    const char *const texts[] = {grib_edition1, grib_edition2};
    (void)state;
    for (int e = 0; e < 2; e++) {
        message m = decoded(texts[e]);
        const cb_grib_source s = {read_bytes, &m, m.size};
        cb_grib_field f;
        cb_grib_packing packing;
        double values[POINTS];
        assert_int_equal(cb_grib_find_field(&s, 0, &f, NULL), CUBED_OK);
        assert_int_equal(f.edition, e + 1);
        assert_int_equal(f.size, m.size);
        assert_int_equal(cb_grib_packing_of(&s, &f, &packing, NULL), CUBED_OK);
        assert_true(packing.simple);
        assert_int_equal(packing.bits, 12);
        assert_int_equal(cb_grib_unpack(m.bytes, &f, POINTS, keep_values, values, NULL), CUBED_OK);
        for (int i = 0; i < POINTS; i++) {
            if (i == HOLE)
                assert_true(isnan(values[i]));
            else
                assert_true(fabs(values[i] - (270 + 2.5 * i)) < 0.01);
        }
        assert_int_equal(cb_grib_find_field(&s, 1, &f, NULL), CUBED_E_FORMAT);
        free(m.bytes);
    }
}

static void test_truncated_messages(void **state)
{
    const char *const texts[] = {grib_edition1, grib_edition2};
    (void)state;
    for (int e = 0; e < 2; e++) {
        message whole = decoded(texts[e]);
        for (size_t n = 0; n < whole.size; n++) {
            message m = {malloc(n + 1), n};
            memcpy(m.bytes, whole.bytes, n);
            assert_int_not_equal(unpack(&m), CUBED_OK);
            free(m.bytes);
        }
        free(whole.bytes);
    }
}

/* Replaces each byte, alone and together with a later byte. */
static void test_damaged_messages(void **state)
{
    static const uint8_t bytes[] = {0, 1, 2, 5, 21, 127, 128, 254, 255};
    const char *const texts[] = {grib_edition1, grib_edition2};
    const int n = sizeof bytes / sizeof *bytes;
    (void)state;
    for (int e = 0; e < 2; e++) {
        message m = decoded(texts[e]), whole = decoded(texts[e]);
        for (size_t i = 0; i < m.size; i++) {
            for (int k = 0; k < n * n; k++) {
                m.bytes[i] = bytes[k % n];
                if (k >= n && i + 1 < m.size) m.bytes[i + 1] = bytes[k / n];
                (void)unpack(&m);
                memcpy(m.bytes, whole.bytes, m.size);
            }
        }
        free(m.bytes);
        free(whole.bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_truncated_messages),
        cmocka_unit_test(test_damaged_messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
