/* Reads parts of chunks that a codec encodes in independent blocks. */
#include <inttypes.h>
#include <string.h>

#include "zarr/parts.h"

/* Size of the first read of a chunk, which usually contains the table of blocks. */
enum { FIRST_BYTES = 4096 };
/* MOST_AT_ONCE: maximum number of encoded bytes in one read, if the chunk has more. LEAST_BLOCK: minimum decoded block size for
 * which the table of blocks fits in the buffer. */
#define MOST_AT_ONCE ((size_t)8 << 20)
#define LEAST_BLOCK  ((size_t)1 << 10)
/* Maximum number of runs (contiguous requested bytes) decoded in one call. If a block has more runs, it is decoded once and kept
 * (cb_zarr_keeps_block), or decoded once for each run. */
enum { MOST_RUNS = 1024 };
/* Maximum overhead of a block that does not shrink: it is stored unencoded, with one header per byte of an element. */
#define BLOCK_OVERHEAD ((size_t)4 << 10)

/* A partly loaded encoded chunk: its first bytes, followed by the bytes read last. */
typedef struct encoded_chunk {
    cb_zarr_encoded *e;
    const cb_codec_step *step;
    char *bytes;
    size_t cap, head; /* head: number of bytes at the start of the chunk that are loaded */
    char *block;      /* last block that was decoded as a whole; NULL: blocks are not kept */
    cubed_range kept; /* the block's range in the chunk; size 0: none */
} encoded_chunk;

/* Returns the buffer size for the table of blocks and some blocks, or for the whole chunk if that is smaller. */
static size_t capacity(const cb_codec_chain *c, cb_codec_subread part)
{
    const cb_codec_step *s = cb_codec_part_ranged(c, part);
    const size_t bound = cb_subread_bound(c, part), block = cb_codec_block_bound(s);
    const size_t table = s->raw_size / LEAST_BLOCK * 4 + FIRST_BYTES;
    const size_t blocks = cb_max_size(cb_sat_add(block, BLOCK_OVERHEAD), MOST_AT_ONCE);
    return block == 0 ? bound : cb_min_size(bound, cb_sat_add(table, blocks));
}

bool cb_zarr_keeps_block(const cb_zarr_meta *m, cb_codec_subread part)
{
    return capacity(&m->codecs, part) < cb_subread_bound(&m->codecs, part);
}

static size_t block_bytes(const cb_zarr_meta *m, cb_codec_subread part)
{
    return cb_zarr_keeps_block(m, part)
               ? cb_codec_block_bound(cb_codec_part_ranged(&m->codecs, part))
               : 0;
}

cb_need cb_zarr_blocks_need(const cb_zarr_meta *m, cb_codec_subread part)
{
    const size_t list = cb_arena_round(MOST_RUNS * sizeof(cubed_range));
    const size_t own = cb_sat_add(list, cb_sat_add(cb_arena_round(capacity(&m->codecs, part)),
                                                   cb_arena_round(block_bytes(m, part))));
    return cb_need_both((cb_need){own, 0},
                        cb_codec_range_need(cb_codec_part_ranged(&m->codecs, part)));
}

static cubed_status open_encoded(const cb_zarr_meta *m, cb_codec_subread part, encoded_chunk *x,
                                 cb_arena *scratch, uint64_t *stored, cubed_error *err)
{
    void *p;
    x->step = cb_codec_part_ranged(&m->codecs, part);
    x->cap = capacity(&m->codecs, part);
    CB_TRY(cb_arena_alloc(scratch, x->cap, "encoded chunk", &p, err));
    x->bytes = p;
    CB_TRY(cb_zarr_get_some(x->e, 0, p, cb_min_size(x->cap, FIRST_BYTES), &x->head, err));
    *stored += x->head;
    return CUBED_OK;
}

static cubed_status get_more(encoded_chunk *x, size_t from, size_t size, char *to, cubed_error *err)
{
    cubed_range range = {from, size};
    return size == 0 ? CUBED_OK : cb_zarr_get_ranges(x->e, &range, 1, to, err);
}

static cubed_status no_room(size_t size, const encoded_chunk *x, cubed_error *err)
{
    return cb_fail(
        err, CUBED_E_BUDGET,
        "a part of the chunk has %zu encoded bytes, but the plan has memory for %zu: allow "
        "enough memory for the whole chunk, or rewrite the array in smaller chunks",
        size, x->cap);
}

