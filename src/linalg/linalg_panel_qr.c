/* Panels of orthogonal factors: qr_panel, and qr_apply, whose panels are columns of any matrix.
 *
 * A panel contains R above its diagonal and the reflectors V below it. Its top contains the matrix T of the product of the
 * reflectors, 1 - V T V^H (Schreiber and Van Loan, "A storage-efficient WY representation", SISSC 1989). Each panel to the left
 * is passed twice, in two columns of blocks. V^H times the panel must be complete before V times this product is subtracted.
 * Until then, the top contains the product. */
#include <string.h>

#include "base/error.h"
#include "linalg/linalg_functions.h"
#include "linalg/linalg_panel.h"

typedef struct scratch {
    void *v, *v_h;  /* v: a block of reflectors as a full matrix, rows x step; v_h: its adjoint */
    void *x, *y;    /* products of reflectors or T with columns, step x step */
    void *one, *of; /* one: a reflector; of: its products with the columns */
} scratch;

#define CB_LINALG_FILE "linalg/linalg_panel_qr.inc.h"
#include "linalg/linalg_both.h"

static void make(const cubed_block_call *call, bool factors, cb_room *room, cb_panel *s, scratch *w)
{
    cubed_dtype type = call->in[0].dtype;
    size_t item = cb_panel_item(call), up, down, square;
    up = cb_gemm_scratch(type, s->step, s->width, s->rows);
    down = cb_gemm_scratch(type, s->rows, s->width, s->step);
    square = cb_gemm_scratch(type, s->step, s->step, s->step);
    size_t bytes = up > down ? up : down;
    s->products.scratch = cb_room_take(room, 1, bytes > square ? bytes : square);
    w->v = cb_room_take(room, s->rows * s->step, item);
    w->v_h = cb_room_take(room, s->rows * s->step, item);
    w->x = cb_room_take(room, s->step * s->step, item);
    w->y = cb_room_take(room, factors ? s->step * s->step : 0, item);
    w->one = cb_room_take(room, factors ? s->n : 0, item);
    w->of = cb_room_take(room, factors ? s->width : 0, item);
}

static cubed_block_need need(const cubed_block_call *call, void *ctx, bool factors)
{
    cb_room room = {NULL, 0};
    cb_panel s = cb_panel_of(call, ctx);
    scratch w;
    make(call, factors, &room, &s, &w);
    return (cubed_block_need){room.used, 0};
}

static cubed_block_need need_panel(const cubed_block_call *call, void *ctx)
{
    return need(call, ctx, true);
}

static cubed_block_need need_apply(const cubed_block_call *call, void *ctx)
{
    return need(call, ctx, false);
}

static cubed_status run_panel(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    const cb_panel_params *p = call->params;
    cb_room room = {call->scratch, 0};
    cb_panel s = cb_panel_of(call, ctx);
    scratch w;
    (void)err;
    make(call, true, &room, &s, &w);
    bool complex = cb_is_complex(call->in[0].dtype);
    int64_t panel = (s.column - 1) / 2;
    if (s.column == 0)
        cb_panel_load(&s, cb_panel_item(call));
    else if (complex)
        apply_block_z(&s, &w, panel, true);
    else
        apply_block_d(&s, &w, panel, true);
    if (call->last && complex) factor_z(&s, &w, p->panels);
    if (call->last && !complex) factor_d(&s, &w, p->panels);
    return CUBED_OK;
}

/* In Q, the product, the first reflectors are leftmost. So they are applied last. */
static cubed_status run_apply(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    const cb_panel_params *p = call->params;
    cb_room room = {call->scratch, 0};
    cb_panel s = cb_panel_of(call, ctx);
    scratch w;
    (void)err;
    make(call, false, &room, &s, &w);
    int64_t number = (s.column - 1) / 2, panel = p->option ? number : p->panels - 1 - number;
    if (s.column == 0)
        cb_panel_load(&s, cb_panel_item(call));
    else if (cb_is_complex(call->in[0].dtype))
        apply_block_z(&s, &w, panel, p->option);
    else
        apply_block_d(&s, &w, panel, p->option);
    return CUBED_OK;
}

const cubed_block_fn cb_block_qr_panel = {
    .name = "qr_panel", .check = cb_panel_check, .need = need_panel, .run = run_panel};
const cubed_block_fn cb_block_qr_apply = {
    .name = "qr_apply", .check = cb_panel_check, .need = need_apply, .run = run_apply};
