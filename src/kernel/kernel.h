/* Pure loops over buffers: no allocation, no I/O, no errors.
 *
 * One table per instruction set, each complete or with NULL holes where an operation does not take
 * a type (test_kernel checks holes against ops.def). Vectors are short (at most CB_VECTOR elements
 * from the evaluator), contiguous, and aligned to their element at least. `dst` is either exactly
 * one of the inputs' pointers (with elements of the same size) or does not overlap them.
 * Every level gives the same bits, except transcendental functions of floats, whose v2 version has no
 * FMA.
 */
#ifndef CB_KERNEL_KERNEL_H
#define CB_KERNEL_KERNEL_H

#include "cubed/array.h"
#include "cubed/cancel.h"
#include "cubed/dtype.h"
#include "kernel/group.h"
#include "kernel/rolling_kernel.h"

/* Elements of a vector register: 1 KiB of float64 (longer ones split memory and arithmetic into
 * phases and lose bandwidth, but where the evaluator mixes them: execute_paced). Variances go vector by vector, and runs shorter than one have an order of their
 * own, so it is part of what fixes the bits of reductions: changing it changes results. */
#define CB_VECTOR 128
/* Lanes of a run that is reduced, and the elements after which they are joined: sums of long runs are sums
 * of sums, whose rounding errors are those of some hundred additions and not of the whole run. Both fix
 * bits, too. */
#define CB_LANES       32
#define CB_STRETCH     4096
#define CB_LANES_BYTES ((size_t)CB_LANES * 16)

typedef void (*cb_elem_fn)(void *dst, const void *a, const void *b, const void *c, size_t n);
typedef void (*cb_cast_fn)(void *dst, const void *src, size_t n);

/* What a reduction does to its state: planes of the reduction's own type, of which the first is the result. */
typedef enum cb_reduction {
    CB_REDUCE_SUM,  /* int64 uint64 float64 complex128 */
    CB_REDUCE_PROD, /* the same */
    CB_REDUCE_MIN,  /* every type; NaN wins; complex numbers by their real parts first */
    CB_REDUCE_MAX,
    CB_REDUCE_M2,     /* float64: sum of squared deviations from the mean (Welford 1962, merged by
                   Chan, Golub, LeVeque 1983); the mean */
    CB_REDUCE_ARGMIN, /* int64 uint64 float64: position of the first least value, NaN being less than
                       any; the value */
    CB_REDUCE_ARGMAX,
    CB_REDUCE_NAN_M2, /* float64: M2 of what is not NaN; its mean; its count */
    CB_REDUCE_LAST,   /* running only, not of unsigned integers: the last that is not NaN, or not
                       INT64_MIN, which is NaT */
    CB_REDUCTIONS
} cb_reduction;
#define CB_REDUCE_MAX_PLANES 3

/* s and t are lists of planes of state. ARGMIN and ARGMAX take the position of x[0] for `count`: the
 * elements of a run follow it, those of rows, and the first of each of several runs, are all there. */
typedef struct cb_reduce_fns {
    /* Neutral state in n elements of each plane (sum: -0.0). */
    void (*init)(void *const *s, size_t n);
    /* State i takes in x[i]; each state has taken `count` values before. */
    void (*rows)(void *const *s, const void *x, size_t n, int64_t count);
    /* Sums, products, least and greatest values: element i of x[0..n) goes to lane i % CB_LANES, in
     * a fixed order that is the same for every instruction set. The lanes are elements of a plane
     * that `init` made neutral, or left so by `join`. NULL where there is `run`. */
    void (*lanes)(void *lanes, const void *x, size_t n);
    /* State 0 takes in the lanes: each of the first half takes in the one that is half of them further, until
     * there is one. */
    void (*join)(void *const *s, void *lanes);
    /* The others: state 0 takes in x[0..n), n <= CB_VECTOR; a variance in 8 lanes that are joined
     * likewise, their mean, then the squares of what is off it. */
    void (*run)(void *const *s, const void *x, size_t n, int64_t count);
    /* State i takes in x[i * r .. (i + 1) * r), n * r <= CB_VECTOR, r > 0: in 8 lanes from 8
     * elements on, shorter ones one after another (of a variance: their mean, then their squares). */
    void (*runs)(void *const *s, const void *x, size_t r, size_t n, int64_t count);
    /* State i takes in t's: states over ns and nt values. */
    void (*merge)(void *const *s, void *const *t, size_t n, int64_t ns, int64_t nt);
} cb_reduce_fns;

/* Sums of products of two vectors of floats, into states and lanes of the sum of float64: bit for bit what
 * multiplying them, which rounds in their type, and the functions above make. */
typedef struct cb_product_fns {
    void (*rows)(void *state, const void *x, const void *y, size_t n);
    void (*lanes)(void *lanes, const void *x, const void *y, size_t n);
    void (*runs)(void *state, const void *x, const void *y, size_t r, size_t n);
} cb_product_fns;

