/* Sums of products (cb_product_fns). Results have the same bits as a multiplication followed by a sum. States and lanes are
 * float64. Parameters: V, the type of the factors, and TAG; both are undefined at the end. */
#define FN(name)   CB_PASTE(name, TAG)
#define PRODUCT(i) ((V)(v[i] * w[i]))

static void FN(rows)(void *state, const void *x, const void *y, size_t n)
{
    double *s = state;
    const V *v = x, *w = y;
    CB_IVDEP
    for (size_t i = 0; i < n; i++) s[i] += PRODUCT(i);
}

static void FN(lanes)(void *lanes, const void *x, const void *y, size_t n)
{
    size_t whole = n / CB_LANES * CB_LANES;
    const V *v = x, *w = y;
    double *to = lanes;
    for (size_t first = 0; first < CB_LANES; first += 8) {
        double lane[8];
        for (size_t l = 0; l < 8; l++) lane[l] = to[first + l];
        for (size_t i = first; i < whole; i += CB_LANES) {
            for (size_t l = 0; l < 8; l++) lane[l] += PRODUCT(i + l);
        }
        for (size_t l = 0; l < 8; l++) to[first + l] = lane[l];
    }
    for (size_t i = whole; i < n; i++) to[i - whole] += PRODUCT(i);
}

static void FN(runs)(void *state, const void *x, const void *y, size_t r, size_t n)
{
    double *s = state;
    for (size_t k = 0; k < n; k++) {
        const V *v = (const V *)x + k * r, *w = (const V *)y + k * r;
        double lane[8], sum = s[k];
        if (r < 8) {
            for (size_t j = 0; j < r; j++) sum += PRODUCT(j);
            s[k] = sum;
            continue;
        }
        size_t whole = r / 8 * 8;
        for (size_t l = 0; l < 8; l++) lane[l] = -0.0;
        for (size_t i = 0; i < whole; i += 8) {
            for (size_t l = 0; l < 8; l++) lane[l] += PRODUCT(i + l);
        }
        for (size_t i = whole; i < r; i++) lane[i - whole] += PRODUCT(i);
        s[k] = sum + (((lane[0] + lane[4]) + (lane[2] + lane[6])) +
                      ((lane[1] + lane[5]) + (lane[3] + lane[7])));
    }
}
#undef FN
#undef PRODUCT
#undef V
#undef TAG
