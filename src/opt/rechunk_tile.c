#include "opt/rechunk_tile.h"

#include <math.h>
#include <string.h>

#include "base/error.h"

/* Limits of the search. It varies the MAX_AXES axes that can save the most reads, and counts reads of the MAX_SOURCES sources
 * with the most bytes. For each axis, it tries at most MAX_TRIED lengths and keeps at most MAX_OPTIONS of them. The result of the
 * search is then evaluated and improved with all axes and sources. */
#define MAX_AXES    8
#define MAX_SOURCES 8
#define MAX_OPTIONS 20
#define MAX_TRIED   64
/* Maximum number of steps of the search. After this number, the best result so far is used. */
#define MAX_STEPS 3000

/* Costs are rounded, because they are sums of products in double precision. So a cost counts as smaller than another one only
 * if it is less than LESS times the other one. */
#define LESS (1 - 1e-9)

size_t cb_tile_chunk_bytes(const cb_grid *g, size_t item_size)
{
    size_t bytes = item_size;
    for (int d = 0; d < g->ndim; d++) bytes = cb_sat_mul(bytes, (size_t)g->axis[d].chunk);
    return bytes;
}

uint64_t cb_tile_grid_bytes(const cb_grid *g, size_t item_size)
{
    uint64_t bytes = item_size;
    for (int d = 0; d < g->ndim; d++)
        bytes = cb_sat_mul(bytes, (size_t)cb_axis_stored_all(&g->axis[d]));
    return bytes;
}

/* --- Counting -------------------------------------------------------------------------------- */

/* Returns the axis of source s that corresponds to axis d of the output, or -1 if no axis does. */
static int source_axis(const cb_tile_in *in, int s, int d)
{
    const cb_map *m = in->sources[s].map;
    if (!m) return d;
    for (int k = 0; k < m->ndim_out; k++) {
        if (m->dim[k].axis == d) return k;
    }
    return -1;
}

/* Returns the number of pairs of a task and a source chunk that the task reads, along axis d of the output. If the source has no
 * such axis, every task reads it. */
static uint64_t touched_along(const cb_tile_in *in, int s, int d, int64_t per)
{
    const cb_axis *out = &in->out->axis[d];
    int k = source_axis(in, s, d);
    if (k < 0) return (uint64_t)cb_axis_blocks(out, per);
    const cb_tile_source *src = &in->sources[s];
    int64_t offset = src->map ? src->map->dim[k].offset : 0;
    int64_t stride = src->map ? src->map->dim[k].stride : 1;
    return cb_axis_touched(out, per, offset, stride, &src->grid->axis[k]);
}

/* --- Memory ---------------------------------------------------------------------------------- */

static bool single_chunk(const cb_tile_in *in, const int64_t *per)
{
    for (int d = 0; d < in->out->ndim; d++) {
        if (per[d] != 1) return false;
    }
    return true;
}

/* Returns the number of elements along an axis that a task of `per` chunks computes. */
static int64_t task_length(const cb_axis *a, int64_t per)
{
    int64_t length;
    return cb_mul_i64(a->chunk, per, &length) ? a->extent : cb_min_i64(a->extent, length);
}

static unsigned coop_of(const cb_tile_in *in) { return in->copy && in->coop > 1 ? in->coop : 1; }

/* Returns the number of elements along an axis of the output for which a task allocates memory. Cooperative tasks allocate a
 * whole chunk, even for a shorter last chunk. */
static int64_t held_length(const cb_tile_in *in, int d, int64_t per)
{
    const cb_axis *a = &in->out->axis[d];
    int64_t length;
    if (coop_of(in) == 1) return task_length(a, per);
    return cb_mul_i64(a->chunk, cb_min_i64(per, cb_axis_count(a)), &length) ? INT64_MAX : length;
}

/* Returns the number of output chunks that each worker holds in memory for a task of a copy. If the task is cooperative,
 * several workers share its chunks. */
static size_t held_chunks(const cb_tile_in *in, const int64_t *per)
{
    size_t n = 1;
    for (int d = 0; d < in->out->ndim; d++)
        n = cb_sat_mul(n, (size_t)cb_min_i64(per[d], cb_axis_count(&in->out->axis[d])));
    return n / coop_of(in) + (n % coop_of(in) != 0);
}

