/* Finds the grids of intermediates.
 *
 * Let R be a box of whole source chunks, and W a box of whole target chunks. Each is as large as memory allows, and its shape
 * approaches the shape of the other. A task of the first pass produces R, and a task of the second pass produces W. So every
 * source and target chunk is touched once. The intersection of R and W is the natural chunk of the intermediate: tasks of both
 * passes consist of whole chunks if R and W are multiples of it. With k intermediates there are k - 1 boxes between R and W, in
 * geometric progression. The grids are the intersections of adjacent boxes.
 *
 * R and W rarely have a suitable common divisor, and small chunks cost requests. So this first guess is improved: one axis of one
 * intermediate at a time is set to another plausible length, and the tile search determines the cost of the passes on both
 * sides. */
#include "opt/rechunk_chain.h"

#include <math.h>
#include <string.h>

#define MAX_MIDDLES (CB_RECHUNK_MAX_PASSES - 1)
#define MAX_LENGTHS 48

/* --- Costs of a chain of copies ----------------------------------------------------------------------- */

static double grid_chunks(const cb_grid *g)
{
    double n = 1;
    for (int d = 0; d < g->ndim; d++) n *= (double)cb_axis_count(&g->axis[d]);
    return n;
}

static uint64_t grid_bytes(const cb_planner *p, const cb_grid *g)
{
    return cb_tile_grid_bytes(g, p->in.item_size);
}

static double predict(const cb_planner *p, double bytes, double requests)
{
    return bytes / p->in.bandwidth + requests * p->in.latency;
}

static double array_bytes(const cb_planner *p)
{
    double raw = (double)p->in.item_size;
    for (int d = 0; d < p->in.source.ndim; d++) raw *= (double)p->in.source.axis[d].extent;
    return raw;
}

static uint64_t counted(const cb_rechunk_in *in, uint64_t bytes)
{
    return bytes > in->run.unreserved ? bytes - in->run.unreserved : 0;
}

/* Returns the bytes of metadata that a run of the chain keeps in addition to its tasks. */
static uint64_t run_bytes(const cb_planner *p, const cb_chain *c)
{
    const cb_rechunk_run *run = &p->in.run;
    uint64_t bytes = run->others;
    for (int i = 0; i < c->npasses; i++) {
        uint64_t chunks = i > 0 ? (uint64_t)cb_grid_count(&c->grid[i]) : 0;
        bytes = cb_sat_add(bytes, cb_sat_add(run->pass, cb_sat_mul(chunks, run->chunk)));
    }
    return counted(&p->in, bytes);
}

static double excess(double is, double most) { return is <= most ? 0 : is / most - 1; }

/* In the score of a chain, each doubling of the number of requests adds this fraction to the time. */
#define A_DOUBLING 0.02

/* A chain of passes that moves more than this multiple of the minimum bytes of a shorter chain counts as a chain of more passes.
 * The factor allows for padding and repeated reads. */
#define SLACK 1.05

double cb_chain_floor(const cb_planner *p, const cb_chain *c)
{
    double bytes = (double)c->bytes, requests = 2 * array_bytes(p) / ((double)CB_RECHUNK_BETA / 2);
    if (bytes <= SLACK * (double)cb_chain_least_bytes(p, 2)) return 0;
    if (bytes > SLACK * (double)cb_chain_least_bytes(p, 3)) requests *= 4;
    requests = p->floor * (cb_chain_ends(p) + requests);
    if (!p->no_worse || bytes > 0.97 * (double)p->no_worse->bytes) return requests;
    return fmin(requests, 0.95 * (double)p->no_worse->requests);
}

