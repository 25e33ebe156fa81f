/* Numbers that are close or none; differences of neighbours and what is made of them; ranges and weighted means; values
 * between points. */
#include <math.h>

#include "lang/expr_builder.h"

/* A number, a list or an array by keyword, or positional; NULL if it is not there. */
static cubed_status get_optional(expr_builder *b, const expr *call, const expr *positional,
                                 const char *name, const cubed_array *like, cubed_array **out)
{
    const expr *e = expr_keyword(call, name);
    *out = NULL;
    if (e && positional) return expr_reject(b, e, "the argument comes twice");
    if (!e) e = positional;
    return e && e->kind != EXPR_NONE ? expr_get_elements(b, e, like, out) : CUBED_OK;
}

static cubed_status get_double(expr_builder *b, const expr *call, const char *name, double *out)
{
    const expr *e = expr_keyword(call, name);
    expr_value v;
    if (!e) return CUBED_OK;
    EXPR_TRY(expr_get_number(b, e, &v));
    *out = v.re;
    return CUBED_OK;
}

/* Of a number; NaN of an array. */
static double magnitude_of(const expr_value *v)
{
    if (v->array) return (double)NAN;
    return v->kind == EXPR_COMPLEX ? hypot(v->re, v->im)
                                   : fabs(v->kind == EXPR_FLOAT ? v->re : (double)v->i);
}

static cubed_status call_close(expr_builder *b, const expr *e, int all, cubed_array **out)
{
    static const char *const names[] = {"rtol", "atol", "equal_nan", NULL};
    cubed_close_options o = CUBED_CLOSE_OPTIONS_INIT;
    expr_value v[2] = {{.array = NULL}, {.array = NULL}};
    int n;
    EXPR_TRY(expr_check_args(b, e, 2, 2, names, &n));
    EXPR_TRY(get_double(b, e, "rtol", &o.rtol));
    EXPR_TRY(get_double(b, e, "atol", &o.atol));
    EXPR_TRY(expr_get_bool(b, e, "equal_nan", &o.equal_nan));
    cubed_status st = expr_build_value(b, e->child[0], &v[0]);
    if (st == CUBED_OK) st = expr_build_value(b, e->child[1], &v[1]);
    if (st == CUBED_OK && !v[0].array && !v[1].array)
        st = expr_reject(b, e, "expected an array at least");
    const double magnitude = magnitude_of(&v[1]);
    if (!v[1].array) o.magnitude = &magnitude;
    for (int i = 0; i < 2 && st == CUBED_OK; i++)
        st = expr_wide_operand(b, e->child[i], &v[i], v[!i].array);
    if (st == CUBED_OK)
        st = expr_located(
            b, e, (all ? cubed_allclose : cubed_isclose)(v[0].array, v[1].array, &o, out, b->err));
    cubed_array_unref(v[0].array);
    cubed_array_unref(v[1].array);
    return st;
}

static cubed_status call_nan_to_num(expr_builder *b, const expr *e, cubed_array **out)
{
    static const char *const names[] = {"value", "posinf", "neginf", NULL};
    cubed_array *x, *part = NULL, *values[3] = {NULL, NULL, NULL};
    int n;
    EXPR_TRY(expr_check_args(b, e, 1, 2, names, &n));
    EXPR_TRY(expr_get_array(b, e->child[0], &x));
    /* Numbers are for parts of complex numbers. */
    const bool is_complex = cubed_dtype_kind(cubed_array_dtype(x)) == CUBED_KIND_COMPLEX;
    cubed_status st = CUBED_OK;
    if (is_complex) st = cubed_elementwise(CUBED_OP_REAL, &x, 1, &part, b->err);
    for (int i = 0; i < 3 && st == CUBED_OK; i++)
        st = get_optional(b, e, i == 0 && n > 1 ? e->child[1] : NULL, names[i],
                          is_complex ? part : x, &values[i]);
    if (st == CUBED_OK)
        st = expr_located(b, e, cubed_nan_to_num(x, values[0], values[1], values[2], out, b->err));
    for (int i = 0; i < 3; i++) cubed_array_unref(values[i]);
    cubed_array_unref(part);
    cubed_array_unref(x);
    return st;
}

/* --- Ranges and means --------------------------------------------------------------------------------------- */

