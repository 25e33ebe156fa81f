/* The "quadratic means" workload from the Pangeo project's benchmarks: products and squares of two wind components, averaged
 * over time. Shapes are (time, level, latitude, longitude). */
#define _GNU_SOURCE
#include <errno.h>
#include <ftw.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "array_steps.h"
#include "cli.h"
#include "cli_values.h"

enum { KEY_SIZE = CLI_OWN_KEY, KEY_DIR, KEY_KEEP, KEY_CODEC };

static const cli_option own[] = {
    {"size", "SIZE", "size of the input, both components together (default 1.5GB)", KEY_SIZE},
    {"dir", "DIR", "directory for the data (default: a private temporary directory)", KEY_DIR},
    {"keep", NULL, "keep the data", KEY_KEEP},
    {"codec", "none|blosc-lz4|zstd", "codec of the input (default blosc-lz4)", KEY_CODEC},
    {NULL, NULL, NULL, 0}};

const cli_usage cmd_demo_usage = {
    .synopsis = "demo quadratic-means [options]",
    .text = "Makes two wind components u and v as Zarr arrays, computes mean(u*u), mean(v*v) "
            "and\nmean(u*v) over time from Zarr to Zarr in one pass, checks a sample of the result "
            "by plain\nloops, and prints the allowed, projected and measured memory. Without "
            "--json it also writes a report:\nto --report, DIR/report.html, or a temporary file "
            "that is not deleted.",
    .examples = "  cubed demo quadratic-means --size 1.5GB --allowed-mem 100MB\n",
    .words = "quadratic-means",
    .own = own,
    .common = true};

enum { NLAT = 987, NLON = 1920, CHUNK_TIME = 5, CHUNK_LAT = 247, CHUNK_LON = 960 };
enum { SAMPLE_LAT = 411, SAMPLE_LON = 1203, SAMPLES = 7 };

typedef struct demo {
    cubed_context *ctx;
    cli_common common;
    char *dir;
    char *report; /* path of the report of the run; may be NULL */
    bool temporary_report, computed;
    const char *codecs;
    int64_t ntime;
    cubed_plan_info make_info, info;
    cubed_run_stats make, run;
} demo;

static const char *codecs_of(const char *name)
{
    if (strcmp(name, "none") == 0)
        return "[{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}}]";
    if (strcmp(name, "blosc-lz4") == 0)
        return "[{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}}, {\"name\": "
               "\"blosc\", \"configuration\": {\"cname\": \"lz4\", \"clevel\": 5, \"shuffle\": "
               "\"shuffle\", \"typesize\": 8, \"blocksize\": 0}}]";
    if (strcmp(name, "zstd") == 0)
        return "[{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}}, {\"name\": "
               "\"zstd\", \"configuration\": {\"level\": 1, \"checksum\": false}}]";
    return NULL;
}

/* Computes x = op(x, y), and drops the references to both operands. */
static cubed_status combine(cubed_op op, cubed_array **x, cubed_array *y, cubed_error *err)
{
    const cubed_status st = step_with_array(op, x, y, err);
    cubed_array_unref(y);
    return st;
}

static cubed_status combine_number(cubed_op op, cubed_array **x, double value, cubed_error *err)
{
    return step_with_number(op, x, CUBED_FLOAT64, (cubed_scalar){.f64 = value}, err);
}

static cubed_status convert(cubed_array **x, cubed_dtype dtype, cubed_error *err)
{
    cubed_array *out;
    cubed_status st = cubed_astype(*x, dtype, &out, err);
    if (st != CUBED_OK) return st;
    cubed_array_unref(*x);
    *x = out;
    return CUBED_OK;
}

#define TRY(call)                                                                                  \
    do {                                                                                           \
        st = (call);                                                                               \
        if (st != CUBED_OK) goto out;                                                              \
    } while (0)

/* Creates a wind component in integer multiples of 1/64 m/s. Like measurements, it compresses moderately. It increases by `slope`
 * 64ths per line of latitude, and has noise of 16 m/s. */
static cubed_status make_wind(const demo *d, int64_t seed, double slope, cubed_array **out,
                              cubed_error *err)
{
    static const char *const names[4] = {"time", "level", "lat", "lon"};
    const int64_t shape[4] = {d->ntime, 1, NLAT, NLON}, lats[3] = {1, NLAT, 1};
    const int64_t chunks[4] = {CHUNK_TIME, 1, CHUNK_LAT, CHUNK_LON};
    cubed_array *x = NULL, *lat = NULL;
    cubed_status st;
    TRY(cubed_array_random(d->ctx, 4, shape, chunks, seed, &x, err));
    TRY(combine_number(CUBED_OP_MULTIPLY, &x, 1024, err));
    TRY(convert(&x, CUBED_INT16, err));
    TRY(convert(&x, CUBED_FLOAT64, err));
    TRY(cubed_array_index(d->ctx, 3, lats, NULL, 0, &lat, err));
    TRY(convert(&lat, CUBED_FLOAT64, err));
    TRY(combine_number(CUBED_OP_MULTIPLY, &lat, slope, err));
    TRY(combine(CUBED_OP_ADD, &x, cubed_array_ref(lat), err));
    TRY(combine_number(CUBED_OP_DIVIDE, &x, 64, err));
    TRY(cubed_array_with_dim_names(x, names, out, err));
out:
    cubed_array_unref(x);
    cubed_array_unref(lat);
    return st;
}

