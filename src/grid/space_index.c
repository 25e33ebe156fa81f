#include "grid/space_index.h"

#include <math.h>
#include <stdlib.h>

#include "base/checked.h"
#include "base/error.h"

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

static int by_key(const void *a, const void *b)
{
    const place *p = a, *q = b;
    if (p->key != q->key) return p->key < q->key ? -1 : 1;
    return p->item < q->item ? -1 : p->item > q->item;
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

/* Memory per item: the caller's box, a copy of it, a place, and its position in the order. The higher levels together have a
 * seventh as many boxes as there are items, and at most one more per level. */
size_t cb_space_bytes(int64_t n)
{
    const size_t each = 2 * sizeof(cb_space_box) + sizeof(place) + sizeof(int32_t);
    const size_t above =
        cb_sat_mul((size_t)n / (CB_SPACE_FAN - 1) + CB_SPACE_LEVELS, sizeof(cb_space_box));
    return cb_sat_add(cb_sat_mul((size_t)n, each), above);
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
    qsort(places, (size_t)n, sizeof *places, by_key);
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

static bool overlap(const cb_space_box *a, const cb_space_box *b)
{
    bool both = true;
    for (int d = 0; d < 3; d++) both = both && a->lo[d] <= b->hi[d] && b->lo[d] <= a->hi[d];
    return both;
}

/* Returns the number of children of box i of a level. */
static int64_t children(const cb_space_index *s, int level, int64_t i)
{
    const int64_t below = level > 0 ? s->count[level - 1] : s->n;
    return cb_min_i64(CB_SPACE_FAN, below - i * CB_SPACE_FAN);
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
        const double off = fmax(0, fmax(b->lo[d] - c[d], c[d] - b->hi[d]));
        sum += off * off;
    }
    return sum;
}

/* Distances whose relative difference is less than this are equal: coordinates have a rounding error of 1e-16. */
static const double TIE = 1e-11;

static bool is_nearer(double d, int32_t item, const cb_space_near *than)
{
    const double apart = TIE * fmax(d, than->distance2) + 1e-28;
    if (fabs(d - than->distance2) <= apart) return item < than->item;
    return d < than->distance2;
}

static void insert(cb_space_near *out, int *n, int k, double d, int32_t item)
{
    int i = *n;
    if (i == k && !is_nearer(d, item, &out[k - 1])) return;
    if (i < k)
        (*n)++;
    else
        i--;
    for (; i > 0 && is_nearer(d, item, &out[i - 1]); i--) out[i] = out[i - 1];
    out[i] = (cb_space_near){item, d};
}

typedef struct search {
    const cb_space_index *s;
    cb_vec at;
    int k, n;
    cb_space_near *out;
} search;

/* Visits children in the order of their distance. The recursion depth is at most CB_SPACE_LEVELS. */
static void search_box(search *q, int level, int64_t i)
{
    const int64_t first = i * CB_SPACE_FAN, n = children(q->s, level, i);
    const cb_space_box *boxes = level > 0 ? q->s->level[level - 1] : q->s->items;
    double far[CB_SPACE_FAN];
    int order[CB_SPACE_FAN];
    for (int c = 0; c < (int)n; c++) {
        int k = c;
        const double d = distance2_to(&boxes[first + c], q->at);
        for (; k > 0 && far[k - 1] > d; k--) {
            far[k] = far[k - 1];
            order[k] = order[k - 1];
        }
        far[k] = d;
        order[k] = c;
    }
    for (int c = 0; c < (int)n; c++) {
        const double most = q->n == q->k ? q->out[q->k - 1].distance2 : 8;
        if (far[c] > most * (1 + TIE) + 1e-28) return;
        if (level > 0)
            search_box(q, level - 1, first + order[c]);
        else
            insert(q->out, &q->n, q->k, far[c], q->s->order[first + order[c]]);
    }
}

int cb_space_nearest(const cb_space_index *s, cb_vec at, int k, cb_space_near *out)
{
    search q = {.s = s, .at = at, .k = k, .out = out};
    if (s->n > 0) search_box(&q, s->nlevels - 1, 0);
    return q.n;
}
