/* Runs a plan under mpirun. Rank 0 is the driver, and the other ranks are workers. This is a separate program, so that `cubed`
 * does not need MPI.
 *
 * All ranks get the plan's bytes once. Each worker then gets ranges, two at a time so that it never waits, and sends reports
 * back. Completed tasks are noted in the plan's work directory, so a run whose ranks died can be continued by its name. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cubed/cubed.h>
#include <cubed/sys/message.h>
#include <mpi.h>

enum { TAG_RANGE = 1, TAG_STOP, TAG_REPORTS };
enum { IN_FLIGHT = 2, CLOCK_BYTES = sizeof(int64_t) };
/* Initial and maximum sleep of a rank that has no message, in nanoseconds. */
#define PAUSE_NS      20000
#define MOST_PAUSE_NS 1000000
#define LINE_BYTES    8192

typedef struct told {
    const char *file, *run;
    void *plan;
    size_t size;
} told;

static int64_t clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Sleeps, and doubles the next sleep. Implementations of MPI poll continuously while they wait, on processors that working ranks
 * share. */
static void nap(struct timespec *pause)
{
    nanosleep(pause, NULL);
    if (pause->tv_nsec < MOST_PAUSE_NS) pause->tv_nsec *= 2;
}

static void wait_for(int rank, int tag, MPI_Status *status)
{
    struct timespec pause = {.tv_nsec = PAUSE_NS};
    for (int there = 0;; nap(&pause)) {
        MPI_Iprobe(rank, tag, MPI_COMM_WORLD, &there, status);
        if (there) return;
    }
}

/* Prints a line for a terminal. Control characters are spelled out, as in the command, because a terminal would obey them. */
__attribute__((format(printf, 3, 4))) static void say(FILE *to, bool lines, const char *format, ...)
{
    char text[LINE_BYTES], visible[4 * LINE_BYTES], *out = visible;
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    for (const unsigned char *s = (const unsigned char *)text; *s; s++) {
        /* a control character of two bytes in UTF-8 */
        const bool two = s[0] == 0xc2 && s[1] >= 0x80 && s[1] <= 0x9f;
        if (two || ((*s < 0x20 || *s == 0x7f) && !(lines && *s == '\n'))) {
            s += two;
            out += snprintf(out, 5, "\\x%02x", *s);
        } else {
            *out++ = (char)*s;
        }
    }
    *out = 0;
    fprintf(to, "%s\n", visible);
}

/* --- A worker ------------------------------------------------------------------------------------------- */

static cubed_status work(cubed_context *ctx, const told *t, cubed_error *err)
{
    cubed_worker *worker;
    char *answer = NULL;
    size_t cap = 0;
    cubed_status st = cubed_worker_new(ctx, NULL, &worker, err);
    while (st == CUBED_OK) {
        uint8_t message[CUBED_RANGE_BYTES];
        MPI_Status from;
        const void *reports;
        size_t size;
        wait_for(0, MPI_ANY_TAG, &from);
        MPI_Recv(message, sizeof message, MPI_BYTE, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &from);
        if (from.MPI_TAG == TAG_STOP) break;
        const cubed_work_input in = {sizeof in, t->plan, t->size, message, sizeof message, NULL, 0};
        st = cubed_work(worker, &in, &reports, &size, err);
        if (st != CUBED_OK) break;
        if (size + CLOCK_BYTES > cap) {
            free(answer);
            cap = 2 * (size + CLOCK_BYTES);
            answer = malloc(cap);
            if (!answer) MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
        }
        const int64_t now = clock_ns();
        memcpy(answer, &now, CLOCK_BYTES);
        memcpy(answer + CLOCK_BYTES, reports, size);
        MPI_Send(answer, (int)(size + CLOCK_BYTES), MPI_BYTE, 0, TAG_REPORTS, MPI_COMM_WORLD);
    }
    free(answer);
    cubed_worker_free(worker);
    return st;
}

/* --- The driver ----------------------------------------------------------------------------------------- */

