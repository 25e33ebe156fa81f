/* Subcommands while allocations of the library and the expression language fail, one in each run of a subcommand. The subcommand
 * prints the same as without faults, or it fails with an error message; the next run succeeds. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "cli/cli.h"
#include "remove_dir.h"
#include "slow.h"
#include "test_path.h"

/* --- Allocations that fail on demand -------------------------------------------------------------------- */

/* Number of allocations so far, and number of the allocation that fails, from 1 on; 0: none. */
static long allocations, failing;
/* Whether the command itself allocates. It would end the process. */
static _Thread_local bool is_command;

static bool fails(void) { return __atomic_add_fetch(&allocations, 1, __ATOMIC_RELAXED) == failing; }

/* NOLINTBEGIN(bugprone-reserved-identifier): the linker makes these names (cmake/tests.cmake) */
void *__real_realloc(void *p, size_t size);
void *__wrap_realloc(void *p, size_t size);
void *__real_lang_alloc(size_t size);
void *__wrap_lang_alloc(size_t size);
void *__real_cli_resize(void *p, size_t size);
void *__wrap_cli_resize(void *p, size_t size);

void *__wrap_realloc(void *p, size_t size)
{
    return !is_command && fails() ? NULL : __real_realloc(p, size);
}

void *__wrap_lang_alloc(size_t size) { return fails() ? NULL : __real_lang_alloc(size); }

void *__wrap_cli_resize(void *p, size_t size)
{
    is_command = true;
    p = __real_cli_resize(p, size);
    is_command = false;
    return p;
}
/* NOLINTEND(bugprone-reserved-identifier) */

/* --- Subcommands ------------------------------------------------------------------------------------------ */

enum { MOST_WORDS = 24, MOST_TEXT = 1 << 16, STEPS = 24 };

static const struct verb {
    const char *name;
    int (*run)(int argc, char **argv);
    bool plans; /* takes the options of runs */
} verbs[] = {
    {"info", cmd_info, false},      {"eval", cmd_eval, true},
    {"apply", cmd_apply, true},     {"remap", cmd_remap, true},
    {"rechunk", cmd_rechunk, true}, {"copy", cmd_copy, true},
    {"run", cmd_run, true},         {"worker", cmd_worker, false},
    {"submit", cmd_submit, false},  {"status", cmd_status, false},
    {"clean", cmd_clean, false},    {"executors", cmd_executors, false},
    {"demo", cmd_demo, true},       {"gencon,r4x3", cmd_generate, true},
};

typedef struct output {
    int code;
    char out[MOST_TEXT], errors[MOST_TEXT];
} output;

static output whole, faulty;

static void read_back(FILE *f, char text[MOST_TEXT])
{
    rewind(f);
    text[fread(text, 1, MOST_TEXT - 1, f)] = '\0';
    fclose(f);
    char *times = strstr(text, "\"_run\"");
    if (times) *times = '\0';
}

/* Runs a subcommand with its output in files. */
static void run(char *const *words, output *o)
{
    const struct verb *v = verbs;
    char *argv[MOST_WORDS + 5];
    int argc = 0;
    while (strcmp(v->name, words[0]) != 0) v++;
    while (words[argc]) {
        argv[argc] = words[argc];
        argc++;
    }
    if (v->plans) {
        static char *const options[] = {"--progress=none", "--executor=single-threaded"};
        for (int i = 0; i < 2; i++) argv[argc++] = options[i];
    }
    argv[argc] = NULL;
    FILE *out = tmpfile(), *errors = tmpfile();
    assert_true(out && errors);
    (void)fflush(NULL);
    const int old_out = dup(STDOUT_FILENO), old_errors = dup(STDERR_FILENO);
    assert_true(dup2(fileno(out), STDOUT_FILENO) >= 0);
    assert_true(dup2(fileno(errors), STDERR_FILENO) >= 0);
    optind = 0;
    o->code = v->run(argc, argv);
    (void)fflush(NULL);
    failing = 0;
    assert_true(dup2(old_out, STDOUT_FILENO) >= 0);
    assert_true(dup2(old_errors, STDERR_FILENO) >= 0);
    close(old_out);
    close(old_errors);
    read_back(out, o->out);
    read_back(errors, o->errors);
}