static cubed_status call_ptp(expr_builder *b, const expr *e, cubed_array **out)
{
    static const char *const names[] = {"axis", "dim", "keepdims", NULL};
    cubed_reduce_options o = CUBED_REDUCE_OPTIONS_INIT;
    int n, axes[CUBED_MAX_NDIM];
    cubed_array *x;
    EXPR_TRY(expr_check_args(b, e, 1, 2, names, &n));
    EXPR_TRY(expr_get_array(b, e->child[0], &x));
    cubed_status st = expr_get_reduced(b, e, n > 1 ? e->child[1] : NULL, x, axes, &o);
    if (st == CUBED_OK) st = expr_located(b, e, cubed_ptp(x, &o, out, b->err));
    cubed_array_unref(x);
    return st;
}

static cubed_status call_average(expr_builder *b, const expr *e, cubed_array **out)
{
    static const char *const names[] = {"weights", "axis", "dim", "keepdims", NULL};
    cubed_reduce_options o = CUBED_REDUCE_OPTIONS_INIT;
    int n, axes[CUBED_MAX_NDIM];
    cubed_array *x, *weights = NULL;
    EXPR_TRY(expr_check_args(b, e, 1, 2, names, &n));
    EXPR_TRY(expr_get_array(b, e->child[0], &x));
    cubed_status st = expr_get_reduced(b, e, n > 1 ? e->child[1] : NULL, x, axes, &o);
    if (st == CUBED_OK) st = get_optional(b, e, NULL, "weights", NULL, &weights);
    if (st == CUBED_OK) st = expr_located(b, e, cubed_average(x, weights, &o, out, NULL, b->err));
    cubed_array_unref(weights);
    cubed_array_unref(x);
    return st;
}

/* --- Differences -------------------------------------------------------------------------------------------- */

static void note_axis(expr_builder *b, const expr *e, const cubed_array *x, int axis)
{
    expr_note_cut(b, e, x, axis < 0 ? axis + cubed_array_ndim(x) : axis);
}

static cubed_status call_ediff1d(expr_builder *b, const expr *e, cubed_array **out)
{
    static const char *const names[] = {"to_begin", "to_end", NULL};
    cubed_array *x, *ends[2] = {NULL, NULL};
    int n;
    EXPR_TRY(expr_check_args(b, e, 1, 1, names, &n));
    EXPR_TRY(expr_get_array(b, e->child[0], &x));
    cubed_status st = CUBED_OK;
    for (int i = 0; i < 2 && st == CUBED_OK; i++)
        st = get_optional(b, e, NULL, names[i], x, &ends[i]);
    if (st == CUBED_OK) st = expr_located(b, e, cubed_ediff1d(x, ends[0], ends[1], out, b->err));
    if (st == CUBED_OK && cubed_array_ndim(x) == 1) note_axis(b, e, x, 0);
    cubed_array_unref(ends[0]);
    cubed_array_unref(ends[1]);
    cubed_array_unref(x);
    return st;
}

static cubed_status call_trapezoid(expr_builder *b, const expr *e, cubed_array **out)
{
    static const char *const names[] = {"x", "dx", "axis", "dim", NULL};
    cubed_array *y, *x = NULL, *dx = NULL;
    int n, axis = -1;
    EXPR_TRY(expr_check_args(b, e, 1, 2, names, &n));
    EXPR_TRY(expr_get_array(b, e->child[0], &y));
    cubed_status st = get_optional(b, e, n > 1 ? e->child[1] : NULL, "x", NULL, &x);
    if (st == CUBED_OK) st = get_optional(b, e, NULL, "dx", y, &dx);
    if (st == CUBED_OK && x && dx) st = expr_reject(b, e, "x and dx= together");
    if (st == CUBED_OK) st = expr_get_axis(b, e, NULL, y, -1, &axis);
    if (st == CUBED_OK) st = expr_located(b, e, cubed_trapezoid(y, x, dx, axis, out, b->err));
    cubed_array_unref(x);
    cubed_array_unref(dx);
    cubed_array_unref(y);
    return st;
}

