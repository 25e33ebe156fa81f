/* Finds the amount of memory that the error of a refused plan recommends. The amount is tested: a plan was made with it. Slightly
 * more memory would not make the plan move far less data. */
#include <inttypes.h>
#include <math.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/pool.h"
#include "exec/plan/limits.h"
#include "mem/pages.h"
#include "opt/opt.h"
#include "opt/plan_request.h"
#include "opt/rechunk_tile.h"

/* Maximum number of plans that are made to find enough memory. Tasks may be larger if more memory is allowed, so a plan with
 * the memory that an error requested may be refused again. */
#define TRIALS 12
/* Number of plans that are made to find less memory that is also sufficient. */
#define BISECTIONS 6
/* Processor time in nanoseconds after which no more plans are compared. */
#define SEARCH_NS ((int64_t)200000000)
/* Cost of a request, as the number of bytes that can be moved in the same time. */
#define REQUEST_BYTES (CUBED_ASSUMED_LATENCY * CUBED_ASSUMED_BANDWIDTH)
/* Maximum ratio of the product of memory and cost at the knee (find_knee) to the minimum of this product. */
#define NEAR 1.5
/* A plan is on a cliff if it moves at least this many times as much data as a plan with slightly more memory. */
#define CLIFF 10.0
/* Minimum cost of plans that are compared: the bytes that can be moved in a tenth of a second. */
#define SMALL_COST (CUBED_ASSUMED_BANDWIDTH / 10)

/* --- One plan -------------------------------------------------------------------------------------------- */

typedef struct moved {
    uint64_t bytes, requests; /* sums over all reads and writes of a plan */
} moved;

static double cost_of(moved m) { return (double)m.bytes + REQUEST_BYTES * (double)m.requests; }

static moved moved_by(const cubed_plan *p)
{
    moved m = {cb_opt_traffic(p), 0};
    for (int i = 0; i < p->nstages; i++)
        m.requests = cb_sat_add(m.requests,
                                cb_sat_add(p->stages[i].chunks_read, p->stages[i].chunks_written));
    return m;
}

/* Returns the data that a plan with the same stages would move if it read each chunk of their inputs once. */
static moved moved_once(const cubed_plan *p)
{
    moved m = {0, 0};
    for (int i = 0; i < p->nstages; i++) {
        const cb_stage *s = &p->stages[i];
        m.bytes = cb_sat_add(m.bytes, s->bytes_written);
        m.requests = cb_sat_add(m.requests, s->chunks_written);
        for (int k = 0; k < s->ninputs; k++) {
            const cb_node *n = &p->ir.nodes[s->inputs[k]];
            m.bytes = cb_sat_add(m.bytes, cb_tile_grid_bytes(n->grid, cubed_dtype_size(n->dtype)));
            m.requests = cb_sat_add(m.requests, (uint64_t)cb_grid_count(n->grid));
        }
    }
    return m;
}

/* Returns true if the chunks of arrays depend on the allowed memory: merges of sorted runs use parts of up to an eighth of the
 * memory. */
static bool is_cut_for_memory(const cubed_plan *p)
{
    for (int i = 0; i < p->ir.nnodes; i++) {
        const cb_node *n = &p->ir.nodes[i];
        for (int k = 0; n->block && k < n->ninputs; k++) {
            if (n->block->in[k].gather.most > 0) return true;
        }
    }
    return false;
}

typedef struct search {
    /* array of `nplans` requests; their `options` and `targets` point to the fields below until the search ends */
    cb_request *q;
    int nplans;
    cubed_plan_options options;
    const cubed_plan_options *given_options;
    cubed_target *targets; /* targets of all requests */
    const cubed_target *given;
    cubed_array **arrays;
    int ntargets;
    uint64_t have;    /* memory of the machine; UINT64_MAX: unknown */
    unsigned workers; /* requested number of workers */
    bool shared;      /* workers run on other machines, and their number does not change */
    int64_t started;  /* ns */
} search;

typedef struct trial {
    cubed_status st;
    uint64_t enough; /* memory that a refusal requests; 0: unknown */
    unsigned workers;
    bool grows;
    moved moved;
} trial;

/* Makes all requests of the search use these targets and options. */
static void point(search *s, const cubed_target *targets, const cubed_plan_options *options)
{
    for (int i = 0; i < s->nplans; i++) {
        s->q[i].targets = targets;
        s->q[i].options = options;
        targets += s->q[i].ntargets;
    }
}

