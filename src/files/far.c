/* Forwards gets of entries of a file to the underlying store if it has latency, so that many requests can be in flight. */
#include <string.h>
#include <zlib.h>

#include "files/file_pkg.h"

enum { MOST_RANGES = 64 };

/* A forwarded get. */
typedef struct passed {
    cubed_store_request below;
    cubed_store_request *above;
    cb_file *f;
    cb_entry e;
    cubed_range ranges[MOST_RANGES];
} passed;

/* Converts a range of the entry to ranges of the underlying store, and adds them to *p. Returns false if there are too many
 * ranges. */
static bool add_range(passed *p, cubed_range r)
{
    const cb_entry *e = &p->e;
    while (r.size > 0) {
        const uint64_t run = e->run ? e->run : e->there, k = r.offset / run, at = r.offset % run;
        const size_t n = run - at < r.size ? (size_t)(run - at) : r.size;
        if (p->below.nranges == MOST_RANGES) return false;
        p->ranges[p->below.nranges++] =
            (cubed_range){e->offset + k * (e->run ? e->stride : 0) + at, n};
        p->below.cap += n;
        r.offset += n;
        r.size -= n;
    }
    return true;
}

/* Returns true if the underlying store has all requested bytes unencoded and in order. */
static bool can_pass(passed *p, const cubed_store_request *r)
{
    const cb_entry *e = &p->e;
    const cubed_range whole = {0, (size_t)e->size};
    if (e->deflated || e->nhead || e->there != e->size || (!r->nranges && e->size > r->cap))
        return false;
    for (size_t i = 0; i < (r->nranges ? r->nranges : 1); i++) {
        const cubed_range asked = r->nranges ? r->ranges[i] : whole;
        const cubed_range x = cubed_range_within(asked, e->size);
        if (x.size != asked.size && i + 1 < r->nranges) return false;
        if (!add_range(p, x)) return false;
    }
    return p->below.cap > 0;
}

static void completed(cubed_store_request *below)
{
    passed *p = below->data;
    cubed_store_request *r = p->above;
    const cubed_allocator *a = p->f->head.alloc;
    r->got = below->got;
    r->status = cb_file_judge(p->f, p->e.in, below, r->err);
    if (r->status == CUBED_OK && p->e.has_crc && r->got == p->e.size &&
        crc32_z(0, r->dst, r->got) != p->e.crc)
        r->status = cb_file_bad(p->f, r->err, "the checksum of an entry does not match its bytes");
    cb_free(a, p, sizeof *p);
    r->complete(r);
}

bool cb_file_pass(cb_file *f, cubed_store_request *r)
{
    if (r->op != CUBED_STORE_GET) return false;
    passed *p = cb_alloc_zero(f->head.alloc, sizeof *p);
    if (!p) return false;
    /* Return false: the caller then performs the request synchronously, and reports an error of cb_file_find. */
    if (cb_file_find(f, r, &p->e, NULL) != CUBED_OK || !can_pass(p, r)) {
        cb_free(f->head.alloc, p, sizeof *p);
        return false;
    }
    cubed_store_request *below = &p->below;
    p->f = f;
    p->above = r;
    below->op = CUBED_STORE_GET;
    below->key = p->e.in ? p->e.in->key : f->key;
    if (!p->e.in && *f->info.version.text) below->if_match = f->info.version.text;
    below->ranges = p->ranges;
    below->dst = r->dst;
    below->err = r->err;
    below->complete = completed;
    below->data = p;
    cb_store_begin(p->e.in ? p->e.in->store : f->within, &below, 1);
    return true;
}
