/* Sources whose regions a function reads (cubed/sys/source.h). */
#ifndef CB_PLAN_SOURCE_H
#define CB_PLAN_SOURCE_H

#include "base/alloc.h"
#include "context/context.h"
#include "cubed/sys/source.h"
#include "plan/geom.h"

/* The source of a READER node, in the zone of its array or of the loaded plan. */
typedef struct cb_source {
    const cubed_source_fn *fn;
    void *handle;
    uint64_t token;     /* identifies the source; part of the ID of plans */
    const char *name;   /* name of `fn` */
    const void *params; /* parameters to open the source of a loaded plan */
    size_t params_size;
    bool opened; /* opened by a loaded plan, which closes it */
} cb_source;

/* Returns a number that no other source is likely to have, in this process or elsewhere. */
uint64_t cb_source_token(const void *handle);
/* Finds the function that a plan names. */
CUBED_MUST_CHECK cubed_status cb_source_find(const cubed_context *ctx, cb_source *s,
                                             cubed_error *err);
/* Opens the source that a loaded plan names. */
CUBED_MUST_CHECK cubed_status cb_source_open(const cubed_context *ctx, cb_source *s,
                                             cubed_error *err);
/* Appends the bytes from which cb_source_open opens the source. */
CUBED_MUST_CHECK cubed_status cb_source_save(const cb_source *s, cb_buf *out, cubed_error *err);
/* Returns the library memory of a read of `size` bytes. */
size_t cb_source_need(const cb_source *s, size_t size);
/* Reads a box within the array to `dst`. */
CUBED_MUST_CHECK cubed_status cb_source_read(const cb_source *s, const cb_box *box,
                                             const int64_t *strides, void *dst, cubed_error *err);

#endif
