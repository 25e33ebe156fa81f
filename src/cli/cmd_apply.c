/* Applies functions of expressions to all variables of a file, in the form of CDO: `cubed monmean in.nc out.nc`. Writes an
 * expression with a statement for each variable, and runs it like `cubed eval`. */
#include <ctype.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <getopt.h>

#include "archive.h"
#include "cli.h"
#include "file_content.h"
#include "history.h"
#include "inputs.h"
#include "joined_order.h"
#include "lang/guess.h"
#include "lang/lang_arrays.h"
#include "lang/lang_memory.h"
#include "operation.h"
#include "operators.h"
#include "output_options.h"
#include "referred.h"

enum { KEY_PASSED = CLI_OWN_KEY, KEY_ALONG };
enum { MOST_OPERATIONS = 32, MOST_PAIRS = INPUTS_MAX / 2 };

/* The dimension that ensmean and similar operators add for their files. */
#define MEMBERS "member"

static const cli_option own[] = {
    {"along", "DIM",
     "dimension along which the files of an input 'era5-*.nc' are joined (default time)",
     KEY_ALONG},
    {"overlap", "first|last|error",
     "if files overlap, use the elements of the file that begins first or last (default error)",
     KEY_PASSED},
    {"raw", NULL, "compute with elements as they are stored", KEY_PASSED},
    {"format", "2|3", "Zarr format of results (default 3)", KEY_PASSED},
    {"codecs", "JSON", "v3 codec list or v2 compressor of results (default zstd, level 1)",
     KEY_PASSED},
    {"append", "DIM", "append the results along this dimension to OUT, which must exist",
     KEY_PASSED},
    {"chunks", "SPEC", "chunk lengths of results by dimension: time=100,lat=-1; -1: the whole axis",
     KEY_PASSED},
    OUTPUTS_OPTIONS,
    {NULL, NULL, NULL, 0}};

const cli_usage cmd_apply_usage = {
    .synopsis = "apply FUNCTION[,ARGUMENT...] [-FUNCTION[,ARGUMENT...] ...] IN [IN2] OUT [options]",
    .text =
        "Applies a function of expressions to all variables of a file or store, as CDO does. The "
        "word apply may be left out. Further functions, each with a - before it, are applied "
        "first, the last one first. Arguments follow the variable: `mean,time` is mean(x, "
        "\"time\"), and `quantile,0.9,dim=time` is quantile(x, 0.9, dim=\"time\"). Variables "
        "without the dimension that a function works along, strings, and coordinates are copied. "
        "With a second input, the second argument of the function is the variable of the same name "
        "in that input, or its only variable.\nOperators of files have CDO's names and arguments: "
        "selname, delname, sellonlatbox, selindexbox, sellevel, sellevidx and seltimestep select; "
        "mergetime, cat, merge and ensmean (ensmin, ensmax, enssum, ensstd, enspctl,90, ...) take "
        "several files and must be the last function; splityear, splitmon, splityearmon, "
        "splitname, splitlevel and splitsel,N must be the first, and OUT is the prefix of the "
        "names of their results. `cubed eval` evaluates any expression.",
    .examples = "  cubed monmean era5.nc months.nc\n"
                "  cubed mean,time -sel,time=2020-06 era5.nc june.nc\n"
                "  cubed subtract era5.zarr climatology.zarr anomalies.zarr\n"
                "  cubed ensmean 'member-*.nc' mean.nc\n"
                "  cubed splityear -selname,t2m era5.nc t2m_\n",
    .own = own,
    .repeats = OUTPUTS_REPEATS,
    .common = true};

/* --- Variables ---------------------------------------------------------------------------------------- */

/* Returns true if `word` names a dimension of the input that the variable does not have. */
static bool lacks(const content *c, const variable *v, const char *word)
{
    return content_is_dim(c, word) && !content_has_dim(v, word);
}

/* Returns true if the variable has all dimensions of a coordinate of the given kind. */
static bool is_along(const content *c, const variable *v, int kind, bool on_earth)
{
    on_earth = on_earth && !content_has_pole(c, v);
    for (int i = 0; i < c->n; i++) {
        const variable *w = &c->variable[i];
        bool all = (int)w->kind == kind && w->ndim > 0 && !(on_earth && w->is_rotated);
        for (int d = 0; d < w->ndim && all; d++) all = content_has_dim(v, w->dims[d]);
        if (all) return true;
    }
    return false;
}

/* Returns true if argument k of `o` is a string: a label of dates or strings, or a date. */
static bool takes_strings(const content *c, const operation *o, int k)
{
    const char *key = o->argument[k].key;
    for (int i = 0; i < c->n && o->selects; i++) {
        if (c->variable[i].has_words && strcmp(c->variable[i].name, key) == 0) return true;
    }
    if (strcmp(o->name, "seldate") == 0 || strcmp(o->name, "select_date") == 0) return !*key;
    return strcmp(o->name, "anomaly") == 0 && strcmp(key, "reference") == 0;
}

static bool applies(const content *c, const variable *v, const operation *o)
{
    bool any = !o->selects;
    if (!v->is_numeric && !o->selects) return false;
    if (o->by_calendar && !content_has_dim(v, "time")) return false;
    for (int k = 0; k < FIELD_KINDS; k++) {
        if ((o->kinds >> k & 1) && !is_along(c, v, k, o->regrids)) return false;
    }
    for (int k = 0; k < o->n; k++) {
        if (lacks(c, v, o->argument[k].word)) return false;
        if (!lacks(c, v, o->argument[k].key)) any = true;
    }
    return any;
}

/* Returns the variable of the second input that is paired with v: the variable of the same name, or else the only one. */
static const char *partner_of(const content *second, const variable *v)
{
    const char *only = NULL;
    int n = 0;
    for (int i = 0; i < second->n; i++) {
        const variable *w = &second->variable[i];
        if (content_is_aside(second, w)) continue;
        if (strcmp(w->name, v->name) == 0) return w->name;
        only = w->name;
        n++;
    }
    return n == 1 ? only : NULL;
}

