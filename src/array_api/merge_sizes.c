/* Chooses the sizes of parts and runs for merges.
 *
 * One task produces a part of the result. It sorts more elements than the part has: at most 2 (fan + 1) step more, which is less
 * than a quarter of a part (step: the distance of samples in a run). One task finds the ranges of all parts of the merged runs
 * from samples of these runs. So, if a task holds M elements, about sqrt(M) runs of M elements are merged at a time. One pass
 * sorts M^1.5 elements. */
#include "array_api/merge_sizes.h"

#include "block/sort_line.h"

/* Maximum number of runs that one pass merges into one. A task reads a range of each run. */
#define MOST_RUNS 512
/* Minimum average length of a range, in bytes. Ranges may be shorter if otherwise fewer than FEW_RUNS runs would be merged. */
#define RANGE_BYTES 1024
#define FEW_RUNS    64
/* A chunk of the result, or of int64 positions, uses at most 1 / CHUNKS_OF_TASK of a task's memory. So tasks of other operations
 * can hold several such chunks. */
#define CHUNKS_OF_TASK 8
/* Bytes of a sample during sorting: the sample, its key, its position and its run. */
#define SAMPLE_BYTES(item) (2 * (item) + 24)

uint64_t cb_merge_memory(uint64_t task_mem)
{
    const uint64_t fixed = 8192, given = task_mem ? task_mem : 4 * (uint64_t)CB_API_BLOCK_BYTES;
    const uint64_t most = given / 16 * 15;
    return most > 2 * fixed ? most - fixed : most / 2;
}

/* Returns the scratch memory of a sort in bytes per element, without source and destination. */
static size_t sort_bytes(const cubed_array *x, bool positions)
{
    const cubed_dtype dtype = x->node.dtype;
    bool places = positions || cb_sort_needs_positions(dtype);
    return 2 * cb_order_key_size(dtype) + (places ? 2 * sizeof(uint32_t) : 0);
}

static size_t item_bytes(const cubed_array *x, bool positions)
{
    return cubed_dtype_size(x->node.dtype) + (positions ? sizeof(int64_t) : 0);
}

/* Returns the bytes of one decoded and one encoded chunk of x. */
static size_t chunk_bytes(const cubed_array *x)
{
    size_t bytes = 2 * cubed_dtype_size(x->node.dtype);
    for (int d = 0; d < x->node.grid->ndim; d++) bytes = cb_sat_mul(bytes, (size_t)x->chunks[d]);
    return bytes;
}

size_t cb_merge_block_bytes(const cubed_array *x, int64_t n, bool positions)
{
    size_t size = cubed_dtype_size(x->node.dtype);
    size_t each = size + sort_bytes(x, positions) + (positions ? sizeof(int64_t) : size);
    return cb_sat_add(cb_sat_mul((size_t)n, each), chunk_bytes(x));
}

int64_t cb_merge_part(const cb_merge_line *l)
{
    const cubed_array *x = l->x;
    const size_t size = cubed_dtype_size(x->node.dtype), item = item_bytes(x, l->positions);
    const size_t chunks = chunk_bytes(x), sort = sort_bytes(x, l->positions);
    const int64_t extent = cb_max_i64(1, x->shape[l->axis]), chunk = x->chunks[l->axis];
    /* A part must fit in a merge task and in a task that sorts a block of x. A merge task sorts up to a quarter more elements
     * than a part. */
    int64_t most = (int64_t)(l->memory / (item + (item + sort) * 5 / 4 + 1));
    size_t left = l->memory > 2 * chunks ? l->memory - chunks : l->memory / 2;
    most = cb_min_i64(most, (int64_t)(left / (size + sort + item)));
    most = cb_min_i64(most, (int64_t)(l->memory / CHUNKS_OF_TASK / cb_max_size(size, 8)));
    most = cb_min_i64(cb_max_i64(1, most), CB_API_BLOCK_BYTES / (int64_t)size);
    if (most >= 2 * chunk) most = most / chunk * chunk;
    int64_t even = cb_ceil_div(extent, cb_ceil_div(extent, most));
    return even + chunk <= most ? cb_ceil_div(even, chunk) * chunk : even;
}

static int64_t square_root(int64_t x)
{
    int64_t r = 0;
    for (int64_t bit = (int64_t)1 << 30; bit > 0; bit /= 2) {
        if ((r + bit) * (r + bit) <= x) r += bit;
    }
    return r;
}

/* Returns the maximum number of runs that one pass can merge into one. */
static int64_t most_fan(const cb_merge_line *l, int64_t part, int64_t run)
{
    const int64_t size = (int64_t)cubed_dtype_size(l->x->node.dtype), parts = run / part;
    const int64_t memory = (int64_t)cb_min_size(l->memory, INT64_MAX / 4);
    int64_t fan = cb_min_i64(MOST_RUNS, cb_max_i64(FEW_RUNS, part * size / RANGE_BYTES));
    /* The ranges of all parts may use a quarter of the memory, and the samples (one per range) may use half of it. */
    fan = cb_min_i64(fan, square_root(memory / 4 / (2 * (int64_t)sizeof(int64_t)) / parts));
    fan = cb_min_i64(fan, memory / 2 / SAMPLE_BYTES(size) / parts);
    return cb_max_i64(2, cb_min_i64(fan, part / 24 - 1));
}

/* Returns the smallest number of runs to merge at a time for which the number of passes is still minimal. */
static int64_t choose_fan(int64_t most, int64_t runs)
{
    int passes = 0;
    for (int64_t left = runs; left > 1; left = cb_ceil_div(left, most)) passes++;
    for (int64_t fan = 2; fan < most; fan++) {
        int64_t left = runs;
        for (int k = 0; k < passes; k++) left = cb_ceil_div(left, fan);
        if (left <= 1) return fan;
    }
    return most;
}

bool cb_merge_plan(const cb_merge_line *l, int64_t part, int64_t run, cb_merge_pass *out)
{
    const int64_t extent = l->x->shape[l->axis];
    if (run >= extent) return false;
    *out = (cb_merge_pass){.run = run};
    out->fan = choose_fan(most_fan(l, part, run), cb_ceil_div(extent, run));
    const int64_t size = (int64_t)cubed_dtype_size(l->x->node.dtype);
    const int64_t parts = cb_min_i64(run / part * out->fan, cb_ceil_div(extent, part));
    const int64_t most = (int64_t)cb_min_size(l->memory, INT64_MAX) / 2 / SAMPLE_BYTES(size);
    const int64_t ratio = part / (8 * (out->fan + 1));
    int64_t step = cb_max_i64(1, ratio - 1);
    for (;;) {
        out->step[out->nsteps++] = step;
        if (parts * cb_ceil_div(part, step) <= most || step >= part ||
            out->nsteps == CB_MERGE_MOST_STEPS)
            return true;
        /* With this factor, ranges exceed a part by at most part / 16 samples of the finer step, or by 8 (fan + 1) samples if
         * that is more. */
        step *= cb_max_i64(4, ratio / 4);
    }
}

int64_t cb_merge_most(const cb_merge_pass *p, int64_t part, int step)
{
    /* A range begins and ends at samples of the next coarser step. A range of k steps contains k + 1 samples, and one more sample
     * for each end of a part within the range. */
    int64_t elements = part + 2 * (p->fan + 1) * p->step[step + 1];
    if (step < 0) return elements;
    return elements / p->step[step] + elements / part + 4 * p->fan + 8;
}
