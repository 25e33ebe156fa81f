/* Memory that the driver of a run and its worker processes share: results in the caller's memory, and
 * sources that are too large to travel in the plan. Workers inherit a descriptor of each, in this order:
 * results, then sources by their number in the plan. */
#ifndef CB_RUN_SHARED_H
#define CB_RUN_SHARED_H

#include "plan/plan.h"

typedef struct cb_shared {
    int fd;
    int node;
    size_t size;
    void *map; /* of a result with bytes; else NULL */
} cb_shared;

/* The driver's side: copies sources to files in the work directory, which have no names. The list has
 * room for every target and node. On failure what is open so far is in the list. Descriptors are at
 * least `lowest`. */
CUBED_MUST_CHECK cubed_status cb_shared_open(const cubed_plan *p, int lowest, cb_shared *list,
                                             int *n, cubed_error *err);
/* Copies what workers wrote to the caller's memory. */
void cb_shared_fetch(const cubed_plan *p, const cb_shared *list, int n);
void cb_shared_close(cb_shared *list, int n);

/* The path of the work directory; CUBED_E_UNSUPPORTED if it is no local one. With its parents it is made. */
CUBED_MUST_CHECK cubed_status cb_shared_directory(const cubed_plan *p, cb_buf *path,
                                                  cubed_error *err);
/* Copies one source to the file. */
CUBED_MUST_CHECK cubed_status cb_shared_copy(const cubed_plan *p, const cb_shared *s,
                                             cubed_error *err);
/* Maps one source from the file, which may be closed then. */
CUBED_MUST_CHECK cubed_status cb_shared_map_source(cubed_plan *p, int node, int fd,
                                                   cubed_error *err);

/* A worker's side: maps descriptors fd, fd + 1, ... for the rest of the process. */
CUBED_MUST_CHECK cubed_status cb_shared_map(cubed_plan *p, int fd, uint64_t n, cubed_error *err);

#endif
