#include "lang/about.h"

#include <jansson.h>
#include <string.h>

#include "cubed/calendar.h"
#include "lang/calendar_call.h"
#include "lang/expr_attributes.h"
#include "lang/expr_defined.h"
#include "lang/expr_index.h"
#include "lang/expr_json.h"
#include "lang/lang_arrays.h"
#include "lang/lang_memory.h"

typedef struct named_rule {
    const char *name;
    cubed_attrs_rule rule;
    const char *method; /* method for cell_methods; NULL if CF defines none */
    int first;          /* index of the first operand from which the result may get attributes */
} named_rule;

/* Attribute rules of functions without a rule in the catalogue. */
static const named_rule rules[] = {
    {"sel", CUBED_ATTRS_VIEW, NULL, 0},          {"assign", CUBED_ATTRS_SAME, NULL, 0},
    {EXPR_SET_ATTRS, CUBED_ATTRS_VIEW, NULL, 0}, {"first", CUBED_ATTRS_REDUCE, NULL, 0},
    {"anomaly", CUBED_ATTRS_SAME, NULL, 0},      {"last", CUBED_ATTRS_REDUCE, NULL, 0},
    {"remapbil", CUBED_ATTRS_SAME, NULL, 0},     {"remapcon", CUBED_ATTRS_SAME, NULL, 0},
    {"remapdis", CUBED_ATTRS_SAME, NULL, 0},     {"remapnn", CUBED_ATTRS_SAME, NULL, 0},
    {"remapbic", CUBED_ATTRS_SAME, NULL, 0},     {"remapcon2", CUBED_ATTRS_SAME, NULL, 0},
    {"remaplaf", CUBED_ATTRS_SAME, NULL, 0},
};

static named_rule find_rule(const char *name)
{
    cubed_dtype dtype;
    const cubed_function *f = cubed_function_find(name);
    if (f && f->attrs != CUBED_ATTRS_NONE)
        return (named_rule){f->name, f->attrs, f->cell_method, f->first_operand};
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        const bool nan = rules[i].rule >= CUBED_ATTRS_REDUCE && strncmp(name, "nan", 3) == 0;
        if (strcmp(rules[i].name, nan ? name + 3 : name) == 0) return rules[i];
    }
    if (cubed_dtype_parse(name, &dtype, NULL) == CUBED_OK || calendar_call_selection(name))
        return (named_rule){name, CUBED_ATTRS_VIEW, NULL, 0};
    const calendar_operation *operation = calendar_call_operation(name);
    if (operation) return (named_rule){name, operation->rule, NULL, 0};
    return (named_rule){name, CUBED_ATTRS_NONE, NULL, 0};
}

/* --- Attributes --------------------------------------------------------------------------------------- */

/* Attributes that describe how elements are stored, and attributes that describe individual elements. They are removed from
 * computed results. */
static const char *const of_values[] = {"_FillValue",
                                        "missing_value",
                                        "valid_min",
                                        "valid_max",
                                        "valid_range",
                                        "actual_range",
                                        "flag_values",
                                        "flag_masks",
                                        "flag_meanings",
                                        "ancillary_variables",
                                        "number_of_significant_digits",
                                        "bounds",
                                        "climatology",
                                        "_Unsigned"};

static const char *get_text(const json_t *attrs, const char *name)
{
    const char *text = lang_attribute_text(attrs, name);
    return text ? text : "";
}

/* Returns true if the units count from a date, so that values are points in time. Sums and spreads of such values are not
 * points in time. */
static bool is_reference(const json_t *attrs)
{
    return cubed_time_units_since(get_text(attrs, "units"));
}

/* Removes the attributes that do not hold for computed values. Returns NULL if values are packed and were not decoded, because
 * their units are unknown. */
static json_t *computed(json_t *attrs)
{
    if (json_object_get(attrs, "scale_factor") || json_object_get(attrs, "add_offset")) {
        json_decref(attrs);
        return NULL;
    }
    for (size_t i = 0; attrs && i < sizeof of_values / sizeof *of_values; i++)
        expr_json_drop_attribute(attrs, of_values[i]);
    return attrs;
}

