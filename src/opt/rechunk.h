/* Plans the copy of an array from one chunk grid to another in bounded memory.
 *
 * One pass copies from grid to grid by tasks (rechunk_tile.h). If memory is short, its tasks decode the same source chunks
 * repeatedly. Then it is faster to write and read an intermediate array with a grid between the two: 2 copies of the data
 * instead of (1 + a) / 2, where a is how often a pass reads the data. Speed is predicted:
 *
 *   seconds = bytes / bandwidth + requests * latency
 *
 * More memory never increases bytes or requests. The planner climbs a ladder of memory sizes, whose rungs depend only on
 * the grids, up to the available memory. On the lowest rung, where a task can just hold a source chunk and a target chunk,
 * it chooses the fastest plan. On each further rung it looks for plans that fit and have neither more bytes nor more requests
 * than the current plan. If there are any, it switches to the fastest. On smaller rungs in between it considers only the current
 * plan with larger tasks, and a single pass. With more memory the same climb continues further.
 *
 * A plan of many passes with few requests could block such a climb. Therefore plans of three or more passes have at least as many
 * requests as two passes with pieces of CB_RECHUNK_BETA / 2.
 *
 * One intermediate is sufficient if N <= mem^2 / beta, where N is the size of the array and beta the smallest piece worth a
 * request (Aggarwal and Vitter, "The input/output complexity of sorting and related problems", CACM 1988); then every byte
 * is read twice and written twice.
 *
 * Memory that a run keeps in addition to tasks grows with the chunks of intermediates, and counts as memory of a plan.
 *
 * If the first pass computes something, or reads parts of chunks or irregular chunks, the formulas here are only estimates.
 * Then the planner calls `judge` to compare the projected costs of plans, so that more memory does not increase those
 * costs either.
 *
 * A pure function, except for the judge: no allocation, no state, and no loop over chunks. */
#ifndef CB_OPT_RECHUNK_H
#define CB_OPT_RECHUNK_H

#include "cubed/plan.h"
#include "opt/rechunk_tile.h"

/* Maximum number of passes; it allows for three intermediates. */
#define CB_RECHUNK_MAX_PASSES 4

/* Bytes of metadata that a run keeps: per chunk of an intermediate, per pass, and for everything else. The first
 * `unreserved` bytes of the total are not counted. See exec/plan/metadata.c. */
typedef struct cb_rechunk_run {
    size_t chunk, pass;
    uint64_t others, unreserved;
} cb_rechunk_run;

struct cb_rechunk_plan;

/* Projected cost of a plan. */
typedef struct cb_rechunk_cost {
    uint64_t bytes, requests; /* sum of reading and writing */
    size_t task_mem;          /* SIZE_MAX: the plan is not possible */
} cb_rechunk_cost;

typedef struct cb_rechunk_in {
    /* Grids of the source and the target, which have the same shape. First chunks may be short. */
    cb_grid source, target;
    /* Arrays from which the first pass computes its output. NULL: the first pass copies the source. */
    const cb_tile_source *sources;
    int nsources;
    bool copies; /* the first pass copies its only array, which it reads through a map */
    size_t item_size;
    size_t mem;    /* maximum bytes of one task and the run's metadata together */
    unsigned coop; /* number of workers that may share a task: see cb_tile_in */
    /* Additional bytes to read a source chunk, to write a target chunk, and to read or write a chunk of an intermediate;
     * and a constant for every task. */
    size_t read_extra, write_extra, middle_extra, fixed;
    size_t part_run, part_extra; /* properties of the source: see cb_tile_source */
    bool part_whole;
    cb_rechunk_run run;
    /* Gets the projected cost of a plan. NULL: the formulas are exact. Otherwise no plan reads less than `least_bytes` with
     * less than `least_requests` requests. */
    void (*judge)(void *ctx, const struct cb_rechunk_plan *plan, cb_rechunk_cost *cost);
    void *judge_ctx;
    uint64_t least_bytes, least_requests;
    /* A value of 0 in `bandwidth`, `latency` or `max_passes` selects the constants below. */
    double bandwidth; /* bytes read or written per second by all workers together */
    /* seconds that a request adds, divided by the number of simultaneous requests */
    double latency;
    int max_passes;
    int64_t min_tasks; /* see cb_tile_in */
    size_t worth;
    const cubed_allocator
        *alloc; /* allocates the data of the search; NULL: the C library's allocator */
} cb_rechunk_in;

#define CB_RECHUNK_BETA      ((size_t)1 << 20)
#define CB_RECHUNK_BANDWIDTH CUBED_ASSUMED_BANDWIDTH
/* Seconds of latency of a request: a tenth of the time for transferring CB_RECHUNK_BETA bytes. */
#define CB_RECHUNK_LATENCY CUBED_ASSUMED_LATENCY

/* One pass and its cost. Bytes are bytes of decoded chunks. All chunks count as whole chunks, except the clipped last chunks of
 * intermediates. */
typedef struct cb_rechunk_pass {
    cb_grid target;
    int64_t task_chunks[CUBED_MAX_NDIM]; /* number of target chunks that a task makes, by axis */
    int64_t ntasks;
    unsigned coop;
    uint64_t bytes_read, bytes_written, requests_read, requests_written;
    size_t task_mem; /* per worker */
} cb_rechunk_pass;

typedef struct cb_rechunk_plan {
    int npasses;
    /* each pass reads the output of the previous one */
    cb_rechunk_pass pass[CB_RECHUNK_MAX_PASSES];
    uint64_t bytes_read, bytes_written, requests;
    double seconds;
    size_t need; /* memory that the plan needs */
} cb_rechunk_plan;

/* Makes a plan. CUBED_E_ARG if grids are malformed or have different shapes. CUBED_E_BUDGET, with the memory needed, if a
 * task cannot hold a source chunk and a target chunk. CUBED_E_NOMEM. */
CUBED_MUST_CHECK cubed_status cb_rechunk_plan_make(const cb_rechunk_in *in, cb_rechunk_plan *out,
                                                   cubed_error *err);

#endif
