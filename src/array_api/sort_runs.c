/* Sorts lines that do not fit in a task. First, parts of a line are sorted. Then each pass merges several sorted runs to one,
 * until one run is left. A task of a pass produces one part of a merged run. Each pass reads all elements about once, and writes
 * them once.
 *
 * A part of the result needs a range of each run. A search in samples of the runs finds this range, from coarse samples to fine
 * ones (block/merge_bounds.c). Tasks that write runs also write their samples. Parts are divided by rank, so the size of tasks
 * does not depend on data. */
#include <string.h>

#include "array_api/merge_sizes.h"
#include "base/error.h"
#include "ops/blockwise_array.h"

enum { VALUES, POSITIONS, MOST_OUTPUTS = 2 + CB_MERGE_MOST_STEPS };

typedef struct merging {
    cb_merge_line l;
    cb_runs runs;
    int64_t nparts;
    int symbols[CUBED_MAX_NDIM];
} merging;

/* Sorted runs of equal length: their elements, the positions of the elements (may be NULL), and samples for the next merge. */
typedef struct made {
    cubed_array *values, *positions;
    int nsamples;
    cubed_array *samples[CB_MERGE_MOST_STEPS];
} made;

static void drop(made *m)
{
    cubed_array_unref(m->values);
    cubed_array_unref(m->positions);
    for (int k = 0; k < m->nsamples; k++) cubed_array_unref(m->samples[k]);
    *m = (made){.values = NULL};
}

/* The shape of an operand with `extent` elements along the axis, in blocks of `chunk`. Blocks have 1 element along the other
 * axes. */
typedef struct shape {
    int64_t extent[CUBED_MAX_NDIM], chunk[CUBED_MAX_NDIM];
} shape;

static shape along(const merging *m, int64_t extent, int64_t chunk)
{
    shape s;
    for (int d = 0; d < m->l.x->node.grid->ndim; d++) {
        s.extent[d] = m->l.x->shape[d];
        s.chunk[d] = 1;
    }
    s.extent[m->l.axis] = extent;
    s.chunk[m->l.axis] = chunk;
    return s;
}

static cubed_block_output output(const merging *m, cubed_dtype dtype, const shape *s)
{
    return (cubed_block_output){dtype, m->l.x->node.grid->ndim, s->extent, s->chunk, m->symbols,
                                NULL};
}

/* Calls "sort_run" or "merge_runs". `next` is the pass that reads the results, or NULL. */
static cubed_status make_runs(const merging *m, const char *function,
                              const cubed_block_input *inputs, const cb_gather *gathers, int nin,
                              const cb_merge_pass *next, made *out, cubed_error *err)
{
    const cubed_array *x = m->l.x;
    struct {
        cb_sort_run_params p;
        int64_t step[CB_MERGE_MOST_STEPS];
    } params = {.p = {m->runs, m->l.positions, next ? next->nsteps : 0}};
    const shape all = along(m, m->runs.extent, m->runs.part);
    shape few[CB_MERGE_MOST_STEPS];
    cubed_block_output to[MOST_OUTPUTS];
    cubed_array *arrays[MOST_OUTPUTS];
    int nout = 1 + m->l.positions;
    to[VALUES] = output(m, x->node.dtype, &all);
    to[POSITIONS] = output(m, CUBED_INT64, &all);
    if (!next)
        for (int k = 0; k < nout; k++) to[k].dim_names = x->node.dim_names;
    for (int k = 0; k < params.p.samples; k++) {
        int64_t step = params.step[k] = next->step[k];
        few[k] = along(m, cb_runs_sample(&m->runs, step, m->runs.extent),
                       cb_runs_per_part(&m->runs, step));
        to[nout++] = output(m, x->node.dtype, &few[k]);
    }
    size_t size = sizeof params.p + (size_t)params.p.samples * sizeof(int64_t);
    const cubed_block_operation operation = {.function = function,
                                             .params = &params,
                                             .params_size = size,
                                             .inputs = inputs,
                                             .nin = nin,
                                             .outputs = to,
                                             .nout = nout};
    CB_TRY(cb_blockwise_gather(x->ctx, &operation, gathers, arrays, err));
    *out = (made){.values = arrays[VALUES],
                  .positions = m->l.positions ? arrays[POSITIONS] : NULL,
                  .nsamples = params.p.samples};
    memcpy(out->samples, arrays + 1 + m->l.positions, (size_t)out->nsamples * sizeof *out->samples);
    return CUBED_OK;
}

static cubed_status sort_parts(const merging *m, cubed_array *beside, const cb_merge_pass *next,
                               made *out, cubed_error *err)
{
    const shape s = along(m, m->runs.extent, m->runs.part);
    const cubed_block_input in[2] = {{m->l.x, m->symbols, s.chunk}, {beside, m->symbols, s.chunk}};
    const cb_gather none[2] = {{.most = 0}, {.most = 0}};
    return make_runs(m, "sort_run", in, none, beside ? 2 : 1, next, out, err);
}

/* Returns the number of parts in a group of runs that are merged together. */
static int64_t group_parts(const merging *m) { return cb_runs_group(&m->runs) / m->runs.part; }

