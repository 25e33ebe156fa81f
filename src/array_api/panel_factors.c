/* Factors of matrices that do not fit in a task, and functions of these factors. Panels are factored one after another. Each
 * panel is one call, which reads all panels to its left. */
#include <string.h>

#include "array_api/api_pkg.h"
#include "array_api/matrix_steps.h"
#include "array_api/panels.h"
#include "base/error.h"

/* --- Common steps ----------------------------------------------------------------------------------------- */

typedef struct factors {
    cb_steps s;
    cb_panels p;
    cb_zone *zone; /* owns the memory of the lists */
    cubed_array *x;
    int64_t columns, count; /* columns: number of columns of x; count: number of panels */
    cubed_array **made;
} factors;

static cubed_array **list(factors *f, int64_t n)
{
    cubed_array **made = cb_zone_alloc(f->zone, (size_t)n * sizeof(cubed_array *));
    if (!made && f->s.st == CUBED_OK)
        f->s.st = cb_fail(f->s.err, CUBED_E_NOMEM, "no memory for an operation");
    return made;
}

static cubed_array *rechunked(cb_steps *s, cubed_array *x, const int64_t *chunks)
{
    cubed_array *y = NULL;
    if (s->st != CUBED_OK) return NULL;
    return cb_step(s, cubed_rechunk(x, chunks, &y, s->err), &y);
}

static cubed_status start(factors *f, const char *function, cubed_array *x, uint64_t task_mem,
                          cubed_error *err)
{
    int ndim = x->node.grid->ndim;
    bool complex = cubed_dtype_kind(x->node.dtype) == CUBED_KIND_COMPLEX;
    *f = (factors){.s = {.ctx = x->ctx, .err = err}, .x = x, .columns = x->shape[ndim - 1]};
    f->p = (cb_panels){.s = &f->s,
                       .dtype = complex ? CUBED_COMPLEX128 : CUBED_FLOAT64,
                       .batch = ndim - 2,
                       .n = x->shape[ndim - 2]};
    memcpy(f->p.shape, x->shape, sizeof f->p.shape);
    CB_TRY(cb_panels_choose(&f->p, function, task_mem, err));
    CB_TRY(cb_zone_new(&x->ctx->alloc, &f->zone, err));
    f->count = cb_panels_count(&f->p, f->columns);
    f->made = list(f, f->count);
    return CUBED_OK;
}

static cubed_status end_all(factors *f, cubed_array *const *made, cubed_array **const *outs, int n)
{
    cubed_status st = cb_steps_end_all(&f->s, made, outs, n);
    cb_zone_free(f->zone);
    return st;
}

static cubed_status end(factors *f, cubed_array *made, cubed_array **out)
{
    return end_all(f, &made, &out, 1);
}

/* Casts y to x's type, with chunks no larger than `chunks`. */
static cubed_array *result(factors *f, cubed_array *y, const int64_t *chunks)
{
    int64_t most[CUBED_MAX_NDIM];
    y = cb_step_cast(&f->s, y, f->x->node.dtype);
    for (int d = 0; y && d < y->node.grid->ndim; d++)
        most[d] = cb_max_i64(1, cb_min_i64(y->shape[d], chunks[d]));
    return rechunked(&f->s, y, most);
}

/* Returns the columns of panel k, from row `row` on. */
static cubed_array *columns_of(const factors *f, cubed_array *x, int64_t k, int64_t row)
{
    if (f->s.st != CUBED_OK) return NULL;
    int64_t columns = x->shape[f->p.batch + 1], width = cb_panels_width(&f->p, k, columns);
    return cb_panels_part(f->p.s, x, row, f->p.n - row, k * f->p.step, width);
}

/* --- Cholesky --------------------------------------------------------------------------------------------- */

