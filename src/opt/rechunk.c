/* How an intermediate's grid is found.
 *
 * Let R be a box of whole source chunks and W one of whole target chunks, each as large as memory
 * allows and grown towards the other. A task of the first pass makes R, one of the second W, and
 * every source and target chunk is touched once. Where they intersect is the natural chunk of the
 * intermediate: a task of either pass holds whole ones, if R and W are multiples of it. With k
 * intermediates there are k - 1 boxes between R and W, in geometric progression, and the grids are
 * the intersections of neighbours.
 *
 * R and W are seldom multiples of anything common, and chunks that do not divide an axis are padded
 * at its end. Both cost bytes, small chunks cost requests. So the guess is improved: one axis of
 * one intermediate at a time takes another plausible length, and the tile search says what the
 * passes on both sides then read. */
#include "opt/rechunk.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/error.h"

#define MAX_MIDDLES (CB_RECHUNK_MAX_PASSES - 1)
#define MAX_LENGTHS 48
/* Tile searches per number of passes, which bounds the time: one takes a few microseconds. They
 * count more with many axes. */
#define MAX_TRIALS 250
/* Another pass must be better by this, as its files are a nuisance. */
#define WORTH_A_PASS 0.98

typedef struct planner {
    cb_rechunk_in in; /* with its defaults filled in */
    int trials;       /* left */
} planner;

/* Passes being planned: pass i goes from grid i to grid i + 1. */
typedef struct chain {
    int npasses;
    cb_grid grid[CB_RECHUNK_MAX_PASSES + 1];
    cb_tile tile[CB_RECHUNK_MAX_PASSES];
    bool fits[CB_RECHUNK_MAX_PASSES];
    double seconds;
} chain;

/* --- What a chain costs ---------------------------------------------------------------------- */

static double grid_chunks(const cb_grid *g)
{
    double n = 1;
    for (int d = 0; d < g->ndim; d++) n *= (double)cb_axis_count(&g->axis[d]);
    return n;
}

static double grid_bytes(const planner *p, const cb_grid *g)
{
    return (double)cb_tile_grid_bytes(g, p->in.item_size);
}

static double predict(const planner *p, double stored, double decoded, double requests)
{
    return fmax(stored / p->in.bandwidth, decoded / p->in.codec_bandwidth) +
           requests * p->in.latency;
}

static double ratio(const planner *p, const chain *c, int grid)
{
    return grid == 0 || grid == c->npasses ? p->in.source_ratio : 1;
}

static void chain_predict(const planner *p, chain *c)
{
    double stored = 0, decoded = 0, requests = 0;
    for (int i = 0; i < c->npasses; i++) {
        double read = (double)c->tile[i].bytes_read, written = grid_bytes(p, &c->grid[i + 1]);
        if (!c->fits[i]) {
            c->seconds = INFINITY;
            return;
        }
        stored += read * ratio(p, c, i) + written * ratio(p, c, i + 1);
        decoded += read + written;
        requests += (double)c->tile[i].chunks_read + grid_chunks(&c->grid[i + 1]);
    }
    c->seconds = predict(p, stored, decoded, requests);
}

/* What no chain of so many passes is faster than: nothing read twice or padded. */
static double least_seconds(const planner *p, int npasses)
{
    double raw = (double)p->in.item_size;
    for (int d = 0; d < p->in.source.ndim; d++) raw *= (double)p->in.source.axis[d].extent;
    raw *= 2 * (npasses - 1);
    double ends = grid_bytes(p, &p->in.source) + grid_bytes(p, &p->in.target);
    return predict(p, ends * p->in.source_ratio + raw, ends + raw,
                   grid_chunks(&p->in.source) + grid_chunks(&p->in.target));
}

