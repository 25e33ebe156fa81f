#include "file_content.h"

#include <jansson.h>
#include <string.h>

#include "cli.h"
#include "inputs.h"
#include "lang/lang_arrays.h"
#include "referred.h"

/* Appends a name to a list for a message; *list may be NULL. */
void content_append(char **list, const char *name)
{
    char *all = *list ? cli_printf("%s, %s", *list, name) : cli_strdup(name);
    cli_free(*list);
    *list = all;
}

static void set_aside(void *ctx, const char *attribute, const char *name)
{
    content *c = ctx;
    (void)attribute;
    c->aside = cli_resize(c->aside, (size_t)(c->naside + 1) * sizeof *c->aside);
    c->aside[c->naside++] = cli_strdup(name);
}

/* Records the kind of a coordinate. */
static void note_axis(content *c, const char *dim, const cubed_zarr_info *info)
{
    json_t *attrs = lang_attributes(info->attrs);
    const char *units = lang_attribute_text(attrs, "units");
    const field_axis field = field_axis_kind(dim, attrs);
    operator_axis kind = field == FIELD_LAT     ? AXIS_LAT
                         : field == FIELD_LON   ? AXIS_LON
                         : field == FIELD_LEVEL ? AXIS_LEVEL
                                                : AXIS_KINDS;
    if ((units && cubed_time_units_since(units)) ||
        cubed_dtype_family(info->dtype) == CUBED_DATETIME64)
        kind = AXIS_TIME;
    json_decref(attrs);
    c->axis = cli_resize(c->axis, (size_t)(c->naxes + 1) * sizeof *c->axis);
    c->axis[c->naxes++] = (content_axis){cli_strdup(dim), kind};
}

/* Returns true if labels with this type and these attributes are dates or strings. */
static bool has_words(cubed_dtype dtype, const json_t *attrs)
{
    const char *units = json_string_value(json_object_get(attrs, "units"));
    if (cubed_dtype_kind(dtype) == CUBED_KIND_TEXT) return true;
    return (units && cubed_time_units_since(units)) ||
           cubed_dtype_family(dtype) == CUBED_DATETIME64;
}

static cubed_status note(void *ctx, const cubed_zarr_info *info, cubed_error *err)
{
    content *c = ctx;
    (void)err;
    if (!info->is_array || strchr(info->path, '/')) return CUBED_OK;
    referred_each(info->attrs, set_aside, c);
    if (!*info->path) return CUBED_OK;
    if (info->unsupported) {
        content_append(&c->unsupported, info->path);
        return CUBED_OK;
    }
    const char *first = info->ndim == 1 ? info->dim_names[0] : NULL;
    if (first && strcmp(first, info->path) == 0) {
        set_aside(c, NULL, info->path);
        note_axis(c, first, info);
    }
    c->variable = cli_resize(c->variable, (size_t)(c->n + 1) * sizeof *c->variable);
    variable *v = &c->variable[c->n++];
    *v = (variable){.name = cli_strdup(info->path),
                    .ndim = info->ndim,
                    .dims = cli_alloc((size_t)(info->ndim + 1) * sizeof *v->dims),
                    .shape = cli_alloc((size_t)(info->ndim + 1) * sizeof *v->shape),
                    .is_numeric = cubed_dtype_kind(info->dtype) < CUBED_KIND_TIME};
    json_t *attrs = info->attrs ? lang_attributes(info->attrs) : NULL;
    v->kind = field_axis_kind(v->name, attrs);
    double pole[3];
    const char *mapping = lang_attribute_text(attrs, "grid_mapping");
    v->is_rotated = field_axis_is_rotated(v->name, attrs);
    v->has_pole = field_axes_pole(attrs, pole);
    v->mapping = mapping ? cli_strdup(mapping) : NULL;
    v->has_words = has_words(info->dtype, attrs);
    json_decref(attrs);
    for (int d = 0; d < info->ndim; d++)
        v->dims[d] = cli_strdup(info->dim_names[d] ? info->dim_names[d] : "");
    if (info->ndim > 0) memcpy(v->shape, info->shape, (size_t)info->ndim * sizeof *v->shape);
    return CUBED_OK;
}

cubed_status content_read(cubed_context *ctx, const char *url, content *c, cubed_error *err)
{
    char *first = inputs_first(url);
    const cubed_status st = cubed_zarr_walk(ctx, first, false, note, c, err);
    cli_free(first);
    return st;
}

void content_free(content *c)
{
    for (int i = 0; i < c->n; i++) {
        for (int d = 0; d < c->variable[i].ndim; d++) cli_free(c->variable[i].dims[d]);
        cli_free(c->variable[i].dims);
        cli_free(c->variable[i].shape);
        cli_free(c->variable[i].name);
        cli_free(c->variable[i].mapping);
    }
    for (int i = 0; i < c->naxes; i++) cli_free(c->axis[i].dim);
    cli_free(c->axis);
    for (int i = 0; i < c->naside; i++) cli_free(c->aside[i]);
    cli_free(c->aside);
    cli_free(c->unsupported);
    cli_free(c->variable);
}

bool content_is_aside(const content *c, const variable *v)
{
    for (int i = 0; i < c->naside; i++) {
        if (strcmp(c->aside[i], v->name) == 0) return true;
    }
    return false;
}

bool content_has_dim(const variable *v, const char *name)
{
    for (int d = 0; d < v->ndim; d++) {
        if (strcmp(v->dims[d], name) == 0) return true;
    }
    return false;
}

bool content_has_pole(const content *c, const variable *v)
{
    for (int i = 0; i < c->n && v->mapping; i++) {
        if (strcmp(c->variable[i].name, v->mapping) == 0) return c->variable[i].has_pole;
    }
    return false;
}

operator_axis content_kind_of(const content *c, const char *dim)
{
    static const operator_axis kinds[] = {[FIELD_LAT] = AXIS_LAT,
                                          [FIELD_LON] = AXIS_LON,
                                          [FIELD_LEVEL] = AXIS_LEVEL,
                                          [FIELD_KINDS] = AXIS_KINDS};
    for (int i = 0; i < c->naxes; i++) {
        if (strcmp(c->axis[i].dim, dim) == 0) return c->axis[i].kind;
    }
    return strcmp(dim, "time") == 0 ? AXIS_TIME : kinds[field_axis_kind(dim, NULL)];
}

operator_axes content_axes_of(const content *c, const variable *v)
{
    operator_axes axes = {.ndim = v->ndim};
    for (int d = 0; d < v->ndim; d++) {
        axes.name[d] = v->dims[d];
        axes.length[d] = v->shape[d];
        axes.kind[d] = content_kind_of(c, v->dims[d]);
    }
    return axes;
}

bool content_is_dim(const content *c, const char *name)
{
    for (int i = 0; i < c->n; i++) {
        if (content_has_dim(&c->variable[i], name)) return true;
    }
    return false;
}
