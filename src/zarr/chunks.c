/* Reading chunks of arrays and parts of them: keys, encoded bytes, elements. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "zarr/zarr_pkg.h"

size_t cb_zarr_chunk_bytes(const cb_zarr_meta *m) { return m->codecs.chunk_bytes; }

size_t cb_zarr_chunk_bound(const cb_zarr_meta *m)
{
    return cb_codec_chain_is_raw(&m->codecs) ? m->codecs.chunk_bytes
                                             : cb_codec_chain_bound(&m->codecs);
}

cubed_status cb_zarr_check_fetched(const cb_zarr_fetched *f, cubed_error *err)
{
    if (f->status != CUBED_OK && err) *err = *f->err;
    return f->status;
}

cb_need cb_zarr_read_need(const cb_zarr_meta *m)
{
    if (cb_codec_chain_is_raw(&m->codecs)) return (cb_need){0, 0};
    size_t encoded = cb_arena_round(cb_codec_chain_bound(&m->codecs));
    return cb_need_both((cb_need){encoded, 0}, cb_codec_chain_decode_need(&m->codecs));
}

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
    size_t kept = cb_fill_size(m->dtype);
    if (kept < item) memset(d, 0, n);
    for (size_t i = 0; i < n; i += item) memcpy(d + i, m->fill.bytes, kept);
}

/* The object of a chunk, which has `bound` bytes at most: in memory of its own if it is there, else read to `to`. */
static cubed_status get_object(const cb_zarr_array *z, const char *key, size_t bound,
                               const cb_zarr_fetched *there, void *to, const void **object,
                               cubed_object_info *info, const cubed_cancel *cancel,
                               cubed_error *err)
{
    *object = to;
    if (!there) return cb_store_get_whole(z->store, key, to, bound, info, cancel, err);
    CB_TRY(cb_zarr_check_fetched(there, err));
    *object = there->data;
    *info = there->info;
    if (there->size != info->size && info->size <= bound)
        return cb_fail(err, CUBED_E_FORMAT, "it ends before its size");
    return CUBED_OK;
}

cubed_status cb_zarr_read_object(const cb_zarr_array *z, const cb_codec_chain *c, const char *key,
                                 const cb_zarr_fetched *there, void *dst, cb_arena *scratch,
                                 cubed_object_info *info, cubed_error *err)
{
    const bool raw = cb_codec_chain_is_raw(c);
    const size_t bound = raw ? c->chunk_bytes : cb_codec_chain_bound(c);
    const void *object;
    void *to = dst;
    if (!raw && !there) CB_TRY(cb_arena_alloc(scratch, bound, "encoded chunk", &to, err));
    CB_TRY(get_object(z, key, bound, there, to, &object, info, scratch->cancel, err));
    if (raw) {
        if (info->size != bound)
            return cb_fail(err, CUBED_E_FORMAT, "%" PRIu64 " bytes, expected %zu", info->size,
                           bound);
        if (object != dst) memcpy(dst, object, bound);
        return CUBED_OK;
    }
    if (info->size > bound)
        return cb_fail(err, CUBED_E_FORMAT, "more than the %zu bytes that a chunk can have", bound);
    return cb_codec_chain_decode(c, object, (size_t)info->size, dst, scratch, err);
}

void cb_zarr_chunk_shape(const cb_zarr_meta *m, const int64_t *idx, int64_t *shape, int64_t *used)
{
    for (int d = 0; d < m->ndim; d++) {
        const int64_t *s = m->starts[d];
        shape[d] = s ? s[idx[d] + 1] - s[idx[d]] : m->chunk[d];
        used[d] = m->shape[d] - (s ? s[idx[d]] : idx[d] * m->chunk[d]);
    }
}

const cb_codec_chain *cb_zarr_codecs_of(const cb_zarr_meta *m, const int64_t *shape,
                                        cb_codec_chain *own)
{
    if (!cb_zarr_is_irregular(m)) return &m->codecs;
    cb_codec_chain_resize(&m->codecs, shape, own);
    return own;
}

cubed_status cb_zarr_read_chunk(const cb_zarr_array *z, const int64_t *idx,
                                const cb_zarr_fetched *there, void *dst, cb_arena *scratch,
                                uint64_t *stored, cubed_error *err)
{
    char key[4096];
    cubed_object_info info = {.size = 0};
    cubed_error why = CUBED_ERROR_INIT;
    CB_TRY(cb_zarr_chunk_key(&z->meta, z->path, idx, key, sizeof key, err));
    cb_codec_chain own;
    int64_t shape[CUBED_MAX_NDIM], used[CUBED_MAX_NDIM];
    cb_zarr_chunk_shape(&z->meta, idx, shape, used);
    const cb_codec_chain *codecs = cb_zarr_codecs_of(&z->meta, shape, &own);
    size_t mark = cb_arena_mark(scratch);
    cubed_status st = cb_zarr_read_object(z, codecs, key, there, dst, scratch, &info, &why);
    cb_arena_release(scratch, mark);
    if (st == CUBED_E_NOT_FOUND) {
        cb_zarr_fill(&z->meta, dst, codecs->chunk_bytes);
        info.size = 0;
    } else if (st != CUBED_OK) {
        return cb_zarr_chunk_failed(z->store, key, st, &why, err);
    }
    if (stored) *stored = info.size;
    return CUBED_OK;
}

