/* A user-defined kind of source: reads grey-scale images (PGM) as arrays of uint8.
 *
 *   cc source.c $(pkg-config --cflags --libs cubed) -o source && ./source
 *
 * A handle is an open file. Plans contain the name of the file, so they can be saved, and can be run by workers in which this
 * kind of source is registered. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cubed/cubed.h>
#include <cubed/sys/source.h>

typedef struct image {
    int fd;
    int64_t shape[2];
    off_t first; /* offset of the first pixel */
    char path[512];
} image;

static cubed_status fail(cubed_error *err, cubed_status status, const char *path, const char *why)
{
    if (!err) return status;
    *err = (cubed_error){.status = status};
    snprintf(err->message, sizeof err->message, "%s %s", path, why);
    return status;
}

/* Reads the header of an image: "P5 WIDTH HEIGHT 255" and one byte of white space. */
static bool read_head(image *x)
{
    char head[64] = "", *at = head + 2;
    if (pread(x->fd, head, sizeof head - 1, 0) < 2 || strncmp(head, "P5", 2) != 0) return false;
    x->shape[1] = strtol(at, &at, 10);
    x->shape[0] = strtol(at, &at, 10);
    if (x->shape[0] < 1 || x->shape[1] < 1 || strtol(at, &at, 10) != 255) return false;
    x->first = at + 1 - head;
    return true;
}

static cubed_status open_image(const char *path, image **out, cubed_error *err)
{
    image *x = calloc(1, sizeof *x);
    if (!x) return fail(err, CUBED_E_NOMEM, path, "does not fit into memory");
    snprintf(x->path, sizeof x->path, "%s", path);
    x->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (x->fd < 0 || !read_head(x)) {
        if (x->fd >= 0) close(x->fd);
        free(x);
        return fail(err, CUBED_E_FORMAT, path, "is no grey image");
    }
    *out = x;
    return CUBED_OK;
}

/* Reads a region. Several threads may call this function at the same time. */
static cubed_status read_image(void *handle, const cubed_source_region *r, cubed_error *err)
{
    const image *x = handle;
    for (int64_t i = 0; i < r->shape[0]; i++) {
        const off_t at = x->first + (r->offset[0] + i) * x->shape[1] + r->offset[1];
        char *row = (char *)r->data + i * r->strides[0]; /* its pixels need not be contiguous */
        for (int64_t j = 0; j < r->shape[1];) {
            char part[4096];
            const int64_t left = r->shape[1] - j, most = (int64_t)sizeof part;
            const ssize_t got = pread(x->fd, part, (size_t)(left < most ? left : most), at + j);
            if (got <= 0) return fail(err, CUBED_E_IO, x->path, "cannot be read");
            for (ssize_t k = 0; k < got; k++) row[(j + k) * r->strides[1]] = part[k];
            j += got;
        }
    }
    return CUBED_OK;
}

static cubed_status save(void *handle, cubed_source_sink put, void *sink, cubed_error *err)
{
    const image *x = handle;
    return put(sink, x->path, strlen(x->path), err);
}

/* Opens the image that a plan names. The bytes are untrusted, because a plan may come from anybody. */
static cubed_status load(const void *params, size_t size, void *ctx, void **handle,
                         cubed_error *err)
{
    char path[sizeof((image *)0)->path] = "";
    image *x;
    (void)ctx;
    if (size >= sizeof path || memchr(params, 0, size))
        return fail(err, CUBED_E_FORMAT, "the plan", "has no name of a file");
    memcpy(path, params, size);
    const cubed_status st = open_image(path, &x, err);
    if (st == CUBED_OK) *handle = x;
    return st;
}

static void close_image(void *handle)
{
    image *x = handle;
    close(x->fd);
    free(x);
}

/* Returns the path of the file, so that no result of a plan replaces the file. */
static const char *place(void *handle) { return ((image *)handle)->path; }

