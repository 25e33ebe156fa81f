/* Names and pragmas for files that are compiled once per instruction set (*.isa.c). The build defines two macros for each:
 *
 *   CB_ISA      CB_ISA_LEVEL   instruction set
 *   base        0              plain C for any processor
 *   neon        1              AArch64
 *   v2, v3, v4  2, 3, 4        x86-64-v2, x86-64-v3, x86-64-v4 */
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

/* A product that is rounded before it is added, not fused with the addition. GCC 12 needs this for the parts of a complex
 * product, a * c - b * d and a * d + b * c: it fuses them although -ffp-contract=off forbids it. */
#if defined(__has_builtin) && !defined(__clang__)
#if __has_builtin(__builtin_assoc_barrier)
#define CB_ROUNDED(product) __builtin_assoc_barrier(product)
#endif
#endif
#ifndef CB_ROUNDED
#define CB_ROUNDED(product) (product)
#endif

/* The member of cb_kernels that a file with elementwise functions fills. stream.isa.c fills `elem_stream` instead. */
#ifndef CB_ELEM
#define CB_ELEM elem
#endif

/* Functions of the *.isa.c files: each fills its part of the table of kernels of one instruction set. */
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
