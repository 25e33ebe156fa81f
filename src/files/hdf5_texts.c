/* Strings of variable length, to which elements of arrays refer. One collection of the global heap is cached, because
 * neighbouring elements usually refer to the same one. */
#include <string.h>

#include "files/hdf5_pkg.h"

struct cb_file_texts {
    const cb_file *f;
    const cb_h5 *h;
    size_t most;
    uint64_t at; /* address of the heap collection that is cached */
    uint8_t *part;
    size_t size, cap;
};

cubed_status cb_file_texts_open(cubed_store *s, size_t most, cb_file_texts **out, size_t *item,
                                cubed_error *err)
{
    const cb_file *f = cb_file_of(s);
    if (!f || f->kind != &cb_file_hdf5)
        return cb_fail(err, CUBED_E_UNSUPPORTED, "%s is not an HDF5 file", s->url);
    cb_file_texts *x = cb_alloc(s->alloc, sizeof *x);
    if (!x) return cb_file_no_memory(f, err);
    *x = (cb_file_texts){
        .f = f, .h = &((const cb_h5_data *)f->data)->h, .most = most, .at = CB_H5_NOWHERE};
    *item = 8 + (size_t)x->h->osize;
    *out = x;
    return CUBED_OK;
}

void cb_file_texts_close(cb_file_texts *x)
{
    if (!x) return;
    cb_free(x->f->head.alloc, x->part, x->cap);
    cb_free(x->f->head.alloc, x, sizeof *x);
}

static cubed_status read_part(cb_file_texts *x, uint64_t address, cubed_error *err)
{
    uint8_t head[16];
    uint64_t size;
    const uint64_t n = cb_h5_global_head(x->h);
    if (x->at == address) return CUBED_OK;
    x->at = CB_H5_NOWHERE;
    CB_TRY(cb_file_read(x->f, address, head, (size_t)n, err));
    CB_TRY(cb_h5_global_size(x->h, (cb_h5_bytes){head, head + n, false}, &size, err));
    if (address > x->f->info.size || size > x->f->info.size - address)
        return cb_h5_bad(x->h, err, "a heap that is not within the file");
    if (size > x->most)
        return cb_fail(err, CUBED_E_BUDGET, "%s: a heap of strings has more than %zu bytes",
                       x->f->url, x->most);
    if (size > x->cap) {
        uint8_t *more = cb_resize(x->f->head.alloc, x->part, x->cap, (size_t)size);
        if (!more) return cb_file_no_memory(x->f, err);
        x->part = more;
        x->cap = (size_t)size;
    }
    CB_TRY(cb_file_read(x->f, address, x->part, (size_t)size, err));
    x->size = (size_t)size;
    x->at = address;
    return CUBED_OK;
}

cubed_status cb_file_texts_get(cb_file_texts *x, const void *element, const unsigned char **text,
                               size_t *size, cubed_error *err)
{
    const uint8_t *from = element;
    cb_h5_bytes b = {from, from + 8 + x->h->osize, false}, found;
    const uint64_t n = cb_h5_take(&b, 4), address = cb_h5_address(x->h, &b);
    const uint32_t index = (uint32_t)cb_h5_take(&b, 4);
    *text = (const unsigned char *)"";
    *size = 0;
    if (n == 0 || address == CB_H5_NOWHERE || address == x->h->base) return CUBED_OK;
    CB_TRY(read_part(x, address, err));
    CB_TRY(cb_h5_global_find(x->h, (cb_h5_bytes){x->part, x->part + x->size, false}, index, &found,
                             err));
    *text = found.at;
    *size = (size_t)(n < cb_h5_left(&found) ? n : cb_h5_left(&found));
    const uint8_t *end = *size ? memchr(*text, 0, *size) : NULL;
    if (end) *size = (size_t)(end - *text);
    return CUBED_OK;
}
