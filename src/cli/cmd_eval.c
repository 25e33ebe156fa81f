#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "archive.h"
#include "cli_values.h"
#include "eval_state.h"
#include "eval_usage.h"
#include "history.h"
#include "picture.h"
#include "series.h"

/* Maximum number of results that CSV output can have, each as a column. */
enum { CSV_RESULTS = 256 };

/* Maximum size of a result that is printed. */
#define PRINTED_BYTES ((size_t)64 << 20)

static series_column column_of(const eval_item *item)
{
    return series_column_of(item->name, item->array, item->data);
}

/* Returns the coordinate of dimension d of a result if the coordinate is printed. Otherwise returns a column without a name. */
static series_column coordinate_of(const eval *e, int i, int d)
{
    const cubed_array *x = e->item[i].array;
    const char *dim = d < cubed_array_ndim(x) ? cubed_array_dim_name(x, d) : NULL;
    for (int k = 0; dim && (e->csv || cubed_array_ndim(x) == 1) && k < e->nitems; k++) {
        const eval_item *c = &e->item[k];
        if (!c->result && c->data && strcmp(c->name, dim) == 0 && cubed_array_ndim(c->array) == 1 &&
            cubed_array_shape(c->array)[0] == cubed_array_shape(x)[d])
            return column_of(c);
    }
    return (series_column){.name = NULL};
}

static void print_item(const eval *e, int i)
{
    const cubed_array *x = e->item[i].array;
    char dtype[CUBED_DTYPE_TEXT_CAP];
    printf("%s: %s (", e->item[i].name, cubed_dtype_text(cubed_array_dtype(x), dtype));
    for (int d = 0; d < cubed_array_ndim(x); d++) {
        const char *name = cubed_array_dim_name(x, d);
        char *visible = cli_visible(name ? name : "", false);
        printf("%s%s%s%" PRId64, d ? ", " : "", visible, name ? ": " : "", cubed_array_shape(x)[d]);
        cli_free(visible);
    }
    const char *to = e->common.picture ? e->out : e->item[i].url;
    char *visible = cli_visible(to ? to : "", false);
    printf(")%s%s\n", to ? " -> " : "", visible);
    cli_free(visible);
    const series_column values = column_of(&e->item[i]), coordinate = coordinate_of(e, i, 0);
    if (e->item[i].data && coordinate.name)
        series_print(stdout, &coordinate, &values);
    else if (e->item[i].data)
        values_print(stdout, x, e->item[i].data);
}

static bool is_printed_coordinate(const eval *e, int i)
{
    return !e->item[i].result && !e->item[i].url && !e->common.picture;
}

static void print_csv(const eval *e)
{
    series_column values[CSV_RESULTS], coordinates[CUBED_MAX_NDIM];
    int n = 0;
    for (int i = 0; i < e->nitems; i++) {
        if (!is_printed_coordinate(e, i)) values[n++] = column_of(&e->item[i]);
    }
    for (int d = 0; d < cubed_array_ndim(values[0].array); d++)
        coordinates[d] = coordinate_of(e, 0, d);
    series_print_csv(stdout, coordinates, values, n);
}

/* Refuses results that CSV cannot show, before anything is computed. */
static int check_csv(const eval *e)
{
    const cubed_array *first = e->item[0].array;
    int n = 0;
    if (!e->csv) return EXIT_SUCCESS;
    for (int i = 0; i < e->nitems; i++) {
        if (is_printed_coordinate(e, i)) continue;
        const cubed_array *x = e->item[i].array;
        bool same = cubed_array_ndim(x) == cubed_array_ndim(first);
        for (int d = 0; same && d < cubed_array_ndim(x); d++) {
            const char *a = cubed_array_dim_name(first, d), *b = cubed_array_dim_name(x, d);
            same = cubed_array_shape(x)[d] == cubed_array_shape(first)[d] &&
                   (a && b ? strcmp(a, b) == 0 : a == b);
        }
        if (!same)
            return cli_usage_error(
                e->verb,
                "--csv: the results \"%s\" and \"%s\" have different dimensions, expected "
                "equal ones: print them one after another",
                e->item[0].name, e->item[i].name);
        if (++n > CSV_RESULTS)
            return cli_usage_error(e->verb, "--csv: there are more than %d results", CSV_RESULTS);
    }
    return EXIT_SUCCESS;
}

