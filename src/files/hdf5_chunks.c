/* Finds the positions of a dataset's chunks. */
#include <string.h>

#include "files/hdf5_pkg.h"

typedef struct collect {
    cb_h5 *h;
    cb_file *f;
    cb_array_in *x;
    const cb_h5_index *index;
    cb_chunk_place *places;
    size_t cap;
    int first; /* the axis that varies slowest in an index: the unlimited axis if there is one */
    uint64_t counts[CUBED_MAX_NDIM]; /* number of chunks along each axis in the index */
} collect;

/* Adds a chunk. The file's size limits the number of entries of the table. */
static cubed_status add(collect *c, const uint64_t *idx, uint64_t address, uint64_t size,
                        uint64_t mask, cubed_error *err)
{
    cb_array_in *x = c->x;
    uint64_t number = 0;
    bool partial = false;
    if (address == CB_H5_NOWHERE) return CUBED_OK;
    for (int d = 0; d < x->ndim; d++) {
        const uint64_t n = (uint64_t)cb_ceil_div(x->shape[d], x->chunk[d]);
        /* The array became shorter after this chunk was written. */
        if (idx[d] >= n) return CUBED_OK;
        number = number * n + idx[d];
        partial = partial || (idx[d] + 1) * (uint64_t)x->chunk[d] > (uint64_t)x->shape[d];
    }
    if (c->index->edges_raw && partial) mask = UINT32_MAX;
    if (size > UINT32_MAX || address > c->f->info.size || size > c->f->info.size - address)
        return cb_h5_bad(c->h, err, "a chunk that is not within the file");
    if (mask == 0 && !c->index->filtered && size != c->index->bytes)
        return cb_h5_bad(c->h, err, "a chunk of an unexpected size");
    if (x->nplaces == c->cap) {
        const size_t cap = c->cap ? 2 * c->cap : 64;
        cb_chunk_place *more =
            cb_resize(c->f->head.alloc, c->places, c->cap * sizeof *more, cap * sizeof *more);
        if (!more) return cb_file_no_memory(c->f, err);
        c->places = more;
        c->cap = cap;
    }
    cb_chunk_place *p = &c->places[x->nplaces++];
    *p = (cb_chunk_place){.number = number, .offset = address, .size = (uint32_t)size};
    /* The mask says which filters were skipped. Without filters, it has no meaning. */
    if (c->index->filtered) cb_le_put(p->mask, mask, 4);
    return CUBED_OK;
}

/* --- B-trees of version 1 ----------------------------------------------------------------------------- */

static cubed_status chunk_tree(collect *c, uint64_t address, int level, cubed_error *err);

static cubed_status chunk_node(collect *c, uint64_t address, int level, cubed_error *err)
{
    const uint64_t o = (uint64_t)c->h->osize, key = 8 + 8 * (uint64_t)(c->x->ndim + 1);
    cb_h5_bytes b;
    CB_TRY(cb_h5_read(c->h, address, 8 + 2 * o, "TREE", &b, err));
    const uint64_t type = cb_h5_take(&b, 1);
    const int own = (int)cb_h5_take(&b, 1);
    const uint64_t n = cb_h5_take(&b, 2);
    if (type != 1 || (level >= 0 && own != level))
        return cb_h5_bad(c->h, err, "the B-tree of an array's chunks");
    CB_TRY(cb_h5_read(c->h, address + 8 + 2 * o, n * (key + o), NULL, &b, err));
    for (uint64_t i = 0; i < n; i++) {
        uint64_t idx[CUBED_MAX_NDIM];
        const uint64_t size = cb_h5_take(&b, 4), mask = cb_h5_take(&b, 4);
        for (int d = 0; d < c->x->ndim; d++) idx[d] = cb_h5_take(&b, 8) / (uint64_t)c->x->chunk[d];
        (void)cb_h5_skip(&b, 8);
        const uint64_t to = cb_h5_address(c->h, &b);
        CB_TRY(own == 0 ? add(c, idx, to, size, mask, err) : chunk_tree(c, to, own - 1, err));
    }
    return CUBED_OK;
}

/* Frees the memory of a node after reading it, because trees grow with their arrays. */
static cubed_status chunk_tree(collect *c, uint64_t address, int level, cubed_error *err)
{
    cb_zone *outer = c->h->temp;
    CB_TRY(cb_zone_new(c->f->head.alloc, &c->h->temp, err));
    cubed_status st = chunk_node(c, address, level, err);
    cb_zone_free(c->h->temp);
    c->h->temp = outer;
    return st;
}

