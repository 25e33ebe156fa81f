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

typedef struct submission {
    const char *dir, *run; /* of letters that shells and batch systems take as they are */
    const char
        *program; /* this one, where workers are started as processes of this machine's kind */
    uint64_t mebibytes; /* of a worker */
    unsigned workers;
    int64_t elements; /* of each array; 0: by the plan's estimate */
    int njobs, noptions;
    array_job *jobs;
    const engine_option *options;
    bool failed; /* a file could not be written */
} submission;

typedef struct engine {
    const char *name;
    const char *label;    /* "tested live" or "contract only" */
    const char *needs;    /* options that it cannot do without, "a b"; may be NULL */
    const char *takes;    /* others; NULL: any, which go to the batch system as they are */
    int64_t most;         /* elements of an array; 0: any number */
    double overhead;      /* seconds that an element takes by itself */
    const char *programs; /* what `start` calls */
    void (*write)(submission *s);
} engine;

/* Ends with a NULL name. */
extern const engine engines[];
const engine *engine_find(const char *name);
/* The value of an option; NULL if it is not given. */
const char *engine_get(const submission *s, const char *name);

#endif
