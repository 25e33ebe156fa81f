/* Plans how an array goes from one chunk grid to another in bounded memory.
 *
 * One pass copies from grid to grid by tasks (rechunk_tile.h). Where memory is short its tasks
 * decode the same source chunks again and again, and it is faster to write an intermediate array
 * with a grid between the two, then read that: 2 copies of the data instead of (1 + a) / 2 for
 * a-reduction reading. What is fast is predicted:
 *
 *   seconds = bytes / bandwidth + requests * latency
 *
 * More memory never makes a plan worse, in bytes or in requests. The planner walks up a ladder of memories, whose
 * steps follow from the grids alone, to the memory that it may use. At the foot, where a task just holds a source
 * chunk and a target chunk, it takes the plan that is fastest. At each step it takes the fastest of those that fit
 * and have neither more bytes nor more requests than the plan it stands on, if there is one; on small steps in between
 * only of that plan with larger tasks, and of a single pass. Who may use more walks the same way, and on.
 *
 * So that such a walk is not held up by a plan of many passes with few requests, plans of three passes and more have
 * at least as many requests as two passes with pieces of CB_RECHUNK_BETA / 2.
 *
 * One intermediate does whenever N <= mem^2 / beta, N being the bytes of the array and beta the
 * smallest piece worth a request (Aggarwal and Vitter, "The input/output complexity of sorting and
 * related problems", CACM 1988); then every byte is read twice and written twice, and no more.
 *
 * What a run keeps beside tasks grows with the chunks of intermediates, and counts as memory of a plan.
 *
 * What the first pass computes, or reads in parts or in chunks of their own lengths, the formulas here only guess. Then
 * somebody is asked who knows (`judge`): the walk compares what plans will be projected to cost, so that more memory
 * does not make that worse.
 *
 * A pure function, but for the judge: no allocation, no state, and no loop over chunks. */
#ifndef CB_OPT_RECHUNK_H
#define CB_OPT_RECHUNK_H

#include "cubed/plan.h"
#include "opt/rechunk_tile.h"

/* Three intermediates. */
#define CB_RECHUNK_MAX_PASSES 4

/* Bytes that a run keeps: for each chunk of an intermediate, each pass, and for all else; `unreserved` of the sum are
 * not counted. See exec/plan/metadata.c. */
typedef struct cb_rechunk_run {
    size_t chunk, pass;
    uint64_t others, unreserved;
} cb_rechunk_run;

struct cb_rechunk_plan;

/* What a plan will be projected to cost. */
typedef struct cb_rechunk_cost {
    uint64_t bytes, requests; /* read and written */
    size_t task_mem;          /* SIZE_MAX: it cannot be made */
} cb_rechunk_cost;

typedef struct cb_rechunk_in {
    /* Of the same shape; first chunks may be short. */
    cb_grid source, target;
    /* What the first pass reads to compute what it writes. NULL: it copies from the source. */
    const cb_tile_source *sources;
    int nsources;
    bool copies; /* the only one of these, seen through a map */
    size_t item_size;
    size_t mem;    /* bytes that one task may use, and what a run keeps */
    unsigned coop; /* workers that may share one: see cb_tile_in */
    /* Bytes that reading a source chunk, writing a target chunk, and either with a chunk of an
     * intermediate take beside the decoded chunk; and what every task uses. */
    size_t read_extra, write_extra, middle_extra, fixed;
    size_t part_run, part_extra; /* of the source: see cb_tile_source */
    bool part_whole;
    cb_rechunk_run run;
    /* NULL: the formulas are exact. Else no plan reads less than `least_bytes` and `least_requests`. */
    void (*judge)(void *ctx, const struct cb_rechunk_plan *plan, cb_rechunk_cost *cost);
    void *judge_ctx;
    uint64_t least_bytes, least_requests;
    /* 0: the constants below. */
    double bandwidth; /* bytes read or written per second, by all workers together */
    double latency;   /* seconds that a request adds, divided by those under way at a time */
    int max_passes;
    int64_t min_tasks; /* see cb_tile_in */
    size_t worth;
    const cubed_allocator *alloc; /* of what the search remembers; NULL: the C library's */
} cb_rechunk_in;

#define CB_RECHUNK_BETA      ((size_t)1 << 20)
#define CB_RECHUNK_BANDWIDTH CUBED_ASSUMED_BANDWIDTH
/* Requests of CB_RECHUNK_BETA bytes spend a tenth of the time that their bytes take. */
#define CB_RECHUNK_LATENCY CUBED_ASSUMED_LATENCY

/* Bytes are of decoded chunks as they are stored: whole ones, but for the last ones of intermediates. */
typedef struct cb_rechunk_pass {
    cb_grid target;
    int64_t task_chunks[CUBED_MAX_NDIM]; /* chunks of the target that a task makes */
    int64_t ntasks;
    unsigned coop;
    uint64_t bytes_read, bytes_written, requests_read, requests_written;
    size_t task_mem; /* of each worker */
} cb_rechunk_pass;

typedef struct cb_rechunk_plan {
    int npasses;
    cb_rechunk_pass pass[CB_RECHUNK_MAX_PASSES]; /* each reads what the one before it wrote */
    uint64_t bytes_read, bytes_written, requests;
    double seconds;
    size_t need; /* of the memory */
} cb_rechunk_plan;

/* CUBED_E_ARG for grids of different shapes or malformed ones. CUBED_E_BUDGET, with the memory that
 * would do, if a task cannot hold a source chunk and a target chunk. CUBED_E_NOMEM. */
CUBED_MUST_CHECK cubed_status cb_rechunk_plan_make(const cb_rechunk_in *in, cb_rechunk_plan *out,
                                                   cubed_error *err);

#endif
