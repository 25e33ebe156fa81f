/* Marks of unfinished runs. Chunks of an array that has no metadata yet are worth something to the
 * run that wrote them only: the mark beside them says which one that is. */
#include <string.h>

#include "zarr/zarr_pkg.h"

/* Not a key of Zarr: readers pass over it, and so does the counting of chunks. */
#define MARK ".cubed-run"

bool cb_zarr_is_mark(const char *name) { return strcmp(name, MARK) == 0; }

cubed_status cb_zarr_put_mark(cubed_store *store, const char *path, const char *id,
                              cubed_error *err)
{
    char key[4096];
    CB_TRY(cb_key_join(key, sizeof key, path, MARK, err));
    return cb_store_put(store, key, id, strlen(id), err);
}

cubed_status cb_zarr_get_mark(cubed_store *store, const char *path, char id[CB_ZARR_MARK_CAP],
                              cubed_error *err)
{
    char key[4096];
    size_t got = 0;
    cubed_error why = CUBED_ERROR_INIT;
    CB_TRY(cb_key_join(key, sizeof key, path, MARK, err));
    cubed_status st = cb_store_get(store, key, 0, id, CB_ZARR_MARK_CAP - 1, &got, &why);
    id[st == CUBED_OK ? got : 0] = 0;
    if (st == CUBED_OK || st == CUBED_E_NOT_FOUND) return CUBED_OK;
    if (err) *err = why;
    return st;
}

cubed_status cb_zarr_del_mark(cubed_store *store, const char *path, cubed_error *err)
{
    char key[4096];
    CB_TRY(cb_key_join(key, sizeof key, path, MARK, err));
    return cb_store_del(store, key, err);
}
