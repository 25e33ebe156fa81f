/* One ternary kernel. Takes NAME, EXPR(x, y, z), T (operands and result), FN; undefines NAME and
 * EXPR. */
static void FN(NAME)(void *dst, const void *a, const void *b, const void *c, size_t n)
{
    T *d = dst;
    const T *x = a, *y = b, *z = c;
    (void)x;
    (void)y;
    (void)z;
    CB_IVDEP
    for (size_t i = 0; i < n; i++) d[i] = (T)(EXPR(x[i], y[i], z[i]));
}
#undef NAME
#undef EXPR
