/* Pure loops over buffers: no allocation, no I/O, no errors. */
#ifndef CB_KERNEL_KERNEL_H
#define CB_KERNEL_KERNEL_H

#include "cubed/array.h"
#include "cubed/cancel.h"
#include "cubed/dtype.h"
#include "kernel/group.h"
#include "kernel/rolling_kernel.h"
#include "kernel/sparse_kernel.h"

/* Number of elements that a program of the register machine (src/exec/vm) processes in one step: 1 KiB of float64. Longer vectors
 * would separate memory access and arithmetic into phases. This costs bandwidth, unless the machine interleaves both
 * (execute_paced in vm.c).
 *
 * Changing the number changes the bits of variances. A variance reduces runs of at least CB_VECTOR elements vector by vector
 * (`run` below), and shorter runs in another order (`runs` below). */
#define CB_VECTOR 128
/* A reduction of a long run has CB_LANES partial results, called lanes. Element i of the run is reduced into lane i % CB_LANES.
 * After every CB_STRETCH elements, the lanes are combined into the state. So a sum is a sum of sums, with the rounding errors of
 * a few hundred additions. Changing either number changes the bits of results. */
#define CB_LANES   32
#define CB_STRETCH 4096
/* Size of the lanes of the widest state type, complex128, in bytes. */
#define CB_LANES_BYTES ((size_t)CB_LANES * 16)

/* Elementwise operation on n elements. Operations of one or two operands ignore the others. dst may be the same buffer as an
 * operand, but must not overlap it otherwise. */
typedef void (*cb_elem_fn)(void *dst, const void *a, const void *b, const void *c, size_t n);
/* Converts n elements. */
typedef void (*cb_cast_fn)(void *dst, const void *src, size_t n);

/* Kinds of reductions. The state of a reduction is its partial result: one element in each of up to CB_REDUCE_MAX_PLANES arrays,
 * called planes. All planes of a reduction have one type, its state type. At the end, the first plane has the result. */
typedef enum cb_reduction {
    CB_REDUCE_SUM,  /* state type: int64, uint64, float64 or complex128 */
    CB_REDUCE_PROD, /* product; state type: int64, uint64, float64 or complex128 */
    /* Minimum and maximum. The state type is the type of the elements. NaN propagates. Complex numbers are ordered by real part,
     * then by imaginary part. */
    CB_REDUCE_MIN,
    CB_REDUCE_MAX,
    /* float64 planes: sum of squared deviations from the mean (Welford 1962, merged by Chan, Golub, LeVeque 1983); the mean */
    CB_REDUCE_M2,
    /* int64, uint64 or float64 planes: position of the first minimum (maximum); its value. NaN counts as more extreme than all
     * numbers, so the result is the position of the first NaN if there is one. */
    CB_REDUCE_ARGMIN,
    CB_REDUCE_ARGMAX,
    /* float64 planes, without values that are NaN: sum of squared deviations from the mean; the mean; number of values */
    CB_REDUCE_NAN_M2,
    /* Last value that is not missing. Only for cumulative results (cb_scan_fns), and not for uint64. Missing values are NaN and,
     * for int64, INT64_MIN, which means "not a time". */
    CB_REDUCE_LAST,
    CB_REDUCTIONS
} cb_reduction;
#define CB_REDUCE_MAX_PLANES 3

/* Functions of one kind of reduction, for elements of one type.
 *
 * s, t   lists of planes: s[k][i] is the element of state i in plane k
 * x      the values to reduce
 * count  number of values that each state has reduced before. ARGMIN and ARGMAX get a position instead: in `run` that of x[0],
 *        in `runs` that of the first element of every run, in `rows` that of all elements. Elements of a run have consecutive
 *        positions. */
