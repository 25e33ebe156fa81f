/* Common parts of linear algebra functions. Matrices are in the last two axes of blocks, which are in C order. Computations use
 * double precision; single-precision results are rounded once when stored. */
#ifndef CB_LINALG_H
#define CB_LINALG_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/checked.h"
#include "cubed/sys/block.h"
#include "dtype/scalar.h"
#include "kernel/kernel.h"

/* Distance from 1 to the next larger double. */
#define CB_EPSILON 0x1p-52
/* Numbers of smaller magnitude are negligible, because matrices are scaled so that their largest numbers are near 1. */
#define CB_TINY 0x1p-966

typedef struct cb_complex {
    double re, im;
} cb_complex;

/* --- Blocks of matrices ----------------------------------------------------------------------------- */

static inline int64_t cb_rows(const cubed_block *x) { return x->shape[x->ndim - 2]; }
static inline int64_t cb_columns(const cubed_block *x) { return x->shape[x->ndim - 1]; }
/* Returns the number of matrices, vectors or numbers in a block. Each of them consists of the last `core` axes (2, 1 or 0). */
int64_t cb_linalg_count(const cubed_block *x, int core);
static inline bool cb_is_complex(cubed_dtype dtype)
{
    return cubed_dtype_kind(dtype) == CUBED_KIND_COMPLEX;
}

/* Copy matrix or vector number i of a block, which has n elements. cb_linalg_load converts the elements to double precision,
 * cb_linalg_store from double precision to the type of the block. */
void cb_linalg_load(const cubed_block *x, int64_t i, int64_t n, void *to);
void cb_linalg_store(const cubed_block *x, int64_t i, int64_t n, const void *from);

/* Operands whose type differs from that of the first input. Bit i stands for operand i; operands are counted from 0, inputs
 * first, then outputs. */
typedef struct cb_linalg_types {
    /* Operands that are always real, or always complex. They have the precision of the first input. */
    uint32_t real, complex;
} cb_linalg_types;

/* Checks the number of operands, the size of the parameters in bytes, and the types. The last core[i] axes of operand i form one
 * matrix, vector or number. Also checks that the other axes of all operands have the same extents; those of inputs may be 1. */
CUBED_MUST_CHECK cubed_status cb_linalg_check(const cubed_block_call *call, int nin, int nout,
                                              size_t params_size, const int *core,
                                              cb_linalg_types types, cubed_error *err);
