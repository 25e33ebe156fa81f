/* Minimum and maximum of complex numbers, compared by real part, then by imaginary part. Parameters: C, the complex type; REAL,
 * the type of its parts; and the tags MIN and MAX. All are undefined at the end. If the result is NaN, both of its parts are NaN,
 * so it does not depend on the order of several NaN. */
#define FN(name) CB_PASTE(name, MIN)

static inline C FN(join_numbers)(C a, C b, bool largest)
{
    bool more = b.re > a.re || (b.re == a.re && b.im > a.im);
    bool less = b.re < a.re || (b.re == a.re && b.im < a.im);
    if (b.re != b.re || b.im != b.im) return (C){(REAL)NAN, (REAL)NAN};
    return (largest ? more : less) ? b : a;
}

#define START(T)   ((C){(REAL)INFINITY, (REAL)INFINITY})
#define JOIN(a, b) CB_PASTE(join_numbers, MIN)((a), (b), false)
#undef FN
#define T   C
#define TAG MIN
#include "kernel/reduction.inc.h"
#undef START
#undef JOIN
#define START(T)   ((C){-(REAL)INFINITY, -(REAL)INFINITY})
#define JOIN(a, b) CB_PASTE(join_numbers, MIN)((a), (b), true)
#define T          C
#define TAG        MAX
#include "kernel/reduction.inc.h"
#undef START
#undef JOIN
#undef C
#undef REAL
#undef MIN
#undef MAX
