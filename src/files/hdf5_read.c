/* Object headers, and links in groups. */
#include <string.h>

#include "files/hdf5_pkg.h"

typedef struct header_reader {
    cb_h5 *h;
    cb_h5_header *out;
    int version;
    bool ordered; /* messages of version 2 include their creation order */
} header_reader;

static cubed_status read_block(header_reader *r, uint64_t address, uint64_t size, int depth,
                               cubed_error *err);

static cubed_status read_messages(header_reader *r, cb_h5_bytes b, int depth, cubed_error *err)
{
    const uint64_t head = r->version == 1 ? 8 : r->ordered ? 6 : 4;
    while (cb_h5_left(&b) >= head) {
        cb_h5_message m = {.type = (int)cb_h5_take(&b, r->version == 1 ? 2 : 1)};
        const uint64_t size = cb_h5_take(&b, 2);
        m.flags = (uint8_t)cb_h5_take(&b, 1);
        (void)cb_h5_skip(&b, head - (r->version == 1 ? 5 : 4));
        const uint8_t *at = cb_h5_skip(&b, size);
        if (!at) return cb_h5_bad(r->h, err, "a message is longer than the header that it is in");
        m.bytes = (cb_h5_bytes){at, at + size, false};
        if (m.type == CB_H5_CONTINUATION) {
            const uint64_t next = cb_h5_address(r->h, &m.bytes);
            const uint64_t length = cb_h5_length(r->h, &m.bytes);
            CB_TRY(read_block(r, next, length, depth + 1, err));
            continue;
        }
        if (!cb_zone_grow(r->h->temp, &r->out->list, r->out->n, &r->out->cap, sizeof m))
            return cb_file_no_memory(r->h->f, err);
        r->out->list[r->out->n++] = m;
    }
    return CUBED_OK;
}

/* Reads a block of a header. Blocks refer to further blocks; the depth is limited to 500. */
static cubed_status read_block(header_reader *r, uint64_t address, uint64_t size, int depth,
                               cubed_error *err)
{
    cb_h5_bytes b;
    if (depth > 500) return cb_h5_bad(r->h, err, "a header of too many parts");
    CB_TRY(cb_h5_read(r->h, address, size, r->version == 1 ? NULL : "OCHK", &b, err));
    if (r->version == 2 && cb_h5_left(&b) >= 4) b.end -= 4; /* omit the checksum */
    return read_messages(r, b, depth, err);
}

cubed_status cb_h5_read_header(cb_h5 *h, uint64_t address, cb_h5_header *out, cubed_error *err)
{
    header_reader r = {h, out, 1, false};
    cb_h5_bytes b;
    *out = (cb_h5_header){.n = 0};
    CB_TRY(cb_h5_read(h, address, 16, NULL, &b, err));
    if (memcmp(b.at, "OHDR", 4) != 0) {
        if (cb_h5_take(&b, 1) != 1) return cb_h5_bad(h, err, "an object without a header");
        (void)cb_h5_skip(&b, 7);
        return read_block(&r, address + 16, cb_h5_take(&b, 4), 0, err);
    }
    (void)cb_h5_skip(&b, 4);
    const uint64_t version = cb_h5_take(&b, 1), flags = cb_h5_take(&b, 1);
    const uint64_t skip = 6 + (flags & 0x20 ? 16 : 0) + (flags & 0x10 ? 4 : 0);
    const int width = 1 << (flags & 3);
    if (version != 2) return cb_h5_bad(h, err, "a header of an unknown version");
    r.version = 2;
    r.ordered = flags & 4;
    CB_TRY(cb_h5_read(h, address + skip, (uint64_t)width, NULL, &b, err));
    const uint64_t size = cb_h5_take(&b, width);
    CB_TRY(cb_h5_read(h, address + skip + (uint64_t)width, size, NULL, &b, err));
    return read_messages(&r, b, 0, err);
}

const cb_h5_message *cb_h5_find(const cb_h5_header *x, int type)
{
    for (int i = 0; i < x->n; i++) {
        if (x->list[i].type == type) return &x->list[i];
    }
    return NULL;
}

