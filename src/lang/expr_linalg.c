/* Linear algebra of whole matrices. */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "lang/expr_builder.h"
#include "lang/lang_memory.h"

/* --- Of one array, without more arguments -------------------------------------------------------------- */

enum { DET, INV, SVDVALS, EIGVALS, EIGVALSH, TRANSPOSE };

static cubed_status call_plain(expr_builder *b, const expr *e, int which, cubed_array **out)
{
    const uint64_t mem = b->host->task_mem;
    int n;
    cubed_array *x;
    cubed_status st = CUBED_OK;
    EXPR_TRY(expr_check_args(b, e, 1, 1, NULL, &n));
    EXPR_TRY(which == TRANSPOSE ? expr_get_moved(b, e, e->child[0], &x)
                                : expr_get_array(b, e->child[0], &x));
    switch (which) {
    case DET: st = cubed_det(x, mem, out, b->err); break;
    case INV: st = cubed_inv(x, mem, out, b->err); break;
    case SVDVALS: st = cubed_svdvals(x, mem, out, b->err); break;
    case EIGVALS: st = cubed_eigvals(x, out, b->err); break;
    case EIGVALSH: st = cubed_eigvalsh(x, mem, out, b->err); break;
    default: st = cubed_matrix_transpose(x, out, b->err);
    }
    cubed_array_unref(x);
    return expr_located(b, e, st);
}

/* --- Of two ------------------------------------------------------------------------------------------- */

static cubed_status outer(cubed_array *x1, cubed_array *x2, int axis, cubed_array **out,
                          cubed_error *err)
{
    (void)axis;
    return cubed_outer(x1, x2, out, err);
}

typedef cubed_status (*pair_fn)(cubed_array *x1, cubed_array *x2, int axis, cubed_array **out,
                                cubed_error *err);

static cubed_status call_pair(expr_builder *b, const expr *e, pair_fn fn, const char *const *names,
                              cubed_array **out)
{
    int n;
    int64_t axis = -1;
    cubed_array *x[2];
    EXPR_TRY(expr_check_args(b, e, 2, 2, names, &n));
    const expr *where = expr_keyword(e, "axis");
    if (where) EXPR_TRY(expr_get_int(b, where, &axis));
    if (axis < -CUBED_MAX_NDIM || axis > CUBED_MAX_NDIM)
        return expr_reject(b, where, "an axis is out of range");
    EXPR_TRY(expr_get_two(b, e, x));
    cubed_status st = expr_located(b, e, fn(x[0], x[1], (int)axis, out, b->err));
    cubed_array_unref(x[0]);
    cubed_array_unref(x[1]);
    return st;
}

static cubed_status call_cross(expr_builder *b, const expr *e, cubed_array **out)
{
    return call_pair(b, e, cubed_cross, (const char *const[]){"axis", NULL}, out);
}

static cubed_status call_outer(expr_builder *b, const expr *e, cubed_array **out)
{
    return call_pair(b, e, outer, NULL, out);
}

enum { SOLVE, SOLVE_TRIANGULAR, TENSORSOLVE };

static cubed_status call_solve(expr_builder *b, const expr *e, int which, cubed_array **out)
{
    static const char *const names[][3] = {
        {NULL}, {"lower", "unit_diagonal", NULL}, {"axes", NULL}};
    const uint64_t mem = b->host->task_mem;
    int n, naxes = 0, axes[CUBED_MAX_NDIM];
    bool lower = false, unit = false;
    int64_t list[CUBED_MAX_NDIM];
    cubed_array *x[2];
    EXPR_TRY(expr_check_args(b, e, 2, 2, names[which], &n));
    EXPR_TRY(expr_get_bool(b, e, "lower", &lower));
    EXPR_TRY(expr_get_bool(b, e, "unit_diagonal", &unit));
    const expr *where = expr_keyword(e, "axes");
    if (where && where->kind != EXPR_NONE) EXPR_TRY(expr_get_ints(b, where, &naxes, list));
    for (int i = 0; i < naxes; i++) {
        if (list[i] < -CUBED_MAX_NDIM || list[i] >= CUBED_MAX_NDIM)
            return expr_reject(b, where, "an axis is out of range");
        axes[i] = (int)list[i];
    }
    EXPR_TRY(expr_get_two(b, e, x));
    cubed_status st = CUBED_OK;
    switch (which) {
    case SOLVE: st = cubed_solve(x[0], x[1], mem, out, b->err); break;
    case SOLVE_TRIANGULAR:
        st = cubed_solve_triangular(x[0], x[1], lower, unit, mem, out, b->err);
        break;
    default: st = cubed_tensorsolve(x[0], x[1], axes, naxes, mem, out, b->err);
    }
    cubed_array_unref(x[0]);
    cubed_array_unref(x[1]);
    return expr_located(b, e, st);
}

