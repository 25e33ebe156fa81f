#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "opt/rechunk_chain.h"

/* The planner searches with increasing memory sizes. STEPS: number of sizes per doubling of memory. It applies from 1 / FRACTION
 * of the memory that two passes with pieces of CB_RECHUNK_BETA bytes need. Below, there is one size per doubling, because few
 * users have so little memory. */
#define STEPS    8
#define FRACTION 64.0
/* Number of steps from each of these memory sizes to the next. At the sizes in between, only tasks become larger; intermediates
 * do not change. */
#define SMALL_STEPS 4
/* The planner also tries each memory size that holds up to FEW_CHUNKS chunks, plus BESIDE bytes. */
#define FEW_CHUNKS 8
#define BESIDE     1024
/* Maximum number of searches for tiles per memory size and per number of passes, which limits the planning time. A search
 * takes a few microseconds; with many axes it counts several times. */
#define TRIALS 120
/* Maximum number of searches for tiles if a stage computes values. It is smaller, because most such stages are only divided and
 * not rechunked. */
#define COMPUTED_TRIALS 30
/* An additional pass must reduce the predicted time at least to this fraction, because it creates files. */
#define WORTH_A_PASS 0.98
/* A plan that moves too many bytes is chosen only if there is no other plan. Too many means that it exceeds the minimum for its
 * passes by more than OFTEN - 1 times the bytes of a single pass that reads each chunk once. */
#define OFTEN 4
/* A stage that computes should read at most this many times the minimum. Its tasks are not made larger to read less than that. */
#define NEARLY_ONCE 1.03

static cubed_status check_grid(const cb_grid *g, const cb_grid *like, const char *name,
                               cubed_error *err)
{
    if (g->ndim != like->ndim || g->ndim < 0 || g->ndim > CUBED_MAX_NDIM)
        return cb_fail(err, CUBED_E_ARG, "the %s grid has %d axes, expected %d", name, g->ndim,
                       like->ndim);
    for (int d = 0; d < g->ndim; d++) {
        const cb_axis *a = &g->axis[d];
        if (a->extent != like->axis[d].extent || a->extent < 0)
            return cb_fail(err, CUBED_E_ARG,
                           "axis %d of the %s grid is %" PRId64 " long, expected %" PRId64, d, name,
                           a->extent, like->axis[d].extent);
        if (a->first < 1 || a->first > a->chunk)
            return cb_fail(err, CUBED_E_ARG,
                           "axis %d of the %s grid has chunk length %" PRId64
                           " and first chunk length %" PRId64
                           ", expected a first length from 1 to the chunk length",
                           d, name, a->chunk, a->first);
    }
    return CUBED_OK;
}

static cubed_status check(const cb_rechunk_in *in, cubed_error *err)
{
    int64_t shape[CUBED_MAX_NDIM], count;
    size_t bytes;
    CB_TRY(check_grid(&in->source, &in->source, "source", err));
    CB_TRY(check_grid(&in->target, &in->source, "target", err));
    for (int d = 0; d < in->source.ndim; d++) shape[d] = in->source.axis[d].extent;
    if (in->item_size == 0 || cb_count(in->source.ndim, shape, &count) ||
        cb_mul_size((size_t)count, in->item_size, &bytes) || bytes > INT64_MAX)
        return cb_fail(err, CUBED_E_ARG,
                       "an array of this shape with items of %zu bytes cannot be addressed",
                       in->item_size);
    if (cb_tile_chunk_bytes(&in->source, in->item_size) > INT64_MAX / 2 ||
        cb_tile_chunk_bytes(&in->target, in->item_size) > INT64_MAX / 2)
        return cb_fail(err, CUBED_E_ARG, "chunks of more than %" PRId64 " bytes, expected fewer",
                       INT64_MAX / 2);
    if (in->max_passes < 0 || in->max_passes > CB_RECHUNK_MAX_PASSES)
        return cb_fail(err, CUBED_E_ARG, "max_passes is %d, expected 0 to %d", in->max_passes,
                       CB_RECHUNK_MAX_PASSES);
    return CUBED_OK;
}