static void plan_pass(planner *p, chain *c, int i)
{
    size_t middle = p->in.middle_extra;
    cb_tile_source source = {.grid = &c->grid[i],
                             .item_size = p->in.item_size,
                             .read_extra = i == 0 ? p->in.read_extra : middle};
    cb_tile_in in = {.out = &c->grid[i + 1],
                     .item_size = p->in.item_size,
                     .write_extra = i == c->npasses - 1 ? p->in.write_extra : middle,
                     .copy = true,
                     .team = p->in.team,
                     .nsources = 1,
                     .sources = &source,
                     .mem = p->in.mem,
                     .fixed = p->in.fixed,
                     .worth = p->in.worth,
                     .min_tasks = p->in.min_tasks};
    p->trials -= 1 + c->grid[0].ndim * c->grid[0].ndim / 64;
    c->fits[i] = cb_tile_choose(&in, &c->tile[i], NULL) == CUBED_OK;
}

/* --- First guesses --------------------------------------------------------------------------- */

/* An axis of a box of whole chunks, at most `most` of them, that makes the axis's tasks equal. */
static int64_t even_length(const cb_axis *a, double most)
{
    int64_t n = cb_axis_count(a), k = 1;
    if (most >= (double)n)
        k = n;
    else if (most > 1)
        k = (int64_t)most;
    k = cb_ceil_div(n, cb_ceil_div(n, k));
    return k == n ? a->extent : k * a->chunk;
}

/* Grows a box of whole chunks of `own` to at most `most` elements, towards the length of a chunk of
 * `other` on each axis. Order 0: first the axis that has farthest to go, 1: the nearest. */
static void grow(const cb_grid *own, const cb_grid *other, double most, int order, int64_t *box)
{
    double elements = 1;
    uint32_t done = 0;
    for (int d = 0; d < own->ndim; d++) {
        box[d] = cb_min_i64(own->axis[d].extent, own->axis[d].chunk);
        elements *= (double)box[d];
    }
    for (int turn = 0; turn < own->ndim; turn++) {
        int best = -1;
        double best_ratio = 0;
        for (int d = 0; d < own->ndim; d++) {
            double goal = (double)cb_min_i64(own->axis[d].extent, other->axis[d].chunk);
            double r = goal / (double)box[d];
            if (done >> d & 1 || r <= 1) continue;
            if (best < 0 || (order == 0 ? r > best_ratio : r < best_ratio)) {
                best = d;
                best_ratio = r;
            }
        }
        if (best < 0) return;
        const cb_axis *a = &own->axis[best];
        double rest = elements / (double)box[best], goal = ceil(best_ratio);
        done |= 1u << best;
        box[best] = even_length(a, fmin(goal, most / rest / (double)a->chunk));
        elements = rest * (double)box[best];
    }
}

static int64_t round_to(int64_t length, int64_t unit)
{
    return length <= unit ? unit : (length + unit / 2) / unit * unit;
}

/* The intermediates of c from boxes of `share` of the memory. */
static void guess(const planner *p, double share, int order, chain *c)
{
    const cb_grid *source = &p->in.source, *target = &p->in.target;
    int64_t r[CUBED_MAX_NDIM], w[CUBED_MAX_NDIM], shape[CUBED_MAX_NDIM];
    int64_t piece[MAX_MIDDLES][CUBED_MAX_NDIM];
    double chunk = (double)cb_max_size(cb_tile_chunk_bytes(source, p->in.item_size),
                                       cb_tile_chunk_bytes(target, p->in.item_size));
    double room = fmax(0, (double)p->in.mem - chunk) * (p->in.team > 1 ? p->in.team : 1);
    double most = room * share / (double)p->in.item_size;
    int k = c->npasses - 1;
    grow(source, target, most, order, r);
    grow(target, source, most, order, w);
    for (int d = 0; d < source->ndim; d++) {
        int64_t from = r[d], unit = cb_min_i64(r[d], w[d]);
        shape[d] = source->axis[d].extent;
        for (int i = 1; i <= k; i++) {
            double t = (double)i / k;
            int64_t to = w[d];
            /* Boxes between are multiples of the shorter end, so that they nest in it. */
            if (i < k) {
                double mean = pow((double)r[d], 1 - t) * pow((double)w[d], t);
                to = round_to((int64_t)mean, unit);
            }
            to = cb_min_i64(to, shape[d]);
            piece[i - 1][d] = cb_min_i64(from, to);
            from = to;
        }
    }
    for (int i = 1; i <= k; i++) c->grid[i] = cb_grid_regular(source->ndim, shape, piece[i - 1]);
}