/* --- With arguments of their own ------------------------------------------------------------------------ */

static cubed_status call_cholesky(expr_builder *b, const expr *e, cubed_array **out)
{
    int n;
    bool upper = false;
    cubed_array *x;
    EXPR_TRY(expr_check_args(b, e, 1, 1, (const char *const[]){"upper", NULL}, &n));
    EXPR_TRY(expr_get_bool(b, e, "upper", &upper));
    EXPR_TRY(expr_get_array(b, e->child[0], &x));
    cubed_status st = expr_located(b, e, cubed_cholesky(x, upper, b->host->task_mem, out, b->err));
    cubed_array_unref(x);
    return st;
}

static cubed_status call_with_rtol(expr_builder *b, const expr *e, int inverts, cubed_array **out)
{
    int n;
    expr_value v = {.array = NULL};
    cubed_array *x;
    EXPR_TRY(expr_check_args(b, e, 1, 1, (const char *const[]){"rtol", NULL}, &n));
    const expr *rtol = expr_keyword(e, "rtol");
    if (rtol && rtol->kind == EXPR_NONE) rtol = NULL;
    EXPR_TRY(expr_get_array(b, e->child[0], &x));
    cubed_status st = CUBED_OK;
    if (rtol) st = expr_build_value(b, rtol, &v);
    if (st == CUBED_OK && rtol) st = expr_operand(b, rtol, &v, NULL);
    if (st == CUBED_OK)
        st = expr_located(
            b, e,
            (inverts ? cubed_pinv : cubed_matrix_rank)(x, v.array, b->host->task_mem, out, b->err));
    cubed_array_unref(v.array);
    cubed_array_unref(x);
    return st;
}

static cubed_status call_matrix_power(expr_builder *b, const expr *e, cubed_array **out)
{
    int n;
    int64_t power;
    cubed_array *x;
    EXPR_TRY(expr_check_args(b, e, 2, 2, NULL, &n));
    EXPR_TRY(expr_get_int(b, e->child[1], &power));
    EXPR_TRY(expr_get_array(b, e->child[0], &x));
    cubed_status st =
        expr_located(b, e, cubed_matrix_power(x, power, b->host->task_mem, out, b->err));
    cubed_array_unref(x);
    return st;
}

static cubed_status get_offset(expr_builder *b, const expr *e, int n, int64_t *out)
{
    const expr *offset = n > 1 ? e->child[1] : expr_keyword(e, "offset");
    *out = 0;
    return offset ? expr_get_int(b, offset, out) : CUBED_OK;
}

static cubed_status call_tensorinv(expr_builder *b, const expr *e, cubed_array **out)
{
    int n;
    int64_t ind = 2;
    cubed_array *x;
    EXPR_TRY(expr_check_args(b, e, 1, 2, (const char *const[]){"ind", NULL}, &n));
    const expr *given = n > 1 ? e->child[1] : expr_keyword(e, "ind");
    if (given) EXPR_TRY(expr_get_int(b, given, &ind));
    if (ind < 1 || ind > INT_MAX) return expr_reject(b, given, "expected a number of axes");
    EXPR_TRY(expr_get_array(b, e->child[0], &x));
    cubed_status st =
        expr_located(b, e, cubed_tensorinv(x, (int)ind, b->host->task_mem, out, b->err));
    cubed_array_unref(x);
    return st;
}

