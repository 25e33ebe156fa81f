/* Sorts, by merging, lines that do not fit in a task. "sort_run" sorts one part of a line. "merge_runs" merges sorted runs, and
 * outputs one part of the resulting line (Knuth, The Art of Computer Programming, vol. 3, 5.4; parts by rank: Varman et al.,
 * Merging multiple lists on hierarchical-memory multiprocessors, 1991).
 *
 * merge_bounds.c finds the ranges of the runs that contain a part. The ranges include a few more elements before and after
 * the part. The number of elements before the part follows from the starts of the ranges. The ranges are in the order of the
 * runs, so a stable sort keeps equal elements in the order of their positions. */
#include <string.h>

#include "base/error.h"
#include "block/functions.h"
#include "block/runs.h"
#include "block/sort_line.h"

/* Indices of the outputs: the elements, optional positions, and then the lists of samples. */
enum { VALUES, POSITIONS };
/* Inputs of "merge_runs". */
enum { RANGES, RUN_VALUES, RUN_POSITIONS };

static cubed_status other_operands(cubed_error *err)
{
    return cb_fail(err, CUBED_E_FORMAT,
                   "the types or shapes of operands do not match the function");
}

/* Performs the checks that both functions need. `x` is the input with the elements. */
static cubed_status check(const cubed_block_call *call, const cubed_block *x, cubed_error *err)
{
    const cb_sort_run_params *p = call->params;
    int64_t n, m;
    if (call->params_size < sizeof *p || p->samples < 0 || p->positions >> 1 ||
        (call->params_size - sizeof *p) / sizeof(int64_t) != (size_t)p->samples ||
        call->nout != 1 + p->positions + p->samples || !cb_runs_are_sound(&p->runs))
        return cb_fail(err, CUBED_E_FORMAT,
                       "the number of operands or size of parameters does not match the function");
    const int64_t *steps = (const int64_t *)(p + 1);
    if (!cb_block_is_line(x, p->runs.axis, &m) || m > UINT32_MAX ||
        !cb_block_is_line(&call->out[VALUES], p->runs.axis, &n) || n > p->runs.part ||
        call->out[VALUES].dtype != x->dtype)
        return other_operands(err);
    if (p->positions && (!cb_block_is_line(&call->out[POSITIONS], p->runs.axis, &m) || m != n ||
                         call->out[POSITIONS].dtype != CUBED_INT64))
        return other_operands(err);
    for (int k = 0; k < p->samples; k++) {
        const cubed_block *list = &call->out[1 + p->positions + k];
        if (steps[k] < 1 || !cb_block_is_line(list, p->runs.axis, &m) ||
            m != cb_ceil_div(n, steps[k]) || list->dtype != x->dtype)
            return other_operands(err);
    }
    return CUBED_OK;
}

static cubed_status check_sort(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    int64_t n;
    (void)ctx;
    if (call->nin < 1) return other_operands(err);
    CB_TRY(check(call, call->in, err));
    const cb_sort_run_params *p = call->params;
    if (call->nin > 1 + p->positions ||
        call->in->shape[p->runs.axis] != call->out->shape[p->runs.axis])
        return other_operands(err);
    if (call->nin == 2 && (!cb_block_is_line(&call->in[1], p->runs.axis, &n) ||
                           n != call->in->shape[p->runs.axis] || call->in[1].dtype != CUBED_INT64))
        return other_operands(err);
    return CUBED_OK;
}

static cubed_status check_merge(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    int64_t n, m;
    (void)ctx;
    if (call->nin < 2) return other_operands(err);
    CB_TRY(check(call, &call->in[RUN_VALUES], err));
    const cb_sort_run_params *p = call->params;
    const cubed_block *in = call->in;
    if (call->nin != 2 + p->positions || !cb_block_is_line(&in[RANGES], p->runs.axis, &n) ||
        n != 2 * p->runs.fan || in[RANGES].dtype != CUBED_INT64)
        return other_operands(err);
    if (p->positions &&
        (!cb_block_is_line(&in[RUN_POSITIONS], p->runs.axis, &m) ||
         m != in[RUN_VALUES].shape[p->runs.axis] || in[RUN_POSITIONS].dtype != CUBED_INT64))
        return other_operands(err);
    return CUBED_OK;
}

/* Allocates scratch for sorting the elements. */
static size_t make_room(const cubed_block_call *call, const cubed_block *x, void *scratch,
                        cb_sort_room *room)
{
    const cb_sort_run_params *p = call->params;
    unsigned parts = CB_SORT_KEYS;
    if (p->positions || cb_sort_needs_positions(x->dtype)) parts |= CB_SORT_POSITIONS;
    return cb_sort_room_make(x->shape[p->runs.axis], x->dtype, parts, scratch, room);
}