/* A system call costs as much as copying some KiB; of compressed blocks, about half a MiB long,
 * those at both ends of a run are decoded for nothing. */
#define RAW_RUN     ((size_t)16 << 10)
#define ENCODED_RUN ((size_t)2 << 20)

size_t cb_zarr_subread_run(const cb_zarr_meta *m)
{
    if (cb_zarr_is_irregular(m)) return 0;
    if (cb_codec_chain_is_raw(&m->codecs)) return RAW_RUN;
    return cb_codec_chain_ranged(&m->codecs) ? ENCODED_RUN : 0;
}

bool cb_zarr_can_subread(const cb_zarr_meta *m)
{
    cb_codec_layout l;
    return cb_zarr_is_laid_out(m, &l);
}

size_t cb_zarr_codec_block_bytes(const cb_zarr_meta *m)
{
    const cb_codec_step *s = cb_zarr_is_irregular(m) ? NULL : cb_codec_chain_ranged(&m->codecs);
    return s ? cb_codec_block_bound(s) : 0;
}

cb_need cb_zarr_subread_need(const cb_zarr_meta *m)
{
    const cb_codec_step *s = cb_codec_chain_ranged(&m->codecs);
    if (cb_codec_chain_is_raw(&m->codecs)) return (cb_need){0, 0};
    if (!s) return (cb_need){cb_zarr_laid_out_need(m), 0};
    size_t encoded = cb_arena_round(cb_codec_chain_bound(&m->codecs));
    return cb_need_both((cb_need){encoded, 0}, cb_codec_range_need(s));
}

/* Most ranges that are read at once. */
enum { MAX_RANGES = 64 };

/* The runs of elements that make up a part of a chunk, as ranges of its bytes. */
typedef struct runs {
    const cb_zarr_meta *m;
    const int64_t *lo, *hi;
    int outer;   /* axes before it are walked, those from it on are one run */
    size_t size; /* of each */
    int64_t idx[CUBED_MAX_NDIM];
    bool more;
} runs;

static runs start_runs(const cb_zarr_meta *m, const int64_t *lo, const int64_t *hi)
{
    runs r = {m, lo, hi, m->ndim, cubed_dtype_size(m->dtype), {0}, true};
    bool whole = true;
    while (r.outer > 0 && whole) {
        r.outer--;
        r.size *= (size_t)(hi[r.outer] - lo[r.outer]);
        whole = hi[r.outer] - lo[r.outer] == m->chunk[r.outer];
    }
    memcpy(r.idx, lo, (size_t)m->ndim * sizeof *lo);
    return r;
}

static cubed_range next_run(runs *r)
{
    size_t at = 0;
    for (int d = 0; d < r->m->ndim; d++) at = at * (size_t)r->m->chunk[d] + (size_t)r->idx[d];
    int d = r->outer - 1;
    for (; d >= 0 && ++r->idx[d] == r->hi[d]; d--) r->idx[d] = r->lo[d];
    r->more = d >= 0;
    return (cubed_range){at * cubed_dtype_size(r->m->dtype), r->size};
}

static cubed_status read_runs(const cb_zarr_array *z, const char *key, runs *r, char *dst,
                              uint64_t *stored, const cubed_cancel *cancel, cubed_error *err)
{
    cubed_object_info info;
    const cubed_object_version *same = NULL; /* the next ranges are of what the first are of */
    while (r->more) {
        cubed_range ranges[MAX_RANGES];
        size_t n = 0;
        while (n < MAX_RANGES && r->more) ranges[n++] = next_run(r);
        CB_TRY(cb_store_get_parts(z->store, key, same, ranges, n, dst, &info, cancel, err));
        if (info.size != z->meta.codecs.chunk_bytes)
            return cb_fail(err, CUBED_E_FORMAT, "%" PRIu64 " bytes, expected %zu", info.size,
                           z->meta.codecs.chunk_bytes);
        if (!cb_version_is_none(&info.version)) same = &info.version;
        dst += n * r->size;
        *stored += n * r->size;
    }
    return CUBED_OK;
}