/* --- The expression ----------------------------------------------------------------------------------- */

typedef struct apply {
    operation operations[MOST_OPERATIONS]; /* from the outermost to the innermost */
    int noperations;
    const char **in;
    /* nin: number of inputs; owned: number of those strings that belong to this structure */
    int nin, owned;
    const char *out;
    const char *along;      /* dimension along which several input files are joined */
    bool has_along, stacks; /* has_along: --along was given; stacks: it is a new dimension */
    operator_kind
        of_inputs;    /* the innermost operator if it accepts several files, else OPERATOR_NONE */
    char *list;       /* the list of inputs that are used as one; NULL if they are not */
    char *first_file; /* first of several input files; NULL if there is one file */
    content *content; /* content of each input */
    int ncontents;
    const operation *piece; /* selection of a piece, applied last; may be NULL */
    const char *only;       /* the only variable of the result; NULL if it has all */
    char *wrong;            /* first error in an operator's arguments */
    int code;               /* not EXIT_SUCCESS after a reported error in an operator */
    char **options;         /* options of the command line */
    int noptions;
    char *command; /* the command line, for the attribute history */
    char *text;    /* the expression */
    char *copied;  /* names of variables that are copied, for a message */
    char **inputs; /* arguments of --in for single variables */
    int ninputs;
} apply;

static void add_input(apply *a, const char *name, const char *url, const char *array)
{
    a->inputs = cli_resize(a->inputs, (size_t)(a->ninputs + 1) * sizeof *a->inputs);
    a->inputs[a->ninputs++] = cli_printf("%s=%s::%s", name, url, array);
}

/* Replaces *value by a call of the function. `second` is the second argument; may be NULL. */
static void add_call(const content *c, const variable *v, const operation *o, const char *second,
                     char **value)
{
    char *more = cli_printf("%s(%s%s%s", o->name, *value, second ? ", " : "", second ? second : "");
    for (int k = 0; k < o->n; k++) {
        if (o->selects && lacks(c, v, o->argument[k].key)) continue;
        const argument *given = &o->argument[k];
        char *longer =
            cli_printf("%s, %s", more, takes_strings(c, o, k) ? given->strings : given->text);
        cli_free(more);
        more = longer;
    }
    cli_free(*value);
    *value = cli_printf("%s)", more);
    cli_free(more);
}

/* Returns the words of `cubed eval TEXT --out OUT` with the same options, of which only the list is to be freed. */
static char **eval_words(const apply *a, const char *out, int *count)
{
    const int most = a->noptions + 2 * (a->ninputs + a->nin) + 16;
    char **argv = cli_alloc((size_t)most * sizeof *argv);
    int n = 0;
    argv[n++] = "apply";
    for (int i = 0; i < a->noptions; i++) {
        /* A new dimension is passed by another option than --along. */
        if (a->stacks && strcmp(a->options[i], "--along") == 0)
            i++;
        else if (!a->stacks || strncmp(a->options[i], "--along=", strlen("--along=")) != 0)
            argv[n++] = a->options[i];
    }
    argv[n++] = "--out";
    argv[n++] = (char *)(uintptr_t)out;
    if (a->stacks || a->of_inputs == OPERATOR_ENSEMBLE) {
        argv[n++] = "--stack";
        argv[n++] = a->stacks ? (char *)(uintptr_t)a->along : MEMBERS;
    } else if (!a->has_along && strcmp(a->along, "time") != 0) {
        argv[n++] = "--along";
        argv[n++] = (char *)(uintptr_t)a->along;
    }
    for (int i = 0; i < a->ninputs; i++) {
        argv[n++] = "--in";
        argv[n++] = a->inputs[i];
    }
    for (int i = 0; i < a->nin && a->of_inputs == OPERATOR_MERGE; i++) {
        argv[n++] = "--in";
        argv[n++] = (char *)(uintptr_t)a->in[i];
    }
    argv[n++] = "--";
    argv[n++] = a->text;
    if (a->list)
        argv[n++] = a->list;
    else if (a->nin == 1 && a->of_inputs == OPERATOR_NONE)
        argv[n++] = (char *)(uintptr_t)a->in[0];
    argv[n] = NULL;
    optind = 0; /* restart getopt */
    *count = n;
    return argv;
}

/* Returns true if a variable has different values in the files that are joined. */
static bool is_joined(const apply *a, const variable *v)
{
    if (a->of_inputs == OPERATOR_ENSEMBLE) return v->is_numeric;
    return a->stacks || content_has_dim(v, a->along);
}

/* Adds an input for a single variable if its name alone does not suffice. This is so if there are two inputs, or if the
 * variable is the same in all of several files. */
static void add_own_input(apply *a, const variable *v, const char *name)
{
    if (a->nin > 1 && a->of_inputs == OPERATOR_NONE)
        add_input(a, name, a->in[0], v->name);
    else if (a->first_file && !is_joined(a, v))
        add_input(a, v->name, a->first_file, v->name);
}

/* Builds `value`, an expression of one variable that it calls `name`. If `dim` is not NULL, builds the coordinate of that
 * dimension instead. */
static int build_value(apply *a, const variable *v, const char *name, const char *value,
                       const char *dim, cubed_array **built)
{
    apply only = *a; /* has inputs and text of its own */
    int n;
    only.inputs = NULL;
    only.ninputs = 0;
    only.text = cli_strdup(value);
    add_own_input(&only, v, name);
    char **argv = eval_words(&only, a->out, &n);
    const int code = cli_build_result(n, argv, dim, built);
    for (int i = 0; i < only.ninputs; i++) cli_free(only.inputs[i]);
    cli_free(only.inputs);
    cli_free(only.text);
    cli_free(argv);
    return code;
}

