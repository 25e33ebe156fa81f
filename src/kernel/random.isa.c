/* Random numbers as functions of a position and a key. Each element uses the same words in any vector, and only IEEE
 * operations are used, so the bits are the same everywhere. */
#include "kernel/kernel_isa.h"
#include "kernel/philox.h"
#include "kernel/random_math.h"

/* Second words of keys, which separate the streams of different functions; random_uniform uses 0. */
enum { NORMAL_STREAM = 1, EXPONENTIAL_STREAM = 2, INTEGERS_STREAM = 3 };

/* The last block drawn: adjacent elements share it. */
typedef struct drawn {
    bool any;
    uint64_t counter, key[2], word[4];
} drawn;

static inline const uint64_t *draw(drawn *d, uint64_t counter, uint64_t key0, uint64_t key1)
{
    if (!d->any || d->counter != counter || d->key[0] != key0 || d->key[1] != key1) {
        d->any = true;
        d->counter = counter;
        d->key[0] = key0;
        d->key[1] = key1;
        cb_philox((const uint64_t[4]){counter, 0, 0, 0}, d->key, d->word);
    }
    return d->word;
}

/* --- Like NumPy's Generator(Philox(key=key)).random() for each block ------------------------------------ */

/* Draws the words of an element. `index` is block << 32 | position in the block; `low` and `high` are the words of block 0's key.
 * NumPy's counter is 1 for the first words. */
static inline const uint64_t *draw_block(drawn *d, uint64_t index, uint64_t low, uint64_t high,
                                         int per_counter)
{
    uint64_t block = index >> 32, position = index & UINT32_MAX, key = low + block;
    return draw(d, 1 + position / (unsigned)per_counter, key, high + (key < low));
}

static void random_blocks(void *dst, const void *a, const void *b, const void *c, size_t n)
{
    const int64_t *index = a, *low = b, *high = c;
    double *to = dst;
    drawn d = {.any = false};
    for (size_t i = 0; i < n; i++) {
        uint64_t x = (uint64_t)index[i];
        const uint64_t *word = draw_block(&d, x, (uint64_t)low[i], (uint64_t)high[i], 4);
        to[i] = (double)(word[x % 4] >> 11) * 0x1p-53;
    }
}

/* Draws two numbers per word, the low half first. */
static void random_blocks_f32(void *dst, const void *a, const void *b, const void *c, size_t n)
{
    const int64_t *index = a, *low = b, *high = c;
    float *to = dst;
    drawn d = {.any = false};
    for (size_t i = 0; i < n; i++) {
        uint64_t x = (uint64_t)index[i];
        const uint64_t *word = draw_block(&d, x, (uint64_t)low[i], (uint64_t)high[i], 8);
        uint32_t half = (uint32_t)(word[x / 2 % 4] >> 32 * (x % 2));
        to[i] = (float)(half >> 8) * 0x1p-24f;
    }
}

/* --- Distributions: one word per element ----------------------------------------------------------- */

/* Draws normal numbers. a: element index, b: seed. The lowest bit of a word is the sign, and the other bits are half of the tail
 * probability. */
static void random_normal(void *dst, const void *a, const void *b, const void *c, size_t n)
{
    const int64_t *index = a, *seed = b;
    double *to = dst;
    drawn d = {.any = false};
    (void)c;
    for (size_t i = 0; i < n; i++) {
        uint64_t x = (uint64_t)index[i];
        uint64_t word = draw(&d, x / 4, (uint64_t)seed[i], NORMAL_STREAM)[x % 4];
        double z = cb_normal_quantile((double)(word | 1) * 0x1p-65);
        to[i] = word & 1 ? z : -z;
    }
}

static void random_exponential(void *dst, const void *a, const void *b, const void *c, size_t n)
{
    const int64_t *index = a, *seed = b;
    double *to = dst;
    drawn d = {.any = false};
    (void)c;
    for (size_t i = 0; i < n; i++) {
        uint64_t x = (uint64_t)index[i];
        uint64_t word = draw(&d, x / 4, (uint64_t)seed[i], EXPONENTIAL_STREAM)[x % 4];
        to[i] = cb_minus_log((double)(word | 1) * 0x1p-64);
    }
}

/* Draws integers. a: element index, b: seed, c: number of values, 0 for 2**64. The result is floor(c * u) for a 128-bit fraction
 * u, so the probabilities of values differ by at most one part in 2**64. */
static void random_integers(void *dst, const void *a, const void *b, const void *c, size_t n)
{
    const int64_t *index = a, *seed = b, *count = c;
    int64_t *to = dst;
    drawn d = {.any = false};
    for (size_t i = 0; i < n; i++) {
        uint64_t x = (uint64_t)index[i], values = (uint64_t)count[i];
        const uint64_t *u = draw(&d, x / 2, (uint64_t)seed[i], INTEGERS_STREAM) + 2 * (x % 2);
        unsigned __int128 carry = (unsigned __int128)u[0] * values >> 64;
        uint64_t floor = (uint64_t)(((unsigned __int128)u[1] * values + carry) >> 64);
        to[i] = (int64_t)(values == 0 ? u[1] : floor);
    }
}

void CB_ISA_NAME(cb_fill_random)(cb_kernels *k)
{
    k->elem[CUBED_OP_RANDOM_BLOCKS][CUBED_INT64] = random_blocks;
    k->elem[CUBED_OP_RANDOM_BLOCKS_F32][CUBED_INT64] = random_blocks_f32;
    k->elem[CUBED_OP_RANDOM_NORMAL][CUBED_INT64] = random_normal;
    k->elem[CUBED_OP_RANDOM_EXPONENTIAL][CUBED_INT64] = random_exponential;
    k->elem[CUBED_OP_RANDOM_INTEGERS][CUBED_INT64] = random_integers;
}