/* Starts a search for memory. The caller must end the search, even if this function returns false. */
static bool start(cb_request *q, int n, search *s)
{
    const cubed_plan_options *given = q->options;
    const cubed_allocator *alloc = &q->ctx->alloc;
    const uint64_t known = cb_machine_of(q->ctx, given);
    *s = (search){.q = q,
                  .nplans = n,
                  .options = *given,
                  .given_options = given,
                  .given = q->targets,
                  .have = known ? known : UINT64_MAX,
                  .workers = given->max_workers ? given->max_workers : cb_cpu_count(),
                  .shared = given->other_machines && given->machine_workers > 0,
                  .started = cb_clock_thread_ns()};
    for (int i = 0; i < n; i++) s->ntargets += q[i].ntargets;
    s->targets = cb_alloc(alloc, (size_t)s->ntargets * sizeof *s->targets + 1);
    s->arrays = cb_alloc(alloc, (size_t)s->ntargets * sizeof(cubed_array *) + 1);
    point(s, s->targets, &s->options);
    return s->targets && s->arrays;
}

static void end(search *s)
{
    const cubed_allocator *alloc = &s->q->ctx->alloc;
    cb_free(alloc, s->targets, (size_t)s->ntargets * sizeof *s->targets + 1);
    cb_free(alloc, s->arrays, (size_t)s->ntargets * sizeof(cubed_array *) + 1);
    point(s, s->given, s->given_options);
}

static bool is_late(const search *s) { return cb_clock_thread_ns() - s->started > SEARCH_NS; }

static cubed_status remake(search *s, cubed_error *err)
{
    const cubed_plan_options *o = &s->options;
    const int n = s->ntargets;
    for (int i = 0; i < n; i++) {
        s->targets[i] = s->given[i];
        s->arrays[i] = s->given[i].array;
    }
    if (!o->remake) return CUBED_OK;
    cubed_status st = o->remake(o->remake_ctx, o->allowed_mem, s->arrays, err);
    /* If the arrays cannot be recreated for this amount of memory, the original arrays are planned. */
    if (st != CUBED_OK) return st == CUBED_E_BUDGET || st == CUBED_E_NOMEM ? st : CUBED_OK;
    for (int i = 0; i < n; i++) s->targets[i].array = s->arrays[i];
    return CUBED_OK;
}

static cubed_status try_plan(search *s, int i, trial *t, cubed_error *err)
{
    cubed_plan *p;
    CB_TRY(cb_opt_plan(&s->q[i], &p, err));
    const moved m = moved_by(p);
    t->moved.bytes = cb_sat_add(t->moved.bytes, m.bytes);
    t->moved.requests = cb_sat_add(t->moved.requests, m.requests);
    t->grows = t->grows || (!s->options.remake && is_cut_for_memory(p));
    cubed_plan_unref(p);
    return CUBED_OK;
}

static trial try_with(search *s, uint64_t allowed)
{
    cubed_error why = CUBED_ERROR_INIT;
    s->options.allowed_mem = allowed;
    s->options.max_workers =
        s->shared ? s->workers : (unsigned)cb_min_size(s->workers, s->have / allowed);
    trial t = {.workers = s->options.max_workers};
    t.st = remake(s, &why);
    for (int i = 0; i < s->nplans && t.st == CUBED_OK; i++) t.st = try_plan(s, i, &t, &why);
    t.enough = why.enough_mem;
    return t;
}

/* --- Advice ---------------------------------------------------------------------------------------------- */

/* Returns the memory for the next trial plan after a plan with `tried` bytes was refused. A refused plan may request much memory
 * for metadata. More memory allows larger pieces, which need less metadata. So less memory than requested may be enough. */
static uint64_t next_guess(const cubed_context *ctx, uint64_t enough, uint64_t tried)
{
    if (enough <= ctx->machine_memory) return cb_max_size(enough, tried + tried / 8);
    return tried < ctx->machine_memory ? cb_min_size(cb_sat_mul(tried, 2), ctx->machine_memory)
                                       : UINT64_MAX;
}

/* Returns the first sufficient amount of memory that is found, from `guess` on, or 0 if there is none. If the chunks of the
 * arrays grow with the memory (trial.grows), continues from an amount that is a seventh larger, and returns the next sufficient
 * amount if one is found. Sets *refused to the largest insufficient amount. */
static uint64_t find_enough(search *s, uint64_t guess, uint64_t *refused, trial *found)
{
    uint64_t enough = 0;
    for (int i = 0; i < TRIALS && guess > 0 && guess <= s->have; i++) {
        const trial t = try_with(s, guess);
        if (t.st == CUBED_OK) {
            const bool first = enough == 0;
            enough = guess;
            *found = t;
            if (!t.grows || !first) break;
            guess = cb_sat_add(guess, guess / 7);
            continue;
        }
        if (t.st != CUBED_E_BUDGET) break;
        *refused = cb_max_size(*refused, guess);
        guess = next_guess(s->q->ctx, t.enough, guess);
    }
    return enough;
}

/* Returns a sufficient amount of memory between `refused` and `enough`. Such an amount may exist if arrays are recreated for each
 * amount of memory, because arrays for less memory may need less. */