static const cubed_source_fn images = {
    .struct_size = sizeof(cubed_source_fn),
    .version = CUBED_SOURCE_VERSION,
    .name = "pgm",
    .read = read_image,
    .save = save,
    .open = load,
    .close = close_image,
    .place = place,
};

/* --- A program that uses it ---------------------------------------------------------------------------- */

enum { HEIGHT = 90, WIDTH = 200 };

static int write_image(const char *path)
{
    FILE *f = fopen(path, "wb");
    if (!f) return -1;
    fprintf(f, "P5 %d %d 255\n", WIDTH, HEIGHT);
    for (int i = 0; i < HEIGHT * WIDTH; i++) putc(i % 251, f);
    return fclose(f);
}

static cubed_status make_plan(cubed_context *ctx, const char *path, cubed_plan **plan,
                              cubed_error *err)
{
    const int64_t chunks[2] = {40, 64};
    image *handle;
    cubed_array *x = NULL, *sum = NULL;
    cubed_status st = open_image(path, &handle, err);
    if (st != CUBED_OK) return st;
    st = cubed_array_from_source(ctx, &images, handle, CUBED_UINT8, 2, handle->shape, chunks, &x,
                                 err);
    if (st != CUBED_OK) close_image(handle); /* otherwise the array owns the handle */
    if (st == CUBED_OK) st = cubed_reduce(CUBED_REDUCE_SUM, x, NULL, &sum, err);
    const cubed_target target = {.array = sum};
    if (st == CUBED_OK) st = cubed_plan_new(ctx, &target, 1, NULL, plan, err);
    cubed_array_unref(sum);
    cubed_array_unref(x);
    return st;
}

/* Runs a saved plan, as another program would that has the plan's bytes. */
static cubed_status run_bytes(cubed_context *ctx, const void *bytes, size_t size, uint64_t *sum,
                              cubed_error *err)
{
    cubed_plan *plan = NULL;
    cubed_status st = cubed_plan_load(ctx, bytes, size, &plan, err);
    if (st == CUBED_OK) st = cubed_plan_bind_result(plan, 0, sum, sizeof *sum, err);
    if (st == CUBED_OK) st = cubed_run(plan, NULL, NULL, err);
    cubed_plan_unref(plan);
    return st;
}

int main(void)
{
    const char *path = "source-example.pgm";
    cubed_context *ctx = NULL, *stranger = NULL;
    cubed_plan *plan = NULL;
    cubed_error err = CUBED_ERROR_INIT;
    void *bytes = NULL;
    size_t size = 0;
    uint64_t sum = 0, expected = 0;
    int refused = 0;
    for (int i = 0; i < HEIGHT * WIDTH; i++) expected += (uint64_t)(i % 251);
    if (write_image(path) != 0) return EXIT_FAILURE;
    cubed_status st = cubed_context_new(NULL, &ctx, &err);
    if (st == CUBED_OK) st = cubed_context_new(NULL, &stranger, &err);
    if (st == CUBED_OK) st = cubed_context_add_source_fn(ctx, &images, &err);
    if (st == CUBED_OK) st = make_plan(ctx, path, &plan, &err);
    if (st == CUBED_OK) st = cubed_plan_save(plan, &bytes, &size, &err);
    if (st == CUBED_OK) {
        refused = run_bytes(stranger, bytes, size, &sum, &err) == CUBED_E_UNSUPPORTED;
        printf("a program that does not know it: %s\n", err.message);
        st = run_bytes(ctx, bytes, size, &sum, &err);
    }
    if (st == CUBED_OK) printf("sum of all pixels: %llu\n", (unsigned long long)sum);
    if (st != CUBED_OK) fprintf(stderr, "source: %s\n", err.message);
    if (bytes) cubed_plan_free_bytes(plan, bytes, size);
    cubed_plan_unref(plan);
    cubed_context_unref(stranger);
    cubed_context_unref(ctx);
    (void)remove(path);
    return st == CUBED_OK && refused && sum == expected ? EXIT_SUCCESS : EXIT_FAILURE;
}