static void show_results(const eval *e, const cubed_run_stats *stats, const cubed_plan_info *info)
{
    json_t *all = e->common.json ? json_object() : NULL;
    if (e->csv) {
        print_csv(e);
        return;
    }
    for (int i = 0; i < e->nitems; i++) {
        if (is_printed_coordinate(e, i)) continue;
        if (all)
            json_object_set_new(all, e->item[i].name,
                                values_array_json(e->item[i].array, e->item[i].data));
        else
            print_item(e, i);
    }
    if (!all) return;
    json_object_set_new(all, "_run", values_run_json(stats, info));
    json_dumpf(all, stdout, JSON_REAL_PRECISION(17));
    fputc('\n', stdout);
    json_decref(all);
}

/* Sets the target of item i to a part of an existing array. Writes values, or stored elements if the array has the same
 * packing. */
static cubed_status region_target(const eval *e, int i, cubed_target *target, cubed_error *err)
{
    const char *url = e->item[i].url;
    const cubed_expr_result *v = e->item[i].result;
    cubed_array *into = NULL, *x = e->item[i].array;
    cubed_cf_packing *packing = NULL;
    cubed_status st = cubed_array_open(e->ctx, url, &into, err);
    if (st == CUBED_OK && !e->in.raw) st = cubed_cf_packing_of(into, &packing, err);
    if (st == CUBED_OK && packing && v->stored && cubed_cf_packing_equal(packing, v->packing))
        x = v->stored;
    else if (st == CUBED_OK && packing &&
             (packing->has_scale || packing->has_offset ||
              cubed_array_dtype(into) != packing->dtype))
        st = cli_reject(err,
                        "%s: the array is packed, and the result \"%s\" holds values: expected a "
                        "result of unchanged elements that are packed in the same way, or --raw",
                        url, e->item[i].name);
    if (st == CUBED_OK) st = cli_region_target(e->ctx, e->region, x, url, target, err);
    cubed_cf_packing_free(packing);
    cubed_array_unref(into);
    return st;
}

typedef struct eval_targets {
    cubed_target *target;
    int ntargets;
    /* number of targets with an array from cubed_region_target, to be released at the end */
    int nregions;
    cubed_plan_group group;
    bool grouped;
    char *attrs;
} eval_targets;

static void free_targets(eval_targets *t)
{
    for (int i = 0; i < t->nregions; i++) cubed_array_unref(t->target[i].array);
    cli_free(t->target);
    cli_free(t->attrs);
}

/* Returns the codecs of item i according to the options, or NULL for the default codecs. */
static const char *codecs_of(eval *e, int i)
{
    const int format = e->format && !archive_is_netcdf(e->out) ? e->format : 3;
    return e->item[i].url ? outputs_codecs(&e->outputs, cubed_array_dtype(e->item[i].array), format)
                          : NULL;
}

/* Creates the targets of results that extend the arrays at --out. */
static cubed_status make_appended(eval *e, eval_targets *t, cubed_error *err)
{
    const cubed_target *targets = NULL;
    cubed_array *coordinate = NULL;
    append_end(e->appending);
    cubed_status st = append_begin(e->ctx, &e->common, e->out, e->append, &e->appending, err);
    if (st != CUBED_OK) return st;
    append *a = e->appending;
    for (int i = 0; i < e->nitems; i++) {
        if (strcmp(e->item[i].name, e->append) == 0) coordinate = e->item[i].array;
    }
    st = append_coordinate(a, coordinate, err);
    for (int i = 0; i < e->nitems && st == CUBED_OK; i++) {
        /* A coordinate that the store does not have describes only these results, so it is not stored. */
        if (e->item[i].result || append_has(a, e->item[i].name))
            st = append_add(a, e->item[i].name, e->item[i].array, err);
    }
    if (st == CUBED_OK) st = append_targets(a, &targets, &t->ntargets, err);
    if (st != CUBED_OK) return st;
    t->target = cli_alloc((size_t)t->ntargets * sizeof *t->target);
    memcpy(t->target, targets, (size_t)t->ntargets * sizeof *t->target);
    t->grouped = append_is_group(a);
    t->attrs = outputs_group_attrs(&e->outputs, append_attrs(a), archive_is_netcdf(e->out));
    t->group = (cubed_plan_group){
        .url = e->out, .zarr_format = append_format(a), .attrs = t->attrs, .consolidate = true};
    return CUBED_OK;
}

