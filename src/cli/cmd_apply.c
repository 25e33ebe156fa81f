/* Applies functions of expressions to all variables of a file, in the form of CDO: `cubed monmean in.nc out.nc`. Writes an
 * expression with a statement for each variable, and runs it like `cubed eval`. */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <getopt.h>

#include "apply_expression.h"
#include "apply_pieces.h"
#include "cli.h"
#include "history.h"
#include "inputs.h"
#include "joined_order.h"
#include "lang/function_hints.h"
#include "lang/lang_arrays.h"
#include "output_options.h"

enum { KEY_PASSED = CLI_OWN_KEY, KEY_ALONG };

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
        "word apply may be left out. Further functions, each preceded by -, are applied first, "
        "from right to left. Arguments follow the variable: `mean,time` is mean(x, \"time\"), and "
        "`quantile,0.9,dim=time` is quantile(x, 0.9, dim=\"time\"). Variables without the "
        "dimension that a function works along, strings, and coordinates are copied. With a second "
        "input, the second argument of the function is the variable of the same name in that "
        "input, or its only variable.\nOperators of files have CDO's names and arguments: selname, "
        "delname, sellonlatbox, selindexbox, sellevel, sellevidx and seltimestep select; "
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

/* --- Several inputs ----------------------------------------------------------------------------------- */

/* Joins several inputs into one list. For merge, expands patterns to all their files. */
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
    /* from here on, only the content of the first file is used */
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
                    const bool both = apply_is_wanted(a, c, v) && apply_is_wanted(a, other, w);
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

/* --- The subcommand --------------------------------------------------------------------------------- */

/* Reads the operations before the files. Sets *at to the next word. */
static int read_operations(int argc, char **words, apply *a, int *at)
{
    for (; *at < argc; ++*at) {
        const char *spec = words[*at];
        if (a->noperations > 0 && *spec != '-') break;
        if (a->noperations > 0 && (!isalpha((unsigned char)spec[1]) || !spec[2])) break;
        spec += *spec == '-';
        if (!cli_is_function(spec))
            return cli_usage_error("apply",
                                   "\"%s\" is not a function: `cubed help eval` lists them", spec);
        if (a->noperations == APPLY_MAX_OPERATIONS)
            return cli_usage_error("apply", "more than %d functions, expected fewer",
                                   APPLY_MAX_OPERATIONS);
        operation *o = &a->operations[a->noperations++];
        operation_read(o, spec);
        char *wrong = o->kind != OPERATOR_NONE ? operator_check(spec) : NULL;
        if (wrong) {
            const int code = cli_usage_error("apply", "%s", wrong);
            cli_free(wrong);
            return code;
        }
        if (o->kind == OPERATOR_SPLIT && a->noperations > 1)
            return cli_usage_error(
                "apply", "%s must be the first function: put other functions after it", o->name);
        if (a->of_inputs != OPERATOR_NONE)
            return cli_usage_error("apply",
                                   "%s must be the last function, because it takes several files",
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
    /* if the first word is an option, such as --help, there are only options */
    if (at < *argc && *words[at] == '-') at = *argc;
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
    const int arrays = is_pair ? expr_mask_arrays(a->operations[0].name) : 0;
    if (n < 2 || (a->of_inputs == OPERATOR_NONE && n > (is_pair ? 3 : 2) && n != arrays + 1) ||
        (arrays > 0 && n != arrays + 1))
        return cli_usage_error("apply", "expected %s, but there are %d names",
                               a->of_inputs != OPERATOR_NONE ? "IN... OUT"
                               : arrays == 2                 ? "MASK IN OUT"
                               : arrays == 3                 ? "MASK IN IN2 OUT"
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
    code = apply_check_names(a);
    if (code == EXIT_SUCCESS && a->of_inputs == OPERATOR_MERGE) code = check_merged(a, ctx);
    if (a->of_inputs == OPERATOR_JOIN && a->has_along && !content_is_dim(&a->content[0], a->along))
        stack_variables(a);
    /* By default, files are concatenated along their dimension of times, which may have any name. */
    int64_t length;
    const char *time = apply_find_dimension(a, AXIS_TIME, &length);
    if (!a->has_along && time && (a->list || a->first_file)) a->along = time;
    return code;
}

/* Runs `cubed eval TEXT --out OUT` with the options of this command. */
static int evaluate(apply *a, const char *out)
{
    int n;
    char **argv = apply_eval_words(a, out, &n);
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
    int code = apply_find_pieces(a, ctx, &p);
    if (code == EXIT_SUCCESS && p.n == 0)
        code = cli_usage_error("apply", "%s: %s has nothing to split", a->operations[0].name,
                               a->in[0]);
    for (int i = 0; i < p.n && code == EXIT_SUCCESS; i++) {
        char *out = cli_printf("%.*s%s%s", (int)(strlen(a->out) - strlen(end)), a->out,
                               p.piece[i].suffix, *suffix ? suffix : ".zarr");
        a->piece = p.piece[i].selects.name ? &p.piece[i].selects : NULL;
        a->only = p.piece[i].only;
        code = apply_write(a);
        if (code == EXIT_SUCCESS && i == 0) apply_say_what_is_left(a);
        if (code == EXIT_SUCCESS) code = evaluate(a, out);
        cli_free(out);
    }
    apply_free_pieces(&p);
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
        code = apply_write(a);
        if (code == EXIT_SUCCESS) apply_say_what_is_left(a);
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
