/* A complete program: creates, stores, opens and computes arrays, and handles errors. Chunks are encoded by a user-defined codec
 * (codec.c) and stored in a user-defined store (store.c).
 *
 *   cc complete.c codec.c store.c $(pkg-config --cflags --libs cubed) -o complete && ./complete
 *
 * The array rain(place, hour) is stored in kept://, in both formats of Zarr. The mean over time is first refused, because it is
 * allowed too little memory. Then it is computed with the memory that the error states. */
#include <inttypes.h>
#include <stdlib.h>

#include "complete.h"

/* The rain does not change for LONG hours. */
enum { PLACES = 50, HOURS = 4000, LONG = 100, LAST = HOURS / LONG - 1 };

static const struct {
    const char *url, *codecs;
    int format;
} stored[] = {
    {"kept://three::rain",
     "[{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}}, "
     "{\"name\": \"example.runs\"}]",
     3},
    {"kept://two::rain", "{\"id\": \"runs\", \"unit\": 8}", 2},
};

static cubed_status run(cubed_context *ctx, const cubed_target *target, uint64_t allowed,
                        cubed_error *err)
{
    cubed_plan *plan = NULL;
    cubed_plan_options o = CUBED_PLAN_OPTIONS_INIT;
    if (allowed) o.allowed_mem = allowed;
    cubed_status st = cubed_plan_new(ctx, target, 1, &o, &plan, err);
    if (st == CUBED_OK) st = cubed_run(plan, NULL, NULL, err);
    cubed_plan_unref(plan); /* NULL is allowed */
    return st;
}

/* Stores the array: at place p, the rain is p + 0, p + 1, ..., p + LAST, each for LONG hours. */
static cubed_status store_rain(cubed_context *ctx, size_t which, cubed_error *err)
{
    static double rain[PLACES][HOURS];
    const int64_t shape[2] = {PLACES, HOURS}, chunks[2] = {PLACES, 750};
    cubed_array *x = NULL;
    for (int p = 0; p < PLACES; p++) {
        for (int step = 0; step <= LAST; step++) {
            for (int h = 0; h < LONG; h++) rain[p][step * LONG + h] = p + step;
        }
    }
    cubed_status st =
        cubed_array_from_memory(ctx, CUBED_FLOAT64, 2, shape, NULL, chunks, rain, &x, err);
    const cubed_target to = {.array = x,
                             .url = stored[which].url,
                             .codecs = stored[which].codecs,
                             .zarr_format = stored[which].format};
    if (st == CUBED_OK) st = run(ctx, &to, 0, err);
    cubed_array_unref(x);
    return st;
}

static cubed_status show(void *wrong, const cubed_zarr_info *info, cubed_error *err)
{
    (void)err;
    printf("%s: %" PRIu64 " bytes are stored as %" PRIu64 "\n", info->codecs, info->logical_bytes,
           info->stored_bytes);
    *(int *)wrong += info->stored_bytes == 0 || info->stored_bytes > info->logical_bytes / 10;
    return CUBED_OK;
}

/* Computes the mean over time at each place, in memory. */
static cubed_status mean_of_rain(cubed_context *ctx, const char *url, double means[PLACES],
                                 cubed_error *err)
{
    const int axis = 1;
    cubed_array *x = NULL, *mean = NULL;
    cubed_reduce_options o = CUBED_REDUCE_OPTIONS_INIT;
    o.axes = &axis;
    o.naxes = 1;
    cubed_status st = cubed_array_open(ctx, url, &x, err);
    if (st == CUBED_OK) st = cubed_reduce(CUBED_REDUCE_MEAN, x, &o, &mean, err);
    if (st == CUBED_OK) {
        cubed_target to = {.array = mean};
        to.data = means;
        st = run(ctx, &to, 17000000, err);
        /* No task has run: a plan that does not fit is refused, and the error states a sufficient memory. */
        if (st == CUBED_E_BUDGET && err->enough_mem) {
            printf("refused: each worker needs %" PRIu64 " bytes\n", err->enough_mem);
            st = run(ctx, &to, err->enough_mem, err);
        }
    }
    cubed_array_unref(mean);
    cubed_array_unref(x);
    return st;
}

/* Opens a missing array. An error has a status, by which programs decide, and a message for people. */
static int miss(cubed_context *ctx)
{
    cubed_error err = CUBED_ERROR_INIT;
    cubed_array *x = NULL;
    const cubed_status st = cubed_array_open(ctx, "kept://three::snow", &x, &err);
    cubed_array_unref(x);
    printf("as expected, %s: %s\n", cubed_status_str(st), err.message);
    return st != CUBED_E_NOT_FOUND;
}

int main(void)
{
    cubed_context *ctx = NULL;
    cubed_error err = CUBED_ERROR_INIT;
    double means[PLACES] = {0};
    int wrong = 0;
    cubed_status st = cubed_context_new(NULL, &ctx, &err);
    if (st == CUBED_OK) st = cubed_context_add_codec(ctx, &runs_codec, &err);
    if (st == CUBED_OK) st = cubed_context_add_store(ctx, &kept_store, &err);
    for (size_t i = 0; i < sizeof stored / sizeof *stored && st == CUBED_OK; i++) {
        st = store_rain(ctx, i, &err);
        if (st == CUBED_OK) st = cubed_zarr_walk(ctx, stored[i].url, true, show, &wrong, &err);
        if (st == CUBED_OK) st = mean_of_rain(ctx, stored[i].url, means, &err);
        if (st != CUBED_OK) break;
        for (int p = 0; p < PLACES; p++) wrong += means[p] != p + LAST / 2.0;
        printf("means from %g to %g\n", means[0], means[PLACES - 1]);
    }
    if (st == CUBED_OK) wrong += miss(ctx);
    if (st != CUBED_OK) fprintf(stderr, "complete: %s\n", err.message);
    cubed_context_unref(ctx);
    return st == CUBED_OK && wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