/* Creates the targets of all results. The caller frees `t`, even after an error. */
static cubed_status make_targets(eval *e, eval_targets *t, cubed_error *err)
{
    memset(t, 0, sizeof *t);
    if (e->append) return make_appended(e, t, err);
    t->target = cli_alloc((size_t)e->nitems * sizeof *t->target);
    t->ntargets = e->nitems;
    cubed_status st = CUBED_OK;
    /* A resumed run uses the Zarr format of the existing results. */
    for (int i = 0; e->common.resume && e->out && !e->format && st == CUBED_OK && i < e->nitems;
         i++)
        st = cubed_unfinished_format(e->ctx, e->item[i].url, &e->format, err);
    if (st == CUBED_OK) st = eval_result_group(e, &t->group, &t->attrs, &t->grouped, err);
    for (int i = 0; i < e->nitems && st == CUBED_OK; i++) {
        t->target[i] = (cubed_target){.array = e->item[i].array,
                                      .url = e->item[i].url,
                                      .data = e->item[i].data,
                                      .name = e->item[i].name,
                                      .zarr_format = e->format,
                                      .codecs = e->codecs ? e->codecs : codecs_of(e, i),
                                      .overwrite = e->common.overwrite || e->common.update,
                                      .durable = e->common.durable};
        if (!e->region) continue;
        st = region_target(e, i, &t->target[i], err);
        t->target[i].durable = e->common.durable;
        if (st == CUBED_OK) t->nregions = i + 1;
    }
    return st;
}

/* Returns a message that names an option for results that has no effect. Returns NULL if there is no such option. The caller
 * frees the string. */
static char *unused_option(const eval *e)
{
    const char *dim = chunk_spec_unused(&e->chunks);
    if (dim) return cli_printf("--chunks: no result has a dimension \"%s\"", dim);
    return outputs_unused(&e->outputs);
}

static int run(eval *e)
{
    cubed_error err = CUBED_ERROR_INIT;
    cubed_run_stats stats;
    cubed_plan_info info;
    eval_targets t;
    bool ran = false;
    int code;
    memset(&stats, 0, sizeof stats);
    for (int i = 0; i < e->nitems; i++) {
        if (!e->item[i].url && !e->common.plan_only) e->item[i].data = cli_alloc(e->item[i].bytes);
    }
    const cubed_status st = make_targets(e, &t, &err);
    char *unused = st == CUBED_OK ? unused_option(e) : NULL;
    if (unused)
        code = cli_usage_error(e->verb, "%s", unused);
    else if (st != CUBED_OK)
        code = cli_report(e->verb, &err);
    else
        code = cli_execute(&(cli_job){.verb = e->verb,
                                      .ctx = e->ctx,
                                      .common = &e->common,
                                      .targets = t.target,
                                      .ntargets = t.ntargets,
                                      .groups = &t.group,
                                      .ngroups = t.grouped},
                           &ran, &stats, &info);
    if (ran) show_results(e, &stats, &info);
    cli_free(unused);
    free_targets(&t);
    return code;
}

/* Creates an array of numbers in memory. Takes ownership of `data`. */
static cubed_status array_of_numbers(const eval *e, const cubed_array *x, int64_t *data,
                                     cubed_array **numbers, cubed_error *err)
{
    const cubed_status st =
        cubed_array_from_memory(e->ctx, CUBED_INT64, cubed_array_ndim(x), cubed_array_shape(x),
                                NULL, NULL, data, numbers, err);
    if (st == CUBED_OK)
        cubed_array_set_owner(*numbers, cli_free, data);
    else
        cli_free(data);
    return st;
}