void cb_chain_rate(const cb_planner *p, const cb_rechunk_cost *cost, cb_chain *c)
{
    c->bytes = cost->bytes;
    c->requests = cost->requests;
    c->need = cb_sat_add(cost->task_mem, run_bytes(p, c));
    c->seconds = predict(p, (double)c->bytes, (double)c->requests);
    /* Prefer fewer requests even if the time depends almost only on the bytes. */
    c->score = c->seconds;
    if (c->requests > 0) c->score *= 1 + A_DOUBLING * log2((double)c->requests / cb_chain_ends(p));
    c->score *= 1 + 100 * excess(cb_chain_floor(p, c), (double)c->requests);
    if (p->no_worse)
        c->score *= 1 + 100 * excess((double)c->bytes, (double)p->no_worse->bytes) +
                    100 * excess((double)c->requests, (double)p->no_worse->requests);
}

static void does_not_fit(cb_chain *c) { c->seconds = c->score = INFINITY; }

/* Returns the cost of the chain by the formulas of the tile search, without projected stages. */
static cb_rechunk_cost chain_cost(const cb_planner *p, const cb_chain *c)
{
    cb_rechunk_cost cost = {0, 0, 0};
    for (int i = 0; i < c->npasses; i++) {
        uint64_t read = c->tile[i].bytes_read, written = grid_bytes(p, &c->grid[i + 1]);
        cost.bytes = cb_sat_add(cost.bytes, cb_sat_add(read, written));
        cost.requests = cb_sat_add(cost.requests, c->tile[i].chunks_read);
        cost.requests = cb_sat_add(cost.requests, (size_t)cb_grid_count(&c->grid[i + 1]));
        cost.task_mem = cb_max_size(cost.task_mem, c->tile[i].task_mem);
    }
    return cost;
}

static void chain_predict(const cb_planner *p, cb_chain *c)
{
    bool fits = true;
    for (int i = 0; i < c->npasses; i++) fits = fits && c->fits[i];
    if (fits) {
        const cb_rechunk_cost cost = chain_cost(p, c);
        cb_chain_rate(p, &cost, c);
    }
    if (!fits || c->need > p->mem) does_not_fit(c);
}

uint64_t cb_chain_least_bytes(const cb_planner *p, int npasses)
{
    uint64_t read = p->in.judge ? p->in.least_bytes : grid_bytes(p, &p->in.source);
    uint64_t ends = cb_sat_add(read, grid_bytes(p, &p->in.target));
    return cb_sat_add(ends, cb_sat_mul((uint64_t)array_bytes(p), 2 * (size_t)(npasses - 1)));
}

double cb_chain_ends(const cb_planner *p)
{
    double read = p->in.judge ? (double)p->in.least_requests : grid_chunks(&p->in.source);
    return read + grid_chunks(&p->in.target);
}

double cb_chain_least_seconds(const cb_planner *p, int npasses)
{
    return predict(p, (double)cb_chain_least_bytes(p, npasses), cb_chain_ends(p));
}

/* Creates the arguments of the search for the tiles of pass i. Sets `source`. */
static cb_tile_in pass_in(const cb_planner *p, const cb_chain *c, int i, cb_tile_source *source)
{
    size_t middle = p->in.middle_extra, kept = run_bytes(p, c);
    bool first = i == 0, given = first && p->in.sources;
    *source = (cb_tile_source){.grid = &c->grid[i],
                               .item_size = p->in.item_size,
                               .read_extra = first ? p->in.read_extra : middle,
                               .part_run = first ? p->in.part_run : 0,
                               .part_extra = p->in.part_extra,
                               .part_whole = p->in.part_whole};
    return (cb_tile_in){.out = &c->grid[i + 1],
                        .item_size = p->in.item_size,
                        .write_extra = i == c->npasses - 1 ? p->in.write_extra : middle,
                        .copy = !given || p->in.copies,
                        .coop = p->in.coop,
                        .nsources = given ? p->in.nsources : 1,
                        .sources = given ? p->in.sources : source,
                        .mem = p->mem > kept ? p->mem - kept : 0,
                        .fixed = p->in.fixed,
                        .worth = p->in.worth,
                        .min_tasks = p->in.min_tasks};
}

