/* Memory shared by the driver and its worker processes: results in the caller's memory, and sources that are too large for the
 * plan's bytes.
 *
 * Workers inherit one descriptor each: first the results, then the sources in the order of their nodes. */
#ifndef CB_RUN_SHARED_H
#define CB_RUN_SHARED_H

#include "plan/plan.h"

typedef struct cb_shared {
    int fd;
    int node;
    size_t size;
    void *map; /* mapping of a result that is not empty, otherwise NULL */
} cb_shared;

/* Creates the shared memory, in the driver. Copies sources to unnamed files in the work directory. `list` has room for all
 * targets and nodes. After an error `list` holds the entries opened so far. Descriptors are at least `lowest`. */
CUBED_MUST_CHECK cubed_status cb_shared_open(const cubed_plan *p, int lowest, cb_shared *list,
                                             int *n, cubed_error *err);
/* Copies the workers' output to the caller's memory. */
void cb_shared_fetch(const cubed_plan *p, const cb_shared *list, int n);
void cb_shared_close(cb_shared *list, int n);

/* Sets the path of the work directory and creates it with its parents. CUBED_E_UNSUPPORTED if the directory is not
 * local. */
CUBED_MUST_CHECK cubed_status cb_shared_directory(const cubed_plan *p, cb_buf *path,
                                                  cubed_error *err);
/* Copies one source to the file. */
CUBED_MUST_CHECK cubed_status cb_shared_copy(const cubed_plan *p, const cb_shared *s,
                                             cubed_error *err);
/* Maps one source from the file; the caller may then close `fd`. */
CUBED_MUST_CHECK cubed_status cb_shared_map_source(cubed_plan *p, int node, int fd,
                                                   cubed_error *err);

/* Maps descriptors fd, fd + 1, ... in a worker, until the process ends. */
CUBED_MUST_CHECK cubed_status cb_shared_map(cubed_plan *p, int fd, uint64_t n, cubed_error *err);

#endif
