/* Functions that set errors and pass them to callers. */
#ifndef CB_BASE_ERROR_H
#define CB_BASE_ERROR_H

#include "cubed/base.h"

/* Sets the status and the message of *err (may be NULL), and returns `status`. Usually called as `return cb_fail(...)`. */
cubed_status cb_fail(cubed_error *err, cubed_status status, const char *fmt, ...)
    CUBED_PRINTF(3, 4);
/* Fills *err (may be NULL) from an errno and returns the status: CUBED_E_NOT_FOUND for ENOENT, CUBED_E_NOMEM for ENOMEM,
 * otherwise CUBED_E_IO. Appends the description of the errno to the message. The errno determines whether the error is
 * transient. */
cubed_status cb_fail_errno(cubed_error *err, int os_errno, const char *fmt, ...) CUBED_PRINTF(3, 4);
/* Adds context to an error that a function returns to its caller: the message becomes "context: message". Returns `status`. */
cubed_status cb_context(cubed_error *err, cubed_status status, const char *fmt, ...)
    CUBED_PRINTF(3, 4);

/* Appends to the message; `err` may be NULL. */
void cb_note(cubed_error *err, const char *fmt, ...) CUBED_PRINTF(2, 3);

/* Fails with CUBED_E_ARG if `what` ("a codec's vtable"), provided by a program, was compiled with another version of its header.
 * In this case its other fields must not be read, because their layout may differ. */
cubed_status cb_check_made_for(const char *what, size_t size, size_t expected_size,
                               uint32_t version, uint32_t expected_version, cubed_error *err);

/* Fails with CUBED_E_ARG if the flags passed to the function `what` include a flag that is not in `known`. */
cubed_status cb_check_flags(const char *what, unsigned flags, unsigned known, cubed_error *err);

/* Returns from the function with the status of `call` if `call` failed. For functions that own nothing yet. */
#define CB_TRY(call)                                                                               \
    do {                                                                                           \
        cubed_status cb_try_status_ = (call);                                                      \
        if (cb_try_status_ != CUBED_OK) return cb_try_status_;                                     \
    } while (0)

/* Stores the status of `call` in `st`, and jumps to the label `out` if `call` failed. For functions with an exit label. */
#define CB_GO(call)                                                                                \
    do {                                                                                           \
        st = (call);                                                                               \
        if (st != CUBED_OK) goto out;                                                              \
    } while (0)

/* Checks an invariant that a caller cannot break. Reports a bug instead of aborting. */
#define CB_CHECK(cond, err)                                                                        \
    do {                                                                                           \
        if (!(cond))                                                                               \
            return cb_fail((err), CUBED_E_INTERNAL, "bug: %s does not hold (%s:%d)", #cond,        \
                           __FILE_NAME__, __LINE__);                                               \
    } while (0)

#ifndef __FILE_NAME__
#define __FILE_NAME__ __FILE__
#endif

#endif
