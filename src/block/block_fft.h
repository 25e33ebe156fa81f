/* Fourier transforms: what callers of "fft" and its relatives ask before they choose blocks. */
#ifndef CB_BLOCK_FFT_H
#define CB_BLOCK_FFT_H

#include <stdint.h>

/* Numbers of the longest line. */
#define CB_FFT_MOST ((int64_t)1 << 28)

/* What one line of n numbers takes at most beside the blocks that it is from and goes to. */
uint64_t cb_fft_line_bytes(int64_t n);

#endif
