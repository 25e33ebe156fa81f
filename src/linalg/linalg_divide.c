#include "linalg/linalg_divide.h"

#include <string.h>

#include "linalg/linalg_iterate.h"
#include "linalg/linalg_secular.h"

/* Maximum number of rows for which vectors are computed by iterations. */
#define LEAF 24
/* The fourth power of a number below this limit is not a normal number. Such numbers are negligible relative to numbers near
 * 1. */
#define TINY 0x1p-250

cb_divide cb_divide_make(const cb_products *p, int64_t n, bool left, cb_room *room)
{
    const size_t size = sizeof(double);
    cb_divide w = {.n = n, .products = p};
    w.u = left ? cb_room_take(room, n * n, size) : NULL;
    w.v = cb_room_take(room, (n + 1) * (n + 1), size);
    w.z = cb_room_take(room, n, size);
    w.kept_d = cb_room_take(room, n, size);
    w.kept_z = cb_room_take(room, n, size);
    w.roots = cb_room_take(room, n, size);
    w.line = cb_room_take(room, n, size);
    w.order = cb_room_take(room, n, sizeof(int64_t));
    w.merged = cb_room_take(room, n, sizeof(int64_t));
    w.row = cb_room_take(room, n, sizeof(int64_t));
    w.at = cb_room_take(room, n, sizeof(int64_t));
    w.kinds = cb_room_take(room, n, 1);
    w.scratch_from = room->used;
    w.coefficients = cb_room_take(room, n * n, size);
    w.rows = cb_room_take(room, n * (n + 1), size);
    return w;
}

/* Part of the matrix: rows lo to hi - 1 and columns lo to hi; row `mid` joins the two halves. There is one left singular
 * vector u per row, and one right singular vector v per column. The matrix maps the last v to 0. */
typedef struct part {
    const cb_divide *w;
    double *s;
    int64_t lo, mid, hi;
} part;

static double *left(const cb_divide *w, int64_t i) { return w->u + i * w->n; }
static double *right(const cb_divide *w, int64_t i) { return w->v + i * (w->n + 1); }

/* --- Small matrices ------------------------------------------------------------------------------------- */

static void set_identity(double *x, int64_t n, int64_t ld)
{
    for (int64_t i = 0; i < n; i++) {
        memset(x + i * ld, 0, (size_t)n * sizeof *x);
        x[i * ld + i] = 1;
    }
}

/* Solves a small part as a square matrix whose last row is 0. */
static bool solve_leaf(const cb_divide *w, double *s, const double *e, int64_t lo, int64_t hi)
{
    double values[LEAF + 1], beside[LEAF + 1];
    const int64_t n = hi - lo;
    cb_vectors u = {NULL, 0, 0}, v = {right(w, lo) + lo, n + 1, w->n + 1};
    if (w->u) {
        u = (cb_vectors){left(w, lo) + lo, n, w->n};
        set_identity(u.rows, n, u.stride);
    }
    set_identity(v.rows, n + 1, v.stride);
    memcpy(values, s + lo, (size_t)n * sizeof *values);
    memcpy(beside, e + lo, (size_t)n * sizeof *beside);
    values[n] = 0;
    if (!cb_bidiagonal_svd(n + 1, values, beside, u, v, NULL)) return false;
    memcpy(s + lo, values, (size_t)n * sizeof *values);
    for (int64_t k = 0; k < n; k++) w->order[lo + k] = hi - 1 - k;
    return true;
}

/* --- Deflation ------------------------------------------------------------------------------------------ */

/* Rotates two rows: row i becomes c i + s k, row k becomes c k - s i. */
static void rotate(double *i, double *k, int64_t n, double c, double s)
{
    for (int64_t j = 0; j < n; j++) {
        double t = c * i[j] + s * k[j];
        k[j] = c * k[j] - s * i[j];
        i[j] = t;
    }
}

static void rotate_right(const part *p, int64_t i, int64_t k, double c, double s)
{
    rotate(right(p->w, i) + p->lo, right(p->w, k) + p->lo, p->hi - p->lo + 1, c, s);
}

static void rotate_left(const part *p, int64_t i, int64_t k, double c, double s)
{
    if (p->w->u) rotate(left(p->w, i) + p->lo, left(p->w, k) + p->lo, p->hi - p->lo, c, s);
}

/* Expresses the joining row in the singular vectors of the two halves. Each half has a null vector. A rotation of both null
 * vectors gives a null vector of the whole matrix, and a vector that the joining row does not map to 0. */