/* Computes x, an int64 array whose last element is the length of a later result, for functions such as unique_values. Sets *last
 * to this length. If the command only plans, computes nothing: *numbers has zeros, and *last is the length from an earlier
 * evaluation, or else `most`, the maximum. */
static cubed_status count_now(void *ctx, cubed_array *x, int64_t most, cubed_array **numbers,
                              int64_t *last, cubed_error *err)
{
    eval *e = ctx;
    const size_t bytes = eval_array_bytes(x);
    int64_t *data = cli_alloc(bytes);
    if (e->is_planned) {
        memset(data, 0, bytes);
        *last = e->ncounts < e->nlengths ? e->length[e->ncounts] : most;
        e->count = cli_resize(e->count, (size_t)(e->ncounts + 1) * sizeof(cubed_array *));
        e->count[e->ncounts++] = cubed_array_ref(x);
        return array_of_numbers(e, x, data, numbers, err);
    }
    const cubed_status st = cli_compute(e->ctx, x, data, &e->common, err);
    if (st != CUBED_OK) {
        cli_free(data);
        return st;
    }
    *last = data[bytes / sizeof *data - 1];
    e->length = cli_resize(e->length, (size_t)(e->nlengths + 1) * sizeof *e->length);
    e->length[e->nlengths++] = *last;
    return array_of_numbers(e, x, data, numbers, err);
}

static cubed_status find_coordinate_of(void *ctx, const char *of, const char *name,
                                       cubed_array **out, cubed_error *err)
{
    inputs *in = ctx;
    cubed_array *stored;
    cubed_status st = of ? inputs_coordinate_of(in, of, name, &stored, err)
                         : inputs_coordinate(in, name, &stored, err);
    *out = stored;
    if (st != CUBED_OK || !stored || in->raw) return st;
    st = cubed_cf_decode(stored, out, err);
    if (st != CUBED_OK) *out = NULL;
    cubed_array_unref(stored);
    return st;
}

static cubed_status find_coordinate(void *ctx, const char *name, cubed_array **out,
                                    cubed_error *err)
{
    return find_coordinate_of(ctx, NULL, name, out, err);
}

static cubed_status build(eval *e, const cli_common *common, cubed_error *err)
{
    const cubed_expr_host host = {.lookup = inputs_lookup,
                                  .ctx = &e->in,
                                  .raw = e->in.raw,
                                  .task_mem = cli_task_mem(common),
                                  .count = count_now,
                                  .count_ctx = e,
                                  .coordinate = find_coordinate,
                                  .coordinate_of = find_coordinate_of};
    return cubed_expr_build(e->expr, e->ctx, &host, &e->built, err);
}

static void free_counts(cubed_array **count, int n)
{
    for (int i = 0; i < n; i++) cubed_array_unref(count[i]);
    cli_free(count);
}

static void free_again(eval *e)
{
    free_counts(e->again.count, e->again.ncounts);
    for (int i = 0; i < e->again.nregions; i++) cubed_array_unref(e->again.region[i]);
    cli_free(e->again.region);
    eval_free_items(e->again.item, e->again.nitems);
    cubed_expr_results_free(e->again.built);
    memset(&e->again, 0, sizeof e->again);
}

/* Moves the current arrays of `e` to e->again, and restores the arrays in `kept`. */
static void keep_again(eval *e, const eval *kept)
{
    e->again.built = e->built;
    e->again.item = e->item;
    e->again.nitems = e->nitems;
    e->again.count = e->count;
    e->again.ncounts = e->ncounts;
    e->built = kept->built;
    e->item = kept->item;
    e->nitems = kept->nitems;
    e->count = kept->count;
    e->ncounts = kept->ncounts;
    e->is_planned = kept->is_planned;
}

/* Builds the arrays again, for another allowed_mem. */
static cubed_status build_again(eval *e, uint64_t allowed_mem, cubed_error *err)
{
    cli_common common = e->common;
    free_again(e);
    e->built = NULL;
    e->item = NULL;
    e->count = NULL;
    e->nitems = e->ncounts = 0;
    e->is_planned = true;
    common.allowed_mem = allowed_mem;
    return build(e, &common, err);
}