static cb_rechunk_in with_defaults(const cb_rechunk_in *in)
{
    cb_rechunk_in full = *in;
    if (full.bandwidth <= 0) full.bandwidth = CB_RECHUNK_BANDWIDTH;
    if (full.latency <= 0) full.latency = CB_RECHUNK_LATENCY;
    if (full.max_passes == 0) full.max_passes = CB_RECHUNK_MAX_PASSES;
    if (!full.alloc) full.alloc = &cb_system_allocator;
    return full;
}

static void write_plan(const cb_planner *p, const cb_chain *c, cb_rechunk_plan *out)
{
    *out = (cb_rechunk_plan){.npasses = c->npasses, .seconds = c->seconds, .need = c->need};
    for (int i = 0; i < c->npasses; i++) {
        cb_rechunk_pass *pass = &out->pass[i];
        pass->target = c->grid[i + 1];
        memcpy(pass->task_chunks, c->tile[i].task_chunks, sizeof pass->task_chunks);
        pass->ntasks = c->tile[i].ntasks;
        pass->coop = c->tile[i].coop;
        pass->bytes_read = c->tile[i].bytes_read;
        pass->bytes_written = cb_tile_grid_bytes(&pass->target, p->in.item_size);
        pass->requests_read = c->tile[i].chunks_read;
        pass->requests_written = (uint64_t)cb_grid_count(&pass->target);
        pass->task_mem = c->tile[i].task_mem;
        out->bytes_read = cb_sat_add(out->bytes_read, pass->bytes_read);
        out->bytes_written = cb_sat_add(out->bytes_written, pass->bytes_written);
        out->requests =
            cb_sat_add(out->requests, cb_sat_add(pass->requests_read, pass->requests_written));
    }
}

/* --- Projected costs of plans -------------------------------------------------------------------------- */

static bool same_axes(const cb_grid *a, const cb_grid *b)
{
    for (int d = 0; d < a->ndim; d++) {
        if (a->axis[d].chunk != b->axis[d].chunk) return false;
    }
    return true;
}

/* Returns true if two chains of passes of equal length have the same intermediates and tasks. */
static bool same_chain(const cb_chain *a, const cb_chain *b)
{
    for (int i = 0; i < a->npasses; i++) {
        const size_t bytes = (size_t)a->grid[0].ndim * sizeof *a->tile[i].task_chunks;
        if (a->tile[i].coop != b->tile[i].coop ||
            memcmp(a->tile[i].task_chunks, b->tile[i].task_chunks, bytes) != 0 ||
            !same_axes(&a->grid[i + 1], &b->grid[i + 1]))
            return false;
    }
    return true;
}

/* Replaces the estimated costs of a chain of passes by the costs that the callback p->in.judge determines: it compiles and
 * projects the stages of the passes. */
static void judge(cb_planner *p, cb_chain *c)
{
    if (!p->in.judge || c->seconds == INFINITY) return;
    cb_chain *known = &p->judged[c->npasses - 1];
    if (known->npasses == 0 || !same_chain(known, c)) {
        cb_rechunk_plan plan;
        cb_rechunk_cost cost;
        write_plan(p, c, &plan);
        p->in.judge(p->in.judge_ctx, &plan, &cost);
        *known = *c;
        known->cost = cost;
    }
    cb_chain_rate(p, &known->cost, c);
    if (c->need > p->mem) c->seconds = c->score = INFINITY;
}

/* Finds the best single pass from the source to the target, with its cost by p->in.judge. */
static void find_direct(cb_planner *p, cb_chain *c)
{
    cb_chain_direct(p, c);
    judge(p, c);
    if (!p->in.judge || c->seconds < INFINITY) return;
    cb_chain_single(p, c);
    judge(p, c);
}