cubed_status cb_api_panel_cholesky(cubed_array *x, bool upper, uint64_t task_mem, cubed_array **out,
                                   cubed_error *err)
{
    factors f;
    CB_TRY(start(&f, "cholesky_panel", x, task_mem, err));
    cubed_array *from[2];
    cubed_array *a = cb_panels_stored(&f.p, upper ? cb_step_adjoint(&f.s, x) : x);
    for (int64_t k = 0; k < f.count && f.s.st == CUBED_OK; k++) {
        int64_t width = cb_panels_width(&f.p, k, f.columns);
        from[0] = cb_panels_own(&f.p, columns_of(&f, a, k, k * f.p.step));
        if (k > 0) {
            /* Use one view of all panels instead of one view per panel, so that the number of arrays grows with the number of
             * panels and not with its square. */
            cubed_array *left = cb_panels_concat(&f.s, f.made, (int)k, true);
            from[1] = cb_panels_below(&f.p, left, k, width);
        }
        f.made[k] = cb_panels_call(&f.p, "cholesky_panel", from, k > 0 ? 2 : 1, k, false, width);
    }
    cubed_array *l = cb_panels_join(&f.p, f.made, (int)f.count, f.p.n);
    return end(&f, result(&f, upper ? cb_step_adjoint(&f.s, l) : l, x->chunks), out);
}

/* --- LU --------------------------------------------------------------------------------------------------- */

static void make_lu(factors *f, bool strict)
{
    cubed_array **from = list(f, f->count + 1), *a = cb_panels_stored(&f->p, f->x);
    for (int64_t k = 0; k < f->count && f->s.st == CUBED_OK; k++) {
        from[0] = cb_panels_own(&f->p, columns_of(f, a, k, 0));
        f->made[k] = cb_panels_call(&f->p, "lu_panel", from, (int)k + 1, k, strict,
                                    cb_panels_width(&f->p, k, f->columns));
        from[k + 1] = cb_panels_lower(&f->p, f->made[k], k);
    }
}

static cubed_array *reduced(cb_steps *s, cubed_reduction reduction, cubed_array *x)
{
    cubed_reduce_options options = CUBED_REDUCE_OPTIONS_INIT;
    cubed_array *y = NULL;
    if (s->st != CUBED_OK) return NULL;
    options.axes = (const int[]){-1};
    options.naxes = 1;
    return cb_step(s, cubed_reduce(reduction, x, &options, &y, s->err), &y);
}

/* Returns a vector per matrix: row `row` of each panel's result, concatenated over all panels. */
static cubed_array *gathered(factors *f, int64_t row)
{
    cubed_array **parts = list(f, f->count), *y = NULL;
    for (int64_t k = 0; k < f->count && f->s.st == CUBED_OK; k++)
        parts[k] =
            cb_panels_part(&f->s, f->made[k], row, 1, 0, cb_panels_width(&f->p, k, f->columns));
    cubed_array *all = cb_panels_concat(&f->s, parts, (int)f->count, true);
    if (f->s.st != CUBED_OK) return NULL;
    return cb_step(&f->s, cubed_squeeze(all, (const int[]){-2}, 1, &y, f->s.err), &y);
}

cubed_status cb_api_panel_slogdet(cubed_array *x, uint64_t task_mem, cubed_array **sign,
                                  cubed_array **logabsdet, cubed_array **det, cubed_error *err)
{
    factors f;
    CB_TRY(start(&f, "lu_panel", x, task_mem, err));
    cb_steps *s = &f.s;
    make_lu(&f, false);
    cubed_array *u = gathered(&f, 1), *swaps = gathered(&f, 0), *made[3] = {NULL, NULL, NULL};
    cubed_array *zero = cb_step_cast(s, cb_step_float(s, 0), f.p.dtype);
    cubed_array *one = cb_step_cast(s, cb_step_float(s, 1), f.p.dtype);
    cubed_array *minus = cb_step_cast(s, cb_step_float(s, -1), f.p.dtype);
    cubed_array *same = cb_step_op(s, CUBED_OP_EQUAL, swaps, zero, NULL);
    cubed_array *signs =
        cb_step_op(s, CUBED_OP_MULTIPLY, cb_step_op(s, CUBED_OP_SIGN, u, NULL, NULL),
                   cb_step_op(s, CUBED_OP_WHERE, same, one, minus), NULL);
    signs = reduced(s, CUBED_REDUCE_PROD, signs);
    cubed_array *sizes = cb_step_op(s, CUBED_OP_ABS, u, NULL, NULL);
    cubed_array *logs =
        reduced(s, CUBED_REDUCE_SUM, cb_step_op(s, CUBED_OP_LOG, sizes, NULL, NULL));
    if (sign) made[0] = cb_step_cast(s, signs, x->node.dtype);
    if (logabsdet)
        made[1] = cb_step_cast(s, logs,
                               cubed_dtype_size(x->node.dtype) < cubed_dtype_size(f.p.dtype)
                                   ? CUBED_FLOAT32
                                   : CUBED_FLOAT64);
    if (det) {
        cubed_array *size =
            cb_step_cast(s, cb_step_op(s, CUBED_OP_EXP, logs, NULL, NULL), f.p.dtype);
        made[2] =
            cb_step_cast(s, cb_step_op(s, CUBED_OP_MULTIPLY, signs, size, NULL), x->node.dtype);
    }
    return end_all(&f, made, (cubed_array * *const[]){sign, logabsdet, det}, 3);
}

