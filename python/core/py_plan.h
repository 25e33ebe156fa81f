/* The type of plans; for py_plan.c and py_run.c only. */
#ifndef CORE_PLAN_H
#define CORE_PLAN_H

#include "core.h"

typedef struct core_plan {
    PyObject_HEAD cubed_plan *plan;
    PyObject *held; /* of the arrays that it was made of: see core_array */
    int nresults;   /* targets in memory come first in nobody's order: see is_memory */
    unsigned char *is_memory;
    bool running;
    cubed_cancel cancel;   /* of what a worker does with it */
    cubed_cancel stuck;    /* set where that took too long, and cannot be ended */
    report *record;        /* of the latest run that was to be recorded, or NULL */
    cubed_run_stats stats; /* of the latest run */
} core_plan;

/* The method "run". */
PyObject *core_run_plan(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *core_last_run(PyObject *self, PyObject *args);

#endif
