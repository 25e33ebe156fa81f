/* Pure loops over buffers: no allocation, no I/O, no errors. */
#ifndef CB_KERNEL_KERNEL_H
#define CB_KERNEL_KERNEL_H

#include "cubed/array.h"
#include "cubed/cancel.h"
#include "cubed/dtype.h"
#include "kernel/group.h"
#include "kernel/rolling_kernel.h"
#include "kernel/sparse_kernel.h"

/* Elements per vector register: 1 KiB of float64. Longer vectors separate memory access and arithmetic into phases and lose
 * bandwidth, unless the evaluator mixes them (execute_paced). Variances are reduced one vector at a time and shorter runs
 * in their own order, so this number determines bits: changing it changes results. */
#define CB_VECTOR 128
/* Number of lanes of a reduction, and number of elements after which the lanes are joined. Sums of long runs are therefore sums
 * of sums: their rounding errors are those of a few hundred additions. Changing either number changes the bits of results. */
#define CB_LANES       32
#define CB_STRETCH     4096
#define CB_LANES_BYTES ((size_t)CB_LANES * 16)

typedef void (*cb_elem_fn)(void *dst, const void *a, const void *b, const void *c, size_t n);
typedef void (*cb_cast_fn)(void *dst, const void *src, size_t n);

/* Kinds of reductions. States are planes of the reduction's own type; the first plane is the result. */
typedef enum cb_reduction {
    CB_REDUCE_SUM,  /* states are int64, uint64, float64 or complex128 */
    CB_REDUCE_PROD, /* product; states are int64, uint64, float64 or complex128 */
    /* states have the type of the elements; NaN propagates; complex numbers are ordered by real part, then by imaginary part */
    CB_REDUCE_MIN,
    CB_REDUCE_MAX,
    CB_REDUCE_M2, /* float64: sum of squared deviations from the mean (Welford 1962, merged by
                   Chan, Golub, LeVeque 1983); the mean */
    /* Position of the first smallest value, where NaN counts as smaller than all others, and the value. States are int64,
     * uint64 or float64. */
    CB_REDUCE_ARGMIN,
    CB_REDUCE_ARGMAX,
    /* As float64: M2 of the values that are not NaN, their mean and their count. */
    CB_REDUCE_NAN_M2,
    /* Only for running results, and not for unsigned integers: the last value that is not NaN or, for times, not NaT
     * (INT64_MIN). */
    CB_REDUCE_LAST,
    CB_REDUCTIONS
} cb_reduction;
#define CB_REDUCE_MAX_PLANES 3

/* s and t are lists of planes of state. For ARGMIN and ARGMAX `count` is the position of x[0]: following elements of a run
 * have consecutive positions; elements of rows, and the first elements of several runs, all have this position. */
typedef struct cb_reduce_fns {
    /* Sets n elements of each plane to the neutral state (sum: -0.0). */
    void (*init)(void *const *s, size_t n);
    /* Reduces x[i] into state i; each state has reduced `count` values before. */
    void (*rows)(void *const *s, const void *x, size_t n, int64_t count);
    /* Sums, products, minima and maxima: reduces element i of x[0..n) into lane i % CB_LANES, in an order that is the same
     * for every instruction set. The lanes are elements of a plane that `init` or `join` has made neutral. NULL if `run` is
     * set. */
    void (*lanes)(void *lanes, const void *x, size_t n);
    /* Joins the lanes into state 0: each lane of the first half is joined with the corresponding one of the second half,
     * repeatedly. */
    void (*join)(void *const *s, void *lanes);
    /* Other kinds: reduces x[0..n) into state 0, n <= CB_VECTOR. A variance uses 8 lanes, joined in the same way: first
     * their mean, then the squares of deviations from it. */
    void (*run)(void *const *s, const void *x, size_t n, int64_t count);
    /* Reduces x[i * r .. (i + 1) * r) into state i, n * r <= CB_VECTOR, r > 0. Runs of at least 8 elements use 8 lanes,
     * shorter ones proceed in order (variance: first the mean, then the squares). */
    void (*runs)(void *const *s, const void *x, size_t r, size_t n, int64_t count);
    /* Joins states t into s: states over ns and nt values. */
    void (*merge)(void *const *s, void *const *t, size_t n, int64_t ns, int64_t nt);
} cb_reduce_fns;

