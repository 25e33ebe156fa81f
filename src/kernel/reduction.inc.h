/* Functions of one reduction (cb_reduce_fns) whose state is one number. The including file defines these macros; T, TAG and V are
 * undefined at the end:
 *
 * T               state type
 * V               type of the values; if it is not defined, T
 * TAG             suffix of the functions' names
 * START(T)        the neutral state
 * JOIN(state, x)  the state after a value or another state
 * AT_ONCE         number of lanes per loop, chosen so that compilers vectorise the loop well */
#define FN(name) CB_PASTE(name, TAG)
#ifndef V
#define V T
#endif

static void FN(init)(void *const *s, size_t n)
{
    T *state = s[0];
    for (size_t i = 0; i < n; i++) state[i] = START(T);
}

static void FN(rows)(void *const *s, const void *x, size_t n, int64_t count)
{
    T *state = s[0];
    const V *v = x;
    (void)count;
    CB_IVDEP
    for (size_t i = 0; i < n; i++) state[i] = JOIN(state[i], v[i]);
}

static void FN(lanes)(void *lanes, const void *x, size_t n)
{
    size_t whole = n / CB_LANES * CB_LANES;
    const V *rest = (const V *)x + whole;
    for (size_t first = 0; first < CB_LANES; first += AT_ONCE) {
        T lane[AT_ONCE], *to = (T *)lanes + first;
        const V *v = (const V *)x + first;
        for (int l = 0; l < AT_ONCE; l++) lane[l] = to[l];
        for (size_t i = 0; i < whole; i += CB_LANES) {
            for (int l = 0; l < AT_ONCE; l++) lane[l] = JOIN(lane[l], v[i + (size_t)l]);
        }
        for (int l = 0; l < AT_ONCE; l++) to[l] = lane[l];
    }
    for (size_t l = 0; l < n - whole; l++) ((T *)lanes)[l] = JOIN(((T *)lanes)[l], rest[l]);
}

static void FN(join)(void *const *s, void *lanes)
{
    T *state = s[0], *lane = lanes;
    for (int half = CB_LANES / 2; half > 0; half /= 2) {
        for (int l = 0; l < half; l++) lane[l] = JOIN(lane[l], lane[l + half]);
    }
    state[0] = JOIN(state[0], lane[0]);
    for (int l = 0; l < CB_LANES; l++) lane[l] = START(T);
}

static inline T FN(few_lanes)(const V *v, size_t n)
{
    T lane[8];
    size_t i = 0;
    for (int l = 0; l < 8; l++) lane[l] = START(T);
    for (; i + 8 <= n; i += 8) {
        for (int l = 0; l < 8; l++) lane[l] = JOIN(lane[l], v[i + (size_t)l]);
    }
    for (size_t l = 0; i + l < n; l++) lane[l] = JOIN(lane[l], v[i + l]);
    for (int l = 0; l < 4; l++) lane[l] = JOIN(lane[l], lane[l + 4]);
    lane[0] = JOIN(lane[0], lane[2]);
    lane[1] = JOIN(lane[1], lane[3]);
    return JOIN(lane[0], lane[1]);
}

static void FN(runs)(void *const *s, const void *x, size_t r, size_t n, int64_t count)
{
    T *state = s[0];
    const V *v = x;
    (void)count;
    if (r >= 8) {
        for (size_t i = 0; i < n; i++) state[i] = JOIN(state[i], FN(few_lanes)(v + i * r, r));
        return;
    }
    for (size_t i = 0; i < n; i++) {
        T a = state[i];
        for (size_t j = 0; j < r; j++) a = JOIN(a, v[i * r + j]);
        state[i] = a;
    }
}

static void FN(merge)(void *const *s, void *const *t, size_t n, int64_t ns, int64_t nt)
{
    (void)ns;
    (void)nt;
    T *state = s[0];
    const T *other = t[0];
    CB_IVDEP
    for (size_t i = 0; i < n; i++) state[i] = JOIN(state[i], other[i]);
}
#undef FN
#undef T
#undef V
#undef TAG
