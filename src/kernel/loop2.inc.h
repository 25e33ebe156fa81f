/* One binary kernel. Takes NAME, EXPR(x, y), T (operands), R (result), FN; undefines NAME, EXPR. */
static void FN(NAME)(void *dst, const void *a, const void *b, const void *c, size_t n)
{
    R *d = dst;
    const T *x = a, *y = b;
    (void)c;
    CB_IVDEP
    for (size_t i = 0; i < n; i++) d[i] = (R)(EXPR(x[i], y[i]));
}
#undef NAME
#undef EXPR