static void write_text(const char *name, const char *text)
{
    FILE *f = fopen(name, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static void succeed(char *const *words)
{
    failing = 0;
    run(words, &whole);
    if (whole.code != EXIT_SUCCESS) fail_msg("cubed %s %s: %s", words[0], words[1], whole.errors);
}

static void remove_results(void)
{
    (void)remove_dir("out");
    assert_int_equal(mkdir("out", 0700), 0);
}

static bool names_memory(const char *errors)
{
    return strstr(errors, "memory") || strstr(errors, "the machine does not have");
}

/* Runs a subcommand again and again, with another allocation that fails in each run. */
static void fail_some(char *const *words)
{
    remove_results();
    allocations = 0;
    succeed(words);
    const long n = allocations;
    const long steps = getenv("CUBED_ALL_FAULTS") ? n : STEPS / SLOW + 1;
    for (long k = 0; k < steps; k++) {
        const long at = 1 + k * n / steps;
        remove_results();
        allocations = 0;
        failing = at;
        run(words, &faulty);
        const bool same = faulty.code == EXIT_SUCCESS && strcmp(faulty.out, whole.out) == 0;
        if (!same && !names_memory(faulty.errors))
            fail_msg("cubed %s %s: allocation %ld of %ld: code %d, \"%s\", %.500s", words[0],
                     words[1], at, n, faulty.code, faulty.errors, faulty.out);
    }
    remove_results();
    succeed(words);
}

/* --- Input ------------------------------------------------------------------------------------------------ */

#define WORDS(...) ((char *[]){__VA_ARGS__, NULL})

static void put_attributes(const char *store, const char *variable, const char *attributes)
{
    char name[64];
    snprintf(name, sizeof name, "%s/%s/.zattrs", store, variable);
    write_text(name, attributes);
}

/* Makes a store with variables of 24 times, whose first time is a day after the start of the year 2000. */
static void make_input(char *store, int first)
{
    char text[400], name[64];
    snprintf(text, sizeof text,
             "t = rechunk(reshape(sin(arange(576.0)), (24, 4, 6)), (8, 4, 6)); p = astype(t * 10, "
             "\"int16\"); time = 15.0 * arange(24) + %d; lat = 45.0 * arange(4) - 67.5; lon = 60.0 "
             "* arange(6)",
             first);
    succeed(WORDS("eval", text, "--out", store, "--format", "2"));
    put_attributes(store, "t",
                   "{\"_ARRAY_DIMENSIONS\": [\"time\", \"lat\", \"lon\"], \"units\": \"K\"}");
    put_attributes(store, "p",
                   "{\"_ARRAY_DIMENSIONS\": [\"time\", \"lat\", \"lon\"], \"scale_factor\": 0.1, "
                   "\"add_offset\": 1.0, \"_FillValue\": -99}");
    put_attributes(store, "time",
                   "{\"_ARRAY_DIMENSIONS\": [\"time\"], \"units\": \"days since 2000-01-01\", "
                   "\"calendar\": \"noleap\"}");
    put_attributes(store, "lat",
                   "{\"_ARRAY_DIMENSIONS\": [\"lat\"], \"units\": \"degrees_north\"}");
    put_attributes(store, "lon", "{\"_ARRAY_DIMENSIONS\": [\"lon\"], \"units\": \"degrees_east\"}");
    snprintf(name, sizeof name, "%s/.zmetadata", store);
    (void)remove(name);
}

static char top[200];

static int set_up(void **state)
{
    (void)state;
    test_path(top, sizeof top, "cubed-cli-faults-XXXXXX");
    if (!mkdtemp(top) || chdir(top) != 0) return -1;
    make_input("in.zarr", 0);
    make_input("later.zarr", 365);
    make_input("year-1.zarr", 0);
    make_input("year-2.zarr", 365);
    succeed(WORDS("copy", "in.zarr", "in.nc"));
    succeed(WORDS("copy", "in.zarr", "region.zarr"));
    succeed(WORDS("eval", "t + 1", "in.zarr", "--out", "planned.zarr", "--save-plan", "plan.cubed",
                  "--work-dir", "work"));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    return chdir("/") != 0 || remove_dir(top) != 0;
}

/* --- Tests ------------------------------------------------------------------------------------------------ */

static void test_info(void **state)
{
    (void)state;
    fail_some(WORDS("info", "in.zarr"));
    fail_some(WORDS("info", "in.nc", "--json"));
    fail_some(WORDS("info", "in.zarr::p"));
    fail_some(WORDS("clean", "in.zarr", "--dry-run"));
}

static void test_expressions(void **state)
{
    static char *const texts[] = {
        "a = t[0] * 2 + p[1]; b = mean(t, dim=\"time\"); c = 7",
        "a = monmean(t); b = mean(p, groupby=\"time.season\"); c = max(t, resample=\"QS-DEC\")",
        "a = ydaymean(t); b = ymonsub(t, ymonmean(t)); c = seasmean(t); d = timpctl(t, 90)",
        "a = sel(t, time=\"2000-03\", lat=(0, 60)); b = sel(p, lon=[0, 120], method=\"nearest\")",
        "a = sel(t, lon=(-60, 60)); b = sellonlatbox(t, -90, 90, -30, 30); c = selmon(t, 3, 4)",
        "a = fldmean(t); b = zonmean(p); c = mermean(t); d = gridarea(t); e = fldpctl(t, 50)",
        "a = remap(t, \"r4x3\"); b = remap(t, \"r4x3\", \"conservative\")",
        "a = quantile(t, (0.1, 0.5), dim=\"lon\"); b = rolling(t, 3, \"mean\", dim=\"time\")",
        "a = set_attrs(t, units=\"degC\", n=3); b = runmean(t, 3); c = detrend(t)",
        "a = timcor(t, p)",
        "a = histogram(t, 5, range=(-1, 1)); b = where(t > 0, t, nan); q, r = qr(t[:, :, 0])",
        "a = unique_values(p[0, 0]); b = nonzero(p[0, 0] > 0)",
        "a = repeat(t[0, 0], [1, 2, 0, 1, 1, 1])",
        "a = anomaly(t, \"time.month\", reference=(\"2000-01\", \"2000-06\")); b = ydrunmean(t, 5)",
        "a = ymonpctl(t, 90); b = ydaysub(t, ydaymean(t))",
        "a = seldate(t, \"2000-02\", \"2000-05\")",
        "a = weights_file(t, \"r4x3\", \"conservative\", part=\"S\"); b = remapnn(p, \"r4x3\")",
        "a = groupby(t, p[:, 0, 0] > 0, \"mean\"); b = mean(t, weights=lat); c = runmean(t, 3)",
        "a = concat((t, p), axis=0); b = stack((t, t), axis=0); c = einsum(\"tij->ij\", t)",
    };
    (void)state;
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        fail_some(WORDS("eval", texts[k], "in.zarr"));
    }
}

static void test_results(void **state)
{
    (void)state;
    fail_some(WORDS("eval", "a = t + 1; b = monmean(p)", "in.zarr", "--out", "out/a.zarr"));
    fail_some(WORDS("eval", "a = t + 1", "in.zarr", "--out", "out/a.nc", "--pack", "int16",
                    "--shuffle", "--deflate", "2", "--attr", "b:units=K", "--rename", "a:b"));
    fail_some(WORDS("eval", "a = t; time", "in.zarr", "--json"));
    fail_some(WORDS("eval", "a = fldmean(t); b = monmean(t)", "--in", "t=in.zarr::t"));
    fail_some(WORDS("eval", "fldmean(t)", "in.zarr", "--out", "out/a.zarr", "--format", "2"));
    fail_some(WORDS("eval", "a = t + 1", "in.nc", "--plan", "--explain", "--out", "out/a.zarr"));
    fail_some(WORDS("eval", "a = t + 1", "in.nc", "--plan", "--json", "--out", "out/a.zarr"));
    fail_some(WORDS("eval", "mean(t)", "in.zarr", "--out", "out/a.zarr", "--report", "out/r.html",
                    "--events", "out/e.json", "--status", "out/s.json"));
    fail_some(
        WORDS("eval", "t[:1] * 0", "in.zarr", "--out", "region.zarr::t", "--region", "2:3,:,:"));
}

static void test_operators(void **state)
{
    (void)state;
    fail_some(WORDS("apply", "monmean", "in.zarr", "out/a.zarr"));
    fail_some(WORDS("apply", "fldmean", "-sellonlatbox,-90,90,-60,60", "-selname,t,p", "in.nc",
                    "out/a.nc"));
    fail_some(WORDS("apply", "ensmean", "in.zarr", "in.nc", "out/a.zarr"));
    fail_some(WORDS("apply", "splityear", "in.zarr", "out/a"));
    fail_some(WORDS("apply", "mergetime", "in.zarr", "later.zarr", "out/a.zarr"));
    fail_some(WORDS("apply", "sub", "in.zarr", "later.zarr", "out/a.zarr"));
    fail_some(WORDS("remap", "r4x3", "in.zarr", "out/a.zarr", "--method", "conservative",
                    "--weights", "out/a.nc"));
    fail_some(WORDS("gencon,r4x3", "in.zarr", "out/a.nc"));
}

static void test_copies(void **state)
{
    (void)state;
    fail_some(WORDS("copy", "in.nc", "out/a.zarr", "--format", "2", "--chunks", "time=12"));
    fail_some(WORDS("copy", "in.zarr::t", "out/a.zarr::x", "--format", "3", "--shards", "8,4,6",
                    "--chunks", "4,2,6"));
    fail_some(WORDS("copy", "in.zarr", "out/a.nc", "--calendar", "360_day"));
    fail_some(WORDS("rechunk", "in.zarr", "out/a.zarr", "--format", "3", "--chunks",
                    "time=5+7x2+5,lat=2"));
    fail_some(WORDS("copy", "in.zarr", "out/a.zip"));
}

/* Several files as one, and saved plans. */
static void test_files_and_plans(void **state)
{
    (void)state;
    fail_some(WORDS("eval", "a = timmean(t); b = p[::5, 0, 0]", "year-*.zarr"));
    fail_some(WORDS("eval", "t[0, 0]", "in.zarr", "--csv"));
    fail_some(WORDS("copy", "year-*.zarr", "out/a.nc"));
    fail_some(WORDS("eval", "t + 1", "in.zarr", "--out", "out/a.zarr", "--save-plan", "out/a.cubed",
                    "--work-dir", "out"));
    fail_some(WORDS("submit", "plan.cubed", "out/jobs", "--engine", "slurm", "--run", "a"));
    fail_some(WORDS("executors"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_info),    cmocka_unit_test(test_expressions),
        cmocka_unit_test(test_results), cmocka_unit_test(test_operators),
        cmocka_unit_test(test_copies),  cmocka_unit_test(test_files_and_plans),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
