/* The door to pocketfft.c, whose functions are all static, and a bound of its memory. */
#include <assert.h>

#include "pocketfft.c"

#include "pocketfft.h"

cb_cfft_plan cb_cfft_new(size_t n) { return make_cfft_plan(n); }

cb_rfft_plan cb_rfft_new(size_t n) { return make_rfft_plan(n); }

void cb_cfft_free(cb_cfft_plan plan)
{
    if (plan) destroy_cfft_plan(plan);
}

void cb_rfft_free(cb_rfft_plan plan)
{
    if (plan) destroy_rfft_plan(plan);
}

bool cb_cfft_run(cb_cfft_plan plan, double *c, bool forward, double scale)
{
    return (forward ? cfft_forward(plan, c, scale) : cfft_backward(plan, c, scale)) == 0;
}

bool cb_rfft_forward(cb_rfft_plan plan, double *c, double scale)
{
    return rfft_forward(plan, c, scale) == 0;
}

bool cb_rfft_backward(cb_rfft_plan plan, double *c, double scale)
{
    return rfft_backward(plan, c, scale) == 0;
}

/* Twiddle factors, with the factors p of n, their number f <= NFCT, and the product q of those before p:
 * sums of (p - 1)(n / (p q) - 1) telescope to n - 1 less the sum of p - 1.
 *   complex: and p pairs for each p > 11, in all less than n + f pairs
 *   real: and 2 p numbers for each p > 5, in all less than n + (sum of p) + f <= 2 n + f numbers
 * While they are made there are 2 n numbers more. A transform has a copy of its line, a complex one also p
 * pairs for a factor p > 11.
 *
 * Bluestein's algorithm, which is not used where the largest factor is at most the square root, keeps
 * n + m pairs and a complex plan of length m >= 2 n - 1 without large factors. A transform has another m
 * pairs, n if it is of real numbers, and that plan's copy of m: more than there was while it was made, and
 * more than factors would take. */
size_t cb_fft_bytes(size_t n, bool real)
{
    const size_t structs = sizeof(cfft_plan_i) + sizeof(rfft_plan_i) + sizeof(fftblue_plan_i) +
                           sizeof(cfftp_plan_i) + sizeof(rfftp_plan_i);
    /* malloc takes whole pages for large blocks, of which there are at most this many at once. */
    const size_t fixed = structs + 8 * (4096 + 64);
    const size_t pair = sizeof(cmplx), largest = largest_prime_factor(n);
    if (n >= 50 && (double)largest > sqrt((double)n))
        return fixed + (4 * good_size(2 * n - 1) + 2 * n) * pair;
    if (real) return fixed + (2 * n + NFCT) * sizeof(double) + n * pair;
    return fixed + (n + NFCT) * pair + (n + largest) * pair;
}
