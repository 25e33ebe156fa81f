/* Registry of the codecs of a context: built-in codecs, and codecs added by the program. */
#ifndef CB_CODEC_REGISTRY_H
#define CB_CODEC_REGISTRY_H

#include <stdatomic.h>

#include "base/alloc.h"
#include "cubed/sys/codec.h"

/* An added codec, in a list. Codecs are never removed from the list, so readers need no lock. */
typedef struct cb_added_codec {
    const cubed_codec_vtable *vt;
    struct cb_added_codec *next;
} cb_added_codec;

/* The codecs of a context. */
typedef struct cb_codecs {
    _Atomic(cb_added_codec *) added;
} cb_codecs;

/* Adds a codec, which must not be freed. CUBED_E_EXISTS if a codec has one of its names. Thread-safe. */
CUBED_MUST_CHECK cubed_status cb_codecs_add(cb_codecs *codecs, const cubed_allocator *a,
                                            const cubed_codec_vtable *vt, cubed_error *err);
void cb_codecs_free(cb_codecs *codecs, const cubed_allocator *a);
/* Finds the codec with this name in a Zarr format. `codecs` NULL: built-in codecs only. CUBED_E_UNSUPPORTED if the name is
 * unknown: the message uses `where` (the document) and `role` ("codec", "filter"), and lists the known names. */
CUBED_MUST_CHECK cubed_status cb_codecs_find(const cb_codecs *codecs, const char *where,
                                             const char *role, int format, const char *name,
                                             const cubed_codec_vtable **out, cubed_error *err);

#endif
