/* Builds lazy arrays from syntax trees. */
#include <math.h>
#include <string.h>

#include "lang/about.h"
#include "lang/expr_builder.h"
#include "lang/expr_calendar.h"
#include "lang/expr_defined.h"
#include "lang/expr_fields.h"
#include "lang/expr_index.h"
#include "lang/expr_json.h"
#include "lang/expr_remap.h"
#include "lang/function_hints.h"
#include "lang/guess.h"
#include "lang/lang_arrays.h"
#include "lang/lang_memory.h"
#include "lang/result_names.h"

typedef expr_value value;

static void drop(value *v)
{
    cubed_array_unref(v->array);
    v->array = NULL;
}

/* --- Operators ---------------------------------------------------------------------------------------- */

static cubed_status apply(expr_builder *b, const expr *e, cubed_op op, value *args, int n,
                          value *out)
{
    cubed_array *in[3];
    for (int i = 0; i < n; i++) in[i] = args[i].array;
    *out = (value){.array = NULL};
    EXPR_TRY(expr_check_dims(b, e, in, n));
    return expr_located(b, e, cubed_elementwise(op, in, n, &out->array, b->err));
}

/* Converts both children to arrays. At least one of them is an array already. */
static cubed_status make_operands(expr_builder *b, const expr *e, cubed_op op, value v[2])
{
    cubed_status (*const make)(expr_builder *, const expr *, value *, const cubed_array *) =
        cubed_op_takes_any_integer(op) ? expr_wide_operand : expr_operand;
    cubed_status st = make(b, e->child[0], &v[0], v[1].array);
    return st == CUBED_OK ? make(b, e->child[1], &v[1], v[0].array) : st;
}

static bool is_inexact(const value *v)
{
    return v->array ? cubed_dtype_kind(cubed_array_dtype(v->array)) >= CUBED_KIND_FLOAT &&
                          cubed_dtype_kind(cubed_array_dtype(v->array)) <= CUBED_KIND_COMPLEX
                    : v->kind == EXPR_FLOAT || v->kind == EXPR_COMPLEX;
}

/* Rejects the operators ^, & and | of floats or complex numbers. The error suggests ** or brackets. */
static bool is_mistaken(expr_builder *b, const expr *e, cubed_op op, const value v[2])
{
    const char *mark = strchr("^&|", e->op);
    if (!mark || (!is_inexact(&v[0]) && !is_inexact(&v[1]))) return false;
    const value *wrong = is_inexact(&v[0]) ? &v[0] : &v[1];
    cubed_status st = expr_fail(
        b->err, CUBED_E_TYPE, b->text, e->at, "%s is not defined for %s: %s", cubed_op_name(op),
        cubed_dtype_name(wrong->array ? cubed_array_dtype(wrong->array)
                                      : expr_literal_dtype(wrong, NULL)),
        e->op == '^'   ? "powers are written **"
        : e->op == '&' ? "it binds before comparisons, which need brackets, (a < b) & (b < c)"
                       : "it binds before comparisons, which need brackets, (a < b) | (b < c)");
    return st != CUBED_OK;
}

/* Builds the first n children. String literals become arrays, with the kind of strings of the first string array among the
 * children. */
static cubed_status build_children(expr_builder *b, const expr *e, int n, value *v)
{
    const cubed_array *like = NULL;
    for (int i = 0; i < n; i++) {
        if (e->child[i]->kind == EXPR_STRING) continue;
        EXPR_TRY(expr_build_value(b, e->child[i], &v[i]));
        const cubed_array *x = v[i].array;
        if (x && !like && cubed_dtype_kind(cubed_array_dtype(x)) == CUBED_KIND_TEXT) like = x;
    }
    for (int i = 0; i < n; i++) {
        if (e->child[i]->kind == EXPR_STRING)
            EXPR_TRY(expr_get_texts(b, e->child[i], like, &v[i].array));
    }
    return CUBED_OK;
}

