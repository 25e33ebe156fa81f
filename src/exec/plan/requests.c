/* Requests to stores on other machines, and their cost. */
#include "exec/plan/requests.h"

#include <string.h>

#include "base/error.h"
#include "exec/plan/limits.h"
#include "exec/plan/load_need.h"
#include "store/services/remotes.h"

/* Requests in addition to those for chunks:
 *
 * - source: open it, and check that it is unchanged
 * - target: check that its place is free, claim it, write its metadata, and mark it complete
 * - group: as for a target; its members are listed if metadata are consolidated
 * - replaced array: list it, exchange it, and check it again */
enum {
    SOURCE_GETS = 8,
    SOURCE_LISTS = 1,
    TARGET_GETS = 14,
    TARGET_PUTS = 3,
    GROUP_GETS = 12,
    GROUP_PUTS = 3,
    REPLACE_PUTS = 10,
    REPLACE_LISTS = 6,
    PAGE = 1000,
    WORK_GETS = 4,
    WORK_PUTS = 3
};

static const struct {
    const char *scheme, *alias;
    cubed_store_price price;
} services[] = {{"s3", NULL, {0.40, 5.00, 0, 0}},   {"gs", "gcs", {0.40, 5.00, 0, 0}},
                {"az", "abfs", {0.40, 5.00, 0, 0}}, {"http", NULL, {0, 0, 0, 0}},
                {"https", NULL, {0, 0, 0, 0}},      {"redis", NULL, {0, 0, 0, 0}}};
enum { SERVICES = sizeof services / sizeof *services };

static bool has_scheme(const char *url, const char *scheme)
{
    const size_t n = scheme ? strlen(scheme) : 0;
    return n > 0 && strncmp(url, scheme, n) == 0 && strncmp(url + n, "://", 3) == 0;
}

/* Returns the index of the URL's service; -1 if the store is not on another machine. */
static int service_of(const char *url)
{
    for (int i = 0; url && i < SERVICES; i++) {
        if (has_scheme(url, services[i].scheme) || has_scheme(url, services[i].alias)) return i;
    }
    return -1;
}

static const char *url_of(const cubed_plan *p, int node)
{
    const cb_node *n = &p->ir.nodes[node];
    if (p->storage && p->storage[node]) return p->storage[node]->place.store;
    return n->url ? n->url : cb_node_is_intermediate(n) ? p->work_dir : NULL;
}

cubed_status cb_requests_open(cubed_plan *p, cubed_error *err)
{
    bool far = false;
    const size_t n = (size_t)p->ir.nnodes;
    p->reads = NULL;
    for (int i = 0; i < p->ir.nnodes; i++) far = far || service_of(url_of(p, i)) >= 0;
    if (!far) return CUBED_OK;
    const size_t each = 2 * sizeof(uint64_t) + sizeof(cb_upload_sizes);
    cb_reads *r = cb_zone_alloc(p->ir.zone, sizeof *r + n * each);
    if (!r) return cb_fail(err, CUBED_E_NOMEM, "no memory to plan");
    *r = (cb_reads){.chunks = (uint64_t *)(r + 1), .times = 1, .per = 1};
    memset(r->chunks, 0, n * each);
    r->bytes = r->chunks + n;
    r->uploads = (cb_upload_sizes *)(r->bytes + n);
    for (size_t i = 0; i < n; i++) {
        const char *url = url_of(p, (int)i);
        if (url && !cb_node_is_source(&p->ir.nodes[i]))
            CB_TRY(
                cb_store_get_upload_sizes(&p->ctx->stores, p->ir.zone, url, &r->uploads[i], err));
    }
    p->reads = r;
    return CUBED_OK;
}

size_t cb_requests_ahead_bytes(const cubed_plan *p, int node)
{
    const char *url = url_of(p, node);
    return url ? cb_store_request_bytes(&p->ctx->stores, url) : 0;
}

bool cb_node_goes_in_parts(const cubed_plan *p, int node)
{
    const uint64_t from = p->reads ? p->reads->uploads[node].from : 0;
    return from > 0 && cb_chunk_bytes(p, node) > from;
}

uint64_t cb_requests_bytes(const cubed_plan *p)
{
    uint64_t once = 0, each = 0;
    for (int i = 0; i < p->ir.nnodes; i++) {
        const char *url = url_of(p, i);
        const size_t request = url ? cb_store_request_bytes(&p->ctx->stores, url) : 0;
        if (request == 0) continue;
        const size_t puts = cb_node_goes_in_parts(p, i) ? CB_REMOTE_PARTS_AT_ONCE : 1;
        once = cb_max_size(once, cb_store_process_bytes(&p->ctx->stores, url));
        each = cb_max_size(each, (1 + puts) * request);
    }
    return once + each;
}

/* Returns true if intermediates are stored for other workers, or because they do not fit in memory. */
static bool stores_intermediates(const cubed_plan *p, bool apart)
{
    uint64_t bytes = 0;
    for (int i = 0; i < p->ir.nnodes; i++) {
        if (cb_node_is_intermediate(&p->ir.nodes[i]))
            bytes = cb_sat_add(bytes, cb_sat_mul((size_t)cb_grid_count(p->ir.nodes[i].grid),
                                                 cb_chunk_bytes(p, i)));
    }
    return bytes > 0 && (apart || bytes > p->intermediate_budget);
}

static uint64_t stored_bytes(const cb_node *n)
{
    uint64_t bytes = cubed_dtype_size(n->dtype);
    for (int d = 0; d < n->grid->ndim; d++)
        bytes = cb_sat_mul(bytes, (size_t)cb_axis_stored_all(&n->grid->axis[d]));
    return bytes;
}