/* Matrices, one after another, or in a list as NumPy has them. */
static cubed_status call_multi_dot(expr_builder *b, const expr *e, cubed_array **out)
{
    int n, made = 0;
    EXPR_TRY(expr_check_args(b, e, 1, INT_MAX, NULL, &n));
    const expr *list = n == 1 && e->child[0]->kind == EXPR_TUPLE ? e->child[0] : e;
    if (list != e) n = list->n;
    cubed_array **x = lang_alloc((size_t)(n + 1) * sizeof *x);
    cubed_status st = CUBED_OK;
    for (; made < n && st == CUBED_OK; made += st == CUBED_OK)
        st = expr_get_array(b, list->child[made], &x[made]);
    if (st == CUBED_OK) st = expr_located(b, e, cubed_multi_dot(x, n, out, b->err));
    for (int i = 0; i < made; i++) cubed_array_unref(x[i]);
    lang_free(x);
    return st;
}

static cubed_status call_diagonal(expr_builder *b, const expr *e, cubed_array **out)
{
    int n;
    int64_t offset;
    cubed_array *x;
    EXPR_TRY(expr_check_args(b, e, 1, 2, (const char *const[]){"offset", NULL}, &n));
    EXPR_TRY(get_offset(b, e, n, &offset));
    EXPR_TRY(expr_get_array(b, e->child[0], &x));
    cubed_status st = expr_located(b, e, cubed_diagonal(x, offset, out, b->err));
    cubed_array_unref(x);
    return st;
}

static cubed_status call_trace(expr_builder *b, const expr *e, cubed_array **out)
{
    int n;
    int64_t offset;
    cubed_dtype dtype;
    cubed_array *x;
    EXPR_TRY(expr_check_args(b, e, 1, 2, (const char *const[]){"offset", "dtype", NULL}, &n));
    EXPR_TRY(get_offset(b, e, n, &offset));
    EXPR_TRY(expr_get_dtype(b, e, CUBED_DTYPE_COUNT, &dtype));
    EXPR_TRY(expr_get_array(b, e->child[0], &x));
    cubed_status st = expr_located(
        b, e, cubed_trace(x, offset, dtype == CUBED_DTYPE_COUNT ? NULL : &dtype, out, b->err));
    cubed_array_unref(x);
    return st;
}

/* ord= as a number; `missing` if it is not there. */
static cubed_status get_ord(expr_builder *b, const expr *e, double missing, double *out)
{
    const expr *ord = expr_keyword(e, "ord");
    expr_value v;
    *out = missing;
    if (!ord || ord->kind == EXPR_NONE) return CUBED_OK;
    EXPR_TRY(expr_get_number(b, ord, &v));
    *out = v.re;
    return CUBED_OK;
}

static cubed_status call_vector_norm(expr_builder *b, const expr *e, cubed_array **out)
{
    static const char *const names[] = {"axis", "dim", "keepdims", "ord", NULL};
    int n, naxes, axes[CUBED_MAX_NDIM];
    bool keepdims = false;
    double ord;
    cubed_array *x;
    EXPR_TRY(expr_check_args(b, e, 1, 1, names, &n));
    EXPR_TRY(expr_get_bool(b, e, "keepdims", &keepdims));
    EXPR_TRY(get_ord(b, e, 2, &ord));
    EXPR_TRY(expr_get_array(b, e->child[0], &x));
    cubed_status st = expr_get_axes(b, e, NULL, x, &naxes, axes);
    if (st == CUBED_OK)
        st = expr_located(b, e,
                          cubed_vector_norm(x, ord, naxes < 0 ? NULL : axes, naxes < 0 ? 0 : naxes,
                                            keepdims, out, b->err));
    cubed_array_unref(x);
    return st;
}

