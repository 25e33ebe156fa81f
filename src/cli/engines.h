/* Batch systems that run arrays of jobs, each with a number: see cmd_submit.c. */
#ifndef CUBED_CLI_ENGINES_H
#define CUBED_CLI_ENGINES_H

#include "cli.h"

/* One array of jobs: the tasks of a stage, or the end of the run. */
typedef struct array_job {
    char name[24];      /* "stage-0", "finish" */
    char args[192];     /* of `cubed worker`, behind the plan */
    int64_t n;          /* elements */
    int nafter, *after; /* jobs that come before it */
} array_job;

typedef struct engine_option {
    const char *name, *value;
} engine_option;

typedef struct engine engine;

/* A batch system, and what it is told beside the plan. */
enum { ENGINE_OPTIONS = 32 };
typedef struct engine_choice {
    const engine *engine; /* NULL: none */
    engine_option options[ENGINE_OPTIONS];
    int noptions;
} engine_choice;

typedef struct submission {
    const engine_choice *choice;
    const char *dir, *run; /* of letters that shells and batch systems take as they are */
    /* This one, where workers are started as processes of this machine's kind. */
    char program[PATH_MAX];
    uint64_t mebibytes; /* of a worker */
    unsigned workers;
    int64_t elements; /* of each array; 0: by the plan's estimate */
    int njobs;
    array_job *jobs;
    bool leaves;    /* nobody is to stay who submitted it */
    bool failed;    /* a file could not be written */
    bool take_over; /* see cubed_takeover_options */
} submission;

/* Whether a run goes on when who submitted it has left. */
typedef enum engine_leave {
    ENGINE_LEAVES,
    ENGINE_LEAVES_DRIVER, /* if a job submits the others: `leaves` of a submission */
    ENGINE_STAYS
} engine_leave;

struct engine {
    const char *name;
    const char *label;    /* "tested live" or "contract only" */
    const char *needs;    /* options that it cannot do without, "a b"; may be NULL */
    const char *takes;    /* others; NULL: any, which go to the batch system as they are */
    int64_t most;         /* elements of an array; 0: any number */
    double overhead;      /* seconds that an element takes by itself */
    const char *programs; /* what `start` calls */
    engine_leave leave;
    bool apart; /* its machines see nothing of the run's directory */
    void (*write)(submission *s);
};

/* Ends with a NULL name. */
extern const engine engines[];
const engine *engine_find(const char *name);
/* The value of an option; NULL if it is not given. */
const char *engine_get(const engine_choice *c, const char *name);

/* --engine and --engine-option of a verb, an exit code each; `text` is cut. */
int engine_choose(const char *verb, const char *name, engine_choice *c);
int engine_add_option(const char *verb, char *text, engine_choice *c);
/* Whether the system knows the options, and has those that it needs. */
int engine_check(const char *verb, const engine_choice *c);
/* Whether it runs plans by itself: `cubed submit` is for all others. `detach`: and goes on by itself. */
int engine_check_run(const char *verb, const engine_choice *c, bool detach);
/* Runs a plan, of which a directory in its work directory has all that there is to know. `detach`: does not wait for
 * it. `workers` 0: the plan's. An exit code. */
int engine_run(const char *verb, const engine_choice *c, const cubed_plan *plan, unsigned workers,
               bool detach);

#endif