/* Returns true if source chunks are read directly into the output's chunks. */
static bool in_place(const cb_tile_in *in, const int64_t *per)
{
    if (!in->copy || in->nsources != 1 || !single_chunk(in, per)) return false;
    const cb_tile_source *s = &in->sources[0];
    if (s->map && !cb_map_is_identity(s->map)) return false;
    for (int d = 0; d < in->out->ndim; d++) {
        const cb_axis *a = &s->grid->axis[d], *b = &in->out->axis[d];
        if (a->first != b->first || a->chunk != b->chunk || a->clipped != b->clipped) return false;
    }
    return true;
}

/* Returns the length along axis d of the part of a chunk that a task needs. */
static int64_t part_length(const cb_tile_in *in, const int64_t *per, int d)
{
    return cb_min_i64(in->sources[0].grid->axis[d].chunk, task_length(&in->out->axis[d], per[d]));
}

static bool is_one_run(const cb_tile_in *in, const int64_t *per)
{
    const cb_grid *g = in->sources[0].grid;
    int d = g->ndim - 1;
    while (d > 0 && cb_axis_count(&g->axis[d]) == 1 && part_length(in, per, d) == g->axis[d].chunk)
        d--;
    for (d--; d >= 0; d--) {
        if (part_length(in, per, d) != 1) return false;
    }
    return true;
}

/* Returns true if tasks of a copy read parts of source chunks, as the copy operator decides. *bytes receives the size of the
 * largest part. */
static bool reads_parts(const cb_tile_in *in, const int64_t *per, size_t *bytes)
{
    const cb_tile_source *s = &in->sources[0];
    size_t part = s->item_size, run = s->item_size;
    bool whole = true;
    if (!in->copy || s->part_run == 0 || (s->map && !cb_map_is_identity(s->map))) return false;
    if (s->part_whole && !is_one_run(in, per)) return false;
    for (int d = in->out->ndim - 1; d >= 0; d--) {
        int64_t chunk = s->grid->axis[d].chunk, n = part_length(in, per, d);
        part = cb_sat_mul(part, (size_t)cb_max_i64(1, n));
        if (whole) run = part;
        whole = whole && n == chunk;
    }
    *bytes = part;
    return run >= s->part_run && part <= cb_tile_chunk_bytes(s->grid, s->item_size) / 3 * 2;
}

/* Returns true if a task's part of source s must be gathered first, because it is not within one chunk with the layout of the
 * output's tile. */
static bool gathered(const cb_tile_in *in, int s, const int64_t *per)
{
    const cb_map *m = in->sources[s].map;
    for (int k = 0, last = -1; m && k < m->ndim_out; k++) {
        if (m->dim[k].axis < 0) continue;
        if (m->dim[k].axis < last) return true;
        last = m->dim[k].axis;
    }
    for (int d = 0; d < in->out->ndim; d++) {
        if (touched_along(in, s, d, per[d]) != (uint64_t)cb_axis_blocks(&in->out->axis[d], per[d]))
            return true;
    }
    return false;
}

/* Returns the memory of a task while it reads, in addition to the output's tile. */
static size_t reading_bytes(const cb_tile_in *in, const int64_t *per)
{
    size_t hold = 0, extra = 0, either = 0, part;
    if (reads_parts(in, per, &part))
        return cb_sat_add(cb_arena_round(part), in->sources[0].part_extra);
    if (in_place(in, per)) return in->sources[0].read_extra;
    for (int s = 0; s < in->nsources; s++) {
        const cb_tile_source *src = &in->sources[s];
        size_t chunk = cb_arena_round(cb_tile_chunk_bytes(src->grid, src->item_size));
        hold = cb_sat_add(hold, chunk);
        extra = cb_max_size(extra, src->read_extra);
        either = cb_max_size(either, cb_sat_add(chunk, src->read_extra));
        if (in->copy || !gathered(in, s, per)) continue;
        size_t tile = src->item_size;
        for (int d = 0; d < in->out->ndim; d++) {
            if (source_axis(in, s, d) >= 0)
                tile = cb_sat_mul(tile, (size_t)task_length(&in->out->axis[d], per[d]));
        }
        hold = cb_sat_add(hold, cb_arena_round(tile));
    }
    return in->copy ? either : cb_sat_add(hold, extra);
}

