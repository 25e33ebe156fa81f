/* Orthogonal factors: qr, and reflectors, which returns the reflectors whose product is Q. */
#include <string.h>

#include "base/error.h"
#include "linalg/linalg_functions.h"
#include "linalg/linalg_shared.h"
#include "linalg/linalg_wy.h"

typedef struct work {
    int64_t m, n, columns; /* a is m x n, q m x columns, r columns x n */
    void *a, *q, *tau, *v, *w;
    cb_products products;
    cb_wy wy; /* used if there are more reflectors than one block has */
} work;

#define CB_LINALG_FILE "linalg/linalg_qr.inc.h"
#include "linalg/linalg_both.h"

static cubed_status check(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    (void)ctx;
    CB_TRY(cb_linalg_check(call, 1, 2, 0, (const int[]){2, 2, 2}, (cb_linalg_types){0}, err));
    int64_t m = cb_rows(&call->in[0]), n = cb_columns(&call->in[0]);
    int64_t columns = cb_columns(&call->out[0]);
    /* If n columns are requested and m is smaller than n, the further columns of q and the further rows of r are zero. */
    if (columns != m && columns != n)
        return cb_fail(err, CUBED_E_FORMAT, "%lld columns are requested of a %lld x %lld matrix",
                       (long long)columns, (long long)m, (long long)n);
    CB_TRY(cb_linalg_shape(&call->out[0], m, columns, err));
    return cb_linalg_shape(&call->out[1], columns, n, err);
}

static void make_work(const cubed_block_call *call, const cb_kernels *kernels, cb_room *room,
                      work *s)
{
    const cubed_block *x = &call->in[0];
    size_t size = cb_is_complex(x->dtype) ? sizeof(cb_complex) : sizeof(double);
    s->m = cb_rows(x);
    s->n = cb_columns(x);
    s->columns = cb_columns(&call->out[0]);
    s->a = cb_room_take(room, cb_max_i64(s->m, s->columns) * s->n, size);
    s->q = cb_room_take(room, s->m * s->columns, size);
    s->tau = cb_room_take(room, cb_min_i64(s->m, s->n), size);
    s->v = cb_room_take(room, s->m, size);
    s->w = cb_room_take(room, cb_max_i64(s->n, s->columns), size);
    if (cb_min_i64(s->m, s->n) <= CB_WY_BLOCK) return;
    int64_t most = cb_max_i64(s->n, s->columns);
    s->products = cb_products_of(kernels, call, cb_max_i64(s->m, most), room);
    s->wy = cb_wy_make(s->m, most, CB_WY_BLOCK, size, &s->products, room);
}

static cubed_block_need need(const cubed_block_call *call, void *ctx)
{
    cb_room room = {NULL, 0};
    work s;
    make_work(call, ctx, &room, &s);
    return (cubed_block_need){room.used, 0};
}

static cubed_status run(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    cb_room room = {call->scratch, 0};
    work s;
    (void)err;
    make_work(call, ctx, &room, &s);
    int64_t count = cb_linalg_count(&call->in[0], 2);
    for (int64_t i = 0; i < count && !cubed_block_cancelled(call); i++) {
        if (cb_is_complex(call->in[0].dtype))
            qr_one_z(call, &s, i);
        else
            qr_one_d(call, &s, i);
    }
    return CUBED_OK;
}

const cubed_block_fn cb_block_qr = {
    .name = "qr", .check = check, .need = need, .run = run, .divisible = true};

/* --- Reflectors: V, V T and R, with Q = 1 - V T V^H ------------------------------------------------------- */

static cubed_status check_reflectors(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    (void)ctx;
    CB_TRY(cb_linalg_check(call, 1, 3, 0, (const int[]){2, 2, 2, 2}, (cb_linalg_types){0}, err));
    const int64_t m = cb_rows(&call->in[0]), n = cb_columns(&call->in[0]), k = cb_min_i64(m, n);
    CB_TRY(cb_linalg_shape(&call->out[0], m, k, err));
    CB_TRY(cb_linalg_shape(&call->out[1], m, k, err));
    return cb_linalg_shape(&call->out[2], k, n, err);
}

static void make_reflectors(const cubed_block_call *call, const cb_kernels *kernels, cb_room *room,
                            work *s)
{
    const cubed_block *x = &call->in[0];
    const size_t size = cb_is_complex(x->dtype) ? sizeof(cb_complex) : sizeof(double);
    *s = (work){.m = cb_rows(x), .n = cb_columns(x)};
    const int64_t k = s->columns = cb_min_i64(s->m, s->n);
    s->a = cb_room_take(room, s->m * s->n, size);
    s->tau = cb_room_take(room, k, size);
    s->v = cb_room_take(room, s->m, size);
    s->w = cb_room_take(room, s->n, size);
    /* One dimension of each product is m: the number of rows, or the number of terms of each sum. The other dimensions are
     * at most n. */
    const cubed_dtype type = size > sizeof(double) ? CUBED_COMPLEX128 : CUBED_FLOAT64;
    const size_t down = cb_gemm_scratch(type, s->m, s->n, k);
    s->products = cb_products_of(kernels, call, 0, room);
    s->products.scratch =
        cb_room_take(room, 1, cb_max_size(down, cb_gemm_scratch(type, k, s->n, s->m)));
    s->wy = cb_wy_make(s->m, s->n, cb_max_i64(k, 1), size, &s->products, room);
}

static cubed_block_need need_reflectors(const cubed_block_call *call, void *ctx)
{
    cb_room room = {NULL, 0};
    work s;
    make_reflectors(call, ctx, &room, &s);
    return (cubed_block_need){room.used, 0};
}

static cubed_status run_reflectors(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    cb_room room = {call->scratch, 0};
    work s;
    (void)err;
    make_reflectors(call, ctx, &room, &s);
    const int64_t count = cb_linalg_count(&call->in[0], 2);
    for (int64_t i = 0; i < count && !cubed_block_cancelled(call); i++) {
        if (cb_is_complex(call->in[0].dtype))
            reflectors_one_z(call, &s, i);
        else
            reflectors_one_d(call, &s, i);
    }
    return CUBED_OK;
}

const cubed_block_fn cb_block_reflectors = {.name = "reflectors",
                                            .check = check_reflectors,
                                            .need = need_reflectors,
                                            .run = run_reflectors,
                                            .divisible = true};