/* --- Improving a guess ----------------------------------------------------------------------- */

typedef struct lengths {
    int n;
    int64_t length[MAX_LENGTHS];
} lengths;

static void add_length(lengths *l, int64_t length, int64_t extent)
{
    if (length < 1) return;
    length = cb_min_i64(length, extent);
    for (int i = 0; i < l->n; i++) {
        if (l->length[i] == length) return;
    }
    if (l->n < MAX_LENGTHS) l->length[l->n++] = length;
}

/* Multiples of `unit` near `now`, as they are and so that the last chunk of the axis is not much
 * shorter than the others. */
static void add_multiples(lengths *l, int64_t unit, int64_t now, int64_t extent)
{
    static const double factors[] = {1, 0.85, 1.15, 0.7, 1.4, 0.5, 2};
    for (size_t f = 0; f < sizeof factors / sizeof *factors; f++) {
        double many = round((double)now * factors[f] / (double)unit);
        if (many * (double)unit >= (double)extent) {
            add_length(l, extent, extent);
            continue;
        }
        int64_t length = unit * (many < 1 ? 1 : (int64_t)many);
        cb_axis units = cb_axis_regular(extent, unit);
        add_length(l, length, extent);
        add_length(l, even_length(&units, fmax(1, many)), extent);
    }
}

/* The longest few parts of at most `now` into which a length divides. */
static void add_parts(lengths *l, int64_t length, int64_t now, int64_t extent)
{
    int64_t parts = cb_ceil_div(length, now);
    for (int i = 0, found = 0; i < 64 && found < 3 && parts + i <= length; i++) {
        if (length % (parts + i)) continue;
        add_length(l, length / (parts + i), extent);
        found++;
    }
}

/* Lengths worth a trial in place of grid i's on axis d. */
static void list_lengths(const chain *c, int i, int d, lengths *l)
{
    const cb_axis *source = &c->grid[0].axis[d], *target = &c->grid[c->npasses].axis[d];
    const cb_axis *before = &c->grid[i - 1].axis[d], *after = &c->grid[i + 1].axis[d];
    int64_t now = c->grid[i].axis[d].chunk, extent = c->grid[i].axis[d].extent;
    /* Chunks of this length or a part of it never straddle anything. */
    int64_t common = cb_gcd_i64(cb_gcd_i64(source->chunk, source->first),
                                cb_gcd_i64(target->chunk, target->first));
    l->n = 0;
    add_length(l, now, extent);
    add_multiples(l, source->chunk, now, extent);
    add_multiples(l, target->chunk, now, extent);
    add_parts(l, source->chunk, now, extent);
    add_parts(l, target->chunk, now, extent);
    add_length(l, common, extent);
    add_multiples(l, common, now, extent);
    if (i > 1) add_multiples(l, before->chunk, now, extent);
    if (i < c->npasses - 1) add_parts(l, after->chunk, now, extent);
}

/* Gives intermediate i the length on axis d that is predicted to be fastest. */
static bool improve_axis(planner *p, chain *c, int i, int d)
{
    lengths l;
    chain best = *c, trial = *c;
    list_lengths(c, i, d, &l);
    for (int k = 1; k < l.n && p->trials > 0; k++) {
        trial.grid[i].axis[d] = cb_axis_regular(c->grid[i].axis[d].extent, l.length[k]);
        plan_pass(p, &trial, i - 1);
        plan_pass(p, &trial, i);
        chain_predict(p, &trial);
        if (trial.seconds < best.seconds) best = trial;
    }
    bool better = best.seconds < c->seconds * (1 - 1e-6);
    if (better) *c = best;
    return better;
}

static void improve(planner *p, chain *c, double enough)
{
    bool any = true;
    while (any && p->trials > 0) {
        any = false;
        for (int i = 1; i < c->npasses; i++) {
            for (int d = 0; d < c->grid[0].ndim && c->seconds > enough; d++)
                any = improve_axis(p, c, i, d) || any;
        }
    }
}

