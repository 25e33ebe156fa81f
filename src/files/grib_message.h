/* Sections of GRIB messages of editions 1 and 2, and values in simple packing: WMO Manual on Codes, FM 92. The contents are
 * untrusted: every length is checked against the size of the message. */
#ifndef CB_FILES_GRIB_MESSAGE_H
#define CB_FILES_GRIB_MESSAGE_H

#include "cubed/base.h"

/* Bytes of a message, or of a file with messages. */
typedef struct cb_grib_source {
    cubed_status (*read)(void *ctx, uint64_t offset, void *dst, size_t n, cubed_error *err);
    void *ctx;
    uint64_t size;
} cb_grib_source;

typedef struct cb_grib_section {
    uint64_t offset; /* offset from the start of the message */
    uint64_t size;   /* 0: the field has no such section */
} cb_grib_section;

/* CB_GRIB_SECTIONS  number of entries for the sections of a message, of either edition
 * CB_GRIB_END       size in bytes of the end of a message, "7777" */
enum { CB_GRIB_SECTIONS = 9, CB_GRIB_END = 4 };

/* One field: a horizontal grid of values. A message of edition 2 may have several, which share sections. */
typedef struct cb_grib_field {
    int edition;
    uint32_t number; /* position in the message, from 0 */
    uint64_t size;   /* size of the message */
    /* Sections, indexed by their number in the edition. */
    cb_grib_section section[CB_GRIB_SECTIONS];
    uint64_t points; /* points of the grid; 0: not stated (edition 1) */
    bool has_bitmap; /* edition 2: section 6 has a bitmap */
} cb_grib_field;

enum { CB_GRIB_BEGIN = 16 }; /* bytes that cb_grib_measure needs */
/* Finds the size of the message at the start of a source. CUBED_E_FORMAT if the source is shorter, or does not contain a
 * message; CUBED_E_UNSUPPORTED for editions other than 1 and 2. */
CUBED_MUST_CHECK cubed_status cb_grib_measure(const cb_grib_source *s, uint64_t *size,
                                              cubed_error *err);

typedef cubed_status (*cb_grib_field_fn)(void *ctx, const cb_grib_field *field, cubed_error *err);
/* Calls fn for each field of the message that the source contains. */
CUBED_MUST_CHECK cubed_status cb_grib_each_field(const cb_grib_source *s, cb_grib_field_fn fn,
                                                 void *ctx, cubed_error *err);
/* Finds field `number`. CUBED_E_FORMAT if the message has fewer fields. */
CUBED_MUST_CHECK cubed_status cb_grib_find_field(const cb_grib_source *s, uint32_t number,
                                                 cb_grib_field *out, cubed_error *err);

/* Returns the size in bytes of a message with the descriptions of a field, without its bitmap and data. */
size_t cb_grib_header_size(const cb_grib_field *f);
/* Writes a short message to `dst`, which has room for cb_grib_header_size bytes. The message contains the descriptions of a
 * field, but not its bitmap and data. Libraries parse it like the whole message. */
CUBED_MUST_CHECK cubed_status cb_grib_header(const cb_grib_source *s, const cb_grib_field *f,
                                             uint8_t *dst, cubed_error *err);
/* Writes a message with only this field to `dst`, which has room for f->size bytes. */
CUBED_MUST_CHECK cubed_status cb_grib_alone(const cb_grib_source *s, const cb_grib_field *f,
                                            uint8_t *dst, size_t *got, cubed_error *err);

/* How values are packed. */
typedef struct cb_grib_packing {
    bool simple; /* cb_grib_unpack can unpack the values */
    int bits;    /* bits per value; for floating point, bits of the mantissa; 0 if unknown */
} cb_grib_packing;
CUBED_MUST_CHECK cubed_status cb_grib_packing_of(const cb_grib_source *s, const cb_grib_field *f,
                                                 cb_grib_packing *out, cubed_error *err);
/* Receives `count` values, the first of which is number i in scan order; NaN if missing. */
typedef void (*cb_grib_put_fn)(void *ctx, uint64_t i, const double *values, int count);
/* Unpacks a field of a message in memory in simple packing: passes n values to `put`. CUBED_E_FORMAT if the field has
 * fewer than n values. */
CUBED_MUST_CHECK cubed_status cb_grib_unpack(const uint8_t *message, const cb_grib_field *f,
                                             uint64_t n, cb_grib_put_fn put, void *ctx,
                                             cubed_error *err);
/* Returns the big-endian number of n bytes. */
uint64_t cb_grib_number(const uint8_t *at, int n);

#endif
