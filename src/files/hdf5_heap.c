/* B-trees of version 2, fractal heaps and the global heap. */
#include <string.h>

#include "files/hdf5_pkg.h"

/* Returns the number of bytes that numbers up to `most` need. */
static int width_of(uint64_t most)
{
    int n = 1;
    while (n < 8 && most >> (8 * n)) n++;
    return n;
}

/* --- B-trees ------------------------------------------------------------------------------------------ */

enum { MAX_DEPTH = 32 };

typedef struct tree {
    cb_h5 *h;
    uint64_t node, record; /* sizes in bytes of a node and of a record */
    int nwidth;            /* width in bytes of the number of records in a node */
    /* width in bytes of the number of records below a child, indexed by depth */
    int total[MAX_DEPTH];
    cb_h5_record_fn fn;
    void *ctx;
} tree;

static cubed_status tell_record(const tree *t, cb_h5_bytes *b, cubed_error *err)
{
    const uint8_t *at = cb_h5_skip(b, t->record);
    if (!at) return cb_h5_bad(t->h, err, "a B-tree's node is shorter than its records");
    return t->fn(t->ctx, (cb_h5_bytes){at, at + t->record, false}, err);
}

/* Walks a node. `depth` is 0 for leaves. */
static cubed_status walk(const tree *t, uint64_t address, uint64_t n, int depth, cubed_error *err)
{
    cb_h5_bytes b, children;
    CB_TRY(cb_h5_read(t->h, address, t->node, depth ? "BTIN" : "BTLF", &b, err));
    (void)cb_h5_skip(&b, 2);
    if (n > t->node / t->record) return cb_h5_bad(t->h, err, "a B-tree's node");
    children = b;
    (void)cb_h5_skip(&children, n * t->record);
    for (uint64_t i = 0; i <= n; i++) {
        if (depth > 0) {
            const uint64_t to = cb_h5_address(t->h, &children);
            const uint64_t count = cb_h5_take(&children, t->nwidth);
            if (t->total[depth]) (void)cb_h5_skip(&children, (uint64_t)t->total[depth]);
            if (children.bad) return cb_h5_bad(t->h, err, "a B-tree's node");
            CB_TRY(walk(t, to, count, depth - 1, err));
        }
        if (i < n) CB_TRY(tell_record(t, &b, err));
    }
    return CUBED_OK;
}

cubed_status cb_h5_each_record(cb_h5 *h, uint64_t address, int type, cb_h5_record_fn fn, void *ctx,
                               cubed_error *err)
{
    tree t = {.h = h, .fn = fn, .ctx = ctx};
    cb_h5_bytes b;
    CB_TRY(cb_h5_read(h, address, 18 + (uint64_t)h->osize + (uint64_t)h->lsize, "BTHD", &b, err));
    const uint64_t version = cb_h5_take(&b, 1), own = cb_h5_take(&b, 1);
    t.node = cb_h5_take(&b, 4);
    t.record = cb_h5_take(&b, 2);
    const int depth = (int)cb_h5_take(&b, 2);
    (void)cb_h5_skip(&b, 2);
    const uint64_t root = cb_h5_address(h, &b), n = cb_h5_take(&b, 2);
    if (version != 0 || (int)own != type || t.record == 0 || t.node < t.record + 10 ||
        depth >= MAX_DEPTH || b.bad)
        return cb_h5_bad(h, err, "a B-tree's header");
    if (n == 0 || root == CB_H5_NOWHERE) return CUBED_OK;
    /* A node stores the number of records below each child. The width of this number depends on its maximum, which depends on the
     * level. */
    uint64_t most = (t.node - 10) / t.record, all = most;
    t.nwidth = width_of(most);
    for (int d = 1; d <= depth; d++) {
        t.total[d] = d > 1 ? width_of(all) : 0;
        const uint64_t pointer = (uint64_t)h->osize + (uint64_t)t.nwidth + (uint64_t)t.total[d];
        if (t.node < 10 + pointer) return cb_h5_bad(h, err, "a B-tree's header");
        most = (t.node - 10 - pointer) / (t.record + pointer);
        all = cb_sat_add(cb_sat_mul(most + 1, all), most);
    }
    return walk(&t, root, n, depth, err);
}

/* --- Fractal heaps ------------------------------------------------------------------------------------ */

