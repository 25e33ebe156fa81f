/* Finds abandoned multipart uploads, which killed writers leave. They cost money, and listings of objects do not show
 * them. */
#define _GNU_SOURCE
#include <string.h>
#include <time.h>

#include "base/checked.h"
#include "base/error.h"
#include "store/services/remote.h"

/* Services report when an upload began but not which process began it. Uploads of a living process are hours old at
 * most. */
enum { ABANDONED_SECONDS = 24 * 3600 };

typedef struct sweeper {
    cb_zone *zone;
    int64_t before; /* uploads that began before this time are abandoned */
    /* told: number of listed uploads, including uploads that are not collected */
    size_t n, cap, told;
    const char **keys, **ids;
} sweeper;

static cubed_status grow(sweeper *x, cubed_error *err)
{
    const size_t cap = x->cap ? 2 * x->cap : CB_REMOTE_AT_ONCE;
    const char **keys = cb_zone_alloc(x->zone, cap * sizeof *keys);
    const char **ids = cb_zone_alloc(x->zone, cap * sizeof *ids);
    if (!keys || !ids) return cb_fail(err, CUBED_E_NOMEM, "no memory for a list of uploads");
    if (x->n) {
        memcpy(keys, x->keys, x->n * sizeof *keys);
        memcpy(ids, x->ids, x->n * sizeof *ids);
    }
    x->keys = keys;
    x->ids = ids;
    x->cap = cap;
    return CUBED_OK;
}

cubed_status cb_remote_tell_upload(const cb_remote *s, const cubed_store_request *r, cb_buf *name,
                                   const char *id, int64_t begun, cubed_error *err)
{
    sweeper *x = r->entry_ctx;
    const size_t skip = *s->root ? strlen(s->root) + 1 : 0;
    if (name->failed) return cb_fail(err, CUBED_E_NOMEM, "no memory for a list of uploads");
    x->told++;
    /* Some servers list more than the requested prefix. */
    if (begun >= x->before || !name->data || !cb_remote_is_below(s, name->data, r->key) ||
        name->size <= skip || strlen(name->data) != name->size ||
        cb_key_check(name->data + skip, NULL) != CUBED_OK)
        return CUBED_OK;
    if (x->n == x->cap) CB_TRY(grow(x, err));
    x->keys[x->n] = cb_zone_strdup(x->zone, name->data + skip);
    x->ids[x->n] = cb_zone_strdup(x->zone, id);
    if (!x->keys[x->n] || !x->ids[x->n])
        return cb_fail(err, CUBED_E_NOMEM, "no memory for a list of uploads");
    x->n++;
    return CUBED_OK;
}

static cubed_status find(cb_remote *s, const char *prefix, sweeper *x, cubed_error *err)
{
    char pages[2][CUBED_STORE_PAGE_CAP] = {"", ""};
    cb_page_watch watch = {.n = 0};
    for (int i = 0;; i = 1 - i) {
        cubed_store_request r = {.op = CUBED_STORE_LIST,
                                 .key = prefix,
                                 .page = *pages[i] ? pages[i] : NULL,
                                 .next_page = pages[1 - i],
                                 .entry_ctx = x};
        const size_t before = x->told;
        pages[1 - i][0] = 0;
        CB_TRY(cb_remote_do(s, CB_REMOTE_UPLOADS, &r, NULL, 1, err));
        if (!*pages[1 - i]) return CUBED_OK;
        CB_TRY(cb_page_watch_next(&watch, &s->head, pages[1 - i], x->told - before, err));
    }
}

static cubed_status end_all(cb_remote *s, const sweeper *x, cubed_error *err)
{
    cubed_store_request requests[CB_REMOTE_AT_ONCE];
    for (size_t i = 0, k; i < x->n; i += k) {
        k = cb_min_size(x->n - i, CB_REMOTE_AT_ONCE);
        for (size_t m = 0; m < k; m++)
            requests[m] = (cubed_store_request){.op = CUBED_STORE_PUT, .key = x->keys[i + m]};
        CB_TRY(cb_remote_do(s, CB_REMOTE_ABORT, requests, x->ids + i, k, err));
    }
    return CUBED_OK;
}

cubed_status cb_remote_sweep(cubed_store *store, const char *prefix, unsigned flags,
                             cubed_store_list_fn fn, void *ctx, cubed_error *err)
{
    cb_remote *s = (cb_remote *)store;
    sweeper x = {.before = flags & CUBED_SWEEP_ALONE ? INT64_MAX
                                                     : (int64_t)time(NULL) - ABANDONED_SECONDS};
    cubed_status st;
    if (!s->dialect->read_uploads || !s->uploads.from) return CUBED_OK;
    CB_TRY(cb_zone_new(store->alloc, &x.zone, err));
    CB_GO(find(s, prefix, &x, err));
    if (!(flags & CUBED_SWEEP_DRY_RUN)) CB_GO(end_all(s, &x, err));
    for (size_t i = 0; i < x.n && fn; i++) CB_GO(fn(ctx, x.keys[i], 0, err));
out:
    cb_zone_free(x.zone);
    return st;
}