/* A name or a number, which is 0 beside a name. */
static cubed_status get_name_or_number(expr_builder *b, const expr *ord, const char **name,
                                       double *number)
{
    expr_value v;
    *name = ord->kind == EXPR_STRING ? ord->text : NULL;
    *number = 0;
    if (*name) return CUBED_OK;
    EXPR_TRY(expr_get_number(b, ord, &v));
    *number = v.re;
    return CUBED_OK;
}

/* `*out` stays as it is if it is not there. */
static cubed_status get_matrix_ord(expr_builder *b, const expr *ord, cubed_matrix_norm_ord *out)
{
    const char *name;
    double number;
    if (!ord || ord->kind == EXPR_NONE) return CUBED_OK;
    EXPR_TRY(get_name_or_number(b, ord, &name, &number));
    return expr_located(b, ord, cubed_matrix_norm_parse(name, number, out, b->err));
}

/* norm(x, ord, axis) */
static cubed_status call_norm(expr_builder *b, const expr *e, cubed_array **out)
{
    static const char *const names[] = {"ord", "axis", "dim", "keepdims", NULL};
    int n, axes[CUBED_MAX_NDIM];
    double number;
    cubed_norm_options o = CUBED_NORM_OPTIONS_INIT;
    cubed_array *x;
    EXPR_TRY(expr_check_args(b, e, 1, 3, names, &n));
    EXPR_TRY(expr_get_bool(b, e, "keepdims", &o.keepdims));
    const expr *ord = n > 1 ? e->child[1] : expr_keyword(e, "ord");
    if (ord && ord->kind != EXPR_NONE) {
        EXPR_TRY(get_name_or_number(b, ord, &o.name, &number));
        if (!o.name) o.number = &number;
    }
    EXPR_TRY(expr_get_array(b, e->child[0], &x));
    cubed_status st = expr_get_axes(b, e, n > 2 ? e->child[2] : NULL, x, &o.naxes, axes);
    if (o.naxes >= 0) o.axes = axes;
    if (st == CUBED_OK) st = expr_located(b, e, cubed_norm(x, &o, b->host->task_mem, out, b->err));
    cubed_array_unref(x);
    return st;
}

static cubed_status call_cond(expr_builder *b, const expr *e, cubed_array **out)
{
    int n;
    cubed_matrix_norm_ord ord = CUBED_NORM_2;
    cubed_array *x;
    EXPR_TRY(expr_check_args(b, e, 1, 2, (const char *const[]){"p", NULL}, &n));
    EXPR_TRY(get_matrix_ord(b, n > 1 ? e->child[1] : expr_keyword(e, "p"), &ord));
    EXPR_TRY(expr_get_array(b, e->child[0], &x));
    cubed_status st = expr_located(b, e, cubed_cond(x, ord, b->host->task_mem, out, b->err));
    cubed_array_unref(x);
    return st;
}

static cubed_status call_matrix_norm(expr_builder *b, const expr *e, cubed_array **out)
{
    static const char *const names[] = {"keepdims", "ord", NULL};
    int n;
    bool keepdims = false;
    cubed_matrix_norm_ord ord = CUBED_NORM_FRO;
    cubed_array *x;
    EXPR_TRY(expr_check_args(b, e, 1, 1, names, &n));
    EXPR_TRY(expr_get_bool(b, e, "keepdims", &keepdims));
    EXPR_TRY(get_matrix_ord(b, expr_keyword(e, "ord"), &ord));
    EXPR_TRY(expr_get_array(b, e->child[0], &x));
    cubed_status st =
        expr_located(b, e, cubed_matrix_norm(x, ord, keepdims, b->host->task_mem, out, b->err));
    cubed_array_unref(x);
    return st;
}