static size_t task_bytes(const cb_tile_in *in, const int64_t *per)
{
    size_t chunk = cb_tile_chunk_bytes(in->out, in->item_size), tile = in->item_size;
    size_t reading = reading_bytes(in, per);
    /* The memory of the output's chunks, which are adjacent. */
    size_t held = cb_arena_round(cb_sat_mul(in->copy ? held_chunks(in, per) : 1, chunk));
    size_t scattered = cb_sat_add(held, cb_max_size(in->write_extra, reading));
    if (coop_of(in) > 1 || single_chunk(in, per)) return cb_sat_add(in->fixed, scattered);
    for (int d = 0; d < in->out->ndim; d++)
        tile = cb_sat_mul(tile, (size_t)task_length(&in->out->axis[d], per[d]));
    size_t writing = cb_sat_add(in->write_extra, cb_arena_round(chunk));
    size_t tiled = cb_sat_add(cb_arena_round(tile), cb_max_size(writing, reading));
    return cb_sat_add(in->fixed, in->copy && scattered < tiled ? scattered : tiled);
}

/* Returns true if workers would be idle although there is enough data for several tasks. */
static bool too_few(const cb_tile_in *in, const int64_t *per)
{
    size_t tasks = 1;
    if (in->copy || single_chunk(in, per)) return false;
    for (int d = 0; d < in->out->ndim; d++)
        tasks = cb_sat_mul(tasks, (size_t)cb_axis_blocks(&in->out->axis[d], per[d]));
    return tasks < (size_t)in->min_tasks &&
           tasks < cb_tile_grid_bytes(in->out, in->item_size) / (in->worth + 1);
}

void cb_tile_measure(const cb_tile_in *in, const int64_t *task_chunks, cb_tile *out)
{
    cb_tile t = {.ntasks = 1, .coop = coop_of(in), .task_mem = task_bytes(in, task_chunks)};
    if (single_chunk(in, task_chunks)) t.coop = 1;
    for (int d = 0; d < in->out->ndim; d++) {
        t.task_chunks[d] = task_chunks[d];
        t.ntasks *= cb_axis_blocks(&in->out->axis[d], task_chunks[d]);
    }
    for (int s = 0; s < in->nsources; s++) {
        const cb_tile_source *src = &in->sources[s];
        uint64_t chunks = 1, bytes = src->item_size;
        bool same_axes = !src->map || cb_map_is_identity(src->map);
        size_t part;
        for (int d = 0; d < in->out->ndim; d++) {
            const cb_axis *a = &in->out->axis[d];
            chunks = cb_sat_mul(chunks, touched_along(in, s, d, task_chunks[d]));
            if (!same_axes) continue;
            bytes = cb_sat_mul(
                bytes, s == 0 && reads_parts(in, task_chunks, &part)
                           ? (size_t)cb_axis_stored_all(&src->grid->axis[d])
                           : cb_axis_touched_length(a, task_chunks[d], 0, 1, &src->grid->axis[d]));
        }
        if (!same_axes) bytes = cb_sat_mul(chunks, cb_tile_chunk_bytes(src->grid, src->item_size));
        t.chunks_read = cb_sat_add(t.chunks_read, chunks);
        t.bytes_read = cb_sat_add(t.bytes_read, bytes);
    }
    *out = t;
}

/* --- Search ------------------------------------------------------------------------------------------- */

/* A number of chunks per task along an axis that the search may choose. */
typedef struct option {
    int64_t per;
    double length; /* in elements */
    /* number of pairs of a task and a chunk along the axis, by source */
    double touched[MAX_SOURCES];
} option;

typedef struct axis_options {
    int axis; /* axis of the output to which the options belong */
    int n;
    /* options in ascending order of length: a longer task touches fewer chunks per element */
    option option[MAX_OPTIONS];
} axis_options;