/* --- Fixed and extensible arrays ----------------------------------------------------------------------- */

/* Converts the number of an entry, `at`, to a chunk index. */
static void unravel(const collect *c, uint64_t at, uint64_t *idx)
{
    for (int d = c->x->ndim - 1; d >= 0; d--) {
        if (d == c->first) continue;
        idx[d] = at % c->counts[d];
        at /= c->counts[d];
    }
    idx[c->first] = at;
}

static void count_chunks(collect *c)
{
    for (int d = 0; d < c->x->ndim; d++) {
        const uint64_t chunk = (uint64_t)c->x->chunk[d], most = c->index->most[d];
        const uint64_t n = most == UINT64_MAX ? (uint64_t)c->x->shape[d] : most;
        if (most == UINT64_MAX) c->first = d;
        c->counts[d] = n / chunk + (n % chunk != 0);
        if (c->counts[d] == 0) c->counts[d] = 1;
    }
}

/* Reads `n` entries of `width` bytes each, from entry `first` on. */
static cubed_status entries(collect *c, cb_h5_bytes *b, uint64_t first, uint64_t n, uint64_t width,
                            cubed_error *err)
{
    const uint64_t o = (uint64_t)c->h->osize;
    for (uint64_t i = 0; i < n && cb_h5_left(b) >= width; i++) {
        uint64_t idx[CUBED_MAX_NDIM] = {0};
        const uint64_t to = cb_h5_address(c->h, b);
        uint64_t size = c->index->bytes, mask = 0;
        if (c->index->filtered) {
            size = cb_h5_take(b, (int)(width - o - 4));
            mask = cb_h5_take(b, 4);
        }
        unravel(c, first + i, idx);
        CB_TRY(add(c, idx, to, size, mask, err));
    }
    return CUBED_OK;
}

static bool is_width(const collect *c, uint64_t width)
{
    const uint64_t o = (uint64_t)c->h->osize;
    return c->index->filtered ? width > o + 4 && width <= o + 12 : width == o;
}

/* Reads the entries that follow a prefix. Few entries are contiguous; many entries are in pages, each followed by a
 * checksum. A page was never written if its bit in `there` is 0. */
static cubed_status block_entries(collect *c, uint64_t at, uint64_t first, uint64_t n,
                                  uint64_t per_page, uint64_t width, const uint8_t *there,
                                  cubed_error *err)
{
    cb_h5_bytes b;
    if (n <= per_page) {
        CB_TRY(cb_h5_read(c->h, at, cb_sat_mul(n, width), NULL, &b, err));
        return entries(c, &b, first, n, width, err);
    }
    at += 4; /* the prefix has a separate checksum if there are pages */
    for (uint64_t page = 0; page * per_page < n; page++) {
        const uint64_t k = page * per_page, m = n - k < per_page ? n - k : per_page;
        if (!there || there[page / 8] & 0x80 >> page % 8) {
            CB_TRY(cb_h5_read(c->h, at, m * width, NULL, &b, err));
            CB_TRY(entries(c, &b, first + k, m, width, err));
        }
        at += per_page * width + 4;
    }
    return CUBED_OK;
}

static cubed_status fixed_array(collect *c, cubed_error *err)
{
    const uint64_t o = (uint64_t)c->h->osize, l = (uint64_t)c->h->lsize;
    cb_h5_bytes b;
    CB_TRY(cb_h5_read(c->h, c->index->address, 8 + l + o, "FAHD", &b, err));
    (void)cb_h5_skip(&b, 2);
    const uint64_t width = cb_h5_take(&b, 1), bits = cb_h5_take(&b, 1);
    const uint64_t n = cb_h5_length(c->h, &b), block = cb_h5_address(c->h, &b);
    if (!is_width(c, width) || bits > 40 || n > c->f->info.size)
        return cb_h5_bad(c->h, err, "the table of an array's chunks");
    if (block == CB_H5_NOWHERE) return CUBED_OK;
    const uint64_t per_page = (uint64_t)1 << bits;
    const uint64_t pages = n > per_page ? n / per_page + (n % per_page != 0) : 0;
    CB_TRY(cb_h5_read(c->h, block, 6 + o + (pages + 7) / 8, "FADB", &b, err));
    (void)cb_h5_skip(&b, 2 + o);
    return block_entries(c, block + 6 + o + (pages + 7) / 8, 0, n, per_page, width,
                         pages ? b.at : NULL, err);
}

