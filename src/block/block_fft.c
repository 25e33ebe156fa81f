/* Discrete Fourier transforms along whole axes of a block, with pocketfft.
 *
 * Lines are copied to scratch memory in double precision, transformed there, and rounded once when they are copied back.
 * Several adjacent lines are processed together, because their elements share cache lines. Several axes are transformed one
 * after another. Only one of them may change extent and type. All others are transformed in place. */
#include <math.h>

#include <pocketfft.h>

#include "base/checked.h"
#include "base/error.h"
#include "block/block_fft.h"
#include "block/functions.h"
#include "block/params.h"

#define LINES 8

/* Lines in scratch memory. A complex number is a pair of doubles. */
typedef struct lines {
    double *line;
    int64_t pitch, count;
    int parts;
} lines;

#define CB_FFT_JOIN(a, b)  a##b
#define CB_FFT_PASTE(a, b) CB_FFT_JOIN(a, b)
#define T                  float
#include "block/block_fft.inc.h"
#define T double
#include "block/block_fft.inc.h"

static bool is_single(cubed_dtype dtype)
{
    return dtype == CUBED_FLOAT32 || dtype == CUBED_COMPLEX64;
}

static bool is_complex(cubed_dtype dtype) { return cubed_dtype_kind(dtype) == CUBED_KIND_COMPLEX; }

/* --- One line -------------------------------------------------------------------------------------- */

/* FROM_REAL computes only the half of the result that determines the other half. ALL_FROM_REAL computes both halves. */
typedef enum transform_kind { COMPLEX, FROM_REAL, ALL_FROM_REAL, TO_REAL } transform_kind;

typedef struct transform {
    transform_kind kind;
    bool forward;
    int64_t n;
    double scale;
    cb_cfft_plan complex_plan; /* used for COMPLEX */
    cb_rfft_plan real_plan;    /* used for the other kinds */
    /* Each line has a position along the twiddle axis. Lines q * repeat to (q + 1) * repeat - 1 have position first + q, where q
     * is taken modulo `extent`. `twiddle_n` is the order of the root of unity by whose powers lines are multiplied; 0: no twiddle
     * axis. */
    int64_t twiddle_n, first, repeat, extent;
} transform;

static void conjugate(double *pairs, int64_t n)
{
    for (int64_t i = 0; i < n; i++) pairs[2 * i + 1] = -pairs[2 * i + 1];
}

/* Transforms n real numbers, which start at line + 1, to n / 2 + 1 pairs. The imaginary part of the first pair is 0. If n is
 * even, the imaginary part of the last pair is also 0. pocketfft does not store these zeros. */
static bool from_real(const transform *t, double *line)
{
    if (!cb_rfft_forward(t->real_plan, line + 1, t->scale)) return false;
    line[0] = line[1];
    line[1] = 0;
    if (t->n % 2 == 0) line[t->n + 1] = 0;
    if (!t->forward) conjugate(line, t->n / 2 + 1);
    return true;
}

/* Computes the second half of n pairs from the first half, as complex conjugates in reverse order. */
static void complete(double *pairs, int64_t n)
{
    for (int64_t i = n / 2 + 1; i < n; i++) {
        pairs[2 * i] = pairs[2 * (n - i)];
        pairs[2 * i + 1] = -pairs[2 * (n - i) + 1];
    }
}

/* Computes the inverse of from_real. Ignores the imaginary parts that from_real sets to 0. */
static bool to_real(const transform *t, double *line)
{
    if (t->forward) conjugate(line, t->n / 2 + 1);
    line[1] = line[0];
    return cb_rfft_backward(t->real_plan, line + 1, t->scale);
}

/* --- Twiddle factors ------------------------------------------------------------------------------- */

/* A power of a root of unity is computed as a product of two powers. The first exponent is a multiple of NEAR, and the second is
 * below NEAR. */
#define NEAR 64

static const double pi = 3.14159265358979323846;

/* Computes power m of exp(-2 pi i / n), or of the inverse of this root. */
static void root(uint64_t m, uint64_t n, bool forward, double out[2])
{
    m %= n;
    /* Reducing m to half a turn as an integer is exact, so the sine is accurate. */
    const double near = m > n / 2 ? -(double)(n - m) : (double)m;
    const double angle = (forward ? -2 : 2) * pi * (near / (double)n);
    out[0] = cos(angle);
    out[1] = sin(angle);
}