typedef struct search {
    const cb_tile_in *in;
    int nsources, source[MAX_SOURCES]; /* sources that the search considers */
    /* by source: bytes per chunk, times the number of pairs of a task and a chunk along the axes that the search does not vary */
    double weight[MAX_SOURCES];
    double length; /* number of elements of a task along the axes that the search does not vary */
    int naxes;
    axis_options axes[MAX_AXES];
    /* Lower bounds of the products of the factors that the axes from k on contribute to the length and to the cost of each
     * source. */
    double least_length[MAX_AXES + 1], least_touched[MAX_AXES + 1][MAX_SOURCES];
    int64_t per[CUBED_MAX_NDIM]; /* current choice */
    int64_t best[CUBED_MAX_NDIM];
    double best_cost, best_length;
    int steps;
} search;

static void choose_sources(search *s)
{
    for (int i = 0; i < s->in->nsources; i++) {
        const cb_tile_source *src = &s->in->sources[i];
        double bytes = (double)cb_tile_grid_bytes(src->grid, src->item_size);
        int k = s->nsources < MAX_SOURCES ? s->nsources++ : MAX_SOURCES;
        /* Sort by bytes, largest first; `weight` temporarily contains the bytes. */
        for (; k > 0 && s->weight[k - 1] < bytes; k--) {
            if (k == MAX_SOURCES) continue;
            s->weight[k] = s->weight[k - 1];
            s->source[k] = s->source[k - 1];
        }
        if (k == MAX_SOURCES) continue;
        s->weight[k] = bytes;
        s->source[k] = i;
    }
    for (int k = 0; k < s->nsources; k++) {
        const cb_tile_source *src = &s->in->sources[s->source[k]];
        s->weight[k] = (double)cb_tile_chunk_bytes(src->grid, src->item_size);
    }
}

/* Returns the maximum number of chunks per task along axis d if a task may have `length` elements along this axis. */
static int64_t most_chunks(const cb_tile_in *in, int d, double length)
{
    const cb_axis *a = &in->out->axis[d];
    int64_t n = cb_axis_count(a);
    if (length >= (double)held_length(in, d, n)) return n;
    return cb_max_i64(1, cb_min_i64(n, (int64_t)(length / (double)a->chunk)));
}

/* Estimates how many elements of the output a task can compute within the memory. The number is exact for copies. */
static double most_elements(const cb_tile_in *in)
{
    size_t chunk = cb_arena_round(cb_tile_chunk_bytes(in->out, in->item_size));
    size_t writing = cb_sat_add(in->write_extra, in->copy ? 0 : chunk);
    size_t hold = 0, extra = 0, either = 0;
    for (int s = 0; s < in->nsources; s++) {
        const cb_tile_source *src = &in->sources[s];
        size_t bytes = cb_arena_round(cb_tile_chunk_bytes(src->grid, src->item_size));
        hold = cb_sat_add(hold, bytes);
        extra = cb_max_size(extra, src->read_extra);
        either = cb_max_size(either, cb_sat_add(bytes, src->read_extra));
    }
    size_t most = cb_max_size(writing, in->copy ? either : cb_sat_add(hold, extra));
    most = cb_sat_add(most, in->fixed);
    if (most >= in->mem) return 0;
    return floor((double)(in->mem - most) / (double)in->item_size) * coop_of(in);
}

/* Returns the smallest number of output chunks per task for which all borders of tasks can be borders of chunks of source s.
 * Returns 0 if no number has this property. */
static int64_t aligned_chunks(const cb_tile_in *in, int s, int d)
{
    int k = source_axis(in, s, d);
    if (k < 0) return 0;
    int64_t chunk = in->sources[s].grid->axis[k].chunk, length = in->out->axis[d].chunk;
    if (in->sources[s].map) {
        int64_t stride = in->sources[s].map->dim[k].stride;
        if (stride == 0 || cb_mul_i64(length, stride < 0 ? -stride : stride, &length)) return 0;
    }
    return chunk / cb_gcd_i64(chunk, length);
}

static void add_count(int64_t *counts, int *n, int64_t count, int64_t most)
{
    if (count < 1 || count > most || *n == MAX_TRIED) return;
    int at = 0;
    while (at < *n && counts[at] < count) at++;
    if (at < *n && counts[at] == count) return;
    memmove(counts + at + 1, counts + at, (size_t)(*n - at) * sizeof *counts);
    counts[at] = count;
    (*n)++;
}

