/* Workers of a cloud service, simulated by a clock of their own: an executor for the driver (run/driver/schedule.h).
 *
 * No task is executed. A task takes the time that the model gives it. The driver and the plan are real. */
#ifndef CB_TESTS_SIMULATED_WORKERS_H
#define CB_TESTS_SIMULATED_WORKERS_H

#include "cubed/cubed.h"
#include "run/driver/schedule.h"

/* Parameters of the model. sim_parameters has their values, units and sources. */
enum {
    SIM_BURST,
    SIM_RAMP,
    SIM_START,
    SIM_CALL,
    SIM_LATENCY,
    SIM_BANDWIDTH,
    SIM_GETS,
    SIM_PUTS,
    SIM_SLOW,
    SIM_SLOWER,
    SIM_LOST,
    SIM_NPARAMETERS
};

typedef struct sim_parameter {
    const char *name, *unit;
    double value;
    const char *source; /* document in which the value is published */
} sim_parameter;
extern const sim_parameter sim_parameters[SIM_NPARAMETERS];

typedef struct sim_model {
    double value[SIM_NPARAMETERS];
    double task_seconds; /* duration of every task; 0: derived from the plan */
    double twice;        /* share of reports that arrive twice */
    uint64_t seed;
} sim_model;

typedef struct sim_result {
    cubed_run_stats stats;
    double seconds; /* simulated duration of the run */
    double busy;    /* worker-seconds of tasks, including repeated ones */
    double
        possible; /* duration if each worker were busy from its start to the end, without losses */
    int64_t reports;   /* reports that the driver received */
    int64_t most_late; /* largest number of ranges that waited for workers that had not started */
} sim_result;

/* Returns the model of the sources. */
sim_model sim_model_of(uint64_t seed);

/* Runs a plan with as many workers as it was made for. The sources need not have chunks.
 *
 * seconds_of_task  NULL: as the model says */
CUBED_MUST_CHECK cubed_status sim_run(cubed_plan *plan, const sim_model *model, sim_result *result,
                                      cubed_error *err);

/* The plan of mean(u*u), mean(v*v) and mean(u*v) over `times` levels of 1 x 987 x 1920 float64, with `step` levels per chunk.
 * Writes the metadata of the sources into the directory `dir`, which exists.
 *
 * compressor  the member "compressor" of the metadata of Zarr 2: "null" for raw chunks */
CUBED_MUST_CHECK cubed_status sim_means(cubed_context *ctx, const char *dir, int64_t times,
                                        int64_t step, const char *compressor, unsigned workers,
                                        cubed_plan **out, cubed_error *err);

#endif
