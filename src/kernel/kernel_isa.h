/* Names and pragmas for files that are compiled once per instruction set (*.isa.c). CB_ISA is a token and CB_ISA_LEVEL a
 * number: base is 0, plain C for any compiler; neon is 1, for AArch64; v2, v3 and v4 are 2 to 4, for x86-64. */
#ifndef CB_KERNEL_ISA_H
#define CB_KERNEL_ISA_H

#include "kernel/kernel.h"

#ifndef CB_ISA
#define CB_ISA       base
#define CB_ISA_LEVEL 0
#endif

#define CB_PASTE2(a, b) a##_##b
#define CB_PASTE(a, b)  CB_PASTE2(a, b)
#define CB_JOIN2(a, b)  a##b
#define CB_JOIN(a, b)   CB_JOIN2(a, b)
/* Name of a function in this instruction set: for v3, cb_fill_elem becomes cb_fill_elem_v3. */
#define CB_ISA_NAME(name) CB_PASTE(name, CB_ISA)

/* Declares the iterations of a loop independent. `dst` may be the same buffer as an input, but must not overlap it otherwise. */
#if defined(__clang__)
#define CB_IVDEP _Pragma("clang loop vectorize(enable) interleave(enable)")
#else
#define CB_IVDEP _Pragma("GCC ivdep")
#endif

/* A product rounded separately. GCC 12 would fuse a * c - b * d next to a * d + b * c, the parts of a complex product,
 * although -ffp-contract=off forbids it. */
#if defined(__has_builtin) && !defined(__clang__)
#if __has_builtin(__builtin_assoc_barrier)
#define CB_ROUNDED(product) __builtin_assoc_barrier(product)
#endif
#endif
#ifndef CB_ROUNDED
#define CB_ROUNDED(product) (product)
#endif

/* Table of elementwise functions that a file fills (stream.isa.c fills another one). */
#ifndef CB_ELEM
#define CB_ELEM elem
#endif

/* Each file fills its part of a level's table. */
void CB_ISA_NAME(cb_fill_elem)(cb_kernels *k);
void CB_ISA_NAME(cb_fill_math)(cb_kernels *k);
void CB_ISA_NAME(cb_fill_functions)(cb_kernels *k);
void CB_ISA_NAME(cb_fill_complex)(cb_kernels *k);
void CB_ISA_NAME(cb_fill_cast)(cb_kernels *k);
void CB_ISA_NAME(cb_fill_half)(cb_kernels *k);
void CB_ISA_NAME(cb_fill_reduce)(cb_kernels *k);
void CB_ISA_NAME(cb_fill_reduce_position)(cb_kernels *k);
void CB_ISA_NAME(cb_fill_scan)(cb_kernels *k);
void CB_ISA_NAME(cb_fill_gemm)(cb_kernels *k);
void CB_ISA_NAME(cb_fill_matvec)(cb_kernels *k);
void CB_ISA_NAME(cb_fill_group)(cb_kernels *k);
void CB_ISA_NAME(cb_fill_super)(cb_kernels *k);
void CB_ISA_NAME(cb_fill_move)(cb_kernels *k);
void CB_ISA_NAME(cb_fill_random)(cb_kernels *k);
void CB_ISA_NAME(cb_fill_sort)(cb_kernels *k);
void CB_ISA_NAME(cb_fill_stream)(cb_kernels *k);
void CB_ISA_NAME(cb_fill_rolling)(cb_kernels *k);
void CB_ISA_NAME(cb_fill_sparse)(cb_kernels *k);

#endif
