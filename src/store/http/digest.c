#include "store/http/digest.h"

#include <limits.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>

#ifdef CB_CRYPTO_LIBRARY

#include <pthread.h>

#include "base/error.h"
#include "base/library.h"

/* libcrypto is loaded only when needed. Loading it is most of the work of the dynamic linker, and plans with local files do not
 * use it. */
#define FUNCTIONS(F)                                                                               \
    F(BIO_free)                                                                                    \
    F(BIO_new_mem_buf)                                                                             \
    F(EVP_Digest)                                                                                  \
    F(EVP_DigestSign)                                                                              \
    F(EVP_DigestSignInit)                                                                          \
    F(EVP_MD_CTX_free)                                                                             \
    F(EVP_MD_CTX_new)                                                                              \
    F(EVP_PKEY_free)                                                                               \
    F(EVP_PKEY_get_size)                                                                           \
    F(EVP_PKEY_is_a)                                                                               \
    F(EVP_md5)                                                                                     \
    F(EVP_sha256)                                                                                  \
    F(HMAC)                                                                                        \
    F(PEM_read_bio_PrivateKey)

/* check_layers: allow global: a library is loaded once in a process; nothing changes after that */
static struct {
    pthread_once_t once;
#define MEMBER(name) __typeof__(name) *(name);
    FUNCTIONS(MEMBER)
#undef MEMBER
    bool there;
    char missing[512];
} crypto = {.once = PTHREAD_ONCE_INIT};

static void load(void)
{
#define FUNCTION(name) {#name, &crypto.name},
    const cb_library_function functions[] = {FUNCTIONS(FUNCTION)};
#undef FUNCTION
    static const char *const needs[] = {"EVP_Digest", NULL};
    crypto.there =
        cb_library_load(CB_CRYPTO_LIBRARY, functions, sizeof functions / sizeof *functions, needs,
                        crypto.missing, sizeof crypto.missing);
}

static bool is_there(void)
{
    pthread_once(&crypto.once, load);
    return crypto.there;
}

cubed_status cb_digest_load(cubed_error *err)
{
    if (is_there()) return CUBED_OK;
    return cb_fail(err, CUBED_E_UNSUPPORTED,
                   "requests to stores on other machines need " CB_CRYPTO_LIBRARY
                   " (Debian's libssl3), which cannot be loaded: %s",
                   crypto.missing);
}

#define BIO_free                crypto.BIO_free
#define BIO_new_mem_buf         crypto.BIO_new_mem_buf
#define EVP_Digest              crypto.EVP_Digest
#define EVP_DigestSign          crypto.EVP_DigestSign
#define EVP_DigestSignInit      crypto.EVP_DigestSignInit
#define EVP_MD_CTX_free         crypto.EVP_MD_CTX_free
#define EVP_MD_CTX_new          crypto.EVP_MD_CTX_new
#define EVP_PKEY_free           crypto.EVP_PKEY_free
#define EVP_PKEY_get_size       crypto.EVP_PKEY_get_size
#define EVP_PKEY_is_a           crypto.EVP_PKEY_is_a
#define EVP_md5                 crypto.EVP_md5
#define EVP_sha256              crypto.EVP_sha256
#define HMAC                    crypto.HMAC
#define PEM_read_bio_PrivateKey crypto.PEM_read_bio_PrivateKey

#else

static bool is_there(void) { return true; }

cubed_status cb_digest_load(cubed_error *err)
{
    (void)err;
    return CUBED_OK;
}

#endif

bool cb_sha256(const void *bytes, size_t n, unsigned char out[CB_SHA256_BYTES])
{
    return is_there() && EVP_Digest(bytes, n, out, NULL, EVP_sha256(), NULL) == 1;
}

bool cb_md5(const void *bytes, size_t n, unsigned char out[CB_MD5_BYTES])
{
    return is_there() && EVP_Digest(bytes, n, out, NULL, EVP_md5(), NULL) == 1;
}

bool cb_hmac_sha256(const void *key, size_t key_size, const void *bytes, size_t n,
                    unsigned char out[CB_SHA256_BYTES])
{
    return key_size <= INT_MAX && is_there() &&
           HMAC(EVP_sha256(), key, (int)key_size, bytes, n, out, NULL) != NULL;
}

bool cb_rsa_sha256(const char *pem, const void *bytes, size_t n, cb_buf *out)
{
    if (!is_there()) return false;
    unsigned char signature[1024];
    size_t size = sizeof signature;
    BIO *bio = BIO_new_mem_buf(pem, -1);
    EVP_PKEY *key = bio ? PEM_read_bio_PrivateKey(bio, NULL, NULL, NULL) : NULL;
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    const bool ok = key && ctx && EVP_PKEY_is_a(key, "RSA") &&
                    EVP_PKEY_get_size(key) <= (int)sizeof signature &&
                    EVP_DigestSignInit(ctx, NULL, EVP_sha256(), NULL, key) == 1 &&
                    EVP_DigestSign(ctx, signature, &size, bytes, n) == 1;
    if (ok) cb_buf_put(out, signature, size);
    EVP_MD_CTX_free(ctx);
    EVP_PKEY_free(key);
    BIO_free(bio);
    return ok;
}

void cb_hex(const unsigned char *bytes, size_t n, char *out)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < n; i++) {
        out[2 * i] = digits[bytes[i] >> 4];
        out[2 * i + 1] = digits[bytes[i] & 15];
    }
    out[2 * n] = 0;
}
