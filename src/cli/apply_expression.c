#include "apply_expression.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include <getopt.h>

#include "cli.h"
#include "inputs.h"
#include "lang/function_hints.h"
#include "lang/guess.h"

enum { MOST_PAIRS = INPUTS_MAX / 2 };

/* The dimension that ensmean and similar operators add for their files. */
#define MEMBERS "member"

/* --- Variables ---------------------------------------------------------------------------------------- */

/* Returns true if `word` names a dimension of the input that the variable does not have. */
static bool is_missing_dim(const content *c, const variable *v, const char *word)
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

/* Returns true if the expression needs quotes around argument k of `o`, because it is a date, or a label of a coordinate of
 * strings or dates. */
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
        if (is_missing_dim(c, v, o->argument[k].word)) return false;
        if (!is_missing_dim(c, v, o->argument[k].key)) any = true;
    }
    return any;
}

/* Returns the variable of another input that is paired with v: the variable of the same name, or else the only one. */
static const variable *partner_of(const content *second, const variable *v)
{
    const variable *only = NULL;
    int n = 0;
    for (int i = 0; i < second->n; i++) {
        const variable *w = &second->variable[i];
        if (content_is_aside(second, w)) continue;
        if (strcmp(w->name, v->name) == 0) return w;
        only = w;
        n++;
    }
    return n == 1 ? only : NULL;
}

/* --- The expression ----------------------------------------------------------------------------------- */

static void add_input(apply *a, const char *name, const char *url, const char *array)
{
    a->inputs = cli_resize(a->inputs, (size_t)(a->ninputs + 1) * sizeof *a->inputs);
    a->inputs[a->ninputs++] = cli_printf("%s=%s::%s", name, url, array);
}

/* The expression of one variable, and its axes. */
typedef struct term {
    const content *content;
    const variable *variable;
    const char *name; /* name of the variable in the expression */
    char *value;      /* the expression */
    /* The lazy array of `value`, which owns the names of `axes`. NULL if the axes are unknown, or are the axes of the
     * variable. */
    cubed_array *built;
    operator_axes axes;
} term;

static term new_term(const content *c, const variable *v, const char *name)
{
    return (term){.content = c,
                  .variable = v,
                  .name = name,
                  .value = cli_strdup(name),
                  .axes = content_axes_of(c, v)};
}

/* Replaces the expression. Takes ownership of `value`. */
/* NOLINTNEXTLINE(readability-non-const-parameter): the term owns the string */
static void set_value(term *t, char *value)
{
    cli_free(t->value);
    cubed_array_unref(t->built);
    t->value = value;
    t->built = NULL;
}

/* Finds the axes of the expression. Functions may have changed the variable's axes. If the input consists of several files and
 * `joined` is set, finds even unchanged axes, because they are longer than in the first file. */
static void find_axes(apply *a, term *t, bool joined)
{
    const bool changed = strcmp(t->value, t->name) != 0,
               longer = joined && (a->list || a->first_file);
    if (a->code != EXIT_SUCCESS || t->built || (!changed && !longer)) return;
    a->code = apply_find_axes(a, t->content, t->variable, t->name, t->value, &t->axes, &t->built);
}

/* Applies the function of operation `o` to the expression. `second` is the call's second argument, or NULL. */
static void add_call(term *t, const operation *o, const char *second)
{
    const content *c = t->content;
    char *more =
        cli_printf("%s(%s%s%s", o->name, t->value, second ? ", " : "", second ? second : "");
    for (int k = 0; k < o->n; k++) {
        if (o->selects && is_missing_dim(c, t->variable, o->argument[k].key)) continue;
        const argument *given = &o->argument[k];
        char *longer =
            cli_printf("%s, %s", more, takes_strings(c, o, k) ? given->strings : given->text);
        cli_free(more);
        more = longer;
    }
    set_value(t, cli_printf("%s)", more));
    cli_free(more);
}

