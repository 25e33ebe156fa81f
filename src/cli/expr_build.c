/* Trees to lazy arrays. */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "expr.h"
#include "expr_value.h"

typedef expr_value value;

typedef struct builder {
    cubed_context *ctx;
    const char *text;
    expr_lookup_fn lookup;
    void *lookup_ctx;
    expr_result *result;
    cubed_error *err;
} builder;

#define TRY(call)                                                                                  \
    do {                                                                                           \
        cubed_status status_ = (call);                                                             \
        if (status_ != CUBED_OK) return status_;                                                   \
    } while (0)

static cubed_status build(builder *b, const expr *e, value *out);

static cubed_status fail(builder *b, const expr *e, const char *what)
{
    return expr_fail(b->err, CUBED_E_ARG, b->text, e->at, "%s", what);
}

/* Puts the place in front of an error of the library. */
static cubed_status located(builder *b, const expr *e, cubed_status status)
{
    if (status == CUBED_OK) return status;
    cubed_error inner = *b->err;
    inner.message[500] = 0;
    return expr_fail(b->err, status, b->text, e->at, "%s", inner.message);
}

static void drop(value *v)
{
    cubed_array_unref(v->array);
    v->array = NULL;
}

static cubed_status to_array(builder *b, const expr *e, value *v, const cubed_array *other)
{
    if (v->array) return CUBED_OK;
    cubed_dtype dtype = expr_literal_dtype(v, other);
    cubed_scalar s;
    if (!expr_literal_scalar(v, dtype, &s))
        return expr_fail(b->err, CUBED_E_ARG, b->text, e->at, "%lld is out of the range of %s",
                         (long long)v->i, cubed_dtype_name(dtype));
    return located(b, e, cubed_array_full(b->ctx, dtype, 0, NULL, NULL, &s, &v->array, b->err));
}

/* --- Operators ---------------------------------------------------------------------------------------- */

static cubed_status apply(builder *b, const expr *e, cubed_op op, value *args, int n, value *out)
{
    cubed_array *in[3];
    for (int i = 0; i < n; i++) in[i] = args[i].array;
    *out = (value){.array = NULL};
    return located(b, e, cubed_elementwise(op, in, n, &out->array, b->err));
}

/* x**k for literals k that have an operation of their own, which is also what NumPy does. */
static cubed_status power(builder *b, const expr *e, value *x, const value *y, value *out,
                          bool *done)
{
    double k = y->re;
    cubed_kind kind = cubed_dtype_kind(cubed_array_dtype(x->array));
    bool real = y->kind == EXPR_INT || y->kind == EXPR_FLOAT;
    bool inexact = kind >= CUBED_KIND_FLOAT;
    *done = true;
    if (y->kind == EXPR_INT && y->i < 0 && !inexact)
        return fail(b, e, "integers have no negative powers: make the base a float");
    if (real && k == 2 && (inexact || y->kind == EXPR_INT))
        return apply(b, e, CUBED_OP_SQUARE, x, 1, out);
    if (real && k == 0.5 && kind == CUBED_KIND_FLOAT) return apply(b, e, CUBED_OP_SQRT, x, 1, out);
    if (real && k == 1 && (inexact || y->kind == EXPR_INT)) {
        out->array = cubed_array_ref(x->array);
        return CUBED_OK;
    }
    if (real && k == -1 && inexact) {
        value args[2] = {expr_literal(EXPR_INT, 1, 0, 0), *x};
        TRY(to_array(b, e, &args[0], x->array));
        cubed_status st = apply(b, e, CUBED_OP_DIVIDE, args, 2, out);
        drop(&args[0]);
        return st;
    }
    *done = false;
    return CUBED_OK;
}

