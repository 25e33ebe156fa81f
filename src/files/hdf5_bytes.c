/* Bytes of an HDF5 file: integers, addresses, and structures with signatures. */
#include <string.h>

#include "files/hdf5_pkg.h"

uint64_t cb_h5_take(cb_h5_bytes *b, int n)
{
    const uint8_t *at = cb_h5_skip(b, (uint64_t)n);
    return at ? cb_le_get(at, n) : 0;
}

const uint8_t *cb_h5_skip(cb_h5_bytes *b, uint64_t n)
{
    if (b->bad || n > cb_h5_left(b)) {
        b->bad = true;
        return NULL;
    }
    const uint8_t *at = b->at;
    b->at += n;
    return at;
}

uint64_t cb_h5_address(const cb_h5 *h, cb_h5_bytes *b)
{
    const uint64_t none = h->osize == 8 ? UINT64_MAX : ((uint64_t)1 << (8 * h->osize)) - 1;
    const uint64_t a = cb_h5_take(b, h->osize);
    if (b->bad || a == none || a > UINT64_MAX - 1 - h->base) return CB_H5_NOWHERE;
    return h->base + a;
}

cubed_status cb_h5_bad(const cb_h5 *h, cubed_error *err, const char *what)
{
    return cb_fail(err, CUBED_E_FORMAT, "%s: malformed HDF5: %s", h->f->url, what);
}

cubed_status cb_h5_read(cb_h5 *h, uint64_t address, uint64_t size, const char *letters,
                        cb_h5_bytes *out, cubed_error *err)
{
    const uint8_t *p;
    *out = (cb_h5_bytes){.bad = true};
    if (h->left-- <= 0) return cb_h5_bad(h, err, "structures refer to each other in a cycle");
    if (address == CB_H5_NOWHERE) return cb_h5_bad(h, err, "an undefined address");
    CB_TRY(cb_file_take(h->f, h->temp, address, size, &p, err));
    *out = (cb_h5_bytes){p, p + size, false};
    if (!letters) return CUBED_OK;
    const uint8_t *is = cb_h5_skip(out, 4);
    if (is && memcmp(is, letters, 4) == 0) return CUBED_OK;
    return cb_fail(err, CUBED_E_FORMAT, "%s: malformed HDF5: no %s at byte %llu", h->f->url,
                   letters, (unsigned long long)address);
}
