/* Counts requests to stores on other machines, and their cost. */
#include "exec/plan/requests.h"

#include <string.h>

#include "base/error.h"
#include "exec/plan/limits.h"
#include "exec/plan/load_need.h"
#include "store/services/remotes.h"

/* Requests other than reads and writes of chunks. tests/python/planning/test_requests.py counts them.
 *
 * - source: opened for the array and for the plan, and checked at the end of the run; metadata of a file are read in pages
 * - store of a target: checked for other arrays when the plan is made
 * - target: its place is checked before and after the claim; claim, commit, metadata, end
 * - replaced array: instead of these checks, the array is found, listed and deleted, and the new array is listed and copied
 * - group: checked with each of its members; members are read again if metadata are consolidated
 * - work folder: claimed, checked at the end, listed and deleted
 * - worker without shared memory: opens sources, and reads the records of targets */
enum {
    SOURCE_GETS = 2,
    SOURCE_HEADS = 1,
    FILE_GETS = 8,
    EARLY_GETS = 1,
    EARLY_HEADS = 2,
    TARGET_GETS = 3,
    TARGET_HEADS = 5,
    TARGET_PUTS = 4,
    REPLACE_GETS = 2,
    REPLACE_HEADS = 3,
    REPLACE_PUTS = 6,
    REPLACE_LISTS = 5,
    REPLACE_DELETES = 2,
    GROUP_GETS = 2,
    GROUP_HEADS = 2,
    GROUP_LISTS = 2,
    GROUP_PUTS = 3,
    MEMBER_GETS = 5,
    MEMBER_HEADS = 2,
    WORK_GETS = 1,
    WORK_HEADS = 2,
    WORK_PUTS = 1,
    PAGE = 1000,
    /* maximum number of targets for which the planner checks whether an array exists at their place */
    PROBED = 16
};

/* Prices and limits of services, as their documentation states them. S3: requests per second and prefix ("Best practices design
 * patterns: optimizing Amazon S3 performance"). Google: requests per second of a bucket until it scales ("Request rate and access
 * distribution guidelines"). Azure: requests per second of an account ("Scalability targets for standard storage accounts"). */
static const struct {
    const char *scheme, *alias;
    cubed_store_price price;
    double get_limit, put_limit;
    uint64_t deleted; /* maximum number of objects that one request deletes */
} services[] = {{"s3", NULL, {0.40, 5.00, 0, 0}, 5500, 3500, 1000},
                {"gs", "gcs", {0.40, 5.00, 0, 0}, 5000, 1000, 1},
                {"az", "abfs", {0.40, 5.00, 0, 0}, 20000, 20000, 1},
                {"http", NULL, {0, 0, 0, 0}, 0, 0, 1},
                {"https", NULL, {0, 0, 0, 0}, 0, 0, 1},
                {"redis", NULL, {0, 0, 0, 0}, 0, 0, 1000}};
enum { SERVICES = CB_SERVICES };
_Static_assert(sizeof services / sizeof *services == SERVICES, "a row for each service");

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
    if (!r) return cb_fail(err, CUBED_E_NOMEM, "no memory for the plan");
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

bool cb_plan_spills(const cubed_plan *p, bool apart)
{
    uint64_t bytes = 0;
    for (int i = 0; i < p->ir.nnodes; i++) {
        if (cb_node_is_intermediate(&p->ir.nodes[i]))
            bytes = cb_sat_add(bytes, cb_sat_mul((size_t)cb_grid_count(p->ir.nodes[i].grid),
                                                 cb_chunk_bytes(p, i)));
    }
    return bytes > 0 && (apart || bytes > p->intermediate_budget);
}

int cb_plan_service(const cubed_plan *p, int node, bool spills)
{
    const bool in_memory = cb_node_is_intermediate(&p->ir.nodes[node]) && !spills;
    return in_memory ? -1 : service_of(url_of(p, node));
}

static uint64_t stored_bytes(const cb_node *n)
{
    uint64_t bytes = cubed_dtype_size(n->dtype);
    for (int d = 0; d < n->grid->ndim; d++)
        bytes = cb_sat_mul(bytes, (size_t)cb_axis_stored_all(&n->grid->axis[d]));
    return bytes;
}

static uint64_t pages_of(uint64_t objects) { return (objects + PAGE - 1) / PAGE; }