void cb_chain_single(const cb_planner *p, cb_chain *out)
{
    cb_tile_source source;
    int64_t chunks[CUBED_MAX_NDIM];
    *out = (cb_chain){.npasses = 1, .grid = {p->in.source, p->in.target}, .fits = {true}};
    cb_tile_in in = pass_in(p, out, 0, &source);
    for (int d = 0; d < p->in.source.ndim; d++) chunks[d] = 1;
    in.coop = 1;
    cb_tile_measure(&in, chunks, &out->tile[0]);
    const cb_rechunk_cost cost = chain_cost(p, out);
    cb_chain_rate(p, &cost, out);
}

static void plan_pass(cb_planner *p, cb_chain *c, int i)
{
    cb_tile_source source;
    cb_tile_in in = pass_in(p, c, i, &source);
    const cb_pass_key key = {.from = &c->grid[i],
                             .to = &c->grid[i + 1],
                             .first = i == 0,
                             .last = i == c->npasses - 1,
                             .mem = in.mem};
    bool known;
    cb_pass_found *found = cb_pass_memo_find(p->memo, &key, &known);
    if (!known) found->fits = cb_tile_choose(&in, &found->tile, NULL) == CUBED_OK;
    p->trials -= 1 + c->grid[0].ndim * c->grid[0].ndim / 64;
    c->fits[i] = found->fits;
    if (found->fits) c->tile[i] = found->tile;
}

void cb_chain_again(cb_planner *p, cb_chain *c)
{
    for (int i = 0; i < c->npasses; i++) plan_pass(p, c, i);
    chain_predict(p, c);
}

void cb_chain_direct(cb_planner *p, cb_chain *out)
{
    *out = (cb_chain){.npasses = 1, .grid = {p->in.source, p->in.target}};
    cb_chain_again(p, out);
    if (out->seconds < INFINITY) return;
    /* A single pass of the smallest tasks needs less memory than any other plan. So, if it does not fit, no plan fits. */
    cb_chain_single(p, out);
    if (!p->in.judge && out->need > p->mem) does_not_fit(out);
}

/* --- Initial guesses ---------------------------------------------------------------------------------- */

/* Returns the length of a box of whole chunks along an axis: at most `most` chunks, chosen such that tasks along the axis have
 * about equal lengths. */
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

/* Grows a box of whole chunks of `own` to at most `most` elements, towards the chunk lengths of `other`. If `order` is 0, starts
 * with the axis whose length is farthest from its chunk length in `other`; if it is 1, with the nearest. */
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

/* Intermediates are stored without padding. */
static cb_axis middle_axis(int64_t extent, int64_t length)
{
    cb_axis a = cb_axis_regular(extent, length);
    a.clipped = true;
    return a;
}

static int64_t round_to(int64_t length, int64_t unit)
{
    return length <= unit ? unit : (length + unit / 2) / unit * unit;
}

/* Sets the grids of the intermediates of c to a first guess, from boxes that use the fraction `share` of the memory. */
static void guess(const cb_planner *p, double share, int order, cb_chain *c)
{
    const cb_grid *source = &p->in.source, *target = &p->in.target;
    int64_t r[CUBED_MAX_NDIM], w[CUBED_MAX_NDIM], shape[CUBED_MAX_NDIM];
    int64_t piece[MAX_MIDDLES][CUBED_MAX_NDIM];
    double chunk = (double)cb_max_size(cb_tile_chunk_bytes(source, p->in.item_size),
                                       cb_tile_chunk_bytes(target, p->in.item_size));
    double room = fmax(0, (double)p->mem - chunk) * (p->in.coop > 1 ? p->in.coop : 1);
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
            /* The boxes between the first and the last have intermediate lengths, rounded to a multiple of the shorter of the
             * first and the last length. */
            if (i < k) {
                double mean = pow((double)r[d], 1 - t) * pow((double)w[d], t);
                to = round_to((int64_t)mean, unit);
            }
            to = cb_min_i64(to, shape[d]);
            piece[i - 1][d] = cb_min_i64(from, to);
            from = to;
        }
    }
    for (int i = 1; i <= k; i++) {
        c->grid[i].ndim = source->ndim;
        for (int d = 0; d < source->ndim; d++)
            c->grid[i].axis[d] = middle_axis(shape[d], piece[i - 1][d]);
    }
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

