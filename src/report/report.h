/* A run as one HTML page, from its plan and its events. */
#ifndef CUBED_REPORT_REPORT_H
#define CUBED_REPORT_REPORT_H

#include <stdio.h>

#include "cubed/run.h"

typedef struct report report;

/* For one run of the plan, of which it keeps a reference. */
CUBED_MUST_CHECK cubed_status report_open(cubed_plan *plan, report **out, cubed_error *err);
void report_close(report *r);
/* A cubed_event_fn; `r` is the report. */
void report_event(void *r, const cubed_event *e);

/* How the run went, for the page. */
typedef struct report_run {
    const char *executor;
    const cubed_run_stats *stats; /* also if it failed */
    const char *error;            /* NULL if it did not */
} report_run;

/* Writes the page. Errors are the stream's: see ferror. */
CUBED_MUST_CHECK cubed_status report_write(const report *r, const report_run *run, FILE *f,
                                           cubed_error *err);
typedef enum report_drawing { REPORT_TIMELINE, REPORT_MEMORY, REPORT_PROGRESS } report_drawing;
/* A chart of the page, or how far the run is, as an SVG file of its own; also while the run is going on. */
void report_draw(const report *r, report_drawing which, FILE *f);
/* Draws the plan as SVG: as a file of its own, or (`inside`) as part of a page. */
CUBED_MUST_CHECK cubed_status report_plan_svg(const cubed_plan *plan, bool inside, FILE *f,
                                              cubed_error *err);
/* The same as source for Graphviz. */
void report_plan_dot(const cubed_plan *plan, FILE *f);

#endif