/* Callback cubed_plan_options.remake: builds the results again for another allowed_mem. */
static cubed_status remake(void *ctx, uint64_t allowed_mem, cubed_array **arrays, cubed_error *err)
{
    eval *e = ctx;
    const eval kept = *e;
    cubed_status st = build_again(e, allowed_mem, err);
    if (st == CUBED_OK && !eval_place_results(e, err)) st = err->status;
    if (st == CUBED_OK && e->nitems != kept.nitems)
        st = cli_reject(err, "the expression has different results in a second evaluation");
    if (st == CUBED_OK && e->region)
        e->again.region = cli_alloc((size_t)e->nitems * sizeof *e->again.region);
    for (int i = 0; i < kept.nitems && st == CUBED_OK; i++) {
        cubed_target target = {.array = e->item[i].array};
        if (e->region) st = region_target(e, i, &target, err);
        if (st == CUBED_OK && e->region) e->again.region[e->again.nregions++] = target.array;
        if (st == CUBED_OK) arrays[i] = target.array;
    }
    keep_again(e, &kept);
    return st;
}

/* Recreates the arrays whose numbers are computed first, and the results, for another allowed_mem. */
static cubed_status remake_all(void *ctx, uint64_t allowed_mem, cubed_array **arrays,
                               cubed_error *err)
{
    eval *e = ctx;
    const int ncounts = e->ncounts;
    const cubed_status st = remake(e, allowed_mem, arrays + ncounts, err);
    if (st != CUBED_OK) return st;
    if (e->again.ncounts != ncounts)
        return cli_reject(err, "the expression computes other numbers than before");
    for (int i = 0; i < ncounts; i++) arrays[i] = e->again.count[i];
    return CUBED_OK;
}

/* Checks the plans that will run one after another: one per array of numbers, then the plan of the results. */
static cubed_status check_all(eval *e, const eval_targets *results, cubed_error *err)
{
    cli_common common = e->common;
    const int n = e->ncounts;
    cubed_target *target = cli_alloc((size_t)(n + e->nitems) * sizeof *target);
    int *counts = cli_alloc((size_t)(n + 1) * sizeof *counts);
    for (int i = 0; i < n; i++) {
        target[i] = (cubed_target){.array = e->count[i]};
        counts[i] = 1;
    }
    memcpy(target + n, results->target, (size_t)e->nitems * sizeof *target);
    counts[n] = e->nitems;
    common.remake = remake_all;
    const cubed_status st = cli_check_plans(e->ctx, target, counts, n + 1, &results->group,
                                            results->grouped, &common, err);
    cli_free(counts);
    cli_free(target);
    return st;
}

/* Improves the error if numbers that determine shapes do not fit in memory: advises memory for these numbers, for later numbers
 * and for the results, with the maximum of each unknown length. If the results cannot be planned with such lengths, the error
 * says that its advice covers only these numbers. */
static void advise_for_all(eval *e, cubed_error *err)
{
    cubed_error other = CUBED_ERROR_INIT;
    eval_targets t = {.target = NULL};
    e->is_planned = true;
    cubed_status st = build(e, &e->common, &other);
    if (st == CUBED_OK)
        st = eval_place_results(e, &other) ? make_targets(e, &t, &other) : other.status;
    if (st == CUBED_OK) st = check_all(e, &t, &other);
    free_targets(&t);
    if (st == CUBED_E_BUDGET)
        *err = other;
    else
        cli_note(err,
                 "; this holds for the numbers that are computed first: results depend on them, "
                 "and may need more");
}