typedef struct extensible {
    /* width: size of an entry in bytes; direct: number of entries in the index block */
    uint64_t width, direct;
    /* least: number of entries of the smallest data block; blocks: number of data block addresses in the index block and in a
     * super block */
    uint64_t least, blocks;
    uint64_t page;  /* number of entries in a page of a data block */
    int bits;       /* width of an entry's number in bits */
    uint64_t first; /* address of the index block */
} extensible;

static cubed_status data_block(collect *c, const extensible *x, uint64_t address, uint64_t first,
                               uint64_t n, const uint8_t *there, cubed_error *err)
{
    cb_h5_bytes b;
    if (address == CB_H5_NOWHERE) return CUBED_OK;
    const uint64_t head = 6 + (uint64_t)c->h->osize + (uint64_t)(x->bits + 7) / 8;
    CB_TRY(cb_h5_read(c->h, address, 6, "EADB", &b, err));
    return block_entries(c, address + head, first, n, x->page, x->width, there, err);
}

/* blocks_of returns the number of data blocks of super block `s`, 2^(s/2). entries_of returns the number of entries of each,
 * least * 2^((s+1)/2). */
static uint64_t blocks_of(uint64_t s) { return (uint64_t)1 << s / 2; }
static uint64_t entries_of(const extensible *x, uint64_t s) { return x->least << (s + 1) / 2; }

static cubed_status super_block(collect *c, const extensible *x, uint64_t address, uint64_t s,
                                uint64_t first, cubed_error *err)
{
    const uint64_t o = (uint64_t)c->h->osize, nblocks = blocks_of(s), n = entries_of(x, s);
    const uint64_t head = 6 + o + (uint64_t)(x->bits + 7) / 8;
    const uint64_t pages = n > x->page ? n / x->page : 0, bitmap = (pages + 7) / 8;
    cb_h5_bytes b;
    if (address == CB_H5_NOWHERE) return CUBED_OK;
    CB_TRY(cb_h5_read(c->h, address, head + nblocks * (bitmap + o), "EASB", &b, err));
    (void)cb_h5_skip(&b, head - 4);
    const uint8_t *there = cb_h5_skip(&b, nblocks * bitmap);
    for (uint64_t i = 0; i < nblocks; i++) {
        const uint64_t to = cb_h5_address(c->h, &b);
        CB_TRY(data_block(c, x, to, first + i * n, n, pages ? there + i * bitmap : NULL, err));
    }
    return CUBED_OK;
}

static cubed_status extensible_array(collect *c, cubed_error *err)
{
    const uint64_t o = (uint64_t)c->h->osize, l = (uint64_t)c->h->lsize;
    cb_h5_bytes b;
    CB_TRY(cb_h5_read(c->h, c->index->address, 12 + 6 * l + o, "EAHD", &b, err));
    (void)cb_h5_skip(&b, 2);
    extensible x = {.width = cb_h5_take(&b, 1)};
    x.bits = (int)cb_h5_take(&b, 1);
    x.direct = cb_h5_take(&b, 1);
    x.least = cb_h5_take(&b, 1);
    const uint64_t pointers = cb_h5_take(&b, 1), page_bits = cb_h5_take(&b, 1);
    (void)cb_h5_skip(&b, 6 * l);
    x.first = cb_h5_address(c->h, &b);
    x.page = (uint64_t)1 << (page_bits < 40 ? page_bits : 40);
    const bool powers =
        x.least && pointers > 1 && !(x.least & (x.least - 1)) && !(pointers & (pointers - 1));
    if (!is_width(c, x.width) || b.bad || x.bits < 1 || x.bits > 64 || !powers)
        return cb_h5_bad(c->h, err, "the table of an array's chunks");
    if (x.first == CB_H5_NOWHERE) return CUBED_OK;
    /* The index block contains the addresses of the data blocks of the first super blocks. These are the super blocks before
     * the first one with at least `pointers` data blocks. */
    uint64_t inside = 0, direct_blocks = 0;
    while (blocks_of(inside) < pointers) direct_blocks += blocks_of(inside++);
    uint64_t nsuper = 1;
    for (uint64_t k = x.least; k > 1; k /= 2) nsuper++;
    nsuper = (uint64_t)x.bits + 1 > nsuper - 1 ? (uint64_t)x.bits + 1 - (nsuper - 1) : 0;
    if (nsuper < inside || nsuper > 64)
        return cb_h5_bad(c->h, err, "the table of an array's chunks");
    CB_TRY(cb_h5_read(c->h, x.first,
                      6 + o + x.direct * x.width + (direct_blocks + nsuper - inside) * o, "EAIB",
                      &b, err));
    (void)cb_h5_skip(&b, 2 + o);
    cb_h5_bytes direct = b;
    CB_TRY(entries(c, &direct, 0, x.direct, x.width, err));
    (void)cb_h5_skip(&b, x.direct * x.width);
    uint64_t first = x.direct;
    for (uint64_t s = 0; s < nsuper; s++) {
        const uint64_t n = entries_of(&x, s);
        for (uint64_t i = 0; s < inside && i < blocks_of(s); i++) {
            const uint64_t to = cb_h5_address(c->h, &b);
            CB_TRY(data_block(c, &x, to, first + i * n, n, NULL, err));
        }
        if (s >= inside) {
            const uint64_t to = cb_h5_address(c->h, &b);
            CB_TRY(super_block(c, &x, to, s, first, err));
        }
        first += n * blocks_of(s);
    }
    return CUBED_OK;
}