static cubed_status call_gradient(expr_builder *b, const expr *e, cubed_array **out)
{
    static const char *const names[] = {"axis", "dim", "edge_order", NULL};
    cubed_array *f, *wide = NULL, *spacing = NULL;
    int n, naxes, axes[CUBED_MAX_NDIM] = {0};
    int64_t order = 1;
    EXPR_TRY(expr_check_args(b, e, 1, 2, names, &n));
    const expr *edges = expr_keyword(e, "edge_order");
    if (edges) EXPR_TRY(expr_get_int(b, edges, &order));
    if (order != 1 && order != 2) return expr_reject(b, edges, "expected 1 or 2");
    EXPR_TRY(expr_get_array(b, e->child[0], &f));
    cubed_status st = expr_get_axes(b, e, NULL, f, &naxes, axes);
    if (st == CUBED_OK && naxes != 1 && (naxes >= 0 || cubed_array_ndim(f) != 1))
        st = expr_reject(b, e, "expected one axis, by axis= or dim=");
    /* Integers become float64: the distance is no integer beside them. */
    const bool is_whole = cubed_dtype_kind(cubed_array_dtype(f)) < CUBED_KIND_FLOAT;
    if (st == CUBED_OK && is_whole)
        st = expr_located(b, e, cubed_astype(f, CUBED_FLOAT64, &wide, b->err));
    if (st == CUBED_OK && n > 1 && e->child[1]->kind == EXPR_TUPLE)
        st = expr_get_elements(b, e->child[1], NULL, &spacing); /* coordinates */
    else if (st == CUBED_OK && n > 1)
        st = expr_get_elements(b, e->child[1], is_whole ? wide : f, &spacing);
    if (st == CUBED_OK)
        st = expr_located(b, e, cubed_gradient(f, spacing, axes[0], (int)order, out, b->err));
    cubed_array_unref(spacing);
    cubed_array_unref(wide);
    cubed_array_unref(f);
    return st;
}

static cubed_status call_unwrap(expr_builder *b, const expr *e, cubed_array **out)
{
    static const char *const names[] = {"period", "discont", "axis", "dim", NULL};
    const double full_turn = 6.283185307179586;
    cubed_array *p, *like = NULL, *period = NULL, *discont = NULL;
    int n, axis = -1;
    EXPR_TRY(expr_check_args(b, e, 1, 1, names, &n));
    EXPR_TRY(expr_get_array(b, e->child[0], &p));
    const cubed_kind kind = cubed_dtype_kind(cubed_array_dtype(p));
    const bool is_whole = kind == CUBED_KIND_INT || kind == CUBED_KIND_UINT;
    /* The type that steps are computed in. */
    cubed_status st = expr_located(b, e,
                                   cubed_astype(p,
                                                kind == CUBED_KIND_FLOAT ? cubed_array_dtype(p)
                                                : is_whole               ? CUBED_INT64
                                                                         : CUBED_FLOAT64,
                                                &like, b->err));
    if (st == CUBED_OK) st = get_optional(b, e, NULL, "period", like, &period);
    if (st == CUBED_OK && !period) {
        expr_value turn = expr_literal(EXPR_FLOAT, 0, full_turn, 0);
        st = expr_operand(b, e, &turn, like);
        period = turn.array;
    }
    if (st == CUBED_OK) st = get_optional(b, e, NULL, "discont", like, &discont);
    if (st == CUBED_OK) st = expr_get_axis(b, e, NULL, p, -1, &axis);
    if (st == CUBED_OK)
        st = expr_located(b, e, cubed_unwrap(p, period, discont, axis, out, b->err));
    cubed_array_unref(like);
    cubed_array_unref(period);
    cubed_array_unref(discont);
    cubed_array_unref(p);
    return st;
}

static cubed_status call_interp(expr_builder *b, const expr *e, cubed_array **out)
{
    static const char *const names[] = {"left", "right", "period", NULL};
    cubed_interp_options o = CUBED_INTERP_OPTIONS_INIT;
    cubed_array *in[3] = {NULL, NULL, NULL};
    double period = 0;
    int n;
    EXPR_TRY(expr_check_args(b, e, 3, 3, names, &n));
    EXPR_TRY(get_double(b, e, "period", &period));
    if (expr_keyword(e, "period")) o.period = &period;
    cubed_status st = CUBED_OK;
    for (int i = 0; i < 3 && st == CUBED_OK; i++)
        st = expr_get_elements(b, e->child[i], NULL, &in[i]);
    if (st == CUBED_OK) st = get_optional(b, e, NULL, "left", NULL, &o.left);
    if (st == CUBED_OK) st = get_optional(b, e, NULL, "right", NULL, &o.right);
    if (st == CUBED_OK) st = expr_located(b, e, cubed_interp(in[0], in[1], in[2], &o, out, b->err));
    for (int i = 0; i < 3; i++) cubed_array_unref(in[i]);
    cubed_array_unref(o.left);
    cubed_array_unref(o.right);
    return st;
}

const expr_function expr_composed_functions[] = {
    {"isclose", NULL, call_close, false},
    {"allclose", NULL, call_close, true},
    {.name = "nan_to_num", .fn = call_nan_to_num},
    {.name = "ptp", .fn = call_ptp},
    {.name = "average", .fn = call_average},
    {.name = "ediff1d", .fn = call_ediff1d},
    {.name = "trapezoid", .fn = call_trapezoid},
    {.name = "gradient", .fn = call_gradient},
    {.name = "unwrap", .fn = call_unwrap},
    {.name = "interp", .fn = call_interp},
    {.name = NULL},
};