cubed_status cb_h5_follow(cb_h5 *h, int type, uint8_t flags, cb_h5_bytes in, cb_h5_bytes *out,
                          cubed_error *err)
{
    *out = in;
    if (!(flags & 2)) return CUBED_OK;
    const uint64_t version = cb_h5_take(&in, 1), where = cb_h5_take(&in, 1);
    if (version == 1) (void)cb_h5_skip(&in, 6);
    if (version == 3 && where == 1)
        return cb_fail(err, CUBED_E_UNSUPPORTED,
                       "%s: HDF5 files whose messages are shared in a heap are not supported",
                       h->f->url);
    cb_h5_header x;
    CB_TRY(cb_h5_read_header(h, cb_h5_address(h, &in), &x, err));
    const cb_h5_message *m = cb_h5_find(&x, type);
    if (!m || m->flags & 2) return cb_h5_bad(h, err, "a shared message is not where it should be");
    *out = m->bytes;
    return CUBED_OK;
}

/* --- Groups ------------------------------------------------------------------------------------------- */

typedef struct links {
    cb_h5 *h;
    cb_h5_bytes names; /* local heap with the names */
    cb_h5_link_fn fn;
    void *ctx;
} links;

static cubed_status tell_link(links *l, const uint8_t *name, uint64_t n, uint64_t address,
                              cubed_error *err)
{
    if (n >= 4096) return cb_h5_bad(l->h, err, "a name of more than 4096 bytes");
    char *copy = cb_zone_alloc(l->h->temp, (size_t)n + 1);
    if (!copy) return cb_file_no_memory(l->h->f, err);
    memcpy(copy, name, (size_t)n);
    if (strlen(copy) != n || n == 0 || strchr(copy, '/'))
        return cb_h5_bad(l->h, err, "a link with an invalid name");
    return l->fn(l->ctx, copy, address, err);
}

static cubed_status symbols(links *l, uint64_t address, cubed_error *err)
{
    const uint64_t each = 2 * (uint64_t)l->h->osize + 24;
    cb_h5_bytes b;
    CB_TRY(cb_h5_read(l->h, address, 8, "SNOD", &b, err));
    (void)cb_h5_skip(&b, 2);
    const uint64_t n = cb_h5_take(&b, 2);
    CB_TRY(cb_h5_read(l->h, address + 8, n * each, NULL, &b, err));
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t offset = cb_h5_take(&b, l->h->osize), to = cb_h5_address(l->h, &b);
        const uint64_t kind = cb_h5_take(&b, 4);
        (void)cb_h5_skip(&b, 20);
        if (b.bad || offset >= cb_h5_left(&l->names))
            return cb_h5_bad(l->h, err, "a link without a name");
        if (kind == 2) continue; /* symbolic link */
        const uint8_t *name = l->names.at + offset;
        const uint8_t *end = memchr(name, 0, (size_t)(l->names.end - name));
        if (!end) return cb_h5_bad(l->h, err, "a link without a name");
        CB_TRY(tell_link(l, name, (uint64_t)(end - name), to, err));
    }
    return CUBED_OK;
}

/* Walks a B-tree of version 1 whose leaves refer to symbol tables. The recursion depth is at most 255, because levels
 * decrease. */
static cubed_status symbol_tree(links *l, uint64_t address, int level, cubed_error *err)
{
    const uint64_t key = (uint64_t)l->h->lsize, child = (uint64_t)l->h->osize;
    cb_h5_bytes b;
    CB_TRY(cb_h5_read(l->h, address, 8 + 2 * child, "TREE", &b, err));
    const uint64_t type = cb_h5_take(&b, 1);
    const int own = (int)cb_h5_take(&b, 1);
    const uint64_t n = cb_h5_take(&b, 2);
    if (type != 0 || (level >= 0 && own != level)) return cb_h5_bad(l->h, err, "a group's B-tree");
    CB_TRY(cb_h5_read(l->h, address + 8 + 2 * child, n * (key + child), NULL, &b, err));
    for (uint64_t i = 0; i < n; i++) {
        (void)cb_h5_skip(&b, key);
        const uint64_t to = cb_h5_address(l->h, &b);
        CB_TRY(own == 0 ? symbols(l, to, err) : symbol_tree(l, to, own - 1, err));
    }
    return CUBED_OK;
}

