/* What a run does, taken from its events into memory of a fixed size. */
#ifndef CUBED_REPORT_RECORD_H
#define CUBED_REPORT_RECORD_H

#include "cubed/run.h"
#include "report/report.h"

enum {
    RECORD_MARKS = 1200,
    RECORD_BINS = 700,
    RECORD_LANES = 100,
    RECORD_FAILURES = 20,
    RECORD_HOSTS = 50
};

/* One task on the timeline, or several that one worker did one after another. */
typedef struct record_mark {
    int lane;
    int stage; /* the one that took the most time of them */
    bool mixed;
    int64_t task;   /* if it is a single one */
    int host;       /* -1: several */
    int64_t tasks;  /* that ended well */
    int64_t failed; /* attempts */
    int64_t shared; /* made by several workers, of which another one's mark has them in `tasks` */
    int64_t start_ns, end_ns;   /* of the first and the last */
    int64_t busy_ns, leader_ns; /* of all, and of those of `stage` */
    uint64_t measured;          /* the most */
} record_mark;

/* Tasks with numbers side by side. */
typedef struct record_bin {
    int64_t ended, resumed;
    uint64_t measured; /* the most */
} record_bin;

typedef struct record_stage {
    cubed_stage_info info;
    int first_bin, nbins;
    int64_t ended, resumed, failed;
    int64_t start_ns, end_ns, busy_ns;
    uint64_t measured; /* the most */
    uint64_t bytes_read, bytes_written, stored_read, stored_written;
} record_stage;

struct report {
    cubed_plan *plan;
    cubed_plan_info info;
    int64_t start_ns, end_ns; /* of the run: first and last event */
    int64_t wall_start;       /* seconds since 1970 */
    unsigned workers;         /* that did something: highest number + 1 */
    uint64_t intermediate_peak;
    record_stage total; /* of all stages; `info` is not used */
    record_stage *stage;
    record_bin *bin;
    int nbins;
    int nlanes;
    int64_t group; /* tasks of a mark, at most */
    int nmarks;
    int open[RECORD_LANES]; /* the last mark of each, -1: none */
    record_mark mark[RECORD_MARKS];
    int64_t backups; /* attempts of tasks that two workers were given */
    int nhosts;      /* that are kept; the last is all others if there are more */
    struct {
        char name[64];
        int64_t tasks, failed, busy_ns;
    } host[RECORD_HOSTS];
    int nfailures; /* that are kept */
    struct {
        int stage;
        int64_t task;
        cubed_failure kind;
        char message[256];
    } failure[RECORD_FAILURES];
};

#endif
