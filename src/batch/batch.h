/* Runs plans as job arrays of batch systems such as Slurm. Writes a directory with the plan, the description of the jobs, and
 * scripts that start, list and cancel the jobs. A library that uses only the public API. */
#ifndef CUBED_BATCH_H
#define CUBED_BATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "cubed/plan.h"
#include "cubed/run.h"

typedef struct batch_system batch_system;

typedef struct batch_option {
    const char *name, *value;
} batch_option;

/* A batch system and the options that a user gives it. */
enum { BATCH_OPTIONS = 32 };
typedef struct batch_choice {
    const batch_system *engine; /* NULL: no batch system was chosen */
    batch_option options[BATCH_OPTIONS];
    int noptions;
} batch_choice;

/* A job array, which runs the tasks of a stage; or the job that finishes the run. */
typedef struct batch_job {
    char name[24];      /* "stage-0", "finish" */
    char args[192];     /* arguments of `cubed worker` after the plan */
    int64_t n;          /* number of array tasks */
    int nafter, *after; /* jobs that must be complete before this job starts */
} batch_job;

typedef struct batch_submission {
    const batch_choice *choice;
    const char *dir;     /* absolute path of an existing directory; must satisfy batch_is_plain */
    const char *run;     /* name of the run; NULL: the last part of `dir` */
    const char *program; /* path of the command on the nodes */
    const char
        *python; /* Python interpreter that has the package; some systems need it to submit jobs */
    unsigned workers; /* maximum number of simultaneous jobs; 0: the plan's number of workers */
    int retries;      /* maximum retries of an array task after transient failures */
    int64_t
        elements; /* number of array tasks of each job array; 0: chosen from the plan's estimate */
    bool leaves;  /* the process that submits the run ends without waiting for it */
    bool take_over; /* see cubed_takeover_options */
    /* Set by batch_write. */
    uint64_t mebibytes;  /* memory of a worker */
    const char *allowed; /* argument of `cubed worker` for plans with code, or "" */
    int njobs;
    batch_job *jobs;
    int failed; /* errno of the first failure to write a file, or ENOMEM; 0: all files are written */
} batch_submission;

/* Whether a run continues after the process that submitted it has ended. */
typedef enum batch_leave {
    BATCH_LEAVES,
    BATCH_LEAVES_DRIVER, /* only if a driver job submits the other jobs: see `leaves` of batch_submission */
    BATCH_STAYS
} batch_leave;

struct batch_system {
    const char *name;
    const char *label; /* "tested live" or "contract only" */
    const char *needs; /* required options, separated by blanks; may be NULL */
    const char *
        takes; /* other supported options; NULL: any options, which are passed to the batch system unchanged */
    int64_t most;         /* maximum array tasks; 0: unlimited */
    double overhead;      /* seconds of overhead of an array task, in addition to its computation */
    const char *programs; /* programs that `start` calls */
    batch_leave leave;
    bool apart; /* machines of the batch system cannot access the run's directory */
    void (*write)(batch_submission *s);
    bool refuses_code; /* its workers cannot run plans with code */
};

/* Table of batch systems. Its last entry has the name NULL. */
extern const batch_system batch_systems[];
/* Returns NULL if no batch system has that name. */
const batch_system *batch_find(const char *name);
/* Returns the value of an option; NULL if the option is not given. */
const char *batch_get(const batch_choice *c, const char *name);

/* Returns true if a string needs no quoting, because shells and batch systems do not interpret its characters: letters, digits
 * and "-_./:=,@+". It must not be empty or begin with '-'. */
bool batch_is_plain(const char *text);
/* Fails with CUBED_E_ARG if the system needs an option that is missing, or does not support a given option. */
CUBED_MUST_CHECK cubed_status batch_check(const batch_choice *c, cubed_error *err);
/* Writes the plan, its description and the scripts into the directory.
 *
 * Errors: CUBED_E_ARG if the run's name is not plain. CUBED_E_UNSUPPORTED if the plan has no work directory. CUBED_E_IO if a file
 * cannot be written. */
CUBED_MUST_CHECK cubed_status batch_write(batch_submission *s, const cubed_plan *plan,
                                          const void *bytes, size_t size, cubed_error *err);

#endif
