/* Eigenvalues of Hermitian matrices: eigh and eigvalsh. Reflectors reduce the matrix to tridiagonal form. Vectors are found by
 * divide and conquer, values alone by QL iterations. */
#include "base/error.h"
#include "linalg/linalg_divide.h"
#include "linalg/linalg_functions.h"
#include "linalg/linalg_iterate.h"
#include "linalg/linalg_shared.h"
#include "linalg/linalg_wy.h"

typedef struct work {
    int64_t n;
    bool vectors;
    void *a; /* n x n */
    void *q; /* n x n; shares memory with the scratch of divide and conquer */
    void *tau, *v, *w;
    /* panel: V and W of a -= V W^H + W V^H, n x 2 columns of a block; adjoint: (W V)^H */
    void *panel, *adjoint;
    double *d, *e;
    cb_products products;
    cb_divide divide;
    cb_wy wy;
} work;

#define CB_LINALG_FILE "linalg/linalg_eigh.inc.h"
#include "linalg/linalg_both.h"

static cubed_status check_eigh(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    (void)ctx;
    CB_TRY(cb_linalg_check(call, 1, 2, 0, (const int[]){2, 1, 2},
                           (cb_linalg_types){.real = 1u << 1}, err));
    int64_t n = cb_rows(&call->in[0]);
    CB_TRY(cb_linalg_shape(&call->in[0], n, n, err));
    CB_TRY(cb_linalg_length(&call->out[0], n, err));
    return cb_linalg_shape(&call->out[1], n, n, err);
}

static cubed_status check_eigvalsh(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    (void)ctx;
    CB_TRY(cb_linalg_check(call, 1, 1, 0, (const int[]){2, 1}, (cb_linalg_types){.real = 1u << 1},
                           err));
    int64_t n = cb_rows(&call->in[0]);
    CB_TRY(cb_linalg_shape(&call->in[0], n, n, err));
    return cb_linalg_length(&call->out[0], n, err);
}

static void make_work(const cubed_block_call *call, const cb_kernels *kernels, cb_room *room,
                      work *s)
{
    const cubed_block *x = &call->in[0];
    size_t size = cb_is_complex(x->dtype) ? sizeof(cb_complex) : sizeof(double);
    const int64_t n = s->n = cb_rows(x), block = cb_min_i64(CB_WY_BLOCK, n);
    s->vectors = call->nout > 1;
    s->a = cb_room_take(room, n * n, size);
    s->tau = cb_room_take(room, n, size);
    s->v = cb_room_take(room, n, size);
    s->w = cb_room_take(room, n, size);
    s->d = cb_room_take(room, n, sizeof(double));
    s->e = cb_room_take(room, n, sizeof(double));
    s->panel = cb_room_take(room, n * 2 * block, size);
    s->adjoint = cb_room_take(room, n * 2 * block, size);
    s->products = cb_products_of(kernels, call, n + 1, room);
    if (!s->vectors) return;
    s->wy = cb_wy_make(n, n, block, size, &s->products, room);
    s->divide = cb_divide_make(&s->products, n, false, room);
    const size_t end = room->used;
    room->used = s->divide.scratch_from;
    s->q = cb_room_take(room, n * n, size);
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
            cb_is_complex(call->in[0].dtype) ? eigh_one_z(call, &s, i) : eigh_one_d(call, &s, i);
        if (!ok) return cb_linalg_no_convergence(err);
    }
    return CUBED_OK;
}

const cubed_block_fn cb_block_eigh = {
    .name = "eigh", .check = check_eigh, .need = need, .run = run, .divisible = true};
const cubed_block_fn cb_block_eigvalsh = {
    .name = "eigvalsh", .check = check_eigvalsh, .need = need, .run = run, .divisible = true};