/* Returns the arguments of `cubed eval TEXT --out OUT` with the options of this command. The caller frees the list, but not the
 * strings. */
char **apply_eval_words(const apply *a, const char *out, int *count)
{
    const int most = a->noptions + 2 * (a->ninputs + a->nin) + 16;
    char **argv = cli_alloc((size_t)most * sizeof *argv);
    int n = 0;
    argv[n++] = "apply";
    for (int i = 0; i < a->noptions; i++) {
        /* --stack passes the new dimension, so --along is dropped. */
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

/* Returns true if the variable is joined from all files. Other variables are read from the first file. */
static bool is_joined(const apply *a, const variable *v)
{
    if (a->of_inputs == OPERATOR_ENSEMBLE) return v->is_numeric;
    return a->stacks || content_has_dim(v, a->along);
}

/* Adds an input for a single variable if its name alone does not suffice. The name does not suffice if there are two inputs, or
 * if several files have the same variable. */
static void add_own_input(apply *a, const variable *v, const char *name)
{
    if (a->nin > 1 && a->of_inputs == OPERATOR_NONE)
        add_input(a, name, a->in[0], v->name);
    else if (a->first_file && !is_joined(a, v))
        add_input(a, v->name, a->first_file, v->name);
}

/* Builds `value`, an expression in which the variable v is called `name`. If `dim` is not NULL, builds the coordinate of that
 * dimension instead. */
int apply_build_value(apply *a, const variable *v, const char *name, const char *value,
                      const char *dim, cubed_array **built)
{
    apply only = *a; /* a copy of *a with its own inputs and text */
    int n;
    only.inputs = NULL;
    only.ninputs = 0;
    only.text = cli_strdup(value);
    add_own_input(&only, v, name);
    char **argv = apply_eval_words(&only, a->out, &n);
    const int code = cli_build_result(n, argv, dim, built);
    for (int i = 0; i < only.ninputs; i++) cli_free(only.inputs[i]);
    cli_free(only.inputs);
    cli_free(only.text);
    cli_free(argv);
    return code;
}

/* Builds the value of an expression of one variable, and finds its axes. *built owns the names of the axes. */
int apply_find_axes(apply *a, const content *c, const variable *v, const char *name,
                    const char *value, operator_axes *axes, cubed_array **built)
{
    const int code = apply_build_value(a, v, name, value, NULL, built);
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

/* Applies one operation to the expression. Returns true if the operation applies to the variable. */
static bool add_operation(apply *a, term *t, const operation *o, const char *second)
{
    const variable *v = t->variable;
    char *wrong = NULL, *next = NULL;
    if (o->kind == OPERATOR_NONE) {
        if (!applies(t->content, v, o)) return false;
        add_call(t, o, second);
        return true;
    }
    if (o->kind == OPERATOR_SELECT) find_axes(a, t, operator_counts(o->spec));
    if (o->kind == OPERATOR_SELECT && a->code == EXIT_SUCCESS)
        next = operator_select(o->spec, &t->axes, t->value, &wrong);
    if (o->kind == OPERATOR_VALUES && v->is_numeric)
        next = operator_values(o->spec, t->value, &wrong);
    if (o->kind == OPERATOR_ENSEMBLE && v->is_numeric)
        next = operator_ensemble(o->spec, MEMBERS, t->value, &wrong);
    if (wrong && !a->wrong)
        a->wrong = wrong;
    else
        cli_free(wrong);
    if (!next) return false;
    set_value(t, next);
    return true;
}

/* Returns true if a result has the dimension along which it is split into pieces. Functions before the selection may have removed
 * the dimension. */
static bool has_pieces(apply *a, term *t)
{
    bool has = false;
    if (!a->piece || !a->piece_dim || a->code != EXIT_SUCCESS) return a->piece != NULL;
    find_axes(a, t, false);
    for (int d = 0; d < t->axes.ndim && a->code == EXIT_SUCCESS; d++)
        has = has || strcmp(t->axes.name[d], a->piece_dim) == 0;
    return has;
}

/* Returns "op1(op2(x, ...), ...)" with the operations that apply to the variable, and sets *n to their number. `second` is
 * the second argument of the outermost function, or NULL without a second input. */
char *apply_call(apply *a, const content *c, const variable *v, const char *first,
                 const char *second, int *n)
{
    term t = new_term(c, v, first);
    *n = 0;
    for (int i = a->noperations - 1; i >= 0; i--)
        *n += add_operation(a, &t, &a->operations[i], i == 0 ? second : NULL);
    if (has_pieces(a, &t) && add_operation(a, &t, a->piece, NULL)) {
        a->npieces++;
        ++*n;
    }
    cubed_array_unref(t.built);
    return t.value;
}

/* Adds the statement for a variable. If there are two inputs, each array gets its own name. Returns the number of
 * operations, or -1 if there are too many variables. */
static int add_statement(apply *a, const content *c, const variable *v)
{
    const bool pairs = a->nin > 1 && a->of_inputs == OPERATOR_NONE;
    const variable *partner = pairs ? partner_of(&a->content[1], v) : NULL;
    char *first = cli_printf(pairs ? "%s_of_first" : "%s", v->name);
    char *second = cli_printf("%s_of_second", v->name);
    int n = a->ninputs + 2 > 2 * MOST_PAIRS ? -1 : 0;
    char *value = n == 0 && (!pairs || partner)
                      ? apply_call(a, c, v, first, partner ? second : NULL, &n)
                      : cli_strdup(first);
    if (n >= 0) add_own_input(a, v, first);
    if (n > 0 && partner) add_input(a, second, a->in[1], partner->name);
    char *all = cli_printf("%s%s = %s; ", a->text, v->name, value);
    if (n == 0) content_append(&a->copied, v->name);
    cli_free(a->text);
    a->text = all;
    cli_free(first);
    cli_free(second);
    cli_free(value);
    return n;
}

/* Returns true if the outermost function applies a mask, such as ifthen. Its results are variables of the second input. */
static bool is_masked(const apply *a)
{
    return a->of_inputs == OPERATOR_NONE && a->nin > 1 &&
           expr_mask_arrays(a->operations[0].name) > 0;
}

/* Adds the statement for variable v of the second input, whose mask is in the first input. Further functions compute the mask.
 * Returns the number of operations, or -1 if there are too many variables. */
static int add_masked_statement(apply *a, const variable *v)
{
    static const char *const places[] = {"first", "second", "third"};
    const variable *from[3] = {partner_of(&a->content[0], v), v,
                               a->nin > 2 ? partner_of(&a->content[2], v) : NULL};
    char *name[3];
    int n = a->ninputs + 3 > 2 * MOST_PAIRS ? -1 : 0;
    for (int k = 0; k < 3; k++) name[k] = cli_printf("%s_of_%s", v->name, places[k]);
    char *rest = a->nin > 2 ? cli_printf("%s, %s", name[1], name[2]) : cli_strdup(name[1]);
    const bool is_whole = from[0] && (a->nin == 2 || from[2]) && v->is_numeric;
    char *value = n == 0 && is_whole ? apply_call(a, &a->content[0], from[0], name[0], rest, &n)
                                     : cli_strdup(name[1]);
    for (int k = 0; k < a->nin && n >= 0; k++) {
        if (k == 1 || n > 0) add_input(a, name[k], a->in[k], from[k]->name);
    }
    char *all = cli_printf("%s%s = %s; ", a->text, v->name, n > 0 ? value : name[1]);
    if (n == 0) content_append(&a->copied, v->name);
    cli_free(a->text);
    a->text = all;
    for (int k = 0; k < 3; k++) cli_free(name[k]);
    cli_free(rest);
    cli_free(value);
    return n;
}

/* Returns true if an expression can assign the name to a result. Names that begin with _ are not results. */
bool apply_is_result_name(const char *name)
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

/* Returns true if the variable becomes a result. A variable that only describes other variables becomes a result only if it is
 * named. */
bool apply_is_wanted(const apply *a, const content *c, const variable *v)
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

/* Refuses names in selname and delname that match no variable. Refuses names in delname of variables that describe other
 * variables. */
int apply_check_names(const apply *a)
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
                                       "delname: \"%s\" describes other variables and stays with "
                                       "them, expected another variable",
                                       word);
        }
        cli_free(list);
        if (code != EXIT_SUCCESS) return code;
    }
    return EXIT_SUCCESS;
}