const expr_function expr_linalg_functions[] = {
    {"det", NULL, call_plain, DET},
    {"inv", NULL, call_plain, INV},
    {"svdvals", NULL, call_plain, SVDVALS},
    {"eigvals", NULL, call_plain, EIGVALS},
    {"eigvalsh", NULL, call_plain, EIGVALSH},
    {"matrix_transpose", NULL, call_plain, TRANSPOSE},
    {.name = "cross", .fn = call_cross},
    {"solve", NULL, call_solve, SOLVE},
    {"solve_triangular", NULL, call_solve, SOLVE_TRIANGULAR},
    {"tensorsolve", NULL, call_solve, TENSORSOLVE},
    {.name = "tensorinv", .fn = call_tensorinv},
    {.name = "multi_dot", .fn = call_multi_dot},
    {.name = "cond", .fn = call_cond},
    {.name = "outer", .fn = call_outer},
    {.name = "cholesky", .fn = call_cholesky},
    {"matrix_rank", NULL, call_with_rtol, false},
    {"pinv", NULL, call_with_rtol, true},
    {.name = "matrix_power", .fn = call_matrix_power},
    {.name = "diagonal", .fn = call_diagonal},
    {.name = "trace", .fn = call_trace},
    {.name = "norm", .fn = call_norm},
    {.name = "vector_norm", .fn = call_vector_norm},
    {.name = "matrix_norm", .fn = call_matrix_norm},
    {.name = NULL},
};

/* --- Several results ------------------------------------------------------------------------------------ */

static cubed_status call_qr(expr_builder *b, const expr *e, cubed_array **outs)
{
    int n;
    cubed_array *x;
    EXPR_TRY(expr_check_args(b, e, 1, 1, (const char *const[]){"mode", NULL}, &n));
    const expr *mode = expr_keyword(e, "mode");
    bool complete = mode && mode->kind == EXPR_STRING && strcmp(mode->text, "complete") == 0;
    if (mode && !complete && (mode->kind != EXPR_STRING || strcmp(mode->text, "reduced") != 0))
        return expr_reject(b, mode, "expected \"reduced\" or \"complete\"");
    EXPR_TRY(expr_get_array(b, e->child[0], &x));
    cubed_status st =
        expr_located(b, e, cubed_qr(x, complete, b->host->task_mem, &outs[0], &outs[1], b->err));
    cubed_array_unref(x);
    return st;
}

static cubed_status call_svd(expr_builder *b, const expr *e, cubed_array **outs)
{
    int n;
    bool full = true;
    cubed_array *x;
    EXPR_TRY(expr_check_args(b, e, 1, 1, (const char *const[]){"full_matrices", NULL}, &n));
    EXPR_TRY(expr_get_bool(b, e, "full_matrices", &full));
    EXPR_TRY(expr_get_array(b, e->child[0], &x));
    cubed_status st = expr_located(
        b, e, cubed_svd(x, full, b->host->task_mem, &outs[0], &outs[1], &outs[2], b->err));
    cubed_array_unref(x);
    return st;
}

static cubed_status call_lstsq(expr_builder *b, const expr *e, cubed_array **outs)
{
    int n;
    double rcond;
    cubed_array *x[2];
    EXPR_TRY(expr_check_args(b, e, 2, 3, (const char *const[]){"rcond", NULL}, &n));
    const expr *limit = n > 2 ? e->child[2] : expr_keyword(e, "rcond");
    expr_value v = {.re = 0};
    if (limit && limit->kind == EXPR_NONE) limit = NULL;
    if (limit) EXPR_TRY(expr_get_number(b, limit, &v));
    rcond = v.re;
    EXPR_TRY(expr_get_two(b, e, x));
    cubed_status st = expr_located(b, e,
                                   cubed_lstsq(x[0], x[1], limit ? &rcond : NULL, b->host->task_mem,
                                               &outs[0], &outs[1], &outs[2], &outs[3], b->err));
    cubed_array_unref(x[0]);
    cubed_array_unref(x[1]);
    return st;
}

static cubed_status get_number_of(expr_builder *b, const expr *call, const char *name, int64_t *out)
{
    const expr *e = expr_keyword(call, name);
    return e ? expr_get_int(b, e, out) : CUBED_OK;
}

