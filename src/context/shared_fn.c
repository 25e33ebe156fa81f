/* Block functions in shared objects: "/path/to/kernels.so:symbol" in plans.
 *
 * An opened object is never unloaded, because its functions may be called as long as any plan exists. */
#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "context/context.h"

bool cb_block_fn_is_shared(const char *name) { return strchr(name, ':') != NULL; }

cubed_status cb_shared_block_fn_name(cb_zone *zone, const char *library, const char *symbol,
                                     const char **out, cubed_error *err)
{
    char path[PATH_MAX];
    if (!realpath(library, path))
        return cb_fail(err, CUBED_E_NOT_FOUND, "cannot find shared object \"%s\"", library);
    if (strchr(path, ':') || strchr(symbol, ':'))
        return cb_fail(err, CUBED_E_ARG,
                       "shared object \"%s\", symbol \"%s\": neither name may contain ':'", path,
                       symbol);
    size_t length = strlen(path), size = length + strlen(symbol) + 2;
    char *name = cb_zone_alloc(zone, size);
    if (!name) return cb_fail(err, CUBED_E_NOMEM, "no memory for an operation");
    memcpy(name, path, length);
    name[length] = ':';
    memcpy(name + length + 1, symbol, size - length - 1);
    *out = name;
    return CUBED_OK;
}

cubed_status cb_shared_block_fn(const cubed_context *ctx, const char *name,
                                const cubed_block_fn **out, cubed_error *err)
{
    const char *colon = strrchr(name, ':');
    size_t length = (size_t)(colon - name);
    char *path = cb_alloc(&ctx->alloc, length + 1);
    if (!path) return cb_fail(err, CUBED_E_NOMEM, "no memory for the path of a shared object");
    memcpy(path, name, length);
    path[length] = '\0';
    void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    cubed_status st = CUBED_OK;
    if (!object) {
        const char *why = dlerror();
        st = cb_fail(err, CUBED_E_UNSUPPORTED, "the shared object \"%s\" cannot be opened: %s",
                     path, why ? why : "no reason is given");
    } else {
        const cubed_block_fn *fn = dlsym(object, colon + 1);
        if (fn)
            st = cb_check_made_for(name, fn->struct_size, sizeof *fn, fn->version,
                                   CUBED_BLOCK_VERSION, err);
        if (st == CUBED_OK && (!fn || !fn->name || !fn->run))
            st = cb_fail(err, CUBED_E_UNSUPPORTED,
                         "the shared object \"%s\" has no function on blocks \"%s\"", path,
                         colon + 1);
        *out = fn;
        dlclose(object);
    }
    cb_free(&ctx->alloc, path, length + 1);
    return st;
}
