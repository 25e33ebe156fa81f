/* Singular values and eigenvalues of band matrices: band_svdvals and band_eigvalsh.
 *
 * The band of an n x n matrix extends b elements to the right of the diagonal. Blocks have b columns. Each row of the input has 2
 * b elements: those in the row's diagonal block, and those in the next block. The algorithm reduces one row after another to two
 * elements. It chases the resulting elements outside the band along the band, b rows further each time (Murata and Horikoshi, "A
 * new method for the tridiagonalization of the symmetric band matrix", 1975; Lang, "Parallel reduction of banded matrices to
 * bidiagonal form", Parallel Computing 1996). */
#include "base/error.h"
#include "linalg/linalg_functions.h"
#include "linalg/linalg_iterate.h"
#include "linalg/linalg_shared.h"

typedef struct work {
    bool hermitian;
    /* each row of a has `ld` elements: from b elements left of the diagonal to 2 b right of it */
    int64_t n, b, ld;
    void *a, *u, *w;
    double *d, *e;
} work;

#define CB_LINALG_FILE "linalg/linalg_band.inc.h"
#include "linalg/linalg_both.h"

static cubed_status check(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    (void)ctx;
    CB_TRY(cb_linalg_check(call, 1, 1, 0, (const int[]){2, 1}, (cb_linalg_types){.real = 1u << 1},
                           err));
    const int64_t columns = cb_columns(&call->in[0]);
    if (columns < 2 || columns % 2 != 0)
        return cb_fail(err, CUBED_E_FORMAT, "rows of %lld elements, expected two blocks",
                       (long long)columns);
    return cb_linalg_length(&call->out[0], cb_rows(&call->in[0]), err);
}

static work make_work(const cubed_block_call *call, bool hermitian, cb_room *room)
{
    const cubed_block *x = &call->in[0];
    const size_t size = cb_is_complex(x->dtype) ? sizeof(cb_complex) : sizeof(double);
    work s = {.hermitian = hermitian, .n = cb_rows(x), .b = cb_columns(x) / 2};
    s.ld = 3 * s.b + 1;
    s.a = cb_room_take(room, s.n * s.ld, size);
    s.u = cb_room_take(room, s.b, size);
    s.w = cb_room_take(room, 2 * s.b, size);
    s.d = cb_room_take(room, s.n, sizeof(double));
    s.e = cb_room_take(room, s.n, sizeof(double));
    return s;
}

static cubed_block_need need(const cubed_block_call *call, void *ctx)
{
    cb_room room = {NULL, 0};
    (void)ctx;
    (void)make_work(call, false, &room);
    return (cubed_block_need){room.used, 0};
}

static cubed_status run(const cubed_block_call *call, bool hermitian, cubed_error *err)
{
    cb_room room = {call->scratch, 0};
    const work s = make_work(call, hermitian, &room);
    const int64_t count = cb_linalg_count(&call->in[0], 2);
    for (int64_t i = 0; i < count && !cubed_block_cancelled(call); i++) {
        bool ok =
            cb_is_complex(call->in[0].dtype) ? band_one_z(call, &s, i) : band_one_d(call, &s, i);
        if (!ok) return cb_linalg_no_convergence(err);
    }
    return CUBED_OK;
}

static cubed_status run_svdvals(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    (void)ctx;
    return run(call, false, err);
}

static cubed_status run_eigvalsh(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    (void)ctx;
    return run(call, true, err);
}

const cubed_block_fn cb_block_band_svdvals = {
    .name = "band_svdvals", .check = check, .need = need, .run = run_svdvals};
const cubed_block_fn cb_block_band_eigvalsh = {
    .name = "band_eigvalsh", .check = check, .need = need, .run = run_eigvalsh};
