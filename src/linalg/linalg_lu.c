/* Triangular factors: cholesky, lu, det, slogdet, inv and solve. */
#include <string.h>

#include "base/error.h"
#include "linalg/linalg_functions.h"
#include "linalg/linalg_shared.h"
#include "linalg/linalg_triangle.h"

typedef struct work {
    /* Shapes. Most functions: a is n x n, b is n x m. cholesky: b has half of a's rows and columns. lu: a is n x m, b is one
     * row. */
    int64_t n, m;
    void *a, *b;
    void *panel; /* copy of CB_LINALG_BASE columns of a */
    int64_t *pivot;
    /* for lu: the source row of each position, and the position of each source row */
    int64_t *order, *place;
    cb_products products;
    /* index of the input matrix whose factors `a` holds; -1 before the first one */
    int64_t factored;
} work;

#define CB_LINALG_FILE "linalg/linalg_lu.inc.h"
#include "linalg/linalg_both.h"

static size_t item_size(const cubed_block *x)
{
    return cb_is_complex(x->dtype) ? sizeof(cb_complex) : sizeof(double);
}

static cubed_status check_square(const cubed_block *x, cubed_error *err)
{
    return cb_linalg_shape(x, cb_rows(x), cb_rows(x), err);
}

/* --- cholesky --------------------------------------------------------------------------------------- */

static cubed_status check_cholesky(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    const cb_cholesky_params *p = call->params;
    (void)ctx;
    CB_TRY(cb_linalg_check(call, 1, 1, sizeof *p, (const int[]){2, 2}, (cb_linalg_types){0}, err));
    CB_TRY(check_square(&call->in[0], err));
    if (p->upper >> 1) return cb_fail(err, CUBED_E_FORMAT, "the parameters are out of range");
    return cb_linalg_shape(&call->out[0], cb_rows(&call->in[0]), cb_rows(&call->in[0]), err);
}

static void make_cholesky(const cubed_block_call *call, const cb_kernels *kernels, cb_room *room,
                          work *w)
{
    const cubed_block *x = &call->in[0];
    *w = (work){.n = cb_rows(x)};
    w->a = cb_room_take(room, w->n * w->n, item_size(x));
    w->b = cb_room_take(room, (w->n / 2 + 1) * (w->n / 2 + 1), item_size(x));
    w->products = cb_products_of(kernels, call, w->n, room);
}

static cubed_block_need need_cholesky(const cubed_block_call *call, void *ctx)
{
    cb_room room = {NULL, 0};
    work w;
    make_cholesky(call, ctx, &room, &w);
    return (cubed_block_need){room.used, 0};
}

static cubed_status run_cholesky(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    const cb_cholesky_params *p = call->params;
    const cubed_block *x = &call->in[0];
    cb_room room = {call->scratch, 0};
    work w;
    make_cholesky(call, ctx, &room, &w);
    int64_t count = cb_linalg_count(x, 2);
    for (int64_t i = 0; i < count && !cubed_block_cancelled(call); i++) {
        bool ok = cb_is_complex(x->dtype) ? cholesky_one_z(call, &w, i, p->upper)
                                          : cholesky_one_d(call, &w, i, p->upper);
        if (!ok) return cb_fail(err, CUBED_E_LINALG, "a matrix is not positive definite");
    }
    return CUBED_OK;
}

/* --- lu ---------------------------------------------------------------------------------------------- */

static cubed_status check_lu(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    const cubed_block *x = &call->in[0];
    (void)ctx;
    CB_TRY(cb_linalg_check(call, 1, 3, 0, (const int[]){2, 2, 2, 2}, (cb_linalg_types){0}, err));
    int64_t n = cb_rows(x), m = cb_columns(x), k = cb_min_i64(n, m);
    CB_TRY(cb_linalg_shape(&call->out[0], n, n, err));
    CB_TRY(cb_linalg_shape(&call->out[1], n, k, err));
    return cb_linalg_shape(&call->out[2], k, m, err);
}

static void make_lu(const cubed_block_call *call, const cb_kernels *kernels, cb_room *room, work *w)
{
    const cubed_block *x = &call->in[0];
    *w = (work){.n = cb_rows(x), .m = cb_columns(x)};
    w->a = cb_room_take(room, w->n * w->m, item_size(x));
    w->b = cb_room_take(room, cb_max_i64(w->n, w->m), item_size(x));
    w->panel = cb_room_take(room, cb_min_i64(w->m, CB_LINALG_BASE) * w->n, item_size(x));
    w->pivot = cb_room_take(room, w->n, sizeof *w->pivot);
    w->order = cb_room_take(room, w->n, sizeof *w->order);
    w->place = cb_room_take(room, w->n, sizeof *w->place);
    w->products = cb_products_of(kernels, call, cb_max_i64(w->n, w->m), room);
}

static cubed_block_need need_lu(const cubed_block_call *call, void *ctx)
{
    cb_room room = {NULL, 0};
    work w;
    make_lu(call, ctx, &room, &w);
    return (cubed_block_need){room.used, 0};
}

static cubed_status run_lu(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    cb_room room = {call->scratch, 0};
    work w;
    (void)err;
    make_lu(call, ctx, &room, &w);
    int64_t count = cb_linalg_count(&call->in[0], 2);
    for (int64_t i = 0; i < count && !cubed_block_cancelled(call); i++) {
        if (cb_is_complex(call->in[0].dtype))
            lu_one_z(call, &w, i);
        else
            lu_one_d(call, &w, i);
    }
    return CUBED_OK;
}

