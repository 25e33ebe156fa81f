/* Remaps variables to another horizontal grid: `cubed remap r360x180 in.nc out.nc`. Weights can be stored in a file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <getopt.h>

#include "archive.h"
#include "cli.h"
#include "cubed/grid_files.h"
#include "cubed/lang.h"
#include "grid_file.h"
#include "inputs.h"
#include "lang/field_axes.h"
#include "lang/lang_arrays.h"

static const cli_option own[] = {
    {"method", "bilinear|nearest|distance|conservative|bicubic|conservative2|largest",
     "how values are computed: from the four centres around a point, from the nearest centre, by "
     "inverse distance, as means over shared areas, from 16 centres, as means of second order, or "
     "as the value with the largest area (default bilinear)",
     CLI_OWN_KEY},
    {"weights", "FILE.nc",
     "file of weights, written by cubed, CDO, ESMF or xESMF; it is created if it does not exist",
     CLI_OWN_KEY},
    {"neighbours", "N", "number of centres of the method distance (default 4)", CLI_OWN_KEY},
    {"na-threshold", "X",
     "maximum fraction of a cell's weights, from 0 to 1, that may belong to missing values "
     "(default 1)",
     CLI_OWN_KEY},
    {"keep-missing", NULL, "make each cell missing that has a weight for a missing value",
     CLI_OWN_KEY},
    {NULL, NULL, NULL, 0}};

const cli_usage cmd_remap_usage = {
    .synopsis = "remap GRID IN OUT [options]",
    .text =
        "Remaps all variables with a horizontal grid to another grid; other variables are copied. "
        "GRID is a name (r360x180, global_0.25, n80), a grid description file, or a file with the "
        "new grid: axes of latitude and longitude, or cells, curvilinear or unstructured. Missing "
        "values are left out, and the other weights of a cell are scaled. In chains, `cubed "
        "FUNCTION -remapbil,r36x18 IN OUT` has CDO's names: remapbil, remapbic, remapnn, remapdis, "
        "remapcon, remapcon2, remaplaf. Other options are those of `cubed apply`.",
    .examples = "  cubed remap r360x180 era5.nc coarse.nc --method conservative\n"
                "  cubed remap r360x180 t2m.nc coarse.nc --method conservative --weights w.nc\n"
                "  cubed monmean -remapbil,r360x180 era5.nc months.nc\n",
    .own = own,
    .common = true};

typedef struct remap_words {
    const char *grid, *in, *out;
    /* values of options; NULL if the option is not given */
    const char *method, *weights, *neighbours, *na_threshold;
    bool keep_missing;
    char **argv; /* remaining words: argv[0], then options of `cubed apply`, then names */
    int argc, noptions;
} remap_words;

/* --- Weights ------------------------------------------------------------------------------------------ */

enum { PARTS = CUBED_WEIGHTS_ARRAYS };

typedef struct names {
    char **name;
    int n;
} names;

static cubed_status note_variable(void *ctx, const cubed_zarr_info *info, cubed_error *err)
{
    names *v = ctx;
    (void)err;
    if (!info->is_array || info->unsupported || info->ndim == 0 || strchr(info->path, '/') ||
        cubed_dtype_kind(info->dtype) >= CUBED_KIND_TIME)
        return CUBED_OK;
    v->name = cli_resize(v->name, (size_t)(v->n + 1) * sizeof *v->name);
    v->name[v->n++] = cli_strdup(info->path);
    return CUBED_OK;
}

static cubed_status find_coordinate(void *ctx, const char *name, cubed_array **out,
                                    cubed_error *err)
{
    return inputs_coordinate(ctx, name, out, err);
}

/* Builds all arrays of a file of weights, for the grid of one variable. */
static cubed_status build_parts(cubed_context *ctx, inputs *in, const remap_words *w,
                                const char *grid, const char *variable, uint64_t task_mem,
                                cubed_expr_results **out, cubed_error *err)
{
    const cubed_expr_host host = {
        .lookup = inputs_lookup, .ctx = in, .task_mem = task_mem, .coordinate = find_coordinate};
    cubed_expr *expr = NULL;
    char *text = cli_strdup("");
    for (int i = 0; i < PARTS; i++) {
        char *more = cli_printf(
            "%s%s = weights_file(%s, \"%s\", \"%s\", part=\"%s\", neighbours=%s); ", text,
            cubed_weights_array_name(i), variable, grid, w->method ? w->method : "bilinear",
            cubed_weights_array_name(i), w->neighbours ? w->neighbours : "4");
        cli_free(text);
        text = more;
    }
    cubed_status st = cubed_expr_parse(text, &expr, err);
    if (st == CUBED_OK) st = cubed_expr_build(expr, ctx, &host, out, err);
    cubed_expr_free(expr);
    cli_free(text);
    return st;
}