static void make_row(const part *p, double of_upper, double of_lower)
{
    const cb_divide *w = p->w;
    double *z = w->z;
    for (int64_t i = p->lo; i < p->mid; i++) z[i] = of_upper * right(w, i)[p->mid];
    for (int64_t i = p->mid + 1; i < p->hi; i++) z[i] = of_lower * right(w, i)[p->mid + 1];
    double x = of_upper * right(w, p->mid)[p->mid], y = of_lower * right(w, p->hi)[p->mid + 1];
    double r = cb_hypot(x, y);
    rotate_right(p, p->mid, p->hi, r == 0 ? 1 : x / r, r == 0 ? 0 : y / r);
    z[p->mid] = r;
    p->s[p->mid] = 0;
    if (w->u) left(w, p->mid)[p->mid] = 1;
}

/* Returns the threshold below which numbers change the matrix by no more than rounding. */
static double negligible_in(const part *p, double of_upper, double of_lower)
{
    double largest = fmax(fabs(of_upper), fabs(of_lower));
    for (int64_t i = p->lo; i < p->hi; i++) largest = fmax(largest, p->s[i]);
    return fmax(8 * CB_EPSILON * largest, TINY);
}

/* Merges two lists of rows that are ordered by their values. */
static void merge_orders(const double *s, const int64_t *a, int64_t na, const int64_t *b,
                         int64_t nb, int64_t *out)
{
    while (na > 0 || nb > 0) {
        if (nb == 0 || (na > 0 && s[*a] <= s[*b])) {
            *out++ = *a++;
            na--;
        } else {
            *out++ = *b++;
            nb--;
        }
    }
}

/* Position of the nonzero columns of a row of singular vectors: in the upper half, in both halves, or in the lower half. */
enum { UPPER, MIXED, LOWER, KINDS };

/* Deflation: a singular value whose element in the joining row is negligible is already a singular value of the whole matrix. If
 * two values are equal, a rotation makes one of them a singular value of the whole matrix. Moves the rows that remain to the
 * front of `rows`, in the order of their values, and returns their number. */
static int64_t deflate(const part *p, double negligible, int64_t *rows)
{
    const cb_divide *w = p->w;
    const int64_t n = p->hi - p->lo;
    const double *s = p->s;
    double *z = w->z;
    unsigned char *kinds = w->kinds;
    int64_t kept = 1, dropped = 0, *gone = w->row;
    for (int64_t i = p->lo; i < p->hi; i++)
        kinds[i] = i < p->mid ? UPPER : i > p->mid ? LOWER : MIXED;
    for (int64_t k = 1; k < n; k++) {
        int64_t i = rows[k], last = rows[kept - 1];
        if (fabs(z[i]) <= negligible) {
            gone[dropped++] = i;
        } else if (s[i] - s[last] > negligible) {
            rows[kept++] = i;
        } else { /* the values are equal: a rotation makes z[i] 0, and changes z[last] instead */
            double r = cb_hypot(z[i], z[last]), cosine = z[last] / r, sine = z[i] / r;
            rotate_right(p, last, i, cosine, sine);
            if (last != p->mid) rotate_left(p, last, i, cosine, sine);
            if (kinds[i] != kinds[last]) kinds[last] = MIXED;
            z[last] = r;
            gone[dropped++] = i;
        }
    }
    memcpy(rows + kept, gone, (size_t)dropped * sizeof *gone);
    return kept;
}

/* --- Merging halves ------------------------------------------------------------------------------------- */

/* Number of rows that deflation keeps: in total, and by kind. */
typedef struct columns {
    int64_t kept, count[KINDS];
} columns;

/* Sorts the kept rows by kind. Sets w->at to their positions among the columns of the coefficients, and w->row to the row at
 * each position. */
static columns sort_by_kind(const part *p, const int64_t *rows, int64_t kept)
{
    const cb_divide *w = p->w;
    columns c = {.kept = kept};
    int64_t next[KINDS];
    for (int64_t j = 0; j < kept; j++) c.count[w->kinds[rows[j]]]++;
    next[UPPER] = 0;
    next[MIXED] = c.count[UPPER];
    next[LOWER] = c.count[UPPER] + c.count[MIXED];
    for (int64_t j = 0; j < kept; j++) {
        w->at[j] = next[w->kinds[rows[j]]]++;
        w->row[w->at[j]] = rows[j];
    }
    for (int64_t j = kept; j < p->hi - p->lo; j++) w->row[j] = rows[j];
    return c;
}

