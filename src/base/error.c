#define _GNU_SOURCE
#include "base/error.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *cubed_version(void) { return CUBED_VERSION_STRING; }

const char *cubed_status_str(cubed_status status)
{
    switch (status) {
    case CUBED_OK: return "ok";
    case CUBED_E_ARG: return "invalid argument";
    case CUBED_E_TYPE: return "wrong data type";
    case CUBED_E_INDEX: return "index out of bounds";
    case CUBED_E_NOMEM: return "out of memory";
    case CUBED_E_BUDGET: return "over the memory budget";
    case CUBED_E_IO: return "input/output error";
    case CUBED_E_NOT_FOUND: return "not found";
    case CUBED_E_EXISTS: return "already exists";
    case CUBED_E_FORMAT: return "malformed data";
    case CUBED_E_UNSUPPORTED: return "not supported";
    case CUBED_E_CANCELLED: return "interrupted";
    case CUBED_E_INTERNAL: return "internal error";
    case CUBED_E_FUNCTION: return "a user's function failed";
    case CUBED_E_LINALG: return "singular matrix or no factors";
    case CUBED_E_AXIS: return "axis out of bounds";
    }
    return "unknown status";
}

cubed_failure cubed_failure_of(const cubed_error *err)
{
    if (err->failure != CUBED_FAILURE_PERMANENT) return err->failure;
    if (err->status == CUBED_E_NOMEM) return CUBED_FAILURE_MEMORY;
    return err->transient ? CUBED_FAILURE_TRANSIENT : CUBED_FAILURE_PERMANENT;
}

const char *cubed_failure_str(cubed_failure failure)
{
    static const char *const names[CUBED_FAILURES] = {"permanent", "transient", "out of memory",
                                                      "preempted", "lost",      "timed out"};
    return (unsigned)failure < CUBED_FAILURES ? names[failure] : "unknown failure";
}

static void clear(cubed_error *err, cubed_status status, int os_errno)
{
    err->status = status;
    err->os_errno = os_errno;
    memset(err->origins, 0, sizeof err->origins);
    err->enough_mem = 0;
    err->raised = 0;
    err->retry_after_ms = 0;
    err->transient = false;
    err->failure = CUBED_FAILURE_PERMANENT;
    err->failed_stage = 0;
    err->failed_task = 0;
    err->argument = 0;
}

cubed_status cb_fail(cubed_error *err, cubed_status status, const char *fmt, ...)
{
    if (!err) return status;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(err->message, sizeof err->message, fmt, ap);
    va_end(ap);
    cubed_hide_secrets(err->message);
    clear(err, status, 0);
    return status;
}

cubed_status cb_check_made_for(const char *what, size_t size, size_t expected_size,
                               uint32_t version, uint32_t expected_version, cubed_error *err)
{
    if (size == expected_size && version == expected_version) return CUBED_OK;
    return cb_fail(err, CUBED_E_ARG,
                   "%s has version %" PRIu32 " and %zu bytes, expected version %" PRIu32
                   " and %zu: compile it with the headers of libcubed %s",
                   what, version, size, expected_version, expected_size, CUBED_VERSION_STRING);
}

/* Returns true if an error may be transient: any error except a lack of space or of permission. */
static bool may_be_transient(int os_errno)
{
    static const int final[] = {ENOSPC, EFBIG, EROFS, EACCES, EPERM, EDQUOT};
    for (size_t i = 0; i < sizeof final / sizeof *final; i++) {
        if (os_errno == final[i]) return false;
    }
    return true;
}

cubed_status cb_fail_errno(cubed_error *err, int os_errno, const char *fmt, ...)
{
    cubed_status status = os_errno == ENOENT   ? CUBED_E_NOT_FOUND
                          : os_errno == ENOMEM ? CUBED_E_NOMEM
                                               : CUBED_E_IO;
    if (!err) return status;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(err->message, sizeof err->message, fmt, ap);
    va_end(ap);
    cubed_hide_secrets(err->message);
    char text[128];
    size_t used = strlen(err->message);
    /* GNU strerror_r may return another string instead of filling `text`. */
    const char *why = strerror_r(os_errno, text, sizeof text);
    snprintf(err->message + used, sizeof err->message - used, ": %s", why);
    clear(err, status, os_errno);
    err->transient = status == CUBED_E_IO && may_be_transient(os_errno);
    return status;
}

void cb_note(cubed_error *err, const char *fmt, ...)
{
    if (!err) return;
    const size_t used = strlen(err->message);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(err->message + used, sizeof err->message - used, fmt, ap);
    va_end(ap);
    cubed_hide_secrets(err->message + used);
}

cubed_status cb_context(cubed_error *err, cubed_status status, const char *fmt, ...)
{
    if (!err || status == CUBED_OK) return status;
    char old[sizeof err->message];
    memcpy(old, err->message, sizeof old);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(err->message, sizeof err->message, fmt, ap);
    va_end(ap);
    cubed_hide_secrets(err->message);
    size_t used = strlen(err->message);
    snprintf(err->message + used, sizeof err->message - used, ": %s", old);
    return status;
}

cubed_status cb_check_flags(const char *what, unsigned flags, unsigned known, cubed_error *err)
{
    if ((flags & ~known) == 0) return CUBED_OK;
    return cb_fail(err, CUBED_E_ARG, "%s: unknown flags 0x%x, expected a combination of 0x%x", what,
                   flags & ~known, known);
}