/* Finds the encoded bytes of a range with the table of blocks. If the table is not loaded yet, loads more of the chunk. */
static cubed_status locate(encoded_chunk *x, cubed_range range, cubed_codec_extent *out,
                           uint64_t *stored, cubed_error *err)
{
    size_t before;
    do {
        before = x->head;
        CB_TRY(cb_codec_range_locate(x->step, x->bytes, x->head, (size_t)range.offset, range.size,
                                     out, err));
        if (out->head <= x->head) break;
        if (out->head > x->cap) return no_room(out->head, x, err);
        if (out->total > 0) { /* if the total is 0, even the header is missing */
            CB_TRY(get_more(x, x->head, out->head - x->head, x->bytes + x->head, err));
            *stored += out->head - x->head;
            x->head = out->head;
        }
    } while (x->head > before);
    if (out->head > x->head)
        return cb_fail(err, CUBED_E_FORMAT, "%zu bytes are not an encoded chunk", x->head);
    if (x->e->size != out->total)
        return cb_fail(err, CUBED_E_FORMAT, "the chunk has %" PRIu64 " bytes, expected %zu",
                       x->e->size, out->total);
    return CUBED_OK;
}

/* Finds the first part of a range that one call can decode. It is the whole range if its encoded blocks fit in the buffer,
 * otherwise the part in the first block. Blocks may be stored in any order. */
static cubed_status locate_some(encoded_chunk *x, cubed_range *range, cubed_codec_extent *out,
                                uint64_t *stored, cubed_error *err)
{
    CB_TRY(locate(x, *range, out, stored, err));
    if (out->hi - out->lo <= x->cap - out->head) return CUBED_OK;
    if (out->size > 0) {
        CB_TRY(locate(x, (cubed_range){range->offset, 1}, out, stored, err));
        range->size = cb_min_size(range->size, out->from + out->size - (size_t)range->offset);
        CB_TRY(locate(x, *range, out, stored, err));
    }
    const size_t size = cb_sat_add(out->head, out->hi - out->lo);
    return size <= x->cap ? CUBED_OK : no_room(size, x, err);
}

/* Reads the encoded bytes that were located for a range, and decodes runs of the range. */
static cubed_status decode(encoded_chunk *x, const cubed_codec_extent *at, const cubed_range *runs,
                           size_t n, char *dst, cb_arena *scratch, uint64_t *stored,
                           cubed_error *err)
{
    /* The first read usually loads more than the table of blocks, so a part of the block is often in memory already. */
    const size_t size = at->hi - at->lo, from = cb_min_size(at->lo, x->head);
    const size_t there = cb_min_size(x->head - from, size);
    memmove(x->bytes + at->head, x->bytes + from, there);
    CB_TRY(get_more(x, at->lo + there, size - there, x->bytes + at->head + there, err));
    x->head = at->head;
    *stored += size - there;
    return cb_codec_runs_decode(x->step, x->bytes, at, runs, n, dst, scratch, err);
}

/* Decodes as much of the beginning of a range as the buffer allows, and sets *range to the decoded part. */
static cubed_status decode_some(encoded_chunk *x, cubed_range *range, char *dst, cb_arena *scratch,
                                uint64_t *stored, cubed_error *err)
{
    cubed_codec_extent at;
    CB_TRY(locate_some(x, range, &at, stored, err));
    return decode(x, &at, range, 1, dst, scratch, stored, err);
}

/* Decodes the beginning of a range, and sets *range to that part. If the first byte is in a block larger than the range, decodes
 * the whole block and keeps it for later ranges. */
static cubed_status decode_from_block(encoded_chunk *x, cubed_range *range, char *dst,
                                      cb_arena *scratch, uint64_t *stored, cubed_error *err)
{
    if (x->kept.size == 0 || range->offset < x->kept.offset ||
        range->offset - x->kept.offset >= x->kept.size) {
        const size_t bound = cb_codec_block_bound(x->step);
        cubed_codec_extent at;
        CB_TRY(locate(x, (cubed_range){range->offset, 1}, &at, stored, err));
        if (at.size == 0 || at.size > bound)
            return cb_fail(err, CUBED_E_FORMAT, "a block of %zu bytes, expected 1 to %zu", at.size,
                           bound);
        if (range->size >= at.size) return decode_some(x, range, dst, scratch, stored, err);
        cubed_range block = {at.from, at.size};
        x->kept.size = 0;
        CB_TRY(decode_some(x, &block, x->block, scratch, stored, err));
        if (block.size != at.size)
            return cb_fail(err, CUBED_E_INTERNAL, "bug: a block has been divided");
        x->kept = block;
    }
    const size_t from = (size_t)(range->offset - x->kept.offset);
    range->size = cb_min_size(range->size, x->kept.size - from);
    memcpy(dst, x->block + from, range->size);
    return CUBED_OK;
}