static cubed_status build_binary(builder *b, const expr *e, value *out)
{
    static const struct {
        char op;
        cubed_op number;
    } table[] = {
        {'+', CUBED_OP_ADD},        {'-', CUBED_OP_SUBTRACT},      {'*', CUBED_OP_MULTIPLY},
        {'/', CUBED_OP_DIVIDE},     {'p', CUBED_OP_POW},           {'&', CUBED_OP_LOGICAL_AND},
        {'|', CUBED_OP_LOGICAL_OR}, {'<', CUBED_OP_LESS},          {'>', CUBED_OP_GREATER},
        {'l', CUBED_OP_LESS_EQUAL}, {'g', CUBED_OP_GREATER_EQUAL}, {'e', CUBED_OP_EQUAL},
        {'n', CUBED_OP_NOT_EQUAL}};
    value v[2] = {{.array = NULL}, {.array = NULL}};
    cubed_status st = build(b, e->child[0], &v[0]);
    if (st == CUBED_OK) st = build(b, e->child[1], &v[1]);
    if (st != CUBED_OK) goto out;
    if (!v[0].array && !v[1].array) {
        const char *wrong = expr_literal_combine(e->op, &v[0], &v[1], out);
        if (wrong) st = fail(b, e, wrong);
        goto out;
    }
    if (e->op == 'p' && v[0].array && !v[1].array) {
        bool done;
        st = power(b, e, &v[0], &v[1], out, &done);
        if (done || st != CUBED_OK) goto out;
    }
    st = to_array(b, e->child[0], &v[0], v[1].array);
    if (st == CUBED_OK) st = to_array(b, e->child[1], &v[1], v[0].array);
    for (size_t i = 0; i < sizeof table / sizeof *table && st == CUBED_OK; i++) {
        if (table[i].op == e->op) st = apply(b, e, table[i].number, v, 2, out);
    }
out:
    drop(&v[0]);
    drop(&v[1]);
    return st;
}

static cubed_status build_unary(builder *b, const expr *e, value *out)
{
    value v = {.array = NULL};
    TRY(build(b, e->child[0], &v));
    if (e->op == '+') {
        *out = v;
        return CUBED_OK;
    }
    if (!v.array) {
        if (e->op == '~') return fail(b, e, "~ needs an array of bools");
        const char *wrong = expr_literal_negate(&v, out);
        return wrong ? fail(b, e, wrong) : CUBED_OK;
    }
    cubed_status st =
        apply(b, e, e->op == '~' ? CUBED_OP_LOGICAL_NOT : CUBED_OP_NEGATIVE, &v, 1, out);
    drop(&v);
    return st;
}

/* --- Coordinates -------------------------------------------------------------------------------------- */

/* Elements along dimension d were picked or put in another order. */
static void note_cut(builder *b, const cubed_array *x, int d)
{
    expr_result *r = b->result;
    const char *name = cubed_array_dim_name(x, d);
    if (!name || expr_is_cut(r, name)) return;
    r->cut = cli_resize(r->cut, (size_t)(r->ncut + 1) * sizeof *r->cut);
    r->cut[r->ncut++] = cli_strdup(name);
}

bool expr_is_cut(const expr_result *r, const char *dim)
{
    for (int i = 0; i < r->ncut; i++) {
        if (strcmp(r->cut[i], dim) == 0) return true;
    }
    return false;
}

/* --- Arguments ---------------------------------------------------------------------------------------- */

static cubed_status get_int(builder *b, const expr *e, int64_t *out)
{
    value v = {.array = NULL};
    TRY(build(b, e, &v));
    bool ok = !v.array && v.kind == EXPR_INT;
    drop(&v);
    if (!ok) return fail(b, e, "expected a whole number");
    *out = v.i;
    return CUBED_OK;
}

static cubed_status get_ints(builder *b, const expr *e, int *n, int64_t out[CUBED_MAX_NDIM])
{
    if (e->kind != EXPR_TUPLE) {
        *n = 1;
        return get_int(b, e, &out[0]);
    }
    if (e->n > CUBED_MAX_NDIM) return fail(b, e, "too many numbers");
    *n = e->n;
    for (int i = 0; i < e->n; i++) TRY(get_int(b, e->child[i], &out[i]));
    return CUBED_OK;
}

static const expr *keyword(const expr *call, const char *name)
{
    for (int i = 0; i < call->n; i++) {
        if (call->child[i]->kind == EXPR_KEYWORD && strcmp(call->child[i]->text, name) == 0)
            return call->child[i]->child[0];
    }
    return NULL;
}