/* Broadcasts x to other batch axes. */
static cubed_array *broadcast(cb_steps *s, cubed_array *x, const int64_t *batch)
{
    int64_t shape[CUBED_MAX_NDIM];
    if (s->st != CUBED_OK) return NULL;
    int ndim = x->node.grid->ndim;
    for (int d = 0; d < ndim; d++) shape[d] = d < ndim - 2 ? batch[d] : x->shape[d];
    return cb_step_broadcast(s, x, ndim, shape);
}

cubed_status cb_api_panel_solve(cubed_array *x, cubed_array *b, const int64_t *batch,
                                uint64_t task_mem, cubed_array **out, cubed_error *err)
{
    factors f;
    CB_TRY(start(&f, "lu_panel", x, task_mem, err));
    make_lu(&f, true);
    cb_panels solve = f.p;
    memcpy(solve.shape, batch, (size_t)f.p.batch * sizeof *batch);
    int64_t columns = b->shape[f.p.batch + 1], n = cb_panels_count(&solve, columns), at = 1;
    cubed_array **from = list(&f, 2 * f.count + 1), **made = list(&f, n);
    cubed_array *wide = cb_panels_stored(&f.p, b);
    for (int64_t k = 0; k < f.count && f.s.st == CUBED_OK; k++)
        f.made[k] = broadcast(&f.s, f.made[k], batch);
    for (int64_t k = 0; k < f.count && f.s.st == CUBED_OK; k++)
        from[at++] = cb_panels_lower(&solve, f.made[k], k);
    for (int64_t k = f.count - 1; k >= 0 && f.s.st == CUBED_OK; k--)
        from[at++] = cb_panels_upper(&solve, f.made[k], k);
    wide = broadcast(&f.s, wide, batch);
    for (int64_t k = 0; k < n && f.s.st == CUBED_OK; k++) {
        from[0] = cb_panels_own(&solve, columns_of(&f, wide, k, 0));
        made[k] = cb_panels_call(&solve, "lu_solve", from, (int)at, f.count, false,
                                 cb_panels_width(&solve, k, columns));
    }
    return end(&f, result(&f, cb_panels_join(&solve, made, (int)n, f.p.n), b->chunks), out);
}

/* --- QR --------------------------------------------------------------------------------------------------- */

static cubed_array *identity(const factors *f, cb_steps *s, int64_t n, int64_t columns)
{
    const int64_t chunks[2] = {cb_min_i64(n, f->p.rows), cb_min_i64(columns, f->p.step)};
    int64_t shape[CUBED_MAX_NDIM];
    cubed_array *eye = NULL;
    if (s->st != CUBED_OK) return NULL;
    memcpy(shape, f->p.shape, (size_t)f->p.batch * sizeof *shape);
    shape[f->p.batch] = n;
    shape[f->p.batch + 1] = columns;
    eye =
        cb_step(s, cubed_array_eye(s->ctx, n, columns, 0, f->p.dtype, chunks, &eye, s->err), &eye);
    return cb_step_broadcast(s, eye, f->p.batch + 2, shape);
}