/* Multiplies each element k of a line by the root of unity of order n to the power j * k. */
static void twiddle(double *pairs, int64_t count, uint64_t j, uint64_t n, bool forward)
{
    double near[NEAR][2], far[2];
    for (uint64_t k = 0; k < NEAR && (int64_t)k < count; k++) root(j * k, n, forward, near[k]);
    for (int64_t start = 0; start < count; start += NEAR) {
        root(j * (uint64_t)start, n, forward, far);
        const int64_t some = cb_min_i64(NEAR, count - start);
        for (int64_t k = 0; k < some; k++) {
            double *x = pairs + 2 * (start + k);
            const double wr = far[0] * near[k][0] - far[1] * near[k][1];
            const double wi = far[0] * near[k][1] + far[1] * near[k][0];
            const double re = x[0] * wr - x[1] * wi;
            x[1] = x[0] * wi + x[1] * wr;
            x[0] = re;
        }
    }
}

/* --- One axis -------------------------------------------------------------------------------------- */

/* A block as (outer, extent along the axis, inner). */
typedef struct side {
    char *data;
    bool single;
    int parts;
    int64_t extent, inner;
} side;

static side side_of(const cubed_block *b, int axis, int64_t inner)
{
    return (side){b->data, is_single(b->dtype), is_complex(b->dtype) ? 2 : 1, b->shape[axis],
                  inner};
}

/* Returns the address of line `k` at the index `o` of the outer axes. */
static char *line_at(const side *s, int64_t o, int64_t k)
{
    int64_t item = (s->single ? (int64_t)sizeof(float) : (int64_t)sizeof(double)) * s->parts;
    return s->data + (o * s->extent * s->inner + k) * item;
}

/* Transforms up to LINES adjacent lines, from line `first` on at the index `o` of the outer axes. */
static bool run_lines(const transform *t, const side *from, const side *to, int64_t o,
                      int64_t first, double *scratch)
{
    const int64_t inner = from->inner, count = cb_min_i64(LINES, inner - first);
    lines l = {scratch, 2 * t->n + 2, count, from->parts};
    if (t->kind == FROM_REAL || t->kind == ALL_FROM_REAL) l.line++;
    (from->single ? load_float : load_double)(line_at(from, o, first), inner, &l, from->extent);
    for (int64_t k = 0; k < count; k++) {
        double *line = scratch + k * l.pitch;
        bool ok = t->kind == COMPLEX   ? cb_cfft_run(t->complex_plan, line, t->forward, t->scale)
                  : t->kind == TO_REAL ? to_real(t, line)
                                       : from_real(t, line);
        if (!ok) return false;
        if (t->kind == ALL_FROM_REAL) complete(line, t->n);
        if (t->twiddle_n > 0) {
            const int64_t j = t->first + (o * inner + first + k) / t->repeat % t->extent;
            twiddle(line, to->extent, (uint64_t)j, (uint64_t)t->twiddle_n, t->forward);
        }
    }
    l.parts = to->parts;
    l.line = scratch + (t->kind == TO_REAL);
    (to->single ? store_float : store_double)(line_at(to, o, first), inner, &l, to->extent);
    return true;
}

static bool each_line(const transform *t, int64_t outer, const side *from, const side *to,
                      double *scratch)
{
    for (int64_t o = 0; o < outer; o++) {
        for (int64_t k = 0; k < from->inner; k += LINES) {
            if (!run_lines(t, from, to, o, k, scratch)) return false;
        }
    }
    return true;
}

static double scale_of(int32_t scale, int64_t n)
{
    if (scale == CB_FFT_SCALE_N) return 1.0 / (double)n;
    return scale == CB_FFT_SCALE_SQRT ? 1.0 / sqrt((double)n) : 1.0;
}