/* --- det, slogdet ----------------------------------------------------------------------------------- */

static void make_work(const cubed_block_call *call, const cb_kernels *kernels, int64_t m,
                      cb_room *room, work *w)
{
    size_t size = item_size(&call->in[0]);
    w->n = cb_rows(&call->in[0]);
    w->m = m;
    w->factored = -1;
    w->a = cb_room_take(room, w->n * w->n, size);
    w->b = cb_room_take(room, w->n * m, size);
    w->panel = cb_room_take(room, cb_min_i64(w->n, CB_LINALG_BASE) * w->n, size);
    w->pivot = cb_room_take(room, w->n, sizeof *w->pivot);
    w->products = cb_products_of(kernels, call, cb_max_i64(w->n, m), room);
}

static cubed_status check_det(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    (void)ctx;
    CB_TRY(cb_linalg_check(call, 1, 1, 0, (const int[]){2, 0}, (cb_linalg_types){0}, err));
    return check_square(&call->in[0], err);
}

static cubed_status check_slogdet(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    (void)ctx;
    CB_TRY(cb_linalg_check(call, 1, 2, 0, (const int[]){2, 0, 0},
                           (cb_linalg_types){.real = 1u << 2}, err));
    return check_square(&call->in[0], err);
}

static cubed_block_need need_det(const cubed_block_call *call, void *ctx)
{
    cb_room room = {NULL, 0};
    work w;
    make_work(call, ctx, 0, &room, &w);
    return (cubed_block_need){room.used, 0};
}

static cubed_status run_det(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    cb_room room = {call->scratch, 0};
    work w;
    (void)err;
    make_work(call, ctx, 0, &room, &w);
    int64_t count = cb_linalg_count(&call->in[0], 2);
    for (int64_t i = 0; i < count && !cubed_block_cancelled(call); i++) {
        if (cb_is_complex(call->in[0].dtype))
            det_one_z(call, &w, i);
        else
            det_one_d(call, &w, i);
    }
    return CUBED_OK;
}

/* --- inv, solve ------------------------------------------------------------------------------------- */

static cubed_status check_inv(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    (void)ctx;
    CB_TRY(cb_linalg_check(call, 1, 1, 0, (const int[]){2, 2}, (cb_linalg_types){0}, err));
    CB_TRY(check_square(&call->in[0], err));
    return cb_linalg_shape(&call->out[0], cb_rows(&call->in[0]), cb_rows(&call->in[0]), err);
}

static cubed_status check_solve(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    (void)ctx;
    CB_TRY(cb_linalg_check(call, 2, 1, 0, (const int[]){2, 2, 2}, (cb_linalg_types){0}, err));
    CB_TRY(check_square(&call->in[0], err));
    CB_TRY(cb_linalg_shape(&call->in[1], cb_rows(&call->in[0]), cb_columns(&call->in[1]), err));
    return cb_linalg_shape(&call->out[0], cb_rows(&call->in[0]), cb_columns(&call->in[1]), err);
}

static cubed_block_need need_solve(const cubed_block_call *call, void *ctx)
{
    cb_room room = {NULL, 0};
    work w;
    make_work(call, ctx, cb_columns(&call->out[0]), &room, &w);
    return (cubed_block_need){room.used, 0};
}

/* Returns the index of the matrix in x that broadcasting assigns to matrix i of `to`. */
static int64_t broadcast(const cubed_block *x, const cubed_block *to, int64_t i)
{
    int64_t at = 0, stride = 1;
    for (int d = to->ndim - 3; d >= 0; d--) {
        if (x->shape[d] != 1) at += i % to->shape[d] * stride;
        stride *= x->shape[d];
        i /= to->shape[d];
    }
    return at;
}

static cubed_status run_solve(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    const cubed_block *a = &call->in[0], *x = &call->out[0];
    cb_room room = {call->scratch, 0};
    work w;
    make_work(call, ctx, cb_columns(x), &room, &w);
    int64_t count = cb_linalg_count(x, 2);
    for (int64_t i = 0; i < count && !cubed_block_cancelled(call); i++) {
        int64_t of_a = broadcast(a, x, i), of_b = call->nin > 1 ? broadcast(&call->in[1], x, i) : 0;
        bool ok = cb_is_complex(a->dtype) ? solve_one_z(call, &w, i, of_a, of_b)
                                          : solve_one_d(call, &w, i, of_a, of_b);
        if (!ok) return cb_fail(err, CUBED_E_LINALG, "a matrix is singular: it has no inverse");
    }
    return CUBED_OK;
}

const cubed_block_fn cb_block_cholesky = {.name = "cholesky",
                                          .check = check_cholesky,
                                          .need = need_cholesky,
                                          .run = run_cholesky,
                                          .divisible = true};
const cubed_block_fn cb_block_lu = {
    .name = "lu", .check = check_lu, .need = need_lu, .run = run_lu, .divisible = true};
const cubed_block_fn cb_block_det = {
    .name = "det", .check = check_det, .need = need_det, .run = run_det, .divisible = true};
const cubed_block_fn cb_block_slogdet = {
    .name = "slogdet", .check = check_slogdet, .need = need_det, .run = run_det, .divisible = true};
const cubed_block_fn cb_block_inv = {
    .name = "inv", .check = check_inv, .need = need_solve, .run = run_solve, .divisible = true};
const cubed_block_fn cb_block_solve = {
    .name = "solve", .check = check_solve, .need = need_solve, .run = run_solve, .divisible = true};
