#include "files/grib_message.h"

#include <math.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"

uint64_t cb_grib_number(const uint8_t *at, int n)
{
    uint64_t v = 0;
    for (int i = 0; i < n; i++) v = v << 8 | at[i];
    return v;
}

static void put_number(uint8_t *at, uint64_t v, int n)
{
    for (int i = n - 1; i >= 0; i--, v >>= 8) at[i] = (uint8_t)v;
}

/* Reads a number of n bytes whose highest bit is the sign. */
static int64_t signed_number(const uint8_t *at, int n)
{
    const uint64_t v = cb_grib_number(at, n), sign = (uint64_t)1 << (8 * n - 1);
    return v & sign ? -(int64_t)(v & ~sign) : (int64_t)v;
}

static cubed_status bad(cubed_error *err, const char *what)
{
    return cb_fail(err, CUBED_E_FORMAT, "malformed GRIB message: %s", what);
}

static cubed_status get(const cb_grib_source *s, uint64_t offset, void *dst, size_t n,
                        cubed_error *err)
{
    if (offset > s->size || n > s->size - offset) return bad(err, "it is truncated");
    return s->read(s->ctx, offset, dst, n, err);
}

/* --- Sections ----------------------------------------------------------------------------------------- */

/* Reads the length of a section of edition 1, which must be at least `least` bytes. */
static cubed_status length1(const cb_grib_source *s, uint64_t at, uint64_t least, uint64_t *out,
                            cubed_error *err)
{
    uint8_t b[3];
    CB_TRY(get(s, at, b, sizeof b, err));
    *out = cb_grib_number(b, 3);
    return *out < least ? bad(err, "the length of a section") : CUBED_OK;
}

/* Finds the sections of edition 1 in front of the data. *at is the position of the data section. */
static cubed_status front1(const cb_grib_source *s, cb_grib_field *f, uint64_t *at,
                           cubed_error *err)
{
    uint8_t flags;
    uint64_t n;
    *at = 8;
    f->section[0] = (cb_grib_section){0, 8};
    CB_TRY(length1(s, *at, 28, &n, err));
    f->section[1] = (cb_grib_section){*at, n};
    CB_TRY(get(s, *at + 7, &flags, 1, err));
    *at += n;
    if (flags & 0x80) {
        CB_TRY(length1(s, *at, 6, &n, err));
        f->section[2] = (cb_grib_section){*at, n};
        *at += n;
    }
    if (flags & 0x40) {
        CB_TRY(length1(s, *at, 6, &n, err));
        f->section[3] = (cb_grib_section){*at, n};
        *at += n;
    }
    return CUBED_OK;
}

/* Messages of edition 1 whose length does not fit into 24 bits contain the length in units of 120 bytes. The length of the data
 * section is then the number of bytes that fill the last unit. This is a convention of ECMWF. */
static bool is_large1(uint64_t stated, uint64_t data) { return stated & 0x800000 && data < 120; }

static cubed_status measure1(const cb_grib_source *s, uint64_t stated, uint64_t *size,
                             cubed_error *err)
{
    cb_grib_field f = {.edition = 1};
    uint64_t at, n;
    *size = stated;
    if (!(stated & 0x800000)) return CUBED_OK;
    CB_TRY(front1(s, &f, &at, err));
    CB_TRY(length1(s, at, 0, &n, err));
    if (is_large1(stated, n)) *size = (stated & 0x7fffff) * 120 - n + 4;
    return CUBED_OK;
}

