/* Last operations of a program, with stores that bypass the caches: arithmetic of float32 and float64, and superinstructions.
 * They store whole cache lines directly from registers. */
#include "kernel/kernel_isa.h"

#if CB_ISA_LEVEL >= 2
#include <immintrin.h>
#include <math.h>

#include "kernel/super.h"

#undef CB_ELEM
#define CB_ELEM elem_stream
#define CB_LINE CB_STREAM_LINE

static inline void stream_line(void *to, const void *line)
{
#if CB_ISA_LEVEL == 4
    _mm512_stream_si512((__m512i *)to, _mm512_loadu_si512(line));
#elif CB_ISA_LEVEL == 3
    for (int k = 0; k < CB_LINE / 32; k++)
        _mm256_stream_si256((__m256i *)to + k, _mm256_loadu_si256((const __m256i *)line + k));
#else
    for (int k = 0; k < CB_LINE / 16; k++)
        _mm_stream_si128((__m128i *)to + k, _mm_loadu_si128((const __m128i *)line + k));
#endif
}

#define T       float
#define W       float
#define TAG     f4
#define DT      CUBED_FLOAT32
#define FABS    fabsf
#define SQRT    sqrtf
#define M(name) name##f
#include "kernel/elem_float.inc.h"
#include "kernel/elem_number.inc.h"
#undef T
#undef W
#undef TAG
#undef DT
#undef FABS
#undef SQRT
#undef M
#define T       double
#define W       double
#define TAG     f8
#define DT      CUBED_FLOAT64
#define FABS    fabs
#define SQRT    sqrt
#define M(name) name
#include "kernel/elem_float.inc.h"
#include "kernel/elem_number.inc.h"
#undef T
#undef W
#undef TAG
#undef DT
#undef FABS
#undef SQRT
#undef M
#include "kernel/super_all.inc.h"

void CB_ISA_NAME(cb_fill_stream)(cb_kernels *k)
{
    fill_float_f4(k);
    fill_number_f4(k);
    fill_float_f8(k);
    fill_number_f8(k);
    for (int i = 0; i < CB_SUPER_ROWS; i++) {
        k->super_stream[i][CUBED_FLOAT32] = super_of(i, false);
        k->super_stream[i][CUBED_FLOAT64] = super_of(i, true);
    }
}
#else
void CB_ISA_NAME(cb_fill_stream)(cb_kernels *k) { (void)k; }
#endif
