#include "store/digest.h"

#include <limits.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>

bool cb_sha256(const void *bytes, size_t n, unsigned char out[CB_SHA256_BYTES])
{
    return EVP_Digest(bytes, n, out, NULL, EVP_sha256(), NULL) == 1;
}

bool cb_md5(const void *bytes, size_t n, unsigned char out[CB_MD5_BYTES])
{
    return EVP_Digest(bytes, n, out, NULL, EVP_md5(), NULL) == 1;
}

bool cb_hmac_sha256(const void *key, size_t key_size, const void *bytes, size_t n,
                    unsigned char out[CB_SHA256_BYTES])
{
    return key_size <= INT_MAX &&
           HMAC(EVP_sha256(), key, (int)key_size, bytes, n, out, NULL) != NULL;
}

bool cb_rsa_sha256(const char *pem, const void *bytes, size_t n, cb_buf *out)
{
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
    return ok && !out->failed;
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
