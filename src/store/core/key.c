/* Checks and joins keys of objects, which are relative paths. */
#include <string.h>

#include "base/error.h"
#include "store/core/store.h"

cubed_status cb_key_check(const char *key, cubed_error *err)
{
    const char *p = key;
    for (;;) {
        size_t n = strcspn(p, "/");
        if (n == 0 || (n == 1 && p[0] == '.') || (n == 2 && p[0] == '.' && p[1] == '.'))
            return cb_fail(err, CUBED_E_ARG,
                           "key \"%s\" is not a relative path without empty, \".\" or \"..\" parts",
                           key);
        if (p[n] == 0) return CUBED_OK;
        p += n + 1;
    }
}

cubed_status cb_key_join(char *out, size_t cap, const char *a, const char *b, cubed_error *err)
{
    size_t na = strlen(a), nb = strlen(b), sep = na && nb ? 1 : 0;
    if (na + sep + nb + 1 > cap)
        return cb_fail(err, CUBED_E_ARG, "the key \"%s/%s\" is longer than %zu bytes", a, b,
                       cap - 1);
    memmove(out, a, na);
    if (sep) out[na] = '/';
    memcpy(out + na + sep, b, nb + 1);
    return out[0] ? cb_key_check(out, err) : CUBED_OK;
}
