#define _GNU_SOURCE
#include "status_file.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define EVERY_NS ((int64_t)1000000000)
/* Maximum size of a status file that is read; report_write_status writes less. */
#define MOST_BYTES ((size_t)1 << 20)

int64_t cli_clock_ns(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Replaces the file, so that readers see a whole status. Returns an errno, or 0. */
static int write_status(cli_status *s, const report *r, const char *state, const char *error)
{
    const report_state what = {.executor = s->executor, .state = state, .error = error};
    FILE *f = fopen(s->temporary, "w");
    if (!f) return errno;
    report_write_status(r, &what, f);
    const bool failed = ferror(f) != 0;
    int code = fclose(f) != 0 ? errno : failed ? EIO : 0;
    if (code == 0 && rename(s->temporary, s->path) != 0) code = errno;
    if (code != 0) (void)unlink(s->temporary);
    s->written_ns = cli_clock_ns();
    return code;
}

cubed_status cli_status_open(cli_status *s, const char *path, const char *executor, const report *r,
                             cubed_error *err)
{
    s->path = cli_strdup(path);
    s->temporary = cli_printf("%s.%d", path, (int)getpid());
    s->executor = executor;
    const int code = write_status(s, r, "running", NULL);
    if (code == 0) return CUBED_OK;
    cli_free(s->path);
    s->path = NULL;
    const cubed_status st = cli_reject(err, "cannot write %s: %s", path, strerror(code));
    err->status = CUBED_E_IO;
    return st == CUBED_OK ? st : CUBED_E_IO;
}

void cli_status_event(cli_status *s, const report *r)
{
    if (s->path && cli_clock_ns() - s->written_ns >= EVERY_NS)
        (void)write_status(s, r, "running", NULL);
}

void cli_status_close(cli_status *s, const report *r, const char *error)
{
    if (s->path) (void)write_status(s, r, error ? "failed" : "done", error);
    cli_free(s->path);
    cli_free(s->temporary);
}

/* --- Reading ------------------------------------------------------------------------------------------ */

static json_int_t number(const json_t *status, const char *name)
{
    const json_t *value = json_object_get(status, name);
    return json_is_real(value) ? (json_int_t)json_real_value(value) : json_integer_value(value);
}

static const char *string(const json_t *status, const char *name)
{
    const char *value = json_string_value(json_object_get(status, name));
    return value ? value : "";
}

/* Returns true if the status reports a running run whose process on this machine has ended. */
static bool is_gone(const json_t *status)
{
    char host[256] = "";
    if (strcmp(string(status, "state"), "running") != 0) return false;
    if (gethostname(host, sizeof host - 1) != 0 || strcmp(host, string(status, "host")) != 0)
        return false;
    return cubed_process_start(number(status, "pid")) != (uint64_t)number(status, "process_start");
}

json_t *cli_status_read(const char *path, char **why)
{
    char *text = cli_alloc(MOST_BYTES);
    json_error_t wrong;
    json_t *status = NULL;
    FILE *f = fopen(path, "r");
    if (!f) {
        *why = cli_printf("%s: %s", path, strerror(errno));
        cli_free(text);
        return NULL;
    }
    const size_t n = fread(text, 1, MOST_BYTES, f);
    (void)fclose(f);
    if (n < MOST_BYTES) status = json_loadb(text, n, 0, &wrong);
    cli_free(text);
    if (number(status, "cubed_status") != 1) {
        json_decref(status);
        *why =
            cli_printf("%s is not a status file of a run: expected a file that the option --status "
                       "wrote, or a directory that cubed submit wrote",
                       path);
        return NULL;
    }
    const json_int_t age = (json_int_t)time(NULL) - number(status, "updated");
    (void)json_object_set_new(status, "age", json_integer(age > 0 ? age : 0));
    if (is_gone(status)) (void)json_object_set_new(status, "state", json_string("gone"));
    return status;
}

void cli_status_print(const json_t *status)
{
    char measured[32], allowed[32];
    const json_t *stages = json_object_get(status, "stages");
    const char *state = string(status, "state"), *error = string(status, "error");
    for (size_t i = 0; i < json_array_size(stages); i++) {
        const json_t *s = json_array_get(stages, i);
        cli_say(stdout, "stage %" PRId64 ": %" PRId64 " of %" PRId64 " tasks done: %s\n",
                (int64_t)number(s, "stage"), (int64_t)number(s, "done"),
                (int64_t)number(s, "tasks"), string(s, "name"));
    }
    cli_say(stdout,
            "%s: %" PRId64 " of %" PRId64 " tasks done on %s, %" PRId64 " failed attempts, largest "
            "task %s of %s; last update %" PRId64 " s ago\n",
            strcmp(state, "gone") == 0 ? "the process of the run has ended without a result"
                                       : state,
            (int64_t)number(status, "done"), (int64_t)number(status, "tasks"),
            string(status, "executor"), (int64_t)number(status, "failed"),
            cli_format_bytes((double)number(status, "measured_mem"), measured),
            cli_format_bytes((double)number(status, "task_mem"), allowed),
            (int64_t)number(status, "age"));
    if (*error) cli_say(stdout, "%s\n", error);
}
