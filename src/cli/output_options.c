#include "output_options.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cubed/attribute.h"
#include "history.h"
#include "lang/expr_attributes.h"
#include "lang/lang_arrays.h"
#include "lang/lang_memory.h"
#include "referred.h"

/* One change that an option --rename or --attr requests. */
typedef struct outputs_edit {
    const char *given;
    /* variable: "" for the file; attribute: NULL to rename the variable itself */
    char *variable, *attribute;
    char *to;      /* new name; NULL for --attr */
    json_t *value; /* new value; NULL removes the attribute */
    bool used;
} edit;

/* --- Options ------------------------------------------------------------------------------------------ */

static edit *add_edit(outputs *o, const char *given)
{
    o->edit = cli_resize(o->edit, (size_t)(o->nedits + 1) * sizeof *o->edit);
    o->edit[o->nedits] = (edit){.given = given};
    return &o->edit[o->nedits++];
}

/* Returns true if all formats accept the name for a variable or attribute. */
static bool is_name(const char *name)
{
    return *name && !strpbrk(name, "/:") && *name != '.' && *name != ' ';
}

/* Reads OLD:NEW, VAR:ATTR:NEW or :ATTR:NEW. */
static char *take_rename(outputs *o, const char *text)
{
    static const char expected[] =
        "expected OLD:NEW for a variable or dimension, VAR:ATTR:NEW for an attribute, or :ATTR:NEW "
        "for one of the file";
    const char *first = strchr(text, ':'), *second = first ? strchr(first + 1, ':') : NULL;
    const char *to = second ? second + 1 : first ? first + 1 : "";
    if (!first || (first == text && !second) || (second && second == first + 1) || !is_name(to))
        return cli_strdup(expected);
    if (second && (!expr_may_set_attribute(to)))
        return cli_printf(
            "the attribute \"%s\" describes how elements are stored, expected another name", to);
    edit *e = add_edit(o, text);
    e->variable = cli_printf("%.*s", (int)(first - text), text);
    e->attribute = second ? cli_printf("%.*s", (int)(second - first - 1), first + 1) : NULL;
    e->to = cli_strdup(to);
    for (int i = 0; i < o->nedits - 1; i++) {
        const edit *other = &o->edit[i];
        if (other->to && strcmp(other->variable, e->variable) == 0 &&
            strcmp(other->attribute ? other->attribute : "", e->attribute ? e->attribute : "") == 0)
            return cli_printf("\"%s\" and \"%s\" give one thing two names", other->given, text);
    }
    return NULL;
}

/* Reads the value of an attribute: a JSON number, list or string. Other text is the value itself. Returns NULL and sets *bad if
 * attributes cannot have the value. */
