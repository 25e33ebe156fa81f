/* The functions of one kind of cumulative result (cb_scan_fns). The including file defines these macros; T, C and TAG are
 * undefined at the end:
 *
 * T                     element type
 * C                     type of the carry, the cumulative result so far
 * TAG                   suffix of the functions' names
 * JOIN(carry, element)  the cumulative result after an element
 * OF(carry)             the cumulative result as an element */
#define FN(name) CB_PASTE(name, TAG)

static void FN(scan_line)(char *data, int64_t stride, int64_t n, void *carry)
{
    C c = *(C *)carry;
    for (int64_t i = 0; i < n; i++, data += stride) {
        c = JOIN(c, *(T *)data);
        *(T *)data = OF(c);
    }
    *(C *)carry = c;
}

static void FN(scan_row)(char *data, int64_t stride, int64_t n, void *carry)
{
    C *c = carry;
    if (stride == (int64_t)sizeof(T)) {
        T *x = (T *)data;
        CB_IVDEP
        for (int64_t i = 0; i < n; i++) {
            c[i] = JOIN(c[i], x[i]);
            x[i] = OF(c[i]);
        }
        return;
    }
    for (int64_t i = 0; i < n; i++, data += stride) {
        c[i] = JOIN(c[i], *(T *)data);
        *(T *)data = OF(c[i]);
    }
}
#undef FN
#undef T
#undef C
#undef TAG