static cubed_status build_binary(expr_builder *b, const expr *e, value *out)
{
    static const struct {
        char op;
        cubed_op number;
    } table[] = {{'+', CUBED_OP_ADD},
                 {'-', CUBED_OP_SUBTRACT},
                 {'*', CUBED_OP_MULTIPLY},
                 {'/', CUBED_OP_DIVIDE},
                 {'d', CUBED_OP_FLOOR_DIVIDE},
                 {'%', CUBED_OP_REMAINDER},
                 {'p', CUBED_OP_POW},
                 {'s', CUBED_OP_BITWISE_LEFT_SHIFT},
                 {'r', CUBED_OP_BITWISE_RIGHT_SHIFT},
                 {'&', CUBED_OP_BITWISE_AND},
                 {'^', CUBED_OP_BITWISE_XOR},
                 {'|', CUBED_OP_BITWISE_OR},
                 {'<', CUBED_OP_LESS},
                 {'>', CUBED_OP_GREATER},
                 {'l', CUBED_OP_LESS_EQUAL},
                 {'g', CUBED_OP_GREATER_EQUAL},
                 {'e', CUBED_OP_EQUAL},
                 {'n', CUBED_OP_NOT_EQUAL}};
    value v[2] = {{.array = NULL}, {.array = NULL}};
    cubed_status st = build_children(b, e, 2, v);
    if (st != CUBED_OK) goto out;
    if (!v[0].array && !v[1].array) {
        const char *wrong = expr_literal_combine(e->op, &v[0], &v[1], out);
        if (wrong) st = expr_reject(b, e, wrong);
        goto out;
    }
    size_t row = 0;
    while (table[row].op != e->op) row++; /* the table has all operators that the parser produces */
    if (is_mistaken(b, e, table[row].number, v)) st = CUBED_E_TYPE;
    if (st == CUBED_OK) st = make_operands(b, e, table[row].number, v);
    if (st == CUBED_OK) st = apply(b, e, table[row].number, v, 2, out);
out:
    drop(&v[0]);
    drop(&v[1]);
    return st;
}

static cubed_status build_unary(expr_builder *b, const expr *e, value *out)
{
    value v = {.array = NULL};
    EXPR_TRY(expr_build_value(b, e->child[0], &v));
    if (e->op == '+') {
        expr_take_stored(b, e, e->child[0], &v.array);
        *out = v;
        return CUBED_OK;
    }
    if (!v.array) {
        if (e->op == '~') return expr_reject(b, e, "~ needs an array of bools or integers");
        const char *wrong = expr_literal_negate(&v, out);
        return wrong ? expr_reject(b, e, wrong) : CUBED_OK;
    }
    cubed_status st =
        apply(b, e, e->op == '~' ? CUBED_OP_BITWISE_INVERT : CUBED_OP_NEGATIVE, &v, 1, out);
    drop(&v);
    return st;
}

/* --- Functions ---------------------------------------------------------------------------------------- */

static cubed_status reject_several(expr_builder *b, const expr *e, int n)
{
    return expr_fail(b->err, CUBED_E_ARG, b->text, e->at,
                     "%s returns %d arrays: name them all before \"= %s(\"", e->text, n, e->text);
}

/* Returns the number of arrays that a function of the catalogue returns. */
static int count_results(const cubed_function *f)
{
    int n = 0;
    while (n < CUBED_MAX_RESULTS && f->results[n]) n++;
    return n == 0 ? 1 : n;
}

static cubed_status call_for_one(expr_builder *b, const expr *e, const cubed_function *f,
                                 cubed_array **out)
{
    cubed_results results;
    const int n = count_results(f) - f->nextra;
    if (n > 1) return reject_several(b, e, n);
    EXPR_TRY(expr_call_function(b, e, f, &results));
    cubed_status st = CUBED_OK;
    if (f->any_results && results.n != 1) {
        st = reject_several(b, e, results.n);
    } else {
        *out = results.arrays[0];
        results.arrays[0] = NULL;
    }
    cubed_results_free(b->ctx, &results);
    return st;
}

static void add_var(expr_builder *b, expr_var var, const char *name);
static cubed_status build_statement(expr_builder *b, const expr *e, int *bare);

/* Gives new numbers to the nodes of a definition's body, and sets their positions to that of the call, for error messages. The
 * recursion depth is the height of the syntax tree. */
static void renumber(expr_builder *b, expr *e, int at)
{
    e->number = b->fresh++;
    e->at = at;
    for (int i = 0; i < e->n; i++) renumber(b, e->child[i], at);
}

