/* Arrays and groups if an allocation or a call of the store fails. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "failing_allocator.h"
#include "zarr_test.h"

static cubed_status use_everything(cubed_store *s)
{
    cb_zarr_meta m;
    cb_zarr_array *z = NULL;
    cb_buf attrs;
    seen v = {.stop_after = 0};
    cb_buf_init(&attrs, s->alloc);
    cb_buf_init(&v.text, s->alloc);
    make_meta(&m, 2, NULL);
    m.dim_names[0] = m.dim_names[1] = "x";
    m.attrs = "{\"a\": 1}";
    cubed_status st;
    CB_GO(cb_zarr_create_group(s, NULL, "g", 3, "{\"a\": 2}", false, NULL));
    CB_GO(cb_zarr_prepare(s, "g/u", &m, &z, NULL));
    CB_GO(cb_zarr_commit(z, NULL));
    cb_zarr_close(z);
    z = NULL;
    CB_GO(cb_zarr_open(s, NULL, "g/u", &z, NULL));
    CB_GO(cb_zarr_group_attrs(s, "g", &attrs, NULL));
    CB_GO(cb_zarr_walk(s, "", note, &v, NULL));
    if (attrs.failed || v.text.failed) st = CUBED_E_NOMEM;
out:
    cb_zarr_close(z);
    cb_buf_free(&attrs);
    cb_buf_free(&v.text);
    return st;
}

static void test_every_allocation_may_fail(void **state)
{
    (void)state;
    int at = 1;
    for (;; at++) {
        failing c = {.at = 0};
        const cubed_allocator a = failing_allocator(&c);
        cubed_store *s;
        assert_int_equal(cb_store_open_memory(&a, "memory://t", &s, NULL), CUBED_OK);
        c.at = c.calls + at;
        cubed_status st = use_everything(s);
        bool failed = c.calls >= c.at;
        cb_store_close(s);
        assert_int_equal(c.live, 0);
        if (!failed) {
            assert_int_equal(st, CUBED_OK);
            break;
        }
        assert_int_equal(st, CUBED_E_NOMEM);
    }
    assert_true(at > 30);
}

/* A store that fails from the n-th call on. */
typedef struct failing_store {
    cubed_store head;
    cubed_store *inner;
    int left;
} failing_store;

static void failing_submit(cubed_store *s, cubed_store_request *const *requests, size_t n)
{
    failing_store *f = (failing_store *)s;
    for (size_t i = 0; i < n; i++) {
        cubed_store_request *r = requests[i];
        if (f->left-- > 0) {
            f->inner->vt->submit(f->inner, &r, 1);
        } else {
            r->status = cb_fail(r->err, CUBED_E_IO, "the disk is gone");
            r->complete(r);
        }
    }
}

static const cubed_store_vtable failing_vtable = {
    .struct_size = sizeof(cubed_store_vtable),
    .version = CUBED_STORE_VERSION,
    .flags = CUBED_STORE_AT_ONCE,
    .scheme = "failing",
    .submit = failing_submit,
};

/* A failing store is reported as such, neither silently ignored nor as "not found", and no metadata is left that makes a
 * partly written array look complete. */
static void test_every_store_call_may_fail(void **state)
{
    (void)state;
    int n = 0;
    for (;; n++) {
        failing_store f = {.inner = memory(), .left = n};
        f.head = (cubed_store){&failing_vtable, &cb_system_allocator, "failing://"};
        cubed_status st = use_everything(&f.head);
        bool failed = f.left < 0;
        cb_store_close(f.inner);
        assert_int_equal(st, failed ? CUBED_E_IO : CUBED_OK);
        if (!failed) break;
    }
    assert_true(n > 20);
    cubed_store *s = memory();
    cb_zarr_array *z = make_array(s, "u", 3, NULL), *r;
    failing_store f = {{&failing_vtable, &cb_system_allocator, "failing://"}, s, 1000};
    assert_int_equal(cb_zarr_open(&f.head, NULL, "u", &r, NULL), CUBED_OK);
    cb_arena *a = arena(cb_zarr_read_need(cb_zarr_get_meta(r)));
    double data[12];
    int64_t idx[2] = {0, 0};
    cubed_error err = CUBED_ERROR_INIT;
    f.left = 0;
    assert_int_equal(cb_zarr_read_chunk(r, idx, NULL, data, a, NULL, &err), CUBED_E_IO);
    assert_non_null(strstr(err.message, "u/c/0/0"));
    cb_arena_free(a);
    cb_zarr_close(r);
    cb_zarr_close(z);
    cb_store_close(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_allocation_may_fail),
        cmocka_unit_test(test_every_store_call_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
