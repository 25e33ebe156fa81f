/* Copies boxes between strided buffers, and reverses bytes. */
#include <string.h>

#include "base/checked.h"
#include "kernel/kernel.h"

typedef struct copy_axis {
    int64_t n, ds, ss;
} copy_axis;

static int64_t magnitude(int64_t v) { return v < 0 ? -v : v; }

/* Orders the axes by the destination, fastest last, drops axes of extent 1, and merges adjacent axes that are contiguous on both
 * sides. Returns the number of axes, or -1 if the box is empty. */
static int collapse(int ndim, const int64_t *shape, const int64_t *ds, const int64_t *ss,
                    copy_axis *out)
{
    int m = 0, joined = 0;
    for (int d = 0; d < ndim; d++) {
        if (shape[d] == 0) return -1;
        if (shape[d] == 1) continue;
        int at = m++;
        for (; at > 0 && magnitude(out[at - 1].ds) < magnitude(ds[d]); at--) out[at] = out[at - 1];
        out[at] = (copy_axis){shape[d], ds[d], ss[d]};
    }
    for (int k = 0; k < m; k++) {
        copy_axis a = out[k], *last = out + joined - 1;
        if (joined > 0 && last->ds == a.n * a.ds && last->ss == a.n * a.ss)
            *last = (copy_axis){last->n * a.n, a.ds, a.ss};
        else
            out[joined++] = a;
    }
    return joined;
}

/* Stores n contiguous copies of an element: doubles the part already stored, up to about a page at a time. */
static void fill_line(char *d, const char *value, size_t n, size_t size)
{
    size_t all = n * size, most = size < 4096 ? 4096 / size * size : size;
    if (size == 1) {
        memset(d, *(const unsigned char *)value, n);
        return;
    }
    memcpy(d, value, size);
    for (size_t have = size; have < all;) {
        size_t more = cb_min_size(cb_min_size(have, most), all - have);
        memcpy(d + have, d, more);
        have += more;
    }
}

static void copy_line(char *d, int64_t ds, const char *s, int64_t ss, int64_t n, size_t size)
{
    if (ss == 0 && ds == (int64_t)size) {
        fill_line(d, s, (size_t)n, size);
        return;
    }
    switch (size) {
    case 1:
        for (int64_t i = 0; i < n; i++) d[i * ds] = s[i * ss];
        return;
    case 2:
        for (int64_t i = 0; i < n; i++) memcpy(d + i * ds, s + i * ss, 2);
        return;
    case 4:
        for (int64_t i = 0; i < n; i++) memcpy(d + i * ds, s + i * ss, 4);
        return;
    case 8:
        for (int64_t i = 0; i < n; i++) memcpy(d + i * ds, s + i * ss, 8);
        return;
    case 16:
        for (int64_t i = 0; i < n; i++) memcpy(d + i * ds, s + i * ss, 16);
        return;
    default:
        for (int64_t i = 0; i < n; i++) memcpy(d + i * ds, s + i * ss, size);
        return;
    }
}

/* Copies two axes in tiles of 32 x 32, so that cache lines of both sides are used fully. The destination's faster axis is
 * the inner loop. */
enum { TILE = 32 };
static void copy_plane(char *d, const char *s, const copy_axis *outer, const copy_axis *inner,
                       size_t size)
{
    for (int64_t i0 = 0; i0 < outer->n; i0 += TILE) {
        int64_t i1 = cb_min_i64(outer->n, i0 + TILE);
        for (int64_t j0 = 0; j0 < inner->n; j0 += TILE) {
            int64_t nj = cb_min_i64(inner->n - j0, TILE);
            for (int64_t i = i0; i < i1; i++) {
                copy_line(d + i * outer->ds + j0 * inner->ds, inner->ds,
                          s + i * outer->ss + j0 * inner->ss, inner->ss, nj, size);
            }
        }
    }
}

void cb_copy_box(int ndim, const int64_t *shape, size_t item_size, void *dst,
                 const int64_t *dst_strides, const void *src, const int64_t *src_strides)
{
    copy_axis a[CUBED_MAX_NDIM];
    int m = collapse(ndim, shape, dst_strides, src_strides, a);
    if (m < 0) return;
    size_t size = item_size;
    char *d = dst;
    const char *s = src;
    /* If the fastest axis is contiguous on both sides, its elements are copied as one large element. */
    if (m > 0 && a[m - 1].ds == (int64_t)size && a[m - 1].ss == (int64_t)size) {
        size *= (size_t)a[m - 1].n;
        m--;
    }
    if (m == 0) {
        memcpy(d, s, size);
        return;
    }
    /* The innermost loop is the destination's fastest axis. It is tiled with the source's fastest axis, unless the
     * innermost loop repeats one element of the source. */
    int in = m - 1, fast = in;
    for (int k = 0; k < in; k++) {
        if (a[k].ss != 0 && magnitude(a[k].ss) < magnitude(a[fast].ss)) fast = k;
    }
    copy_axis inner = a[in], outer = {1, 0, 0};
    if (fast != in) outer = a[fast];
    int rest = 0;
    copy_axis others[CUBED_MAX_NDIM];
    for (int k = 0; k < in; k++) {
        if (k != fast) others[rest++] = a[k];
    }
    int64_t idx[CUBED_MAX_NDIM] = {0};
    for (;;) {
        if (outer.n == 1)
            copy_line(d, inner.ds, s, inner.ss, inner.n, size);
        else
            copy_plane(d, s, &outer, &inner, size);
        int k = rest - 1;
        for (; k >= 0; k--) {
            d += others[k].ds;
            s += others[k].ss;
            if (++idx[k] < others[k].n) break;
            d -= idx[k] * others[k].ds;
            s -= idx[k] * others[k].ss;
            idx[k] = 0;
        }
        if (k < 0) return;
    }
}

void cb_reverse_units(void *data, size_t unit, size_t n)
{
    char *p = data;
    for (size_t i = 0; i < n; i++, p += unit) {
        for (size_t k = 0; k < unit / 2; k++) {
            const char byte = p[k];
            p[k] = p[unit - 1 - k];
            p[unit - 1 - k] = byte;
        }
    }
}