/* An encoded chunk of which only what is needed is in memory: its first bytes, and what is read last behind them. */
typedef struct encoded_chunk {
    const char *key;
    char *bytes;
    size_t head; /* how many of the first bytes are there */
    cubed_object_info info;
    const cubed_cancel *cancel;
} encoded_chunk;

/* Most chunks of ordinary size have their table of blocks in the first bytes. */
enum { FIRST_BYTES = 4096 };

static cubed_status open_encoded(const cb_zarr_array *z, encoded_chunk *e, cb_arena *scratch,
                                 cubed_error *err)
{
    size_t bound = cb_codec_chain_bound(&z->meta.codecs);
    const cubed_range first = {0, cb_min_size(bound, FIRST_BYTES)};
    void *p;
    CB_TRY(cb_arena_alloc(scratch, bound, "encoded chunk", &p, err));
    cubed_store_request r = {.op = CUBED_STORE_GET,
                             .key = e->key,
                             .ranges = &first,
                             .nranges = 1,
                             .dst = p,
                             .cap = first.size};
    CB_TRY(cb_store_do_until(z->store, &r, e->cancel, err));
    e->bytes = p;
    e->head = r.got;
    e->info = r.info;
    return CUBED_OK;
}

/* More of what the first bytes are of. */
static cubed_status get_more(const cb_zarr_array *z, const encoded_chunk *e, size_t from,
                             size_t size, char *to, cubed_error *err)
{
    const cubed_range range = {from, size};
    cubed_object_info info;
    if (size == 0) return CUBED_OK;
    return cb_store_get_parts(z->store, e->key,
                              cb_version_is_none(&e->info.version) ? NULL : &e->info.version,
                              &range, 1, to, &info, e->cancel, err);
}

/* Brings what a range takes. */
static cubed_status fetch(const cb_zarr_array *z, encoded_chunk *e, const cb_codec_step *step,
                          cubed_range range, cubed_codec_extent *x, uint64_t *stored,
                          cubed_error *err)
{
    size_t from = (size_t)range.offset, before;
    do {
        before = e->head;
        CB_TRY(cb_codec_range_locate(step, e->bytes, e->head, from, range.size, x, err));
        if (x->head <= e->head) break;
        if (x->total > 0) { /* not even the header is there else */
            CB_TRY(get_more(z, e, e->head, x->head - e->head, e->bytes + e->head, err));
            e->head = x->head;
        }
    } while (e->head > before);
    if (x->head > e->head)
        return cb_fail(err, CUBED_E_FORMAT, "%zu bytes are no encoded chunk", e->head);
    if (e->info.size != x->total)
        return cb_fail(err, CUBED_E_FORMAT, "%" PRIu64 " bytes, expected %zu", e->info.size,
                       x->total);
    /* More first bytes have been read than were needed, as a rule. */
    const size_t size = x->hi - x->lo, at = cb_min_size(x->lo, e->head);
    const size_t there = cb_min_size(e->head - at, size);
    memmove(e->bytes + x->head, e->bytes + at, there);
    CB_TRY(get_more(z, e, x->lo + there, size - there, e->bytes + x->head + there, err));
    e->head = x->head;
    *stored += size - there;
    return CUBED_OK;
}

static cubed_status decode_runs(const cb_zarr_array *z, const char *key, runs *r, char *dst,
                                cb_arena *scratch, uint64_t *stored, cubed_error *err)
{
    const cb_codec_step *step = cb_codec_chain_ranged(&z->meta.codecs);
    encoded_chunk e = {.key = key, .cancel = scratch->cancel};
    CB_TRY(open_encoded(z, &e, scratch, err));
    *stored = e.head;
    for (; r->more; dst += r->size) {
        cubed_range range = next_run(r);
        cubed_codec_extent x;
        CB_TRY(fetch(z, &e, step, range, &x, stored, err));
        CB_TRY(cb_codec_range_decode(step, e.bytes, &x, (size_t)range.offset, range.size, dst,
                                     scratch, err));
    }
    return CUBED_OK;
}

static cubed_status locate_block(const cb_zarr_array *z, encoded_chunk *e, size_t at,
                                 cubed_range *block, cb_arena *scratch, uint64_t *stored,
                                 cubed_error *err)
{
    const cb_codec_step *step = cb_codec_chain_ranged(&z->meta.codecs);
    const size_t bound = cb_codec_block_bound(step);
    cubed_codec_extent x;
    CB_TRY(open_encoded(z, e, scratch, err));
    *stored = e->head;
    CB_TRY(cb_codec_range_locate(step, e->bytes, e->head, at, 1, &x, err));
    if (x.size == 0) return cb_fail(err, CUBED_E_FORMAT, "%zu bytes are no encoded chunk", e->head);
    if (x.size > bound)
        return cb_fail(err, CUBED_E_FORMAT, "a block of %zu bytes, expected at most %zu", x.size,
                       bound);
    *block = (cubed_range){x.from, x.size};
    return CUBED_OK;
}

