/* Operations on records: extraction of fields, comparison, and choice of elements. */
#include "dtype/record_fields.h"

#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "block/params.h"
#include "cubed/blockwise.h"
#include "dtype/typestr.h"
#include "ops/ops_pkg.h"

/* Maximum number of pieces of each record that one operation copies. */
#define CB_PIECES 4096

static cubed_status no_memory(cubed_error *err)
{
    return cb_fail(err, CUBED_E_NOMEM, "out of memory: fields of records");
}

/* --- Descriptions ------------------------------------------------------------------------------------ */

cubed_status cubed_array_set_fields(cubed_array *x, const char *json, cubed_error *err)
{
    cubed_dtype dtype;
    json_t *fields;
    CB_TRY(cb_record_parse("fields", json, &fields, &dtype, err));
    if (dtype != x->node.dtype) {
        char own[CUBED_DTYPE_TEXT_CAP], other[CUBED_DTYPE_TEXT_CAP];
        json_decref(fields);
        return cb_fail(err, CUBED_E_TYPE, "fields: the fields describe %s, but the elements are %s",
                       cubed_dtype_text(dtype, other), cubed_dtype_text(x->node.dtype, own));
    }
    const char *kept = cb_record_text(fields, x->zone);
    if (kept) x->node.fields = kept;
    json_decref(fields);
    return kept ? CUBED_OK : no_memory(err);
}

cubed_status cubed_fields_dtype(const char *json, cubed_dtype *out, cubed_error *err)
{
    json_t *fields;
    CB_TRY(cb_record_parse("fields", json, &fields, out, err));
    json_decref(fields);
    return CUBED_OK;
}

/* Parses the description of x. The caller owns *out. */
static cubed_status describe(const char *what, const cubed_array *x, json_t **out, cubed_error *err)
{
    cubed_dtype dtype;
    char text[CUBED_DTYPE_TEXT_CAP];
    if (cubed_dtype_family(x->node.dtype) != CUBED_RECORD)
        return cb_fail(err, CUBED_E_TYPE, "%s: the elements are %s, expected records with fields",
                       what, cubed_dtype_text(x->node.dtype, text));
    if (!x->node.fields)
        return cb_fail(err, CUBED_E_TYPE, "%s: the fields of these records are not known", what);
    return cb_record_parse(what, x->node.fields, out, &dtype, err);
}

/* --- Fields ------------------------------------------------------------------------------------------ */

typedef struct pieces {
    int n;
    cb_piece_params list[CB_PIECES];
} pieces;

/* Adds a piece. Adjacent pieces with the same byte order become one piece. */
static bool add_piece(pieces *p, size_t offset, size_t size, size_t unit)
{
    cb_piece_params *last = p->n > 0 ? &p->list[p->n - 1] : NULL;
    if (last && last->unit == (int32_t)unit && last->offset + last->size == (int32_t)offset) {
        last->size += (int32_t)size;
        return true;
    }
    if (p->n == CB_PIECES) return false;
    p->list[p->n++] = (cb_piece_params){(int32_t)offset, (int32_t)size, (int32_t)unit};
    return true;
}

/* Adds the pieces of a field, in this machine's byte order. `at` is the position of the record. Recursion depth:
 * CB_RECORD_DEPTH. */
static bool add_pieces(pieces *p, const cb_field *f, size_t at)
{
    const size_t size = cubed_dtype_size(f->dtype);
    if (!f->fields)
        return add_piece(p, at + f->offset, cb_field_bytes(f),
                         cb_field_is_swapped(f) ? cb_unit_size(f->dtype) : 1);
    for (int64_t i = 0; i < f->count; i++) {
        cb_field inner;
        for (size_t k = 0; k < json_array_size(f->fields); k++) {
            inner = cb_record_field(f->fields, k, k ? &inner : NULL);
            if (!add_pieces(p, &inner, at + f->offset + (size_t)i * size)) return false;
        }
    }
    return true;
}

/* Copies pieces (byte ranges) of x's records to a result of type `dtype`, which has the axes of x and `more` further axes.
 * `fields` describes the result's records; NULL if it has none. */