/* Functions that add products of two vectors of floats to float64 states and lanes of a sum. Results have the same bits as a
 * multiplication of the vectors, which rounds in their type, followed by the functions above. */
typedef struct cb_product_fns {
    void (*rows)(void *state, const void *x, const void *y, size_t n);
    void (*lanes)(void *lanes, const void *x, const void *y, size_t n);
    void (*runs)(void *state, const void *x, const void *y, size_t r, size_t n);
} cb_product_fns;

/* Running totals in place, for one line along the axis, or one row across it. The carry (float64, complex128, int64 or
 * uint64) has one element per position across the axis. Strides are in bytes. */
typedef struct cb_scan_fns {
    void (*line)(char *data, int64_t stride, int64_t n, void *carry);
    void (*row)(char *data, int64_t stride, int64_t n, void *carry);
} cb_scan_fns;

/* Products of matrices: c (m x n) =, += or -= a (m x k) b (k x n). Rows are contiguous; lda, ldb and ldc are the numbers of
 * elements between them. Integers wrap, bools are or-ed. Floats are summed in the order of k, CB_GEMM_KC real products at a
 * time, which are then added to c; sums of products are fused except on x86-64-v2. `scratch` has cb_gemm_scratch bytes,
 * aligned to 64. `cancel` (may be NULL) is checked between blocks; if it is set, the rest of c is left unchanged. */
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

/* Products of a matrix and vectors, which read the matrix once: p[m] += a x, q[n] += a^H y. p and x, or q and y, may be
 * NULL. float64 and complex128 only; fused like products of matrices. */
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

/* Two or three operations in one pass. Results have the same bits as those of separate operations.
 *
 * Operation 0 has the operands a and, if binary, b; it is `op[0]`, or a cast from the integer type `from`. Operation k has the
 * previous result as operand number pos[k - 1]. Its other operand, if any, is c for operation 1; for operation 2 `place` selects
 * the unused one of 1 (b) and 2 (c). All results have the type of the row's function. */
typedef struct cb_super {
    uint8_t n;     /* number of operations */
    uint8_t op[3]; /* cubed_op; the first may be CB_SUPER_CAST */
    uint8_t pos[2];
    uint8_t place;
    uint8_t from; /* cubed_dtype */
} cb_super;

#define CB_SUPER_CAST UINT8_MAX
#define CB_MAX_SUPER  128

/* Size of a cache line. */
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
    /* By operand type after promotion (where: of the second and third operand). */
    cb_elem_fn elem[CUBED_OP_COUNT][CUBED_DTYPE_COUNT];
    cb_cast_fn cast[CUBED_DTYPE_COUNT][CUBED_DTYPE_COUNT]; /* [from][to]; the diagonal copies */
    cb_cast_fn half[CB_HALF_CASTS];
    cb_reduce_fns reduction[CB_REDUCTIONS][CUBED_DTYPE_COUNT];
    cb_reduce_fns
        reduce_float32[CB_REDUCTIONS]; /* reduces float32 values into float64 states; may be NULL */
    cb_product_fns sum_of_products
        [CUBED_DTYPE_COUNT]; /* indexed by the type of the factors: float32 or float64 */
    /* Running sums, running products, last values other than NaN, running maxima and running minima. */
    cb_scan_fns scan[5][CUBED_DTYPE_COUNT];
    cb_gemm_fn gemm[CUBED_DTYPE_COUNT];
    cb_matvec_fn matvec[CUBED_DTYPE_COUNT];
    cb_group_table group;
    cb_rolling_fns rolling[CB_ROLLING_KINDS];
    cb_sparse_fns sparse[2]; /* one entry for float32 and one for float64 */
    /* Sorts unsigned keys; `spare` has the same size. Returns false, leaving the keys in any order, if it would take too
     * long. NULL if the instruction set has no such function. */
    bool (*sort32)(void *keys, int64_t n, void *spare);
    bool (*sort64)(void *keys, int64_t n, void *spare);
    const cb_super *super; /* nsuper rows */
    cb_elem_fn super_fn[CB_MAX_SUPER][CUBED_DTYPE_COUNT];
    int nsuper;
    /* Variants whose stores bypass the caches, for results whose address and size are multiples of CB_STREAM_LINE; most entries
     * are NULL. */
    cb_elem_fn elem_stream[CUBED_OP_COUNT][CUBED_DTYPE_COUNT];
    cb_elem_fn super_stream[CB_MAX_SUPER][CUBED_DTYPE_COUNT];
    /* Stores n copies of one element of `size` bytes. */
    void (*splat)(void *dst, const void *value, size_t size, size_t n);
    /* Stores start, start+step, ... */
    void (*index)(int64_t *dst, int64_t start, int64_t step, size_t n);
    /* dst[i] = *(src + i*stride); element size as in splat; stride in bytes, any sign. */
    void (*gather)(void *dst, const void *src, int64_t stride, size_t size, size_t n);
    /* Copies `bytes` bytes with stores that bypass the caches if the machine supports it; dst is aligned to an element. */
    void (*stream)(void *dst, const void *src, size_t bytes);
} cb_kernels;