static cubed_block_need need_sort(const cubed_block_call *call, void *ctx)
{
    (void)ctx;
    return (cubed_block_need){make_room(call, call->in, NULL, NULL), 0};
}

static cubed_block_need need_merge(const cubed_block_call *call, void *ctx)
{
    (void)ctx;
    return (cubed_block_need){make_room(call, &call->in[RUN_VALUES], NULL, NULL), 0};
}

/* Sorted elements: contiguous in `values`, or at the indices `pos` in `values`. */
typedef struct ordered {
    const char *values;
    const uint32_t *pos;
    size_t size;
} ordered;

static void put(const ordered *o, int64_t from, char *to)
{
    const char *at = o->values + (o->pos ? o->pos[from] : (size_t)from) * o->size;
    memcpy(to, at, o->size);
}

/* Writes n sorted elements, from index `skip` on, to all outputs. */
static void write_outputs(const cubed_block_call *call, const ordered *o, int64_t skip,
                          const int64_t *positions, int64_t first)
{
    const cb_sort_run_params *p = call->params;
    const int64_t n = call->out->shape[p->runs.axis], *steps = (const int64_t *)(p + 1);
    char *to = call->out[VALUES].data;
    for (int64_t i = 0; to && i < n && o->pos; i++) put(o, skip + i, to + (size_t)i * o->size);
    if (to && !o->pos) memcpy(to, o->values + (size_t)skip * o->size, (size_t)n * o->size);
    int64_t *places = p->positions ? call->out[POSITIONS].data : NULL;
    for (int64_t i = 0; places && i < n; i++) {
        int64_t at = o->pos[skip + i];
        places[i] = positions ? positions[at] : first + at;
    }
    for (int k = 0; k < p->samples; k++) {
        char *list = call->out[1 + p->positions + k].data;
        for (int64_t i = 0; list && i < cb_ceil_div(n, steps[k]); i++)
            put(o, skip + cb_min_i64(n, (i + 1) * steps[k]) - 1, list + (size_t)i * o->size);
    }
}

static ordered sort_block(const cb_kernels *k, const cubed_block_call *call, const cubed_block *x)
{
    const cb_sort_run_params *p = call->params;
    const size_t size = cubed_dtype_size(x->dtype);
    cb_line l =
        cb_line_of(x->data, (int64_t)size, x->shape[p->runs.axis], x->dtype, p->runs.descending);
    cb_sort_room room;
    make_room(call, x, call->scratch, &room);
    if (p->positions || cb_sort_needs_positions(x->dtype)) {
        cb_sort_positions(&l, &room);
        return (ordered){x->data, room.pos, size};
    }
    cb_sort_values(k, &l, room.keys, &room);
    return (ordered){room.keys, NULL, size};
}

static cubed_status run_sort(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    const cb_sort_run_params *p = call->params;
    (void)err;
    ordered o = sort_block(ctx, call, call->in);
    write_outputs(call, &o, 0, call->nin == 2 ? call->in[1].data : NULL,
                  call->in->offset[p->runs.axis]);
    return CUBED_OK;
}

static cubed_status other_ranges(cubed_error *err)
{
    return cb_fail(err, CUBED_E_ARG, "the ranges do not contain the part");
}

static cubed_status run_merge(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    const cb_sort_run_params *p = call->params;
    const cb_runs *r = &p->runs;
    const cubed_block *x = &call->in[RUN_VALUES];
    const int64_t *ranges = call->in[RANGES].data, at = call->out->offset[r->axis];
    const int64_t group = at / cb_runs_group(r) * cb_runs_group(r);
    /* first the rank of the part in its group; the loop below makes it the number of elements to skip in the ranges */
    int64_t skip = at - group;
    for (int64_t k = 0; k < r->fan; k++) {
        const int64_t from = ranges[2 * k], start = cb_min_i64(r->extent, group + k * r->run);
        if (from < start || from - start > skip) return other_ranges(err);
        skip -= from - start;
    }
    if (skip > x->shape[r->axis] - call->out->shape[r->axis]) return other_ranges(err);
    ordered o = sort_block(ctx, call, x);
    write_outputs(call, &o, skip, p->positions ? call->in[RUN_POSITIONS].data : NULL, 0);
    return CUBED_OK;
}

const cubed_block_fn cb_block_sort_run = {
    .name = "sort_run", .check = check_sort, .need = need_sort, .run = run_sort};
const cubed_block_fn cb_block_merge_runs = {
    .name = "merge_runs", .check = check_merge, .need = need_merge, .run = run_merge};