/* If a task can have at most this many chunks along an axis, the search tries every number from 1 on. */
#define SHORT_AXIS 16

/* Lists promising counts of chunks in ascending order: one, all, counts that divide the axis into equal tasks, and counts for
 * which borders of tasks coincide with borders of source chunks. */
static int list_counts(const search *s, int d, int64_t most, int64_t *counts)
{
    int64_t chunks = cb_axis_count(&s->in->out->axis[d]);
    int n = 0;
    if (most <= SHORT_AXIS) {
        for (; n < most; n++) counts[n] = n + 1;
        return n;
    }
    add_count(counts, &n, 1, most);
    int64_t tasks = cb_ceil_div(chunks, most);
    for (int i = 0; i < 28; i++) {
        add_count(counts, &n, cb_ceil_div(chunks, tasks), most);
        if (tasks >= chunks) break;
        tasks += cb_max_i64(1, i < 8 ? tasks / 4 : tasks);
        tasks = cb_min_i64(tasks, chunks);
    }
    for (int k = 0; k < s->nsources; k++) {
        int64_t aligned = aligned_chunks(s->in, s->source[k], d);
        if (aligned == 0 || aligned > most) continue;
        int64_t multiples = most / aligned;
        add_count(counts, &n, multiples * aligned, most);
        for (int64_t m = 1; m < multiples; m = m < 4 ? m + 1 : m * 2)
            add_count(counts, &n, m * aligned, most);
    }
    return n;
}

static void list_options(const search *s, int d, int64_t most, axis_options *a)
{
    int64_t counts[MAX_TRIED];
    int ncounts = list_counts(s, d, most, counts);
    a->axis = d;
    a->n = 0;
    for (int i = 0; i < ncounts; i++) {
        option o = {.per = counts[i]};
        o.length = (double)held_length(s->in, d, counts[i]);
        bool worse = false;
        for (int k = 0; k < s->nsources; k++)
            o.touched[k] = (double)touched_along(s->in, s->source[k], d, counts[i]);
        for (int j = 0; j < a->n && !worse; j++) {
            worse = true;
            for (int k = 0; k < s->nsources; k++)
                worse = worse && a->option[j].touched[k] <= o.touched[k];
        }
        if (worse) continue;
        /* If there are too many options, keep the shortest and drop the second. Short options differ little from each other. */
        if (a->n == MAX_OPTIONS)
            memmove(a->option + 1, a->option + 2, (size_t)(--a->n - 1) * sizeof o);
        a->option[a->n++] = o;
    }
}

/* Returns the maximum ratio by which longer tasks along an axis reduce the reads of a source. */
static double gain(const search *s, const axis_options *a)
{
    double most = 1;
    for (int k = 0; k < s->nsources; k++) {
        double least = a->option[a->n - 1].touched[k], one = a->option[0].touched[k];
        if (least > 0 && one > most * least) most = one / least;
    }
    return most;
}

/* Keeps the axes along which longer tasks can reduce reads, sorted by decreasing reduction. */
static void list_axes(search *s)
{
    const cb_grid *out = s->in->out;
    double room = most_elements(s->in), one = 1;
    s->length = 1;
    for (int d = 0; d < out->ndim; d++) one *= (double)held_length(s->in, d, 1);
    for (int d = 0; d < out->ndim; d++) {
        axis_options a;
        double own = (double)held_length(s->in, d, 1);
        list_options(s, d, most_chunks(s->in, d, room / (one / own)), &a);
        if (a.n > 1) {
            int at = s->naxes;
            while (at > 0 && gain(s, &s->axes[at - 1]) < gain(s, &a)) at--;
            if (at < MAX_AXES) {
                if (s->naxes < MAX_AXES) s->naxes++;
                memmove(s->axes + at + 1, s->axes + at, (size_t)(s->naxes - 1 - at) * sizeof a);
                s->axes[at] = a;
            }
        }
    }
    for (int d = 0; d < out->ndim; d++) {
        bool fixed = true;
        for (int k = 0; k < s->naxes; k++) fixed = fixed && s->axes[k].axis != d;
        if (!fixed) continue;
        s->length *= (double)held_length(s->in, d, 1);
        for (int k = 0; k < s->nsources; k++)
            s->weight[k] *= (double)touched_along(s->in, s->source[k], d, 1);
    }
    s->least_length[s->naxes] = 1;
    for (int k = 0; k < s->nsources; k++) s->least_touched[s->naxes][k] = 1;
    for (int i = s->naxes - 1; i >= 0; i--) {
        const axis_options *a = &s->axes[i];
        s->least_length[i] = s->least_length[i + 1] * a->option[0].length;
        for (int k = 0; k < s->nsources; k++) {
            double least = a->option[0].touched[k];
            for (int j = 1; j < a->n; j++) {
                if (a->option[j].touched[k] < least) least = a->option[j].touched[k];
            }
            s->least_touched[i][k] = s->least_touched[i + 1][k] * least;
        }
    }
}