cubed_status cb_grib_measure(const cb_grib_source *s, uint64_t *size, cubed_error *err)
{
    uint8_t b[CB_GRIB_BEGIN], end[CB_GRIB_END];
    CB_TRY(get(s, 0, b, sizeof b, err));
    if (memcmp(b, "GRIB", 4) != 0) return bad(err, "it does not begin with \"GRIB\"");
    if (b[7] == 1)
        CB_TRY(measure1(s, cb_grib_number(b + 4, 3), size, err));
    else if (b[7] == 2)
        *size = cb_grib_number(b + 8, 8);
    else
        return cb_fail(err, CUBED_E_UNSUPPORTED, "GRIB edition %d, expected 1 or 2", b[7]);
    if (*size < (uint64_t)2 * CB_GRIB_BEGIN) return bad(err, "its length");
    if (*size > s->size)
        return cb_fail(
            err, CUBED_E_FORMAT,
            "the length of the GRIB message is %llu bytes, but the file ends after %llu: it is "
            "truncated, so copy it again",
            (unsigned long long)*size, (unsigned long long)s->size);
    CB_TRY(get(s, *size - CB_GRIB_END, end, sizeof end, err));
    return memcmp(end, "7777", sizeof end) == 0 ? CUBED_OK : bad(err, "\"7777\" is not at its end");
}

static cubed_status each_field1(const cb_grib_source *s, cb_grib_field *f, cb_grib_field_fn fn,
                                void *ctx, cubed_error *err)
{
    uint8_t begin[8];
    uint64_t at, n;
    CB_TRY(get(s, 0, begin, sizeof begin, err));
    CB_TRY(front1(s, f, &at, err));
    CB_TRY(length1(s, at, 0, &n, err));
    const uint64_t left = s->size > at + CB_GRIB_END ? s->size - CB_GRIB_END - at : 0;
    if (is_large1(cb_grib_number(begin + 4, 3), n)) n = left;
    if (n < 11 || n > left) return bad(err, "the length of the data");
    f->section[4] = (cb_grib_section){at, n};
    return fn(ctx, f, err);
}

/* Reads the first bytes of section 3 or 6 of edition 2, whose position is in f->section. Section 3 has the number of points. If
 * section 6 has a bitmap, *bitmap receives its position. If section 6 refers to the earlier bitmap, f->section receives the
 * position of that bitmap, *bitmap. */
static cubed_status note_section2(const cb_grib_source *s, cb_grib_field *f, int number,
                                  cb_grib_section *bitmap, cubed_error *err)
{
    uint8_t b[10];
    cb_grib_section *x = &f->section[number];
    if (number == 3) {
        if (x->size < 14) return bad(err, "the length of section 3");
        CB_TRY(get(s, x->offset, b, sizeof b, err));
        f->points = cb_grib_number(b + 6, 4);
    }
    if (number != 6) return CUBED_OK;
    if (x->size < 6) return bad(err, "the length of section 6");
    CB_TRY(get(s, x->offset, b, 6, err));
    if (b[5] == 0) *bitmap = *x;
    if (b[5] == 254 && bitmap->size == 0)
        return bad(err, "it refers to an earlier bitmap, and has none");
    if (b[5] == 254) *x = *bitmap;
    if (b[5] > 0 && b[5] < 254)
        return cb_fail(
            err, CUBED_E_UNSUPPORTED,
            "the GRIB message uses the predefined bitmap %d of its centre, expected a bitmap "
            "in the message",
            b[5]);
    f->has_bitmap = b[5] != 255;
    return CUBED_OK;
}

/* Returns true if section `number` may follow section `last`. For each field, sections 2 to 7, 3 to 7 or 4 to 7 are repeated. */
static bool may_follow(int number, int last)
{
    if (last == 7) return number >= 2 && number <= 4;
    return number == last + 1 || (last == 1 && number == 3);
}

