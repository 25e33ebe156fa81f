/* Functions of expressions applied to all variables of a file, in the form of CDO: `cubed monmean in.nc out.nc`. Writes an
 * expression with a statement for each variable, and runs it as `cubed eval` does. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include <getopt.h>

#include "archive.h"
#include "cli.h"
#include "grid_file.h"
#include "history.h"
#include "inputs.h"
#include "lang/field_axes.h"
#include "lang/function_hints.h"
#include "lang/lang_arrays.h"
#include "output_options.h"
#include "referred.h"

enum { KEY_PASSED = CLI_OWN_KEY, KEY_ALONG };
enum { MOST_OPERATIONS = 32, MOST_INPUTS = 2, MOST_PAIRS = 31 };

static const cli_option own[] = {
    {"along", "DIM",
     "dimension along which the files of an input 'era5-*.nc' are one (default time)", KEY_ALONG},
    {"overlap", "first|last|error",
     "of elements that several files have, those of the file that begins first or last count "
     "(default error)",
     KEY_PASSED},
    {"raw", NULL, "compute with elements as they are stored", KEY_PASSED},
    {"format", "2|3", "Zarr format of results (default 3)", KEY_PASSED},
    {"codecs", "JSON", "v3 codec list or v2 compressor of results (default zstd, level 1)",
     KEY_PASSED},
    {"chunks", "SPEC", "store results in such chunks: time=100,lat=-1", KEY_PASSED},
    OUTPUTS_OPTIONS,
    {NULL, NULL, NULL, 0}};

const cli_usage cmd_apply_usage = {
    .synopsis = "apply FUNCTION[,ARGUMENT...] [-FUNCTION[,ARGUMENT...] ...] IN [IN2] OUT [options]",
    .text = "Applies a function of expressions to all variables of a file or store, as CDO does. "
            "The word apply may be left out. "
            "Further functions, each with a - before it, are applied first, the last one first. "
            "Arguments follow the variable: `mean,time` is mean(x, \"time\"), and "
            "`quantile,0.9,dim=time` "
            "is quantile(x, 0.9, dim=\"time\"). Variables without a dimension that a function is "
            "along, texts, and coordinates are copied. With a second input, the function has the "
            "variable of the same name of it as its second argument, or its only variable. "
            "`cubed eval` evaluates any expression.",
    .examples = "  cubed monmean era5.nc months.nc\n"
                "  cubed mean,time -sel,time=2020-06 era5.nc june.nc\n"
                "  cubed subtract era5.zarr climatology.zarr anomalies.zarr\n",
    .own = own,
    .repeats = OUTPUTS_REPEATS,
    .common = true};

typedef struct variable {
    char *name;
    char **dims;
    int ndim;
    bool is_numeric;
    field_axis kind; /* of coordinates; FIELD_KINDS for other variables */
    bool is_rotated; /* in degrees of a rotated grid */
} variable;

typedef struct content {
    variable *variable;
    int n;
    /* Names of coordinates, bounds and the like, which are written with the variables that use them. */
    char **aside;
    int naside;
    char *unsupported; /* names of variables whose type is not supported, for a message */
} content;

typedef struct argument {
    char *key;  /* "" for a positional argument */
    char *word; /* may name a dimension: "time" of "time" and "time.month"; or "" */
    char *text; /* the argument in expression syntax, including the key */
} argument;

typedef struct operation {
    char *name;
    argument *argument;
    int n;
    bool selects;     /* sel: keys are dimensions; keys that a variable lacks are skipped */
    bool by_calendar; /* along time, unless an argument is dim= */
    bool regrids;     /* changes the grid, which is one on the earth */
    unsigned kinds;   /* bit k: along the dimensions of the coordinate of kind k */
} operation;

/* --- Functions ---------------------------------------------------------------------------------------- */

static char *name_of(const char *spec)
{
    const size_t n = strcspn(spec, ",");
    return cli_printf("%.*s", (int)n, spec);
}

bool cli_is_function(const char *spec)
{
    char *name = name_of(spec);
    const bool is_one = *name && expr_is_function(name);
    cli_free(name);
    return is_one;
}

/* Length of the next argument, which ends at a comma outside brackets and quotes. */
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

static const char name_characters[] =
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

