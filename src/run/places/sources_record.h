/* The record `.cubed-sources` in an array describes the sources from which its chunks were computed.
 *
 * An update compares the record with the current sources. A chunk of the array is valid if it was computed from the recorded
 * versions of all chunks that it depends on, and has the recorded version itself. An update marks chunks as invalid before it
 * replaces them, so the record is correct even if an update is killed. The record is private to the library: other programs
 * ignore it, and it may change with any release. */
#ifndef CB_RUN_SOURCES_RECORD_H
#define CB_RUN_SOURCES_RECORD_H

#include "run/places/run_record.h"
#include "run/places/versions.h"

#define CB_SOURCES_RECORD ".cubed-sources"

/* An array and the versions of its stored objects. */
typedef struct cb_recorded_array {
    const char *place;     /* name of the array's place (cb_storage.origin) */
    cb_chunk_version meta; /* version of the metadata document, without the shape */
    int ndim;
    int64_t shape[CUBED_MAX_NDIM];
    int64_t count[CUBED_MAX_NDIM]; /* number of stored objects along each axis */
    int64_t n;                     /* number of stored objects: the product of `count` */
    const cb_chunk_version *versions;
} cb_recorded_array;

typedef struct cb_sources_record {
    const char *cubed;  /* version of the library */
    const char *plan;   /* ID of the plan that computed the chunks: cb_plan_identify_update */
    const char *goal;   /* hash of the requested computation */
    const char *growth; /* hash of the requested computation without extents of axes; "": unknown */
    const void *axes;   /* serialised extents of the requested computation (cb_growth.axes) */
    size_t axes_size;
    /* `growth` and `axes` for the nodes at and below kept states of reductions (cubed_plan.states_growth). */
    const char *states;
    const void *states_axes;
    size_t states_size;
    int64_t full_groups; /* for kept states: cb_reduce_full_groups */
    /* Metadata documents that the array may have: before the run, and after it. */
    cb_chunk_version documents[2];
    cb_recorded_array result;
    const uint8_t *valid; /* a bit per chunk of the result; 1: the chunk is valid */
    int nsources;
    cb_recorded_array *sources;
} cb_sources_record;

/* Reads the record at a path. The record is allocated in the zone.
 *
 * found  receives false if there is no record, or if it is damaged or of another version of its format
 * hash   receives a hash of the record's bytes; zeros if there is no record */
CUBED_MUST_CHECK cubed_status cb_sources_record_read(cubed_store *store, const char *path,
                                                     cb_zone *zone, cb_sources_record *out,
                                                     bool *found, cb_chunk_version *hash,
                                                     cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_sources_record_write(cubed_store *store, const char *path,
                                                      const cb_sources_record *r, cubed_error *err);
/* Returns the number of the stored object at an index of the recorded array, or -1 if the array had no object there. */
int64_t cb_recorded_number(const cb_recorded_array *a, const int64_t *idx);

#endif
