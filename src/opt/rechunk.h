/* Plans the copy of an array from one chunk grid to another in bounded memory.
 *
 * A pass copies an array from one grid to another by tasks (rechunk_tile.h). If memory is short, its tasks decode the same source
 * chunks repeatedly. Then it may be faster to write and read an intermediate array, with a grid between the two. With an
 * intermediate, the data is copied 2 times. A single pass that reads the data `a` times costs as much as (1 + a) / 2 copies. The
 * time of a plan is predicted:
 *
 *   seconds = bytes / bandwidth + requests * latency
 *
 * More memory must never increase bytes or requests. So the planner searches with increasing sizes of memory, up to the available
 * memory. These sizes (rungs of a ladder) depend only on the grids:
 *
 * - Lowest rung: a task can just hold a source chunk and a target chunk. The planner chooses the fastest plan.
 * - Each further rung: the planner considers plans that fit and have neither more bytes nor more requests than the current plan.
 *   If there are such plans, the fastest becomes the current plan.
 * - Smaller rungs in between: the planner considers only the current plan with larger tasks, and a single pass.
 *
 * With more memory, the same search only continues further.
 *
 * A plan of many passes with few requests could exclude all later plans. Therefore, plans of three or more passes have at least
 * as many requests as two passes with pieces of CB_RECHUNK_BETA / 2.
 *
 * One intermediate is sufficient if N <= mem^2 / beta, where N is the size of the array in bytes, and beta is the smallest piece
 * for which a request is worthwhile (Aggarwal and Vitter, "The input/output complexity of sorting and related problems", CACM
 * 1988). Then every byte is read twice and written twice.
 *
 * A run keeps metadata that grows with the number of chunks of intermediates. It counts as memory of the plan.
 *
 * If the first pass computes something, or reads parts of chunks or irregular chunks, the formulas here are only estimates. Then
 * the planner calls `judge` to get the projected costs of plans, so that more memory does not increase these costs either.
 *
 * A pure function, except for the judge: no allocation, no state, and no loop over chunks. */
#ifndef CB_OPT_RECHUNK_H
#define CB_OPT_RECHUNK_H

#include "cubed/plan.h"
#include "opt/rechunk_tile.h"

/* Maximum number of passes of a plan. Each pass except the last writes an intermediate array. */
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
    bool copies; /* the first pass only copies a single array, which it reads through a map */
    size_t item_size;
    size_t mem;    /* maximum bytes of one task and the run's metadata together */
    unsigned coop; /* number of workers that may share a task: see cb_tile_in */
    /* Memory in bytes in addition to decoded chunks: to read a source chunk, to write a target chunk, to read or write a chunk
     * of an intermediate, and a constant for every task. */
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

/* One pass and its cost. Bytes are bytes of decoded chunks. Chunks at the end of an axis count as whole chunks, except those of
 * intermediates, which are clipped. */
typedef struct cb_rechunk_pass {
    cb_grid target;
    int64_t task_chunks[CUBED_MAX_NDIM]; /* number of target chunks that a task produces, by axis */
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

/* Creates a plan. CUBED_E_ARG if grids are malformed or have different shapes. CUBED_E_BUDGET, with the memory needed, if a
 * task cannot hold a source chunk and a target chunk. CUBED_E_NOMEM. */
CUBED_MUST_CHECK cubed_status cb_rechunk_plan_make(const cb_rechunk_in *in, cb_rechunk_plan *out,
                                                   cubed_error *err);

#endif