/* A run can be repeated, and resumed, because its seed is in its text. */
static cubed_status call_svd_compressed(expr_builder *b, const expr *e, cubed_array **outs)
{
    static const char *const names[] = {"n_power_iter", "n_oversamples", "seed", "coerce_signs",
                                        NULL};
    int n;
    int64_t k;
    cubed_array *x;
    cubed_svd_compressed_options o = CUBED_SVD_COMPRESSED_OPTIONS_INIT;
    EXPR_TRY(expr_check_args(b, e, 2, 2, names, &n));
    if (!expr_keyword(e, "seed")) return expr_reject(b, e, "svd_compressed takes seed=");
    EXPR_TRY(expr_get_int(b, e->child[1], &k));
    EXPR_TRY(get_number_of(b, e, "n_power_iter", &o.n_power_iter));
    EXPR_TRY(get_number_of(b, e, "n_oversamples", &o.n_oversamples));
    EXPR_TRY(get_number_of(b, e, "seed", &o.seed));
    EXPR_TRY(expr_get_bool(b, e, "coerce_signs", &o.coerce_signs));
    EXPR_TRY(expr_get_array(b, e->child[0], &x));
    cubed_status st = expr_located(
        b, e,
        cubed_svd_compressed(x, k, &o, b->host->task_mem, &outs[0], &outs[1], &outs[2], b->err));
    cubed_array_unref(x);
    return st;
}

typedef cubed_status (*several_results)(cubed_array *x, uint64_t task_mem, cubed_array **outs,
                                        cubed_error *err);

static cubed_status slogdet(cubed_array *x, uint64_t task_mem, cubed_array **outs, cubed_error *err)
{
    return cubed_slogdet(x, task_mem, &outs[0], &outs[1], err);
}

static cubed_status lu(cubed_array *x, uint64_t task_mem, cubed_array **outs, cubed_error *err)
{
    (void)task_mem;
    return cubed_lu(x, &outs[0], &outs[1], &outs[2], err);
}

static cubed_status eigh(cubed_array *x, uint64_t task_mem, cubed_array **outs, cubed_error *err)
{
    (void)task_mem;
    return cubed_eigh(x, &outs[0], &outs[1], err);
}

static cubed_status eig(cubed_array *x, uint64_t task_mem, cubed_array **outs, cubed_error *err)
{
    (void)task_mem;
    return cubed_eig(x, &outs[0], &outs[1], err);
}

static cubed_status call_several(expr_builder *b, const expr *e, several_results fn,
                                 cubed_array **outs)
{
    int n;
    cubed_array *x;
    EXPR_TRY(expr_check_args(b, e, 1, 1, NULL, &n));
    EXPR_TRY(expr_get_array(b, e->child[0], &x));
    cubed_status st = expr_located(b, e, fn(x, b->host->task_mem, outs, b->err));
    cubed_array_unref(x);
    return st;
}

static cubed_status call_slogdet(expr_builder *b, const expr *e, cubed_array **outs)
{
    return call_several(b, e, slogdet, outs);
}

static cubed_status call_lu(expr_builder *b, const expr *e, cubed_array **outs)
{
    return call_several(b, e, lu, outs);
}

static cubed_status call_eigh(expr_builder *b, const expr *e, cubed_array **outs)
{
    return call_several(b, e, eigh, outs);
}

static cubed_status call_eig(expr_builder *b, const expr *e, cubed_array **outs)
{
    return call_several(b, e, eig, outs);
}

expr_tuple_function expr_find_tuple_function(const char *name, int *nout)
{
    static const struct {
        const char *name;
        int nout;
        expr_tuple_function fn;
    } rows[] = {
        {"qr", 2, call_qr},           {"svd", 3, call_svd},
        {"slogdet", 2, call_slogdet}, {"eigh", 2, call_eigh},
        {"eig", 2, call_eig},         {"lu", 3, call_lu},
        {"lstsq", 4, call_lstsq},     {"svd_compressed", 3, call_svd_compressed},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (strcmp(rows[i].name, name) != 0) continue;
        *nout = rows[i].nout;
        return rows[i].fn;
    }
    return expr_find_set_tuple(name, nout);
}
