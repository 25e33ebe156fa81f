#include "lang/result_names.h"

#include <stdio.h>
#include <string.h>

#include "lang/expr_json.h"
#include "lang/lang_arrays.h"
#include "lang/lang_memory.h"

void expr_name_bare(int number, char name[EXPR_BARE_CAP])
{
    snprintf(name, EXPR_BARE_CAP, number > 1 ? "result%d" : "result", number);
}

/* Returns true if the coordinate of a dimension names `name` as its bounds. */
static bool is_bounds_of(expr_builder *b, const char *dim, const char *name)
{
    static const char *const attributes[] = {"bounds", "climatology"};
    cubed_array *c = NULL;
    /* ignored, except a lack of memory: the coordinate may be missing, or have another type */
    cubed_error ignored = CUBED_ERROR_INIT;
    bool found = false;
    if (!b->host->coordinate) return false;
    const cubed_status st = b->host->coordinate(b->host->ctx, dim, &c, &ignored);
    if (st == CUBED_E_NOMEM) b->no_memory = true;
    if (st != CUBED_OK || !c) return false;
    json_t *attrs = expr_json_attrs(b, c);
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++) {
        const char *bounds = json_string_value(json_object_get(attrs, attributes[i]));
        found = found || (bounds && strcmp(bounds, name) == 0);
    }
    json_decref(attrs);
    cubed_array_unref(c);
    return found;
}

static bool describes_others(expr_builder *b, const char *name, const cubed_array *x)
{
    const int ndim = cubed_array_ndim(x);
    if (ndim == 1 && lang_axis_named(x, name) == 0) return true;
    for (int d = 0; d < ndim; d++) {
        const char *dim = cubed_array_dim_name(x, d);
        if (dim && is_bounds_of(b, dim, name)) return true;
    }
    return false;
}

static void add(expr_builder *b, const char *name)
{
    expr_source *s = &b->source;
    if (!s->name)
        s->name = expr_text(b, "%s", name);
    else if (strcmp(s->name, name) != 0)
        s->several = true;
}

void expr_source_add(expr_builder *b, const char *name, cubed_array *x)
{
    const expr_source *s = &b->source;
    const bool known = s->name && strcmp(s->name, name) == 0;
    if (!known && !s->several && !describes_others(b, name, x)) add(b, name);
}

void expr_source_add_all(expr_builder *b, const expr_source *from)
{
    if (from->name) add(b, from->name);
    if (from->several) b->source.several = true;
}

expr_source expr_source_copy(expr_builder *b)
{
    expr_source copy = {.several = b->source.several};
    if (b->source.name) copy.name = expr_text(b, "%s", b->source.name);
    return copy;
}

void expr_source_free(expr_source *source)
{
    expr_text_free(source->name);
    *source = (expr_source){.name = NULL};
}

/* Returns the name of the input of an unnamed result that uses only one input. Returns NULL for other results, and for names
 * that begin with _ or are the name of a dimension of the result. */
static const char *only_source(const expr_var *v)
{
    const char *name = v->of.is_bare && !v->source.several ? v->source.name : NULL;
    return name && name[0] != '_' && lang_axis_named(v->of.array, name) < 0 ? name : NULL;
}

static bool is_taken(const expr_result *r, int i, const char *name)
{
    for (int k = 0; k < r->n; k++) {
        const expr_var *v = &r->vars[k];
        const char *source = only_source(v);
        if (k != i && v->is_result &&
            (strcmp(v->of.name, name) == 0 || (source && strcmp(source, name) == 0)))
            return true;
    }
    return false;
}

static bool is_name_of_another(const expr_result *r, const expr_var *v, const char *name)
{
    for (int k = 0; k < r->n; k++) {
        if (&r->vars[k] != v && r->vars[k].is_result && strcmp(r->vars[k].of.name, name) == 0)
            return true;
    }
    return false;
}

void expr_name_results(expr_builder *b)
{
    const expr_result *r = b->result;
    for (int i = 0; i < r->n; i++) {
        const char *name = only_source(&r->vars[i]);
        r->vars[i].takes_source = name && !is_taken(r, i, name);
    }
    for (int i = 0; i < r->n; i++) {
        expr_var *v = &r->vars[i];
        if (!v->takes_source) continue;
        expr_text_free(v->of.name);
        v->of.name = v->source.name;
        v->source.name = NULL;
    }
    /* Numbers the remaining unnamed results without gaps. */
    for (int i = 0, number = 0; i < r->n; i++) {
        expr_var *v = &r->vars[i];
        char name[EXPR_BARE_CAP];
        if (!v->of.is_bare || v->takes_source) continue;
        do expr_name_bare(++number, name);
        while (is_name_of_another(r, v, name));
        expr_text_free(v->of.name);
        v->of.name = expr_text(b, "%s", name);
    }
}