static cubed_status each_field2(const cb_grib_source *s, cb_grib_field *f, cb_grib_field_fn fn,
                                void *ctx, cubed_error *err)
{
    cb_grib_section bitmap = {0, 0};
    uint8_t b[5];
    int last = 0;
    uint64_t at = CB_GRIB_BEGIN;
    f->section[0] = (cb_grib_section){0, CB_GRIB_BEGIN};
    while (at + CB_GRIB_END < s->size) {
        CB_TRY(get(s, at, b, sizeof b, err));
        const uint64_t n = cb_grib_number(b, 4);
        const int number = b[4];
        if (number < 1 || number > 7 || !may_follow(number, last))
            return bad(err, "the order of its sections");
        if (n < 5 || n > s->size - CB_GRIB_END - at) return bad(err, "the length of a section");
        f->section[number] = (cb_grib_section){at, n};
        CB_TRY(note_section2(s, f, number, &bitmap, err));
        last = number;
        at += n;
        if (number != 7) continue;
        for (int i = 3; i < 7; i++) {
            if (f->section[i].size == 0) return bad(err, "a section is missing");
        }
        CB_TRY(fn(ctx, f, err));
        f->number++;
    }
    return last == 7 ? CUBED_OK : bad(err, "it ends before its data");
}

cubed_status cb_grib_each_field(const cb_grib_source *s, cb_grib_field_fn fn, void *ctx,
                                cubed_error *err)
{
    uint64_t size;
    uint8_t b[8];
    CB_TRY(cb_grib_measure(s, &size, err));
    const cb_grib_source message = {s->read, s->ctx, size};
    CB_TRY(get(s, 0, b, sizeof b, err));
    cb_grib_field f = {.edition = b[7], .size = size};
    return (b[7] == 1 ? each_field1 : each_field2)(&message, &f, fn, ctx, err);
}

typedef struct search {
    uint32_t number;
    cb_grib_field *out;
    bool found;
} search;

static cubed_status take_field(void *ctx, const cb_grib_field *field, cubed_error *err)
{
    search *x = ctx;
    (void)err;
    if (field->number != x->number) return CUBED_OK;
    *x->out = *field;
    x->found = true;
    return CUBED_OK;
}

cubed_status cb_grib_find_field(const cb_grib_source *s, uint32_t number, cb_grib_field *out,
                                cubed_error *err)
{
    search x = {.number = number, .out = out};
    CB_TRY(cb_grib_each_field(s, take_field, &x, err));
    return x.found ? CUBED_OK : bad(err, "it has fewer fields than when the file was opened");
}

/* --- Messages with one field -------------------------------------------------------------------------- */

/* Sections of a header message, whose values are all 0 on the field's grid. With it, ecCodes can find the points of the grid
 * without reading the data. */
static const uint8_t constant1[11] = {0, 0, 11};
enum { SECTION5 = 21, SECTION6 = 6, SECTION7 = 5 };

size_t cb_grib_header_size(const cb_grib_field *f)
{
    size_t n = CB_GRIB_END;
    for (int i = 0; i <= (f->edition == 1 ? 2 : 4); i++)
        n = cb_sat_add(n, (size_t)f->section[i].size);
    return cb_sat_add(n, f->edition == 1 ? sizeof constant1 : SECTION5 + SECTION6 + SECTION7);
}

static cubed_status copy_section(const cb_grib_source *s, cb_grib_section x, uint8_t **dst,
                                 cubed_error *err)
{
    if (x.size == 0) return CUBED_OK;
    CB_TRY(get(s, x.offset, *dst, (size_t)x.size, err));
    *dst += x.size;
    return CUBED_OK;
}

/* Ends a message that begins at `dst`, and writes its length. */
static void end_message(const cb_grib_field *f, uint8_t *dst, uint8_t *end)
{
    memcpy(end, "7777", CB_GRIB_END);
    const uint64_t n = (uint64_t)(end + CB_GRIB_END - dst);
    if (f->edition == 1)
        put_number(dst + 4, n, 3);
    else
        put_number(dst + 8, n, 8);
}