/* Refuses results that plots cannot show, before anything is computed. */
static int check_picture(const eval *e)
{
    if (!e->out)
        return cli_usage_error(
            e->verb, "--out is missing, expected the file of the picture, such as --out map.png");
    if (!archive_is_picture(e->out))
        return cli_usage_error(e->verb, "--out %s: expected a FILE.png, FILE.svg or FILE.pdf",
                               e->out);
    for (int i = 0; i < cubed_expr_results_count(e->built); i++) {
        const cubed_expr_result *v = cubed_expr_results_at(e->built, i);
        const int ndim = cubed_array_ndim(v->array);
        if (ndim != 1 && ndim != 2)
            return cli_usage_error(
                e->verb,
                "%s has %d dimensions: a series has one and a map two (x[0], mean(x, dim=\"time\") "
                "and sel(x, time=\"2020-01-01\") remove dimensions)",
                v->name, ndim);
    }
    return e->common.plan_only ? EXIT_SUCCESS : picture_check(e->verb);
}

static int prepare(eval *e)
{
    cubed_error err = CUBED_ERROR_INIT;
    int code = cli_context(e->verb, &e->common, &e->ctx);
    if (code != EXIT_SUCCESS) return code;
    e->in.ctx = e->in.joined.ctx = e->ctx;
    if (cubed_expr_parse(e->text, &e->expr, &err) != CUBED_OK) return cli_report(e->verb, &err);
    const char *twice = cubed_expr_repeated(e->expr);
    if (twice)
        return cli_usage_error(e->verb,
                               "the name \"%s\" has two values, of which only the last would be a "
                               "result: give each its own name, or one that starts with _",
                               twice);
    const cubed_status st = build(e, &e->common, &err);
    if (st == CUBED_E_BUDGET && !e->append) advise_for_all(e, &err);
    if (st != CUBED_OK) return cli_report(e->verb, &err);
    if (e->common.picture && (code = check_picture(e)) != EXIT_SUCCESS) return code;
    if (!eval_place_results(e, &err)) return cli_report(e->verb, &err);
    char *unused = inputs_unused(&e->in, eval_is_grouped(e) ? inputs_group(&e->in) : NULL);
    if (unused) {
        code = cli_usage_error(e->verb, "the expression does not use the input %s: leave it out",
                               unused);
        cli_free(unused);
        return code;
    }
    if (e->in.joined.stack && !e->in.joined.has_along)
        return cli_usage_error(e->verb,
                               "--stack %s is for an input of several files, such as 'm*.nc'",
                               e->in.joined.stack);
    if (e->in.joined.along && !e->in.joined.has_along)
        return cli_usage_error(
            e->verb,
            "--along is \"%s\", expected a dimension of an array that several files contain",
            e->in.joined.along);
    if (e->nitems == 0) return cli_usage_error(e->verb, "no result: every name starts with _");
    for (int i = 0; i < e->nitems && !e->out && !e->common.plan_only; i++) {
        char text[32];
        if (e->item[i].bytes > PRINTED_BYTES)
            return cli_usage_error(
                e->verb, "the result \"%s\" has %s, too much to print: store it with --out",
                e->item[i].name, cli_format_bytes((double)e->item[i].bytes, text));
    }
    const int wrong = check_csv(e);
    return wrong == EXIT_SUCCESS ? run(e) : wrong;
}

/* Reports an error in an option, and frees the message `wrong`. */
static int refuse(const eval *e, const char *option, char *wrong)
{
    const int code = cli_usage_error(e->verb, "%s%s", option, wrong);
    cli_free(wrong);
    return code;
}