/* Adds the requests that read a node. A process that can cache all decoded chunks and shard indices reads each of them once. */
static void add_reads(const cubed_plan *p, int node, bool apart, cubed_store_traffic *t)
{
    const cb_node *n = &p->ir.nodes[node];
    const uint64_t all = (uint64_t)cb_grid_count(n->grid), bytes = p->reads->bytes[node];
    uint64_t chunks = p->reads->chunks[node];
    const bool kept = !apart && p->cache_bytes <= cb_plan_spare(p, true);
    const bool again = chunks > all && p->reused[node];
    if (again && kept) {
        t->bytes_read = cb_sat_add(t->bytes_read, stored_bytes(n));
        chunks = all;
    } else {
        t->bytes_read = cb_sat_add(t->bytes_read, bytes);
    }
    t->gets = cb_sat_add(t->gets, chunks);
    if (again && !kept) t->saved = cb_sat_add(t->saved, chunks - all);
    const cb_zarr_meta *m = p->storage && p->storage[node] ? &p->storage[node]->meta : NULL;
    if (!m || !cb_node_is_source(n) || cb_zarr_index_bytes(m) == 0) return;
    const cb_grid shards = cb_plan_object_grid(m);
    const uint64_t objects = cb_min_size((size_t)cb_grid_count(&shards), chunks);
    t->gets = cb_sat_add(t->gets, kept ? objects : chunks);
    t->saved = cb_sat_add(t->saved, (kept ? chunks : 2 * cb_min_size(chunks, all)) -
                                        (kept ? objects : 2 * objects));
}

/* Returns the number of requests for one chunk. A large chunk is uploaded in parts, with one request to begin and one to complete
 * the upload. */
static uint64_t puts_of_chunk(const cubed_plan *p, int node)
{
    const uint64_t bytes = cb_chunk_bytes(p, node);
    if (!cb_node_goes_in_parts(p, node)) return 1;
    /* Encoded data may be slightly longer than decoded data. */
    return bytes / cb_remote_part_size(p->reads->uploads[node].part, bytes) + 4;
}

/* Returns true if the run replaces an existing array, or if it is not known whether an array exists. */
static bool replaces(const cubed_plan *p, int node, int *probes)
{
    const cb_node *n = &p->ir.nodes[node];
    const cb_place *place = p->storage[node] ? &p->storage[node]->place : NULL;
    cubed_store *store;
    cb_zarr_kind kind = CB_ZARR_ARRAY;
    int format;
    if (!n->overwrite || n->region) return false;
    if (!place || (*probes)++ >= PROBED) return true;
    if (cb_store_open(&p->ctx->stores, place->store, false, &store, NULL) != CUBED_OK) return true;
    const cubed_status st = cb_zarr_probe(store, place->path, &kind, &format, NULL);
    cb_store_close(store);
    return st != CUBED_OK || kind != CB_ZARR_NOTHING;
}

static void add_replaced(uint64_t chunks, uint64_t deleted, cubed_store_traffic *t)
{
    const uint64_t pages = pages_of(cb_sat_add(chunks, 2));
    t->gets += REPLACE_GETS;
    t->heads = cb_sat_add(t->heads, REPLACE_HEADS + pages);
    t->puts = cb_sat_add(t->puts, REPLACE_PUTS);
    t->lists = cb_sat_add(t->lists, cb_sat_add(1, cb_sat_mul(REPLACE_LISTS, pages)));
    t->copies = cb_sat_add(t->copies, cb_sat_add(chunks, 1));
    t->deletes = cb_sat_add(t->deletes, cb_sat_add(REPLACE_DELETES, 2 * (chunks / deleted + 1)));
}

static void add_target(const cubed_plan *p, int node, bool replaced, uint64_t deleted,
                       cubed_store_traffic *t)
{
    const cb_node *n = &p->ir.nodes[node];
    const uint64_t chunks = (uint64_t)cb_grid_count(n->grid);
    t->puts = cb_sat_add(t->puts, cb_sat_mul(chunks, puts_of_chunk(p, node)));
    t->bytes_written = cb_sat_add(t->bytes_written, stored_bytes(n));
    const uint64_t merged = (uint64_t)cb_node_merged(p, node, false);
    t->gets = cb_sat_add(t->gets, merged);
    t->bytes_read = cb_sat_add(t->bytes_read, cb_sat_mul(merged, cb_chunk_bytes(p, node)));
    if (replaced) {
        add_replaced(chunks, deleted, t);
        return;
    }
    t->gets += TARGET_GETS;
    t->heads += TARGET_HEADS;
    t->puts = cb_sat_add(t->puts, TARGET_PUTS);
}