/* Running totals in place, from and to a carry (of float64, complex128, int64 or uint64) for each
 * position across the axis: of one line along the axis, or of one row across it. Strides in bytes. */
typedef struct cb_scan_fns {
    void (*line)(char *data, int64_t stride, int64_t n, void *carry);
    void (*row)(char *data, int64_t stride, int64_t n, void *carry);
} cb_scan_fns;

/* Products of matrices: c (m x n) = a (m x k) b (k x n), or that is added to it or subtracted from it. Rows
 * are contiguous, and so many elements apart. Integers wrap, bools are or-ed. Floats are summed in the order
 * of k, CB_GEMM_KC real products at a time, which are then added to c; sums of products are fused but by
 * x86-64-v2. `scratch`: cb_gemm_scratch bytes, aligned to 64. `cancel` (may be NULL) is looked at between
 * blocks: where it is not 0 the rest of c is left as it is. */
typedef enum cb_gemm_mode { CB_GEMM_SET, CB_GEMM_ADD, CB_GEMM_SUBTRACT } cb_gemm_mode;
typedef struct cb_gemm {
    int64_t m, n, k;
    const void *a, *b;
    void *c;
    int64_t lda, ldb, ldc;
    cb_gemm_mode mode;
    void *scratch;
    const cubed_cancel *cancel;
} cb_gemm;
typedef void (*cb_gemm_fn)(const cb_gemm *g);
#define CB_GEMM_MC           192
#define CB_GEMM_KC           256
#define CB_GEMM_NC_BYTES     12288
#define CB_GEMM_MAX_MR       8
#define CB_GEMM_MAX_NR_BYTES 192

/* Products of a matrix and vectors, which read it once: p[m] += a x, q[n] += a^H y; p or q may be NULL, with x or
 * y. Of float64 and complex128; fused as those of matrices are. */
typedef struct cb_matvec {
    int64_t m, n;
    const void *a;
    int64_t lda;
    const void *x;
    void *p;
    const void *y;
    void *q;
} cb_matvec;
typedef void (*cb_matvec_fn)(const cb_matvec *g);

/* Two or three operations in one pass, results bit for bit those of one after another. Operation 0 takes a, and b if
 * it has two operands; it is `op[0]`, or a cast of `from`, an integer type. Operation k takes the result of the one
 * before in place pos[k - 1] of its operands; its other operand, if there is one, is c for operation 1, and for
 * operation 2 `place`: 1 (b) or 2 (c), which the others leave. All results are of the type that the row's function
 * is for. */
typedef struct cb_super {
    uint8_t n;     /* operations */
    uint8_t op[3]; /* cubed_op; the first may be CB_SUPER_CAST */
    uint8_t pos[2];
    uint8_t place;
    uint8_t from; /* cubed_dtype */
} cb_super;

#define CB_SUPER_CAST UINT8_MAX
#define CB_MAX_SUPER  128

/* Of a cache. */
#define CB_STREAM_LINE 64

typedef enum cb_half_cast {
    CB_HALF_TO_FLOAT32,
    CB_HALF_FROM_FLOAT32,
    CB_HALF_FROM_FLOAT64,
    CB_BFLOAT_TO_FLOAT32,
    CB_BFLOAT_FROM_FLOAT32,
    CB_BFLOAT_FROM_FLOAT64,
    CB_HALF_CASTS
} cb_half_cast;

typedef struct cb_kernels {
    const char *isa; /* "x86-64-v3" */
    /* By the type of the operands after promotion (where: of the second and third). */
    cb_elem_fn elem[CUBED_OP_COUNT][CUBED_DTYPE_COUNT];
    cb_cast_fn cast[CUBED_DTYPE_COUNT][CUBED_DTYPE_COUNT]; /* [from][to]; the diagonal copies */
    cb_cast_fn half[CB_HALF_CASTS];
    cb_reduce_fns reduction[CB_REDUCTIONS][CUBED_DTYPE_COUNT];
    cb_reduce_fns
        reduce_float32[CB_REDUCTIONS]; /* float32 values into states of float64; or NULL */
    cb_product_fns
        sum_of_products[CUBED_DTYPE_COUNT]; /* by type of the factors: float32, float64 */
    /* Sums, products, last values that are not NaN, largest and smallest values. */
    cb_scan_fns scan[5][CUBED_DTYPE_COUNT];
    cb_gemm_fn gemm[CUBED_DTYPE_COUNT];
    cb_matvec_fn matvec[CUBED_DTYPE_COUNT];
    cb_group_table group;
    cb_rolling_fns rolling[CB_ROLLING_KINDS];
    /* Unsigned keys in order; `spare` has room for as many. False, with the keys in any order, where that would
     * take too long. NULL where the instruction set has nothing for it. */
    bool (*sort32)(void *keys, int64_t n, void *spare);
    bool (*sort64)(void *keys, int64_t n, void *spare);
    const cb_super *super; /* nsuper rows */
    cb_elem_fn super_fn[CB_MAX_SUPER][CUBED_DTYPE_COUNT];
    int nsuper;
    /* The same for results past the caches, at multiples of CB_STREAM_LINE, of a multiple of so many bytes; NULL:
     * there is none, as for most. */
    cb_elem_fn elem_stream[CUBED_OP_COUNT][CUBED_DTYPE_COUNT];
    cb_elem_fn super_stream[CB_MAX_SUPER][CUBED_DTYPE_COUNT];
    /* n copies of one element of `size` bytes. */
    void (*splat)(void *dst, const void *value, size_t size, size_t n);
    /* start, start+step, ... */
    void (*index)(int64_t *dst, int64_t start, int64_t step, size_t n);
    /* dst[i] = *(src + i*stride), element size as splat; stride in bytes, any sign. */
    void (*gather)(void *dst, const void *src, int64_t stride, size_t size, size_t n);
    /* As memcpy but past the caches where the machine can; n bytes, dst aligned to an element. */
    void (*stream)(void *dst, const void *src, size_t bytes);
} cb_kernels;

