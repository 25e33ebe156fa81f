#include "block/space_index.h"

#include <math.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"

/* An item and the key by which items are sorted. */
typedef struct place {
    uint64_t key;
    int32_t item;
} place;

/* Inserts two zero bits after each of the lowest 21 bits. */
static uint64_t spread(uint64_t v)
{
    v &= 0x1fffff;
    v = (v | v << 32) & 0x1f00000000ffff;
    v = (v | v << 16) & 0x1f0000ff0000ff;
    v = (v | v << 8) & 0x100f00f00f00f00f;
    v = (v | v << 4) & 0x10c30c30c30c30c3;
    return (v | v << 2) & 0x1249249249249249;
}

/* Returns the position on the Morton curve, which interleaves the bits of the three coordinates. */
static uint64_t key_of(const cb_space_box *b)
{
    uint64_t key = 0;
    for (int d = 0; d < 3; d++) {
        const double c = (b->lo[d] + b->hi[d]) / 2;
        const double unit = fmin(1, fmax(0, (c + 1) / 2));
        key |= spread((uint64_t)(unit * 0x1fffff)) << d;
    }
    return key;
}

static bool is_before(const place *p, const place *q)
{
    return p->key != q->key ? p->key < q->key : p->item < q->item;
}

enum {
    KEY_DIGITS = 21, /* number of digits of a key; a digit has three bits */
    ALL_DIGITS = 32, /* number of digits of a key followed by the item's number */
    FEW_PLACES = 12  /* maximum number of places for insertion sort */
};

static unsigned digit(const place *p, int level)
{
    if (level < KEY_DIGITS) return (unsigned)(p->key >> (3 * (KEY_DIGITS - 1 - level))) & 7;
    return ((uint32_t)p->item >> (3 * (ALL_DIGITS - 1 - level))) & 7;
}

/* Sorts places in place, by one digit after another (McIlroy, Bostic and McIlroy 1993). The recursion depth is at most
 * ALL_DIGITS. */
static void sort_places(place *p, int64_t n, int level)
{
    int64_t at[8] = {0}, end[8], sum = 0;
    if (n <= FEW_PLACES || level == ALL_DIGITS) {
        for (int64_t i = 1; i < n; i++) {
            const place own = p[i];
            int64_t k = i;
            for (; k > 0 && is_before(&own, &p[k - 1]); k--) p[k] = p[k - 1];
            p[k] = own;
        }
        return;
    }
    for (int64_t i = 0; i < n; i++) at[digit(&p[i], level)]++;
    for (int d = 0; d < 8; d++) {
        const int64_t count = at[d];
        at[d] = sum;
        end[d] = sum += count;
    }
    for (unsigned d = 0; d < 8; d++) {
        while (at[d] < end[d]) {
            const unsigned own = digit(&p[at[d]], level);
            const int64_t to = at[own]++;
            if (own == d) continue;
            const place moved = p[to];
            p[to] = p[at[d]];
            p[at[d]] = moved;
        }
    }
    for (int d = 0; d < 8; d++) {
        const int64_t first = d > 0 ? end[d - 1] : 0;
        sort_places(p + first, end[d] - first, level + 1);
    }
}

static void join(cb_space_box *box, const cb_space_box *of, int64_t n)
{
    *box = of[0];
    for (int64_t i = 1; i < n; i++) {
        for (int d = 0; d < 3; d++) {
            box->lo[d] = fmin(box->lo[d], of[i].lo[d]);
            box->hi[d] = fmax(box->hi[d], of[i].hi[d]);
        }
    }
}

/* Returns the number of boxes of all levels above n items. */
static size_t boxes_above(int64_t n) { return (size_t)n / (CB_SPACE_FAN - 1) + CB_SPACE_LEVELS; }

/* Memory per item: the caller's box, a copy of it, a place, and its position in the order. The higher levels together have a
 * seventh as many boxes as there are items, and at most one more per level. */
size_t cb_space_bytes(int64_t n)
{
    const size_t each = 2 * sizeof(cb_space_box) + sizeof(place) + sizeof(int32_t);
    return cb_sat_add(cb_sat_mul((size_t)n, each),
                      cb_sat_mul(boxes_above(n), sizeof(cb_space_box)));
}