/* Builds a value like build_value, and finds its axes. The names of the axes belong to *built. */
static int find_axes(apply *a, const content *c, const variable *v, const char *name,
                     const char *value, operator_axes *axes, cubed_array **built)
{
    const int code = build_value(a, v, name, value, NULL, built);
    for (int d = 0; code == EXIT_SUCCESS && d < cubed_array_ndim(*built); d++) {
        const char *dim = cubed_array_dim_name(*built, d);
        axes->ndim = d + 1;
        axes->name[d] = dim ? dim : "";
        axes->length[d] = cubed_array_shape(*built)[d];
        axes->kind[d] = content_kind_of(c, axes->name[d]);
    }
    if (code == EXIT_SUCCESS) axes->ndim = cubed_array_ndim(*built);
    return code;
}

/* Applies one operation to *value, in which the variable is called `name`. Returns true if the operation applies to the
 * variable. */
static bool add_operation(apply *a, const content *c, const variable *v, const operation *o,
                          const char *name, const char *second, char **value)
{
    char *wrong = NULL, *next = NULL;
    if (o->kind == OPERATOR_NONE) {
        if (!applies(c, v, o)) return false;
        add_call(c, v, o, second, value);
        return true;
    }
    operator_axes axes = content_axes_of(c, v);
    cubed_array *built = NULL;
    /* Functions may change the axes. The axes of several files are longer than those of the first file. */
    const bool changed = strcmp(*value, name) != 0,
               longer = (a->list || a->first_file) && operator_counts(o->spec);
    if (o->kind == OPERATOR_SELECT && a->code == EXIT_SUCCESS && (changed || longer))
        a->code = find_axes(a, c, v, name, *value, &axes, &built);
    if (o->kind == OPERATOR_SELECT && a->code == EXIT_SUCCESS)
        next = operator_select(o->spec, &axes, *value, &wrong);
    cubed_array_unref(built);
    if (o->kind == OPERATOR_ENSEMBLE && v->is_numeric)
        next = operator_ensemble(o->spec, MEMBERS, *value, &wrong);
    if (wrong && !a->wrong)
        a->wrong = wrong;
    else
        cli_free(wrong);
    if (!next) return false;
    cli_free(*value);
    *value = next;
    return true;
}

/* Returns "op1(op2(x, ...), ...)" with the operations that apply to the variable, and sets *n to their number. `second` is
 * the second argument of the outermost function, or NULL without a second input. */
static char *call(apply *a, const content *c, const variable *v, const char *first,
                  const char *second, int *n)
{
    char *all = cli_strdup(first);
    *n = 0;
    for (int i = a->noperations - 1; i >= 0; i--)
        *n += add_operation(a, c, v, &a->operations[i], first, i == 0 ? second : NULL, &all);
    if (a->piece) *n += add_operation(a, c, v, a->piece, first, NULL, &all);
    return all;
}

/* Adds the statement for a variable. If there are two inputs, each array gets its own name. Returns the number of
 * operations, or -1 if there are too many variables. */
static int add_statement(apply *a, const content *c, const variable *v)
{
    const bool pairs = a->nin > 1 && a->of_inputs == OPERATOR_NONE;
    const char *partner = pairs ? partner_of(&a->content[1], v) : NULL;
    char *first = cli_printf(pairs ? "%s_of_first" : "%s", v->name);
    char *second = cli_printf("%s_of_second", v->name);
    int n = a->ninputs + 2 > 2 * MOST_PAIRS ? -1 : 0;
    char *value = n == 0 && (!pairs || partner) ? call(a, c, v, first, partner ? second : NULL, &n)
                                                : cli_strdup(first);
    if (n >= 0) add_own_input(a, v, first);
    if (n > 0 && partner) add_input(a, second, a->in[1], partner);
    char *all = cli_printf("%s%s = %s; ", a->text, v->name, value);
    if (n == 0) content_append(&a->copied, v->name);
    cli_free(a->text);
    a->text = all;
    cli_free(first);
    cli_free(second);
    cli_free(value);
    return n;
}

/* Returns true if an expression can assign the name to a result. Names that begin with _ are not results. */
static bool is_result_name(const char *name)
{
    return isalpha((unsigned char)*name) && !name[strspn(name, operation_name_characters)];
}

/* Returns true if a name or pattern of selname or a similar operator matches. */
static bool is_listed(const operation *o, const char *name)
{
    bool is = false;
    char *list = cli_strdup(operator_arguments(o->spec)), *rest = list;
    for (char *word; (word = strsep(&rest, ","));) is = is || fnmatch(word, name, 0) == 0;
    cli_free(list);
    return is;
}

/* Returns true if the variable becomes a result. A variable that only describes others does so only if it is named. */
static bool is_wanted(const apply *a, const content *c, const variable *v)
{
    bool named = false;
    for (int i = 0; i < a->noperations; i++) {
        const operation *o = &a->operations[i];
        if (o->kind != OPERATOR_VARIABLES) continue;
        const bool listed = is_listed(o, v->name), deletes = strcmp(o->name, "delname") == 0;
        if (listed == deletes) return false;
        named = named || !deletes;
    }
    if (a->only && strcmp(a->only, v->name) != 0) return false;
    return named || !content_is_aside(c, v);
}

/* Refuses names in selname and delname that match no variable. Refuses names in delname of variables that describe others. */
static int check_names(const apply *a)
{
    for (int i = 0; i < a->noperations; i++) {
        const operation *o = &a->operations[i];
        const bool deletes = strcmp(o->name, "delname") == 0;
        char *list = cli_strdup(operator_arguments(o->spec)), *rest = list;
        int code = EXIT_SUCCESS;
        for (char *word; o->kind == OPERATOR_VARIABLES && (word = strsep(&rest, ","));) {
            const variable *found = NULL;
            bool aside = false;
            lang_guess g;
            char text[GUESS_TEXT];
            lang_guess_init(&g, word);
            for (int k = 0; k < (a->of_inputs == OPERATOR_MERGE ? a->nin : 1); k++) {
                const content *c = &a->content[k];
                for (int m = 0; m < c->n; m++) {
                    const variable *v = &c->variable[m];
                    lang_guess_try(&g, v->name, strlen(v->name));
                    if (fnmatch(word, v->name, 0) != 0) continue;
                    found = v;
                    aside = aside || (strcmp(word, v->name) == 0 && content_is_aside(c, v));
                }
            }
            if (!found && code == EXIT_SUCCESS)
                code = cli_usage_error("apply", "%s: %s has no variable \"%s\"%s", o->name,
                                       a->in[0], word, lang_guess_text(&g, text));
            else if (deletes && aside && code == EXIT_SUCCESS)
                code = cli_usage_error("apply",
                                       "delname: \"%s\" describes other variables, and stays with "
                                       "them: expected a name of another variable",
                                       word);
        }
        cli_free(list);
        if (code != EXIT_SUCCESS) return code;
    }
    return EXIT_SUCCESS;
}

