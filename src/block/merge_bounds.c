/* Finds the ranges of sorted runs that contain a part of their merged result, from samples of the runs. First uses a few samples
 * of whole runs, then finer samples in known ranges.
 *
 * Elements are ordered by key, and equal keys by run and position, so no two elements are equal. Samples are visited in this
 * order. At any time, each run has a minimum and a maximum number of elements that do not follow the visited samples. The minimum
 * counts the elements up to the run's last visited sample. The maximum counts the elements before the run's next sample. The
 * first element of a part follows all visited samples as long as the total maximum does not exceed the part's rank. The whole
 * part precedes the next samples once the total minimum reaches the rank of the part's end. So ranges have at most part + 2 (fan
 * + 1) step elements, for any data. */
#include <string.h>

#include "base/error.h"
#include "block/functions.h"
#include "block/runs.h"
#include "block/sort_line.h"

#define UNKNOWN (INT64_MAX / 2)

/* The state of a run (a sorted part of the axis). The block contains samples of all runs, in the order of the runs. */
typedef struct cursor {
    /* Positions along the axis. `done`: after the last visited sample. `next`: after the next sample. */
    int64_t done, next;
    /* Indices of samples in the block. `sample`: the run's next sample. `end`: one after the run's last sample. */
    int64_t sample, end;
    /* number of the run's first sample in the block, counted among all samples of the line */
    int64_t first;
    int64_t start; /* index in the block of the run's first sample */
    bool open;     /* true if the run has samples in later blocks */
} cursor;

static const cubed_block *samples_of(const cubed_block_call *call)
{
    return &call->in[call->nin - 1];
}

static cubed_status check(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    const cb_bounds_params *p = call->params;
    int64_t n, m;
    (void)ctx;
    if (call->params_size != sizeof *p || call->nin < 1 || call->nin > 2 || call->nout != 1 ||
        !cb_runs_are_sound(&p->runs) || p->step < 1 || p->finer < 1 || p->step % p->finer != 0)
        return cb_fail(err, CUBED_E_FORMAT,
                       "the number of operands or size of parameters does not match the function");
    const cubed_block *x = samples_of(call), *ranges = call->in;
    if (!cb_block_is_line(x, p->runs.axis, &n) || n > UINT32_MAX ||
        !cb_block_is_line(call->out, p->runs.axis, &m) || m % (2 * p->runs.fan) != 0 ||
        call->out->dtype != CUBED_INT64)
        return cb_fail(err, CUBED_E_FORMAT,
                       "the types or shapes of operands do not match the function");
    if (call->nin == 2 && (!cb_block_is_line(ranges, p->runs.axis, &n) || n != m ||
                           n != 2 * p->runs.fan || ranges->dtype != CUBED_INT64))
        return cb_fail(err, CUBED_E_FORMAT,
                       "the types or shapes of operands do not match the function");
    return CUBED_OK;
}

typedef struct room {
    cb_sort_room sort;
    cursor *cursors;
    uint32_t *run_of; /* for each sample in the block, the index of its run */
} room;

static size_t rounded(size_t bytes) { return cb_sat_add(bytes, 63) & ~(size_t)63; }

static size_t make_room(const cubed_block_call *call, void *scratch, room *out)
{
    const cb_bounds_params *p = call->params;
    const cubed_block *x = samples_of(call);
    const int64_t n = x->shape[p->runs.axis];
    size_t sort = cb_sort_room_make(n, x->dtype, CB_SORT_KEYS | CB_SORT_POSITIONS, scratch,
                                    out ? &out->sort : NULL);
    size_t cursors = rounded(cb_sat_mul((size_t)p->runs.fan, sizeof(cursor)));
    if (scratch) {
        out->cursors = (cursor *)((char *)scratch + sort);
        out->run_of = (uint32_t *)((char *)scratch + sort + cursors);
    }
    return cb_sat_add(cb_sat_add(sort, cursors), cb_sat_mul((size_t)n, sizeof(uint32_t)));
}

static cubed_block_need need(const cubed_block_call *call, void *ctx)
{
    (void)ctx;
    return (cubed_block_need){make_room(call, NULL, NULL), 0};
}

/* Finds the samples of run k in the block. If the call has ranges, finds only the samples in the run's range. */
static void find_run(const cubed_block_call *call, int64_t group, int64_t k, int64_t *from,
                     int64_t *to)
{
    const cb_bounds_params *p = call->params;
    const cb_runs *r = &p->runs;
    const int64_t start = cb_min_i64(r->extent, group + k * r->run);
    if (call->nin == 2) {
        const int64_t *ranges = call->in->data;
        *from = ranges[2 * k];
        *to = ranges[2 * k + 1];
        return;
    }
    *from = cb_runs_sample(r, p->step, start);
    *to = cb_runs_sample(r, p->step, cb_min_i64(r->extent, start + r->run));
}