/* Returns a number, list or quoted string unchanged, and quotes any other word. */
static char *quoted(const char *text, size_t n)
{
    char *word = cli_printf("%.*s", (int)n, text);
    char *all = is_literal(word) ? cli_strdup(word) : cli_printf("\"%s\"", word);
    cli_free(word);
    return all;
}

/* Reads an argument VALUE, FIRST/LAST (a range), or either after KEY=. */
static argument read_argument(const char *text)
{
    size_t key = strspn(text, name_characters);
    if (text[key] != '=' || isdigit((unsigned char)*text)) key = 0;
    const char *value = key ? text + key + 1 : text;
    const size_t first = strcspn(value, "/");
    const bool is_range = value[first] && !strchr("\"'([", *value);
    char *from = quoted(value, is_range ? first : strlen(value));
    char *to = is_range ? quoted(value + first + 1, strlen(value + first + 1)) : cli_strdup("");
    const argument a = {.key = cli_printf("%.*s", (int)key, text),
                        .word = cli_printf("%.*s", is_range ? 0 : (int)strcspn(value, "."), value),
                        .text = cli_printf("%.*s%s%s%s%s%s", (int)(value - text), text,
                                           is_range ? "(" : "", from, is_range ? ", " : "", to,
                                           is_range ? ")" : "")};
    cli_free(from);
    cli_free(to);
    return a;
}

/* Kinds of coordinates that a function finds by itself, as bits 1 << field_axis. */
static unsigned kinds_of(const char *name)
{
    const unsigned lat = 1U << FIELD_LAT, lon = 1U << FIELD_LON;
    const cubed_function *f = cubed_function_find(name);
    if (strncmp(name, "remap", strlen("remap")) == 0) return lat | lon;
    if (!f || strcmp(f->category, "fields") != 0) return 0;
    if (strncmp(name, "fld", 3) == 0) return lat | lon;
    if (strncmp(name, "zon", 3) == 0) return lon;
    if (strncmp(name, "mer", 3) == 0) return lat;
    return strncmp(name, "vert", 4) == 0 ? 1U << FIELD_LEVEL : 0;
}

/* Reads an argument of a function that changes the grid: files of grids and weights become strings. *nwords counts arguments
 * without a key. */
