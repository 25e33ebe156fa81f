/* One ternary kernel. Parameters: NAME, EXPR(x, y, z), T (operands and result), X if the first operand has another type,
 * FN; NAME and EXPR are undefined at the end. For CB_LINE see stream.isa.c. */
#ifdef X
#define X_TYPE X
#else
#define X_TYPE T
#endif
static void FN(NAME)(void *dst, const void *a, const void *b, const void *c, size_t n)
{
    T *d = dst;
    const X_TYPE *x = a;
    const T *y = b, *z = c;
    (void)x;
    (void)y;
    (void)z;
#ifdef CB_LINE
    for (size_t i = 0; i < n; i += CB_LINE / sizeof(T)) {
        T line[CB_LINE / sizeof(T)];
        for (size_t l = 0; l < CB_LINE / sizeof(T); l++)
            line[l] = (T)(EXPR(x[i + l], y[i + l], z[i + l]));
        stream_line(d + i, line);
    }
#else
    CB_IVDEP
    for (size_t i = 0; i < n; i++) d[i] = (T)(EXPR(x[i], y[i], z[i]));
#endif
}
#undef X_TYPE
#undef NAME
#undef EXPR
