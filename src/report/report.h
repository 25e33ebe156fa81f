/* Report of a run as an HTML page, from its plan and events. */
#ifndef CUBED_REPORT_REPORT_H
#define CUBED_REPORT_REPORT_H

#include <stdio.h>

#include "cubed/run.h"

typedef struct report report;

/* Requests of a plan to stores on other machines before its run, their cost in US dollars, and the use of workers. */
enum { REPORT_SERVICES = 8 };
typedef struct report_requests {
    int n;
    cubed_store_traffic of[REPORT_SERVICES];
    double cost[REPORT_SERVICES];
    cubed_worker_usage usage;
} report_requests;

/* Gets the requests of a plan to stores on other machines, and their cost by list prices. `apart` is true if workers do not
 * share memory, so that intermediates are in the work directory. */
void report_get_requests(const cubed_plan *plan, bool apart, report_requests *out);
/* Writes the requests as lines of text; nothing if the plan uses no stores on other machines. */
void report_put_requests(const cubed_plan *plan, const report_requests *requests, FILE *f);

/* Creates a report for one run of the plan, and holds a reference to the plan. */
CUBED_MUST_CHECK cubed_status report_open(cubed_plan *plan, report **out, cubed_error *err);
void report_close(report *r);
/* Sets the numbers of requests to stores that the page shows. The report copies them. */
void report_expect(report *r, const report_requests *requests);
/* Records an event of the run. A cubed_event_fn; `r` is the report. */
void report_event(void *r, const cubed_event *e);

/* Result of the run, for the page. */
typedef struct report_run {
    const char *executor;
    const cubed_run_stats *stats; /* statistics, set even if the run failed */
    const char *error;            /* NULL if the run succeeded */
} report_run;

/* Writes the page to f. Write errors are not returned: check ferror(f). */
CUBED_MUST_CHECK cubed_status report_write(const report *r, const report_run *run, FILE *f,
                                           cubed_error *err);
/* State of a run, for a status file. */
typedef struct report_state {
    const char *executor;
    const char *state; /* "running", "done" or "failed" */
    const char *error; /* NULL if the run did not fail */
} report_state;

/* Writes the status of the run as a JSON object of at most 200 kB: totals, stages, failed attempts, and the process that
 * writes it. May be called during the run. */
void report_write_status(const report *r, const report_state *state, FILE *f);
/* Write the page that shows a status, and its script. The page reads /status.json each second. */
void report_put_live_page(FILE *f);
void report_put_live_script(FILE *f);

typedef enum report_drawing { REPORT_TIMELINE, REPORT_MEMORY, REPORT_PROGRESS } report_drawing;
/* Draws a chart of the page, or the progress, as a separate SVG file. May be called during the run. */
void report_draw(const report *r, report_drawing which, FILE *f);
/* Writes the plan as text: a table of stages, and the totals of the plan (reads, writes, time, memory). */
CUBED_MUST_CHECK cubed_status report_plan_table(const cubed_plan *plan, FILE *f, cubed_error *err);
/* Draws the plan as SVG: as a separate file, or (`inside`) as part of a page. */
CUBED_MUST_CHECK cubed_status report_plan_svg(const cubed_plan *plan, bool inside, FILE *f,
                                              cubed_error *err);
/* Writes the plan as source for Graphviz. */
void report_plan_dot(const cubed_plan *plan, FILE *f);

#endif
