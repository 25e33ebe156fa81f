#include "base/struct_size.h"

#include <string.h>

#include "base/error.h"

cubed_status cb_options_take(const char *name, const void *given, void *out, size_t size,
                             size_t least, cubed_error *err)
{
    size_t given_size;
    if (!given) return CUBED_OK;
    memcpy(&given_size, given, sizeof given_size);
    if (given_size < least || given_size > size)
        return cb_fail(err, CUBED_E_ARG,
                       "%s: options.struct_size is %zu, expected %zu: set the options with their "
                       "_INIT macro, of the headers of libcubed %s",
                       name, given_size, size, CUBED_VERSION_STRING);
    memcpy(out, given, given_size);
    memcpy(out, &size, sizeof size);
    return CUBED_OK;
}
