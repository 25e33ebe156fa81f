/* The Python type of plans, shared by py_plan.c and py_run.c only. */
#ifndef CORE_PLAN_H
#define CORE_PLAN_H

#include "core.h"

typedef struct core_plan {
    PyObject_HEAD cubed_plan *plan;
    PyObject *held; /* objects that the arrays of the plan hold (core_array.held), or NULL */
    int nresults;   /* number of targets */
    unsigned char *is_memory; /* for each target: nonzero if the result is in memory */
    bool running;
    cubed_cancel cancel;   /* cancels the tasks of a worker process */
    cubed_cancel stuck;    /* set when a task has exceeded its time limit and cannot be ended */
    report *record;        /* record of the latest recorded run, or NULL */
    cubed_run_stats stats; /* statistics of the latest run */
} core_plan;

/* Methods of plans: core_run_plan is `run`, core_last_run returns the statistics of the latest run. */
PyObject *core_run_plan(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *core_last_run(PyObject *self, PyObject *args);

#endif