/* Only these keywords may come, each once; positional arguments come first, `least` to `most`. */
static cubed_status check_args(builder *b, const expr *call, int least, int most,
                               const char *const *names, int *positional)
{
    *positional = 0;
    for (int i = 0; i < call->n; i++) {
        const expr *a = call->child[i];
        if (a->kind != EXPR_KEYWORD) {
            if (i > *positional) return fail(b, a, "a positional argument behind keywords");
            ++*positional;
            continue;
        }
        bool known = false;
        for (int k = 0; names && names[k]; k++) known = known || strcmp(names[k], a->text) == 0;
        if (!known)
            return expr_fail(b->err, CUBED_E_ARG, b->text, a->at, "%s takes no argument \"%s\"",
                             call->text, a->text);
        if (a->n != 1) return fail(b, a, "expected a value");
        if (keyword(call, a->text) != a->child[0]) return fail(b, a, "the argument comes twice");
    }
    if (*positional >= least && *positional <= most) return CUBED_OK;
    return expr_fail(b->err, CUBED_E_ARG, b->text, call->at, "%s takes %d%s argument%s, got %d",
                     call->text, least, most > least ? " or more" : "", most == 1 ? "" : "s",
                     *positional);
}

static cubed_status dim_axis(builder *b, const expr *e, const cubed_array *x, int *axis)
{
    char known[256] = "";
    if (e->kind != EXPR_STRING) return fail(b, e, "expected a dimension's name in quotes");
    for (int d = 0; d < cubed_array_ndim(x); d++) {
        const char *name = cubed_array_dim_name(x, d);
        if (name && strcmp(name, e->text) == 0) {
            *axis = d;
            return CUBED_OK;
        }
        size_t n = strlen(known);
        snprintf(known + n, sizeof known - n, "%s%s", n ? ", " : "", name ? name : "(unnamed)");
    }
    return expr_fail(b->err, CUBED_E_ARG, b->text, e->at, "no dimension \"%s\"; there are: %s",
                     e->text, known[0] ? known : "none");
}

/* Axes from axis= or dim= or a positional argument; *n is -1 if there is none of them. */
static cubed_status get_axes(builder *b, const expr *call, const expr *positional,
                             const cubed_array *x, int *n, int axes[CUBED_MAX_NDIM])
{
    const expr *axis = keyword(call, "axis"), *dim = keyword(call, "dim");
    if (positional && (axis || dim)) return fail(b, call, "axes are given twice");
    if (axis && dim) return fail(b, call, "axis= and dim= together");
    if (positional) axis = positional;
    *n = -1;
    if ((axis && axis->kind == EXPR_NONE) || (!axis && !dim)) return CUBED_OK;
    if (dim) {
        *n = dim->kind == EXPR_TUPLE ? dim->n : 1;
        if (*n > CUBED_MAX_NDIM) return fail(b, dim, "too many dimensions");
        for (int i = 0; i < *n; i++)
            TRY(dim_axis(b, dim->kind == EXPR_TUPLE ? dim->child[i] : dim, x, &axes[i]));
        return CUBED_OK;
    }
    int64_t list[CUBED_MAX_NDIM];
    TRY(get_ints(b, axis, n, list));
    for (int i = 0; i < *n; i++) {
        if (list[i] < -CUBED_MAX_NDIM || list[i] >= CUBED_MAX_NDIM)
            return fail(b, axis, "an axis is out of range");
        axes[i] = (int)list[i];
    }
    return CUBED_OK;
}

static cubed_status get_array(builder *b, const expr *e, cubed_array **out)
{
    value v = {.array = NULL};
    TRY(build(b, e, &v));
    TRY(to_array(b, e, &v, NULL));
    *out = v.array;
    return CUBED_OK;
}

/* --- Functions ---------------------------------------------------------------------------------------- */