static double normalize(double *x, int64_t n)
{
    double sum = 0;
    for (int64_t j = 0; j < n; j++) sum += x[j] * x[j];
    sum = 1 / sqrt(sum);
    for (int64_t j = 0; j < n; j++) x[j] *= sum;
    return sum;
}

/* Computes the right singular vectors of the small matrix: z divided by each row of gaps, and normalised. `by` receives the
 * normalisation factors. */
static void make_right(const cb_divide *w, int64_t n, double *by)
{
    for (int64_t i = 0; i < n; i++) {
        double *row = w->coefficients + i * n, *line = w->line;
        for (int64_t j = 0; j < n; j++) line[j] = w->kept_z[j] / row[j];
        by[i] = normalize(line, n);
        for (int64_t j = 0; j < n; j++) row[w->at[j]] = line[j];
    }
}

/* Computes the left singular vectors: the unnormalised right singular vectors times d, with -1 as the first element. Then
 * normalises them. */
static void make_left(const cb_divide *w, int64_t n, const double *by)
{
    for (int64_t i = 0; i < n; i++) {
        double *row = w->coefficients + i * n;
        for (int64_t j = 1; j < n; j++) row[w->at[j]] *= w->kept_d[j];
        row[w->at[0]] = -by[i];
        (void)normalize(row, n);
    }
}

/* Multiplies the coefficients by the kept rows of x, and writes the products, followed by the other rows, to x. Rows of x
 * are `ld` elements apart. */
static void multiply(const part *p, const columns *c, double *x, int64_t ld, int64_t width)
{
    const cb_divide *w = p->w;
    const int64_t n = p->hi - p->lo, first = p->mid - p->lo + 1;
    double *rows = w->rows, *to = x + p->lo * ld + p->lo;
    for (int64_t i = 0; i < n; i++)
        memcpy(rows + i * width, x + w->row[i] * ld + p->lo, (size_t)width * sizeof *x);
    cb_gemm g = {.m = c->kept, .lda = c->kept, .ldb = width, .ldc = ld, .mode = CB_GEMM_SET};
    g.scratch = w->products->scratch;
    g.cancel = w->products->cancel;
    g.n = first;
    g.k = c->count[UPPER] + c->count[MIXED];
    g.a = w->coefficients;
    g.b = rows;
    g.c = to;
    w->products->gemm_d(&g);
    g.n = width - first;
    g.k = c->count[MIXED] + c->count[LOWER];
    g.a = w->coefficients + c->count[UPPER];
    g.b = rows + c->count[UPPER] * width + first;
    g.c = to + first;
    w->products->gemm_d(&g);
    for (int64_t i = c->kept; i < n; i++)
        memcpy(to + i * ld, rows + i * width, (size_t)width * sizeof *x);
}

static void solve_row(const part *p, const columns *c, const int64_t *rows)
{
    const cb_divide *w = p->w;
    double *by = w->z;
    const int64_t n = c->kept;
    for (int64_t j = 0; j < n; j++) {
        w->kept_d[j] = p->s[rows[j]];
        w->kept_z[j] = w->z[rows[j]];
    }
    for (int64_t j = n; j < p->hi - p->lo; j++) w->roots[j] = p->s[rows[j]];
    cb_secular_solve(n, w->kept_d, w->kept_z, w->roots, w->coefficients, w->line);
    memcpy(p->s + p->lo, w->roots, (size_t)(p->hi - p->lo) * sizeof *p->s);
    make_right(w, n, by);
    multiply(p, c, w->v, w->n + 1, p->hi - p->lo + 1);
    if (!w->u) return;
    make_left(w, n, by);
    multiply(p, c, w->u, w->n, p->hi - p->lo);
}

static void join(const part *p, double of_upper, double of_lower)
{
    const cb_divide *w = p->w;
    int64_t *order = w->order, *rows = w->merged, n = p->hi - p->lo;
    double negligible = negligible_in(p, of_upper, of_lower);
    make_row(p, of_upper, of_lower);
    rows[0] = p->mid;
    merge_orders(p->s, order + p->lo, p->mid - p->lo, order + p->mid + 1, p->hi - p->mid - 1,
                 rows + 1);
    const int64_t kept = deflate(p, negligible, rows);
    if (kept == 1) {
        p->s[p->mid] = w->z[p->mid];
        merge_orders(p->s, rows, 1, rows + 1, n - 1, order + p->lo);
        return;
    }
    w->z[p->mid] = fmax(w->z[p->mid], negligible);
    const columns c = sort_by_kind(p, rows, kept);
    solve_row(p, &c, rows);
    for (int64_t i = 0; i < n; i++) rows[i] = p->lo + i;
    merge_orders(p->s, rows, kept, rows + kept, n - kept, order + p->lo);
}

