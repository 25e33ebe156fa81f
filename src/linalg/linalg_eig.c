/* Eigenvalues of square matrices: eig and eigvals. Balances the matrix, reduces it to upper Hessenberg form by reflectors
 * and to triangular form by QR iterations, and finds eigenvectors by back substitution. */
#include "base/error.h"
#include "linalg/linalg_functions.h"
#include "linalg/linalg_schur.h"
#include "linalg/linalg_shared.h"

typedef struct work {
    int64_t n;
    void *a, *zt;                 /* n x n each; zt is NULL without vectors */
    cb_complex *vectors, *values; /* n x n, one vector per row; n values */
    cb_complex *y;
    void *tau, *v, *w;
    double *by;
    const cubed_cancel *cancel;
} work;

static bool is_cancelled(const work *s) { return cubed_cancel_is_set(s->cancel); }

/* Eigenvectors of real matrices are also complex. */
#define CB_LINALG_FILE "linalg/linalg_eig.inc.h"
#include "linalg/linalg_both.h"

static cubed_status check_values(const cubed_block_call *call, const cubed_block *values,
                                 cubed_error *err)
{
    int64_t n = cb_rows(&call->in[0]);
    CB_TRY(cb_linalg_shape(&call->in[0], n, n, err));
    return cb_linalg_length(values, n, err);
}

static cubed_status check_eig(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    (void)ctx;
    CB_TRY(cb_linalg_check(call, 1, 2, 0, (const int[]){2, 1, 2}, (cb_linalg_types){.complex = 6},
                           err));
    CB_TRY(check_values(call, &call->out[0], err));
    return cb_linalg_shape(&call->out[1], cb_rows(&call->in[0]), cb_rows(&call->in[0]), err);
}

static cubed_status check_eigvals(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    (void)ctx;
    CB_TRY(
        cb_linalg_check(call, 1, 1, 0, (const int[]){2, 1}, (cb_linalg_types){.complex = 2}, err));
    return check_values(call, &call->out[0], err);
}

static void make_work(const cubed_block_call *call, cb_room *room, work *s)
{
    const cubed_block *x = &call->in[0];
    size_t size = cb_is_complex(x->dtype) ? sizeof(cb_complex) : sizeof(double);
    bool vectors = call->nout > 1;
    int64_t n = s->n = cb_rows(x);
    s->cancel = call->cancel;
    s->a = cb_room_take(room, n * n, size);
    s->zt = vectors ? cb_room_take(room, n * n, size) : NULL;
    s->vectors = vectors ? cb_room_take(room, n * n, sizeof(cb_complex)) : NULL;
    s->values = cb_room_take(room, n, sizeof(cb_complex));
    s->y = cb_room_take(room, n, sizeof(cb_complex));
    s->tau = cb_room_take(room, n, size);
    s->v = cb_room_take(room, n, size);
    s->w = cb_room_take(room, n, size);
    s->by = cb_room_take(room, n, sizeof(double));
}

static cubed_block_need need(const cubed_block_call *call, void *ctx)
{
    cb_room room = {NULL, 0};
    work s;
    (void)ctx;
    make_work(call, &room, &s);
    return (cubed_block_need){room.used, 0};
}

static cubed_status run(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    cb_room room = {call->scratch, 0};
    work s;
    (void)ctx;
    make_work(call, &room, &s);
    int64_t count = cb_linalg_count(&call->in[0], 2);
    for (int64_t i = 0; i < count && !cubed_block_cancelled(call); i++) {
        bool ok =
            cb_is_complex(call->in[0].dtype) ? eig_one_z(call, &s, i) : eig_one_d(call, &s, i);
        if (!ok) return cb_linalg_no_convergence(err);
    }
    return CUBED_OK;
}

const cubed_block_fn cb_block_eig = {
    .name = "eig", .check = check_eig, .need = need, .run = run, .divisible = true};
const cubed_block_fn cb_block_eigvals = {
    .name = "eigvals", .check = check_eigvals, .need = need, .run = run, .divisible = true};