/* Transforms an axis of a block in place, or from input to output. */
static cubed_status run_axis(const cubed_block_call *call, transform_kind kind, int axis,
                             const cubed_block *from, const cubed_block *to, cubed_error *err)
{
    const cb_fft_params *p = call->params;
    int64_t outer = 1, inner = 1;
    transform t = {.kind = kind, .forward = p->forward, .n = p->n[axis]};
    for (int d = 0; d < axis; d++) outer *= to->shape[d];
    for (int d = axis + 1; d < to->ndim; d++) inner *= to->shape[d];
    const side in = side_of(from, axis, inner), out = side_of(to, axis, inner);
    t.scale = scale_of(p->scale, t.n);
    if (p->twiddle_axis >= 0) {
        t.twiddle_n = p->twiddle_n;
        t.first = to->offset[p->twiddle_axis];
        t.extent = to->shape[p->twiddle_axis];
        t.repeat = 1;
        for (int d = p->twiddle_axis + 1; d < to->ndim; d++) {
            if (d != axis) t.repeat *= to->shape[d];
        }
    }
    if (kind == COMPLEX)
        t.complex_plan = cb_cfft_new((size_t)t.n);
    else
        t.real_plan = cb_rfft_new((size_t)t.n);
    bool ok = (t.complex_plan || t.real_plan) && each_line(&t, outer, &in, &out, call->scratch);
    cb_cfft_free(t.complex_plan);
    cb_rfft_free(t.real_plan);
    if (ok) return CUBED_OK;
    return cb_fail(err, CUBED_E_NOMEM, "no memory for a transform of %lld elements",
                   (long long)t.n);
}

/* --- Blocks ---------------------------------------------------------------------------------------- */

static cubed_status check_twiddle(const cb_fft_params *p, int ndim, transform_kind kind,
                                  cubed_error *err)
{
    int transformed = 0;
    if (p->twiddle_axis == -1 && p->twiddle_n == 0) return CUBED_OK;
    for (int d = 0; d < ndim; d++) transformed += p->n[d] > 0;
    if (p->twiddle_axis >= 0 && p->twiddle_axis < ndim && p->twiddle_n > 0 &&
        p->n[p->twiddle_axis] == 0 && transformed == 1 && kind != TO_REAL)
        return CUBED_OK;
    return cb_fail(err, CUBED_E_FORMAT,
                   "the twiddle axis is %d, expected an axis of %d dimensions that is not "
                   "transformed, and one transformed axis (there are %d)",
                   (int)p->twiddle_axis, ndim, transformed);
}

static cubed_status check(const cubed_block_call *call, transform_kind kind, cubed_error *err)
{
    const cb_fft_params *p = call->params;
    if (call->params_size != sizeof *p || call->nin != 1 || call->nout != 1)
        return cb_fail(err, CUBED_E_FORMAT,
                       "the number of operands or size of parameters does not match the function");
    const cubed_block *x = &call->in[0], *y = &call->out[0];
    bool real_axis = kind == COMPLEX
                         ? p->real_axis == -1
                         : p->real_axis >= 0 && p->real_axis < x->ndim && p->n[p->real_axis] > 0;
    if (x->ndim != y->ndim || !real_axis || p->forward >> 1 || p->scale < CB_FFT_SCALE_ONE ||
        p->scale > CB_FFT_SCALE_N)
        return cb_fail(err, CUBED_E_FORMAT, "the parameters are out of range");
    bool real_in = cubed_dtype_kind(x->dtype) == CUBED_KIND_FLOAT, real_out = kind == TO_REAL;
    bool inexact = (kind == COMPLEX || real_in == (kind == FROM_REAL)) &&
                   (real_in || is_complex(x->dtype)) &&
                   cubed_dtype_kind(y->dtype) == (real_out ? CUBED_KIND_FLOAT : CUBED_KIND_COMPLEX);
    size_t part_in = cubed_dtype_size(x->dtype) / (real_in ? 1 : 2);
    size_t part_out = cubed_dtype_size(y->dtype) / (real_out ? 1 : 2);
    if (!inexact || part_in != part_out || part_in < sizeof(float))
        return cb_fail(err, CUBED_E_TYPE,
                       "the transform cannot compute an output of type %s from an input of type %s",
                       cubed_dtype_name(y->dtype), cubed_dtype_name(x->dtype));
    CB_TRY(check_twiddle(p, x->ndim, kind, err));
    bool any = false;
    for (int d = 0; d < x->ndim; d++) {
        int64_t n = p->n[d];
        any = any || n > 0;
        int64_t in = n && d == p->real_axis && real_out ? n / 2 + 1 : n;
        int64_t out = n && d == p->real_axis && kind == FROM_REAL ? n / 2 + 1 : n;
        if (n < 0 || (n > 0 && (x->shape[d] != in || y->shape[d] != out)) ||
            (n == 0 && x->shape[d] != y->shape[d]))
            return cb_fail(err, CUBED_E_FORMAT,
                           "the blocks have %lld and %lld elements along axis %d, which does not "
                           "match a transform of %lld",
                           (long long)x->shape[d], (long long)y->shape[d], d, (long long)n);
        if (n > CB_FFT_MOST)
            return cb_fail(err, CUBED_E_UNSUPPORTED,
                           "the axis has %lld elements, expected at most 2**28", (long long)n);
    }
    if (!any) return cb_fail(err, CUBED_E_FORMAT, "no axis is transformed, expected at least one");
    return CUBED_OK;
}

