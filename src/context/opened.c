#include "context/opened.h"

#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/mix.h"
#include "store/local/local_map.h"

cubed_status cb_opened_new(const cubed_allocator *a, cb_opened **out, cubed_error *err)
{
    cb_opened *x = cb_alloc_zero(a, sizeof *x);
    if (!x) return cb_fail(err, CUBED_E_NOMEM, "no memory to open an array");
    atomic_init(&x->users, 1);
    x->alloc = a;
    *out = x;
    return CUBED_OK;
}

void cb_opened_ref(cb_opened *x) { atomic_fetch_add_explicit(&x->users, 1, memory_order_relaxed); }

void cb_opened_unref(cb_opened *x)
{
    if (!x || atomic_fetch_sub_explicit(&x->users, 1, memory_order_acq_rel) != 1) return;
    cb_zarr_close(x->array);
    cb_store_close(x->store);
    cb_free(x->alloc, x, sizeof *x);
}

static uint64_t add_text(uint64_t h, const char *text)
{
    for (; *text; text++) h = cb_fnv_add(h, (unsigned char)*text);
    return cb_fnv_add(h, 0);
}

static size_t slot_of(const char *store, const char *path)
{
    return (size_t)(cb_mix(add_text(add_text(CB_FNV_START, store), path)) % CB_OPENED_KEPT);
}

/* Gets the info of the metadata. Opens the file, because otherwise network file systems may answer from a cache. */
static cubed_status look(const cb_opened *x, cubed_object_info *out)
{
    char key[4096], byte;
    cubed_range first = {0, 1};
    const bool v3 = cb_zarr_get_meta(x->array)->format == 3;
    CB_TRY(
        cb_key_join(key, sizeof key, cb_zarr_path(x->array), v3 ? "zarr.json" : ".zarray", NULL));
    cubed_store_request r = {
        .op = CUBED_STORE_GET, .key = key, .ranges = &first, .nranges = 1, .dst = &byte, .cap = 1};
    CB_TRY(cb_store_do(x->store, &r, NULL));
    *out = r.info;
    return CUBED_OK;
}

/* Returns true if the metadata still has the version that was opened, and is still the metadata of the array. A zarr.json next to
 * a .zarray, as migrations to format 3 leave it, takes precedence. */
static bool is_current(const cb_opened *x, cubed_object_info *info)
{
    cubed_object_version now;
    if (look(x, info) != CUBED_OK) return false;
    cb_zarr_set_version(info, &now);
    if (!cb_version_equal(&now, cb_zarr_opened_version(x->array))) return false;
    return cb_zarr_get_meta(x->array)->format == 3 ||
           (cb_zarr_version(x->store, cb_zarr_path(x->array), 3, &now, NULL) == CUBED_OK &&
            cb_version_is_none(&now));
}

cb_opened *cb_opened_take(cb_opened_list *l, const char *store, const char *path)
{
    _Atomic(cb_opened *) *slot = &l->kept[slot_of(store, path)];
    cubed_object_info info;
    cb_opened *none = NULL, *x = atomic_exchange(slot, NULL);
    if (!x) return NULL;
    const bool same =
        strcmp(x->store->url, store) == 0 && strcmp(cb_zarr_path(x->array), path) == 0;
    if (same && !is_current(x, &info)) {
        cb_opened_unref(x);
        return NULL;
    }
    if (same) cb_opened_ref(x);
    /* if another plan has filled the slot in the meantime, the array of that plan stays */
    if (!atomic_compare_exchange_strong(slot, &none, x)) cb_opened_unref(x);
    return same ? x : NULL;
}

void cb_opened_keep(cb_opened_list *l, cb_opened *x)
{
    cubed_object_info info;
    if (!cb_store_has_files(x->store) || cb_zarr_bytes(x->array) > CB_OPENED_BYTES ||
        !is_current(x, &info) || info.modified + CB_OPENED_AGE > (int64_t)time(NULL))
        return;
    cb_opened_ref(x);
    cb_opened_unref(atomic_exchange(&l->kept[slot_of(x->store->url, cb_zarr_path(x->array))], x));
}

void cb_opened_drop(cb_opened_list *l)
{
    for (int i = 0; i < CB_OPENED_KEPT; i++) cb_opened_unref(atomic_exchange(&l->kept[i], NULL));
}
