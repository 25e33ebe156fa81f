/* One unary kernel. Parameters: NAME, EXPR(x), T (operand), R (result), FN; NAME and EXPR are undefined at the end. For
 * CB_LINE see stream.isa.c. */
static void FN(NAME)(void *dst, const void *a, const void *b, const void *c, size_t n)
{
    R *d = dst;
    const T *x = a;
    (void)b;
    (void)c;
#ifdef CB_LINE
    for (size_t i = 0; i < n; i += CB_LINE / sizeof(R)) {
        R line[CB_LINE / sizeof(R)];
        for (size_t l = 0; l < CB_LINE / sizeof(R); l++) line[l] = (R)(EXPR(x[i + l]));
        stream_line(d + i, line);
    }
#else
    CB_IVDEP
    for (size_t i = 0; i < n; i++) d[i] = (R)(EXPR(x[i]));
#endif
}
#undef NAME
#undef EXPR