static cubed_status call_op(builder *b, const expr *e, cubed_op op, int arity, value *out)
{
    int n;
    value v[3] = {{.array = NULL}, {.array = NULL}, {.array = NULL}};
    TRY(check_args(b, e, arity, arity, NULL, &n));
    cubed_status st = CUBED_OK;
    const cubed_array *strong = NULL;
    for (int i = 0; i < n && st == CUBED_OK; i++) {
        st = build(b, e->child[i], &v[i]);
        bool counts = op != CUBED_OP_WHERE || i > 0;
        if (v[i].array && counts && !strong) strong = v[i].array;
    }
    for (int i = 0; i < n && st == CUBED_OK; i++)
        st = to_array(b, e->child[i], &v[i], op == CUBED_OP_WHERE && i == 0 ? NULL : strong);
    if (st == CUBED_OK) st = apply(b, e, op, v, n, out);
    for (int i = 0; i < n; i++) drop(&v[i]);
    return st;
}

static cubed_status call_fold(builder *b, const expr *e, cubed_fold fold, value *out)
{
    static const char *const names[] = {"axis", "dim", "keepdims", "correction", "ddof", NULL};
    cubed_fold_options o = CUBED_FOLD_OPTIONS_INIT;
    int n, axes[CUBED_MAX_NDIM];
    cubed_array *x;
    TRY(check_args(b, e, 1, 2, names, &n));
    const expr *keepdims = keyword(e, "keepdims");
    const expr *correction = keyword(e, "correction"), *ddof = keyword(e, "ddof");
    if (correction && ddof) return fail(b, ddof, "ddof= is correction=: give one of them");
    if (!correction) correction = ddof;
    if (keepdims && keepdims->kind != EXPR_BOOL) return fail(b, keepdims, "expected True or False");
    o.keepdims = keepdims && keepdims->integer;
    if (correction) {
        value v = {.array = NULL};
        TRY(build(b, correction, &v));
        bool number = !v.array && (v.kind == EXPR_INT || v.kind == EXPR_FLOAT);
        drop(&v);
        if (!number) return fail(b, correction, "expected a number");
        o.correction = v.re;
        if (fold != CUBED_FOLD_VAR && fold != CUBED_FOLD_STD)
            return fail(b, correction, "only var and std take a correction");
    }
    TRY(get_array(b, e->child[0], &x));
    cubed_status st = get_axes(b, e, n > 1 ? e->child[1] : NULL, x, &o.naxes, axes);
    if (o.naxes >= 0) o.axes = axes;
    if (st == CUBED_OK) st = located(b, e, cubed_reduce(fold, x, &o, &out->array, b->err));
    cubed_array_unref(x);
    return st;
}

static cubed_status call_concat(builder *b, const expr *e, value *out)
{
    static const char *const names[] = {"axis", "dim", NULL};
    int n, naxes = -1, axes[CUBED_MAX_NDIM], made = 0;
    TRY(check_args(b, e, 1, 2, names, &n));
    const expr *list = e->child[0];
    if (list->kind != EXPR_TUPLE || list->n == 0) return fail(b, list, "expected a list of arrays");
    cubed_array **arrays = cli_alloc((size_t)list->n * sizeof *arrays);
    cubed_status st = CUBED_OK;
    for (; made < list->n && st == CUBED_OK; made++)
        st = get_array(b, list->child[made], &arrays[made]);
    if (st == CUBED_OK) st = get_axes(b, e, n > 1 ? e->child[1] : NULL, arrays[0], &naxes, axes);
    if (st == CUBED_OK && naxes > 1) st = fail(b, e, "concat takes one axis");
    int axis = naxes == 1 ? axes[0] : 0;
    if (st == CUBED_OK)
        st = located(b, e, cubed_concat(arrays, list->n, axis, &out->array, b->err));
    for (int i = 0; i < list->n && st == CUBED_OK; i++)
        note_cut(b, arrays[i], axis < 0 ? axis + cubed_array_ndim(arrays[i]) : axis);
    for (int i = 0; i < made; i++) cubed_array_unref(arrays[i]);
    cli_free(arrays);
    return st;
}

typedef cubed_status (*view_fn)(builder *b, const expr *e, const expr *arg, cubed_array *x,
                                cubed_array **out);