/* Fills the table for `isa` (NULL: the best available). Returns false if this machine or build does not support it.
 * Immutable afterwards; owned by a context. */
bool cb_kernels_init(const char *isa, cb_kernels *out);
/* Gets the names of the instruction sets that this machine supports, best first, NULL-terminated: at most 5 entries with the
 * NULL. */
void cb_kernels_available(const char *names[5]);
/* Makes earlier `stream` calls of this thread visible to other threads. Call it before publishing the data. */
void cb_stream_fence(void);

/* Copies an n-dimensional box between strided buffers that do not overlap (strides in bytes, any sign; source strides may
 * be 0). Collapses axes, and copies in tiles if the fastest axes of the two sides differ. */
void cb_copy_box(int ndim, const int64_t *shape, size_t item_size, void *dst,
                 const int64_t *dst_strides, const void *src, const int64_t *src_strides);

/* Reverses the bytes of each of n units of 2, 4 or 8 bytes, in place. */
void cb_reverse_units(void *data, size_t unit, size_t n);

/* Copies the elements of x from *at to n - 1 whose mask is not 0 to dst, as many as fit. Sets *at after the last element
 * read, and returns the number of copied elements. */
int64_t cb_compress(size_t size, const void *x, const uint8_t *mask, int64_t n, int64_t *at,
                    void *dst, int64_t room);
/* Returns the number of nonzero elements of a mask. */
int64_t cb_count_true(const uint8_t *mask, int64_t n);

/* Result type as a function of the operand types: keywords of ops.def. */
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
/* Returns true if the operands of the operation are converted to int64. */
bool cb_op_takes_index(cubed_op op);
bool cb_op_accepts(cubed_op op, cubed_dtype dtype);
bool cb_reduce_accepts(cubed_reduction reduction, cubed_dtype dtype);
/* Returns the result type of a kernel with operands of `type` (for `where`: of its last two operands). */
cubed_dtype cb_op_result(cubed_op op, cubed_dtype type);
/* Returns the real type of a complex type. Other types are returned unchanged. */
cubed_dtype cb_dtype_real(cubed_dtype type);

/* Returns true if there is a kernel for operands of this type. */
bool cb_kernel_has_op(cubed_op op, cubed_dtype dtype);
bool cb_kernel_has_reduce(cb_reduction reduction, cubed_dtype dtype);
/* Kernels for cumulative operations along an axis, such as running sums. cb_scan_box processes a box of a block in place;
 * blocks must be processed in the order of the axis. `carry` has the running value for each position across the axis, in C
 * order, and is initialised by cb_scan_start. */
bool cb_kernel_has_scan(cb_reduction kind, cubed_dtype dtype);
size_t cb_scan_carry_size(cubed_dtype dtype);
void cb_scan_start(cb_reduction kind, cubed_dtype dtype, void *carry, int64_t n);
void cb_scan_box(const cb_kernels *k, cb_reduction kind, cubed_dtype dtype, int ndim,
                 const int64_t *shape, int axis, void *data, const int64_t *strides, void *carry);
/* Returns the number of bytes of scratch for products of at most this size. Saturates at SIZE_MAX. */
size_t cb_gemm_scratch(cubed_dtype dtype, int64_t m, int64_t n, int64_t k);
/* Casts exist between types used in computations, from half precision to float32, to half precision from float32 and
 * float64, and between times and int64 (the same bits). */
bool cb_kernel_has_cast(cubed_dtype from, cubed_dtype to);
/* Returns NULL if there is no such cast. */
cb_cast_fn cb_kernel_cast(const cb_kernels *k, cubed_dtype from, cubed_dtype to);

#endif
