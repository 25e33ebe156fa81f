/* Functions for the layout of chunks: keys, shapes, codecs, fill values, and the memory that reading a chunk needs. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "zarr/parts.h"
#include "zarr/zarr_pkg.h"

cubed_status cb_zarr_chunk_key(const cb_zarr_meta *m, const char *path, const int64_t *idx,
                               char *key, size_t cap, cubed_error *err)
{
    char name[32 + 21 * CUBED_MAX_NDIM];
    int n = 0;
    if (!m->v2_keys) n = snprintf(name, sizeof name, "c");
    for (int d = 0; d < m->ndim; d++) {
        if (n > 0) name[n++] = m->separator;
        n += snprintf(name + n, sizeof name - (size_t)n, "%" PRId64, idx[d]);
    }
    if (m->ndim == 0 && m->v2_keys) snprintf(name, sizeof name, "0");
    return cb_key_join(key, cap, path, name, err);
}

void cb_zarr_fill(const cb_zarr_meta *m, void *dst, size_t n)
{
    size_t item = cubed_dtype_size(m->dtype);
    char *d = dst;
    if (cb_zarr_fill_is_zero(m)) {
        memset(d, 0, n);
        return;
    }
    const unsigned char *fill = m->wide_fill ? m->wide_fill : m->fill.bytes;
    size_t kept = m->wide_fill ? item : cb_fill_size(m->dtype);
    if (kept < item) memset(d, 0, n);
    for (size_t i = 0; i < n; i += item) memcpy(d + i, fill, kept);
}

size_t cb_zarr_codec_block_bytes(const cb_zarr_meta *m)
{
    const cb_codec_step *s = cb_zarr_is_irregular(m) ? NULL : cb_codec_chain_ranged(&m->codecs);
    return s ? cb_codec_block_bound(s) : 0;
}

cb_zarr_encoded cb_zarr_encoded_object(const cb_zarr_array *z, const char *key,
                                       const cubed_cancel *cancel)
{
    return (cb_zarr_encoded){
        .store = z->store, .key = key, .size = UINT64_MAX, .version = {""}, .cancel = cancel};
}