static int make_input(demo *d)
{
    cubed_error err = CUBED_ERROR_INIT;
    cubed_array *wind[2] = {NULL, NULL};
    cubed_target targets[2];
    static const char *const names[2] = {"u", "v"};
    char *urls[2] = {NULL, NULL};
    bool ran = false;
    int code = EXIT_SUCCESS;
    for (int k = 0; k < 2 && code == EXIT_SUCCESS; k++) {
        if (make_wind(d, k + 1, k ? -1 : 2, &wind[k], &err) != CUBED_OK)
            code = cli_report("demo", &err);
        urls[k] = cli_printf("%s/winds.zarr::%s", d->dir, names[k]);
        targets[k] = (cubed_target){
            .array = wind[k], .url = urls[k], .codecs = d->codecs, .durable = d->common.durable};
    }
    const cli_job what = {
        .verb = "demo", .ctx = d->ctx, .common = &d->common, .targets = targets, .ntargets = 2};
    if (code == EXIT_SUCCESS) code = cli_execute(&what, &ran, &d->make, &d->make_info);
    for (int k = 0; k < 2; k++) {
        cubed_array_unref(wind[k]);
        cli_free(urls[k]);
    }
    return code;
}

/* Computes mean(a*b, axis=time) of two stored arrays. */
static cubed_status mean_product(cubed_array *a, cubed_array *b, cubed_array **out,
                                 cubed_error *err)
{
    cubed_reduce_options o = CUBED_REDUCE_OPTIONS_INIT;
    cubed_array *args[2] = {a, b}, *product;
    const int axis = 0;
    cubed_status st = cubed_elementwise(CUBED_OP_MULTIPLY, args, 2, &product, err);
    if (st != CUBED_OK) return st;
    o.axes = &axis;
    o.naxes = 1;
    st = cubed_reduce(CUBED_REDUCE_MEAN, product, &o, out, err);
    cubed_array_unref(product);
    return st;
}

static int compute(demo *d)
{
    static const char *const names[3] = {"uu", "vv", "uv"};
    cubed_error err = CUBED_ERROR_INIT;
    cubed_array *wind[2] = {NULL, NULL}, *mean[3] = {NULL, NULL, NULL};
    cubed_target targets[3];
    char *urls[5];
    bool ran = false;
    cubed_status st = CUBED_OK;
    memset(targets, 0, sizeof targets);
    for (int k = 0; k < 3; k++) urls[k] = cli_printf("%s/means.zarr::%s", d->dir, names[k]);
    for (int k = 0; k < 2; k++) {
        urls[3 + k] = cli_printf("%s/winds.zarr::%s", d->dir, k ? "v" : "u");
        if (st == CUBED_OK) st = cubed_array_open(d->ctx, urls[3 + k], &wind[k], &err);
    }
    for (int k = 0; k < 3 && st == CUBED_OK; k++) {
        st = mean_product(wind[k == 1], wind[k != 0], &mean[k], &err);
        targets[k] = (cubed_target){.array = mean[k],
                                    .url = urls[k],
                                    .codecs = codecs_of("zstd"),
                                    .durable = d->common.durable};
    }
    cli_common common = d->common;
    common.report = d->report;
    const cli_job what = {
        .verb = "demo", .ctx = d->ctx, .common = &common, .targets = targets, .ntargets = 3};
    int code =
        st == CUBED_OK ? cli_execute(&what, &ran, &d->run, &d->info) : cli_report("demo", &err);
    d->computed = ran;
    for (int k = 0; k < 3; k++) cubed_array_unref(mean[k]);
    for (int k = 0; k < 2; k++) cubed_array_unref(wind[k]);
    for (int k = 0; k < 5; k++) cli_free(urls[k]);
    return code;
}