static uint64_t find_less(search *s, uint64_t enough, uint64_t refused, trial *found)
{
    for (int i = 0; i < BISECTIONS && s->options.remake && !is_late(s); i++) {
        /* Try at least half, because plans with smaller tasks have more tasks and take longer to make. */
        const uint64_t guess =
            cb_max_size((uint64_t)sqrt((double)refused * (double)enough), enough / 2);
        if (refused == 0 || enough - refused <= enough / 16 || guess <= refused || guess >= enough)
            break;
        const trial t = try_with(s, guess);
        if (t.st == CUBED_OK) {
            enough = guess;
            *found = t;
        } else {
            refused = guess;
        }
    }
    return enough;
}

/* Returns the smallest of several amounts from `enough` on for which the product of memory and moved data is near its minimum. A
 * larger amount is returned only if it makes the product smaller. */
static uint64_t find_efficient(search *s, uint64_t enough, const trial *least, trial *found)
{
    /* Larger factors come first, because the time may run out. */
    static const double factors[] = {2, 1.25, 4, 1.1, 1.5};
    enum { N = sizeof factors / sizeof *factors };
    trial t[N];
    uint64_t mem[N], knee = enough;
    double best = cost_of(least->moved) * (double)enough;
    int n = 0;
    *found = *least;
    s->started = cb_clock_thread_ns();
    for (int i = 0; i < N && cost_of(least->moved) > SMALL_COST && !is_late(s); i++) {
        const double guess = factors[i] * (double)enough;
        if (guess > (double)s->have / least->workers && !s->shared) continue;
        mem[n] = (uint64_t)guess;
        t[n] = try_with(s, mem[n]);
        if (t[n].st != CUBED_OK) continue;
        best = fmin(best, cost_of(t[n].moved) * (double)mem[n]);
        n++;
    }
    if (cost_of(least->moved) * (double)enough <= NEAR * best) return enough;
    for (int i = 0; i < n; i++) {
        if (cost_of(t[i].moved) * (double)mem[i] > NEAR * best) continue;
        if (knee > enough && mem[i] >= knee) continue;
        *found = t[i];
        knee = mem[i];
    }
    return knee;
}

static void note_saving(cubed_error *err, uint64_t less, const trial *from, const trial *to)
{
    char a[32], b[32];
    cb_format_bytes(from->moved.bytes, a);
    cb_format_bytes(to->moved.bytes, b);
    cb_note(err,
            "; %" PRIu64 " bytes would do, but the run would read and write %s in %" PRIu64
            " requests instead of %s in %" PRIu64,
            less, a, from->moved.requests, b, to->moved.requests);
}

void cb_opt_advise(cb_request *q, int n, cubed_error *err)
{
    const cubed_plan_options *given = q->options;
    uint64_t guess = err->enough_mem, refused = given->allowed_mem, less = 0;
    trial least = {0}, found;
    search s;
    err->enough_mem = 0;
    if (!start(q, n, &s)) {
        end(&s);
        return;
    }
    if (guess > q->ctx->machine_memory) guess = next_guess(q->ctx, guess, given->allowed_mem);
    uint64_t enough = find_enough(&s, guess, &refused, &least);
    found = least;
    if (enough > given->allowed_mem) {
        less = find_less(&s, enough, refused, &least);
        enough = find_efficient(&s, less, &least, &found);
    }
    err->enough_mem = enough;
    if (enough == 0) {
        cb_note(err, "; %s machine has too little memory: make the chunks smaller",
                given->other_machines ? "a" : "this");
    } else if (enough < given->allowed_mem) {
        cb_note(err, "; allow at most %" PRIu64 " bytes, or use fewer workers", enough);
    } else {
        cb_note(err, "; allow at least %" PRIu64 " bytes", enough);
        if (found.workers < s.workers) cb_note(err, " with at most %u workers", found.workers);
        cb_note(err, ", or make the chunks smaller");
        if (less < enough) note_saving(err, less, &least, &found);
    }
    end(&s);
}

/* --- Accepted plans ----------------------------------------------------------------------------------- */

void cb_opt_note_cliff(cb_request *q, cubed_plan *p)
{
    static const double factors[] = {1.1, 1.25};
    const double cost = cost_of(moved_by(p));
    search s;
    if (!p->making.optimized || cost < SMALL_COST || cost <= CLIFF * cost_of(moved_once(p))) return;
    if (start(q, 1, &s)) {
        for (int i = 0; i < 2 && p->cliff_mem == 0 && !is_late(&s); i++) {
            const double mem = factors[i] * (double)p->allowed_mem;
            if (mem * cb_machine_workers(p) > (double)s.have) break;
            const trial t = try_with(&s, (uint64_t)mem);
            if (t.st != CUBED_OK || cost <= CLIFF * cost_of(t.moved)) continue;
            p->cliff_mem = (uint64_t)mem;
            p->cliff_bytes = t.moved.bytes;
            p->cliff_requests = t.moved.requests;
        }
    }
    end(&s);
}