cubed_status cb_grib_header(const cb_grib_source *s, const cb_grib_field *f, uint8_t *dst,
                            cubed_error *err)
{
    static const uint8_t constant2[SECTION5 + SECTION6 + SECTION7] = {
        [3] = SECTION5,
        [4] = 5,
        [SECTION5 + 3] = SECTION6,
        [SECTION5 + 4] = 6,
        [SECTION5 + 5] = 255,
        [SECTION5 + SECTION6 + 3] = SECTION7,
        [SECTION5 + SECTION6 + 4] = 7};
    uint8_t *at = dst;
    for (int i = 0; i <= (f->edition == 1 ? 2 : 4); i++)
        CB_TRY(copy_section(s, f->section[i], &at, err));
    if (f->edition == 1) {
        dst[f->section[1].offset + 7] &= 0xbf; /* no bitmap */
        memcpy(at, constant1, sizeof constant1);
        at += sizeof constant1;
    } else {
        memcpy(at, constant2, sizeof constant2);
        put_number(at + 5, f->points, 4);
        at += sizeof constant2;
    }
    end_message(f, dst, at);
    return CUBED_OK;
}

cubed_status cb_grib_alone(const cb_grib_source *s, const cb_grib_field *f, uint8_t *dst,
                           size_t *got, cubed_error *err)
{
    uint8_t *at = dst;
    if (f->edition == 1) {
        *got = (size_t)f->size;
        return get(s, 0, dst, (size_t)f->size, err);
    }
    for (int i = 0; i <= 7; i++) CB_TRY(copy_section(s, f->section[i], &at, err));
    end_message(f, dst, at);
    *got = (size_t)(at + CB_GRIB_END - dst);
    return CUBED_OK;
}

/* --- Values ------------------------------------------------------------------------------------------- */

cubed_status cb_grib_packing_of(const cb_grib_source *s, const cb_grib_field *f,
                                cb_grib_packing *out, cubed_error *err)
{
    uint8_t b[21];
    *out = (cb_grib_packing){false, 0};
    if (f->edition == 1) {
        CB_TRY(get(s, f->section[4].offset, b, 11, err));
        out->bits = b[10];
        /* The four flags must be 0: spherical harmonics, complex or second-order packing, integers, further flags. */
        out->simple = (b[3] & 0xf0) == 0 && b[10] <= 32;
        return CUBED_OK;
    }
    const uint64_t n = f->section[5].size;
    if (n < 11) return bad(err, "the length of section 5");
    CB_TRY(get(s, f->section[5].offset, b, n < sizeof b ? (size_t)n : sizeof b, err));
    const uint64_t template = cb_grib_number(b + 9, 2);
    /* The mantissas of IEEE formats. */
    if (template == 4 && n >= 12) out->bits = b[11] == 1 ? 24 : b[11] == 2 ? 53 : 113;
    if (n < 21 || template == 4) return CUBED_OK;
    out->bits = b[19];
    out->simple = template == 0 && b[19] <= 32;
    return CUBED_OK;
}

/* The data of a message: numbers that are packed in `width` bits each, and a bitmap that marks missing values. */
typedef struct packed {
    const uint8_t *bits, *bitmap; /* bitmap NULL: no value is missing */
    uint64_t nbits, nbitmap;      /* sizes in bits */
    double reference, factor, decimal;
    int width;
} packed;

/* Reads a number in the format of IBM System/360. */
static double ibm_number(const uint8_t *at)
{
    const double v = ldexp((double)cb_grib_number(at + 1, 3), 4 * ((at[0] & 0x7f) - 64) - 24);
    return at[0] & 0x80 ? -v : v;
}

static double ieee_number(const uint8_t *at)
{
    const uint32_t bits = (uint32_t)cb_grib_number(at, 4);
    float v;
    memcpy(&v, &bits, sizeof v);
    return (double)v;
}

/* Returns ten to the power of -n, rounded as in ecCodes. */
static double decimal_factor(int64_t n)
{
    double v = 1;
    if (n == -1) return 10;
    if (n > 400) return 0;
    for (; n > 0; n--) v /= 10;
    for (; n < 0 && v < (double)INFINITY; n++) v *= 10;
    return v;
}