static cubed_status check_fft(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    (void)ctx;
    return check(call, COMPLEX, err);
}

static cubed_status check_rfft(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    (void)ctx;
    return check(call, FROM_REAL, err);
}

static cubed_status check_irfft(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    (void)ctx;
    return check(call, TO_REAL, err);
}

_Static_assert(CB_FFT_MOST == CB_POCKETFFT_MAX, "lines as long as pocketfft takes");

/* Returns the size of the scratch memory for `count` adjacent lines. */
static size_t scratch_bytes(size_t count, size_t n)
{
    return cb_sat_mul(count, (2 * n + 2) * sizeof(double));
}

uint64_t cb_fft_line_bytes(int64_t n)
{
    const size_t length = (size_t)n;
    return scratch_bytes(1, length) +
           cb_max_size(cb_fft_bytes(length, false), cb_fft_bytes(length, true));
}

/* Returns the maximum of the memory for each axis, because axes are transformed one after another. */
static cubed_block_need need(const cubed_block_call *call, void *ctx)
{
    (void)ctx;
    const cb_fft_params *p = call->params;
    cubed_block_need most = {0, 0};
    size_t inner = 1;
    /* In "fft" with real input, only the first transform has real input: that of the last axis that is transformed. */
    bool real = !is_complex(call->in[0].dtype) && p->real_axis < 0;
    for (int d = call->out[0].ndim - 1; d >= 0; d--) {
        size_t n = (size_t)p->n[d], scratch = scratch_bytes(cb_min_size(inner, LINES), n);
        inner = cb_sat_mul(inner, (size_t)call->out[0].shape[d]);
        if (n == 0) continue;
        most.scratch = cb_max_size(most.scratch, scratch);
        most.library = cb_max_size(most.library, cb_fft_bytes(n, real || d == p->real_axis));
        real = false;
    }
    return most;
}

/* Transforms, in place, all axes except the axis that changes between real and complex numbers. */
static cubed_status run_others(const cubed_block_call *call, const cubed_block *x, cubed_error *err)
{
    const cb_fft_params *p = call->params;
    for (int d = x->ndim - 1; d >= 0; d--) {
        if (p->n[d] > 0 && d != p->real_axis) CB_TRY(run_axis(call, COMPLEX, d, x, x, err));
    }
    return CUBED_OK;
}

static cubed_status run_fft(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    (void)ctx;
    const cb_fft_params *p = call->params;
    const cubed_block *from = &call->in[0], *y = &call->out[0];
    for (int d = y->ndim - 1; d >= 0; d--) {
        if (p->n[d] == 0) continue;
        transform_kind kind = is_complex(from->dtype) ? COMPLEX : ALL_FROM_REAL;
        CB_TRY(run_axis(call, kind, d, from, y, err));
        from = y;
    }
    return CUBED_OK;
}

static cubed_status run_rfft(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    (void)ctx;
    const cb_fft_params *p = call->params;
    CB_TRY(run_axis(call, FROM_REAL, p->real_axis, &call->in[0], &call->out[0], err));
    return run_others(call, &call->out[0], err);
}

static cubed_status run_irfft(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    (void)ctx;
    const cb_fft_params *p = call->params;
    CB_TRY(run_others(call, &call->in[0], err));
    return run_axis(call, TO_REAL, p->real_axis, &call->in[0], &call->out[0], err);
}

const cubed_block_fn cb_block_fft = {
    .name = "fft", .check = check_fft, .need = need, .run = run_fft, .divisible = true};
const cubed_block_fn cb_block_rfft = {
    .name = "rfft", .check = check_rfft, .need = need, .run = run_rfft, .divisible = true};
const cubed_block_fn cb_block_irfft = {.name = "irfft",
                                       .check = check_irfft,
                                       .need = need,
                                       .run = run_irfft,
                                       .clobbers = 1,
                                       .divisible = true};
