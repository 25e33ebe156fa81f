/* Panels of triangular factors: lu_panel, cholesky_panel, and lu_solve, whose panels are right-hand sides. Pivots of later
 * panels never reorder the rows of a panel. Functions that use the panels swap the rows themselves. */
#include <string.h>

#include "base/error.h"
#include "linalg/linalg_functions.h"
#include "linalg/linalg_panel.h"
#include "linalg/linalg_triangle.h"

typedef struct scratch {
    int64_t *pivot; /* pivot row of each column */
    void *temp;     /* scratch memory of cb_cholesky */
} scratch;

#define CB_LINALG_FILE "linalg/linalg_panel_lu.inc.h"
#include "linalg/linalg_both.h"

/* Requires that the panel contains its diagonal, and that there is one column of blocks for each panel to the left. */
static cubed_status check_factor(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    CB_TRY(cb_panel_check(call, ctx, err));
    const cb_panel_params *p = call->params;
    const cubed_block *out = &call->out[0];
    if (p->rows > 1 &&
        p->panels * cb_columns(&call->in[0]) + cb_columns(out) <= cb_rows(out) - p->rows &&
        call->index[call->nsymbols - 2] <= p->panels)
        return CUBED_OK;
    return cb_fail(err, CUBED_E_FORMAT, "a panel lies to the right of the diagonal");
}

typedef enum panel_job { SOLVE, FACTOR_LU, FACTOR_CHOLESKY } panel_job;

static void make(const cubed_block_call *call, panel_job job, cb_room *room, cb_panel *s,
                 scratch *w)
{
    const bool needs_temp = job == FACTOR_CHOLESKY;
    const int64_t quarter = (s->width / 2 + 1) * (s->width / 2 + 1);
    /* Factoring a panel multiplies blocks with up to as many rows as the panel. */
    size_t bytes =
        cb_gemm_scratch(call->in[0].dtype, job == SOLVE ? s->rows : s->n, s->width, s->step);
    s->products.scratch = cb_room_take(room, 1, bytes);
    w->pivot = cb_room_take(room, job == FACTOR_LU ? s->width : 0, sizeof *w->pivot);
    w->temp = cb_room_take(
        room, needs_temp ? cb_max_i64(quarter, cb_min_i64(CB_LINALG_BASE, s->width) * s->rows) : 0,
        cb_panel_item(call));
}

static cubed_block_need need(const cubed_block_call *call, void *ctx, panel_job job)
{
    cb_room room = {NULL, 0};
    cb_panel s = cb_panel_of(call, ctx);
    scratch w;
    make(call, job, &room, &s, &w);
    return (cubed_block_need){room.used, 0};
}

static cubed_block_need need_lu(const cubed_block_call *call, void *ctx)
{
    return need(call, ctx, FACTOR_LU);
}

static cubed_block_need need_cholesky(const cubed_block_call *call, void *ctx)
{
    return need(call, ctx, FACTOR_CHOLESKY);
}

static cubed_block_need need_solve(const cubed_block_call *call, void *ctx)
{
    return need(call, ctx, SOLVE);
}

static cubed_status run_lu(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    const cb_panel_params *p = call->params;
    cb_room room = {call->scratch, 0};
    cb_panel s = cb_panel_of(call, ctx);
    scratch w;
    make(call, FACTOR_LU, &room, &s, &w);
    bool complex = cb_is_complex(call->in[0].dtype), ok = true, regular = true;
    if (s.column == 0)
        cb_panel_load(&s, cb_panel_item(call));
    else
        ok = complex ? forward_z(&s, s.column - 1) : forward_d(&s, s.column - 1);
    if (!ok) return cb_fail(err, CUBED_E_FORMAT, "the pivots are out of range");
    if (call->last)
        regular = complex ? factor_lu_z(&s, &w, p->panels) : factor_lu_d(&s, &w, p->panels);
    if (regular || !p->option) return CUBED_OK;
    return cb_fail(err, CUBED_E_LINALG, "a matrix is singular: it has no inverse");
}

static cubed_status run_solve(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    const cb_panel_params *p = call->params;
    cb_room room = {call->scratch, 0};
    cb_panel s = cb_panel_of(call, ctx);
    scratch w;
    make(call, SOLVE, &room, &s, &w);
    bool complex = cb_is_complex(call->in[0].dtype), ok = true;
    if (s.column == 0)
        cb_panel_load(&s, cb_panel_item(call));
    else if (s.column <= p->panels)
        ok = complex ? forward_z(&s, s.column - 1) : forward_d(&s, s.column - 1);
    else if (complex)
        backward_z(&s, 2 * p->panels - s.column);
    else
        backward_d(&s, 2 * p->panels - s.column);
    return ok ? CUBED_OK : cb_fail(err, CUBED_E_FORMAT, "the pivots are out of range");
}

static cubed_status run_cholesky(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    const cb_panel_params *p = call->params;
    cb_room room = {call->scratch, 0};
    cb_panel s = cb_panel_of(call, ctx);
    scratch w;
    make(call, FACTOR_CHOLESKY, &room, &s, &w);
    bool complex = cb_is_complex(call->in[0].dtype), ok = true;
    if (s.column == 0)
        cb_panel_load(&s, cb_panel_item(call));
    else if (complex)
        subtract_square_z(&s, p->panels);
    else
        subtract_square_d(&s, p->panels);
    if (call->last)
        ok = complex ? factor_cholesky_z(&s, &w, p->panels) : factor_cholesky_d(&s, &w, p->panels);
    return ok ? CUBED_OK : cb_fail(err, CUBED_E_LINALG, "a matrix is not positive definite");
}

const cubed_block_fn cb_block_lu_panel = {
    .name = "lu_panel", .check = check_factor, .need = need_lu, .run = run_lu};
const cubed_block_fn cb_block_lu_solve = {
    .name = "lu_solve", .check = cb_panel_check, .need = need_solve, .run = run_solve};
const cubed_block_fn cb_block_cholesky_panel = {
    .name = "cholesky_panel", .check = check_factor, .need = need_cholesky, .run = run_cholesky};
