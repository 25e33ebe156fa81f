#include "codec/codec_registry.h"

#include <stddef.h>
#include <string.h>

#include "codec/codec_pkg.h"

static const cubed_codec_vtable *const own[] = {
#define CUBED_CODEC(name) &cb_codec_##name,
#include "codec/codecs.def"
#undef CUBED_CODEC
};
enum { NOWN = (int)(sizeof own / sizeof *own) };

static const char *name_in(const cubed_codec_vtable *vt, int format)
{
    return format == 2 ? vt->name_v2 : vt->name;
}

static bool is_called(const cubed_codec_vtable *vt, int format, const char *name)
{
    const char *its = name_in(vt, format);
    return its && strcmp(its, name) == 0;
}

/* Maps numcodecs' names to the names of the specification, for codecs that have both in format 3. */
static const char *proper_name(int format, const char *name)
{
    static const char *const known[] = {"numcodecs.zstd", "numcodecs.blosc", "numcodecs.gzip",
                                        "numcodecs.crc32c"};
    for (size_t i = 0; i < sizeof known / sizeof *known && format == 3; i++) {
        if (strcmp(known[i], name) == 0) return strchr(name, '.') + 1;
    }
    return name;
}

/* Finds the codec with a name. Returns NULL if there is none. */
static const cubed_codec_vtable *find(const cb_codecs *codecs, int format, const char *name)
{
    if (!name) return NULL;
    name = proper_name(format, name);
    for (int i = 0; i < NOWN; i++) {
        if (is_called(own[i], format, name)) return own[i];
    }
    for (const cb_added_codec *a = codecs ? atomic_load(&codecs->added) : NULL; a; a = a->next) {
        if (is_called(a->vt, format, name)) return a->vt;
    }
    return NULL;
}

cubed_status cb_codecs_find(const cb_codecs *codecs, const char *where, const char *role,
                            int format, const char *name, const cubed_codec_vtable **out,
                            cubed_error *err)
{
    *out = find(codecs, format, name);
    if (*out) return CUBED_OK;
    cubed_status st = cb_fail(err, CUBED_E_UNSUPPORTED,
                              "%s: %s \"%s\" is not supported; there are:", where, role, name);
    if (!err) return st;
    for (int i = 0; i < NOWN; i++) {
        if (name_in(own[i], format)) cb_note(err, " %s", name_in(own[i], format));
    }
    for (const cb_added_codec *a = codecs ? atomic_load(&codecs->added) : NULL; a; a = a->next) {
        if (name_in(a->vt, format)) cb_note(err, " %s", name_in(a->vt, format));
    }
#ifndef CB_HAVE_ZFP
    if (strcmp(name, format == 2 ? "zfpy" : "numcodecs.zfpy") == 0)
        cb_note(err, " (built without libzfp, as wheels are)");
#endif
#ifndef CB_HAVE_PCODEC
    if (strcmp(name, format == 2 ? "pcodec" : "numcodecs.pcodec") == 0)
        cb_note(err, " (built without pco: with CUBED_PCODEC cargo 1.87 or later builds it; wheels "
                     "are without)");
#endif
    return st;
}

_Static_assert(offsetof(cubed_codec_vtable, version) == sizeof(size_t) &&
                   offsetof(cubed_codec_vtable, name) == sizeof(size_t) + 8,
               "version and name are where those of version 1 are");

static cubed_status check(const cubed_codec_vtable *vt, cubed_error *err)
{
    /* Functions of version 1 have other arguments. `name` has the same offset in both versions. */
    if (vt->version == 1)
        return cb_fail(
            err, CUBED_E_ARG,
            "codec \"%s\" is of version 1 of cubed/sys/codec.h, expected version %d: "
            "change its functions as docs/how-to/own-codec.md describes, and compile it with "
            "the headers "
            "of libcubed %s",
            vt->name ? vt->name : "", CUBED_CODEC_VERSION, CUBED_VERSION_STRING);
    CB_TRY(cb_check_made_for("a codec's vtable", vt->struct_size, sizeof *vt, vt->version,
                             CUBED_CODEC_VERSION, err));
    if (!vt->name || !*vt->name || (vt->name_v2 && !*vt->name_v2))
        return cb_fail(err, CUBED_E_ARG,
                       "a codec needs a name of format 3, and a name of format 2 or NULL");
    if (!vt->parse || !vt->print || !vt->bound || !vt->decode_need || !vt->encode_need ||
        !vt->decode || !vt->encode)
        return cb_fail(err, CUBED_E_ARG,
                       "codec \"%s\" needs parse, print, bound, decode_need, encode_need, decode "
                       "and encode",
                       vt->name);
    if (!vt->decode_runs != !vt->range_need || !vt->decode_runs != !vt->locate)
        return cb_fail(err, CUBED_E_ARG,
                       "codec \"%s\" defines only some of decode_runs, range_need and locate, "
                       "expected all three or none",
                       vt->name);
    if (vt->block_bound && !vt->locate)
        return cb_fail(err, CUBED_E_ARG, "codec \"%s\" has a block_bound, but no locate", vt->name);
    if (vt->kind != CUBED_CODEC_BYTES_TO_BYTES && vt->kind != CUBED_CODEC_ARRAY_TO_ARRAY &&
        vt->kind != CUBED_CODEC_ARRAY_TO_BYTES)
        return cb_fail(err, CUBED_E_ARG, "codec \"%s\" is of kind %d, expected a cubed_codec_kind",
                       vt->name, (int)vt->kind);
    return CUBED_OK;
}

cubed_status cb_codecs_add(cb_codecs *codecs, const cubed_allocator *a,
                           const cubed_codec_vtable *vt, cubed_error *err)
{
    CB_TRY(check(vt, err));
    cb_added_codec *added = cb_alloc_zero(a, sizeof *added);
    if (!added) return cb_fail(err, CUBED_E_NOMEM, "no memory for a codec");
    added->vt = vt;
    added->next = atomic_load(&codecs->added);
    /* Retry if another thread has added a codec in the meantime. */
    while (!find(codecs, 3, vt->name) && !find(codecs, 2, vt->name_v2)) {
        if (atomic_compare_exchange_weak(&codecs->added, &added->next, added)) return CUBED_OK;
    }
    cb_free(a, added, sizeof *added);
    return cb_fail(err, CUBED_E_EXISTS, "a codec \"%s\" exists already",
                   find(codecs, 3, vt->name) ? vt->name : vt->name_v2);
}

void cb_codecs_free(cb_codecs *codecs, const cubed_allocator *a)
{
    cb_added_codec *next, *added = atomic_load(&codecs->added);
    for (; added; added = next) {
        next = added->next;
        cb_free(a, added, sizeof *added);
    }
}