/* Returns true if an earlier target is in the same store. The place of a store is checked once. */
static bool is_in_known_store(const cubed_plan *p, int node)
{
    const char *store = p->storage[node] ? p->storage[node]->place.store : NULL;
    for (int i = 0; store && i < node; i++) {
        if (p->ir.nodes[i].is_target && p->storage[i] &&
            strcmp(p->storage[i]->place.store, store) == 0)
            return true;
    }
    return false;
}

static void add_source(const cubed_plan *p, int node, cubed_store_traffic *t)
{
    const cb_storage *s = p->storage[node];
    const bool is_file = !s || !s->store || service_of(s->store->url) < 0;
    t->gets += is_file ? FILE_GETS : SOURCE_GETS;
    t->heads += SOURCE_HEADS;
}

static void add_intermediate(const cubed_plan *p, int node, uint64_t deleted,
                             cubed_store_traffic *t)
{
    const uint64_t chunks = (uint64_t)cb_grid_count(p->ir.nodes[node].grid);
    t->puts = cb_sat_add(t->puts, cb_sat_mul(chunks, puts_of_chunk(p, node)));
    t->bytes_written = cb_sat_add(t->bytes_written, stored_bytes(&p->ir.nodes[node]));
    t->deletes = cb_sat_add(t->deletes, (chunks + deleted - 1) / deleted);
}

/* Adds the requests by which each worker opens sources and targets. */
static void add_opening(const cubed_plan *p, int node, cubed_store_traffic *t)
{
    const cb_node *n = &p->ir.nodes[node];
    if (n->is_target || cb_node_is_source(n)) t->gets = cb_sat_add(t->gets, p->max_workers);
}

static void add_node(const cubed_plan *p, int node, bool apart, int *probes, uint64_t deleted,
                     cubed_store_traffic *t)
{
    const cb_node *n = &p->ir.nodes[node];
    if (n->is_target) {
        const bool replaced = replaces(p, node, probes);
        add_target(p, node, replaced, deleted, t);
        if (!replaced && !is_in_known_store(p, node)) {
            t->gets += EARLY_GETS;
            t->heads += EARLY_HEADS;
        }
    } else if (cb_node_is_source(n)) {
        add_source(p, node, t);
    } else {
        add_intermediate(p, node, deleted, t);
    }
    if (apart) add_opening(p, node, t);
    if (p->reads->chunks[node] > 0) add_reads(p, node, apart, t);
}

static void add_group(const cubed_plan *p, const cb_plan_group *g, cubed_store_traffic *t)
{
    const size_t length = strlen(g->url);
    uint64_t members = 0;
    for (int i = 0; i < p->ntargets; i++) {
        const char *url = p->ir.nodes[p->targets[i]].url;
        members += url && strncmp(url, g->url, length) == 0;
    }
    t->gets = cb_sat_add(t->gets, GROUP_GETS + MEMBER_GETS * members);
    t->heads = cb_sat_add(t->heads, GROUP_HEADS + MEMBER_HEADS * members);
    t->lists += GROUP_LISTS;
    t->puts = cb_sat_add(t->puts, GROUP_PUTS);
}

void cb_plan_count_requests(const cubed_plan *p, bool apart, cubed_store_traffic *of)
{
    int probes = 0;
    memset(of, 0, SERVICES * sizeof *of);
    const bool spills = cb_plan_spills(p, apart);
    for (int i = 0; p->reads && i < p->ir.nnodes; i++) {
        const int service = cb_plan_service(p, i, spills);
        if (service < 0) continue;
        add_node(p, i, apart, &probes, services[service].deleted, &of[service]);
        of[service].scheme = services[service].scheme;
    }
    for (int i = 0; i < p->ngroups; i++) {
        const int service = service_of(p->groups[i].url);
        if (service < 0) continue;
        of[service].scheme = services[service].scheme;
        add_group(p, &p->groups[i], &of[service]);
    }
    const int work = service_of(p->work_dir);
    if (work >= 0 && (spills || apart)) {
        of[work].scheme = services[work].scheme;
        of[work].gets += WORK_GETS;
        of[work].heads += WORK_HEADS;
        of[work].puts += WORK_PUTS;
        of[work].lists++;
        of[work].deletes++;
    }
    for (int i = 0; i < SERVICES; i++) {
        of[i].get_limit = services[i].get_limit;
        of[i].put_limit = services[i].put_limit;
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
    const double reads = (double)t->gets + (double)t->heads;
    const double writes = (double)t->puts + (double)t->lists + (double)t->copies;
    return (reads * price->get + writes * price->put) / 1e6 +
           ((double)t->bytes_read * price->read + (double)t->bytes_written * price->written) / 1e9;
}