/* Reads options and inputs. The caller frees `e`, even after an error. */
static int parse(int argc, char **argv, const cli_usage *usage, cli_picture *picture, eval *e)
{
    char *wrong = NULL;
    bool decode = false;
    int key;
    while ((key = cli_next_option(argc, argv, usage, &e->common)) != -1) {
        switch (key) {
        case KEY_IN: wrong = inputs_add(&e->in, optarg); break;
        case KEY_ALONG: e->in.joined.along = optarg; break;
        case KEY_STACK: e->in.joined.stack = optarg; break;
        case KEY_OVERLAP:
            if (!joined_parse_overlap(optarg, &e->in.joined.overlap))
                return cli_usage_error(e->verb, "--overlap \"%s\": expected first, last or error",
                                       optarg);
            break;
        case KEY_OUT: e->out = optarg; break;
        case KEY_DECODE: decode = true; break;
        case KEY_RAW: e->in.raw = true; break;
        case KEY_COLORS: picture->colors = optarg; break;
        case KEY_TITLE: picture->title = optarg; break;
        case KEY_CODECS: e->codecs = optarg; break;
        case KEY_CSV: e->csv = true; break;
        case KEY_REGION: e->region = optarg; break;
        case KEY_APPEND: e->append = optarg; break;
        case KEY_CHUNKS:
            if (!chunk_spec_parse(optarg, &e->chunks))
                return cli_usage_error(e->verb, "--chunks \"%s\": " CHUNK_SPEC_EXPECTED, optarg);
            break;
        case KEY_FORMAT:
            if (strcmp(optarg, "2") != 0 && strcmp(optarg, "3") != 0)
                return cli_usage_error(e->verb, "--format \"%s\": expected 2 or 3", optarg);
            e->format = optarg[0] - '0';
            break;
        default:
            if ((wrong = outputs_take(&e->outputs, key, optarg))) return refuse(e, "", wrong);
            break;
        }
        if (wrong) return refuse(e, "--in: ", wrong);
    }
    if (optind >= argc) return cli_usage_error(e->verb, "expected an expression");
    if (argc - optind > 2)
        return cli_usage_error(e->verb,
                               "expected an expression and one STORE, but \"%s\" follows: use "
                               "--in for more inputs, and --out for results",
                               argv[optind + 2]);
    if (!e->out && (e->codecs || e->format || e->common.overwrite || e->common.durable))
        return cli_usage_error(e->verb, "--format, --codecs, --overwrite and --durable are for "
                                        "results that are stored: with --out");
    if (e->common.update && (!e->out || e->region))
        return cli_usage_error(
            e->verb, "--update is for whole results that are stored: with --out, without --region");
    const char *stored = e->chunks.n ? "--chunks" : outputs_given(&e->outputs);
    if (stored && (!e->out || e->region || e->append))
        return cli_usage_error(e->verb,
                               "%s is for new results that are stored: with --out, and without "
                               "--region and --append",
                               stored);
    if (e->codecs && e->outputs.level >= 0)
        return cli_usage_error(e->verb, "--codecs and --%s exclude each other",
                               e->outputs.zstd ? "zstd" : "deflate");
    if (e->outputs.shuffle && e->outputs.level < 0)
        return cli_usage_error(e->verb, "--shuffle: expected --deflate or --zstd with it");
    if (e->csv && (e->out || e->common.json || e->common.plan_only || e->common.save_plan))
        return cli_usage_error(e->verb, "--csv is for results that are printed: without --out, "
                                        "--json, --plan and --save-plan");
    if (e->region && (!e->out || e->codecs || e->format || e->common.overwrite))
        return cli_usage_error(
            e->verb, "--region is for an array that exists: with --out, and without --format, "
                     "--codecs and --overwrite");
    if (e->append && (!e->out || e->region || e->codecs || e->format || e->common.overwrite ||
                      e->common.resume || e->common.save_plan))
        return cli_usage_error(
            e->verb, "--append is for arrays that exist: with --out, and without --region, "
                     "--format, --codecs, --overwrite, --resume and --save-plan");
    if (e->in.joined.stack && e->in.joined.along)
        return cli_usage_error(e->verb,
                               "--along and --stack exclude each other: files are joined along a "
                               "dimension that they have, or along a new one");
    e->text = argv[optind++];
    if (optind < argc && (wrong = inputs_add(&e->in, argv[optind]))) return refuse(e, "", wrong);
    if (e->in.raw && decode)
        return cli_usage_error(e->verb,
                               "--raw and --decode contradict each other: give one of them");
    if ((e->in.raw || decode) && e->in.nspecs == 0)
        return cli_usage_error(e->verb, "%s is for inputs, but there are no inputs",
                               decode ? "--decode" : "--raw");
    if (e->out && (wrong = archive_refuse(e->out, e->common.plan_only || e->common.save_plan)))
        return refuse(e, "--out ", wrong);
    e->common.remake = e->append ? NULL : remake;
    e->common.remake_ctx = e;
    /* A NetCDF file that becomes longer is replaced as a whole. */
    if (e->append && archive_is_netcdf(e->out)) e->common.overwrite = true;
    return EXIT_SUCCESS;
}