static cubed_status open_packed1(const uint8_t *message, const cb_grib_field *f, packed *out,
                                 cubed_error *err)
{
    const uint8_t *data = message + f->section[4].offset;
    const uint64_t unused = data[3] & 0x0f, nbits = 8 * (f->section[4].size - 11);
    out->bits = data + 11;
    out->nbits = nbits < unused ? 0 : nbits - unused;
    out->width = data[10];
    out->reference = ibm_number(data + 6);
    out->factor = ldexp(1, (int)signed_number(data + 4, 2));
    out->decimal = decimal_factor(signed_number(message + f->section[1].offset + 26, 2));
    if (f->section[3].size == 0) return CUBED_OK;
    const uint8_t *map = message + f->section[3].offset;
    if (cb_grib_number(map + 4, 2) != 0)
        return cb_fail(
            err, CUBED_E_UNSUPPORTED,
            "the GRIB message uses a predefined bitmap of its centre, expected a bitmap in "
            "the message");
    out->bitmap = map + 6;
    out->nbitmap = 8 * (f->section[3].size - 6);
    if (map[3] <= out->nbitmap) out->nbitmap -= map[3];
    return CUBED_OK;
}

static void open_packed2(const uint8_t *message, const cb_grib_field *f, packed *out)
{
    const uint8_t *how = message + f->section[5].offset;
    out->bits = message + f->section[7].offset + 5;
    out->nbits = 8 * (f->section[7].size - 5);
    out->width = how[19];
    out->reference = ieee_number(how + 11);
    out->factor = ldexp(1, (int)signed_number(how + 15, 2));
    out->decimal = decimal_factor(signed_number(how + 17, 2));
    if (!f->has_bitmap) return;
    out->bitmap = message + f->section[6].offset + 6;
    out->nbitmap = 8 * (f->section[6].size - 6);
}

static bool bit_at(const uint8_t *bits, uint64_t i) { return bits[i / 8] >> (7 - i % 8) & 1; }

/* Reads `width` <= 32 bits at bit `at`. */
static uint64_t number_at(const uint8_t *bits, uint64_t at, int width)
{
    const uint8_t *p = bits + at / 8;
    const int from = (int)(at % 8), bytes = (from + width + 7) / 8;
    const uint64_t v = cb_grib_number(p, bytes);
    return v >> (8 * bytes - from - width) & (((uint64_t)1 << width) - 1);
}

/* Number of values that are passed on in one call. */
enum { BLOCK = 256 };

static void unpack_block(const packed *x, uint64_t from, int n, uint64_t *bit, double *out)
{
    for (int i = 0; i < n; i++) {
        if (x->bitmap && !bit_at(x->bitmap, from + (unsigned)i)) {
            out[i] = (double)NAN;
        } else if (x->width == 0) {
            out[i] = x->reference; /* like ecCodes, without the decimal scale */
        } else {
            const double v = (double)number_at(x->bits, *bit, x->width);
            out[i] = (v * x->factor + x->reference) * x->decimal;
            *bit += (unsigned)x->width;
        }
    }
}

cubed_status cb_grib_unpack(const uint8_t *message, const cb_grib_field *f, uint64_t n,
                            cb_grib_put_fn put, void *ctx, cubed_error *err)
{
    packed x = {.bits = NULL};
    double block[BLOCK];
    uint64_t present = n, bit = 0;
    if (f->edition == 1)
        CB_TRY(open_packed1(message, f, &x, err));
    else
        open_packed2(message, f, &x);
    if (x.bitmap) {
        if (x.nbitmap < n) return bad(err, "its bitmap is shorter than its grid");
        present = 0;
        for (uint64_t i = 0; i < n; i++) present += bit_at(x.bitmap, i);
    }
    if (x.width > 0 && x.nbits / (unsigned)x.width < present)
        return bad(err, "it has fewer values than its grid has points");
    for (uint64_t i = 0; i < n; i += BLOCK) {
        const int some = n - i < BLOCK ? (int)(n - i) : BLOCK;
        unpack_block(&x, i, some, &bit, block);
        put(ctx, i, block, some);
    }
    return CUBED_OK;
}