static cubed_status view_permute(builder *b, const expr *e, const expr *arg, cubed_array *x,
                                 cubed_array **out)
{
    int n, axes[CUBED_MAX_NDIM], ndim = cubed_array_ndim(x);
    TRY(get_axes(b, e, arg, x, &n, axes));
    if (n < 0) {
        for (n = 0; n < ndim; n++) axes[n] = ndim - 1 - n;
    }
    if (n != ndim) return fail(b, e, "the axes must name every dimension");
    return located(b, e, cubed_permute_dims(x, axes, out, b->err));
}

static cubed_status view_flip(builder *b, const expr *e, const expr *arg, cubed_array *x,
                              cubed_array **out)
{
    int n, axes[CUBED_MAX_NDIM];
    TRY(get_axes(b, e, arg, x, &n, axes));
    TRY(located(b, e, cubed_flip(x, n < 0 ? NULL : axes, n, out, b->err)));
    for (int i = 0, ndim = cubed_array_ndim(x); i < (n < 0 ? ndim : n); i++)
        note_cut(b, x, n < 0 ? i : axes[i] < 0 ? axes[i] + ndim : axes[i]);
    return CUBED_OK;
}

static cubed_status view_squeeze(builder *b, const expr *e, const expr *arg, cubed_array *x,
                                 cubed_array **out)
{
    int n, axes[CUBED_MAX_NDIM];
    TRY(get_axes(b, e, arg, x, &n, axes));
    return located(b, e, cubed_squeeze(x, n < 0 ? NULL : axes, n, out, b->err));
}

static cubed_status view_expand(builder *b, const expr *e, const expr *arg, cubed_array *x,
                                cubed_array **out)
{
    int64_t axis = 0;
    const expr *k = arg ? arg : keyword(e, "axis");
    if (k) TRY(get_int(b, k, &axis));
    if (axis < -CUBED_MAX_NDIM || axis > CUBED_MAX_NDIM) return fail(b, e, "axis out of range");
    return located(b, e, cubed_expand_dims(x, (int)axis, out, b->err));
}

static cubed_status view_broadcast(builder *b, const expr *e, const expr *arg, cubed_array *x,
                                   cubed_array **out)
{
    int n;
    int64_t shape[CUBED_MAX_NDIM];
    if (!arg) return fail(b, e, "broadcast_to takes a shape");
    TRY(get_ints(b, arg, &n, shape));
    return located(b, e, cubed_broadcast_to(x, n, shape, out, b->err));
}

static cubed_status view_rechunk(builder *b, const expr *e, const expr *arg, cubed_array *x,
                                 cubed_array **out)
{
    int n;
    int64_t chunks[CUBED_MAX_NDIM];
    if (!arg) return fail(b, e, "rechunk takes chunks");
    TRY(get_ints(b, arg, &n, chunks));
    if (n != cubed_array_ndim(x)) return fail(b, arg, "expected one chunk length per dimension");
    return located(b, e, cubed_rechunk(x, chunks, out, b->err));
}

static cubed_status view_astype(builder *b, const expr *e, const expr *arg, cubed_array *x,
                                cubed_array **out)
{
    cubed_dtype dtype;
    if (!arg || arg->kind != EXPR_STRING) return fail(b, e, "astype takes a type's name in quotes");
    TRY(located(b, arg, cubed_dtype_parse(arg->text, &dtype, b->err)));
    return located(b, e, cubed_astype(x, dtype, out, b->err));
}

static const struct {
    const char *name;
    view_fn fn;
    const char *keywords[3];
} views[] = {
    {"permute_dims", view_permute, {"axis", "dim", NULL}},
    {"transpose", view_permute, {"axis", "dim", NULL}},
    {"flip", view_flip, {"axis", "dim", NULL}},
    {"squeeze", view_squeeze, {"axis", "dim", NULL}},
    {"expand_dims", view_expand, {"axis", NULL}},
    {"broadcast_to", view_broadcast, {NULL}},
    {"rechunk", view_rechunk, {NULL}},
    {"astype", view_astype, {NULL}},
};

