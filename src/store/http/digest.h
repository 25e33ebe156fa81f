/* Digests to sign and check requests. */
#ifndef CB_STORE_DIGEST_H
#define CB_STORE_DIGEST_H

#include "base/alloc.h"

enum { CB_SHA256_BYTES = 32, CB_MD5_BYTES = 16 };

/* Loads the cryptographic library that the following functions use, unless the program is linked with the library. Without the
 * library, these functions return false. The library is never unloaded. CUBED_E_UNSUPPORTED if the library is not installed.
 * Thread-safe. */
CUBED_MUST_CHECK cubed_status cb_digest_load(cubed_error *err);

/* Return false if out of memory. */
bool cb_sha256(const void *bytes, size_t n, unsigned char out[CB_SHA256_BYTES]);
bool cb_md5(const void *bytes, size_t n, unsigned char out[CB_MD5_BYTES]);
bool cb_hmac_sha256(const void *key, size_t key_size, const void *bytes, size_t n,
                    unsigned char out[CB_SHA256_BYTES]);
/* Appends the signature (RSASSA-PKCS1-v1_5) made with the private key in PEM. Returns false if the key is not valid. */
bool cb_rsa_sha256(const char *pem, const void *bytes, size_t n, cb_buf *out);
/* Writes 2 n hexadecimal digits and a terminating NUL. */
void cb_hex(const unsigned char *bytes, size_t n, char *out);

#endif