/* Returns true if operators of a kind compute new values or select parts of a variable. */
static bool is_computed(operator_kind kind)
{
    return kind == OPERATOR_NONE || kind == OPERATOR_VALUES || kind == OPERATOR_SELECT ||
           kind == OPERATOR_ENSEMBLE;
}

/* Writes the expression of a result, in place of the previous one. */
int apply_write(apply *a)
{
    const bool masked = is_masked(a);
    const int ncontents = a->of_inputs == OPERATOR_MERGE ? a->nin : masked ? 2 : 1;
    int applied = 0, variables = 0;
    for (int i = 0; i < a->ninputs; i++) cli_free(a->inputs[i]);
    a->ninputs = 0;
    a->npieces = 0;
    cli_free(a->text);
    cli_free(a->copied);
    a->text = cli_strdup("");
    a->copied = NULL;
    for (int k = masked; k < ncontents; k++) {
        const content *c = &a->content[k];
        for (int i = 0; i < c->n; i++) {
            const char *name = c->variable[i].name;
            if (!apply_is_wanted(a, c, &c->variable[i])) continue;
            if (!apply_is_result_name(name))
                return cli_usage_error(
                    "apply",
                    "the variable \"%s\" of %s has no name for an expression, expected letters, "
                    "digits and _, a letter first: `cubed eval 'x = ...' --in x=%s::%s` gives it "
                    "another name",
                    name, a->in[k], a->in[k], name);
            const int n = masked ? add_masked_statement(a, &c->variable[i])
                                 : add_statement(a, c, &c->variable[i]);
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
        computes = computes || is_computed(kind);
    }
    if (variables == 0) return cli_usage_error("apply", "%s has no such variable", a->in[0]);
    if (a->piece && a->piece_dim && a->npieces == 0)
        return cli_usage_error("apply",
                               "%s: no result has the dimension \"%s\", so all pieces would be "
                               "equal, expected a variable with this dimension",
                               a->operations[0].name, a->piece_dim);
    if (computes && applied == 0)
        return cli_usage_error("apply", "%s has no variable that %s applies to, expected numbers%s",
                               a->in[0], a->operations[0].name,
                               a->nin > 1 && a->of_inputs == OPERATOR_NONE
                                   ? " in a variable that the second input has, too"
                                   : " with the dimensions that its arguments name");
    return EXIT_SUCCESS;
}

/* Returns the dimension of a kind in the first input, or NULL, and sets *length to the dimension's length in one file. */
const char *apply_find_dimension(const apply *a, operator_axis kind, int64_t *length)
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

/* Reports which variables are copied unchanged or left out. */
void apply_say_what_is_left(const apply *a)
{
    const bool computes = a->noperations > 0 && is_computed(a->operations[0].kind);
    if (a->copied && computes) cli_say(stderr, "cubed: copied unchanged: %s\n", a->copied);
    for (int k = 0; k < (a->of_inputs == OPERATOR_MERGE ? a->nin : 1); k++) {
        if (a->content[k].unsupported)
            cli_say(stderr, "cubed: warning: left out, because their type is not supported: %s\n",
                    a->content[k].unsupported);
    }
}