static cubed_status old_group(links *l, cb_h5_bytes b, cubed_error *err)
{
    const uint64_t tree = cb_h5_address(l->h, &b), heap = cb_h5_address(l->h, &b);
    if (b.bad) return cb_h5_bad(l->h, err, "a group's table");
    CB_TRY(cb_h5_read(l->h, heap, 8 + 2 * (uint64_t)l->h->lsize + (uint64_t)l->h->osize, "HEAP", &b,
                      err));
    (void)cb_h5_skip(&b, 4);
    const uint64_t size = cb_h5_length(l->h, &b);
    (void)cb_h5_length(l->h, &b);
    const uint64_t data = cb_h5_address(l->h, &b);
    CB_TRY(cb_h5_read(l->h, data, size, NULL, &l->names, err));
    return symbol_tree(l, tree, -1, err);
}

static cubed_status new_link(void *ctx, const cb_h5_message *m, cubed_error *err)
{
    links *l = ctx;
    cb_h5_bytes b = m->bytes;
    if (cb_h5_take(&b, 1) != 1) return cb_h5_bad(l->h, err, "a link of an unknown version");
    const uint64_t flags = cb_h5_take(&b, 1);
    const uint64_t type = flags & 8 ? cb_h5_take(&b, 1) : 0;
    if (flags & 4) (void)cb_h5_skip(&b, 8);
    if (flags & 16) (void)cb_h5_skip(&b, 1);
    const uint64_t n = cb_h5_take(&b, 1 << (flags & 3));
    const uint8_t *name = cb_h5_skip(&b, n);
    /* a symbolic link or a link to another file has no address here */
    if (type != 0) return CUBED_OK;
    const uint64_t to = cb_h5_address(l->h, &b);
    if (b.bad) return cb_h5_bad(l->h, err, "a link");
    return tell_link(l, name, n, to, err);
}

/* Reads messages that do not fit in the header and are stored in a fractal heap. */
static cubed_status dense(cb_h5 *h, const cb_h5_header *x, int info, int message,
                          cb_h5_message_fn fn, void *ctx, cubed_error *err)
{
    const cb_h5_message *m = cb_h5_find(x, info);
    if (!m) return CUBED_OK;
    cb_h5_bytes b = m->bytes;
    (void)cb_h5_skip(&b, 1);
    if (cb_h5_take(&b, 1) & 1) (void)cb_h5_skip(&b, message == CB_H5_LINK ? 8 : 2);
    const uint64_t heap = cb_h5_address(h, &b), tree = cb_h5_address(h, &b);
    if (b.bad) return cb_h5_bad(h, err, "a list of names");
    if (heap == CB_H5_NOWHERE || tree == CB_H5_NOWHERE) return CUBED_OK;
    return cb_h5_each_dense(h, heap, tree, message, fn, ctx, err);
}

static cubed_status each_message(cb_h5 *h, const cb_h5_header *x, int info, int message,
                                 cb_h5_message_fn fn, void *ctx, cubed_error *err)
{
    for (int i = 0; i < x->n; i++) {
        if (x->list[i].type == message) CB_TRY(fn(ctx, &x->list[i], err));
    }
    return dense(h, x, info, message, fn, ctx, err);
}

cubed_status cb_h5_each_link(cb_h5 *h, const cb_h5_header *x, bool *is_group, cb_h5_link_fn fn,
                             void *ctx, cubed_error *err)
{
    links l = {.h = h, .fn = fn, .ctx = ctx};
    const cb_h5_message *table = cb_h5_find(x, CB_H5_SYMBOL_TABLE);
    *is_group = table || cb_h5_find(x, CB_H5_LINK_INFO) || cb_h5_find(x, CB_H5_LINK);
    if (table) CB_TRY(old_group(&l, table->bytes, err));
    return each_message(h, x, CB_H5_LINK_INFO, CB_H5_LINK, new_link, &l, err);
}

cubed_status cb_h5_each_attribute(cb_h5 *h, const cb_h5_header *x, cb_h5_message_fn fn, void *ctx,
                                  cubed_error *err)
{
    return each_message(h, x, CB_H5_ATTRIBUTE_INFO, CB_H5_ATTRIBUTE, fn, ctx, err);
}