static int greatest_number(const expr *e)
{
    int most = e->number;
    for (int i = 0; i < e->n; i++) {
        const int n = greatest_number(e->child[i]);
        if (n > most) most = n;
    }
    return most;
}

/* Turns argument i of a call of a definition into a variable, to which the body refers. */
static cubed_status name_argument(expr_builder *b, const expr *e, int i)
{
    expr_var var = {.of = {.array = NULL}};
    EXPR_TRY(expr_get_array(b, e->child[i], &var.of.array));
    var.about = expr_about_of(b, e->child[i]);
    if (expr_packing_of(b, e->child[i])) {
        json_t *attrs = expr_value_attrs(b, &var.about, expr_packing_of(b, e->child[i]),
                                         cubed_array_dtype(var.of.array));
        json_decref(var.about.attrs);
        var.about.attrs = attrs;
        var.about.missing = true;
    }
    char *name = expr_text(b, "_%d%c", e->number, "xyz"[i]);
    add_var(b, var, name);
    expr_text_free(name);
    return CUBED_OK;
}

/* Builds the statements of a definition's body. The last statement is the value of the call. */
static cubed_status build_body(expr_builder *b, const expr *e, const char *text, value *out)
{
    expr **list = NULL;
    int n = 0, unused = 0;
    EXPR_TRY(expr_parse(text, &list, &n, b->err));
    void *longer = lang_resize(b->bodies, (size_t)(b->nbodies + 1) * sizeof *b->bodies);
    if (!longer) {
        expr_free(list, n);
        return expr_fail(b->err, CUBED_E_NOMEM, b->text, e->at, EXPR_NO_MEMORY);
    }
    b->bodies = longer;
    b->bodies[b->nbodies].list = list;
    b->bodies[b->nbodies++].n = n;
    for (int i = 0; i < n; i++) renumber(b, list[i], e->at);
    for (int i = 0; i + 1 < n; i++) EXPR_TRY(build_statement(b, list[i], &unused));
    EXPR_TRY(expr_get_array(b, list[n - 1], &out->array));
    b->built[e->number].body = list[n - 1];
    return CUBED_OK;
}

/* Checks a keyword whose string is inserted into the body of a definition. */
static cubed_status check_word(expr_builder *b, const expr *word, const char *expected)
{
    if (!word || (word->kind == EXPR_STRING && !word->text[strcspn(word->text, "\"\\;")]))
        return CUBED_OK;
    return expr_reject(b, word, expected);
}

/* Reads the numbers of a call of a definition, which follow its arrays or are keywords. `n` is the number of positional
 * arguments. */
static cubed_status read_numbers(expr_builder *b, const expr *e, const expr_definition *d, int n,
                                 double *number)
{
    const int first = expr_defined_arrays(d);
    for (int i = 0; i < expr_defined_numbers(d); i++) {
        const expr *named = expr_keyword(e, d->numbers[i]);
        const expr *given = first + i < n ? e->child[first + i] : named;
        value v = {.array = NULL};
        if (given != named && named)
            return expr_fail(b->err, CUBED_E_ARG, b->text, named->at, "%s: %s is given twice",
                             e->text, d->numbers[i]);
        if (!given && isnan(number[i]))
            return expr_fail(b->err, CUBED_E_ARG, b->text, e->at, "%s: %s is missing, expected it",
                             e->text, d->numbers[i]);
        if (!given) continue;
        EXPR_TRY(expr_get_number(b, given, &v));
        number[i] = v.re;
    }
    return CUBED_OK;
}

/* Finds the axes of a grid that the body of a definition names by {X}, {Y} and {Z}, in the first array of a call. The caller
 * frees the names. */