static cubed_status decode_block(const cb_zarr_array *z, encoded_chunk *e, size_t at, void *dst,
                                 cubed_range *block, cb_arena *scratch, uint64_t *stored,
                                 cubed_error *err)
{
    const cb_codec_step *step = cb_codec_chain_ranged(&z->meta.codecs);
    cubed_codec_extent x;
    CB_TRY(locate_block(z, e, at, block, scratch, stored, err));
    CB_TRY(fetch(z, e, step, *block, &x, stored, err));
    return cb_codec_range_decode(step, e->bytes, &x, (size_t)block->offset, block->size, dst,
                                 scratch, err);
}

cubed_status cb_zarr_find_codec_block(const cb_zarr_array *z, const int64_t *idx, size_t at,
                                      cubed_range *block, cb_arena *scratch, uint64_t *stored,
                                      cubed_error *err)
{
    char key[4096];
    cubed_error why = CUBED_ERROR_INIT;
    encoded_chunk e = {.key = key, .cancel = scratch->cancel};
    const size_t mark = cb_arena_mark(scratch);
    CB_TRY(cb_zarr_chunk_key(&z->meta, z->path, idx, key, sizeof key, err));
    *stored = 0;
    cubed_status st = locate_block(z, &e, at, block, scratch, stored, &why);
    cb_arena_release(scratch, mark);
    if (st == CUBED_E_NOT_FOUND) *block = (cubed_range){at, 0};
    if (st == CUBED_OK || st == CUBED_E_NOT_FOUND) return CUBED_OK;
    return cb_zarr_chunk_failed(z->store, key, st, &why, err);
}

cubed_status cb_zarr_read_codec_block(const cb_zarr_array *z, const int64_t *idx, size_t at,
                                      void *dst, cubed_range *block, cb_arena *scratch,
                                      uint64_t *stored, cubed_error *err)
{
    char key[4096];
    cubed_error why = CUBED_ERROR_INIT;
    const size_t item = cubed_dtype_size(z->meta.dtype), mark = cb_arena_mark(scratch);
    encoded_chunk e = {.key = key, .cancel = scratch->cancel};
    CB_TRY(cb_zarr_chunk_key(&z->meta, z->path, idx, key, sizeof key, err));
    cubed_status st = decode_block(z, &e, at, dst, block, scratch, stored, &why);
    cb_arena_release(scratch, mark);
    if (st == CUBED_OK) return st;
    if (st == CUBED_E_NOT_FOUND) {
        const size_t from = at - at % item, left = z->meta.codecs.chunk_bytes - from;
        const size_t n = cb_min_size(cb_zarr_codec_block_bytes(&z->meta) / item * item, left);
        cb_zarr_fill(&z->meta, dst, n);
        *block = (cubed_range){from, n};
        *stored = 0;
        return CUBED_OK;
    }
    return cb_zarr_chunk_failed(z->store, key, st, &why, err);
}

cubed_status cb_zarr_subread(const cb_zarr_array *z, const int64_t *idx, const int64_t *lo,
                             const int64_t *hi, void *dst, cb_arena *scratch, uint64_t *stored,
                             cubed_error *err)
{
    char key[4096];
    cubed_error why = CUBED_ERROR_INIT;
    size_t bytes = cubed_dtype_size(z->meta.dtype), mark = cb_arena_mark(scratch);
    runs r = start_runs(&z->meta, lo, hi);
    for (int d = 0; d < z->meta.ndim; d++) bytes *= (size_t)(hi[d] - lo[d]);
    *stored = 0;
    CB_TRY(cb_zarr_chunk_key(&z->meta, z->path, idx, key, sizeof key, err));
    cubed_status st;
    if (cb_codec_chain_is_raw(&z->meta.codecs))
        st = read_runs(z, key, &r, dst, stored, scratch->cancel, &why);
    else if (cb_codec_chain_ranged(&z->meta.codecs))
        st = decode_runs(z, key, &r, dst, scratch, stored, &why);
    else
        st = cb_zarr_read_laid_out(z, key, lo, hi, dst, scratch, stored, &why);
    cb_arena_release(scratch, mark);
    if (st == CUBED_OK) return st;
    if (st == CUBED_E_NOT_FOUND) {
        cb_zarr_fill(&z->meta, dst, bytes);
        *stored = 0;
        return CUBED_OK;
    }
    return cb_zarr_chunk_failed(z->store, key, st, &why, err);
}