/* Reads a small box of a stored array into `out`. */
static cubed_status read_box(const demo *d, const char *store, const char *name,
                             const cubed_slice *slices,
                             double *out, /* NOLINT(readability-non-const-parameter): the result */
                             cubed_error *err)
{
    cubed_plan_options o = CUBED_PLAN_OPTIONS_INIT;
    cubed_array *x = NULL, *part = NULL;
    cubed_plan *plan = NULL;
    char *url = cli_printf("%s/%s.zarr::%s", d->dir, store, name);
    cubed_status st = cubed_array_open(d->ctx, url, &x, err);
    if (st == CUBED_OK) st = cubed_slice_array(x, slices, &part, err);
    cubed_target t = {.array = part, .data = out};
    o.allowed_mem = d->info.allowed_mem;
    o.reserved_mem = d->info.reserved_mem;
    o.max_workers = 1;
    if (st == CUBED_OK) st = cubed_plan_new(d->ctx, &t, 1, &o, &plan, err);
    if (st == CUBED_OK) st = cubed_run(plan, NULL, NULL, err);
    cubed_plan_unref(plan);
    cubed_array_unref(part);
    cubed_array_unref(x);
    cli_free(url);
    return st;
}

/* Compares a few columns of the result with sums by a plain loop over the stored winds. */
static int check(const demo *d, double *worst)
{
    static const char *const names[3] = {"uu", "vv", "uv"};
    cubed_error err = CUBED_ERROR_INIT;
    size_t n = (size_t)d->ntime * SAMPLES;
    double *wind[2] = {cli_alloc(n * sizeof(double)), cli_alloc(n * sizeof(double))};
    double mean[3][SAMPLES];
    const cubed_slice columns[4] = {{0, d->ntime, 1, false},
                                    {0, 1, 1, true},
                                    {SAMPLE_LAT, 1, 1, true},
                                    {SAMPLE_LON, SAMPLES, 1, false}};
    cubed_status st = read_box(d, "winds", "u", columns, wind[0], &err);
    if (st == CUBED_OK) st = read_box(d, "winds", "v", columns, wind[1], &err);
    for (int k = 0; k < 3 && st == CUBED_OK; k++)
        st = read_box(d, "means", names[k], columns + 1, mean[k], &err);
    *worst = 0;
    for (int k = 0; k < 3 && st == CUBED_OK; k++) {
        for (int i = 0; i < SAMPLES; i++) {
            double sum = 0;
            for (int64_t t = 0; t < d->ntime; t++)
                sum += wind[k == 1][t * SAMPLES + i] * wind[k != 0][t * SAMPLES + i];
            double plain = sum / (double)d->ntime;
            double off = fabs(mean[k][i] - plain) / fmax(fabs(plain), 1e-300);
            if (!(off <= *worst)) *worst = off;
        }
    }
    cli_free(wind[0]);
    cli_free(wind[1]);
    return st == CUBED_OK ? EXIT_SUCCESS : cli_report("demo", &err);
}

static void row(const char *what, double bytes, const char *note)
{
    char text[32];
    printf("  %-34s %12s  %s\n", what, cli_format_bytes(bytes, text), note);
}

static void print_table(const demo *d, double worst)
{
    char a[32], b[32];
    const cubed_run_stats *s = &d->run;
    unsigned workers = s->num_workers;
    double bound = (double)workers * (double)d->info.allowed_mem;
    printf("\nmemory\n");
    row("allowed, per worker", (double)d->info.allowed_mem, "");
    row("reserved of it", (double)d->info.reserved_mem, "code, libraries, metadata");
    row("projected, largest task", (double)s->projected_mem, "known before the run");
    row("measured, largest task", (double)s->measured_mem,
        s->measured_mem <= s->projected_mem ? "<= projected" : "OVER the projection: a bug");
    row("bound of the process", bound, "workers x allowed");
    row("peak resident, whole process", (double)cubed_peak_rss(),
        (double)cubed_peak_rss() <= bound ? "<= bound" : "OVER the bound: a bug");
    printf("run\n");
    printf("  %" PRId64 " tasks in %d stage%s on %u workers, %.2f s\n", s->num_tasks,
           d->info.num_stages, d->info.num_stages == 1 ? "" : "s", workers, s->seconds);
    printf("  read %s (%s stored), %.2f GB/s of decoded input\n",
           cli_format_bytes((double)s->bytes_read, a), cli_format_bytes((double)s->stored_read, b),
           (double)s->bytes_read / s->seconds * 1e-9);
    printf("  largest relative difference from plain loops, %d columns: %.1e\n", 3 * SAMPLES,
           worst);
}

static void print_json(const demo *d, double worst)
{
    json_t *o = json_object();
    json_object_set_new(o, "dir", json_string(d->dir));
    if (d->report) json_object_set_new(o, "report", json_string(d->report));
    json_object_set_new(o, "times", json_integer(d->ntime));
    json_object_set_new(o, "largest_relative_difference", json_real(worst));
    json_object_set_new(o, "_make", values_run_json(&d->make, &d->make_info));
    json_object_set_new(o, "_run", values_run_json(&d->run, &d->info));
    json_dumpf(o, stdout, JSON_REAL_PRECISION(17));
    putchar('\n');
    json_decref(o);
}