/* Builds the arrays from the first variable that has a grid. */
static cubed_status build_weights(cubed_context *ctx, inputs *in, const remap_words *w,
                                  const char *grid, uint64_t task_mem, cubed_expr_results **out,
                                  cubed_error *err)
{
    names v = {NULL, 0};
    char *first = inputs_first(w->in);
    cubed_status st = cubed_zarr_walk(ctx, first, false, note_variable, &v, err);
    bool found = false;
    for (int i = 0; i < v.n && st == CUBED_OK && !found; i++) {
        cubed_error why = CUBED_ERROR_INIT;
        found = build_parts(ctx, in, w, grid, v.name[i], task_mem, out, &why) == CUBED_OK;
        /* A variable without a grid is skipped. If no variable has a grid, the last message is reported. */
        if (!found) *err = why;
        if (!found && (why.status == CUBED_E_BUDGET || why.status == CUBED_E_NOMEM))
            st = why.status;
    }
    if (st == CUBED_OK && !found)
        st = v.n > 0 ? err->status : cli_reject(err, "%s has no variables of numbers", first);
    for (int i = 0; i < v.n; i++) cli_free(v.name[i]);
    cli_free(v.name);
    cli_free(first);
    return st;
}

/* Writes the results to the file. */
static int store_weights(cubed_context *ctx, const remap_words *w, const cubed_expr_results *built,
                         const cli_common *common)
{
    cubed_target targets[PARTS];
    char attrs[512];
    const cubed_plan_group group = {
        .url = w->weights, .zarr_format = 3, .attrs = attrs, .consolidate = true};
    cubed_run_stats stats;
    cubed_plan_info info;
    bool ran = false;
    cubed_remap_method method = CUBED_REMAP_BILINEAR;
    if (w->method) /* ignore errors: the expression has checked the name */
        (void)cubed_remap_method_find(w->method, &method);
    cubed_weights_attrs(method, NULL, NULL, attrs);
    for (int i = 0; i < PARTS; i++) {
        const cubed_expr_result *r = cubed_expr_results_at(built, i);
        targets[i] = (cubed_target){.array = r->array,
                                    .url = cli_join_url(w->weights, r->name),
                                    .name = r->name,
                                    .zarr_format = 3};
    }
    const int code = cli_execute(&(cli_job){.verb = "remap",
                                            .ctx = ctx,
                                            .common = common,
                                            .targets = targets,
                                            .ntargets = PARTS,
                                            .groups = &group,
                                            .ngroups = 1},
                                 &ran, &stats, &info);
    for (int i = 0; i < PARTS; i++) cli_free((char *)targets[i].url);
    return code;
}

/* Creates the weights between the grid of IN and the target grid, and writes them to a file. */
static int save_weights(const remap_words *w, cli_common common)
{
    cubed_error err = CUBED_ERROR_INIT;
    cubed_context *ctx = NULL;
    cubed_expr_results *built = NULL;
    inputs in = {.ctx = NULL};
    char *grid = grid_file_text(w->grid);
    char *wrong = archive_refuse(w->weights, false);
    int code = wrong ? cli_usage_error("remap", "--weights %s", wrong)
                     : cli_context("remap", &common, &ctx);
    cli_free(wrong);
    if (code == EXIT_SUCCESS) {
        in.ctx = in.joined.ctx = ctx;
        wrong = inputs_add(&in, w->in);
        if (wrong) code = cli_usage_error("remap", "%s", wrong);
        cli_free(wrong);
    }
    if (code == EXIT_SUCCESS &&
        build_weights(ctx, &in, w, grid, cli_task_mem(&common), &built, &err) != CUBED_OK)
        code = cli_report("remap", &err);
    /* These options apply to the run that follows, not to the computation of weights. */
    common.save_plan = common.report = common.plan_svg = common.events = NULL;
    common.plan_only = common.explain = common.json = common.resume = common.update = false;
    common.partials = NULL;
    if (code == EXIT_SUCCESS) code = store_weights(ctx, w, built, &common);
    cubed_expr_results_free(built);
    inputs_free(&in);
    cubed_context_unref(ctx);
    cli_free(grid);
    return code;
}

/* --- The subcommand --------------------------------------------------------------------------------- */

/* Reads option --NAME VALUE or --NAME=VALUE at argv[*at]. Returns false if there is another word. */
static bool take(char **argv, int argc, int *at, const char *name, const char **value)
{
    const char *word = argv[*at];
    const size_t n = strlen(name);
    if (strncmp(word, "--", 2) != 0 || strncmp(word + 2, name, n) != 0) return false;
    if (word[2 + n] == '=') {
        *value = word + 3 + n;
        return true;
    }
    if (word[2 + n] != 0 || *at + 1 >= argc) return false;
    *value = argv[++*at];
    return true;
}