static bool better(double cost, double length, double than_cost, double than_length)
{
    if (cost < than_cost * LESS) return true;
    return cost * LESS <= than_cost && length < than_length * LESS;
}

/* Searches depth-first from axis k on. Tries the options that read the least data first, and skips branches that cannot
 * improve the result. */
static void descend(search *s, int k, double length, const double *cost)
{
    if (k == s->naxes) {
        double sum = 0;
        for (int i = 0; i < s->nsources; i++) sum += cost[i];
        /* For a stage that is not a copy, the memory of a task depends on the chunks it touches, which are counted again. */
        s->steps += s->in->copy ? 0 : s->nsources;
        if (task_bytes(s->in, s->per) > s->in->mem || too_few(s->in, s->per)) return;
        s->best_cost = sum;
        s->best_length = length;
        memcpy(s->best, s->per, sizeof s->best);
        return;
    }
    const axis_options *a = &s->axes[k];
    double most = (double)s->in->mem / (double)s->in->item_size * coop_of(s->in);
    for (int j = a->n - 1; j >= 0 && s->steps < MAX_STEPS; j--) {
        double next[MAX_SOURCES], sum = 0, long_as = length * a->option[j].length;
        s->steps++;
        if (long_as * s->least_length[k + 1] > most) continue;
        for (int i = 0; i < s->nsources; i++) {
            next[i] = cost[i] * a->option[j].touched[i];
            sum += next[i] * s->least_touched[k + 1][i];
        }
        if (!better(sum, long_as * s->least_length[k + 1], s->best_cost, s->best_length)) continue;
        s->per[a->axis] = a->option[j].per;
        descend(s, k + 1, long_as, next);
    }
    s->per[a->axis] = 1;
}

/* Compares bytes first, then requests. */
static bool reads_less(const cb_tile *a, const cb_tile *b)
{
    if (a->bytes_read != b->bytes_read) return a->bytes_read < b->bytes_read;
    return a->chunks_read < b->chunks_read;
}

/* Sets the number of chunks per task along d to `count`, if such tasks fit and read less data, or read the same data with
 * smaller tasks. */
static void improve(const cb_tile_in *in, int d, int64_t count, cb_tile *best)
{
    cb_tile t;
    int64_t per[CUBED_MAX_NDIM];
    if (count < 1 || count == best->task_chunks[d]) return;
    memcpy(per, best->task_chunks, sizeof per);
    per[d] = count;
    cb_tile_measure(in, per, &t);
    if (t.task_mem > in->mem || too_few(in, per)) return;
    if (reads_less(&t, best) || (!reads_less(best, &t) && count < best->task_chunks[d])) *best = t;
}

/* Refines the result along each axis, up to the maximum that fits. */
static void refine_result(const search *s, cb_tile *best)
{
    const cb_tile_in *in = s->in;
    double room = most_elements(in);
    cb_tile before;
    int round = 0;
    do {
        before = *best;
        for (int d = 0; d < in->out->ndim; d++) {
            const cb_axis *a = &in->out->axis[d];
            int64_t n = cb_axis_count(a);
            if (n <= 1) continue;
            double others = 1;
            for (int e = 0; e < in->out->ndim; e++) {
                if (e != d) others *= (double)held_length(in, e, best->task_chunks[e]);
            }
            int64_t most = most_chunks(in, d, room / others);
            improve(in, d, cb_ceil_div(n, cb_ceil_div(n, most)), best);
            for (int k = 0; k < s->nsources; k++) {
                int64_t aligned = aligned_chunks(in, s->source[k], d);
                if (aligned > 0) improve(in, d, most / aligned * aligned, best);
            }
        }
    } while (reads_less(best, &before) && ++round < 3);
}

