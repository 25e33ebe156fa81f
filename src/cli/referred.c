#include "referred.h"

#include <string.h>

#include "cli.h"
#include "lang/lang_arrays.h"

static const char *const attributes[] = {"grid_mapping",  "ancillary_variables", "cell_measures",
                                         "formula_terms", "coordinates",         "bounds",
                                         "climatology"};
enum { COUNT = sizeof attributes / sizeof *attributes };

/* Returns the next word of a list, and sets *n to its length. Returns NULL at the end. */
static const char *next_word(const char *text, size_t *n)
{
    text += strspn(text, " \t\n");
    *n = strcspn(text, " \t\n");
    return *n ? text : NULL;
}

/* Returns true if a word names a variable. "area:" in "area: cell_area" is a role, but "crs:" in "crs: x y" of grid_mapping
 * names a variable. */
static bool is_variable(const char *attribute, const char *word, size_t n)
{
    return word[n - 1] != ':' || strcmp(attribute, "grid_mapping") == 0;
}

static char *name_in(const char *word, size_t n)
{
    return cli_printf("%.*s", (int)(n > 1 && word[n - 1] == ':' ? n - 1 : n), word);
}

void referred_each(const char *attrs, referred_fn fn, void *ctx)
{
    json_t *doc = lang_attributes(attrs);
    for (int i = 0; i < COUNT; i++) {
        const char *at = json_string_value(json_object_get(doc, attributes[i]));
        size_t n;
        while (at && (at = next_word(at, &n))) {
            if (is_variable(attributes[i], at, n)) {
                char *name = name_in(at, n);
                fn(ctx, attributes[i], name);
                cli_free(name);
            }
            at += n;
        }
    }
    json_decref(doc);
}

/* Replaces words in the value of an attribute by their new names. Returns NULL if nothing changes. Roles such as "area:" of
 * cell_measures are not names, but "time:" of cell_methods names a dimension. */
static char *renamed(const char *attribute, const char *value, referred_name_fn fn, void *ctx)
{
    const bool methods = strcmp(attribute, "cell_methods") == 0;
    char *text = cli_strdup("");
    bool any = false;
    size_t n;
    for (const char *at = value, *before = value; (at = next_word(at, &n)); at += n, before = at) {
        const bool ends = at[n - 1] == ':';
        const bool is_name = methods ? ends : is_variable(attribute, at, n);
        char *name = name_in(at, n);
        const char *to = is_name ? fn(ctx, name) : NULL;
        char *longer =
            to ? cli_printf("%s%.*s%s%s", text, (int)(at - before), before, to, ends ? ":" : "")
               : cli_printf("%s%.*s", text, (int)(at + n - before), before);
        cli_free(name);
        cli_free(text);
        text = longer;
        any = any || to;
    }
    if (any) return text;
    cli_free(text);
    return NULL;
}

void referred_rename(json_t *attrs, referred_name_fn fn, void *ctx)
{
    for (int i = 0; i <= COUNT; i++) {
        const char *attribute = i < COUNT ? attributes[i] : "cell_methods";
        const char *value = json_string_value(json_object_get(attrs, attribute));
        char *text = value ? renamed(attribute, value, fn, ctx) : NULL;
        if (text) json_object_set_new(attrs, attribute, json_string(text));
        cli_free(text);
    }
}

/* Keeps the words that name existing variables. A role is kept with the variable after it, coordinates only with their grid
 * mapping. Returns NULL if all words are kept. The caller frees the string. */
static char *kept(const char *attribute, const char *value, referred_have_fn have, void *ctx)
{
    char *text = cli_strdup(""), *role = NULL;
    bool all = true, mapped = true;
    size_t n;
    for (const char *at = value; (at = next_word(at, &n)); at += n) {
        if (!is_variable(attribute, at, n)) {
            cli_free(role);
            role = cli_printf("%.*s ", (int)n, at);
            continue;
        }
        char *name = name_in(at, n);
        /* A name with a colon is a grid mapping. The names of its coordinates follow. */
        const bool begins = at[n - 1] == ':';
        bool is_there = have(ctx, name);
        cli_free(name);
        if (begins) mapped = is_there;
        is_there = is_there && mapped;
        all = all && is_there;
        if (!is_there) continue;
        char *longer =
            cli_printf("%s%s%s%.*s", text, *text ? " " : "", role ? role : "", (int)n, at);
        cli_free(text);
        text = longer;
        cli_free(role);
        role = NULL;
    }
    cli_free(role);
    /* A grid mapping that lost all coordinates has no colon. */
    const size_t length = strlen(text);
    if (length > 0 && text[length - 1] == ':') text[length - 1] = 0;
    if (!all) return text;
    cli_free(text);
    return NULL;
}

cubed_status referred_keep(cubed_array **x, referred_have_fn have, void *ctx, cubed_error *err)
{
    json_t *doc = lang_attributes(cubed_array_attrs(*x));
    bool changed = false;
    cubed_status st = CUBED_OK;
    for (int i = 0; i < COUNT; i++) {
        const char *value = json_string_value(json_object_get(doc, attributes[i]));
        char *text = value ? kept(attributes[i], value, have, ctx) : NULL;
        changed = changed || text;
        if (text && *text)
            json_object_set_new(doc, attributes[i], json_string(text));
        else if (text)
            json_object_del(doc, attributes[i]);
        cli_free(text);
    }
    if (changed) {
        char *text = json_dumps(doc, JSON_REAL_PRECISION(17));
        cubed_array *y;
        st = cubed_array_with_attrs(*x, text ? text : "{}", &y, err);
        cli_free(text);
        if (st == CUBED_OK) {
            cubed_array_unref(*x);
            *x = y;
        }
    }
    json_decref(doc);
    return st;
}