static cubed_status begin_runs(const cubed_block_call *call, int64_t group, room *m,
                               cubed_error *err)
{
    const cb_bounds_params *p = call->params;
    const cb_runs *r = &p->runs;
    const int64_t n = samples_of(call)->shape[r->axis];
    int64_t filled = 0;
    for (int64_t k = 0; k < r->fan; k++) {
        int64_t from, to, start = cb_min_i64(r->extent, group + k * r->run);
        int64_t end = cb_min_i64(r->extent, start + r->run);
        find_run(call, group, k, &from, &to);
        if (from < cb_runs_sample(r, p->step, start) || to < from ||
            to > cb_runs_sample(r, p->step, end) || to - from > n - filled)
            return cb_fail(
                err, CUBED_E_ARG,
                "the ranges of samples do not match the runs, expected ranges within their runs "
                "whose total length is that of the block");
        bool all = from == cb_runs_sample(r, p->step, start);
        m->cursors[k] = (cursor){.done = all ? start : cb_runs_position(r, p->step, from - 1),
                                 .first = from,
                                 .start = filled,
                                 .sample = filled,
                                 .end = filled + to - from,
                                 .open = to < cb_runs_sample(r, p->step, end)};
        m->cursors[k].next = to > from ? cb_runs_position(r, p->step, from) : m->cursors[k].done;
        for (int64_t i = 0; i < to - from; i++) m->run_of[filled + i] = (uint32_t)k;
        filled += to - from;
    }
    return filled == n ? CUBED_OK
                       : cb_fail(err, CUBED_E_ARG,
                                 "the ranges of samples do not match the runs, expected ranges "
                                 "within their runs "
                                 "whose total length is that of the block");
}

static void advance(const cb_bounds_params *p, cursor *c)
{
    c->done = c->next;
    c->sample++;
    if (c->sample < c->end)
        c->next = cb_runs_position(&p->runs, p->step, c->first + c->sample - c->start);
}

/* least() and most() return the minimum and maximum position after those elements of a run that do not follow the visited
 * samples. The maximum is unknown if all of the run's samples in the block were visited, and the run has more samples in later
 * blocks. */
static int64_t least(const cursor *c) { return c->done; }
static int64_t most(const cursor *c)
{
    if (c->sample < c->end) return c->next - 1;
    return c->open ? UNKNOWN : c->done;
}

/* Writes the first or the last position of a part's range in each run. */
static void put_bounds(const cb_bounds_params *p, const cursor *cursors, int64_t *pairs,
                       bool behind)
{
    for (int64_t k = 0; k < p->runs.fan; k++) {
        const cursor *c = &cursors[k];
        int64_t at = behind && c->sample < c->end ? c->next : c->done;
        pairs[2 * k + behind] = cb_runs_sample(&p->runs, p->finer, at);
    }
}

/* State of a call: the parts whose ranges it finds, and the sums of the runs' minima and maxima after the visited samples. */
typedef struct sweep {
    const cb_bounds_params *p;
    int64_t group, size; /* start of the group, and its number of elements */
    int64_t first, n;    /* rank of the first part's start, and the number of parts */
    int64_t begun, ended;
    int64_t low, high;
} sweep;

/* Returns the rank of the start of part i. */
static int64_t rank_of(const sweep *s, int64_t i)
{
    return cb_min_i64(s->size, s->first + i * s->p->runs.part);
}

static void begin_sweep(sweep *s, const cursor *cursors)
{
    const cb_runs *r = &s->p->runs;
    for (int64_t k = 0; k < r->fan; k++) {
        int64_t start = cb_min_i64(r->extent, s->group + k * r->run);
        s->low += least(&cursors[k]) - start;
        s->high = cb_min_i64(UNKNOWN, s->high + most(&cursors[k]) - start);
    }
}

static void visit(sweep *s, cursor *c)
{
    int64_t low = least(c), high = most(c);
    advance(s->p, c);
    s->low += least(c) - low;
    s->high = most(c) == UNKNOWN ? UNKNOWN : cb_min_i64(UNKNOWN, s->high + most(c) - high);
}

/* Visits the n samples of the block in order. */
static void find_bounds(sweep *s, const room *m, int64_t n, int64_t *pairs)
{
    const int64_t row = 2 * s->p->runs.fan;
    begin_sweep(s, m->cursors);
    for (int64_t i = 0; i < n && s->ended < s->n; i++) {
        cursor *c = &m->cursors[m->run_of[m->sort.pos[i]]], before = *c;
        visit(s, c);
        const cursor after = *c;
        *c = before;
        for (; s->begun < s->n && s->high > rank_of(s, s->begun); s->begun++)
            put_bounds(s->p, m->cursors, pairs + s->begun * row, false);
        *c = after;
        for (; s->ended < s->n && s->low >= rank_of(s, s->ended + 1); s->ended++)
            put_bounds(s->p, m->cursors, pairs + s->ended * row, true);
    }
    for (; s->begun < s->n; s->begun++) put_bounds(s->p, m->cursors, pairs + s->begun * row, false);
    for (; s->ended < s->n; s->ended++) put_bounds(s->p, m->cursors, pairs + s->ended * row, true);
}

static cubed_status run(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    const cb_bounds_params *p = call->params;
    const cb_runs *r = &p->runs;
    const cubed_block *x = samples_of(call);
    const int64_t size = (int64_t)cubed_dtype_size(x->dtype), n = x->shape[r->axis];
    const int64_t part = call->out->offset[r->axis] / (2 * r->fan);
    sweep s = {.p = p};
    room m;
    (void)ctx;
    if (part > r->extent / r->part)
        return cb_fail(err, CUBED_E_FORMAT, "the parts reach beyond the end of the line");
    const int64_t at = part * r->part;
    s.group = at / cb_runs_group(r) * cb_runs_group(r);
    s.size = cb_min_i64(cb_runs_group(r), r->extent - s.group);
    s.first = at - s.group;
    s.n = call->out->shape[r->axis] / (2 * r->fan);
    make_room(call, call->scratch, &m);
    CB_TRY(begin_runs(call, s.group, &m, err));
    cb_line l = cb_line_of(x->data, size, n, x->dtype, r->descending);
    cb_sort_positions(&l, &m.sort);
    find_bounds(&s, &m, n, call->out->data);
    return CUBED_OK;
}

const cubed_block_fn cb_block_merge_bounds = {
    .name = "merge_bounds", .check = check, .need = need, .run = run};