static json_t *read_value(const char *text, bool *bad)
{
    json_t *v = json_loads(text, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    *bad = false;
    if (json_is_number(v) || json_is_string(v)) return v;
    if (json_is_array(v) && json_array_size(v) > 0) {
        for (size_t i = 0; i < json_array_size(v); i++) {
            const json_t *first = json_array_get(v, 0), *x = json_array_get(v, i);
            *bad = *bad || !(json_is_string(first) ? json_is_string(x)
                                                   : json_is_number(first) && json_is_number(x));
        }
        if (!*bad) return v;
        json_decref(v);
        return NULL;
    }
    json_decref(v);
    v = json_string(text);
    *bad = !v; /* a string that is not UTF-8 has no JSON value */
    return v;
}

/* Reads VAR:NAME=VALUE or NAME=VALUE. */
static char *take_attr(outputs *o, const char *text)
{
    const char *equals = strchr(text, '=');
    const size_t head = equals ? (size_t)(equals - text) : strlen(text);
    const char *colon = memchr(text, ':', head), *name = colon ? colon + 1 : text;
    bool bad = false;
    if (!equals || equals == name)
        return cli_strdup("expected VAR:NAME=VALUE, or NAME=VALUE for the file; without a VALUE "
                          "the attribute is removed");
    edit *e = add_edit(o, text);
    e->variable = cli_printf("%.*s", colon ? (int)(colon - text) : 0, text);
    e->attribute = cli_printf("%.*s", (int)(equals - name), name);
    if (!expr_may_set_attribute(e->attribute))
        return cli_printf("the attribute \"%s\" describes how elements are stored: --pack and "
                          "--raw change that",
                          e->attribute);
    if (equals[1]) e->value = read_value(equals + 1, &bad);
    if (bad)
        return cli_strdup("expected a text in UTF-8, a number, or a list of numbers or of texts");
    for (int i = 0; i < o->nedits - 1; i++) {
        const edit *other = &o->edit[i];
        if (!other->to && strcmp(other->variable, e->variable) == 0 &&
            strcmp(other->attribute, e->attribute) == 0)
            return cli_printf("\"%s\" and \"%s\" set one attribute twice", other->given, text);
    }
    return NULL;
}

static char *take_level(outputs *o, const char *text, int least, int most)
{
    int64_t v;
    if (o->level >= 0) return cli_strdup("--deflate and --zstd exclude each other");
    if (!lang_parse_int(&text, &v) || *text || v < least || v > most)
        return cli_printf("expected a level from %d to %d", least, most);
    o->level = (int)v;
    return NULL;
}

static const cli_option rows[] = {OUTPUTS_OPTIONS};

static const char *option_name(int key)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].key == key) return rows[i].name;
    }
    return "";
}

char *outputs_take(outputs *o, int key, const char *value)
{
    cubed_calendar calendar;
    char *wrong = NULL;
    switch (key) {
    case KEY_RENAME: wrong = take_rename(o, value); break;
    case KEY_ATTR: wrong = take_attr(o, value); break;
    case KEY_PACK: wrong = packed_parse(&o->pack, value); break;
    case KEY_DEFLATE: wrong = take_level(o, value, 0, 9); break;
    case KEY_ZSTD:
        wrong = take_level(o, value, 1, 22);
        o->zstd = true;
        break;
    case KEY_SHUFFLE: o->shuffle = true; break;
    case KEY_NO_HISTORY: o->no_history = true; break;
    case KEY_CALENDAR:
        o->calendar = value;
        if (!cubed_calendar_parse(value, &calendar))
            wrong = cli_strdup("expected a calendar of CF: standard, proleptic_gregorian, julian, "
                               "noleap, 365_day, all_leap, 366_day or 360_day");
        break;
    default: break;
    }
    if (!wrong) return NULL;
    char *text = value ? cli_printf("--%s \"%s\": %s", option_name(key), value, wrong)
                       : cli_printf("--%s: %s", option_name(key), wrong);
    cli_free(wrong);
    return text;
}

const char *outputs_given(const outputs *o)
{
    if (o->nedits > 0) return o->edit[0].to ? "--rename" : "--attr";
    if (o->calendar) return "--calendar";
    if (o->pack.is_on) return "--pack";
    if (o->level >= 0) return o->zstd ? "--zstd" : "--deflate";
    return o->shuffle ? "--shuffle" : NULL;
}

bool outputs_change_arrays(const outputs *o)
{
    bool any = o->calendar || o->pack.is_on;
    for (int i = 0; i < o->nedits; i++) any = any || *o->edit[i].variable;
    return any;
}

void outputs_free(outputs *o)
{
    for (int i = 0; i < o->nedits; i++) {
        cli_free(o->edit[i].variable);
        cli_free(o->edit[i].attribute);
        cli_free(o->edit[i].to);
        json_decref(o->edit[i].value);
    }
    for (int i = 0; i < o->ncodecs; i++) cli_free(o->codecs[i]);
    packed_free(&o->pack);
    cli_free(o->codecs);
    cli_free(o->edit);
    cli_free(o->command);
}

/* --- Arrays ------------------------------------------------------------------------------------------- */

/* Renames an attribute and its recorded type. It keeps its position in the order of attributes. Returns false if it does not
 * exist. */