static cubed_status find_axes(expr_builder *b, const expr *e, const expr_definition *d,
                              char *axis[DEFINED_AXES], int64_t extent[DEFINED_AXES])
{
    int at[DEFINED_AXES];
    cubed_array *x;
    if (!strstr(d->body, "{X") && !strstr(d->body, "{Y") && !strstr(d->body, "{Z")) return CUBED_OK;
    EXPR_TRY(expr_field_axes(b, e, &at[DEFINED_X], &at[DEFINED_Y], &at[DEFINED_Z]));
    EXPR_TRY(expr_get_array(b, e->child[0], &x));
    for (int k = 0; k < DEFINED_AXES; k++) {
        const char *name = at[k] < 0 ? NULL : cubed_array_dim_name(x, at[k]);
        extent[k] = at[k] < 0 ? 0 : cubed_array_shape(x)[at[k]];
        if (name && !strpbrk(name, "\"\\;")) axis[k] = expr_text(b, "%s", name);
    }
    cubed_array_unref(x);
    return CUBED_OK;
}

static cubed_status build_defined(expr_builder *b, const expr *e, const expr_definition *d,
                                  value *out)
{
    const char *names[DEFINED_MOST_NUMBERS + 3] = {NULL};
    double number[DEFINED_MOST_NUMBERS];
    memcpy(number, d->number, sizeof number);
    const expr *freq = expr_keyword(e, "freq");
    if (freq && freq->kind == EXPR_NONE) freq = NULL;
    const int narrays = expr_defined_arrays(d), nnumbers = expr_defined_numbers(d);
    char *text = NULL, *axis[DEFINED_AXES] = {NULL};
    int64_t extent[DEFINED_AXES] = {0};
    int n = 0;
    for (int i = 0; i < nnumbers; i++) names[n++] = d->numbers[i];
    if (d->takes_freq) names[n++] = "freq";
    if (expr_defined_is_along(d)) names[n++] = "dim";
    EXPR_TRY(expr_check_args(b, e, narrays, narrays + nnumbers, names, &n));
    EXPR_TRY(check_word(b, freq, "expected a frequency in quotes, such as \"YS\""));
    EXPR_TRY(check_word(b, expr_keyword(e, "dim"),
                        "expected the name of a dimension in quotes, such as \"time\""));
    EXPR_TRY(read_numbers(b, e, d, n, number));
    for (int i = 0; i < narrays; i++) EXPR_TRY(name_argument(b, e, i));
    EXPR_TRY(find_axes(b, e, d, axis, extent));
    expr_about about = expr_about_of(b, e->child[0]);
    const defined_values values = {
        .attrs = about.attrs,
        .number = number,
        .freq = freq ? freq->text : NULL,
        .axis = {axis[DEFINED_X], axis[DEFINED_Y], axis[DEFINED_Z]},
        .extent = {extent[DEFINED_X], extent[DEFINED_Y], extent[DEFINED_Z]}};
    cubed_status st = expr_defined_text(b, e, d, &values, &text);
    expr_about_free(&about);
    for (int k = 0; k < DEFINED_AXES; k++) expr_text_free(axis[k]);
    if (st == CUBED_OK) st = build_body(b, e, text, out);
    lang_free(text);
    return st;
}

static cubed_status build_call(expr_builder *b, const expr *e, value *out)
{
    cubed_dtype dtype;
    int n;
    bool is_group;
    EXPR_TRY(expr_calendar_build(b, e, &out->array, &is_group));
    if (!is_group) EXPR_TRY(expr_group_build(b, e, &out->array, &is_group));
    if (is_group) return CUBED_OK;
    const expr_definition *definition = expr_defined_find(e->text);
    if (definition) return build_defined(b, e, definition, out);
    /* Search expr_find_function before the catalogue, because some functions prepare arguments for the function of the same
     * name in the catalogue. */
    const expr_function *f = expr_find_function(e->text);
    if (f) return f->fn(b, e, &out->array);
    const cubed_function *function = cubed_function_find(e->text);
    const expr *by = function ? expr_keyword(e, "resample") : NULL;
    if (by) return expr_reject(b, by, "expected resample=\"1D\", in quotes");
    bool is_field = false;
    if (function) EXPR_TRY(expr_fields_build(b, e, function, &out->array, &is_field));
    if (is_field) return CUBED_OK;
    if (function) return call_for_one(b, e, function, &out->array);
    if (cubed_dtype_parse(e->text, &dtype, NULL) == CUBED_OK) {
        cubed_array *x;
        EXPR_TRY(expr_check_args(b, e, 1, 1, NULL, &n));
        EXPR_TRY(expr_get_array(b, e->child[0], &x));
        cubed_status st = expr_located(b, e, cubed_astype(x, dtype, &out->array, b->err));
        cubed_array_unref(x);
        return st;
    }
    char hint[GUESS_TEXT];
    return expr_fail(b->err, CUBED_E_ARG, b->text, e->at,
                     "unknown function \"%s\"%s; cubed eval --help lists all", e->text,
                     expr_function_hint(e->text, hint, sizeof hint));
}