/* The best chain of c->npasses passes that is found. */
static void search(planner *p, chain *c)
{
    static const double shares[] = {1, 0.75, 0.5, 0.25};
    chain first = {.seconds = INFINITY}, second = first, trial = *c;
    double enough = least_seconds(p, c->npasses) * 1.01;
    p->trials = MAX_TRIALS;
    for (int g = 0; g < 8; g++) {
        guess(p, shares[g / 2], g % 2, &trial);
        for (int i = 0; i < trial.npasses; i++) plan_pass(p, &trial, i);
        chain_predict(p, &trial);
        if (trial.seconds < first.seconds) {
            second = first;
            first = trial;
        } else if (trial.seconds < second.seconds) {
            second = trial;
        }
    }
    c->seconds = INFINITY;
    if (first.seconds < INFINITY) {
        improve(p, &first, enough);
        *c = first;
    }
    if (second.seconds < INFINITY && c->seconds > enough) {
        improve(p, &second, enough);
        if (second.seconds < c->seconds) *c = second;
    }
}

/* --- The plan -------------------------------------------------------------------------------- */

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
                           "axis %d of the %s grid has chunks of %" PRId64
                           " with a first one of %" PRId64 ", expected 1 to the former",
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
    if (full.source_ratio <= 0) full.source_ratio = 1;
    if (full.bandwidth <= 0) full.bandwidth = CB_RECHUNK_BANDWIDTH;
    if (full.codec_bandwidth <= 0) full.codec_bandwidth = CB_RECHUNK_CODEC_BANDWIDTH;
    if (full.latency <= 0) full.latency = CB_RECHUNK_LATENCY;
    if (full.max_passes == 0) full.max_passes = CB_RECHUNK_MAX_PASSES;
    return full;
}

static void write_plan(const planner *p, const chain *c, cb_rechunk_plan *out)
{
    *out = (cb_rechunk_plan){.npasses = c->npasses, .seconds = c->seconds};
    for (int i = 0; i < c->npasses; i++) {
        cb_rechunk_pass *pass = &out->pass[i];
        pass->target = c->grid[i + 1];
        memcpy(pass->task_chunks, c->tile[i].task_chunks, sizeof pass->task_chunks);
        pass->ntasks = c->tile[i].ntasks;
        pass->team = c->tile[i].team;
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

cubed_status cb_rechunk_plan_make(const cb_rechunk_in *in, cb_rechunk_plan *out, cubed_error *err)
{
    CB_TRY(check(in, err));
    planner p = {.in = with_defaults(in)};
    chain best = {.npasses = 1, .grid = {in->source, in->target}};
    plan_pass(&p, &best, 0);
    if (!best.fits[0]) {
        cb_tile_source source = {&in->source, NULL, in->item_size, in->read_extra};
        cb_tile_in one = {.out = &in->target,
                          .item_size = in->item_size,
                          .write_extra = in->write_extra,
                          .copy = true,
                          .nsources = 1,
                          .sources = &source,
                          .fixed = in->fixed};
        int64_t chunks[CUBED_MAX_NDIM];
        cb_tile least;
        for (int d = 0; d < in->source.ndim; d++) chunks[d] = 1;
        cb_tile_measure(&one, chunks, &least);
        return cb_fail(
            err, CUBED_E_BUDGET,
            "rechunking takes at least %zu bytes per task, for a source chunk of %zu and "
            "a target chunk of %zu; %zu are allowed",
            least.task_mem, cb_tile_chunk_bytes(&in->source, in->item_size),
            cb_tile_chunk_bytes(&in->target, in->item_size), in->mem);
    }
    chain_predict(&p, &best);
    for (int n = 2; n <= p.in.max_passes && best.tile[0].ntasks > 0; n++) {
        chain c = {.npasses = n};
        if (least_seconds(&p, n) >= best.seconds * WORTH_A_PASS) break;
        c.grid[0] = in->source;
        c.grid[n] = in->target;
        search(&p, &c);
        if (c.seconds < best.seconds * WORTH_A_PASS) best = c;
    }
    write_plan(&p, &best, out);
    return CUBED_OK;
}
