/* Descriptions of records. A description is a JSON list of fields, as in Zarr format 2. A field is [NAME, TYPE] or
 * [NAME, TYPE, SHAPE]. TYPE is a type string or, for a nested record, a list of fields. Fields follow one another in a record
 * without padding. */
#ifndef CB_DTYPE_RECORD_FIELDS_H
#define CB_DTYPE_RECORD_FIELDS_H

#include "base/json.h"
#include "cubed/dtype.h"

/* Maximum number of fields of a record (fields of nested records are not counted), and maximum depth of nested records. */
#define CB_RECORD_FIELDS 1024
#define CB_RECORD_DEPTH  8

/* A field of a record. */
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

/* Checks a description. *out receives the type of its records. `where` names the document in messages. CUBED_E_FORMAT if the
 * description is not valid, CUBED_E_UNSUPPORTED if a field has a type without a cubed_dtype. */
CUBED_MUST_CHECK cubed_status cb_record_check(const char *where, const json_t *fields,
                                              cubed_dtype *out, cubed_error *err);
/* Parses and checks a description. The caller owns *out (json_decref). */
CUBED_MUST_CHECK cubed_status cb_record_parse(const char *where, const char *text, json_t **out,
                                              cubed_dtype *dtype, cubed_error *err);
/* Returns field i of a checked description, 0 <= i < json_array_size(fields). `after` is field i - 1; NULL if i is 0. */
cb_field cb_record_field(const json_t *fields, size_t i, const cb_field *after);
/* Gets a field by its name. Returns false if there is no such field. */
CUBED_MUST_CHECK bool cb_record_find(const json_t *fields, const char *name, cb_field *out);
/* Appends the fields of a checked description to the list `out`, with a canonical spelling of each type. If `native` is set, the
 * types have this machine's byte order instead of their own. Sets *ok to false if out of memory. */
void cb_record_spell(const json_t *fields, bool native, json_t *out, bool *ok);
/* Returns a checked description as a string in canonical form: equal fields give equal strings. It is allocated in the zone; NULL
 * if out of memory. */
const char *cb_record_text(const json_t *fields, cb_zone *zone);
/* Appends a field with the name and shape of *f and another type to the list `out`. `type` is a type string or a list of fields;
 * the call takes ownership of it. Sets *ok to false if out of memory. */
void cb_record_add(json_t *out, const cb_field *f, json_t *type, bool *ok);
/* Returns true if the byte order of the field differs from this machine's. */
bool cb_field_is_swapped(const cb_field *f);
/* Returns the size of a field in bytes. */
static inline size_t cb_field_bytes(const cb_field *f)
{
    return (size_t)f->count * cubed_dtype_size(f->dtype);
}

#endif
