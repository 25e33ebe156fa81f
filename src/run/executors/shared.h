/* Memory shared by the driver and its worker processes: results that the user wants in memory, and sources that are too large for
 * the serialised plan.
 *
 * Workers inherit one file descriptor for each result and source: first the results, then the sources in the order of their
 * nodes. */
#ifndef CB_RUN_SHARED_H
#define CB_RUN_SHARED_H

#include "plan/plan.h"

typedef struct cb_shared {
    int fd;
    int node;
    size_t size;
    void *map; /* mapping of a result that is not empty, otherwise NULL */
} cb_shared;

/* Called by the driver: creates the shared memory, and copies sources to unnamed files in the work directory.
 *
 * lowest  the smallest file descriptor that may be used
 * list    receives *n entries; has capacity for all targets and nodes. After an error, it contains the entries opened so far. */
CUBED_MUST_CHECK cubed_status cb_shared_open(const cubed_plan *p, int lowest, cb_shared *list,
                                             int *n, cubed_error *err);
/* Copies the results that workers wrote into shared memory to the user's memory. */
void cb_shared_fetch(const cubed_plan *p, const cb_shared *list, int n);
void cb_shared_close(cb_shared *list, int n);

/* Gets the path of the work directory, and creates it and its parents if they do not exist. CUBED_E_UNSUPPORTED if the work
 * directory is not a local directory. */
CUBED_MUST_CHECK cubed_status cb_shared_directory(const cubed_plan *p, cb_buf *path,
                                                  cubed_error *err);
/* Copies the data of the source s->node to the file s->fd. */
CUBED_MUST_CHECK cubed_status cb_shared_copy(const cubed_plan *p, const cb_shared *s,
                                             cubed_error *err);
/* Maps the data of a source from a file. The caller may close `fd` afterwards. */
CUBED_MUST_CHECK cubed_status cb_shared_map_source(cubed_plan *p, int node, int fd,
                                                   cubed_error *err);

/* Called by a worker: maps the `n` results and sources from file descriptors fd, fd + 1, and so on, until the process ends. */
CUBED_MUST_CHECK cubed_status cb_shared_map(cubed_plan *p, int fd, uint64_t n, cubed_error *err);

#endif