/* Writes the expression of a result, in place of the previous one. */
static int write_expression(apply *a)
{
    const int ncontents = a->of_inputs == OPERATOR_MERGE ? a->nin : 1;
    int applied = 0, variables = 0;
    for (int i = 0; i < a->ninputs; i++) cli_free(a->inputs[i]);
    a->ninputs = 0;
    cli_free(a->text);
    cli_free(a->copied);
    a->text = cli_strdup("");
    a->copied = NULL;
    for (int k = 0; k < ncontents; k++) {
        const content *c = &a->content[k];
        for (int i = 0; i < c->n; i++) {
            const char *name = c->variable[i].name;
            if (!is_wanted(a, c, &c->variable[i])) continue;
            if (!is_result_name(name))
                return cli_usage_error(
                    "apply",
                    "the variable \"%s\" of %s has no name for an expression, expected letters, "
                    "digits and _, a letter first: `cubed eval 'x = ...' --in x=%s::%s` gives it "
                    "another name",
                    name, a->in[k], a->in[k], name);
            const int n = add_statement(a, c, &c->variable[i]);
            if (a->code != EXIT_SUCCESS) return a->code;
            if (a->wrong) return cli_usage_error("apply", "%s", a->wrong);
            if (n < 0)
                return cli_usage_error("apply",
                                       "%s has more than %d variables, expected fewer for several "
                                       "inputs: select some with selname",
                                       a->in[k], MOST_PAIRS);
            applied += n;
            variables++;
        }
    }
    bool computes = false;
    for (int i = 0; i < a->noperations; i++) {
        const operator_kind kind = a->operations[i].kind;
        computes = computes || kind == OPERATOR_NONE || kind == OPERATOR_SELECT ||
                   kind == OPERATOR_ENSEMBLE;
    }
    if (variables == 0) return cli_usage_error("apply", "%s has no such variable", a->in[0]);
    if (computes && applied == 0)
        return cli_usage_error("apply", "%s has no variable that %s applies to, expected numbers%s",
                               a->in[0], a->operations[0].name,
                               a->nin > 1 && a->of_inputs == OPERATOR_NONE
                                   ? " in a variable that the second input has, too"
                                   : " with the dimensions that its arguments name");
    return EXIT_SUCCESS;
}

/* Reports which variables are copied unchanged or left out. */
static void say_what_is_left(const apply *a)
{
    const bool computes = a->noperations > 0 && (a->operations[0].kind == OPERATOR_NONE ||
                                                 a->operations[0].kind == OPERATOR_SELECT ||
                                                 a->operations[0].kind == OPERATOR_ENSEMBLE);
    if (a->copied && computes) cli_say(stderr, "cubed: copied unchanged: %s\n", a->copied);
    for (int k = 0; k < (a->of_inputs == OPERATOR_MERGE ? a->nin : 1); k++) {
        if (a->content[k].unsupported)
            cli_say(stderr, "cubed: warning: left out, because their type is not supported: %s\n",
                    a->content[k].unsupported);
    }
}

/* --- Several inputs ----------------------------------------------------------------------------------- */

/* Joins several inputs to one list. For merge, expands patterns to all their files. */
static int gather(apply *a)
{
    char **all = NULL;
    int nall = 0;
    if (a->of_inputs == OPERATOR_NONE) return EXIT_SUCCESS;
    for (int i = 0; i < a->nin; i++) {
        int n;
        char **urls = joined_is_pattern(a->in[i]) ? joined_expand(a->in[i], &n) : NULL;
        if (!urls) n = joined_is_pattern(a->in[i]) ? 0 : 1;
        if (n == 0) return cli_usage_error("apply", "there is no file \"%s\"", a->in[i]);
        all = cli_resize(all, (size_t)(nall + n) * sizeof *all);
        for (int k = 0; k < n; k++) all[nall++] = urls ? urls[k] : cli_strdup(a->in[i]);
        cli_free(urls);
    }
    cli_free(a->in);
    a->in = (const char **)all;
    a->owned = nall;
    a->nin = nall;
    if (nall > INPUTS_MAX)
        return cli_usage_error("apply", "there are %d files, expected at most %d", nall,
                               INPUTS_MAX);
    if (a->of_inputs == OPERATOR_MERGE) return EXIT_SUCCESS;
    for (int i = 0; i < nall; i++) {
        char *longer =
            a->list ? cli_printf("%s%c%s", a->list, JOINED_SEPARATOR, all[i]) : cli_strdup(all[i]);
        cli_free(a->list);
        a->list = longer;
    }
    /* Only the content of the first file is used from here on. */
    a->nin = 1;
    return EXIT_SUCCESS;
}

