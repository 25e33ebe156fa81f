/* A record next to an array that is being created, or in a run's folder of intermediates. It names the run that creates the
 * array or owns the folder.
 *
 * It is a small JSON object under the key PATH/.cubed-run. It is written with conditional puts, so one of several runs that
 * need a place gets it. Zarr readers ignore the key. */
#ifndef CB_RUN_RECORD_H
#define CB_RUN_RECORD_H

#include "base/alloc.h"
#include "base/owner.h"
#include "cubed/run.h"
#include "store/core/store.h"

#define CB_RUN_RECORD ".cubed-run"
/* A key that no object has. Deleting this key has one effect: it removes the key's directory if the directory is empty. */
#define CB_RUN_NO_OBJECT ".cubed-none"
/* Sizes with terminating NUL: name of a plan, name of a run, time, version of the library, name of an array that will
 * replace another. */
#define CB_RUN_PLAN_CAP    CUBED_PLAN_ID_CAP
#define CB_RUN_NAME_CAP    CUBED_RUN_NAME_CAP
#define CB_RUN_TIME_CAP    24
#define CB_RUN_VERSION_CAP 32
#define CB_RUN_STAGED_CAP  320

typedef enum cb_run_state {
    CB_RUN_WORKING,
    CB_RUN_LEFT, /* the owner ended the run and left it to be resumed */
    /* the complete new array at `staged` is being copied to its place, which has no valid array until the copy ends */
    CB_RUN_COPYING,
    CB_RUN_SWAPPED, /* the complete new array is in its place; the old one is at `staged` */
    /* the array is complete; the record is kept, so that a run that is resumed again has nothing to do */
    CB_RUN_DONE,
    /* all chunks are written; the owner writes metadata, or puts the new array in its place */
    CB_RUN_COMMITTING
} cb_run_state;

typedef struct cb_run_record {
    /* hash of the computation and its intermediate arrays; "" if the run cannot be resumed */
    char plan[CB_RUN_PLAN_CAP];
    /* hash of the requested result, which other plans can also compute */
    char goal[CB_RUN_PLAN_CAP];
    char run[CB_RUN_NAME_CAP];   /* name of the run, which is one attempt to compute the plan */
    char owner[CB_OWNER_CAP];    /* identifies the process that drives the run (base/owner.h) */
    char since[CB_RUN_TIME_CAP]; /* time of the run's first claim */
    /* version of the library that began the run; "" in records of early versions, which did not store it */
    char cubed[CB_RUN_VERSION_CAP];
    int64_t beat; /* time of the last heartbeat in seconds since 1970, by the owner's clock */
    /* a run without a driver, which several short processes begin, execute and finish */
    bool detached;
    /* Processes of an earlier run may still put chunks here, so this run puts all of its chunks, including those of fill
     * values. */
    bool all;
    bool elsewhere; /* workers of the run may be on other machines, and outlive the owner */
    cb_run_state state;
    /* name under which an array that replaces another is created; otherwise "" */
    char staged[CB_RUN_STAGED_CAP];
    cubed_object_version made; /* if the state is DONE: version of the array's metadata */
    int format;                /* Zarr format of the array; 0 for folders */
    const char *sources;       /* versions of the sources, in order; in the zone */
} cb_run_record;

/* Reads the record at a path and its version, which is "" if there is no record. For a record that is damaged or of another
 * version of the format, sets all fields to zero, and *version to its version. */
CUBED_MUST_CHECK cubed_status cb_run_record_read(cubed_store *store, const char *path,
                                                 cb_zone *zone, cb_run_record *out,
                                                 cubed_object_version *version, cubed_error *err);
/* Replaces the record if its version is *version, and sets *version to the version of the new record. CUBED_E_EXISTS if the
 * record has another version. */
CUBED_MUST_CHECK cubed_status cb_run_record_write(cubed_store *store, const char *path,
                                                  const cb_run_record *r,
                                                  cubed_object_version *version, cubed_error *err);
/* Removes the record if its version is *version, or any record if `version` is NULL (see cb_store_del_if). */
CUBED_MUST_CHECK cubed_status cb_run_record_remove(cubed_store *store, const char *path,
                                                   const cubed_object_version *version,
                                                   cubed_error *err);
/* Seconds without a heartbeat after which an owner on another machine counts as gone. */
#define CB_RUN_SILENCE CUBED_RUN_SILENCE
/* A value of `silence` with which every process on another machine counts as gone. */
#define CB_RUN_NO_SILENCE INT64_MIN
/* Returns true if the owner is running, as far as known. A process on another machine counts as running if its last beat is
 * less than `silence` seconds old. */
bool cb_run_record_is_live(const cb_run_record *r, int64_t silence);
/* For a record whose owner counts as not running (cb_run_record_is_live): returns true if processes of its run may still write
 * nevertheless: for example an owner on another machine that sends no heartbeats, or workers that outlive their owner. */
bool cb_run_record_may_write(const cb_run_record *r);
/* Returns true if the owner is known to run on this machine. */
bool cb_run_record_is_here(const cb_run_record *r);
/* Returns the seconds since the owner's last heartbeat; 0 if that is in the future by this machine's clock. */
int64_t cb_run_record_age(const cb_run_record *r);
#define CB_RUN_WHO_CAP (CB_OWNER_CAP + CB_RUN_NAME_CAP + 64)
/* Describes the record's run for messages, such as "process 12 on host since 2026-01-01T00:00:00Z". */
void cb_run_record_who(const cb_run_record *r, char *text, size_t cap);
/* Returns the current time in seconds since 1970. */
int64_t cb_run_now(void);

#endif