/* The recursion depth is at most the binary logarithm of n. */
static bool solve(const cb_divide *w, double *s, const double *e, int64_t lo, int64_t hi)
{
    const part p = {w, s, lo, lo + (hi - lo) / 2, hi};
    if (hi - lo <= LEAF) return solve_leaf(w, s, e, lo, hi);
    const double of_upper = s[p.mid], of_lower = e[p.mid];
    if (!solve(w, s, e, lo, p.mid) || !solve(w, s, e, p.mid + 1, hi)) return false;
    if (cb_is_cancelled(w->products)) return false;
    join(&p, of_upper, of_lower);
    return true;
}

static bool all_finite(int64_t n, const double *d, const double *e)
{
    for (int64_t i = 0; i < n; i++) {
        if (!isfinite(d[i]) || !isfinite(e[i])) return false;
    }
    return true;
}

bool cb_divide_svd(const cb_divide *w, double *s, double *e)
{
    const int64_t n = w->n;
    if (n > 0) e[n - 1] = 0;
    if (!all_finite(n, s, e)) return false;
    if (w->u) memset(w->u, 0, (size_t)(n * n) * sizeof *w->u);
    memset(w->v, 0, (size_t)((n + 1) * (n + 1)) * sizeof *w->v);
    return solve(w, s, e, 0, n);
}

/* --- Eigenvalues --------------------------------------------------------------------------------------- */

/* Computes the eigenvalues of rows lo to hi - 1 of a tridiagonal matrix, which form a separate block. A shift by more than
 * Gershgorin's bound makes the block definite. The shifted block is the product of a bidiagonal matrix and its transpose. */
static bool eigen_block(const cb_divide *w, double *d, double *e, int64_t lo, int64_t hi)
{
    double least = d[lo], size = 0, move;
    for (int64_t i = lo; i < hi; i++) {
        double beside = (i > lo ? fabs(e[i - 1]) : 0) + fabs(e[i]);
        least = fmin(least, d[i] - beside);
        size = fmax(size, fabs(d[i]) + beside);
    }
    move = least - size / 16;
    for (int64_t i = lo; i < hi; i++) {
        double before = i > lo ? e[i - 1] : 0;
        d[i] = sqrt(d[i] - move - before * before);
        e[i] /= d[i];
    }
    if (!solve(w, d, e, lo, hi)) return false;
    for (int64_t i = lo; i < hi; i++) d[i] = d[i] * d[i] + move;
    return true;
}

static bool eigen_leaf(const cb_divide *w, double *d, double *e, int64_t lo, int64_t hi)
{
    const cb_vectors v = {right(w, lo) + lo, hi - lo, w->n + 1};
    set_identity(v.rows, hi - lo, v.stride);
    for (int64_t k = lo; k < hi; k++) w->order[k] = k;
    return cb_tridiagonal_eigen(hi - lo, d + lo, e + lo, v, NULL);
}

bool cb_divide_eigen(const cb_divide *w, double *d, double *e)
{
    const int64_t n = w->n;
    if (n > 0) e[n - 1] = 0;
    if (!all_finite(n, d, e)) return false;
    memset(w->v, 0, (size_t)((n + 1) * (n + 1)) * sizeof *w->v);
    for (int64_t lo = 0, hi; lo < n; lo = hi) {
        hi = lo + 1;
        while (hi < n && fabs(e[hi - 1]) > CB_EPSILON * (fabs(d[hi - 1]) + fabs(d[hi]))) hi++;
        e[hi - 1] = 0;
        bool small = hi - lo <= LEAF;
        if (!(small ? eigen_leaf(w, d, e, lo, hi) : eigen_block(w, d, e, lo, hi))) return false;
        merge_orders(d, w->order, lo, w->order + lo, hi - lo, w->merged);
        memcpy(w->order, w->merged, (size_t)hi * sizeof *w->order);
    }
    return true;
}