/* Decodes a run, part by part. */
static cubed_status decode_run(encoded_chunk *x, cubed_range run, char *dst, cb_arena *scratch,
                               uint64_t *stored, cubed_error *err)
{
    while (run.size > 0) {
        cubed_range some = run;
        CB_TRY(x->block ? decode_from_block(x, &some, dst, scratch, stored, err)
                        : decode_some(x, &some, dst, scratch, stored, err));
        dst += some.size;
        run.offset += some.size;
        run.size -= some.size;
    }
    return CUBED_OK;
}

/* Runs to decode together. The gaps between them are shorter than a codec block. */
typedef struct run_list {
    cubed_range *runs; /* MOST_RUNS of them */
    size_t n;
} run_list;

/* Decodes the first runs of the list, as many as fit in the buffer. Sets *done to their number and *bytes to their total size. */
static cubed_status decode_list(encoded_chunk *x, const run_list *l, char *dst, size_t *done,
                                size_t *bytes, cb_arena *scratch, uint64_t *stored,
                                cubed_error *err)
{
    const size_t from = (size_t)l->runs[0].offset;
    cubed_codec_extent at;
    *bytes = 0;
    for (*done = l->n;; *done /= 2) {
        const cubed_range *last = &l->runs[*done - 1];
        const size_t size = (size_t)last->offset + last->size - from;
        CB_TRY(locate(x, (cubed_range){from, size}, &at, stored, err));
        if (at.hi - at.lo <= x->cap - at.head) break;
        if (*done > 1) continue;
        *bytes = last->size;
        return decode_run(x, *last, dst, scratch, stored, err);
    }
    for (size_t i = 0; i < *done; i++) *bytes += l->runs[i].size;
    return decode(x, &at, l->runs, *done, dst, scratch, stored, err);
}

/* Collects runs in the list, beginning with `*next`, until a gap is as long as the codec block in which the first run begins.
 * Sets *next to the first run after them; its size is 0 if there is none. */
static cubed_status collect(encoded_chunk *x, cb_zarr_runs *r, cubed_range *next, run_list *l,
                            uint64_t *stored, cubed_error *err)
{
    cubed_codec_extent at;
    CB_TRY(locate(x, (cubed_range){next->offset, 1}, &at, stored, err));
    l->n = 0;
    for (;;) {
        const uint64_t end = next->offset + next->size;
        l->runs[l->n++] = *next;
        *next = r->more ? cb_zarr_runs_next(r) : (cubed_range){end, 0};
        if (next->size == 0 || l->n == MOST_RUNS || next->offset - end >= at.size) return CUBED_OK;
    }
}

/* Decodes runs of which several may lie in one codec block. */
static cubed_status decode_lists(encoded_chunk *x, cb_zarr_runs *r, cubed_range *runs, char *dst,
                                 cb_arena *scratch, uint64_t *stored, cubed_error *err)
{
    cubed_range next = cb_zarr_runs_next(r);
    while (next.size > 0) {
        run_list l = {.runs = runs};
        CB_TRY(collect(x, r, &next, &l, stored, err));
        while (l.n > 0) {
            size_t done, bytes;
            CB_TRY(decode_list(x, &l, dst, &done, &bytes, scratch, stored, err));
            dst += bytes;
            l.runs += done;
            l.n -= done;
        }
    }
    return CUBED_OK;
}

/* Returns true if a codec block may contain more runs than a list. */
static bool has_many_runs(const encoded_chunk *x, const cb_zarr_runs *r)
{
    size_t distance = r->item; /* in bytes, between the first bytes of two runs */
    for (int d = r->ndim - 1; d >= r->outer; d--) distance *= (size_t)r->chunk[d];
    return r->outer > 0 && cb_codec_block_bound(x->step) / MOST_RUNS > distance;
}

