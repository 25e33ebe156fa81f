#include "plan/reshape.h"

static int64_t product(const int64_t *extents, int n)
{
    int64_t p = 1;
    for (int d = 0; d < n; d++) p *= extents[d];
    return p;
}

static bool has_zero(const int64_t *extents, int n)
{
    for (int d = 0; d < n; d++) {
        if (extents[d] == 0) return true;
    }
    return false;
}

void cb_reshape_make(cb_reshape *r, int nfrom, const int64_t *from, int nto, const int64_t *to)
{
    int i = 0, j = 0;
    r->nfrom = nfrom;
    r->nto = nto;
    r->ngroups = 0;
    for (int d = 0; d < nfrom; d++) r->from[d] = from[d];
    for (int d = 0; d < nto; d++) r->to[d] = to[d];
    /* An array without elements may be reshaped to any other empty shape, so all axes form one group. */
    bool empty = has_zero(from, nfrom);
    while (i < nfrom || j < nto) {
        int i0 = i, j0 = j;
        int64_t p = i < nfrom ? from[i++] : 1, q = j < nto ? to[j++] : 1;
        while (empty ? i < nfrom || j < nto : p != q) {
            if (empty) {
                i = nfrom;
                j = nto;
            } else if (i < nfrom && (p < q || j == nto)) {
                p *= from[i++];
            } else {
                q *= to[j++];
            }
        }
        r->group[r->ngroups].from = i0;
        r->group[r->ngroups].nfrom = i - i0;
        r->group[r->ngroups].to = j0;
        r->group[r->ngroups++].nto = j - j0;
    }
}

void cb_reshape_image(const cb_reshape *r, const cb_box *to, cb_box *from)
{
    from->ndim = r->nfrom;
    for (int g = 0; g < r->ngroups; g++) {
        int i = r->group[g].from, j = r->group[g].to;
        /* positions in C order of the first and the last element of the box `to` within this group */
        int64_t lo = 0, hi = 0;
        for (int d = j; d < j + r->group[g].nto; d++) {
            lo = lo * r->to[d] + to->lo[d];
            hi = hi * r->to[d] + to->hi[d] - 1;
        }
        int64_t step = product(r->from + i, r->group[g].nfrom);
        /* the coordinates of the first and the last position are equal along all axes so far */
        bool one = true;
        for (int d = i; d < i + r->group[g].nfrom; d++) {
            step /= r->from[d];
            from->lo[d] = one ? lo / step : 0;
            from->hi[d] = one ? hi / step + 1 : r->from[d];
            one = one && lo / step == hi / step;
            lo %= step;
            hi %= step;
        }
    }
}

typedef struct walk {
    const cb_reshape *r;
    const cb_box *to, *within;
    const int64_t *to_stride;
    cb_piece_fn fn;
    void *ctx;
    cb_box piece;
    int64_t stride[CUBED_MAX_NDIM];
} walk;

static bool walk_group(walk *w, int g, int64_t at);

/* Divides the positions `first` to `last` - 1 of a group into boxes of `from`. Begins with the largest box that starts at
 * `first`. */
static bool walk_interval(walk *w, int g, int64_t first, int64_t last, int64_t unit, int64_t at)
{
    const cb_reshape *r = w->r;
    int i = r->group[g].from, n = r->group[g].nfrom;
    for (int64_t p = first; p < last;) {
        int64_t step = product(r->from + i, n), rest = p, count = 1,
                offset = at + (p - first) * unit;
        bool found = false, empty = false;
        for (int d = i; d < i + n; d++) {
            step /= r->from[d];
            int64_t x = rest / step;
            rest %= step;
            w->stride[d] = step * unit;
            w->piece.lo[d] = found ? 0 : x;
            w->piece.hi[d] = found ? r->from[d] : x + 1;
            if (!found && rest == 0 && p + step <= last) {
                found = true;
                count = cb_min_i64(r->from[d] - x, (last - p) / step) * step;
                w->piece.hi[d] = x + count / step;
            }
        }
        for (int d = i; d < i + n; d++) {
            int64_t lo = cb_max_i64(w->piece.lo[d], w->within->lo[d]);
            offset += (lo - w->piece.lo[d]) * w->stride[d];
            w->piece.lo[d] = lo;
            w->piece.hi[d] = cb_min_i64(w->piece.hi[d], w->within->hi[d]);
            empty = empty || w->piece.lo[d] >= w->piece.hi[d];
        }
        if (!empty && walk_group(w, g + 1, offset)) return true;
        p += count;
    }
    return false;
}

static bool walk_group(walk *w, int g, int64_t at)
{
    const cb_reshape *r = w->r;
    if (g == r->ngroups) return w->fn(w->ctx, &w->piece, w->stride, at);
    int j = r->group[g].to, n = r->group[g].nto, m = j + n - 1;
    if (n == 0) return walk_interval(w, g, 0, 1, 0, at);
    /* Combine axes from m on while the box covers them completely and their memory is contiguous. */
    int64_t inner = 1, unit = w->to_stride[m];
    while (m > j && w->to->lo[m] == 0 && w->to->hi[m] == r->to[m] &&
           w->to_stride[m - 1] == w->to_stride[m] * r->to[m])
        inner *= r->to[m--];
    cb_box outer = {.ndim = m - j};
    int64_t idx[CUBED_MAX_NDIM], length = (w->to->hi[m] - w->to->lo[m]) * inner;
    for (int d = j; d < m; d++) {
        idx[d - j] = outer.lo[d - j] = w->to->lo[d];
        outer.hi[d - j] = w->to->hi[d];
    }
    do {
        int64_t first = 0, offset = at;
        for (int d = j; d < m; d++) {
            first = first * r->to[d] + idx[d - j];
            offset += (idx[d - j] - w->to->lo[d]) * w->to_stride[d];
        }
        first = (first * r->to[m] + w->to->lo[m]) * inner;
        if (walk_interval(w, g, first, first + length, unit, offset)) return true;
    } while (cb_odometer_next(&outer, idx));
    return false;
}

bool cb_reshape_pieces(const cb_reshape *r, const cb_box *to, const int64_t *stride,
                       const cb_box *within, cb_piece_fn fn, void *ctx)
{
    walk w = {.r = r, .to = to, .within = within, .to_stride = stride, .fn = fn, .ctx = ctx};
    w.piece.ndim = r->nfrom;
    return walk_group(&w, 0, 0);
}