/* Separates this subcommand's options from the other words. */
static int parse(int argc, char **argv, remap_words *w, cli_common *common)
{
    w->argv = cli_alloc((size_t)(argc + 1) * sizeof *w->argv);
    for (int i = 0; i < argc; i++) {
        if (i > 0 && (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0))
            (void)cli_next_option(2, (char *[]){argv[0], argv[i], NULL}, &cmd_remap_usage, common);
        if (i > 0 && strcmp(argv[i], "--keep-missing") == 0)
            w->keep_missing = true;
        else if (i == 0 || (!take(argv, argc, &i, "method", &w->method) &&
                            !take(argv, argc, &i, "weights", &w->weights) &&
                            !take(argv, argc, &i, "neighbours", &w->neighbours) &&
                            !take(argv, argc, &i, "na-threshold", &w->na_threshold)))
            w->argv[w->argc++] = argv[i];
    }
    while (cli_next_option(w->argc, w->argv, &cmd_apply_usage, common) != -1) continue;
    w->noptions = optind - 1;
    if (w->argc - optind != 3)
        return cli_usage_error("remap", "expected GRID IN OUT, but there are %d names",
                               w->argc - optind);
    w->grid = w->argv[optind];
    w->in = w->argv[optind + 1];
    w->out = w->argv[optind + 2];
    const char *const texts[] = {w->grid, w->method, w->weights, w->neighbours, w->na_threshold};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (texts[i] && strpbrk(texts[i], i < 3 ? "\"" : "\", "))
            return cli_usage_error("remap", "\"%s\" has a character that is not allowed here",
                                   texts[i]);
    }
    return EXIT_SUCCESS;
}

/* Appends ",KEY=VALUE" to the operator *call, and frees the old string. */
static void add(char **call, const char *key, const char *quote, const char *value)
{
    if (!value) return;
    char *more = cli_printf("%s,%s=%s%s%s", *call, key, quote, value, quote);
    cli_free(*call);
    *call = more;
}

/* Runs `cubed apply remap,"GRID",... IN OUT` with the other options. */
static int apply(const remap_words *w)
{
    char *grid = grid_file_text(w->grid);
    char *call = cli_printf("remap,\"%s\"", grid);
    char **argv = cli_alloc((size_t)(w->noptions + 8) * sizeof *argv);
    int n = 0;
    add(&call, "method", "\"", w->method);
    add(&call, "weights", "\"", w->weights);
    add(&call, "neighbours", "", w->neighbours);
    add(&call, "na_threshold", "", w->na_threshold);
    add(&call, "skipna", "", w->keep_missing ? "False" : NULL);
    argv[n++] = "apply";
    argv[n++] = call;
    for (int i = 0; i < w->noptions; i++) argv[n++] = w->argv[1 + i];
    argv[n++] = (char *)w->in;
    argv[n++] = (char *)w->out;
    argv[n] = NULL;
    optind = 0; /* restart getopt */
    const int code = cmd_apply(n, argv);
    cli_free(argv);
    cli_free(call);
    cli_free(grid);
    return code;
}

int cmd_remap(int argc, char **argv)
{
    remap_words w = {.grid = NULL};
    cli_common common = CLI_COMMON_INIT;
    int code = parse(argc, argv, &w, &common);
    if (code == EXIT_SUCCESS && w.weights && !cli_is_there(w.weights))
        code = save_weights(&w, common);
    if (code == EXIT_SUCCESS) code = apply(&w);
    cli_free(w.argv);
    return code;
}

/* Finds the method of a generator of weights, such as "gencon,r360x180". */
static bool find_generator(const char *spec, cubed_remap_method *out)
{
    static const char prefix[] = "gen";
    char name[8];
    const size_t n = strlen(prefix), end = strcspn(spec, ",");
    if (spec[end] != ',' || strncmp(spec, prefix, n) != 0 || end - n >= sizeof name) return false;
    snprintf(name, sizeof name, "%.*s", (int)(end - n), spec + n);
    return cubed_remap_method_of_cdo(name, out);
}

bool cli_is_generator(const char *spec)
{
    cubed_remap_method method;
    return find_generator(spec, &method);
}

int cmd_generate(int argc, char **argv)
{
    remap_words w = {.grid = strchr(argv[0], ',') + 1};
    cli_common common = CLI_COMMON_INIT;
    cubed_remap_method method;
    if (find_generator(argv[0], &method)) w.method = cubed_remap_method_name(method);
    argv[0] = "remap";
    while (cli_next_option(argc, argv, &cmd_apply_usage, &common) != -1) continue;
    if (argc - optind != 2 || strchr(w.grid, ','))
        return cli_usage_error("remap", "expected a grid, IN and FILE.nc: cubed gencon,r360x180 "
                                        "in.nc weights.nc");
    w.in = argv[optind];
    w.weights = argv[optind + 1];
    return save_weights(&w, common);
}
