/* Singular values: svd and svdvals. Reflectors reduce the matrix to bidiagonal form (Golub and Kahan, 1965). Vectors are found by
 * divide and conquer, values alone by QR iterations. */
#include "base/error.h"
#include "linalg/linalg_divide.h"
#include "linalg/linalg_functions.h"
#include "linalg/linalg_iterate.h"
#include "linalg/linalg_shared.h"
#include "linalg/linalg_wy.h"

typedef struct work {
    bool wide, vectors;
    /* Size of the matrix that is decomposed, with m >= n. A wide input is replaced by its adjoint. */
    int64_t m, n;
    int64_t columns; /* number of left singular vectors: m or n */
    void *a;         /* m x n, later scratch for m x columns */
    /* Left vectors, m x columns, and right vectors, n x n, if vectors are requested. They share memory with the scratch of divide
     * and conquer. */
    void *out_left, *out_right;
    void *tau_q, *tau_p, *v, *w;
    /* left: (V X), m x 2 columns of a block; right: (Y U), n x 2 columns of a block; adjoint: (Y U)^H. The update is a -= V
     * Y^H + X U^H. */
    void *left, *right, *adjoint;
    double *d, *e;
    cb_products products;
    cb_divide divide;
    cb_wy wy;
} work;

#define CB_LINALG_FILE "linalg/linalg_svd.inc.h"
#include "linalg/linalg_both.h"

static cubed_status check_svd(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    (void)ctx;
    CB_TRY(cb_linalg_check(call, 1, 3, 0, (const int[]){2, 2, 1, 2},
                           (cb_linalg_types){.real = 1u << 2}, err));
    int64_t rows = cb_rows(&call->in[0]), columns = cb_columns(&call->in[0]);
    int64_t k = cb_min_i64(rows, columns), of_u = cb_columns(&call->out[0]);
    bool full = of_u == rows && cb_rows(&call->out[2]) == columns;
    if (!full && of_u != k)
        return cb_fail(err, CUBED_E_FORMAT,
                       "%lld singular vectors are requested of a %lld x %lld matrix",
                       (long long)of_u, (long long)rows, (long long)columns);
    CB_TRY(cb_linalg_shape(&call->out[0], rows, of_u, err));
    CB_TRY(cb_linalg_length(&call->out[1], k, err));
    return cb_linalg_shape(&call->out[2], full ? columns : k, columns, err);
}

static cubed_status check_svdvals(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    (void)ctx;
    CB_TRY(cb_linalg_check(call, 1, 1, 0, (const int[]){2, 1}, (cb_linalg_types){.real = 1u << 1},
                           err));
    return cb_linalg_length(&call->out[0],
                            cb_min_i64(cb_rows(&call->in[0]), cb_columns(&call->in[0])), err);
}

static void make_work(const cubed_block_call *call, const cb_kernels *kernels, cb_room *room,
                      work *s)
{
    const cubed_block *x = &call->in[0];
    size_t size = cb_is_complex(x->dtype) ? sizeof(cb_complex) : sizeof(double);
    int64_t rows = cb_rows(x), columns = cb_columns(x);
    s->wide = rows < columns;
    s->vectors = call->nout > 1;
    const int64_t m = s->m = s->wide ? columns : rows, n = s->n = s->wide ? rows : columns;
    const int64_t block = cb_min_i64(CB_WY_BLOCK, n);
    s->columns = n;
    if (s->vectors) s->columns = s->wide ? cb_rows(&call->out[2]) : cb_columns(&call->out[0]);
    s->a = cb_room_take(room, m * s->columns, size);
    s->tau_q = cb_room_take(room, n, size);
    s->tau_p = cb_room_take(room, n, size);
    s->v = cb_room_take(room, m, size);
    s->w = cb_room_take(room, m, size);
    s->d = cb_room_take(room, n, sizeof(double));
    s->e = cb_room_take(room, n, sizeof(double));
    s->left = cb_room_take(room, m * 2 * block, size);
    s->right = cb_room_take(room, n * 2 * block, size);
    s->adjoint = cb_room_take(room, n * 2 * block, size);
    s->products = cb_products_of(kernels, call, m + 1, room);
    if (!s->vectors) {
        s->out_left = s->wide ? cb_room_take(room, m * n, size) : NULL;
        return;
    }
    s->wy = cb_wy_make(m, s->columns, block, size, &s->products, room);
    s->divide = cb_divide_make(&s->products, n, true, room);
    const size_t end = room->used;
    room->used = s->divide.scratch_from;
    s->out_left = cb_room_take(room, m * s->columns, size);
    s->out_right = cb_room_take(room, n * n, size);
    room->used = cb_max_size(room->used, end);
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
    make_work(call, ctx, &room, &s);
    int64_t count = cb_linalg_count(&call->in[0], 2);
    for (int64_t i = 0; i < count && !cubed_block_cancelled(call); i++) {
        bool ok =
            cb_is_complex(call->in[0].dtype) ? svd_one_z(call, &s, i) : svd_one_d(call, &s, i);
        if (!ok) return cb_linalg_no_convergence(err);
    }
    return CUBED_OK;
}

const cubed_block_fn cb_block_svd = {
    .name = "svd", .check = check_svd, .need = need, .run = run, .divisible = true};
const cubed_block_fn cb_block_svdvals = {
    .name = "svdvals", .check = check_svdvals, .need = need, .run = run, .divisible = true};
