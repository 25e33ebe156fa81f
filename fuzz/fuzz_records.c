/* Takes any bytes as a record that a run left: the record of its owner (.cubed-run), or of the sources of an array
 * (.cubed-sources). The first byte chooses the kind. A record that is read is written and read again with the same fields. */
#define XXH_INLINE_ALL
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "run/places/run_record.h"
#include "run/places/sources_record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HASH = 16 };

static void require(bool holds)
{
    if (!holds) abort();
}

static bool is_text(const char *text, size_t cap) { return memchr(text, 0, cap) != NULL; }

/* The marker of large integers (base/json.c), which Unicode reserves for internal use, or a character by its number. */
static bool has_marker(const uint8_t *data, size_t size)
{
    for (size_t i = 0; i + 3 <= size; i++) {
        if (memcmp(data + i, "\xEF\xB7\x90", 3) == 0 || memcmp(data + i, "\\u", 2) == 0)
            return true;
    }
    return false;
}

/* A record that is cut within a character cannot be written as JSON. */
static void read_run_record(cubed_store *store, cb_zone *zone)
{
    cb_run_record r, again;
    cubed_object_version version, next;
    cubed_error err = CUBED_ERROR_INIT;
    char who[CB_RUN_WHO_CAP];
    require(cb_run_record_read(store, "a", zone, &r, &version, &err) == CUBED_OK);
    require(is_text(r.plan, sizeof r.plan) && is_text(r.goal, sizeof r.goal));
    require(is_text(r.run, sizeof r.run) && is_text(r.owner, sizeof r.owner));
    require(is_text(r.since, sizeof r.since) && is_text(r.cubed, sizeof r.cubed));
    require(is_text(r.staged, sizeof r.staged) && is_text(r.made.text, sizeof r.made.text));
    require(r.state <= CB_RUN_COMMITTING && r.beat >= 0 && *version.text);
    cb_run_record_who(&r, who, sizeof who);
    require(is_text(who, sizeof who) && cb_run_record_age(&r) >= 0);
    (void)cb_run_record_is_live(&r, CB_RUN_SILENCE);
    (void)cb_run_record_may_write(&r);
    if (cb_run_record_write(store, "a", &r, &version, &err) != CUBED_OK) return;
    require(cb_run_record_read(store, "a", zone, &again, &next, &err) == CUBED_OK);
    require(strcmp(next.text, version.text) == 0);
    require(strcmp(r.owner, again.owner) == 0 && strcmp(r.run, again.run) == 0);
    require(strcmp(r.plan, again.plan) == 0 && strcmp(r.staged, again.staged) == 0);
    require(r.state == again.state && r.beat == again.beat && r.detached == again.detached);
    require(!r.sources == !again.sources && (!r.sources || strcmp(r.sources, again.sources) == 0));
}

static void check_array(const cb_recorded_array *a)
{
    int64_t idx[CUBED_MAX_NDIM] = {0}, past[CUBED_MAX_NDIM] = {0}, n = 1;
    require(a->place && a->ndim >= 0 && a->ndim <= CUBED_MAX_NDIM);
    for (int d = 0; d < a->ndim; d++) {
        require(a->shape[d] >= 0 && a->count[d] >= 0);
        past[d] = a->count[d];
        n *= a->count[d];
    }
    require(a->n == n);
    if (n > 0) require(cb_recorded_number(a, idx) == 0);
    if (a->ndim > 0) require(cb_recorded_number(a, past) == -1);
    for (int64_t i = 0; i < n; i++) {
        volatile uint8_t last = a->versions[i].hash[HASH - 1];
        (void)last;
    }
}

static void read_sources(cubed_store *store, cb_zone *zone)
{
    cb_sources_record r, again;
    cb_chunk_version hash, next;
    cubed_error err = CUBED_ERROR_INIT;
    bool found = false;
    require(cb_sources_record_read(store, "a", zone, &r, &found, &hash, &err) == CUBED_OK);
    if (!found) return;
    check_array(&r.result);
    for (int i = 0; i < r.nsources; i++) check_array(r.sources + i);
    require(cb_sources_record_write(store, "a", &r, &err) == CUBED_OK);
    require(cb_sources_record_read(store, "a", zone, &again, &found, &next, &err) == CUBED_OK);
    require(found && again.nsources == r.nsources && again.result.n == r.result.n);
    require(strcmp(again.goal, r.goal) == 0 && again.axes_size == r.axes_size);
    require(strcmp(again.states, r.states) == 0 && again.states_size == r.states_size);
    require(r.full_groups >= 0 && again.full_groups == r.full_groups);
}

/* A record of sources ends with a hash of the bytes before it, which mutations would never find. */
static void put_sources(cubed_store *store, const uint8_t *data, size_t size)
{
    XXH128_canonical_t c;
    uint8_t *bytes = malloc(size + HASH);
    require(bytes != NULL);
    memcpy(bytes, data, size);
    XXH128_canonicalFromHash(&c, XXH3_128bits(data, size));
    memcpy(bytes + size, c.digest, HASH);
    require(cb_store_put(store, "a/" CB_SOURCES_RECORD, bytes, size + HASH, NULL) == CUBED_OK);
    free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cubed_store *store;
    cb_zone *zone;
    if (size == 0) return 0;
    require(cb_store_open_memory(&cb_system_allocator, "memory://x", &store, NULL) == CUBED_OK);
    require(cb_zone_new(&cb_system_allocator, &zone, NULL) == CUBED_OK);
    if (data[0] % 2) {
        put_sources(store, data + 1, size - 1);
        read_sources(store, zone);
    } else if (!has_marker(data, size)) {
        require(cb_store_put(store, "a/" CB_RUN_RECORD, data + 1, size - 1, NULL) == CUBED_OK);
        read_run_record(store, zone);
    }
    cb_zone_free(zone);
    cb_store_close(store);
    return 0;
}
