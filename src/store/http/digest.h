/* Digests that requests are signed and checked with. */
#ifndef CB_STORE_DIGEST_H
#define CB_STORE_DIGEST_H

#include "base/alloc.h"

enum { CB_SHA256_BYTES = 32, CB_MD5_BYTES = 16 };

/* Loads what these take, where that is not linked: else they say false. CUBED_E_UNSUPPORTED where it is not there. It stays
 * loaded. Thread-safe. */
CUBED_MUST_CHECK cubed_status cb_digest_load(cubed_error *err);

/* False without memory. */
bool cb_sha256(const void *bytes, size_t n, unsigned char out[CB_SHA256_BYTES]);
bool cb_md5(const void *bytes, size_t n, unsigned char out[CB_MD5_BYTES]);
bool cb_hmac_sha256(const void *key, size_t key_size, const void *bytes, size_t n,
                    unsigned char out[CB_SHA256_BYTES]);
/* Appends the signature (RSASSA-PKCS1-v1_5) that the private key in PEM makes. False: it is no such key. */
bool cb_rsa_sha256(const char *pem, const void *bytes, size_t n, cb_buf *out);
/* 2 n digits and a zero. */
void cb_hex(const unsigned char *bytes, size_t n, char *out);

#endif