/* --- Search over increasing memory sizes -------------------------------------------------------------- */

/* Returns true if the chain of passes `c` is good enough to replace `now`, the best chain for less memory. */
static bool may_follow(const cb_planner *p, const cb_chain *c, const cb_chain *now)
{
    if (c->seconds == INFINITY || (double)c->requests < cb_chain_floor(p, c)) return false;
    if (!now->npasses) return true;
    return c->bytes <= now->bytes && c->requests <= now->requests;
}

static bool reads_often(const cb_planner *p, const cb_chain *c)
{
    double least = (double)cb_chain_least_bytes(p, c->npasses);
    return (double)c->bytes > least + (OFTEN - 1) * (double)cb_chain_least_bytes(p, 1);
}

/* Finds the fastest chain of passes that may replace `now`. Sets best->npasses to 0 if there is none. */
static void find_next(cb_planner *p, const cb_chain *now, cb_chain *best)
{
    cb_chain c;
    *best = (cb_chain){.seconds = INFINITY, .score = INFINITY};
    find_direct(p, &c);
    if (may_follow(p, &c, now)) *best = c;
    for (int n = 2; n <= p->in.max_passes; n++) {
        if (now->npasses && cb_chain_least_bytes(p, n) > now->bytes) break;
        if (cb_chain_least_seconds(p, n) >= best->score * WORTH_A_PASS) break;
        cb_chain_search(p, n, p->in.sources ? COMPUTED_TRIALS : TRIALS, &c);
        judge(p, &c);
        if (may_follow(p, &c, now) && c.score < best->score * WORTH_A_PASS) *best = c;
    }
}

/* Returns true if the chain `best`, whose requests are limited from below by cb_chain_floor, is not much slower than a single
 * pass with fewer requests. */
static bool is_good(cb_planner *p, const cb_chain *best, const cb_chain *now)
{
    cb_chain direct;
    if (!best->npasses) return now->npasses && !reads_often(p, now);
    if (reads_often(p, best)) return false;
    find_direct(p, &direct);
    bool follows =
        !now->npasses || (direct.bytes <= now->bytes && direct.requests <= now->requests);
    return !follows || best->seconds <= 1.5 * direct.seconds;
}

/* Chooses the chain of passes for p->mem bytes. `now` is the choice for less memory, and receives the new choice. */
static void step(cb_planner *p, cb_chain *now)
{
    static const double floors[] = {1, 0.5, 0.25, 0.125, 0};
    cb_chain best;
    p->no_worse = now->npasses ? now : NULL;
    for (size_t i = 0; i < sizeof floors / sizeof *floors; i++) {
        p->floor = floors[i];
        find_next(p, now, &best);
        if (is_good(p, &best, now)) break;
    }
    if (best.npasses) *now = best;
}

/* Uses additional memory only for larger tasks of the current chain, or for a single pass. Chooses the fastest chain that may
 * replace the current one. */
static void small_step(cb_planner *p, cb_chain *now)
{
    cb_chain direct, again = *now;
    p->no_worse = now;
    p->floor = 1;
    find_direct(p, &direct);
    if (now->npasses > 1) {
        cb_chain_again(p, &again);
        judge(p, &again);
    }
    if (may_follow(p, &again, now) && again.seconds < now->seconds) *now = again;
    if (may_follow(p, &direct, now) && direct.seconds < now->seconds) *now = direct;
}

static bool reads_once(const cb_planner *p, const cb_chain *c)
{
    return c->npasses == 1 && c->seconds < INFINITY && (double)c->requests <= cb_chain_ends(p) &&
           (!p->in.judge || c->bytes <= cb_chain_least_bytes(p, 1));
}

/* Returns true if the search needs no larger memory sizes. For a stage that computes, larger tasks that read only slightly less
 * are not worthwhile, because there are fewer of them. */
