/* Eigenvalues of Hermitian matrices: eigh and eigvalsh. Reflectors make a tridiagonal matrix, whose
 * eigenvalues are found by QL iterations. */
#include "base/error.h"
#include "block/functions.h"
#include "block/linalg.h"
#include "block/linalg_iterate.h"

typedef struct work {
    int64_t n;
    void *a, *q; /* n x n; q for vectors, else NULL */
    void *tau, *v, *w;
    double *d, *e;
} work;

#define T   double
#define TAG d
#include "block/linalg_vector.inc.h"

#include "block/linalg_reflector.inc.h"

#include "block/linalg_scale.inc.h"

#include "block/linalg_eigh.inc.h"
#undef T
#undef TAG
#define T   cb_complex
#define TAG z
#include "block/linalg_vector.inc.h"

#include "block/linalg_reflector.inc.h"

#include "block/linalg_scale.inc.h"

#include "block/linalg_eigh.inc.h"
#undef T
#undef TAG

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

static void make_work(const cubed_block_call *call, cb_room *room, work *s)
{
    const cubed_block *x = &call->in[0];
    size_t size = cb_is_complex(x->dtype) ? sizeof(cb_complex) : sizeof(double);
    s->n = cb_rows(x);
    s->a = cb_room_take(room, s->n * s->n, size);
    s->q = call->nout > 1 ? cb_room_take(room, s->n * s->n, size) : NULL;
    s->tau = cb_room_take(room, s->n, size);
    s->v = cb_room_take(room, s->n, size);
    s->w = cb_room_take(room, s->n, size);
    s->d = cb_room_take(room, s->n, sizeof(double));
    s->e = cb_room_take(room, s->n, sizeof(double));
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
    for (int64_t i = 0; i < count; i++) {
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
