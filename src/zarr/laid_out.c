/* Parts of chunks that are stored without compression, in another order of axes or bytes. */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "store/store.h"
#include "zarr/zarr_pkg.h"

/* Most ranges that are read at once, and bytes of elements that are moved to their places together. */
enum { MAX_RANGES = 64, BUFFER_BYTES = 64 << 10 };

/* A part of a chunk by axes as they are stored. */
typedef struct part {
    int ndim;
    size_t item, run; /* bytes: of an element, and of what is contiguous in the chunk */
    int outer;        /* axes before it are walked, those from it on are one run */
    bool moves;       /* axes are stored in another order */
    int64_t first[CUBED_MAX_NDIM], extent[CUBED_MAX_NDIM], chunk[CUBED_MAX_NDIM];
    int64_t stride[CUBED_MAX_NDIM]; /* bytes, in the result */
    int64_t at[CUBED_MAX_NDIM];     /* the next run */
    int64_t put[CUBED_MAX_NDIM];    /* the next element that is moved */
    bool more;
} part;

static part start(const cb_zarr_meta *m, const cb_codec_layout *l, const int64_t *lo,
                  const int64_t *hi)
{
    part p = {.ndim = m->ndim, .item = cubed_dtype_size(m->dtype), .outer = m->ndim, .more = true};
    int64_t stride[CUBED_MAX_NDIM], bytes = (int64_t)p.item;
    bool whole = true;
    for (int d = m->ndim - 1; d >= 0; d--) {
        stride[d] = bytes;
        bytes *= hi[d] - lo[d];
    }
    for (int d = 0; d < m->ndim; d++) {
        const int a = l->axis[d];
        p.first[d] = lo[a];
        p.extent[d] = hi[a] - lo[a];
        p.chunk[d] = m->chunk[a];
        p.stride[d] = stride[a];
        p.moves = p.moves || a != d;
    }
    p.run = p.item;
    while (p.outer > 0 && whole) {
        p.outer--;
        p.run *= (size_t)p.extent[p.outer];
        whole = p.extent[p.outer] == p.chunk[p.outer];
    }
    return p;
}

static cubed_range next_run(part *p)
{
    uint64_t at = 0;
    for (int d = 0; d < p->ndim; d++)
        at = at * (uint64_t)p->chunk[d] + (uint64_t)(p->first[d] + p->at[d]);
    p->more = cb_next_index(p->outer, p->extent, p->at);
    return (cubed_range){at * p->item, p->run};
}

/* Moves elements, which come in stored order, to their places. */
static void move(part *p, const char *from, size_t bytes, char *dst)
{
    for (const char *end = from + bytes; from < end; from += p->item) {
        int64_t to = 0;
        for (int d = 0; d < p->ndim; d++) to += p->put[d] * p->stride[d];
        memcpy(dst + to, from, p->item);
        cb_next_index(p->ndim, p->extent, p->put);
    }
}

bool cb_zarr_is_laid_out(const cb_zarr_meta *m, cb_codec_layout *l)
{
    const size_t item = cubed_dtype_size(m->dtype);
    return !cb_zarr_is_irregular(m) && item > 0 && item <= BUFFER_BYTES &&
           cb_codec_chain_layout(&m->codecs, l);
}

size_t cb_zarr_laid_out_need(const cb_zarr_meta *m)
{
    cb_codec_layout l;
    return cb_zarr_is_laid_out(m, &l) ? cb_arena_round(BUFFER_BYTES) : 0;
}

cubed_status cb_zarr_read_laid_out(const cb_zarr_array *z, const char *key, const int64_t *lo,
                                   const int64_t *hi, char *dst, cb_arena *scratch,
                                   uint64_t *stored, cubed_error *err)
{
    cb_codec_layout l;
    cubed_object_info info;
    const cubed_object_version *same = NULL; /* the next ranges are of what the first are of */
    cubed_range left = {0, 0};
    void *buffer;
    size_t done = 0, got;
    if (!cb_zarr_is_laid_out(&z->meta, &l))
        return cb_fail(err, CUBED_E_INTERNAL, "bug: the chunk cannot be read in parts");
    part p = start(&z->meta, &l, lo, hi);
    CB_TRY(cb_arena_alloc(scratch, BUFFER_BYTES, "part of a chunk", &buffer, err));
    const size_t most = p.moves ? BUFFER_BYTES / p.item * p.item : SIZE_MAX;
    while (p.more || left.size > 0) {
        cubed_range ranges[MAX_RANGES];
        size_t n = 0, bytes = 0;
        while (n < MAX_RANGES && bytes < most && (p.more || left.size > 0)) {
            if (left.size == 0) left = next_run(&p);
            const size_t size = cb_min_size(left.size, most - bytes);
            ranges[n++] = (cubed_range){left.offset, size};
            left.offset += size;
            left.size -= size;
            bytes += size;
        }
        CB_TRY(cb_store_get_parts(z->store, key, same, ranges, n, p.moves ? buffer : dst + done,
                                  &info, scratch->cancel, err));
        if (info.size != z->meta.codecs.chunk_bytes)
            return cb_fail(err, CUBED_E_FORMAT, "%" PRIu64 " bytes, expected %zu", info.size,
                           z->meta.codecs.chunk_bytes);
        if (!cb_version_is_none(&info.version)) same = &info.version;
        if (p.moves) move(&p, buffer, bytes, dst);
        done += bytes;
        *stored += bytes;
    }
    if (!l.swap) return CUBED_OK;
    const cubed_codec_call in_place = {.conf = &l.swap->conf,
                                       .ctx = &l.swap->ctx,
                                       .src = dst,
                                       .src_size = done,
                                       .dst = dst,
                                       .dst_cap = done};
    return l.swap->vt->decode(&in_place, &got, err);
}