cubed_status cb_api_panel_inv(cubed_array *x, uint64_t task_mem, cubed_array **out,
                              cubed_error *err)
{
    int ndim = x->node.grid->ndim;
    int64_t n = x->shape[ndim - 1];
    cubed_array *eye = NULL, *b = NULL;
    CB_TRY(cubed_array_eye(x->ctx, n, n, 0, x->node.dtype, x->chunks + ndim - 2, &eye, err));
    cubed_status st = cubed_broadcast_to(eye, ndim, x->shape, &b, err);
    if (st == CUBED_OK) st = cb_api_panel_solve(x, b, x->shape, task_mem, out, err);
    cubed_array_unref(eye);
    cubed_array_unref(b);
    return st;
}

/* Appends x, a panel of reflectors, to the inputs `from` twice. Returns the new number of inputs. */
static int64_t put_twice(cubed_array **from, int64_t at, cubed_array *x)
{
    from[at] = from[at + 1] = x;
    return at + 2;
}

/* Creates the panels with reflectors. For a wide matrix, then applies all reflectors to the panels to the right, which become
 * columns of R. */
static void make_qr(factors *f, cubed_array **reflectors, int64_t count)
{
    cubed_array **from = list(f, 2 * count + 1), *a = cb_panels_stored(&f->p, f->x);
    int64_t at = 1;
    for (int64_t k = 0; k < f->count && f->s.st == CUBED_OK; k++) {
        int64_t width = cb_panels_width(&f->p, k, f->columns);
        from[0] = cb_panels_own(&f->p, columns_of(f, a, k, 0));
        f->made[k] = cb_panels_call(&f->p, k < count ? "qr_panel" : "qr_apply", from, (int)at,
                                    cb_min_i64(k, count), k >= count, width);
        if (k >= count) continue;
        reflectors[k] = cb_panels_lower(&f->p, f->made[k], k);
        at = put_twice(from, at, reflectors[k]);
    }
}

static cubed_array *make_q(factors *f, cubed_array *const *reflectors, int64_t count,
                           int64_t columns)
{
    int64_t n = cb_panels_count(&f->p, columns);
    cubed_array **from = list(f, 2 * count + 1), **made = list(f, n);
    cubed_array *eye = identity(f, &f->s, f->p.n, columns);
    for (int64_t k = 0; k < n && f->s.st == CUBED_OK; k++) {
        /* Reflectors after panel k do not affect these columns of the identity. */
        int64_t some = cb_min_i64(k + 1, count), at = 1;
        from[0] = cb_panels_own(&f->p, columns_of(f, eye, k, 0));
        for (int64_t j = some - 1; j >= 0; j--) at = put_twice(from, at, reflectors[j]);
        made[k] = cb_panels_call(&f->p, "qr_apply", from, (int)at, some, false,
                                 cb_panels_width(&f->p, k, columns));
    }
    return cb_panels_join(&f->p, made, (int)n, f->p.n);
}

cubed_status cb_api_panel_qr(cubed_array *x, bool complete, uint64_t task_mem, cubed_array **q,
                             cubed_array **r, cubed_error *err)
{
    factors f;
    CB_TRY(start(&f, "qr_panel", x, task_mem, err));
    int64_t least = cb_min_i64(f.p.n, f.columns), count = cb_panels_count(&f.p, least);
    int64_t height = complete ? f.p.n : least;
    cubed_array **reflectors = list(&f, count), *triangle = NULL, *made[2] = {NULL, NULL};
    make_qr(&f, reflectors, count);
    if (r) {
        cubed_array *all = cb_panels_join(&f.p, f.made, (int)f.count, height);
        if (f.s.st == CUBED_OK)
            triangle = cb_step(&f.s, cubed_triu(all, 0, &triangle, err), &triangle);
        made[1] = result(&f, triangle, x->chunks);
    }
    if (q) made[0] = result(&f, make_q(&f, reflectors, count, height), x->chunks);
    return end_all(&f, made, (cubed_array * *const[]){q, r}, 2);
}