typedef struct cb_reduce_fns {
    /* Sets n states to the neutral state. The neutral state of a sum of floats is -0.0. */
    void (*init)(void *const *s, size_t n);
    /* Reduces x[i] into state i, for each i < n. */
    void (*rows)(void *const *s, const void *x, size_t n, int64_t count);
    /* For sums, products, minima and maxima, otherwise NULL. Reduces element i of x[0..n) into lane i % CB_LANES, in an order
     * that is the same for every instruction set. Before its first use, `lanes` must be initialised by `init`, as a plane of
     * CB_LANES elements. */
    void (*lanes)(void *lanes, const void *x, size_t n);
    /* NULL if `lanes` is NULL. Combines the lanes into state 0, then sets them to the neutral state. The number of lanes is
     * halved repeatedly: each lane of the first half is combined with its counterpart in the second half. */
    void (*join)(void *const *s, void *lanes);
    /* For the other kinds, otherwise NULL. Reduces x[0..n) into state 0, n <= CB_VECTOR. M2 and NAN_M2 first compute the mean,
     * then the sum of squared deviations from it. Both have 8 lanes, which are combined as in `join`. */
    void (*run)(void *const *s, const void *x, size_t n, int64_t count);
    /* Reduces n runs of r > 0 elements, n * r <= CB_VECTOR: x[i * r .. (i + 1) * r) into state i. Runs of at least 8 elements
     * have 8 lanes, which are combined as in `join`. Shorter runs are reduced in the order of the elements. M2 and NAN_M2 do this
     * for the mean, then for the squared deviations. */
    void (*runs)(void *const *s, const void *x, size_t r, size_t n, int64_t count);
    /* Merges state i of t into state i of s, for each i < n. The states of s have reduced ns values, those of t nt values. */
    void (*merge)(void *const *s, void *const *t, size_t n, int64_t ns, int64_t nt);
} cb_reduce_fns;

/* Sums of products x[i] * y[i] of floats, for float64 states. The functions correspond to `rows`, `lanes` and `runs` of
 * cb_reduce_fns for a sum. Each product is first rounded to the type of its factors. So results have the same bits as a
 * multiplication of the vectors, followed by a sum. */
typedef struct cb_product_fns {
    void (*rows)(void *state, const void *x, const void *y, size_t n);
    void (*lanes)(void *lanes, const void *x, const void *y, size_t n);
    void (*runs)(void *state, const void *x, const void *y, size_t r, size_t n);
} cb_product_fns;

/* Cumulative results, such as cumulative sums, along one axis. The results replace the data. The carry is the cumulative result
 * so far: float64, complex128, int64 or uint64. Strides are in bytes.
 *
 * line  processes n elements along the axis; `carry` is one element
 * row   processes one element of each of n lines; `carry` has n elements, one for each line */
typedef struct cb_scan_fns {
    void (*line)(char *data, int64_t stride, int64_t n, void *carry);
    void (*row)(char *data, int64_t stride, int64_t n, void *carry);
} cb_scan_fns;

/* Products of matrices: c =, += or -= a b, with c (m x n), a (m x k) and b (k x n).
 *
 * Integers wrap, and bools are combined by "and" and "or". Floats are summed in the order of k: partial sums of CB_GEMM_KC real
 * products are added to c, one after another. Multiplications and additions are fused if the instruction set has such
 * instructions; x86-64-v2 has none.
 *
 * lda, ldb, ldc  number of elements from the start of a row to the start of the next row; each row is contiguous
 * scratch        cb_gemm_scratch bytes, aligned to 64
 * cancel         checked between blocks; if it is set, the function returns and changes no further block of c; may be NULL */
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
/* Sizes of the packed parts of a and b: blocks of MC x KC elements of a, and panels of b with KC rows of NC_BYTES bytes. MAX_MR
 * rows of MAX_NR_BYTES bytes are the maximum tile of sums in registers, over all instruction sets. A complex element counts as
 * two columns. */
#define CB_GEMM_MC           192
#define CB_GEMM_KC           256
#define CB_GEMM_NC_BYTES     12288
#define CB_GEMM_MAX_MR       8
#define CB_GEMM_MAX_NR_BYTES 192

/* Products of a matrix a (m x n) and vectors, in one pass over the matrix: p += a x and q += a^H y, where a^H is the conjugate
 * transpose. p and y have m elements; q and x have n. Either p and x or q and y may be NULL; that product is not computed then.
 * For float64 and complex128 only. Multiplications and additions are fused as in products of matrices. `lda` is as in cb_gemm. */
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

/* A superinstruction: two or three elementwise operations in one pass, such as sqrt(a * a + c). Results have the same bits as
 * those of separate operations. All results have one type, float32 or float64. The operands of the pass are a, b and c of
 * cb_elem_fn:
 *
 *   operation 0   op[0] of a, or of a and b; or a cast of a from the integer type `from`
 *   operation 1   op[1] of the result of operation 0 and, if it is binary, of c
 *   operation 2   op[2] of the result of operation 1 and, if it is binary, of b (`place` is 1) or c (`place` is 2)
 *
 * The result of operation k is operand number pos[k] of operation k + 1: 0 is the left operand, 1 the right one. */