/* Returns the description of a gathered input (cb_gather) with at most `most` elements for each part of a merged run. */
static cb_gather gathered(const merging *m, int64_t most)
{
    return (cb_gather){.most = most, .per = group_parts(m), .axis = m->l.axis, .ranges = 0};
}

/* Finds the ranges that each part needs: ranges of the samples of level `step` - 1, or of the elements if `step` is 0. Searches
 * the samples of level `step`, or only those within *ranges if *ranges is not NULL. Replaces *ranges. */
static cubed_status find_ranges(const merging *m, const cb_merge_pass *p, const made *runs,
                                int step, cubed_array **ranges, cubed_error *err)
{
    const cb_bounds_params params = {m->runs, p->step[step], step > 0 ? p->step[step - 1] : 1};
    const int64_t row = 2 * p->fan, parts = group_parts(m);
    const shape rows = along(m, m->nparts * row, *ranges ? row : parts * row);
    const shape samples = along(m, runs->samples[step]->shape[m->l.axis],
                                parts * cb_runs_per_part(&m->runs, p->step[step]));
    const cubed_block_input in[2] = {{*ranges, m->symbols, rows.chunk},
                                     {runs->samples[step], m->symbols, samples.chunk}};
    const cb_gather gathers[2] = {{.most = 0},
                                  *ranges ? gathered(m, cb_merge_most(p, m->runs.part, step))
                                          : (cb_gather){.most = 0}};
    const cubed_block_output to = output(m, CUBED_INT64, &rows);
    cubed_array *found;
    const int skipped = *ranges ? 0 : 1;
    const cubed_block_operation operation = {.function = "merge_bounds",
                                             .params = &params,
                                             .params_size = sizeof params,
                                             .inputs = in + skipped,
                                             .nin = 2 - skipped,
                                             .outputs = &to,
                                             .nout = 1};
    CB_TRY(cb_blockwise_gather(m->l.x->ctx, &operation, gathers + skipped, &found, err));
    cubed_array_unref(*ranges);
    *ranges = found;
    return CUBED_OK;
}

/* Merges runs. `next` is the pass that reads the result, or NULL. */
static cubed_status merge(merging *m, const cb_merge_pass *p, const cb_merge_pass *next, made *runs,
                          cubed_error *err)
{
    cubed_array *ranges = NULL;
    made longer;
    cubed_status st = CUBED_OK;
    m->runs.run = p->run;
    m->runs.fan = p->fan;
    for (int step = p->nsteps - 1; step >= 0; step--)
        CB_GO(find_ranges(m, p, runs, step, &ranges, err));
    const shape row = along(m, m->nparts * 2 * p->fan, 2 * p->fan);
    const shape group = along(m, m->runs.extent, cb_runs_group(&m->runs));
    const cubed_block_input in[3] = {{ranges, m->symbols, row.chunk},
                                     {runs->values, m->symbols, group.chunk},
                                     {runs->positions, m->symbols, group.chunk}};
    const cb_gather elements = gathered(m, cb_merge_most(p, m->runs.part, -1));
    const cb_gather gathers[3] = {{.most = 0}, elements, elements};
    CB_GO(make_runs(m, "merge_runs", in, gathers, 2 + m->l.positions, next, &longer, err));
    drop(runs);
    *runs = longer;
out:
    cubed_array_unref(ranges);
    return st;
}

cubed_status cb_api_sort_runs(cubed_array *x, cubed_array *beside, int axis, bool descending,
                              uint64_t task_mem, cubed_array **values, cubed_array **positions,
                              cubed_error *err)
{
    merging m = {.l = {x, axis, positions != NULL, cb_merge_memory(task_mem)}};
    const int64_t part = cb_merge_part(&m.l);
    cb_merge_pass pass, next;
    made runs = {.values = NULL};
    m.runs = (cb_runs){axis, descending, x->shape[axis], part, part, 1};
    m.nparts = cb_ceil_div(x->shape[axis], part);
    for (int d = 0; d < x->node.grid->ndim; d++) m.symbols[d] = d;
    bool more = cb_merge_plan(&m.l, part, part, &pass);
    cubed_status st = sort_parts(&m, beside, more ? &pass : NULL, &runs, err);
    while (st == CUBED_OK && more) {
        more = cb_merge_plan(&m.l, part, pass.run * pass.fan, &next);
        st = merge(&m, &pass, more ? &next : NULL, &runs, err);
        pass = next;
    }
    if (st == CUBED_OK && values) *values = cubed_array_ref(runs.values);
    if (st == CUBED_OK && positions) *positions = cubed_array_ref(runs.positions);
    drop(&runs);
    return st;
}

bool cb_api_sorts_in_runs(const cubed_array *x, int axis, bool positions, uint64_t task_mem)
{
    for (int d = 0; d < x->node.grid->ndim; d++) {
        if (x->shape[d] == 0) return false;
    }
    return cb_merge_block_bytes(x, x->shape[axis], positions) > cb_merge_memory(task_mem) ||
           cb_sat_mul((size_t)x->shape[axis], cubed_dtype_size(x->node.dtype)) >
               cb_api_line_bytes(task_mem);
}
