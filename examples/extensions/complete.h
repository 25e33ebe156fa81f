/* What complete.c is linked with, and what both need. */
#ifndef COMPLETE_H
#define COMPLETE_H

#include <stdio.h>

#include <cubed/cubed.h>
#include <cubed/sys/codec.h>
#include <cubed/sys/store.h>

extern const cubed_codec_vtable runs_codec; /* codec.c */
extern const cubed_store_vtable kept_store; /* store.c */

/* Says "WHAT: WHY" in the error, if there is one, and returns the status. */
static inline cubed_status fail(cubed_error *err, cubed_status status, const char *what,
                                const char *why)
{
    if (!err) return status;
    *err = (cubed_error){.status = status};
    snprintf(err->message, sizeof err->message, "%s: %s", what, why);
    return status;
}

#endif