static void drop_packing(json_t *attrs, const cubed_cf_packing *packing)
{
    const char *name;
    json_t *value;
    void *next;
    json_object_foreach_safe(attrs, next, name, value)
    {
        if (cubed_cf_packing_describes(packing, name)) expr_json_drop_attribute(attrs, name);
    }
}

json_t *expr_value_attrs(expr_builder *b, const expr_about *about, const cubed_cf_packing *packing,
                         cubed_dtype dtype)
{
    json_t *attrs = expr_json_copy(b, about->attrs);
    if (packing) drop_packing(attrs, packing);
    if ((packing || about->missing) && cubed_dtype_kind(dtype) == CUBED_KIND_FLOAT) {
        if (!attrs) attrs = expr_json_object(b);
        expr_json_drop_attribute(attrs, "_FillValue");
        expr_json_put_text(b, attrs, "_FillValue", "NaN");
    }
    return attrs;
}

static json_t *unless_reference(json_t *attrs)
{
    if (!is_reference(attrs)) return attrs;
    json_decref(attrs);
    return NULL;
}

/* Squares units: "K" becomes "K2", and "m s-1" becomes "(m s-1)2", the UDUNITS syntax of powers. */
static void square_units(expr_builder *b, json_t *attrs)
{
    const char *units = get_text(attrs, "units");
    if (!*units || strcmp(units, "1") == 0) return;
    /* A squared difference of temperatures in degrees Celsius is in K2. */
    if (expr_is_celsius(units)) units = "K";
    const bool simple =
        strspn(units, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz") == strlen(units);
    expr_json_put_text(b, attrs, "units", simple ? "%s2" : "(%s)2", units);
}

/* Keeps the attributes that have the same value in `other`. Also keeps the attributes that describe `kept`, because files
 * may spell the attributes of equal packings differently. `kept` is the packing of the result, or NULL if the result is not
 * packed. */
static json_t *shared(expr_builder *b, json_t *attrs, const json_t *other,
                      const cubed_cf_packing *kept)
{
    const char *name;
    json_t *value, *both = attrs ? expr_json_object(b) : NULL;
    /* Two files with equal packings may have different valid ranges in packed units. With `unscaled`, attributes of valid ranges
     * do not describe the packing, so their values are compared. */
    const cubed_cf_packing unscaled = {.is_bool = kept && kept->is_bool};
    json_object_foreach(attrs, name, value)
    {
        if (strcmp(name, CUBED_ATTRIBUTE_TYPES) == 0 ||
            (kept && cubed_cf_packing_describes(&unscaled, name)) ||
            json_equal(value, json_object_get(other, name)))
            expr_json_put(b, both, name, json_incref(value));
    }
    json_decref(attrs);
    return both;
}

static bool is_axis_in(int d, int ndim, int n, const int *axes)
{
    for (int i = 0; i < n; i++) {
        if (d == (axes[i] < 0 ? axes[i] + ndim : axes[i])) return true;
    }
    return n < 0;
}

/* Appends "time: mean" to cell_methods, as CDO does. Adds nothing if a reduced dimension has no name. */
static void add_method(expr_builder *b, json_t *attrs, const cubed_array *x, int n, const int *axes,
                       const char *method)
{
    const char *had = get_text(attrs, "cell_methods");
    char *text = expr_text(b, "%s%s", had, *had ? " " : "");
    const int ndim = cubed_array_ndim(x);
    bool named = ndim > 0 && n != 0;
    for (int d = 0; d < ndim && named; d++) {
        const char *name = cubed_array_dim_name(x, d);
        if (!is_axis_in(d, ndim, n, axes)) continue;
        char *longer = expr_text(b, "%s%s: ", text, name ? name : "");
        expr_text_free(text);
        text = longer;
        named = name != NULL;
    }
    if (named) expr_json_put_text(b, attrs, "cell_methods", "%s%s", text, method);
    expr_text_free(text);
}

/* --- Coordinates -------------------------------------------------------------------------------------- */

void expr_coord_free(cubed_expr_coord *c)
{
    expr_text_free(c->dim);
    expr_text_free(c->key);
    cubed_array_unref(c->made);
    cubed_array_unref(c->bounds);
}

void expr_about_free(expr_about *about)
{
    json_decref(about->attrs);
    for (int i = 0; i < about->ncoords; i++) expr_coord_free(&about->coords[i]);
    lang_free(about->coords);
    *about = (expr_about){.attrs = NULL};
}

cubed_expr_coord expr_coord_copy(expr_builder *b, const cubed_expr_coord *c)
{
    cubed_expr_coord to = *c;
    to.dim = expr_text(b, "%s", c->dim);
    to.key = c->key ? expr_text(b, "%s", c->key) : NULL;
    if (to.made) to.made = cubed_array_ref(to.made);
    if (to.bounds) to.bounds = cubed_array_ref(to.bounds);
    return to;
}

void expr_coord_cut(cubed_expr_coord *c, const cubed_slice *s)
{
    c->part.start += s->start * c->part.step;
    c->part.step *= s->step;
    c->part.len = s->len;
}

static expr_about copy_about(expr_builder *b, const expr_about *about)
{
    expr_about to = {expr_json_copy(b, about->attrs), about->missing, 0, NULL};
    to.coords = lang_alloc((size_t)about->ncoords * sizeof *to.coords);
    b->no_memory = b->no_memory || !to.coords;
    if (to.coords) to.ncoords = about->ncoords;
    for (int i = 0; i < to.ncoords; i++) to.coords[i] = expr_coord_copy(b, &about->coords[i]);
    return to;
}

cubed_expr_coord *expr_find_coord(const expr_about *about, const char *dim)
{
    for (int i = 0; i < about->ncoords; i++) {
        if (strcmp(about->coords[i].dim, dim) == 0) return &about->coords[i];
    }
    return NULL;
}

/* Adds a coordinate to a description, and takes ownership of the coordinate. */
static void put_coord(expr_builder *b, expr_about *about, cubed_expr_coord coord)
{
    cubed_expr_coord *have = expr_find_coord(about, coord.dim);
    if (have) {
        expr_coord_free(have);
        *have = coord;
        return;
    }
    cubed_expr_coord *longer =
        lang_resize(about->coords, (size_t)(about->ncoords + 1) * sizeof coord);
    if (!longer) {
        b->no_memory = true;
        expr_coord_free(&coord);
        return;
    }
    about->coords = longer;
    about->coords[about->ncoords++] = coord;
}

/* Returns true if c has all elements of the input's coordinate. */
static bool is_whole(const cubed_expr_coord *c)
{
    return !c->key && !c->made && !c->cut && c->part.start == 0 && c->part.step == 1 &&
           c->part.len == c->whole;
}

bool cubed_expr_coord_equal(const cubed_expr_coord *a, const cubed_expr_coord *b)
{
    if (!a || !b) return a == b || is_whole(a ? a : b);
    const bool key = a->key && b->key ? strcmp(a->key, b->key) == 0 : a->key == b->key;
    return key && !a->cut && !b->cut && a->whole == b->whole && a->part.start == b->part.start &&
           a->part.len == b->part.len && a->part.step == b->part.step;
}

void expr_about_note(expr_builder *b, const expr *e, cubed_expr_coord coord)
{
    void *longer = lang_resize(b->noted, (size_t)(b->nnoted + 1) * sizeof *b->noted);
    if (!longer) {
        b->no_memory = true;
        expr_coord_free(&coord);
        return;
    }
    b->noted = longer;
    b->noted[b->nnoted].number = e->number;
    b->noted[b->nnoted++].coord = coord;
}

static void remove_coord(expr_about *about, const char *dim)
{
    cubed_expr_coord *c = expr_find_coord(about, dim);
    if (!c) return;
    expr_coord_free(c);
    *c = about->coords[--about->ncoords];
}

/* Merges the coordinates of two operands, x and y. If their coordinates of a dimension differ, no coordinate describes the
 * result's dimension. The coordinate of an operand with one element that is broadcast along the dimension is ignored. */
static void merge_coords(expr_builder *b, expr_about *into, const cubed_array *x,
                         const expr_about *other, const cubed_array *y)
{
    for (int d = 0; d < cubed_array_ndim(y); d++) {
        const char *dim = cubed_array_dim_name(y, d);
        const int k = lang_axis_named(x, dim);
        const cubed_expr_coord *c = dim ? expr_find_coord(other, dim) : NULL;
        const int64_t yours = cubed_array_shape(y)[d], mine = k < 0 ? 1 : cubed_array_shape(x)[k];
        if (!dim || (k >= 0 && yours == 1 && mine != 1)) continue;
        if (k >= 0 && mine == yours) {
            cubed_expr_coord *had = expr_find_coord(into, dim);
            if (cubed_expr_coord_equal(had, c)) continue;
            cubed_expr_coord cut = expr_coord_copy(b, had ? had : c);
            cut.cut = true;
            put_coord(b, into, cut);
        } else {
            remove_coord(into, dim);
            if (c) put_coord(b, into, expr_coord_copy(b, c));
        }
    }
}

/* --- Trees -------------------------------------------------------------------------------------------- */

static cubed_array *built(const expr_builder *b, const expr *e)
{
    return e->number < b->nbuilt ? b->built[e->number].array : NULL;
}

/* Describes a name. The description is that of the statement that assigned it, or the attributes of the input. */
static expr_about about_name(expr_builder *b, const expr *e)
{
    const expr_result *r = b->result;
    for (int i = r->n - 1; i >= 0; i--) {
        if (strcmp(r->vars[i].of.name, e->text) == 0) return copy_about(b, &r->vars[i].about);
    }
    const cubed_array *x = expr_packing_of(b, e) ? b->built[e->number].stored : built(b, e);
    return (expr_about){.attrs = x ? expr_json_attrs(b, x) : NULL};
}

static expr_about about_slices(expr_builder *b, const expr *e)
{
    expr_about about = expr_about_of(b, e->child[0]);
    const cubed_array *x = built(b, e->child[0]);
    cubed_slice slices[CUBED_MAX_NDIM];
    int fresh[CUBED_MAX_NDIM], nfresh;
    if (!x || expr_get_slices(b, e, x, slices, fresh, &nfresh) != CUBED_OK) return about;
    for (int d = 0; d < cubed_array_ndim(x); d++) {
        const char *name = cubed_array_dim_name(x, d);
        const cubed_slice *s = &slices[d];
        const int64_t extent = cubed_array_shape(x)[d];
        if (!name || s->drop || (s->start == 0 && s->step == 1 && s->len == extent)) continue;
        const cubed_expr_coord *had = expr_find_coord(&about, name);
        cubed_expr_coord c = had ? expr_coord_copy(b, had)
                                 : (cubed_expr_coord){.dim = expr_text(b, "%s", name),
                                                      .whole = extent,
                                                      .part = {0, extent, 1, false}};
        expr_coord_cut(&c, s);
        put_coord(b, &about, c);
    }
    return about;
}

static int count_operands(const expr *e)
{
    int n = e->n;
    for (int i = 0; i < e->n; i++) n += e->child[i]->kind == EXPR_TUPLE ? e->child[i]->n : 0;
    return n;
}

/* Gets the operands of a call or an operator: its children, or the items of its list. Returns their number. */
static int operands(const expr *e, const expr **list)
{
    int n = 0;
    for (int i = 0; i < e->n; i++) {
        const expr *c = e->child[i];
        if (c->kind == EXPR_KEYWORD) continue;
        for (int k = 0; c->kind == EXPR_TUPLE && k < c->n; k++) list[n++] = c->child[k];
        if (c->kind != EXPR_TUPLE) list[n++] = c;
    }
    return n;
}

/* Adds "area: mean (areas from bounds)" or "lon: mean" to cell_methods. For an integral, sets units such as "K m2". */
static void add_field_method(expr_builder *b, const expr *e, json_t *attrs, const char *method)
{
    const expr_reduced *reduced = &b->built[e->number].reduced;
    const cubed_array *x = built(b, e->child[0]);
    const char *had = get_text(attrs, "cell_methods"), *units = get_text(attrs, "units");
    const bool is_integral = strcmp(e->text, "fldint") == 0;
    int n = 0, axes[CUBED_MAX_NDIM];
    if (is_integral && *units)
        expr_json_put_text(b, attrs, "units", strcmp(units, "1") == 0 ? "%.0sm2" : "%s m2", units);
    if (!method || !x) return;
    for (int d = 0; d < cubed_array_ndim(x); d++) {
        if (reduced->axes >> d & 1) axes[n++] = d;
    }
    if (reduced->is_area)
        expr_json_put_text(b, attrs, "cell_methods", "%s%sarea: %s", had, *had ? " " : "", method);
    else
        add_method(b, attrs, x, n, axes, method);
    char *all = expr_text(b, "%s", get_text(attrs, "cell_methods"));
    if (reduced->said && *all)
        expr_json_put_text(b, attrs, "cell_methods", "%s (%s)", all, reduced->said);
    expr_text_free(all);
}

static void add_reduction(expr_builder *b, const expr *e, const named_rule *r, json_t *attrs)
{
    const cubed_array *x = built(b, e->child[0]);
    int n, axes[CUBED_MAX_NDIM];
    const bool order = strstr(e->text, "quantile") || strstr(e->text, "percentile");
    const bool windows = e->kind == EXPR_CALL && strcmp(e->text, "rolling") == 0;
    const expr *axis =
        e->n > 1 && !windows && e->child[1]->kind != EXPR_KEYWORD && !order ? e->child[1] : NULL;
    if (r->rule == CUBED_ATTRS_SQUARE) square_units(b, attrs);
    if (e->number < b->nbuilt && b->built[e->number].reduced.axes) {
        add_field_method(b, e, attrs, r->method);
        return;
    }
    if (x && calendar_call_reduction(e, x, &axes[0])) {
        if (r->method) add_method(b, attrs, x, 1, axes, r->method);
        return;
    }
    if (!x || !r->method || expr_get_axes(b, e, axis, x, &n, axes) != CUBED_OK) return;
    /* without named axes, the window moves along the only axis */
    if (windows && n < 0) axes[0] = 0;
    add_method(b, attrs, x, windows && n < 0 ? 1 : n, axes, r->method);
}

static bool is_time_spread(const named_rule *r)
{
    static const char *const spreads[] = {"sum", "standard_deviation", "range", NULL};
    const char *const *s = spreads;
    while (r->method && *s && strcmp(r->method, *s) != 0) s++;
    return r->rule == CUBED_ATTRS_SQUARE || (r->method && *s);
}

static bool is_area(const expr *e)
{
    return e->kind == EXPR_CALL && strcmp(e->text, "gridarea") == 0;
}

static json_t *area_attributes(expr_builder *b)
{
    json_t *attrs = expr_json_object(b);
    expr_json_put_text(b, attrs, "standard_name", "cell_area");
    expr_json_put_text(b, attrs, "long_name", "area of grid cell");
    expr_json_put_text(b, attrs, "units", "m2");
    return attrs;
}

/* After remapping, removes attributes that name coordinates of the operand's grid, and names the coordinates of the new
 * grid. */
static json_t *replace_grid(expr_builder *b, const expr *e, json_t *attrs)
{
    static const char *const of_grid[] = {"coordinates", "grid_mapping", "cell_measures"};
    if (e->kind != EXPR_CALL || strncmp(e->text, "remap", strlen("remap")) != 0) return attrs;
    for (size_t i = 0; attrs && i < sizeof of_grid / sizeof *of_grid; i++)
        expr_json_drop_attribute(attrs, of_grid[i]);
    const cubed_array *y = built(b, e);
    for (int i = 0; i < b->nnoted; i++) {
        const cubed_expr_coord *c = &b->noted[i].coord;
        /* A coordinate of an axis has the name of its dimension, so no attribute lists it. */
        if (b->noted[i].number != e->number || strcmp(c->dim, "lat") != 0 || !y ||
            lang_axis_named(y, c->dim) >= 0)
            continue;
        if (!attrs) attrs = expr_json_object(b);
        expr_json_put_text(b, attrs, "coordinates", "lat lon");
    }
    return attrs;
}

/* Returns attributes for weights_file. The centres of cells in such a file are in radians. */
static json_t *weights_attributes(expr_builder *b, const expr *e)
{
    const expr *part = strcmp(e->text, "weights_file") == 0 ? expr_keyword(e, "part") : NULL;
    if (!part || part->kind != EXPR_STRING || !strstr(part->text, "_center_")) return NULL;
    json_t *attrs = expr_json_object(b);
    expr_json_put_text(b, attrs, "units", "radians");
    return attrs;
}

/* Derives the attributes of a result. `attrs` are the attributes of the operands used. `narrays` of these operands are arrays. */
static json_t *attributes(expr_builder *b, const expr *e, const named_rule *r, json_t *attrs,
                          int narrays)
{
    if (r->rule == CUBED_ATTRS_VIEW || expr_packing_of(b, e)) return attrs;
    const bool differs = r->rule == CUBED_ATTRS_SAME || r->rule == CUBED_ATTRS_SCALE ||
                         r->rule == CUBED_ATTRS_SHARED;
    attrs = computed(attrs);
    if (attrs && (differs || is_time_spread(r))) attrs = unless_reference(attrs);
    if (r->rule == CUBED_ATTRS_NONE || (r->rule == CUBED_ATTRS_SCALE && narrays > 1)) {
        json_decref(attrs);
        if (is_area(e)) return area_attributes(b);
        return e->kind == EXPR_CALL ? weights_attributes(b, e) : NULL;
    }
    if (attrs && r->rule >= CUBED_ATTRS_REDUCE) add_reduction(b, e, r, attrs);
    return replace_grid(b, e, attrs);
}

/* Returns the string argument of a call of f that selects the reduction, or NULL if there is no such argument. */
static const expr *rule_argument(const cubed_function *f, const expr *e)
{
    for (int i = 0; i < f->nparams; i++) {
        if (!(f->params[i].flags & CUBED_PARAM_RULE)) continue;
        const expr *given = expr_keyword(e, f->params[i].name);
        if (!given && i < e->n) given = e->child[i];
        return given && given->kind == EXPR_STRING ? given : NULL;
    }
    return NULL;
}

static named_rule rule_of(const expr_builder *b, const expr *e)
{
    int axis;
    const cubed_array *x = e->n > 0 ? built(b, e->child[0]) : NULL;
    const char *reduction = x ? calendar_call_reduction(e, x, &axis) : NULL;
    if (reduction) return find_rule(reduction);
    const cubed_function *f = e->kind == EXPR_CALL ? cubed_function_find(e->text) : NULL;
    const expr *named = f ? rule_argument(f, e) : NULL;
    if (named || (e->kind == EXPR_CALL && expr_keyword(e, "groupby"))) {
        named_rule r = find_rule(named ? named->text : e->text);
        /* With labels, the result has an axis of groups in place of the dimension. So cell_methods records no method. */
        if (!named || f->coords != CUBED_COORDS_WINDOWS) r.method = NULL;
        return r;
    }
    if (e->kind == EXPR_CALL) return find_rule(e->text);
    if (e->kind == EXPR_UNARY)
        return find_rule(e->op == '~' ? "" : e->op == '-' ? "negative" : "squeeze");
    switch (e->op) {
    case '+': return find_rule("add");
    case '-': return find_rule("subtract");
    case '*': return find_rule("multiply");
    case '/': return find_rule("divide");
    case '%': return find_rule("remainder");
    default: return find_rule("");
    }
}

/* Use of an operand's attributes: they are ignored, become the attributes of the result, or are compared with the attributes
 * of earlier operands. */
typedef enum attrs_use { WITHOUT_ATTRS, FIRST_ATTRS, MORE_ATTRS } attrs_use;

/* Adds the description of an operand to `all`, which describes the operands before it. `kept` is the packing of the result, or
 * NULL if the result is not packed. */
static void add_operand(expr_builder *b, const expr *e, const cubed_cf_packing *kept, attrs_use use,
                        const cubed_array **first, expr_about *all)
{
    const cubed_array *x = built(b, e);
    expr_about one = expr_about_of(b, e);
    const cubed_cf_packing *packing = kept ? NULL : expr_packing_of(b, e);
    if (packing) {
        drop_packing(one.attrs, packing);
        one.missing = true;
    }
    all->missing = all->missing || one.missing;
    /* Shares the object by a reference, because code that changes attributes copies them first. */
    if (use == FIRST_ATTRS)
        all->attrs = json_incref(one.attrs);
    else if (use == MORE_ATTRS)
        all->attrs = shared(b, all->attrs, one.attrs, kept);
    if (*first) {
        merge_coords(b, all, *first, &one, x);
    } else {
        *first = x;
        all->ncoords = one.ncoords;
        all->coords = one.coords;
        one.ncoords = 0;
        one.coords = NULL;
    }
    expr_about_free(&one);
}

/* Describes a call of a definition. The coordinates are those of the expression to which the call expands, or of the first
 * argument if the definition keeps them. The attributes are those of one of the call's arrays. */
static expr_about about_defined(expr_builder *b, const expr *e, const expr *body)
{
    const expr_definition *d = expr_defined_find(e->text);
    const cubed_array *x = built(b, e->child[0]);
    expr_about about = expr_about_of(b, d->keeps_coords ? e->child[0] : body);
    expr_about first = expr_about_of(b, e->child[d->about]);
    const cubed_cf_packing *packing = expr_packing_of(b, e->child[d->about]);
    if (packing) drop_packing(first.attrs, packing);
    about.missing = about.missing || packing != NULL || first.missing;
    json_decref(about.attrs);
    about.attrs = d->rule == CUBED_ATTRS_NONE ? NULL : computed(json_incref(first.attrs));
    if (d->rule == CUBED_ATTRS_SQUARE && about.attrs) square_units(b, about.attrs);
    if ((d->units || d->long_name) && !about.attrs) about.attrs = expr_json_object(b);
    const int axis = x ? lang_axis_named(x, expr_defined_dim(e)) : -1;
    if (d->method && about.attrs && axis >= 0) add_method(b, about.attrs, x, 1, &axis, d->method);
    if (d->units) expr_json_put_text(b, about.attrs, "units", "%s", d->units);
    if (d->long_name) {
        expr_json_put_text(b, about.attrs, "long_name", "%s", d->long_name);
        expr_json_drop_attribute(about.attrs, "standard_name");
    }
    expr_about_free(&first);
    return about;
}

static expr_about about_operands(expr_builder *b, const expr *e)
{
    const expr *body = e->number < b->nbuilt ? b->built[e->number].body : NULL;
    if (body) return about_defined(b, e, body);

    const named_rule r = rule_of(b, e);
    const expr **list = lang_alloc((size_t)count_operands(e) * sizeof *list);
    if (!list) {
        b->no_memory = true;
        return (expr_about){.attrs = NULL};
    }
    const int n = operands(e, list);
    const bool all_count = r.rule == CUBED_ATTRS_SHARED || r.rule == CUBED_ATTRS_SCALE;
    expr_about all = {.attrs = NULL};
    const cubed_cf_packing *kept = expr_packing_of(b, e);
    const cubed_array *first = NULL;
    int narrays = 0; /* number of arrays whose attributes are used */
    for (int i = 0; i < n; i++) {
        if (!built(b, list[i])) continue;
        const bool counts = i >= r.first && (all_count || narrays == 0);
        const attrs_use use = !counts ? WITHOUT_ATTRS : narrays == 0 ? FIRST_ATTRS : MORE_ATTRS;
        add_operand(b, list[i], kept, use, &first, &all);
        narrays += counts;
    }
    /* In a quotient such as 1 / x, the units of x do not hold for the result. */
    if (r.rule == CUBED_ATTRS_SCALE && strcmp(r.name, "divide") == 0 && n > 0 && !built(b, list[0]))
        narrays = 2;
    all.attrs = attributes(b, e, &r, all.attrs, narrays);
    if (n == 2 && narrays == 1)
        expr_units_with_number(b, r.name, list[0], list[1], built(b, list[0]) == NULL, all.attrs);
    lang_free(list);
    if (r.rule == CUBED_ATTRS_VIEW && strcmp(r.name, EXPR_SET_ATTRS) == 0)
        expr_put_attributes(b, e, &all.attrs);
    for (int i = 0; i < b->nnoted; i++) {
        if (b->noted[i].number == e->number)
            put_coord(b, &all, expr_coord_copy(b, &b->noted[i].coord));
    }
    return all;
}

expr_about expr_about_of(expr_builder *b, const expr *e)
{
    switch (e->kind) {
    case EXPR_NAME: return about_name(b, e);
    case EXPR_INDEX: return about_slices(b, e);
    case EXPR_UNARY:
    case EXPR_BINARY:
    case EXPR_CALL: return about_operands(b, e);
    default: return (expr_about){.attrs = NULL};
    }
}
