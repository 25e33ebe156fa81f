/* Loads any bytes as a saved plan. A plan that loads is described, and is saved and loaded again with the same bytes. The header
 * is corrected first, because no other input would pass the checksum. Nothing runs, and no file is read or written. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "cubed/cubed.h"
#include "store/services/store_registry.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAGIC_BYTES = 8, HEADER_BYTES = 16, CHECKSUM_AT = 12 };

#define require(holds) check((holds), #holds)

static void check(bool holds, const char *what)
{
    if (holds) return;
    fprintf(stderr, "does not hold: %s\n", what);
    abort();
}

/* Replaces the library's function at link time (--wrap). Every URL is a store with the source that the corpus was made with. */
cubed_status open_store(cb_stores *stores, const char *url, bool durable, cubed_store **out,
                        cubed_error *err) __asm__("__wrap_cb_store_open");

cubed_status open_store(cb_stores *stores, const char *url, bool durable, cubed_store **out,
                        cubed_error *err)
{
    static const char meta[] =
        "{\"zarr_format\": 3, \"node_type\": \"array\", \"shape\": [12, 10], "
        "\"data_type\": \"float64\", \"chunk_grid\": {\"name\": \"regular\", "
        "\"configuration\": {\"chunk_shape\": [5, 4]}}, \"chunk_key_encoding\": "
        "{\"name\": \"default\"}, \"fill_value\": 0, \"codecs\": [{\"name\": \"bytes\", "
        "\"configuration\": {\"endian\": \"little\"}}]}";
    require(!durable);
    cubed_status st = cb_store_open_memory(stores->alloc, url, out, err);
    return st == CUBED_OK ? cb_store_put(*out, "zarr.json", meta, sizeof meta - 1, err) : st;
}

cubed_status open_allowed(cb_stores *stores, const char *url, const char *references, bool durable,
                          cubed_store **out,
                          cubed_error *err) __asm__("__wrap_cb_store_open_allowed");

cubed_status open_allowed(cb_stores *stores, const char *url, const char *references, bool durable,
                          cubed_store **out, cubed_error *err)
{
    (void)references;
    return open_store(stores, url, durable, out, err);
}

/* Gets the header of plans that this library saves, except the checksum. */
static void get_header(cubed_context *ctx, uint8_t header[HEADER_BYTES])
{
    cubed_scalar one = {.f64 = 1};
    cubed_array *x;
    cubed_plan *plan;
    double result;
    void *bytes;
    size_t size;
    require(cubed_array_full(ctx, CUBED_FLOAT64, 0, NULL, NULL, &one, &x, NULL) == CUBED_OK);
    cubed_target t = {.array = x, .data = &result};
    require(cubed_plan_new(ctx, &t, 1, NULL, &plan, NULL) == CUBED_OK);
    require(cubed_plan_save(plan, &bytes, &size, NULL) == CUBED_OK && size > HEADER_BYTES);
    memcpy(header, bytes, HEADER_BYTES);
    cubed_plan_free_bytes(plan, bytes, size);
    cubed_plan_unref(plan);
    cubed_array_unref(x);
}

static void describe(const cubed_plan *plan)
{
    cubed_plan_info info;
    cubed_stage_info stage;
    cubed_stored_info stored;
    cubed_plan_get_info(plan, &info);
    for (int s = 0; s < info.num_stages; s++) {
        require(cubed_plan_get_stage(plan, s, &stage, NULL) == CUBED_OK);
        require(stage.projected_mem <= info.projected_mem && stage.name && stage.num_tasks >= 0);
        for (int i = 0; i < stage.num_inputs; i++)
            require(cubed_plan_get_input(plan, s, i, &stored, NULL) == CUBED_OK && stored.name);
        for (int i = 0; i < stage.num_outputs; i++)
            require(cubed_plan_get_output(plan, s, i, &stored, NULL) == CUBED_OK && stored.name);
    }
}

static void save_and_load(cubed_context *ctx, const cubed_plan *plan)
{
    cubed_plan *again;
    void *first, *second;
    size_t first_size, second_size;
    require(cubed_plan_save(plan, &first, &first_size, NULL) == CUBED_OK);
    require(cubed_plan_load(ctx, first, first_size, &again, NULL) == CUBED_OK);
    require(cubed_plan_save(again, &second, &second_size, NULL) == CUBED_OK);
    require(first_size == second_size && memcmp(first, second, first_size) == 0);
    cubed_plan_free_bytes(plan, first, first_size);
    cubed_plan_free_bytes(again, second, second_size);
    cubed_plan_unref(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t header[HEADER_BYTES];
    cubed_error err = CUBED_ERROR_INIT;
    cubed_context *ctx;
    cubed_plan *plan;
    bool whole = false; /* the bytes are as some version of the library saved them */
    /* Allocate exactly this size, so that sanitizers detect an overrun. */
    uint8_t *bytes = malloc(size ? size : 1);
    require(bytes && cubed_context_new(NULL, &ctx, NULL) == CUBED_OK);
    if (size) memcpy(bytes, data, size);
    if (size >= HEADER_BYTES) {
        if (!header[0]) get_header(ctx, header);
        uint32_t sum = (uint32_t)crc32(0, bytes + HEADER_BYTES, (uInt)(size - HEADER_BYTES));
#ifdef FUZZ_REPLAY /* only here: the fuzzer also finds valid checksums of invalid plans */
        uint32_t said = 0;
        for (int k = 0; k < 4; k++) said |= (uint32_t)bytes[CHECKSUM_AT + k] << (8 * k);
        whole = sum == said && memcmp(bytes, header, MAGIC_BYTES) == 0;
#endif
        memcpy(bytes, header, CHECKSUM_AT);
        for (int k = 0; k < 4; k++) bytes[CHECKSUM_AT + k] = (uint8_t)(sum >> (8 * k));
    }
    cubed_status st = cubed_plan_load(ctx, bytes, size, &plan, &err);
    if (st == CUBED_OK) {
        describe(plan);
        save_and_load(ctx, plan);
        cubed_plan_unref(plan);
    }
    /* The fuzzer starts from saved plans. If the format of plans has changed, they do not load, and must be made again. */
    if (whole && st != CUBED_OK) fprintf(stderr, "make_plans: %s\n", err.message);
    require(!whole || st == CUBED_OK);
    /* Every failure must have a message, and must be caused by the bytes. */
    if (st == CUBED_E_INTERNAL) fprintf(stderr, "%s\n", err.message);
    require(st != CUBED_E_INTERNAL);
    require((st == CUBED_OK) == (err.message[0] == 0) && st == err.status);
    cubed_context_unref(ctx);
    free(bytes);
    return 0;
}