typedef struct cb_super {
    uint8_t n;     /* number of operations, 2 or 3 */
    uint8_t op[3]; /* cubed_op; the first may be CB_SUPER_CAST */
    uint8_t pos[2];
    uint8_t place; /* unused if n is 2 */
    uint8_t from;  /* cubed_dtype; 0 if op[0] is not CB_SUPER_CAST */
} cb_super;

#define CB_SUPER_CAST UINT8_MAX
/* Maximum number of superinstructions. */
#define CB_MAX_SUPER 128

/* Size of a cache line in bytes. */
#define CB_STREAM_LINE 64

/* Casts from and to half precision; BFLOAT is bfloat16. */
typedef enum cb_half_cast {
    CB_HALF_TO_FLOAT32,
    CB_HALF_FROM_FLOAT32,
    CB_HALF_FROM_FLOAT64,
    CB_BFLOAT_TO_FLOAT32,
    CB_BFLOAT_FROM_FLOAT32,
    CB_BFLOAT_FROM_FLOAT64,
    CB_HALF_CASTS
} cb_half_cast;

/* The kernels of one instruction set. An entry is NULL, or a struct of NULLs, if no such kernel exists. */
typedef struct cb_kernels {
    const char *isa; /* name of the instruction set, such as "x86-64-v3" */
    /* Indexed by the type of the operands after promotion. For `where`, this is the type of its second and third operand. */
    cb_elem_fn elem[CUBED_OP_COUNT][CUBED_DTYPE_COUNT];
    cb_cast_fn cast[CUBED_DTYPE_COUNT][CUBED_DTYPE_COUNT]; /* [from][to]; the diagonal copies */
    cb_cast_fn half[CB_HALF_CASTS];
    cb_reduce_fns reduction[CB_REDUCTIONS][CUBED_DTYPE_COUNT];
    /* Reductions of float32 values into float64 states. Only sums exist. */
    cb_reduce_fns reduce_float32[CB_REDUCTIONS];
    cb_product_fns sum_of_products
        [CUBED_DTYPE_COUNT]; /* indexed by the type of the factors: float32 or float64 */
    /* Indexed by kind (0 sums, 1 products, 2 last values that are not missing, 3 maxima, 4 minima) and by element type. */
    cb_scan_fns scan[5][CUBED_DTYPE_COUNT];
    cb_gemm_fn gemm[CUBED_DTYPE_COUNT];
    cb_matvec_fn matvec[CUBED_DTYPE_COUNT];
    cb_group_table group;
    cb_rolling_fns rolling[CB_ROLLING_KINDS];
    cb_sparse_fns sparse[2]; /* 0: float32, 1: float64 */
    /* Sort n unsigned keys of 32 or 64 bits, smallest first. `temp` is scratch of the size of the keys. Return false if bad
     * pivots would make the quicksort too slow; the keys are then in any order. NULL if the instruction set has no such
     * function. */
    bool (*sort32)(void *keys, int64_t n, void *temp);
    bool (*sort64)(void *keys, int64_t n, void *temp);
    const cb_super *super; /* nsuper superinstructions; their functions have the same indices */
    cb_elem_fn super_fn[CB_MAX_SUPER][CUBED_DTYPE_COUNT];
    int nsuper;
    /* Variants of `elem` and `super_fn` whose stores bypass the caches. The address and the size in bytes of the result must be
     * multiples of CB_STREAM_LINE. Most entries are NULL. */
    cb_elem_fn elem_stream[CUBED_OP_COUNT][CUBED_DTYPE_COUNT];
    cb_elem_fn super_stream[CB_MAX_SUPER][CUBED_DTYPE_COUNT];
    /* Stores n copies of one element of `size` bytes. */
    void (*splat)(void *dst, const void *value, size_t size, size_t n);
    /* Stores n numbers: start, start + step, start + 2 * step, ... */
    void (*index)(int64_t *dst, int64_t start, int64_t step, size_t n);
    /* Copies n elements of `size` bytes, which are `stride` bytes apart in src, to contiguous elements of dst. `stride` may be
     * negative. */
    void (*gather)(void *dst, const void *src, int64_t stride, size_t size, size_t n);
    /* Copies `bytes` bytes with stores that bypass the caches, if the instruction set has such stores. `dst` is aligned to an
     * element. */
    void (*stream)(void *dst, const void *src, size_t bytes);
} cb_kernels;

