/* Files that are written in pieces. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "store/local/local.h"

struct cubed_store_pieces {
    local_store *store;
    int fd;                              /* -1: closed */
    int failed;                          /* errno of closing the file: written data may be lost */
    char path[PATH_MAX], temp[PATH_MAX]; /* temp: "" once the file has been renamed to the object */
};

cubed_status cb_local_begin_pieces(cubed_store *store, const char *key, cubed_store_pieces **out,
                                   cubed_error *err)
{
    cubed_store_pieces *pieces = cb_alloc_zero(store->alloc, sizeof *pieces);
    if (!pieces) return cb_fail(err, CUBED_E_NOMEM, "no memory to write %s", key);
    pieces->store = (local_store *)store;
    cubed_status st = cb_local_path(pieces->store, key, pieces->path, err);
    if (st == CUBED_OK)
        st = cb_local_create(pieces->store, pieces->path, true, pieces->temp, &pieces->fd, err);
    if (st != CUBED_OK)
        cb_free(store->alloc, pieces, sizeof *pieces);
    else
        *out = pieces;
    return st;
}

cubed_status cb_local_put_piece(cubed_store_pieces *pieces, uint64_t offset, const void *src,
                                size_t size, cubed_error *err)
{
    const int e = cb_local_write_at(pieces->fd, offset, src, size);
    return e ? cb_fail_errno(err, e, "cannot write %s", pieces->path) : CUBED_OK;
}

cubed_status cb_local_end_pieces(cubed_store_pieces *pieces, cubed_error *err)
{
    cubed_object_info info;
    int e = pieces->failed;
    if (pieces->fd >= 0) {
        e = pieces->failed = cb_local_close_written(pieces->store, pieces->fd, &info);
        pieces->fd = -1;
    }
    if (e == 0 && *pieces->temp) {
        e = cb_local_rename(pieces->store, pieces->temp, pieces->path);
        if (e == 0) *pieces->temp = 0;
    }
    if (e == 0 && pieces->store->durable) e = cb_local_sync_parent(pieces->store, pieces->path);
    return e ? cb_fail_errno(err, e, "cannot write %s", pieces->path) : CUBED_OK;
}

void cb_local_free_pieces(cubed_store_pieces *pieces)
{
    const local_store *s = pieces->store;
    if (pieces->fd >= 0) close(pieces->fd);
    if (*pieces->temp) unlinkat(s->dir, cb_local_at(s, pieces->temp), 0);
    cb_free(s->head.alloc, pieces, sizeof *pieces);
}