static cubed_status call_view(builder *b, const expr *e, int which, value *out)
{
    int n;
    cubed_array *x;
    TRY(check_args(b, e, 1, 2, views[which].keywords, &n));
    TRY(get_array(b, e->child[0], &x));
    cubed_status st = views[which].fn(b, e, n > 1 ? e->child[1] : NULL, x, &out->array);
    cubed_array_unref(x);
    return st;
}

static cubed_status build_call(builder *b, const expr *e, value *out)
{
    cubed_op op;
    cubed_fold fold;
    cubed_dtype dtype;
    int arity, n;
    if (cubed_op_parse(e->text, &op, &arity)) return call_op(b, e, op, arity, out);
    if (cubed_fold_parse(e->text, &fold)) return call_fold(b, e, fold, out);
    if (strcmp(e->text, "concat") == 0) return call_concat(b, e, out);
    for (int i = 0; i < (int)(sizeof views / sizeof *views); i++) {
        if (strcmp(views[i].name, e->text) == 0) return call_view(b, e, i, out);
    }
    if (cubed_dtype_parse(e->text, &dtype, NULL) == CUBED_OK) {
        cubed_array *x;
        TRY(check_args(b, e, 1, 1, NULL, &n));
        TRY(get_array(b, e->child[0], &x));
        cubed_status st = located(b, e, cubed_astype(x, dtype, &out->array, b->err));
        cubed_array_unref(x);
        return st;
    }
    return expr_fail(b->err, CUBED_E_ARG, b->text, e->at,
                     "unknown function \"%s\": see cubed eval --help", e->text);
}

/* --- Indexing ----------------------------------------------------------------------------------------- */

static cubed_status slice_of(builder *b, const expr *item, int64_t extent, cubed_slice *out)
{
    if (item->kind != EXPR_SLICE) {
        int64_t i;
        TRY(get_int(b, item, &i));
        if (i < -extent || i >= extent)
            return expr_fail(b->err, CUBED_E_INDEX, b->text, item->at,
                             "index %lld is out of bounds for an axis of extent %lld", (long long)i,
                             (long long)extent);
        *out = (cubed_slice){i < 0 ? i + extent : i, 1, 1, true};
        return CUBED_OK;
    }
    int64_t v[3], *p[3] = {NULL, NULL, NULL};
    for (int k = 0; k < 3; k++) {
        if (item->child[k]->kind == EXPR_NONE) continue;
        TRY(get_int(b, item->child[k], &v[k]));
        p[k] = &v[k];
    }
    return located(b, item, cubed_slice_resolve(p[0], p[1], p[2], extent, out, b->err));
}

static cubed_status index_array(builder *b, const expr *e, cubed_array *x, cubed_array **out)
{
    cubed_slice slices[CUBED_MAX_NDIM];
    int ndim = cubed_array_ndim(x), given = 0, dots = 0, axis = 0;
    const int64_t *shape = cubed_array_shape(x);
    int fresh[CUBED_MAX_NDIM], nfresh = 0, kept = 0; /* places of new axes in the result */
    for (int i = 1; i < e->n; i++) {
        dots += e->child[i]->kind == EXPR_ELLIPSIS;
        given += e->child[i]->kind != EXPR_ELLIPSIS && e->child[i]->kind != EXPR_NONE;
    }
    if (dots > 1) return fail(b, e, "more than one ...");
    if (given > ndim)
        return expr_fail(b->err, CUBED_E_INDEX, b->text, e->at, "%d indices for %d dimensions",
                         given, ndim);
    for (int i = 1; i < e->n; i++) {
        const expr *item = e->child[i];
        if (item->kind == EXPR_NONE) {
            if (nfresh == CUBED_MAX_NDIM) return fail(b, item, "too many new axes");
            fresh[nfresh] = kept + nfresh;
            nfresh++;
        } else if (item->kind == EXPR_ELLIPSIS) {
            for (int k = given; k < ndim; k++, axis++, kept++)
                slices[axis] = (cubed_slice){0, shape[axis], 1, false};
        } else {
            TRY(slice_of(b, item, shape[axis], &slices[axis]));
            kept += !slices[axis++].drop;
        }
    }
    for (; axis < ndim; axis++) slices[axis] = (cubed_slice){0, shape[axis], 1, false};
    cubed_array *y;
    TRY(located(b, e, cubed_slice_array(x, slices, &y, b->err)));
    for (int d = 0; d < ndim; d++) {
        const cubed_slice *s = &slices[d];
        if (!s->drop && (s->start != 0 || s->len != shape[d] || s->step != 1)) note_cut(b, x, d);
    }
    for (int k = 0; k < nfresh; k++) {
        cubed_array *wider;
        cubed_status st = located(b, e, cubed_expand_dims(y, fresh[k], &wider, b->err));
        cubed_array_unref(y);
        if (st != CUBED_OK) return st;
        y = wider;
    }
    *out = y;
    return CUBED_OK;
}