/* Fills the table with the kernels for the instruction set `isa`; NULL selects the best one of this machine. Returns false if
 * this machine or build does not support `isa`. A context owns the table, which does not change afterwards. */
bool cb_kernels_init(const char *isa, cb_kernels *out);
/* Gets the names of the instruction sets that this machine supports, best first, NULL-terminated: at most 5 entries with the
 * NULL. */
void cb_kernels_available(const char *names[5]);
/* Orders earlier stores of this thread that bypass the caches before its later stores. Call it between the last store and the
 * signal that lets other threads read the data. */
void cb_stream_fence(void);

/* Copies a box of elements of `item_size` bytes between strided buffers that do not overlap. Strides are in bytes and may be
 * negative; source strides may be 0. Merges axes that are contiguous on both sides. Copies in tiles if the axis with the smallest
 * stride is not the same on both sides. */
void cb_copy_box(int ndim, const int64_t *shape, size_t item_size, void *dst,
                 const int64_t *dst_strides, const void *src, const int64_t *src_strides);

/* Reverses the bytes of each of n units of 2, 4 or 8 bytes, in place. */
void cb_reverse_units(void *data, size_t unit, size_t n);

/* Copies elements of x whose mask is not 0 to dst, beginning with index *at. Stops after n elements of x, or when dst has `room`
 * elements. Sets *at to the index after the last element of x that was read. Returns the number of copied elements. `size` is
 * the size of an element in bytes. */
int64_t cb_compress(size_t size, const void *x, const uint8_t *mask, int64_t n, int64_t *at,
                    void *dst, int64_t room);
/* Returns the number of nonzero elements of a mask. */
int64_t cb_count_true(const uint8_t *mask, int64_t n);

/* Rules for the type of an operation's result. ops.def defines these keywords. */
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
/* Returns true if an operation or reduction is defined for this type, according to ops.def and reductions.def. A kernel for the
 * type need not exist, because operands may be cast first. */
bool cb_op_accepts(cubed_op op, cubed_dtype dtype);
bool cb_reduce_accepts(cubed_reduction reduction, cubed_dtype dtype);
/* Returns the result type of a kernel with operands of `type` (for `where`: of its last two operands). */
cubed_dtype cb_op_result(cubed_op op, cubed_dtype type);
/* Returns the real type of a complex type. Other types are returned unchanged. */
cubed_dtype cb_dtype_real(cubed_dtype type);

/* Returns true if there is a kernel for operands or elements of this type. */
bool cb_kernel_has_op(cubed_op op, cubed_dtype dtype);
bool cb_kernel_has_reduce(cb_reduction reduction, cubed_dtype dtype);
/* Returns true if cb_scan_box computes cumulative results of this kind for elements of this type. */
bool cb_kernel_has_scan(cb_reduction kind, cubed_dtype dtype);
/* Returns the size of one element of `carry` in bytes. */
size_t cb_scan_carry_size(cubed_dtype dtype);
/* Initialises the n elements of `carry`. */
void cb_scan_start(cb_reduction kind, cubed_dtype dtype, void *carry, int64_t n);
/* The elements of a box in memory. Strides are in bytes. */
typedef struct cb_scan_elements {
    cubed_dtype dtype;
    int ndim;
    const int64_t *shape, *strides;
    void *data;
} cb_scan_elements;
/* Replaces each element of a box by the result up to this element along `axis`, such as a cumulative sum. Boxes that follow each
 * other along the axis must be processed in this order, with one `carry`. `carry` has the result so far of each line along the
 * axis, with the lines in C order. */
void cb_scan_box(const cb_kernels *k, cb_reduction kind, const cb_scan_elements *x, int axis,
                 void *carry);
/* Returns the size of `scratch` in bytes for products of matrices (m x k) and (k x n), or smaller ones. Saturates at SIZE_MAX. */
size_t cb_gemm_scratch(cubed_dtype dtype, int64_t m, int64_t n, int64_t k);
/* Returns true if there is a cast between two types:
 *
 *   between all types that operations compute with (below CUBED_DTYPE_COUNT)
 *   from half precision to float32, and from float32 or float64 to half precision
 *   between times and int64, which keeps the bits */
bool cb_kernel_has_cast(cubed_dtype from, cubed_dtype to);
/* Returns NULL if there is no such cast. */
cb_cast_fn cb_kernel_cast(const cb_kernels *k, cubed_dtype from, cubed_dtype to);

#endif