/* Check the shape of the matrices, or the length of the vectors, in a block. */
CUBED_MUST_CHECK cubed_status cb_linalg_shape(const cubed_block *x, int64_t rows, int64_t columns,
                                              cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_linalg_length(const cubed_block *x, int64_t n, cubed_error *err);

/* Returns the error CUBED_E_LINALG: iterations did not converge, or gave numbers that are not finite. */
CUBED_MUST_CHECK cubed_status cb_linalg_no_convergence(cubed_error *err);

/* --- Scratch ---------------------------------------------------------------------------------------- */

/* Scratch memory of a call, from which buffers are allocated one after another. If `at` is NULL, allocations only count bytes. So
 * the same code computes the size of the scratch memory, and divides it into buffers. */
typedef struct cb_room {
    char *at;    /* start of the scratch memory */
    size_t used; /* allocated bytes */
} cb_room;

/* Allocates n elements of `size` bytes, aligned to 64 bytes. Returns NULL if r->at is NULL. */
static inline void *cb_room_take(cb_room *r, int64_t n, size_t size)
{
    size_t bytes = cb_sat_add(cb_sat_mul((size_t)n, size), 63) & ~(size_t)63, at = r->used;
    r->used = cb_sat_add(at, bytes);
    return r->at ? r->at + at : NULL;
}

/* --- Numbers ---------------------------------------------------------------------------------------- */

/* Functions of numbers. The names of functions of doubles end with _d, those of complex numbers with _z. */
enum { parts_d = 1, parts_z = 2 }; /* number of doubles */

static inline double real_d(double x) { return x; }
static inline double imag_d(double x) { return 0 * x; }
static inline double make_d(double re, double im) { return re + 0 * im; }
static inline double conj_d(double x) { return x; }
static inline double add_d(double x, double y) { return x + y; }
static inline double sub_d(double x, double y) { return x - y; }
static inline double mul_d(double x, double y) { return x * y; }
static inline double scaled_d(double a, double x) { return a * x; }
static inline double div_d(double x, double y) { return x / y; }
static inline double abs_d(double x) { return fabs(x); }
/* Return the magnitude by which pivots are compared, as in LAPACK: |x| of real numbers, |re| + |im| of complex numbers. */
static inline double size_d(double x) { return fabs(x); }

static inline double real_z(cb_complex x) { return x.re; }
static inline double imag_z(cb_complex x) { return x.im; }
static inline cb_complex make_z(double re, double im) { return (cb_complex){re, im}; }
static inline cb_complex conj_z(cb_complex x) { return make_z(x.re, -x.im); }
static inline cb_complex add_z(cb_complex x, cb_complex y)
{
    return make_z(x.re + y.re, x.im + y.im);
}
static inline cb_complex sub_z(cb_complex x, cb_complex y)
{
    return make_z(x.re - y.re, x.im - y.im);
}
static inline cb_complex mul_z(cb_complex x, cb_complex y)
{
    return make_z(x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re);
}
static inline cb_complex scaled_z(double a, cb_complex x) { return make_z(a * x.re, a * x.im); }
/* Divides without intermediate overflow: R. L. Smith, Algorithm 116, CACM 1962. */
static inline cb_complex div_z(cb_complex x, cb_complex y)
{
    if (fabs(y.re) >= fabs(y.im)) {
        double q = y.im / y.re, d = y.re + y.im * q;
        return make_z((x.re + x.im * q) / d, (x.im - x.re * q) / d);
    }
    double q = y.re / y.im, d = y.re * q + y.im;
    return make_z((x.re * q + x.im) / d, (x.im * q - x.re) / d);
}
static inline double abs_z(cb_complex x) { return cb_hypot(x.re, x.im); }
static inline double size_z(cb_complex x) { return fabs(x.re) + fabs(x.im); }

/* --- Products --------------------------------------------------------------------------------------- */

/* Maximum number of rows or columns of a factor that is computed without recursion. */
#define CB_LINALG_BASE 16

/* Functions for products of double-precision matrices, and scratch memory for the largest product. */
typedef struct cb_products {
    cb_gemm_fn gemm_d, gemm_z;
    cb_matvec_fn matvec_d, matvec_z;
    void *scratch;
    /* cancel flag of the call; after cancellation, remaining products are skipped */
    const cubed_cancel *cancel;
} cb_products;

static inline bool cb_is_cancelled(const cb_products *p) { return cubed_cancel_is_set(p->cancel); }

/* Returns the functions, with scratch memory for products of n x n matrices of the call's type, or smaller ones. */
static inline cb_products cb_products_of(const cb_kernels *k, const cubed_block_call *call,
                                         int64_t n, cb_room *room)
{
    cubed_dtype type = cb_is_complex(call->in[0].dtype) ? CUBED_COMPLEX128 : CUBED_FLOAT64;
    size_t bytes = cb_gemm_scratch(type, n, n, n);
    return (cb_products){k->gemm[CUBED_FLOAT64],       k->gemm[CUBED_COMPLEX128],
                         k->matvec[CUBED_FLOAT64],     k->matvec[CUBED_COMPLEX128],
                         cb_room_take(room, 1, bytes), call->cancel};
}

/* --- Templates -------------------------------------------------------------------------------------- */

/* Files *.inc.h are included with T = double and with T = cb_complex. They define functions with the suffixes above:
 * F(axpy) is axpy_d or axpy_z. */
#define CB_LINALG_JOIN(a, b)  a##_##b
#define CB_LINALG_PASTE(a, b) CB_LINALG_JOIN(a, b)
#define F(name)               CB_LINALG_PASTE(name, TAG)

#endif