/* Adds multiples of `unit` near `now` to the list: rounded multiples, and multiples for which the last chunk of the axis is
 * nearly as long as the others. */
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

/* Adds the largest few divisors of a length that are at most `now`. */
static void add_parts(lengths *l, int64_t length, int64_t now, int64_t extent)
{
    int64_t parts = cb_ceil_div(length, now);
    for (int i = 0, found = 0; i < 64 && found < 3 && parts + i <= length; i++) {
        if (length % (parts + i)) continue;
        add_length(l, length / (parts + i), extent);
        found++;
    }
}

/* Lists lengths to try for grid i on axis d. */
static void list_lengths(const cb_chain *c, int i, int d, lengths *l)
{
    const cb_axis *source = &c->grid[0].axis[d], *target = &c->grid[c->npasses].axis[d];
    const cb_axis *before = &c->grid[i - 1].axis[d], *after = &c->grid[i + 1].axis[d];
    int64_t now = c->grid[i].axis[d].chunk, extent = c->grid[i].axis[d].extent;
    /* A chunk whose length divides `common` is within one chunk of the source and within one chunk of the target. */
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

/* Sets the length of intermediate i on axis d to the length that is predicted to be fastest. */
static bool improve_axis(cb_planner *p, cb_chain *c, int i, int d)
{
    lengths l;
    cb_chain best = *c, trial = *c;
    list_lengths(c, i, d, &l);
    for (int k = 1; k < l.n && p->trials > 0; k++) {
        trial.grid[i].axis[d] = middle_axis(c->grid[i].axis[d].extent, l.length[k]);
        plan_pass(p, &trial, i - 1);
        plan_pass(p, &trial, i);
        chain_predict(p, &trial);
        if (trial.score < best.score) best = trial;
    }
    bool better = best.score < c->score * (1 - 1e-6);
    if (better) *c = best;
    return better;
}

static void improve(cb_planner *p, cb_chain *c, double enough)
{
    bool any = true;
    while (any && p->trials > 0) {
        any = false;
        for (int i = 1; i < c->npasses; i++) {
            for (int d = 0; d < c->grid[0].ndim && c->score > enough; d++)
                any = improve_axis(p, c, i, d) || any;
        }
    }
}

/* Keeps the two best chains of passes, the better one first. */
static void keep(cb_chain *first, cb_chain *second, const cb_chain *c)
{
    if (c->score < first->score) {
        *second = *first;
        *first = *c;
    } else if (c->score < second->score) {
        *second = *c;
    }
}

void cb_chain_search(cb_planner *p, int npasses, int trials, cb_chain *out)
{
    static const double shares[] = {1, 0.75, 0.5, 0.25, 0.1, 0.03};
    cb_chain first = {.seconds = INFINITY, .score = INFINITY}, second = first;
    cb_chain trial = {.npasses = npasses};
    double enough = cb_chain_least_seconds(p, npasses);
    /* The last two fractions of memory yield shorter pieces. Only chains that make many requests in any case need them. */
    size_t nshares = npasses > 2 ? 6 : 4;
    p->trials = trials;
    trial.grid[0] = p->in.source;
    trial.grid[npasses] = p->in.target;
    if (p->no_worse && p->no_worse->npasses == npasses) {
        cb_chain again = *p->no_worse;
        cb_chain_again(p, &again);
        keep(&first, &second, &again);
    }
    for (size_t g = 0; g < 2 * nshares; g++) {
        guess(p, shares[g / 2], (int)(g % 2), &trial);
        cb_chain_again(p, &trial);
        keep(&first, &second, &trial);
    }
    *out = first;
    if (first.score == INFINITY) return;
    improve(p, out, enough);
    if (second.score < INFINITY && out->score > enough) {
        improve(p, &second, enough);
        if (second.score < out->score) *out = second;
    }
}