static bool rename_attribute(json_t *attrs, const char *from, const char *to)
{
    json_t *types = json_object_get(json_object_get(attrs, CUBED_ATTRIBUTE_TYPES), "types");
    json_t *type = json_object_get(types, from);
    if (!json_object_get(attrs, from)) return false;
    if (strcmp(from, to) == 0) return true;
    json_t *renamed = cli_must(json_object()), *v;
    const char *name;
    json_object_foreach(attrs, name, v)
    {
        if (strcmp(name, to) != 0) json_object_set(renamed, strcmp(name, from) == 0 ? to : name, v);
    }
    json_object_clear(attrs);
    json_object_update(attrs, renamed);
    json_decref(renamed);
    /* drops the recorded type of an attribute `to` that existed before */
    json_object_del(types, to);
    if (type) json_object_set(types, to, type);
    json_object_del(types, from);
    return true;
}

static void set_attribute(json_t *attrs, const edit *e)
{
    json_t *types = json_object_get(json_object_get(attrs, CUBED_ATTRIBUTE_TYPES), "types");
    json_object_del(types, e->attribute);
    if (e->value)
        json_object_set(attrs, e->attribute, e->value);
    else
        json_object_del(attrs, e->attribute);
}

/* Applies the edits of one variable's attributes, or of the file's. Renames refer to the variable's old name, new values to
 * its new name. */
static void edit_attributes(outputs *o, const char *old, const char *name, json_t *attrs)
{
    for (int i = 0; i < o->nedits; i++) {
        edit *e = &o->edit[i];
        if (!e->attribute || strcmp(e->variable, e->to ? old : name) != 0) continue;
        /* Removing an attribute that does not exist is not an error. */
        if (e->to)
            e->used = rename_attribute(attrs, e->attribute, e->to) || e->used;
        else
            e->used = true;
        if (!e->to) set_attribute(attrs, e);
    }
}

/* Returns the edit that renames a variable or dimension, or NULL. */
static edit *renaming(outputs *o, const char *name)
{
    for (int i = 0; i < o->nedits; i++) {
        edit *e = &o->edit[i];
        if (e->to && !e->attribute && strcmp(e->variable, name) == 0) return e;
    }
    return NULL;
}

/* Renames the dimensions of *x. */
static cubed_status rename_dims(outputs *o, const char *name, cubed_array **x, cubed_error *err)
{
    const int ndim = cubed_array_ndim(*x);
    const char *names[CUBED_MAX_NDIM];
    bool any = false;
    for (int d = 0; d < ndim; d++) {
        names[d] = cubed_array_dim_name(*x, d);
        edit *e = names[d] ? renaming(o, names[d]) : NULL;
        if (!e) continue;
        names[d] = e->to;
        e->used = any = true;
        for (int k = 0; k < ndim; k++) {
            const char *other = cubed_array_dim_name(*x, k);
            if (k != d && other && strcmp(other, e->to) == 0 && !renaming(o, other))
                return cli_reject(err, "--rename %s: %s has a dimension \"%s\" already", e->given,
                                  name, e->to);
        }
    }
    if (!any) return CUBED_OK;
    cubed_array *y;
    cubed_status st = cubed_array_with_dim_names(*x, names, &y, err);
    if (st != CUBED_OK) return st;
    cubed_array_unref(*x);
    *x = y;
    return CUBED_OK;
}

static const char *new_name(void *ctx, const char *name)
{
    const edit *e = renaming(ctx, name);
    return e ? e->to : NULL;
}

