/* Records the events of a run in memory of fixed size. */
#ifndef CUBED_REPORT_RECORD_H
#define CUBED_REPORT_RECORD_H

#include "cubed/run.h"
#include "report/report.h"

enum {
    RECORD_MARKS = 1200,
    RECORD_BINS = 700,
    RECORD_LANES = 100,
    RECORD_FAILURES = 20,
    RECORD_HOSTS = 50,
    RECORD_SLOWEST = 10
};

/* A task on the timeline, or several consecutive tasks of one worker. */
typedef struct record_mark {
    int lane;
    int stage; /* the stage with the most time in the mark */
    bool mixed;
    int64_t task;   /* number of the task, if the mark is a single task */
    int host;       /* number of the host; -1: several hosts */
    int64_t tasks;  /* successful tasks */
    int64_t failed; /* failed attempts */
    /* number of tasks that several workers ran together and that are counted in `tasks` of another worker's mark */
    int64_t shared;
    int64_t start_ns, end_ns;   /* start of the first and end of the last task */
    int64_t busy_ns, leader_ns; /* total time of the tasks, and the time of `stage` */
    uint64_t measured;          /* peak memory in bytes of a task */
} record_mark;

/* Counts of tasks with adjacent numbers. */
typedef struct record_bin {
    int64_t ended, resumed;
    uint64_t measured; /* peak memory in bytes of a task */
} record_bin;

typedef struct record_stage {
    cubed_stage_info info;
    int first_bin, nbins;
    int64_t ended, resumed, failed;
    int64_t start_ns, end_ns, busy_ns;
    uint64_t measured; /* peak memory in bytes of a task */
    uint64_t bytes_read, bytes_written, stored_read, stored_written;
} record_stage;

struct report {
    cubed_plan *plan;
    cubed_plan_info info;
    report_requests requests; /* requests of the plan; requests.n is 0 if they are unknown */
    int64_t start_ns, end_ns; /* times of the first and the last event of the run */
    int64_t wall_start;       /* seconds since 1970 */
    unsigned workers;         /* 1 + the highest number of a worker that has run a task */
    uint64_t intermediate_peak;
    record_stage total; /* sums over all stages; the member `info` is unused */
    record_stage *stage;
    record_bin *bin;
    int nbins;
    int nlanes;
    int64_t group; /* maximum number of tasks per entry of `mark` */
    int nmarks;
    int open[RECORD_LANES]; /* index of the last mark of each lane; -1: none */
    record_mark mark[RECORD_MARKS];
    int64_t backups; /* attempts of tasks that were copied to a second worker */
    /* number of recorded hosts; if there are more hosts, the last entry has the sums of all other hosts */
    int nhosts;
    struct {
        char name[64];
        int64_t tasks, failed, busy_ns;
    } host[RECORD_HOSTS];
    int nslowest; /* tasks that took longest, the slowest first */
    struct {
        int stage;
        int64_t task, ns;
        unsigned worker;
        uint64_t measured;
    } slowest[RECORD_SLOWEST];
    int nfailures; /* number of recorded failures */
    struct {
        int stage;
        int64_t task;
        cubed_failure kind;
        char message[256];
    } failure[RECORD_FAILURES];
};

#endif
