#include "operation.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "grid_file.h"
#include "lang/field_axes.h"
#include "lang/function_hints.h"
#include "lang/lang_memory.h"

/* CDO's names of functions that have other names in expressions. */
static const char *const cdo_names[][2] = {
    {"sub", "subtract"}, {"mul", "multiply"}, {"div", "divide"}};

/* Returns the name of the function in "NAME[,ARGUMENT...]". */
static char *name_of(const char *spec)
{
    const size_t n = strcspn(spec, ",");
    for (size_t i = 0; i < sizeof cdo_names / sizeof *cdo_names; i++) {
        if (strlen(cdo_names[i][0]) == n && strncmp(spec, cdo_names[i][0], n) == 0)
            return cli_strdup(cdo_names[i][1]);
    }
    return cli_printf("%.*s", (int)n, spec);
}

bool cli_is_function(const char *spec)
{
    char *name = name_of(spec);
    const bool is_one = *name && (expr_is_function(name) || operator_find(spec) != OPERATOR_NONE);
    cli_free(name);
    return is_one;
}

/* Returns the length of the next argument, which ends at a comma outside of brackets and quotes. */
static size_t argument_length(const char *at)
{
    int depth = 0;
    char quote = 0;
    size_t n = 0;
    for (; at[n] && (depth > 0 || quote || at[n] != ','); n++) {
        if (quote && at[n] == quote)
            quote = 0;
        else if (quote)
            continue;
        else if (at[n] == '"' || at[n] == '\'')
            quote = at[n];
        else
            depth += (at[n] == '(' || at[n] == '[') - (at[n] == ')' || at[n] == ']');
    }
    return n;
}

const char operation_name_characters[] =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";

static bool is_literal(const char *text)
{
    static const char *const words[] = {"True", "False", "None", "nan", "inf"};
    char *end;
    if (*text && strchr("\"'([", *text)) return true;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(text, words[i]) == 0) return true;
    }
    (void)strtod(text, &end);
    return end != text && !*end;
}

/* Returns the text in quotes. Lists and quoted strings are returned unchanged. Numbers are returned unchanged unless `strings` is
 * set. */
static char *quoted(const char *text, size_t n, bool strings)
{
    char *word = cli_printf("%.*s", (int)n, text);
    const bool keep = strings ? *word && strchr("\"'([", *word) : is_literal(word);
    char *all = keep ? cli_strdup(word) : cli_printf("\"%s\"", word);
    cli_free(word);
    return all;
}

/* Writes an argument in the syntax of expressions: KEY= and a value, or a range of two values. The first `key` characters of
 * `text` are KEY=. */
static char *in_syntax(const char *text, size_t key, bool is_range, bool strings)
{
    const char *value = text + key;
    const size_t first = is_range ? strcspn(value, "/") : strlen(value);
    char *from = quoted(value, first, strings);
    char *to = is_range ? quoted(value + first + 1, strlen(value + first + 1), strings) : NULL;
    char *all = is_range ? cli_printf("%.*s(%s, %s)", (int)key, text, from, to)
                         : cli_printf("%.*s%s", (int)key, text, from);
    cli_free(from);
    cli_free(to);
    return all;
}

/* Reads an argument: VALUE, a range FIRST/LAST, or KEY= followed by either. */
static argument read_argument(const char *text)
{
    size_t key = strspn(text, operation_name_characters);
    if (text[key] != '=' || isdigit((unsigned char)*text)) key = 0;
    const size_t before = key ? key + 1 : 0;
    const char *value = text + before;
    const bool is_range = value[strcspn(value, "/")] && !strchr("\"'([", *value);
    return (argument){.key = cli_printf("%.*s", (int)key, text),
                      .word = cli_printf("%.*s", is_range ? 0 : (int)strcspn(value, "."), value),
                      .text = in_syntax(text, before, is_range, false),
                      .strings = in_syntax(text, before, is_range, true)};
}

/* Returns the kinds of coordinates that a function looks up itself, as bits 1 << field_axis. */
static unsigned kinds_of(const char *name)
{
    const unsigned lat = 1U << FIELD_LAT, lon = 1U << FIELD_LON;
    const cubed_function *f = cubed_function_find(name);
    if (strncmp(name, "remap", strlen("remap")) == 0) return lat | lon;
    if (!f || strcmp(f->category, "fields") != 0) return expr_field_kinds(name);
    if (strncmp(name, "fld", 3) == 0) return lat | lon;
    if (strncmp(name, "zon", 3) == 0) return lon;
    if (strncmp(name, "mer", 3) == 0) return lat;
    if (strncmp(name, "setmissto", strlen("setmissto")) == 0) return lat | lon;
    return strncmp(name, "vert", 4) == 0 ? 1U << FIELD_LEVEL : 0;
}

/* Reads an argument of a remapping function. Files of grids and weights become strings. *nwords counts arguments without a
 * key. */
static argument read_grid_argument(const operation *o, const char *text, int *nwords)
{
    static const char key[] = "weights=";
    const bool is_weights = strncmp(text, key, strlen(key)) == 0;
    const bool has_key = text[strspn(text, operation_name_characters)] == '=';
    if (!has_key) ++*nwords;
    if (*text == '"' || *text == '\'' || strchr(text, '"')) return read_argument(text);
    /* the third word of CDO's remap,GRID,WEIGHTS */
    const bool is_file = *nwords == 2 && !has_key && strcmp(o->name, "remap") == 0 &&
                         (cli_is_url(text) || cli_is_there(text));
    if (!is_weights && !is_file && (has_key || *nwords > 1)) return read_argument(text);
    const bool is_grid = !is_weights && !is_file;
    char *value =
        is_grid ? grid_file_text(text) : cli_strdup(is_weights ? text + strlen(key) : text);
    const argument a = {.key = cli_strdup(is_grid ? "" : "weights"),
                        .word = cli_strdup(""),
                        .text = cli_printf("%s\"%s\"", is_grid ? "" : key, value)};
    cli_free(value);
    return a;
}

void operation_read(operation *o, const char *spec)
{
    int nwords = 0;
    *o = (operation){.kind = operator_find(spec), .spec = cli_strdup(spec), .name = name_of(spec)};
    if (o->kind != OPERATOR_NONE) return;
    o->selects = strcmp(o->name, "sel") == 0;
    o->by_calendar = expr_is_along_time(o->name);
    o->regrids = strncmp(o->name, "remap", strlen("remap")) == 0;
    o->kinds = kinds_of(o->name);
    for (const char *at = spec + strcspn(spec, ","); *at == ',';) {
        const size_t n = argument_length(++at);
        char *text = cli_printf("%.*s", (int)n, at);
        o->argument = cli_resize(o->argument, (size_t)(o->n + 1) * sizeof *o->argument);
        o->argument[o->n] = o->regrids ? read_grid_argument(o, text, &nwords) : read_argument(text);
        if (strcmp(o->argument[o->n++].key, "dim") == 0) {
            o->by_calendar = false;
            o->kinds = 0;
        }
        cli_free(text);
        at += n;
    }
}

void operations_free(operation *o, int n)
{
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < o[i].n; k++) {
            cli_free(o[i].argument[k].key);
            cli_free(o[i].argument[k].word);
            cli_free(o[i].argument[k].text);
            cli_free(o[i].argument[k].strings);
        }
        cli_free(o[i].argument);
        cli_free(o[i].spec);
        cli_free(o[i].name);
    }
}