typedef struct heap {
    cb_h5 *h;
    uint64_t id;        /* size of a heap ID in bytes */
    int bits;           /* width of offsets in the heap, in bits */
    int owidth, lwidth; /* sizes in bytes of an offset and of a length in an ID */
    /* columns: blocks per row; first: size in bytes of a block in the first row; most: size in bytes of the largest direct
     * block */
    uint64_t columns, first, most;
    uint64_t root;
    uint64_t rows; /* number of rows of the root block; 0 if it is a direct block */
} heap;

static cubed_status open_heap(cb_h5 *h, uint64_t address, heap *x, cubed_error *err)
{
    const uint64_t l = (uint64_t)h->lsize, o = (uint64_t)h->osize;
    cb_h5_bytes b;
    CB_TRY(cb_h5_read(h, address, 22 + 12 * l + 3 * o, "FRHP", &b, err));
    *x = (heap){.h = h};
    const uint64_t version = cb_h5_take(&b, 1);
    x->id = cb_h5_take(&b, 2);
    const uint64_t filters = cb_h5_take(&b, 2);
    (void)cb_h5_skip(&b, 1);
    const uint64_t largest = cb_h5_take(&b, 4);
    (void)cb_h5_skip(&b, l + o + l + o + 8 * l);
    x->columns = cb_h5_take(&b, 2);
    x->first = cb_h5_length(h, &b);
    x->most = cb_h5_length(h, &b);
    x->bits = (int)cb_h5_take(&b, 2);
    (void)cb_h5_skip(&b, 2);
    x->root = cb_h5_address(h, &b);
    x->rows = cb_h5_take(&b, 2);
    if (filters)
        return cb_fail(err, CUBED_E_UNSUPPORTED,
                       "%s: HDF5 files with compressed heaps are not supported", h->f->url);
    if (version != 0 || b.bad || x->bits < 1 || x->bits > 64 || x->columns == 0 || x->first == 0 ||
        x->most < x->first || x->most >> 40 || x->rows > 64 || x->columns > 4096)
        return cb_h5_bad(h, err, "a heap's header");
    x->owidth = (x->bits + 7) / 8;
    /* Lengths have the width of offsets within the largest direct block, or the width of the size of the largest object,
     * whichever is smaller. */
    const int within = width_of(x->most > 1 ? x->most - 1 : 1);
    x->lwidth = within < width_of(largest) ? within : width_of(largest);
    return CUBED_OK;
}

/* Returns the size in bytes of a block in a row. It doubles from row to row, but the first two rows are equal. */
static uint64_t row_bytes(const heap *x, uint64_t row)
{
    return row < 2 ? x->first
                   : cb_sat_mul(x->first, row > 62 ? SIZE_MAX : (uint64_t)1 << (row - 1));
}

/* Finds the address of the byte at `offset`, relative to the given block, which contains it. */
static cubed_status locate(const heap *x, uint64_t block, uint64_t rows, uint64_t offset, int depth,
                           uint64_t *out, cubed_error *err)
{
    const uint64_t head = 5 + (uint64_t)x->h->osize + (uint64_t)x->owidth;
    cb_h5_bytes b;
    if (rows == 0) {
        *out =
            block == CB_H5_NOWHERE || offset > UINT64_MAX - block ? CB_H5_NOWHERE : block + offset;
        return CUBED_OK;
    }
    if (depth > 64) return cb_h5_bad(x->h, err, "the blocks of a heap form a cycle");
    uint64_t row = 0, begin = 0, child = 0;
    for (; row < rows; row++) {
        const uint64_t bytes = row_bytes(x, row), all = cb_sat_mul(bytes, x->columns);
        if (offset - begin < all) {
            child = (offset - begin) / bytes;
            begin += child * bytes;
            break;
        }
        begin = cb_sat_add(begin, all);
    }
    if (row == rows) return cb_h5_bad(x->h, err, "an object after the end of its heap");
    const uint64_t number = row * x->columns + child;
    CB_TRY(cb_h5_read(x->h, block, 4, "FHIB", &b, err));
    CB_TRY(cb_h5_read(x->h, cb_sat_add(block, head + number * (uint64_t)x->h->osize),
                      (uint64_t)x->h->osize, NULL, &b, err));
    const uint64_t to = cb_h5_address(x->h, &b), bytes = row_bytes(x, row);
    uint64_t inner = 0;
    /* A block larger than the largest direct block is an indirect block. Its number of rows follows from its size. */
    for (uint64_t sum = 0; bytes > x->most && sum < bytes; inner++)
        sum = cb_sat_add(sum, cb_sat_mul(row_bytes(x, inner), x->columns));
    return locate(x, to, inner, offset - begin, depth + 1, out, err);
}