static argument read_grid_argument(const operation *o, const char *text, int *nwords)
{
    static const char key[] = "weights=";
    const bool is_weights = strncmp(text, key, strlen(key)) == 0;
    const bool has_key = text[strspn(text, name_characters)] == '=';
    if (!has_key) ++*nwords;
    if (*text == '"' || *text == '\'' || strchr(text, '"')) return read_argument(text);
    /* CDO's remap,GRID,WEIGHTS */
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

static void read_operation(operation *o, const char *spec)
{
    int nwords = 0;
    *o = (operation){.name = name_of(spec)};
    o->selects = strcmp(o->name, "sel") == 0;
    o->by_calendar = expr_is_along_time(o->name);
    o->regrids = strncmp(o->name, "remap", strlen("remap")) == 0;
    o->kinds = kinds_of(o->name);
    for (const char *at = spec + strlen(o->name); *at == ',';) {
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

static void free_operations(operation *o, int n)
{
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < o[i].n; k++) {
            cli_free(o[i].argument[k].key);
            cli_free(o[i].argument[k].word);
            cli_free(o[i].argument[k].text);
        }
        cli_free(o[i].argument);
        cli_free(o[i].name);
    }
}

/* --- Variables ---------------------------------------------------------------------------------------- */

/* Appends a name to a list for a message; *list may be NULL. */
static void append(char **list, const char *name)
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

static cubed_status note(void *ctx, const cubed_zarr_info *info, cubed_error *err)
{
    content *c = ctx;
    (void)err;
    if (!info->is_array || strchr(info->path, '/')) return CUBED_OK;
    referred_each(info->attrs, set_aside, c);
    if (!*info->path) return CUBED_OK;
    if (info->unsupported) {
        append(&c->unsupported, info->path);
        return CUBED_OK;
    }
    const char *first = info->ndim == 1 ? info->dim_names[0] : NULL;
    if (first && strcmp(first, info->path) == 0) set_aside(c, NULL, info->path);
    c->variable = cli_resize(c->variable, (size_t)(c->n + 1) * sizeof *c->variable);
    variable *v = &c->variable[c->n++];
    *v = (variable){.name = cli_strdup(info->path),
                    .ndim = info->ndim,
                    .dims = cli_alloc((size_t)(info->ndim + 1) * sizeof *v->dims),
                    .is_numeric = cubed_dtype_kind(info->dtype) < CUBED_KIND_TIME};
    json_t *attrs = info->attrs ? lang_attributes(info->attrs) : NULL;
    v->kind = field_axis_kind(v->name, attrs);
    v->is_rotated = field_axis_is_rotated(v->name, attrs);
    json_decref(attrs);
    for (int d = 0; d < info->ndim; d++)
        v->dims[d] = cli_strdup(info->dim_names[d] ? info->dim_names[d] : "");
    return CUBED_OK;
}

static cubed_status read_content(cubed_context *ctx, const char *url, content *c, cubed_error *err)
{
    char *first = inputs_first(url);
    const cubed_status st = cubed_zarr_walk(ctx, first, false, note, c, err);
    cli_free(first);
    return st;
}

static void free_content(content *c)
{
    for (int i = 0; i < c->n; i++) {
        for (int d = 0; d < c->variable[i].ndim; d++) cli_free(c->variable[i].dims[d]);
        cli_free(c->variable[i].dims);
        cli_free(c->variable[i].name);
    }
    for (int i = 0; i < c->naside; i++) cli_free(c->aside[i]);
    cli_free(c->aside);
    cli_free(c->unsupported);
    cli_free(c->variable);
}

static bool is_aside(const content *c, const variable *v)
{
    for (int i = 0; i < c->naside; i++) {
        if (strcmp(c->aside[i], v->name) == 0) return true;
    }
    return false;
}

static bool has_dim(const variable *v, const char *name)
{
    for (int d = 0; d < v->ndim; d++) {
        if (strcmp(v->dims[d], name) == 0) return true;
    }
    return false;
}

static bool is_dim(const content *c, const char *name)
{
    for (int i = 0; i < c->n; i++) {
        if (has_dim(&c->variable[i], name)) return true;
    }
    return false;
}

/* Whether `word` names a dimension of the input that the variable lacks. */
static bool lacks(const content *c, const variable *v, const char *word)
{
    return is_dim(c, word) && !has_dim(v, word);
}

/* Returns whether the variable has all dimensions of a coordinate of a kind. */
static bool is_along(const content *c, const variable *v, int kind, bool on_earth)
{
    for (int i = 0; i < c->n; i++) {
        const variable *w = &c->variable[i];
        bool all = (int)w->kind == kind && w->ndim > 0 && !(on_earth && w->is_rotated);
        for (int d = 0; d < w->ndim && all; d++) all = has_dim(v, w->dims[d]);
        if (all) return true;
    }
    return false;
}

static bool applies(const content *c, const variable *v, const operation *o)
{
    bool any = !o->selects;
    if (!v->is_numeric && !o->selects) return false;
    if (o->by_calendar && !has_dim(v, "time")) return false;
    for (int k = 0; k < FIELD_KINDS; k++) {
        if ((o->kinds >> k & 1) && !is_along(c, v, k, o->regrids)) return false;
    }
    for (int k = 0; k < o->n; k++) {
        if (lacks(c, v, o->argument[k].word)) return false;
        if (!lacks(c, v, o->argument[k].key)) any = true;
    }
    return any;
}

/* The variable of the second input that pairs with a variable of the first: the one with its name, or the only one. */
static const char *partner_of(const content *second, const variable *v)
{
    const char *only = NULL;
    int n = 0;
    for (int i = 0; i < second->n; i++) {
        const variable *w = &second->variable[i];
        if (is_aside(second, w)) continue;
        if (strcmp(w->name, v->name) == 0) return w->name;
        only = w->name;
        n++;
    }
    return n == 1 ? only : NULL;
}

/* --- The expression ----------------------------------------------------------------------------------- */

typedef struct apply {
    operation operations[MOST_OPERATIONS]; /* the outermost first */
    int noperations;
    const char *in[MOST_INPUTS];
    int nin;
    const char *out;
    const char *along; /* dimension along which several input files are joined */
    char *first_file;  /* first of several input files; NULL if there is one file */
    content content[MOST_INPUTS];
    char *command;                /* for the attribute history */
    char *text;                   /* the expression */
    char *copied;                 /* names of variables that are copied, for a message */
    char *inputs[2 * MOST_PAIRS]; /* arguments of --in for single variables */
    int ninputs;
} apply;

/* Returns "op1(op2(x, ...), ...)" with the functions that apply to the variable; *n is their number. `second` is the second
 * argument of the outermost function; NULL: there is no second input. */
static char *call(const apply *a, const variable *v, const char *first, const char *second, int *n)
{
    const content *c = &a->content[0];
    char *all = cli_strdup(first);
    *n = 0;
    for (int i = a->noperations - 1; i >= 0; i--) {
        const operation *o = &a->operations[i];
        const bool is_pair = second && i == 0;
        if (!applies(c, v, o)) continue;
        char *more =
            cli_printf("%s(%s%s%s", o->name, all, is_pair ? ", " : "", is_pair ? second : "");
        for (int k = 0; k < o->n; k++) {
            if (o->selects && lacks(c, v, o->argument[k].key)) continue;
            char *longer = cli_printf("%s, %s", more, o->argument[k].text);
            cli_free(more);
            more = longer;
        }
        cli_free(all);
        all = cli_printf("%s)", more);
        cli_free(more);
        ++*n;
    }
    return all;
}

/* Adds the statement for a variable. Of two inputs, each array gets a name of its own. Returns the number of functions, or
 * -1 if there are too many variables. */
static int add_statement(apply *a, const variable *v)
{
    const char *partner = a->nin > 1 ? partner_of(&a->content[1], v) : NULL;
    char *first = cli_printf(a->nin > 1 ? "%s_of_first" : "%s", v->name);
    char *second = cli_printf("%s_of_second", v->name);
    int n = 0;
    if (a->ninputs + 2 > 2 * MOST_PAIRS) n = -1;
    const bool pairs = n == 0 && (a->nin == 1 || partner);
    char *value = pairs ? call(a, v, first, partner ? second : NULL, &n) : cli_strdup(first);
    /* A variable without the joined dimension is read from the first of several files. */
    if (n >= 0 && a->nin == 1 && a->first_file && !has_dim(v, a->along))
        a->inputs[a->ninputs++] = cli_printf("%s=%s::%s", v->name, a->first_file, v->name);
    if (n >= 0 && a->nin > 1)
        a->inputs[a->ninputs++] = cli_printf("%s=%s::%s", first, a->in[0], v->name);
    if (n > 0 && partner)
        a->inputs[a->ninputs++] = cli_printf("%s=%s::%s", second, a->in[1], partner);
    char *all = cli_printf("%s%s = %s; ", a->text, v->name, value);
    if (n == 0) append(&a->copied, v->name);
    cli_free(a->text);
    a->text = all;
    cli_free(first);
    cli_free(second);
    cli_free(value);
    return n;
}

/* Whether an expression can assign the name to a result: those that begin with _ are no results. */
static bool is_result_name(const char *name)
{
    return isalpha((unsigned char)*name) && !name[strspn(name, name_characters)];
}

static int write_expression(apply *a)
{
    const content *c = &a->content[0];
    int applied = 0;
    for (int i = 0; i < c->n; i++) {
        const char *name = c->variable[i].name;
        if (is_aside(c, &c->variable[i])) continue;
        if (!is_result_name(name))
            return cli_usage_error("apply",
                                   "the variable \"%s\" of %s has no name for an expression, "
                                   "expected letters, digits and _, a letter first: `cubed eval "
                                   "'x = ...' --in x=%s::%s` gives it another name",
                                   name, a->in[0], a->in[0], name);
        const int n = add_statement(a, &c->variable[i]);
        if (n < 0)
            return cli_usage_error("apply",
                                   "%s has more than %d variables, expected fewer for several "
                                   "inputs: name those that you want in `cubed eval`",
                                   a->in[0], MOST_PAIRS);
        applied += n;
    }
    if (applied == 0)
        return cli_usage_error("apply", "%s has no variable that %s applies to, expected numbers%s",
                               a->in[0], a->operations[0].name,
                               a->nin > 1 ? " in a variable that the second input has, too"
                                          : " with the dimensions that its arguments name");
    if (a->copied) cli_say(stderr, "cubed: copied unchanged: %s\n", a->copied);
    if (c->unsupported)
        cli_say(stderr, "cubed: warning: left out, because their type is not supported: %s\n",
                c->unsupported);
    return EXIT_SUCCESS;
}

/* --- The verb ----------------------------------------------------------------------------------------- */

/* Reads functions, options, inputs and the output; *noptions is the number of words of options after argv[0]. */
static int parse(int *argc, char ***argv, apply *a, cli_common *common, int *noptions)
{
    char **words = *argv;
    int at = strcmp(words[0], "apply") == 0;
    if (at < *argc && *words[at] == '-') at = *argc; /* only options, such as --help */
    for (; at < *argc; at++) {
        const char *spec = words[at];
        if (a->noperations > 0 && *spec != '-') break;
        if (a->noperations > 0 && (!isalpha((unsigned char)spec[1]) || !spec[2])) break;
        spec += *spec == '-';
        if (!cli_is_function(spec))
            return cli_usage_error("apply", "\"%s\" is no function: `cubed help eval` lists them",
                                   spec);
        if (a->noperations == MOST_OPERATIONS)
            return cli_usage_error("apply", "more than %d functions, expected fewer",
                                   MOST_OPERATIONS);
        read_operation(&a->operations[a->noperations++], spec);
    }
    const int first = a->noperations > 0 ? at - 1 : 0;
    *argc -= first;
    *argv = words + first;
    (*argv)[0] = "apply";
    for (int key; (key = cli_next_option(*argc, *argv, &cmd_apply_usage, common)) != -1;) {
        if (key == KEY_ALONG) a->along = optarg;
    }
    *noptions = optind - 1;
    const int n = *argc - optind;
    if (a->noperations == 0) return cli_usage_error("apply", "expected a function");
    if (n < 2 || n > MOST_INPUTS + 1)
        return cli_usage_error("apply", "expected IN OUT, or IN IN2 OUT, but there are %d names",
                               n);
    for (a->nin = 0; a->nin < n - 1; a->nin++) a->in[a->nin] = (*argv)[optind + a->nin];
    a->out = (*argv)[*argc - 1];
    return EXIT_SUCCESS;
}

static int read_inputs(apply *a, cli_common *common)
{
    cubed_error err = CUBED_ERROR_INIT;
    cubed_context *ctx = NULL;
    int code = cli_context("apply", common, &ctx);
    for (int i = 0; i < a->nin && code == EXIT_SUCCESS; i++) {
        if (read_content(ctx, a->in[i], &a->content[i], &err) != CUBED_OK)
            code = cli_report("apply", &err);
    }
    cubed_context_unref(ctx);
    a->first_file = inputs_first(a->in[0]);
    if (strcmp(a->first_file, a->in[0]) == 0) {
        cli_free(a->first_file);
        a->first_file = NULL;
    }
    return code;
}

/* Runs `cubed eval TEXT` with the same options. */
static int evaluate(apply *a, char **options, int noptions)
{
    const int most = noptions + 2 * a->ninputs + 8;
    char **argv = cli_alloc((size_t)most * sizeof *argv);
    int n = 0;
    argv[n++] = "apply";
    for (int i = 0; i < noptions; i++) argv[n++] = options[i];
    argv[n++] = "--out";
    argv[n++] = (char *)a->out;
    for (int i = 0; i < a->ninputs; i++) {
        argv[n++] = "--in";
        argv[n++] = a->inputs[i];
    }
    argv[n++] = "--";
    argv[n++] = a->text;
    if (a->nin == 1) argv[n++] = (char *)a->in[0];
    argv[n] = NULL;
    optind = 0; /* restart getopt */
    const int code = cli_evaluate(n, argv, cli_strdup(a->command));
    cli_free(argv);
    return code;
}

int cmd_apply(int argc, char **argv)
{
    apply a = {.command = history_command(argc, argv), .text = cli_strdup(""), .along = "time"};
    cli_common common = CLI_COMMON_INIT;
    int noptions = 0;
    int code = parse(&argc, &argv, &a, &common, &noptions);
    if (code == EXIT_SUCCESS) code = read_inputs(&a, &common);
    if (code == EXIT_SUCCESS) code = write_expression(&a);
    if (code == EXIT_SUCCESS) code = evaluate(&a, argv + 1, noptions);
    for (int i = 0; i < a.nin; i++) free_content(&a.content[i]);
    for (int i = 0; i < a.ninputs; i++) cli_free(a.inputs[i]);
    free_operations(a.operations, a.noperations);
    cli_free(a.first_file);
    cli_free(a.command);
    cli_free(a.text);
    cli_free(a.copied);
    return code;
}