/* --- Trees -------------------------------------------------------------------------------------------- */

/* Records the packing (scale_factor and add_offset) of a packed input. */
static cubed_status note_packing(expr_builder *b, const expr *e, const cubed_array *x)
{
    expr_result *r = b->result;
    cubed_cf_packing *packing;
    if (b->host->raw) return CUBED_OK;
    EXPR_TRY(expr_located(b, e, cubed_cf_packing_of(x, &packing, b->err)));
    if (!packing) return CUBED_OK;
    void *longer = lang_resize(r->packings, (size_t)(r->npackings + 1) * sizeof(*r->packings));
    if (!longer) {
        cubed_cf_packing_free(packing);
        return expr_fail(b->err, CUBED_E_NOMEM, b->text, e->at, EXPR_NO_MEMORY);
    }
    r->packings = longer;
    r->packings[r->npackings++] = packing;
    b->built[e->number].packing = packing;
    return CUBED_OK;
}

static cubed_status build_name(expr_builder *b, const expr *e, value *out)
{
    const char *known = "none";
    const expr_result *r = b->result;
    for (int i = r->n - 1; i >= 0; i--) {
        const expr_var *v = &r->vars[i];
        if (strcmp(v->of.name, e->text) != 0) continue;
        out->array = cubed_array_ref(v->of.stored ? v->of.stored : v->of.array);
        b->built[e->number].packing = v->of.packing;
        expr_source_add_all(b, &v->source);
        return CUBED_OK;
    }
    EXPR_TRY(
        expr_located(b, e, b->host->lookup(b->host->ctx, e->text, &out->array, &known, b->err)));
    if (out->array) {
        expr_source_add(b, e->text, out->array);
        const cubed_status st = note_packing(b, e, out->array);
        if (st == CUBED_OK) return st;
        cubed_array_unref(out->array);
        out->array = NULL;
        return st;
    }
    lang_guess g;
    char guess[GUESS_TEXT];
    lang_guess_init(&g, e->text);
    lang_guess_list(&g, known);
    for (int i = 0; i < r->n; i++) lang_guess_list(&g, r->vars[i].of.name);
    return expr_fail(b->err, CUBED_E_ARG, b->text, e->at, "unknown name \"%s\"%s; arrays here: %s",
                     e->text, lang_guess_text(&g, guess), known);
}

static cubed_status build_value(expr_builder *b, const expr *e, value *out)
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
        const expr *of = e->child[0], *item = e->child[1];
        cubed_status st = expr_get_moved(b, e, of, &x);
        /* ds["t"], as in an Xarray Dataset, needs a hint */
        if (st == CUBED_E_ARG && of->kind == EXPR_NAME && item->kind == EXPR_STRING)
            return expr_fail(b->err, CUBED_E_ARG, b->text, of->at,
                             "unknown name \"%s\": expressions name arrays directly, write %s",
                             of->text, item->text);
        if (st != CUBED_OK) return st;
        st = expr_index_array(b, e, x, &out->array);
        cubed_array_unref(x);
        return st;
    }
    default: return expr_reject(b, e, "expected a number or an array");
    }
}

static void forget_built(expr_builder *b, int number)
{
    cubed_array_unref(b->built[number].array);
    cubed_array_unref(b->built[number].stored);
    memset(&b->built[number], 0, sizeof b->built[number]);
}

/* Builds the value of a node and records it under the node's number. If the value has stored elements of a packed array, *out
 * receives the decoded values, whose decoding fuses with later operations. */