/* Adds the reads of a node. A process that can cache all decoded chunks and shard indices reads each of them once. */
static void add_reads(const cubed_plan *p, int node, bool apart, cubed_store_traffic *t)
{
    const cb_node *n = &p->ir.nodes[node];
    const uint64_t all = (uint64_t)cb_grid_count(n->grid), bytes = p->reads->bytes[node];
    uint64_t chunks = p->reads->chunks[node];
    const bool kept = !apart && p->cache_bytes <= cb_plan_spare(p, true);
    if (chunks > all && kept && p->reused[node]) {
        t->bytes_read = cb_sat_add(t->bytes_read, stored_bytes(n));
        chunks = all;
    } else {
        t->bytes_read = cb_sat_add(t->bytes_read, bytes);
    }
    t->gets = cb_sat_add(t->gets, chunks);
    const cb_zarr_meta *m = p->storage && p->storage[node] ? &p->storage[node]->meta : NULL;
    if (!m || !cb_node_is_source(n) || cb_zarr_index_bytes(m) == 0) return;
    const cb_grid shards = cb_plan_object_grid(m);
    t->gets =
        cb_sat_add(t->gets, kept ? cb_min_size((size_t)cb_grid_count(&shards), chunks) : chunks);
}

/* Number of requests for one chunk. A large chunk is uploaded in parts, with one request to begin and one to complete the
 * upload. */
static uint64_t puts_of_chunk(const cubed_plan *p, int node)
{
    const uint64_t bytes = cb_chunk_bytes(p, node);
    if (!cb_node_goes_in_parts(p, node)) return 1;
    /* Encoded data may be slightly longer than decoded data. */
    return bytes / cb_remote_part_size(p->reads->uploads[node].part, bytes) + 4;
}

static void add_target(const cubed_plan *p, int node, cubed_store_traffic *t)
{
    const cb_node *n = &p->ir.nodes[node];
    const uint64_t chunks = (uint64_t)cb_grid_count(n->grid);
    t->gets += TARGET_GETS;
    t->puts =
        cb_sat_add(t->puts, cb_sat_add(cb_sat_mul(chunks, puts_of_chunk(p, node)), TARGET_PUTS));
    t->bytes_written = cb_sat_add(t->bytes_written, stored_bytes(n));
    const uint64_t merged = (uint64_t)cb_node_merged(p, node, false);
    t->gets = cb_sat_add(t->gets, merged);
    t->bytes_read = cb_sat_add(t->bytes_read, cb_sat_mul(merged, cb_chunk_bytes(p, node)));
    if (!n->overwrite || n->region) return;
    t->gets += TARGET_GETS;
    /* Pages of listings: of the old array, of the new array, and to check that objects are gone. */
    t->copies = cb_sat_add(t->copies, chunks + REPLACE_PUTS + REPLACE_LISTS * (chunks / PAGE));
}

static void add_node(const cubed_plan *p, int node, bool apart, cubed_store_traffic *t)
{
    const cb_node *n = &p->ir.nodes[node];
    if (n->is_target) {
        add_target(p, node, t);
    } else if (cb_node_is_source(n)) {
        t->gets += SOURCE_GETS;
        t->puts += SOURCE_LISTS;
    } else {
        t->puts = cb_sat_add(t->puts,
                             cb_sat_mul((uint64_t)cb_grid_count(n->grid), puts_of_chunk(p, node)));
        t->bytes_written = cb_sat_add(t->bytes_written, stored_bytes(n));
    }
    if (p->reads->chunks[node] > 0) add_reads(p, node, apart, t);
}

void cubed_plan_get_traffic(const cubed_plan *p, bool apart, cubed_store_traffic *list, int cap,
                            int *n)
{
    cubed_store_traffic of[SERVICES];
    memset(of, 0, sizeof of);
    const bool spills = stores_intermediates(p, apart);
    for (int i = 0; p->reads && i < p->ir.nnodes; i++) {
        const cb_node *x = &p->ir.nodes[i];
        const int service = service_of(url_of(p, i));
        if (service < 0 || (cb_node_is_intermediate(x) && !spills)) continue;
        add_node(p, i, apart, &of[service]);
        of[service].scheme = services[service].scheme;
    }
    for (int i = 0; i < p->ngroups; i++) {
        const int service = service_of(p->groups[i].url);
        if (service < 0) continue;
        of[service].scheme = services[service].scheme;
        of[service].gets += GROUP_GETS;
        of[service].puts += GROUP_PUTS;
    }
    const int work = service_of(p->work_dir);
    if (work >= 0 && (spills || apart)) {
        of[work].scheme = services[work].scheme;
        of[work].gets += WORK_GETS;
        of[work].puts += WORK_PUTS;
    }
    *n = 0;
    for (int i = 0; i < SERVICES; i++) {
        if (!of[i].scheme) continue;
        if (*n < cap) list[*n] = of[i];
        ++*n;
    }
}

bool cubed_store_list_price(const char *scheme, cubed_store_price *price)
{
    memset(price, 0, sizeof *price);
    for (int i = 0; i < SERVICES; i++) {
        if (strcmp(services[i].scheme, scheme) != 0) continue;
        *price = services[i].price;
        return true;
    }
    return false;
}

double cubed_traffic_cost(const cubed_store_traffic *t, const cubed_store_price *price)
{
    return ((double)t->gets * price->get + ((double)t->puts + (double)t->copies) * price->put) /
               1e6 +
           ((double)t->bytes_read * price->read + (double)t->bytes_written * price->written) / 1e9;
}
