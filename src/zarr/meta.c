/* Functions for metadata of arrays in both formats: checks, and the properties of chunks that codecs need. */
#include <string.h>

#include "base/error.h"
#include "zarr/zarr_pkg.h"

cubed_status cb_zarr_check_shape(const char *where, const cb_zarr_meta *m, cubed_error *err)
{
    int64_t n, size = (int64_t)cubed_dtype_size(m->dtype);
    if (cb_count(m->ndim, m->shape, &n) || cb_mul_i64(n, size, &n) || n > INT64_MAX / 4)
        return cb_fail(err, CUBED_E_FORMAT, "%s: the array has more than 2**61 bytes", where);
    if (cb_count(m->ndim, m->chunk, &n) || cb_mul_i64(n, size, &n) || n > INT64_MAX / 4)
        return cb_fail(err, CUBED_E_FORMAT, "%s: a chunk has more than 2**61 bytes", where);
    return CUBED_OK;
}

cb_codec_array cb_zarr_codec_array(const cb_zarr_meta *m, const cb_codecs *codecs)
{
    return (cb_codec_array){cubed_dtype_size(m->dtype),
                            cb_unit_size(m->dtype),
                            m->ndim,
                            m->chunk,
                            m->fill.bytes,
                            m->dtype,
                            codecs};
}

void cb_zarr_set_inner(cb_zarr_meta *m)
{
    const cb_codec_step *shard = cb_codec_chain_shard(&m->codecs);
    memcpy(m->inner, shard ? m->codecs.step[shard->inner.first].shape : m->chunk, sizeof m->inner);
}

bool cb_zarr_fill_is_zero(const cb_zarr_meta *m)
{
    if (m->wide_fill) return false;
    for (size_t i = 0; i < cb_fill_size(m->dtype); i++) {
        if (m->fill.bytes[i] != 0) return false;
    }
    return true;
}