cubed_status outputs_edit_array(outputs *o, char **name, cubed_array **x, cubed_error *err)
{
    edit *own = renaming(o, *name);
    if (o->nedits == 0 && !o->calendar) return CUBED_OK;
    cubed_status st = rename_dims(o, *name, x, err);
    if (st != CUBED_OK) return st;
    json_t *attrs = cli_must(lang_attributes(cubed_array_attrs(*x)));
    json_t *before = cli_must(json_deep_copy(attrs));
    referred_rename(attrs, new_name, o);
    edit_attributes(o, *name, own ? own->to : *name, attrs);
    const char *units = lang_attribute_text(attrs, "units");
    if (o->calendar && units && cubed_time_units_since(units)) {
        json_object_set_new(attrs, "calendar", json_string(o->calendar));
        o->has_times = true;
    }
    if (!json_equal(attrs, before)) {
        char *text = cli_must(json_dumps(attrs, JSON_REAL_PRECISION(17)));
        cubed_array *y;
        st = cubed_array_with_attrs(*x, text, &y, err);
        if (st == CUBED_OK) {
            cubed_array_unref(*x);
            *x = y;
        }
        cli_free(text);
    }
    json_decref(attrs);
    json_decref(before);
    if (own && st == CUBED_OK) {
        own->used = true;
        cli_free(*name);
        *name = cli_strdup(own->to);
    }
    return st;
}

char *outputs_group_attrs(outputs *o, const char *attrs, bool conventions)
{
    json_t *doc = cli_must(attrs ? lang_attributes(attrs) : json_object());
    edit_attributes(o, "", "", doc);
    char *edited = attrs || json_object_size(doc) > 0
                       ? cli_must(json_dumps(doc, JSON_REAL_PRECISION(17)))
                       : NULL;
    json_decref(doc);
    if (o->no_history || !o->command) return edited;
    char *all = history_add(edited, o->command, conventions);
    cli_free(edited);
    return all;
}

char *outputs_unused(const outputs *o)
{
    for (int i = 0; i < o->nedits; i++) {
        const edit *e = &o->edit[i];
        if (e->used) continue;
        if (e->attribute && *e->variable)
            return cli_printf("--%s %s: expected a variable with %s of the result",
                              e->to ? "rename" : "attr", e->given,
                              e->to ? "that attribute" : "that name");
        return cli_printf("--%s %s: the result has no such %s", e->to ? "rename" : "attr", e->given,
                          e->attribute ? "group or attribute" : "variable or dimension");
    }
    if (o->calendar && !o->has_times)
        return cli_printf("--calendar %s: the result has no times with units such as \"days since "
                          "2000-01-01\"",
                          o->calendar);
    return NULL;
}

/* --- Compression -------------------------------------------------------------------------------------- */

const char *outputs_codecs(outputs *o, cubed_dtype dtype, int zarr_format)
{
    const int size = (int)cubed_dtype_size(dtype), level = o->level;
    if (level < 0) return NULL;
    const char *name = o->zstd ? "zstd" : "gzip";
    /* Shuffling single bytes has no effect. Unicode strings are shuffled by 4-byte characters. */
    const bool shuffle = o->shuffle && level > 0 && size > 1;
    char *filter = NULL, *last = NULL;
    if (shuffle)
        filter =
            cli_printf(zarr_format == 2 ? "{\"id\": \"shuffle\", \"elementsize\": %d}, "
                                        : ", {\"name\": \"numcodecs.shuffle\", \"configuration\": "
                                          "{\"elementsize\": %d}}",
                       size);
    if (level > 0 && zarr_format == 2)
        last = cli_printf("{\"id\": \"%s\", \"level\": %d}", name, level);
    else if (level > 0)
        last = cli_printf(", {\"name\": \"%s\", \"configuration\": {\"level\": %d%s}}", name, level,
                          o->zstd ? ", \"checksum\": false" : "");
    char *all =
        zarr_format == 2
            ? level > 0 ? cli_printf("[%s%s]", filter ? filter : "", last) : cli_strdup("null")
            : cli_printf("[{\"name\": \"bytes\", \"configuration\": {\"endian\": "
                         "\"little\"}}%s%s]",
                         filter ? filter : "", last ? last : "");
    cli_free(filter);
    cli_free(last);
    o->codecs = cli_resize(o->codecs, (size_t)(o->ncodecs + 1) * sizeof *o->codecs);
    o->codecs[o->ncodecs++] = all;
    return all;
}
