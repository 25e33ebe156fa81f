/* Descriptions of records: a JSON list of fields, [[NAME, TYPE], ...] or [NAME, TYPE, SHAPE], as in Zarr format 2. TYPE is a
 * type string, or a list of fields. Fields follow one another without padding. */
#ifndef CB_DTYPE_RECORD_FIELDS_H
#define CB_DTYPE_RECORD_FIELDS_H

#include "base/json.h"
#include "cubed/dtype.h"

/* Maximum number of fields of a record, without fields of nested records, and maximum depth of nested records. */
#define CB_RECORD_FIELDS 1024
#define CB_RECORD_DEPTH  8

typedef struct cb_field {
    const char *name;
    cubed_dtype
        dtype; /* type of one element; CUBED_RECORD of some length if `fields` is not NULL */
    bool big_endian;
    size_t offset; /* offset of the first element in the record, in bytes */
    int ndim;      /* number of dimensions; 0 if the field has no shape */
    int64_t shape[CUBED_MAX_NDIM];
    int64_t count;        /* number of elements */
    const json_t *fields; /* description of the elements if they are records; otherwise NULL */
} cb_field;

/* Checks a description, and gets the type of its records. `where` names the document in messages. CUBED_E_FORMAT if it is
 * not valid, CUBED_E_UNSUPPORTED for types of fields that have no dtype. */
CUBED_MUST_CHECK cubed_status cb_record_check(const char *where, const json_t *fields,
                                              cubed_dtype *out, cubed_error *err);
/* Parses and checks a description. The caller owns *out (json_decref). */
CUBED_MUST_CHECK cubed_status cb_record_parse(const char *where, const char *text, json_t **out,
                                              cubed_dtype *dtype, cubed_error *err);
/* Gets field number i of a checked description, for i from 0 to json_array_size(fields) - 1. `after` is the field before it;
 * NULL if i is 0. */
cb_field cb_record_field(const json_t *fields, size_t i, const cb_field *after);
/* Gets a field by its name. Returns false if there is no such field. */
CUBED_MUST_CHECK bool cb_record_find(const json_t *fields, const char *name, cb_field *out);
/* Adds the fields of a checked description to the list `out`, with a canonical spelling of each type. If `native`, types have
 * this machine's byte order. Sets *ok to false if out of memory. */
void cb_record_spell(const json_t *fields, bool native, json_t *out, bool *ok);
/* Returns the canonical text of a checked description, which is equal for equal fields. Allocated in the zone; NULL if out of
 * memory. */
const char *cb_record_text(const json_t *fields, cb_zone *zone);
/* Adds a copy of a field with another type to the list `out`: `type` is a type string or a list. Takes ownership of `type`. */
void cb_record_add(json_t *out, const cb_field *f, json_t *type, bool *ok);
/* Returns true if the field's bytes are in the other order than this machine's. */
bool cb_field_is_swapped(const cb_field *f);
/* Returns the size of a field in bytes. */
static inline size_t cb_field_bytes(const cb_field *f)
{
    return (size_t)f->count * cubed_dtype_size(f->dtype);
}

#endif
