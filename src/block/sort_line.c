/* Sorts a line of elements. Elements are converted to keys (block_order.h), sorted, and converted back.
 *
 * A complex number has two keys. The positions of complex numbers are sorted by one key after the other, and then by which parts
 * of the numbers are NaN. The order is NumPy's: numbers, then elements whose imaginary part is NaN, then elements whose real part
 * is NaN, then elements whose parts are both NaN.
 *
 * Strings have no keys: their positions are merge-sorted. */
#include "block/sort_line.h"

#include <string.h>

#include "base/checked.h"
#include "dtype/element.h"

bool cb_sort_needs_positions(cubed_dtype dtype)
{
    return cubed_dtype_kind(dtype) == CUBED_KIND_COMPLEX ||
           cubed_dtype_kind(dtype) == CUBED_KIND_TEXT;
}

cb_line cb_line_of(const void *from, int64_t stride, int64_t n, cubed_dtype dtype, bool descending)
{
    return (cb_line){from, stride, n, dtype, cb_order_of(dtype, descending)};
}

static size_t rounded(size_t bytes) { return cb_sat_add(bytes, 63) & ~(size_t)63; }

size_t cb_sort_room_make(int64_t n, cubed_dtype dtype, unsigned parts, void *scratch,
                         cb_sort_room *room)
{
    size_t temp = rounded(cb_sat_mul((size_t)n, cb_order_key_size(dtype)));
    size_t pos = parts & CB_SORT_POSITIONS ? rounded(cb_sat_mul((size_t)n, sizeof(uint32_t))) : 0;
    size_t own = parts & CB_SORT_KEYS ? temp : 0;
    char *at = scratch;
    if (at)
        *room = (cb_sort_room){at, at + own, (uint32_t *)(at + own + temp),
                               (uint32_t *)(at + own + temp + pos)};
    return cb_sat_add(cb_sat_add(own, temp), cb_sat_add(pos, pos));
}

void cb_sort_values(const cb_kernels *k, const cb_line *l, void *keys, const cb_sort_room *room)
{
    const size_t size = cubed_dtype_size(l->dtype);
    const cb_order_width *w = cb_order_width_of(size);
    cb_order_seen seen = {false, false};
    w->make_keys(l->from, l->stride, l->n, &l->order, keys, &seen);
    cb_order_sort(k, size, keys, l->n, room->temp);
    w->make_values(keys, l->n, &l->order, seen, l->from, l->stride);
}

/* Sorts positions by the keys of one part (real or imaginary) of the elements. The sort is stable. */
static void sort_part(const cb_line *l, size_t offset, bool again, const cb_sort_room *r)
{
    size_t size = cb_order_key_size(l->dtype);
    const cb_order_width *w = cb_order_width_of(size);
    cb_order_seen seen = {false, false};
    char *keys = r->keys;
    w->make_keys(l->from + offset, l->stride, l->n, &l->order, keys, &seen);
    if (again) { /* bring the keys into the order of the positions */
        for (int64_t i = 0; i < l->n; i++)
            memcpy(r->temp + (size_t)i * size, keys + (size_t)r->pos[i] * size, size);
        memcpy(keys, r->temp, (size_t)l->n * size);
    }
    w->sort_keys(keys, r->pos, l->n, r->temp, r->temp_pos);
}

static bool is_nan_part(const char *x, size_t size)
{
    double d;
    float f;
    if (size == sizeof d) {
        memcpy(&d, x, size);
        return d != d;
    }
    memcpy(&f, x, size);
    return f != f;
}

static void sort_complex(const cb_line *l, const cb_sort_room *r)
{
    size_t part = cb_order_key_size(l->dtype);
    int64_t count[4] = {0}, sum = 0;
    sort_part(l, part, false, r);
    sort_part(l, 0, true, r);
    uint8_t *class = (uint8_t *)r->keys;
    for (int64_t i = 0; i < l->n; i++) {
        const char *x = l->from + (int64_t)r->pos[i] * l->stride;
        int c = 2 * is_nan_part(x, part) + is_nan_part(x + part, part);
        class[i] = (uint8_t)(l->order.descending ? 3 - c : c);
        count[class[i]]++;
    }
    for (int c = 0; c < 4; c++) {
        int64_t here = count[c];
        count[c] = sum;
        sum += here;
    }
    for (int64_t i = 0; i < l->n; i++) r->temp_pos[count[class[i]]++] = r->pos[i];
    memcpy(r->pos, r->temp_pos, (size_t)l->n * sizeof *r->pos);
}

static bool is_behind(const cb_line *l, uint32_t a, uint32_t b)
{
    const int order = cb_text_compare(l->dtype, l->from + (int64_t)a * l->stride,
                                      l->from + (int64_t)b * l->stride);
    return l->order.descending ? order < 0 : order > 0;
}

/* Merges two runs of positions, from[0..middle) and from[middle..n). The merge is stable: equal elements of the first run
 * precede those of the second. */
static void merge_positions(const cb_line *l, const uint32_t *from, int64_t middle, int64_t n,
                            uint32_t *to)
{
    int64_t a = 0, b = middle, i = 0;
    const bool in_order = b == n || !is_behind(l, from[b - 1], from[b]);
    while (!in_order && a < middle && b < n)
        to[i++] = is_behind(l, from[a], from[b]) ? from[b++] : from[a++];
    memcpy(to + i, from + a, (size_t)(middle - a) * sizeof *to);
    memcpy(to + i + middle - a, from + b, (size_t)(n - b) * sizeof *to);
}

static void sort_texts(const cb_line *l, const cb_sort_room *r)
{
    uint32_t *from = r->pos, *to = r->temp_pos;
    for (int64_t run = 1; run < l->n; run *= 2) {
        for (int64_t i = 0; i < l->n; i += 2 * run) {
            const int64_t n = cb_min_i64(l->n - i, 2 * run);
            merge_positions(l, from + i, cb_min_i64(n, run), n, to + i);
        }
        uint32_t *merged = to;
        to = from;
        from = merged;
    }
    if (from != r->pos) memcpy(r->pos, from, (size_t)l->n * sizeof *from);
}

void cb_sort_positions(const cb_line *l, const cb_sort_room *r)
{
    for (int64_t i = 0; i < l->n; i++) r->pos[i] = (uint32_t)i;
    if (cubed_dtype_kind(l->dtype) == CUBED_KIND_TEXT)
        sort_texts(l, r);
    else if (cb_sort_needs_positions(l->dtype))
        sort_complex(l, r);
    else
        sort_part(l, 0, false, r);
}