cubed_status cb_space_sort(cb_zone *zone, const cb_space_box *boxes, int64_t n, cb_space_index *out,
                           cubed_error *err)
{
    const cubed_allocator *a = cb_zone_allocator(zone);
    *out = (cb_space_index){.n = n};
    place *places = cb_alloc(a, (size_t)n * sizeof *places);
    out->order = cb_zone_alloc(zone, (size_t)n * sizeof *out->order);
    out->items = cb_zone_alloc(zone, (size_t)n * sizeof *out->items);
    cubed_status st = CUBED_OK;
    if (!places || !out->order || !out->items) goto no_memory;
    for (int64_t i = 0; i < n; i++) places[i] = (place){key_of(&boxes[i]), (int32_t)i};
    sort_places(places, n, 0);
    for (int64_t i = 0; i < n; i++) {
        out->order[i] = places[i].item;
        out->items[i] = boxes[places[i].item];
    }
    const cb_space_box *below = out->items;
    int64_t left = n;
    do {
        const int64_t count = cb_ceil_div(left, CB_SPACE_FAN);
        cb_space_box *level = cb_zone_alloc(zone, (size_t)count * sizeof *level);
        if (!level) goto no_memory;
        for (int64_t i = 0; i < count; i++)
            join(&level[i], below + i * CB_SPACE_FAN,
                 cb_min_i64(CB_SPACE_FAN, left - i * CB_SPACE_FAN));
        out->count[out->nlevels] = count;
        out->level[out->nlevels++] = level;
        below = level;
        left = count;
    } while (left > 1);
    goto out;
no_memory:
    st = cb_fail(err, CUBED_E_NOMEM, "out of memory: an index of %lld cells", (long long)n);
out:
    cb_free(a, places, (size_t)n * sizeof *places);
    return st;
}

/* Returns the number of children of box i of a level. */
static int64_t children(const cb_space_index *s, int level, int64_t i)
{
    const int64_t below = level > 0 ? s->count[level - 1] : s->n;
    return cb_min_i64(CB_SPACE_FAN, below - i * CB_SPACE_FAN);
}

static cb_space_box box_of(cb_vec v) { return (cb_space_box){{v.x, v.y, v.z}, {v.x, v.y, v.z}}; }

/* Memory for the points, the order of the items, and the larger of two buffers: the sort keys (`place`) of all items, or the
 * boxes with one byte for each box and item (`usable`). The boxes overwrite the sort keys. */
size_t cb_space_points_bytes(int64_t n)
{
    const size_t kept = cb_sat_mul((size_t)n, sizeof(cb_vec) + sizeof(int32_t)) + 8;
    const size_t boxes =
        cb_sat_add(cb_sat_mul(boxes_above(n), sizeof(cb_space_box) + 1), (size_t)n);
    return cb_sat_add(kept, cb_max_size(boxes, cb_sat_mul((size_t)n, sizeof(place))));
}

void cb_space_points(void *memory, int64_t n, cb_vec (*at)(const void *ctx, int64_t i),
                     const void *ctx, cb_space_index *out)
{
    cb_vec *points = memory;
    char *rest = (char *)(points + n);
    place *places = (place *)(void *)rest;
    int64_t m = 0;
    for (int64_t i = 0; i < n; i++) {
        const cb_vec v = at(ctx, i);
        const cb_space_box box = box_of(v);
        if (!isnan(v.x + v.y + v.z)) places[m++] = (place){key_of(&box), (int32_t)i};
    }
    sort_places(places, m, 0);
    for (int64_t i = 0; i < m; i++) points[i] = at(ctx, places[i].item);
    /* The order overwrites the array `places`. An entry of the order is shorter than a place, so each place is read before it is
     * overwritten. */
    int32_t *order = (int32_t *)(void *)places;
    for (int64_t i = 0; i < m; i++) order[i] = places[i].item;
    *out = (cb_space_index){.n = m, .order = order, .points = points};
    cb_space_box *boxes = (cb_space_box *)(void *)(rest + ((size_t)m * sizeof *order + 7) / 8 * 8);
    for (int64_t left = m, count; left > 0; left = count > 1 ? count : 0) {
        const cb_space_box *below = out->nlevels ? out->level[out->nlevels - 1] : NULL;
        count = cb_ceil_div(left, CB_SPACE_FAN);
        for (int64_t i = 0; i < count; i++) {
            const int64_t first = i * CB_SPACE_FAN, end = cb_min_i64(left, first + CB_SPACE_FAN);
            cb_space_box eight[CB_SPACE_FAN];
            for (int64_t k = first; k < end; k++)
                eight[k - first] = below ? below[k] : box_of(points[k]);
            join(&boxes[i], eight, end - first);
        }
        out->count[out->nlevels] = count;
        out->level[out->nlevels++] = boxes;
        boxes += count;
    }
    uint8_t *marks = (uint8_t *)boxes;
    out->usable = marks;
    marks += m;
    for (int d = 0; d < out->nlevels; d++) {
        out->usable_of[d] = marks;
        marks += out->count[d];
    }
    memset(out->usable, 1, (size_t)(marks - out->usable));
}