/* Refuses a merge of files that share a variable, or whose dimensions of the same name differ in length or coordinates. */
static int check_merged(apply *a, cubed_context *ctx)
{
    cubed_error err = CUBED_ERROR_INIT;
    joined_inputs in = {.ctx = ctx};
    joined_order order = {.dim = cli_strdup("merge"), .n = a->nin, .checked = cli_strdup(" ")};
    int code = EXIT_SUCCESS;
    order.file = cli_alloc((size_t)a->nin * sizeof *order.file);
    for (int i = 0; i < a->nin; i++) order.file[i].url = cli_strdup(a->in[i]);
    for (int k = 1; k < a->nin; k++) {
        for (int i = 0; i < k && code == EXIT_SUCCESS; i++) {
            const content *c = &a->content[i], *other = &a->content[k];
            for (int m = 0; m < c->n && code == EXIT_SUCCESS; m++) {
                const variable *v = &c->variable[m];
                for (int j = 0; j < other->n && code == EXIT_SUCCESS; j++) {
                    const variable *w = &other->variable[j];
                    const bool both = is_wanted(a, c, v) && is_wanted(a, other, w);
                    if (both && strcmp(v->name, w->name) == 0)
                        code =
                            cli_usage_error("apply",
                                            "merge: %s and %s have a variable \"%s\": rename one "
                                            "with cubed copy --rename, or join files along a "
                                            "dimension with mergetime",
                                            a->in[i], a->in[k], v->name);
                    for (int d = 0; d < v->ndim && code == EXIT_SUCCESS; d++) {
                        for (int e = 0; e < w->ndim; e++) {
                            if (!*v->dims[d] || strcmp(v->dims[d], w->dims[e]) != 0 ||
                                v->shape[d] == w->shape[e])
                                continue;
                            code = cli_usage_error(
                                "apply",
                                "merge: dimension \"%s\" has %" PRId64
                                " elements in %s and %" PRId64
                                " in %s, expected equal ones: select the same part of both first",
                                v->dims[d], v->shape[d], a->in[i], w->shape[e], a->in[k]);
                            break;
                        }
                    }
                }
            }
        }
    }
    for (int k = 0; k < a->nin && code == EXIT_SUCCESS; k++) {
        for (int i = 0; i < a->content[k].naxes && code == EXIT_SUCCESS; i++) {
            if (joined_check_coordinate(&in, &order, a->content[k].axis[i].dim, &err) != CUBED_OK)
                code = cli_report("apply", &err);
        }
    }
    for (int i = 0; i < a->nin; i++) cli_free(order.file[i].url);
    cli_free(order.file);
    cli_free(order.checked);
    cli_free(order.dim);
    return code;
}

/* --- Pieces ------------------------------------------------------------------------------------------- */

/* One of the results of a split. */
typedef struct piece {
    char *suffix, *only;
    operation selects; /* has no name if the piece has no selection */
} piece;

typedef struct pieces {
    int n;
    piece *piece;
} pieces;

/* Adds a piece with selection `spec` and variable `only`, both nullable. Takes ownership of all strings. */
/* NOLINTNEXTLINE(readability-non-const-parameter): the piece owns the strings */
static void add_piece(pieces *p, char *suffix, char *spec, char *only)
{
    p->piece = cli_resize(p->piece, (size_t)(p->n + 1) * sizeof *p->piece);
    piece *q = &p->piece[p->n++];
    *q = (piece){.suffix = suffix, .only = only};
    if (spec) operation_read(&q->selects, spec);
    cli_free(spec);
}

static void free_pieces(pieces *p)
{
    for (int i = 0; i < p->n; i++) {
        cli_free(p->piece[i].suffix);
        cli_free(p->piece[i].only);
        operations_free(&p->piece[i].selects, 1);
    }
    cli_free(p->piece);
}

/* Returns the dimension of a kind in the first input, or NULL, and sets *length to its length in one file. */
static const char *find_dimension(const apply *a, operator_axis kind, int64_t *length)
{
    const content *c = &a->content[0];
    for (int i = 0; i < c->n; i++) {
        for (int d = 0; d < c->variable[i].ndim; d++) {
            *length = c->variable[i].shape[d];
            if (content_kind_of(c, c->variable[i].dims[d]) == kind) return c->variable[i].dims[d];
        }
    }
    return NULL;
}

/* Adds pieces of months or years. `month` has the months of all times in ascending order, counted from year 0. */
static void add_spans(pieces *p, const char *name, const char *dim, const int64_t *month, int64_t n)
{
    const bool by_year = strcmp(name, "splityear") == 0, by_month = strcmp(name, "splitmon") == 0;
    for (int64_t i = 0; i < (by_month ? 12 : n); i++) {
        char *labels = cli_strdup(""), *suffix;
        if (by_year && i > 0 && month[i] / 12 == month[i - 1] / 12) {
            cli_free(labels);
            continue;
        }
        for (int64_t k = by_month ? 0 : i; k < (by_month ? n : i + 1); k++) {
            if (by_month && month[k] % 12 != i) continue;
            char *label = by_year ? cli_printf("\"%04" PRId64 "\"", month[k] / 12)
                                  : cli_printf("\"%04" PRId64 "-%02" PRId64 "\"", month[k] / 12,
                                               month[k] % 12 + 1);
            char *longer = cli_printf("%s%s%s", labels, *labels ? ", " : "", label);
            cli_free(label);
            cli_free(labels);
            labels = longer;
        }
        suffix = by_year ? cli_printf("%04" PRId64, month[i] / 12)
                 : by_month
                     ? cli_printf("%02" PRId64, i + 1)
                     : cli_printf("%04" PRId64 "%02" PRId64, month[i] / 12, month[i] % 12 + 1);
        if (*labels)
            add_piece(p, suffix, cli_printf("sel,%s=[%s]", dim, labels), NULL);
        else
            cli_free(suffix);
        cli_free(labels);
    }
}