/* --- Trees -------------------------------------------------------------------------------------------- */

static cubed_status build_name(builder *b, const expr *e, value *out)
{
    const char *known = "none";
    const expr_result *r = b->result;
    for (int i = r->n - 1; i >= 0; i--) {
        if (strcmp(r->vars[i].name, e->text) != 0) continue;
        out->array = cubed_array_ref(r->vars[i].array);
        return CUBED_OK;
    }
    TRY(located(b, e, b->lookup(b->lookup_ctx, e->text, &out->array, &known, b->err)));
    if (out->array) return CUBED_OK;
    return expr_fail(b->err, CUBED_E_ARG, b->text, e->at, "unknown name \"%s\"; arrays here: %s",
                     e->text, known);
}

static cubed_status build(builder *b, const expr *e, value *out)
{
    *out = expr_literal(e->kind, e->integer, e->re, e->im);
    switch (e->kind) {
    case EXPR_INT:
    case EXPR_FLOAT:
    case EXPR_COMPLEX:
    case EXPR_BOOL: return CUBED_OK;
    case EXPR_NAME: return build_name(b, e, out);
    case EXPR_UNARY: return build_unary(b, e, out);
    case EXPR_BINARY: return build_binary(b, e, out);
    case EXPR_CALL: return build_call(b, e, out);
    case EXPR_INDEX: {
        cubed_array *x;
        TRY(get_array(b, e->child[0], &x));
        cubed_status st = index_array(b, e, x, &out->array);
        cubed_array_unref(x);
        return st;
    }
    default: return fail(b, e, "this is not a value here");
    }
}

static void add_var(expr_result *r, const char *name, cubed_array *array, bool is_result)
{
    /* A name assigned again replaces its old value as a result. */
    for (int i = 0; i < r->n; i++) {
        if (strcmp(r->vars[i].name, name) == 0) r->vars[i].is_result = false;
    }
    r->vars = cli_resize(r->vars, (size_t)(r->n + 1) * sizeof *r->vars);
    r->vars[r->n++] = (expr_var){cli_strdup(name), array, is_result};
}

void expr_result_free(expr_result *r)
{
    for (int i = 0; i < r->n; i++) {
        cli_free(r->vars[i].name);
        cubed_array_unref(r->vars[i].array);
    }
    for (int i = 0; i < r->ncut; i++) cli_free(r->cut[i]);
    cli_free(r->vars);
    cli_free(r->cut);
    memset(r, 0, sizeof *r);
}

cubed_status expr_build(cubed_context *ctx, const char *text, expr *const *statements, int n,
                        expr_lookup_fn lookup, void *lookup_ctx, expr_result *out, cubed_error *err)
{
    cubed_error own = CUBED_ERROR_INIT;
    builder b = {ctx, text, lookup, lookup_ctx, out, err ? err : &own};
    int bare = 0;
    memset(out, 0, sizeof *out);
    for (int i = 0; i < n; i++) {
        const expr *e = statements[i];
        bool named = e->kind == EXPR_ASSIGN;
        cubed_array *x;
        cubed_status st = get_array(&b, named ? e->child[0] : e, &x);
        if (st != CUBED_OK) {
            expr_result_free(out);
            return st;
        }
        char name[32] = "result";
        if (!named && ++bare > 1) snprintf(name, sizeof name, "result%d", bare);
        add_var(out, named ? e->text : name, x, !named || e->text[0] != '_');
    }
    return CUBED_OK;
}