/* Fills the table for `isa` (NULL: the best one here); false if this machine or build lacks it.
 * Immutable afterwards: a context owns one. */
bool cb_kernels_init(const char *isa, cb_kernels *out);
/* The names this machine can run, best first, NULL-terminated: at most 5 with the NULL. */
void cb_kernels_available(const char *names[5]);
/* Makes earlier `stream`s of this thread visible to others; call before publishing the data. */
void cb_stream_fence(void);

/* Copies an n-dimensional box between strided buffers (strides in bytes, any sign; source stride
 * may be 0). Collapses axes, and goes tile by tile through the cache where the fast axes of the
 * two sides differ. The buffers do not overlap. */
void cb_copy_box(int ndim, const int64_t *shape, size_t item_size, void *dst,
                 const int64_t *dst_strides, const void *src, const int64_t *src_strides);

/* Copies the elements of x from *at to n - 1 whose mask is not 0 to dst, as many as there is room for;
 * moves *at behind the last one looked at, and returns their number. */
int64_t cb_compress(size_t size, const void *x, const uint8_t *mask, int64_t n, int64_t *at,
                    void *dst, int64_t room);
/* How many elements of a mask are not 0. */
int64_t cb_count_true(const uint8_t *mask, int64_t n);

/* How the type of a result follows from the operands': the words of ops.def. */
typedef enum cb_result_rule {
    CB_RESULT_SAME,
    CB_RESULT_BOOL,
    CB_RESULT_FLOAT,
    CB_RESULT_REAL,
    CB_RESULT_LAST2,
    CB_RESULT_INDEX,
    CB_RESULT_INDEX_F32,
    CB_RESULT_INDEX_INT
} cb_result_rule;
cb_result_rule cb_op_rule(cubed_op op);
/* Its operands are int64, whatever integers they were. */
bool cb_op_takes_index(cubed_op op);
bool cb_op_accepts(cubed_op op, cubed_dtype dtype);
bool cb_reduce_accepts(cubed_reduction reduction, cubed_dtype dtype);
/* The type of a kernel's result on operands of `type` (where: of its last two). */
cubed_dtype cb_op_result(cubed_op op, cubed_dtype type);
/* The real type of a complex one; others unchanged. */
cubed_dtype cb_dtype_real(cubed_dtype type);

/* Whether there is a kernel for operands of this type. */
bool cb_kernel_has_op(cubed_op op, cubed_dtype dtype);
bool cb_kernel_has_reduce(cb_reduction reduction, cubed_dtype dtype);
/* Running sums, products and last values. A box of the elements of one block after another, in place; `carry`
 * has a total for each position of the box across the axis, in C order: cb_scan_start sets them. */
bool cb_kernel_has_scan(cb_reduction kind, cubed_dtype dtype);
size_t cb_scan_carry_size(cubed_dtype dtype);
void cb_scan_start(cb_reduction kind, cubed_dtype dtype, void *carry, int64_t n);
void cb_scan_box(const cb_kernels *k, cb_reduction kind, cubed_dtype dtype, int ndim,
                 const int64_t *shape, int axis, void *data, const int64_t *strides, void *carry);
/* Bytes for products of at most these sizes. Sticks at SIZE_MAX. */
size_t cb_gemm_scratch(cubed_dtype dtype, int64_t m, int64_t n, int64_t k);
/* Casts go between types that are computed with, from half precision to float32, to it from float32
 * and float64, and between times and int64 (the same bits). */
bool cb_kernel_has_cast(cubed_dtype from, cubed_dtype to);
/* NULL if there is none. */
cb_cast_fn cb_kernel_cast(const cb_kernels *k, cubed_dtype from, cubed_dtype to);

#endif