static cubed_status pick(cubed_array *x, const pieces *p, cubed_dtype dtype, int more,
                         const int64_t *extents, const json_t *fields, cubed_array **out,
                         cubed_error *err)
{
    const int ndim = x->node.grid->ndim;
    int symbols[CUBED_MAX_NDIM];
    int64_t shape[CUBED_MAX_NDIM], chunks[CUBED_MAX_NDIM];
    const char *names[CUBED_MAX_NDIM] = {NULL};
    if (ndim + more > CUBED_MAX_NDIM)
        return cb_fail(err, CUBED_E_ARG, "field: the result has %d dimensions, expected at most %d",
                       ndim + more, CUBED_MAX_NDIM);
    for (int d = 0; d < ndim + more; d++) {
        symbols[d] = d < ndim ? d : -1;
        shape[d] = d < ndim ? x->shape[d] : extents[d - ndim];
        chunks[d] = d < ndim ? x->chunks[d] : extents[d - ndim];
        names[d] = d < ndim ? x->node.dim_names[d] : NULL;
    }
    const cubed_kernel kernel = {
        .name = "pick_fields", .params = p->list, .params_size = (size_t)p->n * sizeof *p->list};
    const cubed_block_input in = {x, symbols, chunks};
    const cubed_block_output to = {dtype, ndim + more, shape, chunks, symbols, names};
    const cubed_block_operation op = {.function = kernel.name,
                                      .params = kernel.params,
                                      .params_size = kernel.params_size,
                                      .inputs = &in,
                                      .nin = 1,
                                      .outputs = &to,
                                      .nout = 1};
    cubed_array *y;
    CB_TRY(more > 0 ? cubed_blockwise(x->ctx, &op, &y, err)
                    : cubed_map_blocks(x->ctx, &kernel, &x, 1, dtype, NULL, &y, err));
    cubed_status st = cubed_array_with_dim_names(y, names, out, err);
    cubed_array_unref(y);
    if (st != CUBED_OK) return st;
    if (fields) {
        cb_buf text;
        cb_buf_init(&text, &x->ctx->alloc);
        st = cb_json_dump(fields, JSON_COMPACT, &text)
                 ? cubed_array_set_fields(*out, text.data, err)
                 : no_memory(err);
        cb_buf_free(&text);
    }
    if (st != CUBED_OK) cubed_array_unref(*out);
    return st;
}

/* Copies the fields in `list`: a single field `like`, or several fields as records if `like` is NULL. */
static cubed_status pick_all(cubed_array *x, const cb_field *list, int n, cubed_dtype dtype,
                             const cb_field *like, const json_t *fields, cubed_array **out,
                             cubed_error *err)
{
    pieces *p = cb_alloc(&x->ctx->alloc, sizeof *p);
    bool fits = true;
    if (!p) return no_memory(err);
    p->n = 0;
    for (int i = 0; i < n && fits; i++) fits = add_pieces(p, &list[i], 0);
    const cubed_status st =
        fits ? pick(x, p, dtype, like ? like->ndim : 0, like ? like->shape : NULL, fields, out, err)
             : cb_fail(err, CUBED_E_UNSUPPORTED,
                       "fields: the fields consist of more than %d ranges of bytes in a record "
                       "that are separate or differ in byte order; choose fewer fields",
                       CB_PIECES);
    cb_free(&x->ctx->alloc, p, sizeof *p);
    return st;
}

static cubed_status find(const char *what, const json_t *fields, const char *name, cb_field *out,
                         cubed_error *err)
{
    cb_buf names;
    cb_field f;
    if (cb_record_find(fields, name, out)) return CUBED_OK;
    cb_buf_init(&names, &cb_system_allocator);
    for (size_t i = 0; i < json_array_size(fields) && i < 16; i++) {
        f = cb_record_field(fields, i, i ? &f : NULL);
        cb_buf_printf(&names, "%s%s", i ? ", " : "", f.name);
    }
    const cubed_status st =
        cb_fail(err, CUBED_E_ARG, "%s: the records have no field \"%s\", expected one of: %s", what,
                name, names.failed ? "" : names.data);
    cb_buf_free(&names);
    return st;
}

