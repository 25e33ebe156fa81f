/* Files that are written piece by piece, as their pieces are made. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "store/local.h"

struct cubed_store_pieces {
    local_store *store;
    int fd;                              /* -1: closed */
    int failed;                          /* errno of closing it: what was written may be lost */
    char path[PATH_MAX], temp[PATH_MAX]; /* temp "": it has become the object */
};

cubed_status cb_local_begin_pieces(cubed_store *store, const char *key, cubed_store_pieces **out,
                                   cubed_error *err)
{
    cubed_store_pieces *x = cb_alloc_zero(store->alloc, sizeof *x);
    if (!x) return cb_fail(err, CUBED_E_NOMEM, "no memory to write %s", key);
    x->store = (local_store *)store;
    cubed_status st = cb_local_path(x->store, key, x->path, err);
    if (st == CUBED_OK) st = cb_local_create(x->store, x->path, x->temp, &x->fd, err);
    if (st != CUBED_OK)
        cb_free(store->alloc, x, sizeof *x);
    else
        *out = x;
    return st;
}

cubed_status cb_local_put_piece(cubed_store_pieces *x, uint64_t offset, const void *src,
                                size_t size, cubed_error *err)
{
    const int e = cb_local_write_at(x->fd, offset, src, size);
    return e ? cb_fail_errno(err, e, "cannot write %s", x->path) : CUBED_OK;
}

cubed_status cb_local_end_pieces(cubed_store_pieces *x, cubed_error *err)
{
    cubed_object_info info;
    int e = x->failed;
    if (x->fd >= 0) {
        e = x->failed = cb_local_close_written(x->store, x->fd, &info);
        x->fd = -1;
    }
    if (e == 0 && *x->temp) {
        if (rename(x->temp, x->path) == 0)
            *x->temp = 0;
        else
            e = errno;
    }
    if (e == 0 && x->store->durable) e = cb_local_sync_parent(x->path);
    return e ? cb_fail_errno(err, e, "cannot write %s", x->path) : CUBED_OK;
}

void cb_local_free_pieces(cubed_store_pieces *x)
{
    if (x->fd >= 0) close(x->fd);
    if (*x->temp) unlink(x->temp);
    cb_free(x->store->head.alloc, x, sizeof *x);
}
