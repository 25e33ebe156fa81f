/* What lies beside an array that is being made, and in a run's folder of intermediates: who does it.
 *
 * A small JSON object under the key PATH/.cubed-run, written with conditional puts, so that of several runs that want
 * one place one gets it. Not a key of Zarr: readers pass over it. */
#ifndef CB_RUN_RECORD_H
#define CB_RUN_RECORD_H

#include "base/alloc.h"
#include "base/owner.h"
#include "cubed/run.h"
#include "store/core/store.h"

#define CB_RUN_RECORD ".cubed-run"
/* A name that no object has: deleting it removes its directory, if that is empty. */
#define CB_RUN_NO_OBJECT ".cubed-none"
/* Of names with their zero: a plan's, a run's, a point in time, that of an array that will replace another. */
#define CB_RUN_PLAN_CAP   33
#define CB_RUN_NAME_CAP   33
#define CB_RUN_TIME_CAP   24
#define CB_RUN_STAGED_CAP 320

typedef enum cb_run_state {
    CB_RUN_WORKING,
    CB_RUN_LEFT, /* its owner has ended it, and left it to be resumed */
    CB_RUN_COPYING, /* the new array is whole at `staged`, and being copied to its place: what is there is none */
    CB_RUN_SWAPPED, /* the new array is in its place, whole; the old one is at `staged` */
    CB_RUN_DONE, /* the array is whole: kept so that a run that is resumed again has nothing to do */
    CB_RUN_COMMITTING /* all chunks are written: the owner puts metadata, or the new array in its place */
} cb_run_state;

typedef struct cb_run_record {
    char plan
        [CB_RUN_PLAN_CAP]; /* what is computed, and through which arrays; "" if nobody can resume it */
    char goal[CB_RUN_PLAN_CAP]; /* what was asked for: it may be computed in other ways */
    char run[CB_RUN_NAME_CAP];  /* this attempt */
    char owner[CB_OWNER_CAP];   /* the driver */
    char since[CB_RUN_TIME_CAP];
    int64_t beat; /* seconds since 1970, by the owner's clock: when it was last heard of */
    bool
        detached; /* nobody drives it: begun, worked on and finished by processes that end in between */
    /* Processes of an earlier run may still put chunks here: this run puts all of its own, also those of fill values. */
    bool all;
    bool elsewhere; /* workers of the run may be on other machines, and outlive the owner */
    cb_run_state state;
    char staged
        [CB_RUN_STAGED_CAP];   /* of an array that replaces another: where it is made; else "" */
    cubed_object_version made; /* DONE: of the array's metadata */
    int format;                /* Zarr's, of the array; 0 of folders */
    const char *sources;       /* what was known of each source, in order; in the zone */
} cb_run_record;

/* *version is "" where there is none. One that cannot be understood is all zeros, with its version. */
CUBED_MUST_CHECK cubed_status cb_run_record_read(cubed_store *store, const char *path,
                                                 cb_zone *zone, cb_run_record *out,
                                                 cubed_object_version *version, cubed_error *err);
/* Replaces the one of *version, which becomes the new one's. CUBED_E_EXISTS if there is another. */
CUBED_MUST_CHECK cubed_status cb_run_record_write(cubed_store *store, const char *path,
                                                  const cb_run_record *r,
                                                  cubed_object_version *version, cubed_error *err);
/* Removes the record if it has the version (NULL: any), see cb_store_del_if. */
CUBED_MUST_CHECK cubed_status cb_run_record_remove(cubed_store *store, const char *path,
                                                   const cubed_object_version *version,
                                                   cubed_error *err);
/* Seconds without a beat after which the owner on another machine counts as gone. */
#define CB_RUN_SILENCE CUBED_RUN_SILENCE
/* A silence after which every process of another machine counts as gone. */
#define CB_RUN_NO_SILENCE INT64_MIN
/* Whether the owner is at work, as far as can be known: a process of another machine is, if its beat is less than `silence`
 * seconds old. */
bool cb_run_record_is_live(const cb_run_record *r, int64_t silence);
/* Whether processes of the run of a record that is not live may still write: a silent owner, or workers of one that is gone. */
bool cb_run_record_may_write(const cb_run_record *r);
/* Whether it is known of the owner that it runs on this machine. */
bool cb_run_record_is_here(const cb_run_record *r);
/* Seconds since the owner's last sign of life; 0 if the clocks say that it is in the future. */
int64_t cb_run_record_age(const cb_run_record *r);
#define CB_RUN_WHO_CAP (CB_OWNER_CAP + CB_RUN_NAME_CAP + 64)
/* "process 12 on host since 2026-01-01T00:00:00Z" */
void cb_run_record_who(const cb_run_record *r, char *text, size_t cap);
/* Seconds since 1970. */
int64_t cb_run_now(void);

#endif