cubed_status cubed_field(cubed_array *x, const char *name, cubed_array **out, cubed_error *err)
{
    json_t *fields, *inner = NULL;
    cb_field f;
    bool ok = true;
    CB_TRY(describe("field", x, &fields, err));
    cubed_status st = find("field", fields, name, &f, err);
    if (st != CUBED_OK) goto out;
    if (f.ndim == 0 && cubed_dtype_kind(f.dtype) <= CUBED_KIND_TIME) {
        cb_node n = cb_graph_like(x, CB_NODE_FIELD, f.dtype);
        n.offset = (int)f.offset;
        n.swapped = cb_field_is_swapped(&f);
        st = cb_graph_add(x->ctx, &n, &x, out, err);
        goto out;
    }
    if (f.fields) {
        inner = json_array();
        cb_record_spell(f.fields, true, inner, &ok);
    }
    st = ok ? pick_all(x, &f, 1, f.dtype, &f, inner, out, err) : no_memory(err);
out:
    json_decref(inner);
    json_decref(fields);
    return st;
}

cubed_status cubed_fields(cubed_array *x, const char *const *names, int n, cubed_array **out,
                          cubed_error *err)
{
    json_t *fields, *chosen = NULL, *native = NULL;
    cb_field *list = NULL;
    bool ok = true;
    cubed_dtype dtype;
    cubed_status st = CUBED_OK;
    CB_TRY(describe("fields", x, &fields, err));
    const size_t room = (size_t)(n > 0 ? n : 0) * sizeof *list;
    if (n < 1 || n > CB_RECORD_FIELDS) {
        st = cb_fail(err, CUBED_E_ARG, "fields: %d names, expected 1 to %d", n, CB_RECORD_FIELDS);
        goto out;
    }
    list = cb_alloc(&x->ctx->alloc, room);
    native = json_array();
    chosen = json_array();
    if (!list) CB_GO(no_memory(err));
    cb_record_spell(fields, true, native, &ok);
    for (int i = 0; i < n; i++) {
        CB_GO(find("fields", fields, names[i], &list[i], err));
        for (size_t k = 0; k < json_array_size(native); k++) {
            json_t *item = json_array_get(native, k);
            if (strcmp(json_string_value(json_array_get(item, 0)), names[i]) == 0)
                cb_json_add(chosen, json_incref(item), &ok);
        }
    }
    if (!ok) CB_GO(no_memory(err));
    CB_GO(cb_record_check("fields", chosen, &dtype, err));
    st = pick_all(x, list, n, dtype, NULL, chosen, out, err);
out:
    cb_free(&x->ctx->alloc, list, list ? room : 0);
    json_decref(native);
    json_decref(chosen);
    json_decref(fields);
    return st;
}

/* --- Comparisons and choices ------------------------------------------------------------------------- */

/* Returns true if two descriptions have the same names in the same order. */
static bool same_names(const json_t *a, const json_t *b)
{
    bool same = json_array_size(a) == json_array_size(b);
    for (size_t i = 0; i < json_array_size(a) && same; i++)
        same = strcmp(json_string_value(json_array_get(json_array_get(a, i), 0)),
                      json_string_value(json_array_get(json_array_get(b, i), 0))) == 0;
    return same;
}

/* Returns an array that is true where all elements along the axes after the first `ndim` are true. */
static cubed_array *all_behind(cb_steps *s, cubed_array *x, int ndim)
{
    int axes[CUBED_MAX_NDIM], n = 0;
    if (!x) return NULL;
    for (int d = ndim; d < x->node.grid->ndim; d++) axes[n++] = d;
    if (n == 0) return x;
    cubed_reduce_options options = CUBED_REDUCE_OPTIONS_INIT;
    options.axes = axes;
    options.naxes = n;
    return cb_step_reduce(s, CUBED_REDUCE_ALL, x, &options);
}