/* Adds chunks to the tasks as long as the stage reads no more bytes or, for equal bytes, makes no more requests. Starts with the
 * last axis, whose chunks are adjacent. */
static void group(const cb_tile_in *in, cb_tile *best)
{
    for (int d = in->out->ndim - 1; d >= 0; d--) {
        for (;;) {
            int64_t per[CUBED_MAX_NDIM], n = cb_axis_count(&in->out->axis[d]);
            size_t bytes = in->item_size;
            cb_tile t;
            if (best->task_chunks[d] >= n) break;
            memcpy(per, best->task_chunks, sizeof per);
            per[d] = cb_min_i64(n, 2 * per[d]);
            for (int e = 0; e < in->out->ndim; e++)
                bytes = cb_sat_mul(bytes, (size_t)task_length(&in->out->axis[e], per[e]));
            if (bytes > in->worth) break;
            cb_tile_measure(in, per, &t);
            if (t.task_mem > in->mem || reads_less(best, &t) || t.ntasks < in->min_tasks) break;
            *best = t;
        }
    }
}

static cubed_status choose(const cb_tile_in *in, cb_tile *out, cubed_error *err)
{
    search s = {.in = in};
    cb_tile best;
    for (int d = 0; d < in->out->ndim; d++) s.per[d] = s.best[d] = 1;
    cb_tile_measure(in, s.best, &best);
    if (best.task_mem > in->mem)
        return cb_fail(err, CUBED_E_BUDGET,
                       "a task that makes one chunk of %zu bytes needs %zu bytes, but may use %zu",
                       cb_tile_chunk_bytes(in->out, in->item_size), best.task_mem, in->mem);
    if (best.ntasks > 0) {
        choose_sources(&s);
        list_axes(&s);
        s.best_cost = s.best_length = INFINITY;
        descend(&s, 0, s.length, s.weight);
        if (s.best_cost < INFINITY) cb_tile_measure(in, s.best, &best);
        refine_result(&s, &best);
        group(in, &best);
    }
    *out = best;
    return CUBED_OK;
}

/* Cooperative tasks are used only if they reduce the bytes read at least to this fraction, because they wait for the slowest
 * of their workers. */
#define WORTH_A_TEAM 0.97

/* Returns true if no other division into tasks could read much less. */
static bool reads_once(const cb_tile_in *in, const cb_tile *t)
{
    double once = 0;
    for (int s = 0; s < in->nsources; s++)
        once += (double)cb_tile_grid_bytes(in->sources[s].grid, in->sources[s].item_size);
    return once >= (double)t->bytes_read * WORTH_A_TEAM;
}

/* Returns true if each worker of a cooperative task has something to read. */
static bool keeps_busy(const cb_tile *t)
{
    return t->coop > 1 && t->chunks_read / (uint64_t)t->ntasks >= t->coop;
}

cubed_status cb_tile_choose(const cb_tile_in *in, cb_tile *out, cubed_error *err)
{
    cb_tile_in alone = *in;
    cb_tile shared;
    alone.coop = 1;
    CB_TRY(choose(&alone, out, err));
    if (coop_of(in) == 1 || out->ntasks == 0) return CUBED_OK;
    if (!reads_once(in, out)) {
        CB_TRY(choose(in, &shared, err));
        if (keeps_busy(&shared) &&
            (double)shared.bytes_read <= (double)out->bytes_read * WORTH_A_TEAM)
            *out = shared;
    }
    /* If the tasks are large and there are fewer tasks than workers, let several workers share each task. */
    if (out->coop == 1 && out->ntasks < in->coop &&
        out->bytes_read / (uint64_t)out->ntasks > in->worth) {
        cb_tile_measure(in, out->task_chunks, &shared);
        if (keeps_busy(&shared)) *out = shared;
    }
    return CUBED_OK;
}