/* Types of B-trees that refer to the messages of a heap. */
enum { BY_LINK_NAME = 5, BY_ATTRIBUTE_NAME = 8 };

typedef struct dense {
    heap heap;
    int id_at; /* offset in bytes of a message's ID in a record of the B-tree */
    int message;
    cb_h5_message_fn fn;
    void *ctx;
} dense;

static cubed_status tell_object(void *ctx, cb_h5_bytes record, cubed_error *err)
{
    const dense *x = ctx;
    const heap *p = &x->heap;
    uint64_t at;
    cb_h5_message m = {.type = x->message};
    (void)cb_h5_skip(&record, (uint64_t)x->id_at);
    const uint8_t *id = cb_h5_skip(&record, p->id);
    if (!id) return cb_h5_bad(p->h, err, "a record without the id of its object");
    record = (cb_h5_bytes){id, id + p->id, false};
    const uint64_t kind = cb_h5_take(&record, 1) >> 4 & 3;
    if (kind == 1)
        return cb_fail(err, CUBED_E_UNSUPPORTED,
                       "%s: HDF5 files with attributes of more than 64 KiB are not supported",
                       p->h->f->url);
    if (kind == 2) { /* the message is in the ID itself */
        m.bytes = record;
        return x->fn(x->ctx, &m, err);
    }
    const uint64_t offset = cb_h5_take(&record, p->owidth), size = cb_h5_take(&record, p->lwidth);
    if (kind != 0 || record.bad) return cb_h5_bad(p->h, err, "the id of an object");
    CB_TRY(locate(p, p->root, p->rows, offset, 0, &at, err));
    CB_TRY(cb_h5_read(p->h, at, size, NULL, &m.bytes, err));
    return x->fn(x->ctx, &m, err);
}

cubed_status cb_h5_each_dense(cb_h5 *h, uint64_t heap_at, uint64_t tree_at, int message,
                              cb_h5_message_fn fn, void *ctx, cubed_error *err)
{
    const bool of_links = message == CB_H5_LINK;
    dense x = {.id_at = of_links ? 4 : 0, .message = message, .fn = fn, .ctx = ctx};
    CB_TRY(open_heap(h, heap_at, &x.heap, err));
    return cb_h5_each_record(h, tree_at, of_links ? BY_LINK_NAME : BY_ATTRIBUTE_NAME, tell_object,
                             &x, err);
}

/* --- The global heap ---------------------------------------------------------------------------------- */

cubed_status cb_h5_global_size(const cb_h5 *h, cb_h5_bytes head, uint64_t *size, cubed_error *err)
{
    const uint8_t *letters = cb_h5_skip(&head, 4);
    const bool is = letters && memcmp(letters, "GCOL", 4) == 0;
    (void)cb_h5_skip(&head, 4);
    *size = cb_h5_length(h, &head);
    return is && !head.bad ? CUBED_OK : cb_h5_bad(h, err, "no GCOL where a heap should be");
}

cubed_status cb_h5_global_find(const cb_h5 *h, cb_h5_bytes b, uint32_t index, cb_h5_bytes *out,
                               cubed_error *err)
{
    const uint64_t head = cb_h5_global_head(h);
    (void)cb_h5_skip(&b, head);
    while (cb_h5_left(&b) >= head) {
        const uint64_t number = cb_h5_take(&b, 2);
        (void)cb_h5_skip(&b, 6);
        const uint64_t n = cb_h5_length(h, &b);
        const uint8_t *at = cb_h5_skip(&b, n);
        if (number == 0) break; /* free space */
        if (!at) return cb_h5_bad(h, err, "an object that is longer than its heap");
        if (number == index) {
            *out = (cb_h5_bytes){at, at + n, false};
            return CUBED_OK;
        }
        (void)cb_h5_skip(&b, (8 - n % 8) % 8 < cb_h5_left(&b) ? (8 - n % 8) % 8 : cb_h5_left(&b));
    }
    return cb_h5_bad(h, err, "an object that is not in its heap");
}

cubed_status cb_h5_global(cb_h5 *h, uint64_t collection, uint32_t index, cb_h5_bytes *out,
                          cubed_error *err)
{
    cb_h5_bytes b;
    uint64_t size;
    CB_TRY(cb_h5_read(h, collection, cb_h5_global_head(h), NULL, &b, err));
    CB_TRY(cb_h5_global_size(h, b, &size, err));
    CB_TRY(cb_h5_read(h, collection, size, NULL, &b, err));
    return cb_h5_global_find(h, b, index, out, err);
}
