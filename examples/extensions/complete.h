/* Declares the codec and the store that complete.c is linked with, and a function that all three files use. */
#ifndef COMPLETE_H
#define COMPLETE_H

#include <stdio.h>

#include <cubed/cubed.h>
#include <cubed/sys/codec.h>
#include <cubed/sys/store.h>

extern const cubed_codec_vtable runs_codec; /* codec.c */
extern const cubed_store_vtable kept_store; /* store.c */

/* Sets the message of the error to "WHAT: WHY" unless `err` is NULL. Returns the status. */
static inline cubed_status fail(cubed_error *err, cubed_status status, const char *what,
                                const char *why)
{
    if (!err) return status;
    *err = (cubed_error){.status = status};
    snprintf(err->message, sizeof err->message, "%s: %s", what, why);
    return status;
}

#endif