static cubed_status tree_record(void *ctx, cb_h5_bytes b, cubed_error *err)
{
    collect *c = ctx;
    const uint64_t o = (uint64_t)c->h->osize, width = cb_h5_left(&b);
    uint64_t idx[CUBED_MAX_NDIM], size = c->index->bytes, mask = 0;
    const uint64_t to = cb_h5_address(c->h, &b);
    if (c->index->filtered) {
        const uint64_t rest = o + 4 + 8 * (uint64_t)c->x->ndim;
        if (width <= rest || width > rest + 8) return cb_h5_bad(c->h, err, "a record of a chunk");
        size = cb_h5_take(&b, (int)(width - rest));
        mask = cb_h5_take(&b, 4);
    }
    for (int d = 0; d < c->x->ndim; d++) idx[d] = cb_h5_take(&b, 8);
    if (b.bad) return cb_h5_bad(c->h, err, "a record of a chunk");
    return add(c, idx, to, size, mask, err);
}

static cubed_status implicit(collect *c, cubed_error *err)
{
    uint64_t n = 1;
    for (int d = 0; d < c->x->ndim; d++) {
        if (__builtin_mul_overflow(n, c->counts[d], &n)) n = UINT64_MAX;
    }
    if (n > c->f->info.size / c->index->bytes)
        return cb_h5_bad(c->h, err, "more chunks than fit in the file");
    for (uint64_t i = 0; i < n; i++) {
        uint64_t idx[CUBED_MAX_NDIM] = {0};
        unravel(c, i, idx);
        CB_TRY(add(c, idx, c->index->address + i * c->index->bytes, c->index->bytes, 0, err));
    }
    return CUBED_OK;
}

static cubed_status read_index(collect *c, cubed_error *err)
{
    const cb_h5_index *i = c->index;
    const uint64_t zero[CUBED_MAX_NDIM] = {0};
    if (i->address == CB_H5_NOWHERE) return CUBED_OK;
    count_chunks(c);
    switch (i->kind) {
    case CB_H5_BTREE_1: return chunk_tree(c, i->address, -1, err);
    case CB_H5_SINGLE: return add(c, zero, i->address, i->single, i->mask, err);
    case CB_H5_IMPLICIT: return implicit(c, err);
    case CB_H5_FIXED: return fixed_array(c, err);
    case CB_H5_EXTENSIBLE: return extensible_array(c, err);
    case CB_H5_BTREE_2:
        return cb_h5_each_record(c->h, i->address, i->filtered ? 11 : 10, tree_record, c, err);
    }
    return cb_h5_bad(c->h, err, "an unknown type of chunk index");
}

cubed_status cb_h5_load_chunks(cb_file *f, cb_array_in *x, cubed_error *err)
{
    const cb_h5_index *index = x->source;
    cb_h5 h = index->h;
    collect c = {.h = &h, .f = f, .x = x, .index = index};
    CB_TRY(cb_zone_new(f->head.alloc, &h.temp, err));
    h.left = (int64_t)(f->info.size / 8) + 16;
    cubed_status st = read_index(&c, err);
    if (st == CUBED_OK && x->nplaces) {
        x->places = cb_zone_memdup(f->zone, c.places, x->nplaces * sizeof *c.places);
        if (!x->places) st = cb_file_no_memory(f, err);
    }
    cb_free(f->head.alloc, c.places, c.cap * sizeof *c.places);
    cb_zone_free(h.temp);
    return st;
}
