/* Product of matrices. Parameters: T (element type), TAG, ADD, SUBTRACT and MULTIPLY_ADD(sum, a, b), which work on T and on
 * vectors of T, and COMPLEX; T and TAG are undefined at the end.
 *
 * Panels of `b` (KC x NC) and blocks of `a` (MC x KC) are packed, so that the innermost loop reads both in order. They stay in
 * the caches while they are used. A tile of MR x NR sums stays in registers (Goto and van de Geijn, "Anatomy of high-performance
 * matrix multiplication", TOMS 2008). A complex matrix is treated as real with twice as many columns; each row of `b` has a
 * second row with the factors of imaginary parts. */
#define FN(name) CB_PASTE(name, TAG)
#define V        FN(vector)
/* Unaligned vectors that may alias elements of any type. */
typedef T V __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(T)), may_alias));
enum { FN(NR) = NV * (int)(VECTOR_BYTES / sizeof(T)), FN(NC) = NC_BYTES / (int)sizeof(T) };
#define NR FN(NR)
#define NC FN(NC)

/* Computes a tile of sums of products over k. Stores the tile in c (MR x NR, rows `ldc` apart), adds it to c, or subtracts it
 * from c. */
static inline void FN(tile)(int64_t k, const T *a, const T *b, T *c, int64_t ldc, cb_gemm_mode mode)
{
    V sum[MR][NV];
#pragma GCC unroll 16
    for (int i = 0; i < MR; i++) {
#pragma GCC unroll 4
        for (int j = 0; j < NV; j++) sum[i][j] = (V){0};
    }
    for (int64_t p = 0; p < k; p++, a += MR, b += NR) {
#pragma GCC unroll 16
        for (int i = 0; i < MR; i++) {
#pragma GCC unroll 4
            for (int j = 0; j < NV; j++)
                sum[i][j] = MULTIPLY_ADD(sum[i][j], a[i], ((const V *)b)[j]);
        }
    }
#pragma GCC unroll 16
    for (int i = 0; i < MR; i++) {
#pragma GCC unroll 4
        for (int j = 0; j < NV; j++) {
            V *to = (V *)(c + i * ldc) + j;
            if (mode == CB_GEMM_ADD) sum[i][j] = ADD(*to, sum[i][j]);
            if (mode == CB_GEMM_SUBTRACT) sum[i][j] = SUBTRACT(*to, sum[i][j]);
            *to = sum[i][j];
        }
    }
}

/* Packs columns of MR rows of `a` one after another, padded with zero rows. */
static void FN(pack_a)(int64_t m, int64_t k, const T *a, int64_t lda, T *to)
{
    for (int64_t i = 0; i < m; i += MR) {
        for (int64_t p = 0; p < k; p++) {
            for (int64_t r = i; r < i + MR; r++) *to++ = r < m ? a[r * lda + p] : 0;
        }
    }
}

/* Packs rows of NR columns of `b` one after another, padded with zero columns. */
static void FN(pack_b)(int64_t k, int64_t n, const T *b, int64_t ldb, T *to)
{
    for (int64_t j = 0; j < n; j += NR) {
        int64_t have = n - j < NR ? n - j : NR;
        for (int64_t p = 0; p < k; p++, to += NR) {
#if COMPLEX
            const T *row = b + p / 2 * ldb + j;
            if (p % 2 == 0) {
                memcpy(to, row, (size_t)have * sizeof(T));
            } else {
                for (int64_t c = 0; c < have; c += 2) {
                    to[c] = -row[c + 1];
                    to[c + 1] = row[c];
                }
            }
#else
            memcpy(to, b + p * ldb + j, (size_t)have * sizeof(T));
#endif
            if (have < NR) memset(to + have, 0, (size_t)(NR - have) * sizeof(T));
        }
    }
}

/* Computes a block of c from a block of `a` and a panel of `b`. */
static void FN(block)(int64_t m, int64_t n, int64_t k, const T *a, const T *b, T *c, int64_t ldc,
                      cb_gemm_mode mode)
{
    for (int64_t j = 0; j < n; j += NR) {
        for (int64_t i = 0; i < m; i += MR) {
            T edge[MR * NR], *to = c + i * ldc + j;
            int64_t rows = m - i < MR ? m - i : MR, columns = n - j < NR ? n - j : NR;
            if (rows == MR && columns == NR) {
                FN(tile)(k, a + i * k, b + j * k, to, ldc, mode);
                continue;
            }
            FN(tile)(k, a + i * k, b + j * k, edge, NR, CB_GEMM_SET);
            for (int64_t r = 0; r < rows; r++) {
                for (int64_t s = 0; s < columns; s++) {
                    T *x = &to[r * ldc + s], y = edge[r * NR + s];
                    if (mode == CB_GEMM_ADD) y = ADD(*x, y);
                    *x = mode == CB_GEMM_SUBTRACT ? SUBTRACT(*x, y) : y;
                }
            }
        }
    }
}

static void FN(gemm)(const cb_gemm *g)
{
    enum { PARTS = COMPLEX ? 2 : 1 }; /* real numbers per element */
    const T *a = g->a, *b = g->b;
    T *c = g->c, *packed_a = g->scratch, *packed_b;
    int64_t m = g->m, n = g->n * PARTS, k = g->k * PARTS;
    int64_t lda = g->lda * PARTS, ldb = g->ldb * PARTS, ldc = g->ldc * PARTS;
    int64_t kc = k < KC ? k : KC;
    packed_b = packed_a + ((m < MC ? (m + MR - 1) / MR * MR : MC) * kc + 63) / 64 * 64;
    for (int64_t i = 0; i < m && k == 0 && g->mode == CB_GEMM_SET; i++)
        memset(c + i * ldc, 0, (size_t)n * sizeof(T));
    for (int64_t j = 0; j < n; j += NC) {
        int64_t columns = n - j < NC ? n - j : NC;
        for (int64_t p = 0; p < k; p += KC) {
            int64_t depth = k - p < KC ? k - p : KC;
            cb_gemm_mode mode = g->mode == CB_GEMM_SET && p > 0 ? CB_GEMM_ADD : g->mode;
            FN(pack_b)(depth, columns, b + p / PARTS * ldb + j, ldb, packed_b);
            for (int64_t i = 0; i < m; i += MC) {
                int64_t rows = m - i < MC ? m - i : MC;
                if (cubed_cancel_is_set(g->cancel)) return;
                FN(pack_a)(rows, depth, a + i * lda + p, lda, packed_a);
                FN(block)(rows, columns, depth, packed_a, packed_b, c + i * ldc + j, ldc, mode);
            }
        }
    }
}
#undef FN
#undef V
#undef NR
#undef NC
#undef T
#undef TAG