static int by_number(const void *left, const void *right)
{
    const int64_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

/* Appends the months of n times to *month. Months are counted from year 0. */
static void note_months(const cubed_time_axis *axis, const int64_t *us, int64_t n, int64_t **month,
                        int64_t *nmonths)
{
    *month = cli_resize(*month, (size_t)(*nmonths + n + 1) * sizeof **month);
    for (int64_t i = 0; i < n; i++) {
        const cubed_date date =
            cubed_calendar_date(axis->calendar, cubed_floor_div(us[i], CUBED_US_PER_DAY));
        (*month)[(*nmonths)++] = 12 * date.year + date.month - 1;
    }
}

/* Reads the months of all inputs. */
static int read_months(const apply *a, cubed_context *ctx, const char *dim, int64_t **month,
                       int64_t *n)
{
    cubed_error err = CUBED_ERROR_INIT;
    joined_inputs in = {.ctx = ctx, .overlap = JOINED_FIRST};
    joined_order *order;
    const char *from = a->list ? a->list : a->in[0];
    char *self = cli_strdup(from), **urls = &self;
    int code = EXIT_SUCCESS, nurls = 1;
    if (joined_is_pattern(from)) urls = joined_expand(from, &nurls);
    if (joined_find_order(&in, from, urls, nurls, dim, &order, &err) != CUBED_OK)
        code = cli_report("apply", &err);
    for (int f = 0; code == EXIT_SUCCESS && f < order->n; f++) {
        const joined_file *file = &order->file[f];
        if (file->us && file->has_units)
            note_months(&file->axis, file->us, file->n, month, n);
        else
            code = cli_usage_error("apply",
                                   "%s: the coordinate \"%s\" has no dates, expected units such as "
                                   "\"days since 2000-01-01\"",
                                   a->operations[0].name, dim);
    }
    if (urls != &self) joined_free_urls(urls, nurls);
    cli_free(self);
    joined_free(&in);
    return code;
}

/* Reads the months of a coordinate of the results. *n stays 0 if the coordinate has no dates. */
static cubed_status months_of(const char *dim, cubed_array *x, int64_t **month, int64_t *n,
                              cubed_error *err)
{
    json_t *attrs = lang_attributes(cubed_array_attrs(x));
    const int64_t count = cubed_array_shape(x)[0];
    int64_t *us = cli_alloc((size_t)(count + 1) * sizeof *us), kept = 0;
    void *number = NULL;
    cubed_time_axis axis;
    bool is_time;
    cubed_status st = joined_find_units(dim, dim, attrs, NULL, &is_time, &axis, err);
    if (st == CUBED_OK && is_time)
        st = joined_read_elements(cubed_array_context(x), x, true, &number, err);
    for (int64_t i = 0; number && i < count; i++)
        kept += cubed_time_of_float(&axis, ((const double *)number)[i], &us[kept]);
    if (st == CUBED_OK && is_time) note_months(&axis, us, kept, month, n);
    json_decref(attrs);
    cli_free(number);
    cli_free(us);
    return st;
}

/* Reads the months that remain after the command's functions, from the first variable along the dimension. *n stays 0 if
 * they are unknown. */
static int read_months_left(apply *a, const char *dim, int64_t **month, int64_t *n)
{
    const content *c = &a->content[0];
    for (int i = 0; i < c->n && a->of_inputs == OPERATOR_NONE; i++) {
        const variable *v = &c->variable[i];
        cubed_error err = CUBED_ERROR_INIT;
        cubed_array *x = NULL;
        int applied, code = EXIT_SUCCESS;
        if (!is_wanted(a, c, v) || !is_result_name(v->name) || !content_has_dim(v, dim)) continue;
        char *value = call(a, c, v, v->name, NULL, &applied);
        if (applied > 0 && a->code == EXIT_SUCCESS)
            code = build_value(a, v, v->name, value, dim, &x);
        cli_free(value);
        if (x && cubed_array_ndim(x) == 1 && months_of(dim, x, month, n, &err) != CUBED_OK)
            code = cli_report("apply", &err);
        cubed_array_unref(x);
        return a->code != EXIT_SUCCESS ? a->code : code;
    }
    return EXIT_SUCCESS;
}

/* Finds the months of all times, and adds their pieces. */
static int split_times(apply *a, cubed_context *ctx, const char *dim, pieces *p)
{
    int64_t n = 0, m = 0, *month = NULL;
    int code = EXIT_SUCCESS;
    if (a->noperations > 1) code = read_months_left(a, dim, &month, &n);
    if (code == EXIT_SUCCESS && n == 0) code = read_months(a, ctx, dim, &month, &n);
    if (code == EXIT_SUCCESS && n > 0) {
        qsort(month, (size_t)n, sizeof *month, by_number);
        for (int64_t i = 0; i < n; i++) {
            if (i == 0 || month[i] != month[i - 1]) month[m++] = month[i];
        }
        if (month[0] < 0 || month[m - 1] >= (int64_t)12 * 10000)
            code = cli_usage_error("apply", "%s: expected years from 0 to 9999",
                                   a->operations[0].name);
        else
            add_spans(p, a->operations[0].name, dim, month, m);
    }
    cli_free(month);
    return code;
}

/* Adds a piece for each level. */
static int split_levels(const apply *a, cubed_context *ctx, const char *dim, pieces *p)
{
    cubed_error err = CUBED_ERROR_INIT;
    joined_inputs in = {.ctx = ctx};
    joined_order *order;
    char *first = inputs_first(a->list ? a->list : a->in[0]);
    int code = EXIT_SUCCESS;
    if (joined_find_order(&in, first, &first, 1, dim, &order, &err) != CUBED_OK)
        code = cli_report("apply", &err);
    else if (!order->file[0].number)
        code = cli_usage_error("apply", "splitlevel: \"%s\" has no coordinate of numbers", dim);
    for (int64_t i = 0; code == EXIT_SUCCESS && i < order->file[0].n; i++) {
        const double level = order->file[0].number[i];
        add_piece(p, cli_printf("%06g", level), cli_printf("sellevel,%.17g", level), NULL);
    }
    joined_free(&in);
    cli_free(first);
    return code;
}

/* Returns the number of time steps that remain after the command's functions, or 0 without time steps. Sets a->code after an
 * error. */
static int64_t count_steps(apply *a)
{
    const content *c = &a->content[0];
    for (int i = 0; i < c->n; i++) {
        const variable *v = &c->variable[i];
        operator_axes axes = content_axes_of(c, v);
        cubed_array *built = NULL;
        int n;
        if (!is_wanted(a, c, v) || !is_result_name(v->name)) continue;
        char *value = call(a, c, v, v->name, NULL, &n);
        if (n > 0 && a->code == EXIT_SUCCESS)
            a->code = find_axes(a, c, v, v->name, value, &axes, &built);
        cli_free(value);
        int64_t length = 0;
        for (int d = 0; d < axes.ndim && a->code == EXIT_SUCCESS; d++) {
            if (axes.kind[d] == AXIS_TIME) length = axes.length[d];
        }
        cubed_array_unref(built);
        if (length > 0 || a->code != EXIT_SUCCESS) return length;
    }
    return 0;
}

/* Adds pieces with a fixed number of time steps. */
static int split_steps(apply *a, pieces *p)
{
    int64_t each;
    const char *text = operator_arguments(a->operations[0].spec);
    if (!lang_parse_int(&text, &each) || *text || each < 1)
        return cli_usage_error("apply", "%s: expected a number of time steps",
                               a->operations[0].spec);
    if (a->list || a->first_file)
        return cli_usage_error("apply", "splitsel: expected one file: join files first");
    const int64_t length = count_steps(a);
    if (a->code != EXIT_SUCCESS) return a->code;
    if (a->wrong) return cli_usage_error("apply", "%s", a->wrong);
    for (int64_t i = 0; i < length; i += each)
        add_piece(p, cli_printf("%06" PRId64, i / each + 1),
                  cli_printf("seltimestep,%" PRId64 "/%" PRId64, i + 1,
                             i + each < length ? i + each : length),
                  NULL);
    return EXIT_SUCCESS;
}

static int find_pieces(apply *a, cubed_context *ctx, pieces *p)
{
    const char *name = a->operations[0].name;
    const bool levels = strcmp(name, "splitlevel") == 0;
    int64_t length;
    if (strcmp(name, "splitname") == 0) {
        for (int k = 0; k < (a->of_inputs == OPERATOR_MERGE ? a->nin : 1); k++) {
            const content *c = &a->content[k];
            for (int i = 0; i < c->n; i++) {
                const char *of = c->variable[i].name;
                if (is_wanted(a, c, &c->variable[i]))
                    add_piece(p, cli_strdup(of), NULL, cli_strdup(of));
            }
        }
        return EXIT_SUCCESS;
    }
    const char *dim = find_dimension(a, levels ? AXIS_LEVEL : AXIS_TIME, &length);
    if (!dim || dim[strspn(dim, operation_name_characters)])
        return cli_usage_error("apply", "%s: %s has no dimension of %s", name, a->in[0],
                               levels ? "levels" : "time");
    if (levels) return split_levels(a, ctx, dim, p);
    if (strcmp(name, "splitsel") == 0) return split_steps(a, p);
    return split_times(a, ctx, dim, p);
}

/* --- The verb ----------------------------------------------------------------------------------------- */

/* Reads the operations before the files. Sets *at to the next word. */
static int read_operations(int argc, char **words, apply *a, int *at)
{
    for (; *at < argc; ++*at) {
        const char *spec = words[*at];
        if (a->noperations > 0 && *spec != '-') break;
        if (a->noperations > 0 && (!isalpha((unsigned char)spec[1]) || !spec[2])) break;
        spec += *spec == '-';
        if (!cli_is_function(spec))
            return cli_usage_error("apply", "\"%s\" is no function: `cubed help eval` lists them",
                                   spec);
        if (a->noperations == MOST_OPERATIONS)
            return cli_usage_error("apply", "more than %d functions, expected fewer",
                                   MOST_OPERATIONS);
        operation *o = &a->operations[a->noperations++];
        operation_read(o, spec);
        char *wrong = o->kind != OPERATOR_NONE ? operator_check(spec) : NULL;
        if (wrong) {
            const int code = cli_usage_error("apply", "%s", wrong);
            cli_free(wrong);
            return code;
        }
        if (o->kind == OPERATOR_SPLIT && a->noperations > 1)
            return cli_usage_error("apply", "%s comes first: other functions follow it", o->name);
        if (a->of_inputs != OPERATOR_NONE)
            return cli_usage_error("apply", "%s comes last, because it takes several files",
                                   a->operations[a->noperations - 2].name);
        if (o->kind == OPERATOR_JOIN || o->kind == OPERATOR_MERGE || o->kind == OPERATOR_ENSEMBLE)
            a->of_inputs = o->kind;
    }
    return EXIT_SUCCESS;
}

/* Reads the operations, options, inputs and output. */
static int parse(int *argc, char ***argv, apply *a, cli_common *common)
{
    char **words = *argv;
    int at = strcmp(words[0], "apply") == 0;
    if (at < *argc && *words[at] == '-') at = *argc; /* there are only options, such as --help */
    const int code = read_operations(*argc, words, a, &at);
    if (code != EXIT_SUCCESS) return code;
    const int first = a->noperations > 0 ? at - 1 : 0;
    *argc -= first;
    *argv = words + first;
    (*argv)[0] = "apply";
    for (int key; (key = cli_next_option(*argc, *argv, &cmd_apply_usage, common)) != -1;) {
        if (key == KEY_ALONG) a->along = optarg;
        if (key == KEY_ALONG) a->has_along = true;
    }
    a->options = *argv + 1;
    a->noptions = optind - 1;
    const int n = *argc - optind;
    if (a->noperations == 0) return cli_usage_error("apply", "expected a function");
    const bool is_pair = a->operations[0].kind == OPERATOR_NONE && a->of_inputs == OPERATOR_NONE;
    if (n < 2 || (a->of_inputs == OPERATOR_NONE && n > (is_pair ? 3 : 2)))
        return cli_usage_error("apply", "expected %s, but there are %d names",
                               a->of_inputs != OPERATOR_NONE ? "IN... OUT"
                               : is_pair                     ? "IN OUT, or IN IN2 OUT"
                                                             : "IN OUT",
                               n);
    a->in = cli_alloc((size_t)n * sizeof *a->in);
    for (a->nin = 0; a->nin < n - 1; a->nin++) a->in[a->nin] = (*argv)[optind + a->nin];
    a->out = (*argv)[*argc - 1];
    return gather(a);
}

/* Prepares `cat --along member` for files without such a dimension: all variables get it as a new dimension. */
static void stack_variables(apply *a)
{
    content *c = &a->content[0];
    a->stacks = true;
    for (int i = 0; i < c->n; i++) {
        variable *v = &c->variable[i];
        if (content_is_aside(c, v)) continue;
        v->dims = cli_resize(v->dims, (size_t)(v->ndim + 1) * sizeof *v->dims);
        v->shape = cli_resize(v->shape, (size_t)(v->ndim + 1) * sizeof *v->shape);
        memmove(v->dims + 1, v->dims, (size_t)v->ndim * sizeof *v->dims);
        memmove(v->shape + 1, v->shape, (size_t)v->ndim * sizeof *v->shape);
        v->dims[0] = cli_strdup(a->along);
        v->shape[0] = a->owned;
        v->ndim++;
    }
}

static int read_inputs(apply *a, cubed_context *ctx)
{
    cubed_error err = CUBED_ERROR_INIT;
    int code = EXIT_SUCCESS;
    a->content = cli_alloc((size_t)a->nin * sizeof *a->content);
    for (; a->ncontents < a->nin && code == EXIT_SUCCESS; a->ncontents++) {
        if (content_read(ctx, a->in[a->ncontents], &a->content[a->ncontents], &err) != CUBED_OK)
            code = cli_report("apply", &err);
    }
    if (code != EXIT_SUCCESS) return code;
    a->first_file = inputs_first(a->list ? a->list : a->in[0]);
    if (strcmp(a->first_file, a->list ? a->list : a->in[0]) == 0) {
        cli_free(a->first_file);
        a->first_file = NULL;
    }
    code = check_names(a);
    if (code == EXIT_SUCCESS && a->of_inputs == OPERATOR_MERGE) code = check_merged(a, ctx);
    if (a->of_inputs == OPERATOR_JOIN && a->has_along && !content_is_dim(&a->content[0], a->along))
        stack_variables(a);
    /* By default, files are joined along their dimension of times, whatever its name. */
    int64_t length;
    const char *time = find_dimension(a, AXIS_TIME, &length);
    if (!a->has_along && time && (a->list || a->first_file)) a->along = time;
    return code;
}

/* Runs `cubed eval TEXT --out OUT` with the same options. */
static int evaluate(apply *a, const char *out)
{
    int n;
    char **argv = eval_words(a, out, &n);
    const int code = cli_evaluate(n, argv, cli_strdup(a->command));
    cli_free(argv);
    return code;
}

/* Returns the suffix of the name of a result or input, such as ".nc", or "". */
static const char *suffix_in(const char *name)
{
    static const char *const known[] = {".nc", ".nc4", ".zarr", ".zip", NULL};
    const char *dot = strrchr(name, '.');
    return dot && lang_is_one_of(dot, known) ? dot : "";
}

/* Writes one result for each piece. The names of results begin with OUT. */
static int evaluate_pieces(apply *a, cubed_context *ctx)
{
    pieces p = {0, NULL};
    const char *end = suffix_in(a->out), *suffix = *end ? end : suffix_in(a->in[0]);
    int code = find_pieces(a, ctx, &p);
    if (code == EXIT_SUCCESS && p.n == 0)
        code = cli_usage_error("apply", "%s: %s has nothing to split", a->operations[0].name,
                               a->in[0]);
    for (int i = 0; i < p.n && code == EXIT_SUCCESS; i++) {
        char *out = cli_printf("%.*s%s%s", (int)(strlen(a->out) - strlen(end)), a->out,
                               p.piece[i].suffix, *suffix ? suffix : ".zarr");
        a->piece = p.piece[i].selects.name ? &p.piece[i].selects : NULL;
        a->only = p.piece[i].only;
        code = write_expression(a);
        if (code == EXIT_SUCCESS && i == 0) say_what_is_left(a);
        if (code == EXIT_SUCCESS) code = evaluate(a, out);
        cli_free(out);
    }
    free_pieces(&p);
    return code;
}

static int run(apply *a, cli_common *common)
{
    cubed_context *ctx = NULL;
    int code = cli_context("apply", common, &ctx);
    if (code == EXIT_SUCCESS) code = read_inputs(a, ctx);
    if (code == EXIT_SUCCESS && a->operations[0].kind == OPERATOR_SPLIT) {
        code = evaluate_pieces(a, ctx);
    } else if (code == EXIT_SUCCESS) {
        code = write_expression(a);
        if (code == EXIT_SUCCESS) say_what_is_left(a);
        if (code == EXIT_SUCCESS) code = evaluate(a, a->out);
    }
    cubed_context_unref(ctx);
    return code;
}

int cmd_apply(int argc, char **argv)
{
    apply a = {.command = history_command(argc, argv), .along = "time"};
    cli_common common = CLI_COMMON_INIT;
    int code = parse(&argc, &argv, &a, &common);
    if (code == EXIT_SUCCESS) code = run(&a, &common);
    for (int i = 0; i < a.ncontents; i++) content_free(&a.content[i]);
    for (int i = 0; i < a.ninputs; i++) cli_free(a.inputs[i]);
    for (int i = 0; i < a.owned; i++) cli_free((char *)(uintptr_t)a.in[i]);
    operations_free(a.operations, a.noperations);
    cli_free(a.inputs);
    cli_free(a.content);
    cli_free((void *)a.in);
    cli_free(a.list);
    cli_free(a.wrong);
    cli_free(a.first_file);
    cli_free(a.command);
    cli_free(a.text);
    cli_free(a.copied);
    return code;
}