/* Compares records of one shape. They are equal if all of their fields are equal. Recursion depth: CB_RECORD_DEPTH. */
static cubed_array *equal_records(cb_steps *s, cubed_array *a, cubed_array *b)
{
    const int ndim = a->node.grid->ndim;
    json_t *fields = NULL, *others = NULL;
    cubed_array *all = NULL;
    s->st = describe("equal", a, &fields, s->err);
    if (s->st == CUBED_OK) s->st = describe("equal", b, &others, s->err);
    if (s->st == CUBED_OK && !same_names(fields, others))
        s->st = cb_fail(s->err, CUBED_E_TYPE,
                        "records with the fields %.200s and records with the fields %.200s cannot "
                        "be compared, expected the same names in the same order",
                        a->node.fields, b->node.fields);
    for (size_t i = 0; s->st == CUBED_OK && i < json_array_size(fields); i++) {
        const char *name = json_string_value(json_array_get(json_array_get(fields, i), 0));
        cubed_array *x = NULL, *y = NULL;
        x = cb_step(s, cubed_field(a, name, &x, s->err), &x);
        y = x ? cb_step(s, cubed_field(b, name, &y, s->err), &y) : NULL;
        if (!y) break;
        bool fits = x->node.grid->ndim == y->node.grid->ndim;
        for (int d = ndim; d < x->node.grid->ndim && fits; d++) fits = x->shape[d] == y->shape[d];
        if (!fits) {
            s->st = cb_fail(s->err, CUBED_E_TYPE,
                            "records whose field \"%s\" has two shapes cannot be compared", name);
            break;
        }
        cubed_array *same = cb_step_op(s, CUBED_OP_EQUAL, x, y, NULL);
        same = all_behind(s, same, ndim);
        all = all && same ? cb_step_op(s, CUBED_OP_LOGICAL_AND, all, same, NULL) : same;
    }
    json_decref(fields);
    json_decref(others);
    return s->st == CUBED_OK ? all : NULL;
}

cubed_status cb_op_records(cubed_op op, cubed_array *const *args, int nargs, cubed_array **out,
                           cubed_error *err)
{
    cb_steps s = {.ctx = args[0]->ctx, .err = err};
    cb_broadcast to;
    const int first = nargs - 2;
    const bool compares = op == CUBED_OP_EQUAL || op == CUBED_OP_NOT_EQUAL;
    if (!compares && op != CUBED_OP_WHERE)
        return cb_fail(err, CUBED_E_TYPE,
                       "%s is not defined for records; choose a field, such as field(x, \"name\")",
                       cubed_op_name(op));
    const cubed_array *a = args[first], *b = args[first + 1];
    const bool both = cubed_dtype_family(a->node.dtype) == CUBED_RECORD &&
                      cubed_dtype_family(b->node.dtype) == CUBED_RECORD;
    if (!both || (!compares && (a->node.dtype != b->node.dtype ||
                                !cb_text_equal(a->node.fields, b->node.fields)))) {
        char t[CUBED_DTYPE_TEXT_CAP], u[CUBED_DTYPE_TEXT_CAP];
        return cb_fail(err, CUBED_E_TYPE,
                       "%s: the operands are %s with the fields %.200s and %s with the fields "
                       "%.200s, expected records with equal fields",
                       cubed_op_name(op), cubed_dtype_text(a->node.dtype, t),
                       a->node.fields ? a->node.fields : "none", cubed_dtype_text(b->node.dtype, u),
                       b->node.fields ? b->node.fields : "none");
    }
    CB_TRY(cb_op_broadcast(op, args, nargs, a->node.dtype, &to, err));
    if (!compares) return cb_op_text(op, args, nargs, a->node.dtype, to.names, out, err);
    cubed_array *x = cb_step_broadcast(&s, args[0], to.ndim, to.shape);
    cubed_array *y = cb_step_broadcast(&s, args[1], to.ndim, to.shape);
    cubed_array *z = x && y ? equal_records(&s, x, y) : NULL;
    if (z && op == CUBED_OP_NOT_EQUAL) z = cb_step_op(&s, CUBED_OP_LOGICAL_NOT, z, NULL, NULL);
    return cb_steps_end(&s, z, out);
}