/* Chooses the path of the report. It is --report if given, else report.html next to the data if the data are kept. Otherwise
 * it is a temporary file, which is not deleted. With JSON output there is no report by default. */
static bool choose_report(demo *d, bool keep)
{
    if (d->common.report) d->report = cli_strdup(d->common.report);
    d->common.report = NULL; /* the run that creates the data has no report */
    if (d->report || d->common.json) return true;
    d->report = keep ? cli_printf("%s/report.html", d->dir)
                     : cli_temp_name("cubed-demo-report-XXXXXX.html");
    if (keep) return true;
    int fd = mkstemps(d->report, (int)strlen(".html"));
    if (fd < 0) {
        cli_say(stderr, "cubed demo: cannot make %s: %s\n", d->report, strerror(errno));
        return false;
    }
    close(fd);
    d->temporary_report = true;
    return true;
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *walk)
{
    (void)info;
    (void)type;
    (void)walk;
    return remove(path);
}

static int run_demo(demo *d)
{
    char text[32];
    double worst = 0;
    FILE *told = d->common.json ? stderr : stdout;
    fprintf(told,
            "winds u and v: float64 (time: %" PRId64 ", level: 1, lat: %d, lon: %d), %s, in %s\n",
            d->ntime, NLAT, NLON, cli_format_bytes(2.0 * 8 * NLAT * NLON * (double)d->ntime, text),
            d->dir);
    (void)fflush(told);
    int code = make_input(d);
    if (code != EXIT_SUCCESS) return code;
    fprintf(told, "uu = mean(u*u), vv = mean(v*v), uv = mean(u*v) over time\n");
    (void)fflush(told);
    code = compute(d);
    if (code != EXIT_SUCCESS) return code;
    code = check(d, &worst);
    if (code != EXIT_SUCCESS) return code;
    if (d->common.json)
        print_json(d, worst);
    else
        print_table(d, worst);
    bool right =
        worst <= 1e-12 && d->run.measured_mem <= d->run.projected_mem &&
        (double)cubed_peak_rss() <= (double)d->run.num_workers * (double)d->info.allowed_mem;
    if (!right) fprintf(stderr, "cubed demo: a check failed, see the table\n");
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}

int cmd_demo(int argc, char **argv)
{
    demo d = {.common = CLI_COMMON_INIT, .codecs = codecs_of("blosc-lz4")};
    uint64_t size = 1500000000;
    const char *dir = NULL;
    bool keep = false;
    int key;
    d.common.allowed_mem = 100000000;
    while ((key = cli_next_option(argc, argv, &cmd_demo_usage, &d.common)) != -1) {
        switch (key) {
        case KEY_SIZE:
            if (!cubed_parse_bytes(optarg, &size))
                return cli_usage_error("demo", "--size \"%s\": expected a size such as 1.5GB",
                                       optarg);
            break;
        case KEY_DIR: dir = optarg; break;
        case KEY_KEEP: keep = true; break;
        case KEY_CODEC:
            d.codecs = codecs_of(optarg);
            if (!d.codecs)
                return cli_usage_error("demo", "--codec \"%s\": expected none, blosc-lz4 or zstd",
                                       optarg);
            break;
        default: break;
        }
    }
    if (argc - optind != 1 || strcmp(argv[optind], "quadratic-means") != 0)
        return cli_usage_error("demo", "expected the workload's name: quadratic-means");
    if (d.common.plan_only || d.common.save_plan || d.common.plan_svg)
        return cli_usage_error("demo", "--plan, --plan-svg and --save-plan are not for the demo");
    d.ntime = (int64_t)(size / ((uint64_t)2 * 8 * NLAT * NLON));
    if (d.ntime < 1) d.ntime = 1;
    d.dir = dir ? cli_strdup(dir) : cli_temp_name("cubed-demo-XXXXXX");
    if (!dir && !mkdtemp(d.dir)) {
        cli_say(stderr, "cubed demo: cannot make %s: %s\n", d.dir, strerror(errno));
        cli_free(d.dir);
        return EXIT_FAILURE;
    }
    int code = cli_context("demo", &d.common, &d.ctx);
    if (code == EXIT_SUCCESS && !choose_report(&d, dir || keep)) code = EXIT_FAILURE;
    if (code == EXIT_SUCCESS) code = run_demo(&d);
    if (d.computed && !d.common.json) cli_say(stdout, "report in %s\n", d.report);
    if (!d.computed && d.temporary_report) unlink(d.report);
    if (!dir && !keep)
        nftw(d.dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    else if (!d.common.json)
        cli_say(stdout, "data kept in %s\n", d.dir);
    cubed_context_unref(d.ctx);
    cli_free(d.dir);
    cli_free(d.report);
    return code;
}
