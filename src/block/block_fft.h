/* Fourier transforms: limits for callers that choose blocks for "fft" and related functions. */
#ifndef CB_BLOCK_FFT_H
#define CB_BLOCK_FFT_H

#include <stdint.h>

/* Maximum number of elements along a transformed axis. */
#define CB_FFT_MOST ((int64_t)1 << 28)

/* Returns the maximum memory in bytes of a transform of one line of n numbers, in addition to its input and output blocks. */
uint64_t cb_fft_line_bytes(int64_t n);

#endif
