/* One unary kernel. Takes NAME, EXPR(x), T (operand), R (result), FN; undefines NAME, EXPR. */
static void FN(NAME)(void *dst, const void *a, const void *b, const void *c, size_t n)
{
    R *d = dst;
    const T *x = a;
    (void)b;
    (void)c;
    CB_IVDEP
    for (size_t i = 0; i < n; i++) d[i] = (R)(EXPR(x[i]));
}
#undef NAME
#undef EXPR