static cubed_status build_and_keep(expr_builder *b, const expr *e, value *out)
{
    if (e->number >= b->nbuilt) {
        const int n = 2 * e->number + 16;
        void *longer = lang_resize(b->built, (size_t)n * sizeof *b->built);
        if (!longer) return expr_fail(b->err, CUBED_E_NOMEM, b->text, e->at, EXPR_NO_MEMORY);
        b->built = longer;
        memset(b->built + b->nbuilt, 0, (size_t)(n - b->nbuilt) * sizeof *b->built);
        b->nbuilt = n;
    }
    forget_built(b, e->number);
    EXPR_TRY(build_value(b, e, out));
    if (!out->array) return CUBED_OK;
    const cubed_cf_packing *packing = b->built[e->number].packing;
    if (packing) {
        cubed_array *decoded;
        const cubed_status st =
            expr_located(b, e, cubed_cf_unpack(out->array, packing, &decoded, b->err));
        b->built[e->number].stored = out->array;
        out->array = NULL;
        if (st != CUBED_OK) return st;
        out->array = decoded;
    }
    b->built[e->number].array = cubed_array_ref(out->array);
    return CUBED_OK;
}

static void free_var(expr_var *v)
{
    expr_text_free(v->of.name);
    cubed_array_unref(v->of.array);
    cubed_array_unref(v->of.stored);
    expr_about_free(&v->about);
    expr_source_free(&v->source);
}

/* Appends a variable to the results. Takes ownership of the members of `var`. */
static void add_var(expr_builder *b, expr_var var, const char *name)
{
    expr_result *r = b->result;
    expr_var *longer = lang_resize(r->vars, (size_t)(r->n + 1) * sizeof *r->vars);
    var.of.name = expr_text(b, "%s", name);
    var.is_result = name[0] != '_';
    var.source = expr_source_copy(b);
    if (!longer) {
        b->no_memory = true;
        free_var(&var);
        return;
    }
    r->vars = longer;
    r->vars[r->n++] = var;
}

/* Replaces *x by an array with the given attributes, unless *x has these attributes already. */
static cubed_status set_attrs(expr_builder *b, const expr *e, const json_t *attrs, cubed_array **x)
{
    json_t *own = expr_json_attrs(b, *x);
    const bool same = attrs ? json_equal(attrs, own) : json_object_size(own) == 0;
    json_decref(own);
    if (same) return CUBED_OK;
    cubed_array *y;
    EXPR_TRY(expr_located(b, e, expr_json_describe(b, *x, attrs, &y)));
    cubed_array_unref(*x);
    *x = y;
    return CUBED_OK;
}

void expr_result_free(expr_result *r)
{
    for (int i = 0; i < r->n; i++) free_var(&r->vars[i]);
    for (int i = 0; i < r->npackings; i++) cubed_cf_packing_free(r->packings[i]);
    lang_free(r->packings);
    lang_free(r->vars);
    memset(r, 0, sizeof *r);
}

static cubed_status reject_names(expr_builder *b, const expr *e, int nout)
{
    return expr_fail(b->err, CUBED_E_ARG, b->text, e->at, "%s returns %d arrays, %d are named",
                     e->child[e->n - 1]->text, nout, e->n);
}

/* Builds an assignment such as a, b = f(x). */
static cubed_status assign_several(expr_builder *b, const expr *e)
{
    const expr *call = e->child[e->n - 1];
    const cubed_function *function =
        call->kind == EXPR_CALL ? cubed_function_find(call->text) : NULL;
    cubed_array *outs[EXPR_MAX_TUPLE];
    cubed_results results;
    if (!function || (!function->results[0] && !function->any_results))
        return expr_reject(b, call, "this is one array, but there are several names for it");
    if (e->n > EXPR_MAX_TUPLE) return expr_reject(b, e, "too many names");
    if (!function->any_results && count_results(function) != e->n)
        return reject_names(b, e, count_results(function));
    EXPR_TRY(expr_call_function(b, call, function, &results));
    if (results.n != e->n) {
        const cubed_status st = reject_names(b, e, results.n);
        cubed_results_free(b->ctx, &results);
        return st;
    }
    memcpy(outs, results.arrays, (size_t)results.n * sizeof *outs);
    memset(results.arrays, 0, (size_t)results.n * sizeof *outs);
    cubed_results_free(b->ctx, &results);
    for (int i = 0; i < e->n; i++) {
        expr_about about = expr_about_of(b, call);
        json_decref(about.attrs);
        about.attrs = expr_json_object(b);
        const expr_var var = {.of = {.array = outs[i]}, .about = about};
        add_var(b, var, i == 0 ? e->text : e->child[i - 1]->text);
    }
    return CUBED_OK;
}