typedef struct drive {
    cubed_context *ctx;
    cubed_driver *driver;
    char run[CUBED_RUN_NAME_CAP], plan[CUBED_PLAN_ID_CAP];
    int workers, busy;
    int *flying; /* number of ranges in flight, by worker */
} drive;

static cubed_status submit(drive *d, cubed_error *err)
{
    for (int fill = 1; fill <= IN_FLIGHT; fill++) {
        for (int w = 0; w < d->workers; w++) {
            cubed_range_message m = {.range = {.token = 0}};
            uint8_t bytes[CUBED_RANGE_BYTES];
            int n;
            if (d->flying[w] >= fill) continue;
            const cubed_status st = cubed_run_ready(d->driver, &m.range, 1, &n, err);
            if (st != CUBED_OK || n == 0) return st;
            memcpy(m.run, d->run, sizeof d->run);
            memcpy(m.plan, d->plan, sizeof d->plan);
            cubed_range_write(&m, bytes);
            MPI_Send(bytes, sizeof bytes, MPI_BYTE, w + 1, TAG_RANGE, MPI_COMM_WORLD);
            d->flying[w]++;
            d->busy++;
        }
    }
    return CUBED_OK;
}

/* Receives the reports of one range. */
static cubed_status hear(drive *d, const MPI_Status *from, cubed_error *err)
{
    int size;
    MPI_Get_count(from, MPI_BYTE, &size);
    char *answer = malloc((size_t)size);
    if (!answer) MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    MPI_Recv(answer, size, MPI_BYTE, from->MPI_SOURCE, TAG_REPORTS, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    int64_t then;
    memcpy(&then, answer, CLOCK_BYTES);
    const int64_t shift = clock_ns() - then;
    const char *at = answer + CLOCK_BYTES;
    size_t left = (size_t)size - CLOCK_BYTES, used;
    cubed_status st = CUBED_OK;
    d->flying[from->MPI_SOURCE - 1]--;
    d->busy--;
    for (; left > 0 && st == CUBED_OK; at += used, left -= used) {
        cubed_task_report r;
        st = cubed_report_read(d->ctx, at, left, &r, &used, err);
        if (st != CUBED_OK) break;
        r.worker = (unsigned)from->MPI_SOURCE - 1;
        r.start_ns += shift;
        r.end_ns += shift;
        st = cubed_run_report(d->driver, &r, err);
    }
    free(answer);
    return st;
}

static cubed_status loop(drive *d, cubed_error *err)
{
    struct timespec pause = {.tv_nsec = PAUSE_NS};
    while (!cubed_run_is_over(d->driver)) {
        MPI_Status from;
        int there;
        cubed_status st = submit(d, err);
        MPI_Iprobe(MPI_ANY_SOURCE, TAG_REPORTS, MPI_COMM_WORLD, &there, &from);
        if (st == CUBED_OK && there) st = hear(d, &from, err);
        if (st != CUBED_OK) return st;
        if (there)
            pause.tv_nsec = PAUSE_NS;
        else
            nap(&pause);
    }
    return CUBED_OK;
}

/* Waits for all ranges in flight, so that no message remains unreceived. */
static void stop(drive *d)
{
    for (; d->busy > 0; d->busy--) {
        MPI_Status from;
        int size;
        wait_for(MPI_ANY_SOURCE, TAG_REPORTS, &from);
        MPI_Get_count(&from, MPI_BYTE, &size);
        char *answer = malloc((size_t)size);
        if (!answer) MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
        MPI_Recv(answer, size, MPI_BYTE, from.MPI_SOURCE, TAG_REPORTS, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        free(answer);
    }
    for (int w = 1; w <= d->workers; w++) MPI_Send(NULL, 0, MPI_BYTE, w, TAG_STOP, MPI_COMM_WORLD);
}

static cubed_status run(cubed_context *ctx, const told *t, int workers, cubed_error *err)
{
    drive d = {.ctx = ctx, .workers = workers, .flying = calloc((size_t)workers, sizeof(int))};
    cubed_driver_options o = CUBED_DRIVER_OPTIONS_INIT;
    cubed_run_stats stats = {.num_tasks = 0};
    cubed_plan *plan = NULL;
    const int64_t start = clock_ns();
    if (!d.flying) MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    o.workers = (unsigned)workers;
    o.max_in_flight = (unsigned)workers * IN_FLIGHT;
    cubed_status st = cubed_plan_load(ctx, t->plan, t->size, &plan, err);
    if (st == CUBED_OK) st = cubed_plan_get_id(plan, d.plan, err);
    if (st == CUBED_OK) st = cubed_run_begin(plan, t->run, NULL, d.run, err);
    if (st == CUBED_OK) {
        say(stderr, false, "cubed-mpi: run %s of %s by %d workers", d.run, t->file, workers);
        st = cubed_driver_new(plan, d.run, &o, &stats, &d.driver, err);
    }
    if (st == CUBED_OK) st = loop(&d, err);
    stop(&d);
    cubed_driver_free(d.driver);
    if (st == CUBED_OK) st = cubed_run_finish(plan, d.run, err);
    if (st == CUBED_OK)
        printf("%" PRId64 " tasks in %.2f s, %" PRId64 " done before\n", stats.num_tasks,
               (double)(clock_ns() - start) * 1e-9, stats.num_resumed);
    else if (*d.run)
        say(stderr, false, "cubed-mpi: to go on: cubed-mpi %s --run %s", t->file, d.run);
    cubed_plan_unref(plan);
    free(d.flying);
    return st;
}

/* --- All ranks ------------------------------------------------------------------------------------------ */

static bool read_file(told *t)
{
    FILE *f = fopen(t->file, "rb");
    long size = -1;
    if (f && fseek(f, 0, SEEK_END) == 0) size = ftell(f);
    bool ok = size >= 0 && fseek(f, 0, SEEK_SET) == 0 && (t->plan = malloc((size_t)size + 1));
    if (ok) ok = fread(t->plan, 1, (size_t)size, f) == (size_t)size;
    t->size = ok ? (size_t)size : 0;
    if (f) (void)fclose(f);
    return ok;
}

/* Broadcasts the plan from rank 0, which sends a size of 0 if it has no plan. */
static bool share_plan(told *t, int rank)
{
    uint64_t size = t->size;
    MPI_Bcast(&size, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    if (size == 0 || size > INT32_MAX) return false;
    t->size = (size_t)size;
    if (rank > 0 && !(t->plan = malloc(t->size))) MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    MPI_Bcast(t->plan, (int)size, MPI_BYTE, 0, MPI_COMM_WORLD);
    return true;
}

static bool parse(int argc, char **argv, told *t)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--run") == 0 && i + 1 < argc)
            t->run = argv[++i];
        else if (argv[i][0] != '-' && !t->file)
            t->file = argv[i];
        else
            return false;
    }
    return t->file;
}

static int serve(told *t, int rank, int size)
{
    cubed_error err = CUBED_ERROR_INIT;
    cubed_context *ctx;
    if (rank == 0 && !read_file(t)) say(stderr, false, "cubed-mpi: cannot read %s", t->file);
    if (!share_plan(t, rank)) return EXIT_FAILURE;
    cubed_status st = cubed_context_new(NULL, &ctx, &err);
    if (st == CUBED_OK) {
        st = rank == 0 ? run(ctx, t, size - 1, &err) : work(ctx, t, &err);
        cubed_context_unref(ctx);
    }
    if (st != CUBED_OK) say(stderr, true, "cubed-mpi: rank %d: %s", rank, err.message);
    /* Abort, because the other ranks wait for this one. */
    if (st != CUBED_OK && rank > 0) MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    return st == CUBED_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    told t = {.file = NULL};
    int rank, size, code = 2;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const bool right = parse(argc, argv, &t);
    if (right && size > 1)
        code = serve(&t, rank, size);
    else if (rank == 0)
        fprintf(stderr, right
                            ? "cubed-mpi: expected at least two ranks: mpirun -n 4 cubed-mpi PLAN\n"
                            : "usage: mpirun -n RANKS cubed-mpi PLAN [--run NAME]\n");
    MPI_Finalize();
    free(t.plan);
    return code;
}