int64_t cb_space_use(cb_space_index *s, bool (*is_usable)(const void *ctx, int64_t i),
                     const void *ctx)
{
    int64_t n = 0;
    for (int64_t i = 0; i < s->n; i++) {
        s->usable[i] = is_usable(ctx, s->order[i]);
        n += s->usable[i];
    }
    for (int d = 0; d < s->nlevels; d++) {
        const uint8_t *below = d > 0 ? s->usable_of[d - 1] : s->usable;
        for (int64_t i = 0; i < s->count[d]; i++) {
            const int64_t first = i * CB_SPACE_FAN;
            s->usable_of[d][i] = memchr(below + first, 1, (size_t)children(s, d, i)) != NULL;
        }
    }
    return n;
}

static bool overlap(const cb_space_box *a, const cb_space_box *b)
{
    bool both = true;
    for (int d = 0; d < 3; d++) both = both && a->lo[d] <= b->hi[d] && b->lo[d] <= a->hi[d];
    return both;
}

/* The depth of the walk is at most CB_SPACE_LEVELS: eight to the power of twelve exceeds the number of items. */
cubed_status cb_space_overlaps(const cb_space_index *s, const cb_space_box *box, cb_space_fn found,
                               void *ctx, cubed_error *err)
{
    int64_t at[CB_SPACE_LEVELS + 1] = {0}, end[CB_SPACE_LEVELS + 1] = {0};
    int level = s->nlevels - 1;
    if (s->n == 0) return CUBED_OK;
    end[level] = 1;
    while (level < s->nlevels) {
        if (at[level] >= end[level]) {
            level++;
            continue;
        }
        const int64_t i = at[level]++;
        if (!overlap(&s->level[level][i], box)) continue;
        const int64_t first = i * CB_SPACE_FAN, n = children(s, level, i);
        if (level > 0) {
            level--;
            at[level] = first;
            end[level] = first + n;
            continue;
        }
        for (int64_t k = first; k < first + n; k++) {
            if (overlap(&s->items[k], box)) CB_TRY(found(ctx, s->order[k], err));
        }
    }
    return CUBED_OK;
}

static double distance2_to(const cb_space_box *b, cb_vec at)
{
    const double c[3] = {at.x, at.y, at.z};
    double sum = 0;
    for (int d = 0; d < 3; d++) {
        /* without calls of fmax, which would cost most of the time of a search */
        const double below = b->lo[d] - c[d], above = c[d] - b->hi[d];
        const double off = below > above ? below : above;
        sum += off > 0 ? off * off : 0;
    }
    return sum;
}

typedef struct search {
    const cb_space_index *s;
    cb_vec at;
    int k, n;
    double most; /* squared distance within which there are k usable items */
    cb_space_near *out;
} search;

/* Returns the squared distance of the farthest box that can have one of the k nearest items. */
static double reach(const search *q) { return cb_near_reach(q->out, q->n, q->k, q->most); }

static void offer(search *q, int64_t at, double distance2)
{
    cb_near_insert(q->out, &q->n, q->k, (cb_space_near){q->s->order[at], (int32_t)at, distance2});
}

/* Visits children in the order of their distance. The recursion depth is at most CB_SPACE_LEVELS. */
static void search_box(search *q, int level, int64_t i)
{
    const int64_t first = i * CB_SPACE_FAN, n = children(q->s, level, i);
    const cb_space_box *boxes = level > 0 ? q->s->level[level - 1] : q->s->items;
    const uint8_t *usable = level > 0 ? q->s->usable_of[level - 1] : q->s->usable;
    const double most = reach(q);
    double far[CB_SPACE_FAN];
    int order[CB_SPACE_FAN], found = 0;
    for (int c = 0; c < (int)n; c++) {
        if (usable && !usable[first + c]) continue;
        const double d = boxes ? distance2_to(&boxes[first + c], q->at)
                               : cb_vec_distance2(q->s->points[first + c], q->at);
        if (d > most) continue;
        int k = found++;
        for (; k > 0 && far[k - 1] > d; k--) {
            far[k] = far[k - 1];
            order[k] = order[k - 1];
        }
        far[k] = d;
        order[k] = c;
    }
    for (int c = 0; c < found; c++) {
        if (far[c] > reach(q)) return;
        if (level > 0)
            search_box(q, level - 1, first + order[c]);
        else
            offer(q, first + order[c], far[c]);
    }
}

int cb_space_nearest_within(const cb_space_index *s, cb_vec at, int k, double most,
                            cb_space_near *out)
{
    search q = {.s = s, .at = at, .k = k, .most = most, .out = out};
    if (s->n > 0) search_box(&q, s->nlevels - 1, 0);
    return q.n;
}

int cb_space_nearest(const cb_space_index *s, cb_vec at, int k, cb_space_near *out)
{
    return cb_space_nearest_within(s, at, k, CB_SPACE_FARTHEST, out);
}