/* Adds the attribute _FillValue to packed elements if their missing value was the fill value in the input's metadata. The
 * result does not have that metadata. */
static void note_fill(expr_builder *b, expr_var *var)
{
    cubed_scalar v;
    if (!var->of.stored || !var->of.packing->has_own_fill ||
        cubed_array_missing_value(var->of.stored, &v))
        return;
    v = var->of.packing->own_fill;
    const cubed_dtype dtype = cubed_array_dtype(var->of.stored);
    /* Jansson has no integers beyond int64. */
    json_t *fill = dtype == CUBED_UINT64 && v.u64 > INT64_MAX ? json_real((double)v.u64)
                                                              : lang_element_json(dtype, &v);
    if (!var->about.attrs) var->about.attrs = expr_json_object(b);
    expr_json_put(b, var->about.attrs, "_FillValue", fill);
}

static cubed_status build_statement(expr_builder *b, const expr *e, int *bare)
{
    bool named = e->kind == EXPR_ASSIGN;
    expr_var var = {.of = {.array = NULL}};
    if (named && e->n > 1) return assign_several(b, e);
    const expr *what = named ? e->child[0] : e;
    EXPR_TRY(expr_get_array(b, what, &var.of.array));
    var.about = expr_about_of(b, what);
    var.of.packing = expr_packing_of(b, what);
    if (var.of.packing) var.of.stored = cubed_array_ref(b->built[what->number].stored);
    note_fill(b, &var);
    /* packed elements keep the attributes that describe their packing; for decoded values these are removed */
    json_t *own = expr_value_attrs(b, &var.about, var.of.packing, cubed_array_dtype(var.of.array));
    cubed_status st = set_attrs(b, what, own, &var.of.array);
    json_decref(own);
    if (st == CUBED_OK && var.of.stored) st = set_attrs(b, what, var.about.attrs, &var.of.stored);
    if (st != CUBED_OK) {
        free_var(&var);
        return st;
    }
    char name[EXPR_BARE_CAP];
    var.of.is_bare = !named;
    if (!named) expr_name_bare(++*bare, name);
    add_var(b, var, named ? e->text : name);
    return CUBED_OK;
}

cubed_status expr_build(cubed_context *ctx, const char *text, expr *const *statements, int n,
                        const cubed_expr_host *host, expr_result *out, cubed_error *err)
{
    cubed_error own = CUBED_ERROR_INIT;
    expr_builder b = {.build = build_and_keep,
                      .ctx = ctx,
                      .text = text,
                      .host = host,
                      .result = out,
                      .err = err ? err : &own};
    int bare = 0;
    cubed_status st = CUBED_OK;
    memset(out, 0, sizeof *out);
    for (int i = 0; i < n; i++) {
        const int most = greatest_number(statements[i]);
        if (most >= b.fresh) b.fresh = most + 1;
    }
    for (int i = 0; i < n && st == CUBED_OK; i++) {
        st = build_statement(&b, statements[i], &bare);
        expr_source_free(&b.source);
        if (b.no_memory)
            st = expr_fail(b.err, CUBED_E_NOMEM, text, statements[i]->at, EXPR_NO_MEMORY);
    }
    if (st == CUBED_OK) {
        expr_name_results(&b);
        if (b.no_memory) st = expr_fail(b.err, CUBED_E_NOMEM, text, 0, EXPR_NO_MEMORY);
    }
    if (st != CUBED_OK) expr_result_free(out);
    for (int i = 0; i < b.nbuilt; i++) forget_built(&b, i);
    for (int i = 0; i < b.nnoted; i++) expr_coord_free(&b.noted[i].coord);
    for (int i = 0; i < b.nbodies; i++) expr_free(b.bodies[i].list, b.bodies[i].n);
    lang_free(b.bodies);
    lang_free(b.built);
    lang_free(b.noted);
    expr_weights_free(b.weights);
    return st;
}