static bool is_enough(const cb_planner *p, const cb_chain *c)
{
    if (!p->in.judge) return reads_once(p, c);
    return c->npasses == 1 && c->seconds < INFINITY &&
           (double)c->requests <= NEARLY_ONCE * cb_chain_ends(p) &&
           (double)c->bytes <= NEARLY_ONCE * (double)cb_chain_least_bytes(p, 1);
}

/* Returns the smallest memory above `mem` that holds a few chunks of the source or the target plus one. Such sizes matter if
 * chunks are large, because one more chunk in memory may change the best plan. */
static double next_box(const cb_planner *p, double mem)
{
    const cb_rechunk_in *in = &p->in;
    size_t chunk[] = {cb_arena_round(cb_tile_chunk_bytes(&in->source, in->item_size)),
                      cb_arena_round(cb_tile_chunk_bytes(&in->target, in->item_size))};
    double beside =
        (double)in->fixed + (double)cb_max_size(in->read_extra, in->write_extra) + BESIDE;
    double next = INFINITY;
    for (int k = 0; k < 2; k++) {
        double n = floor(fmax(0, mem - beside) / (double)chunk[k]) + 1;
        if (n <= FEW_CHUNKS) next = fmin(next, n * (double)chunk[k] + beside);
    }
    return next;
}

/* Searches with increasing memory sizes, from `least` on. */
static void walk(cb_planner *p, size_t least, cb_chain *now)
{
    double middles = (double)(cb_chain_least_bytes(p, 2) - cb_chain_least_bytes(p, 1));
    double from = sqrt(middles / 2 * (double)CB_RECHUNK_BETA) / FRACTION;
    p->mem = p->in.mem;
    find_direct(p, now); /* if this pass reads each chunk once, it is the best plan */
    if (reads_once(p, now)) return;
    *now = (cb_chain){.npasses = 0};
    for (double mem = (double)least, rung = mem; mem <= (double)p->in.mem;) {
        p->mem = (size_t)mem;
        step(p, now);
        if (is_enough(p, now)) return;
        const double steps = 2 * rung <= from ? 1 : STEPS, small = exp2(1 / steps / SMALL_STEPS);
        if (mem >= rung) rung *= exp2(1 / steps);
        const double next = fmin(rung, next_box(p, mem)), last = fmin(next, (double)p->in.mem + 1);
        for (int k = 1; k < SMALL_STEPS && mem * small < last - 1; k++) {
            mem *= small;
            p->mem = (size_t)mem;
            if (now->npasses) small_step(p, now);
            if (is_enough(p, now)) return;
        }
        mem = next;
    }
}

cubed_status cb_rechunk_plan_make(const cb_rechunk_in *in, cb_rechunk_plan *out, cubed_error *err)
{
    CB_TRY(check(in, err));
    cb_planner p = {.in = with_defaults(in)};
    cb_chain best;
    p.mem = SIZE_MAX;
    cb_chain_single(&p, &best);
    judge(&p, &best);
    const size_t least = best.need;
    if (in->judge && reads_once(&p, &best) && least <= in->mem) {
        write_plan(&p, &best, out);
        return CUBED_OK;
    }
    if (least > in->mem)
        return cb_fail(err, CUBED_E_BUDGET,
                       "rechunking needs at least %zu bytes per task, for a source chunk of %zu "
                       "and a target chunk of %zu, but %zu are allowed",
                       least, cb_tile_chunk_bytes(&in->source, in->item_size),
                       cb_tile_chunk_bytes(&in->target, in->item_size), in->mem);
    p.memo = cb_pass_memo_new(p.in.alloc, in->source.ndim);
    if (!p.memo) return cb_fail(err, CUBED_E_NOMEM, "no memory for the plan");
    walk(&p, least, &best);
    cb_pass_memo_free(p.memo);
    write_plan(&p, &best, out);
    return CUBED_OK;
}
