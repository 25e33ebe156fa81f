/* Counts the chunks that tasks touch, and the lengths of these chunks, without a loop over tasks. */
#include "plan/geom.h"

typedef unsigned __int128 wide;

/* Returns the sum of floor((a * i + b) / m) over 0 <= i < n, which is the number of lattice points below a line. Rows and columns
 * are exchanged as in Euclid's algorithm, so the number of steps is logarithmic. For counts of chunks the sum stays below 2^127,
 * because n * (a * n + b) / m is at most tasks times chunks. */
static wide wide_floor_sum(wide n, wide m, wide a, wide b)
{
    wide sum = 0;
    while (n > 0) {
        sum += n * (n - 1) / 2 * (a / m) + n * (b / m);
        a %= m;
        b %= m;
        wide top = a * n + b;
        if (top < m) break;
        n = top / m;
        b = top % m;
        wide swap = m;
        m = a;
        a = swap;
    }
    return sum;
}

/* Returns the sum of floor((a * i + b) / m) over 0 <= i < n, if intermediate results fit in 64 bits. It is faster than
 * wide_floor_sum, which spends most of its time on divisions of 128-bit numbers. */
static uint64_t narrow_floor_sum(uint64_t n, uint64_t m, uint64_t a, uint64_t b)
{
    uint64_t sum = 0;
    while (n > 0) {
        sum += n * (n - 1) / 2 * (a / m) + n * (b / m);
        a %= m;
        b %= m;
        uint64_t top = a * n + b;
        if (top < m) break;
        n = top / m;
        b = top % m;
        uint64_t swap = m;
        m = a;
        a = swap;
    }
    return sum;
}

static wide floor_sum(wide n, wide m, wide a, wide b)
{
    const wide most = (wide)1 << 63;
    /* Use the faster function if both the sum, at most n (a n + b) / m, and its intermediate term n^2 / 2 fit in 64 bits. */
    if (n < (wide)1 << 31 && m < most && a < most && b < most && a * n + b < most &&
        n * (((uint64_t)a * (uint64_t)n + (uint64_t)b) / (uint64_t)m + 1) < most)
        return narrow_floor_sum((uint64_t)n, (uint64_t)m, (uint64_t)a, (uint64_t)b);
    return wide_floor_sum(n, m, a, b);
}

static uint64_t touched_by(const cb_axis *out, int64_t per, int64_t task, int64_t offset,
                           int64_t stride, const cb_axis *source)
{
    int64_t last = cb_min_i64(cb_axis_count(out), (task + 1) * per) - 1;
    int64_t a = offset + stride * cb_axis_lo(out, task * per);
    int64_t z = offset + stride * (cb_axis_hi(out, last) - 1);
    return (uint64_t)(cb_axis_find(source, cb_max_i64(a, z)) -
                      cb_axis_find(source, cb_min_i64(a, z)) + 1);
}

/* Returns the number of pieces after an axis was divided twice: at every multiple of a, and at every multiple of b. */
static uint64_t pieces(int64_t extent, int64_t a, int64_t b)
{
    /* every multiple of unit * b is a multiple of a and of b */
    int64_t unit = a / cb_gcd_i64(a, b);
    int64_t both = unit > (extent - 1) / b ? 0 : (extent - 1) / (unit * b);
    return (uint64_t)(cb_ceil_div(extent, a) + cb_ceil_div(extent, b) - 1 - both);
}

uint64_t cb_axis_touched(const cb_axis *out, int64_t per, int64_t offset, int64_t stride,
                         const cb_axis *source)
{
    int64_t n = cb_axis_blocks(out, per);
    if (n == 0) return 0;
    if (stride == 1 && offset == 0 && per == 1 && out->first == source->first &&
        out->chunk == source->chunk)
        return (uint64_t)n;
    int64_t task;
    if (stride == 1 && offset == 0 && out->first == out->chunk && source->first == source->chunk &&
        !cb_mul_i64(out->chunk, per, &task))
        return pieces(out->extent, task, source->chunk);
    /* Count the first task separately, because it may be shorter, and the last task, because it may have fewer chunks. All
     * tasks between them are equal. */
    uint64_t total = touched_by(out, per, 0, offset, stride, source);
    if (n > 1) total += touched_by(out, per, n - 1, offset, stride, source);
    if (n <= 2) return total;
    int64_t length = out->chunk * per, n_alike = n - 2;
    /* Start with the tasks that read the lowest coordinates of the source. */
    int64_t begin = cb_axis_lo(out, stride < 0 ? n_alike * per : per);
    int64_t a = offset + stride * begin, z = offset + stride * (begin + length - 1);
    /* Position x is in chunk (x + shift) / chunk. */
    wide shift = (wide)(source->chunk - source->first), chunk = (wide)source->chunk;
    wide step = (wide)length * (wide)(stride < 0 ? -stride : stride);
    wide upper = floor_sum((wide)n_alike, chunk, step, (wide)cb_max_i64(a, z) + shift);
    wide lower = floor_sum((wide)n_alike, chunk, step, (wide)cb_min_i64(a, z) + shift);
    return total + (uint64_t)(upper - lower) + (uint64_t)n_alike;
}

/* Returns the number of tasks that touch the last chunk of the source. These are the last tasks, or the first ones if strides are
 * negative. */
static int64_t touch_last(const cb_axis *out, int64_t per, int64_t offset, int64_t stride,
                          const cb_axis *source)
{
    int64_t n = cb_axis_blocks(out, per), chunks = cb_axis_count(out);
    int64_t begin = cb_axis_lo(source, cb_axis_count(source) - 1), lo = 0, hi = n;
    /* find the first of these tasks, counted from the end at which the source's coordinates are lowest */
    while (lo < hi) {
        int64_t mid = lo + (hi - lo) / 2, task = stride < 0 ? n - 1 - mid : mid;
        int64_t x = stride < 0 ? cb_axis_lo(out, task * per)
                               : cb_axis_hi(out, cb_min_i64(chunks, (task + 1) * per) - 1) - 1;
        if (offset + stride * x >= begin)
            hi = mid;
        else
            lo = mid + 1;
    }
    return n - lo;
}

uint64_t cb_axis_touched_length(const cb_axis *out, int64_t per, int64_t offset, int64_t stride,
                                const cb_axis *source)
{
    uint64_t pairs = cb_axis_touched(out, per, offset, stride, source);
    uint64_t length = cb_sat_mul(pairs, (size_t)source->chunk);
    if (!source->clipped || pairs == 0) return length;
    int64_t missing = source->chunk - cb_axis_last(source);
    return length - (uint64_t)touch_last(out, per, offset, stride, source) * (uint64_t)missing;
}
