/* Functions that compute the states of single elements of one type. Parameters: T (element type) and TAG; both are undefined at
 * the end. */
#define FN(name) CB_PASTE(name, TAG)

static void FN(take_count)(double *to, size_t plane, const void *elements, size_t n)
{
    const T *x = elements;
    (void)plane;
    CB_IVDEP
    for (size_t i = 0; i < n; i++) to[i] = x[i] == x[i] ? 1.0 : 0.0;
}

#define TAKE(kind, nothing)                                                                        \
    static void FN(take_##kind)(double *to, size_t plane, const void *elements, size_t n)          \
    {                                                                                              \
        const T *x = elements;                                                                     \
        CB_IVDEP                                                                                   \
        for (size_t i = 0; i < n; i++) {                                                           \
            to[i] = x[i] == x[i] ? 1.0 : 0.0;                                                      \
            to[plane + i] = x[i] == x[i] ? (double)x[i] : (nothing);                               \
        }                                                                                          \
    }
TAKE(sum, 0.0)
TAKE(prod, 1.0)
TAKE(min, (double)INFINITY)
TAKE(max, -(double)INFINITY)
#undef TAKE

static void FN(take_m2)(double *to, size_t plane, const void *elements, size_t n)
{
    const T *x = elements;
    CB_IVDEP
    for (size_t i = 0; i < n; i++) {
        to[i] = x[i] == x[i] ? 1.0 : 0.0;
        to[plane + i] = x[i] == x[i] ? (double)x[i] : 0.0;
        to[2 * plane + i] = 0.0;
    }
}

#undef FN
#undef T
#undef TAG
