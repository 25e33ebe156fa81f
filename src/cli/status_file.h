/* Status files: the state of a run as JSON, which the run writes and `cubed status` reads. */
#ifndef CUBED_CLI_STATUS_FILE_H
#define CUBED_CLI_STATUS_FILE_H

#include <jansson.h>

#include "cli.h"
#include "report/report.h"

/* The status file that a run writes. */
typedef struct cli_status {
    char *path, *temporary; /* path: NULL if no status is written */
    const char *executor;
    int64_t written_ns;
} cli_status;

/* Creates the status file of a run. `r` is the report of the run. Call cli_status_close, also after an error. */
CUBED_MUST_CHECK cubed_status cli_status_open(cli_status *s, const char *path, const char *executor,
                                              const report *r, cubed_error *err);
/* Writes the status of the run, unless the previous status was written less than a second ago. Errors are ignored, because a
 * later status may be written. */
void cli_status_event(cli_status *s, const report *r);
/* Writes the last status; `error` is NULL if the run succeeded. */
void cli_status_close(cli_status *s, const report *r, const char *error);

/* Returns the nanoseconds of a monotonic clock. */
int64_t cli_clock_ns(void);

/* Reads a status file, and adds its age in seconds. A run whose process has ended on this machine has the state "gone". On
 * failure, returns NULL and sets *why to a message, which the caller frees with cli_free. */
json_t *cli_status_read(const char *path, char **why);
/* Prints a status. */
void cli_status_print(const json_t *status);

/* Returns a status, which the server releases. On failure, returns NULL and sets *why to a message. */
typedef json_t *(*cli_status_fn)(void *ctx, char **why);
/* Shows a status on a page at http://127.0.0.1:PORT/ until the command is interrupted. Only this machine can connect. `port` 0: a
 * free port. Returns an exit code. */
int cli_status_serve(const char *verb, uint16_t port, cli_status_fn get, void *ctx);

#endif
