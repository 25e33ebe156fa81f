/* The codecs that a context knows: the library's own, and those that a program has added. */
#ifndef CB_CODEC_REGISTRY_H
#define CB_CODEC_REGISTRY_H

#include <stdatomic.h>

#include "base/alloc.h"
#include "cubed/sys/codec.h"

/* Codecs that were added are never taken away: readers need no lock. */
typedef struct cb_added_codec {
    const cubed_codec_vtable *vt;
    struct cb_added_codec *next;
} cb_added_codec;

typedef struct cb_codecs {
    _Atomic(cb_added_codec *) added;
} cb_codecs;

CUBED_MUST_CHECK cubed_status cb_codecs_add(cb_codecs *codecs, const cubed_allocator *a,
                                            const cubed_codec_vtable *vt, cubed_error *err);
void cb_codecs_free(cb_codecs *codecs, const cubed_allocator *a);
/* The codec of that name in a format. CUBED_E_UNSUPPORTED if there is none, with the names that there are; `role` is
 * what it is in the document `where`. `codecs` NULL: the library's own. */
CUBED_MUST_CHECK cubed_status cb_codecs_find(const cb_codecs *codecs, const char *where,
                                             const char *role, int format, const char *name,
                                             const cubed_codec_vtable **out, cubed_error *err);

#endif