cubed_status cb_zarr_read_blocks(const cb_zarr_meta *m, cb_codec_subread part, cb_zarr_encoded *e,
                                 cb_zarr_runs *r, char *dst, cb_arena *scratch, uint64_t *stored,
                                 cubed_error *err)
{
    encoded_chunk x = {.e = e};
    void *p;
    CB_TRY(open_encoded(m, part, &x, scratch, stored, err));
    if (!has_many_runs(&x, r)) {
        CB_TRY(cb_arena_alloc(scratch, MOST_RUNS * sizeof(cubed_range), "runs", &p, err));
        return r->more ? decode_lists(&x, r, p, dst, scratch, stored, err) : CUBED_OK;
    }
    if (block_bytes(m, part) > 0) {
        CB_TRY(cb_arena_alloc(scratch, block_bytes(m, part), "block of a chunk", &p, err));
        x.block = p;
    }
    while (r->more) {
        const cubed_range run = cb_zarr_runs_next(r);
        CB_TRY(decode_run(&x, run, dst, scratch, stored, err));
        dst += run.size;
    }
    return CUBED_OK;
}

/* --- One block ---------------------------------------------------------------------------------------- */

static cubed_status locate_block(const cb_zarr_meta *m, encoded_chunk *x, size_t at,
                                 cubed_range *block, cb_arena *scratch, uint64_t *stored,
                                 cubed_error *err)
{
    cubed_codec_extent found;
    CB_TRY(open_encoded(m, m->codecs.all, x, scratch, stored, err));
    const size_t bound = cb_codec_block_bound(x->step);
    CB_TRY(cb_codec_range_locate(x->step, x->bytes, x->head, at, 1, &found, err));
    if (found.size == 0)
        return cb_fail(err, CUBED_E_FORMAT, "%zu bytes are not an encoded chunk", x->head);
    if (found.size > bound)
        return cb_fail(err, CUBED_E_FORMAT, "a block of %zu bytes, expected at most %zu",
                       found.size, bound);
    *block = (cubed_range){found.from, found.size};
    return CUBED_OK;
}

cubed_status cb_zarr_find_codec_block(const cb_zarr_array *z, const int64_t *idx, size_t at,
                                      cubed_range *block, cb_arena *scratch, uint64_t *stored,
                                      cubed_error *err)
{
    char key[4096];
    cubed_error why = CUBED_ERROR_INIT;
    const size_t mark = cb_arena_mark(scratch);
    CB_TRY(cb_zarr_chunk_key(&z->meta, z->path, idx, key, sizeof key, err));
    cb_zarr_encoded e = cb_zarr_encoded_object(z, key, scratch->cancel);
    encoded_chunk x = {.e = &e};
    *stored = 0;
    cubed_status st = locate_block(&z->meta, &x, at, block, scratch, stored, &why);
    cb_arena_release(scratch, mark);
    if (st == CUBED_E_NOT_FOUND) *block = (cubed_range){at, 0};
    if (st == CUBED_OK || st == CUBED_E_NOT_FOUND) return CUBED_OK;
    return cb_zarr_chunk_failed(z->store, key, st, &why, err);
}

static cubed_status read_block(const cb_zarr_meta *m, encoded_chunk *x, size_t at, void *dst,
                               cubed_range *block, cb_arena *scratch, uint64_t *stored,
                               cubed_error *err)
{
    cubed_codec_extent found;
    CB_TRY(locate_block(m, x, at, block, scratch, stored, err));
    CB_TRY(locate(x, *block, &found, stored, err));
    const size_t size = cb_sat_add(found.head, found.hi - found.lo);
    if (size > x->cap) return no_room(size, x, err);
    return decode(x, &found, block, 1, dst, scratch, stored, err);
}

cubed_status cb_zarr_read_codec_block(const cb_zarr_array *z, const int64_t *idx, size_t at,
                                      void *dst, cubed_range *block, cb_arena *scratch,
                                      uint64_t *stored, cubed_error *err)
{
    char key[4096];
    cubed_error why = CUBED_ERROR_INIT;
    const size_t item = cubed_dtype_size(z->meta.dtype), mark = cb_arena_mark(scratch);
    CB_TRY(cb_zarr_chunk_key(&z->meta, z->path, idx, key, sizeof key, err));
    cb_zarr_encoded e = cb_zarr_encoded_object(z, key, scratch->cancel);
    encoded_chunk x = {.e = &e};
    *stored = 0;
    cubed_status st = read_block(&z->meta, &x, at, dst, block, scratch, stored, &why);
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
