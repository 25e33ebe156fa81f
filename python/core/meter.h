/* Measures the memory that one thread allocates for NumPy arrays between begin and end.
 *
 * In NumPy, each context (contextvars) can have its own allocator of array data (NEP 49). The meter's allocator counts bytes, and
 * forwards all calls to the previous allocator. It lives until the last array that it allocated is freed. */
#ifndef CORE_METER_H
#define CORE_METER_H

#include "core.h"

typedef struct core_meter {
    PyObject *mine,
        *before; /* capsules of NumPy with the meter's allocator and the previous one; NULL if NumPy has no such interface */
} core_meter;

/* Starts counting. Never fails: without the interface of NumPy, nothing is counted. The caller must hold the GIL. */
void core_meter_begin(core_meter *m);
/* Stops counting, and returns the maximum number of bytes that were allocated at the same time. */
uint64_t core_meter_end(core_meter *m);

#endif