static void free_eval(eval *e)
{
    eval_free_items(e->item, e->nitems);
    cubed_expr_results_free(e->built);
    cubed_expr_free(e->expr);
    free_again(e);
    free_counts(e->count, e->ncounts);
    cli_free(e->length);
    append_end(e->appending);
    outputs_free(&e->outputs);
    chunk_spec_free(&e->chunks);
    inputs_free(&e->in);
    cubed_context_unref(e->ctx);
}

/* Evaluates expressions for all subcommands: reads options and inputs, plans and runs. Takes ownership of `command`. */
static int evaluate(int argc, char **argv, const cli_usage *usage, cli_picture *picture,
                    char *command)
{
    eval e = {.verb = argv[0], .common = CLI_COMMON_INIT, .outputs = OUTPUTS_INIT};
    e.common.picture = picture;
    e.outputs.command = command;
    int code = parse(argc, argv, usage, picture, &e);
    if (code == EXIT_SUCCESS) code = prepare(&e);
    free_eval(&e);
    return code;
}

/* Creates the decoded coordinate of a dimension of the first result. Sets *out to NULL if it does not exist. */
static cubed_status find_result_coordinate(eval *e, const char *dim, cubed_array **out,
                                           cubed_error *err)
{
    const cubed_expr_coord *c = cubed_expr_result_coord(cubed_expr_results_at(e->built, 0), dim);
    cubed_array *whole = NULL, *part = NULL, *described = NULL;
    cubed_status st = CUBED_OK;
    *out = NULL;
    if (c && c->cut) return CUBED_OK;
    if (c && c->made)
        whole = cubed_array_ref(c->made);
    else
        st = inputs_coordinate(&e->in, dim, &whole, err);
    if (st != CUBED_OK || !whole) return st;
    const cubed_slice all = {0, cubed_array_shape(whole)[0], 1, false};
    st = cubed_slice_array(whole, c ? &c->part : &all, &part, err);
    if (st == CUBED_OK)
        st = cubed_array_with_attrs(part, cubed_array_attrs(whole), &described, err);
    if (st == CUBED_OK) st = cubed_cf_decode(described, out, err);
    cubed_array_unref(whole);
    cubed_array_unref(part);
    cubed_array_unref(described);
    return st;
}

int cli_build_result(int argc, char **argv, const char *dim, cubed_array **out)
{
    eval e = {.verb = argv[0], .common = CLI_COMMON_INIT, .outputs = OUTPUTS_INIT};
    cubed_error err = CUBED_ERROR_INIT;
    *out = NULL;
    int code = parse(argc, argv, &cmd_eval_usage, NULL, &e);
    if (code == EXIT_SUCCESS) code = cli_context(e.verb, &e.common, &e.ctx);
    if (code == EXIT_SUCCESS) {
        e.in.ctx = e.in.joined.ctx = e.ctx;
        cubed_status st = cubed_expr_parse(e.text, &e.expr, &err);
        if (st == CUBED_OK) st = build(&e, &e.common, &err);
        if (st == CUBED_OK && dim)
            st = find_result_coordinate(&e, dim, out, &err);
        else if (st == CUBED_OK)
            *out = cubed_array_ref(cubed_expr_results_at(e.built, 0)->array);
        if (st != CUBED_OK) code = cli_report(e.verb, &err);
    }
    free_eval(&e);
    return code;
}

int cli_evaluate(int argc, char **argv, char *command)
{
    return evaluate(argc, argv, &cmd_eval_usage, NULL, command);
}

int cmd_eval(int argc, char **argv)
{
    return cli_evaluate(argc, argv, history_command(argc, argv));
}

int cmd_plot(int argc, char **argv)
{
    cli_picture picture = {NULL, NULL};
    return evaluate(argc, argv, &cmd_plot_usage, &picture, NULL);
}
