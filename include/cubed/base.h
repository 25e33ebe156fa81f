/* What every public header needs: export marks, limits, status codes, errors and allocators.
 *
 * Conventions of the whole API:
 *  - Functions that can fail return cubed_status and take a trailing, optional `cubed_error *err`
 *    owned by the caller; on failure every output is left untouched or set to NULL.
 *  - `T **out` outputs are owned by the caller and released with the matching `_unref`/`_free`.
 *    A `const char *` or `const T *` that is returned belongs to the object it was asked of.
 *  - Option structs start with `size_t struct_size`; set them with their `_INIT` macro.
 *  - Objects may be used from any thread; one object is not used from two threads at once unless
 *    its header says so.
 */
#ifndef CUBED_BASE_H
#define CUBED_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define CUBED_API               __attribute__((visibility("default")))
#define CUBED_MUST_CHECK        __attribute__((warn_unused_result))
#define CUBED_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define CUBED_API
#define CUBED_MUST_CHECK
#define CUBED_PRINTF(fmt, args)
#endif

#define CUBED_VERSION_MAJOR  1
#define CUBED_VERSION_MINOR  0
#define CUBED_VERSION_PATCH  0
#define CUBED_VERSION_STRING "1.0.0.dev0"

/* Most dimensions an array may have. */
#define CUBED_MAX_NDIM 32

typedef enum cubed_status {
    CUBED_OK = 0,
    CUBED_E_ARG,    /* an argument's value is wrong (Python: ValueError) */
    CUBED_E_TYPE,   /* an argument's data type is wrong (TypeError) */
    CUBED_E_INDEX,  /* an index is out of bounds (IndexError) */
    CUBED_E_NOMEM,  /* the machine has no more memory (MemoryError) */
    CUBED_E_BUDGET, /* the plan needs more than it is allowed (MemoryError) */
    CUBED_E_IO,     /* the operating system or a store failed; err->os_errno says how (OSError) */
    CUBED_E_NOT_FOUND,   /* a store, key or array does not exist (FileNotFoundError) */
    CUBED_E_EXISTS,      /* the target exists and overwriting was not asked for (FileExistsError) */
    CUBED_E_FORMAT,      /* metadata or chunk bytes are malformed (ValueError) */
    CUBED_E_UNSUPPORTED, /* valid, but not implemented (NotImplementedError) */
    CUBED_E_CANCELLED,   /* the run was interrupted (KeyboardInterrupt) */
    CUBED_E_INTERNAL,    /* a bug in this library (RuntimeError) */
    CUBED_E_FUNCTION,    /* a function that the user brought failed (its exception) */
    CUBED_E_LINALG, /* a matrix is singular, or has no such factors (numpy.linalg.LinAlgError) */
    CUBED_E_AXIS,   /* an axis is out of bounds (numpy.exceptions.AxisError) */
} cubed_status;

enum { CUBED_ERROR_ORIGINS = 8 };

/* Why a task failed, as far as it matters for trying again. */
typedef enum cubed_failure {
    CUBED_FAILURE_PERMANENT, /* the same would fail again */
    CUBED_FAILURE_TRANSIENT, /* input or output that may succeed later */
    CUBED_FAILURE_MEMORY,    /* it needs more than there is: not tried again with as much */
    CUBED_FAILURE_PREEMPTED, /* its worker was told to end: counts as no attempt */
    CUBED_FAILURE_LOST,      /* its worker died, and nobody knows of what */
    CUBED_FAILURE_TIMED_OUT  /* it took longer than task_timeout_ms */
} cubed_failure;
#define CUBED_FAILURES 6

/* Where a failing function explains itself. Zero it or use CUBED_ERROR_INIT before the first use;
 * a function that succeeds does not touch it. */
typedef struct cubed_error {
    cubed_status status;
    int os_errno;       /* errno of the failing call, else 0 */
    char message[1008]; /* UTF-8, NUL-terminated, no newline at the end */
    /* Of a stage that does not fit, or whose task failed: the cubed_array_set_origin of what it computes,
     * the last first; then zeros. */
    uint32_t origins[CUBED_ERROR_ORIGINS];
    /* Of a plan that is refused (CUBED_E_BUDGET): an allowed_mem with which it is made, all else as it was;
     * 0: none is known. */
    uint64_t enough_mem;
    /* What the program's own code raised, by a number that it knows (cubed/sys/raised.h); 0: nothing. */
    uint64_t raised;
    /* The same may succeed if it is tried again, not before so many milliseconds: of CUBED_E_IO only. */
    uint32_t retry_after_ms;
    bool transient;
    /* Of a task, where its worker or executor knows more than status and `transient` say: see cubed_failure_of. */
    cubed_failure failure;
    /* Of a run that ends as a task failed: 1 + the number of its stage (0: no task failed), and which of its tasks. */
    int failed_stage;
    int64_t failed_task;
    int argument; /* of cubed_call: 1 + the number of the argument that is wrong; 0: none is */
} cubed_error;

#define CUBED_ERROR_INIT                                                                           \
    {                                                                                              \
        CUBED_OK, 0, "", {0}, 0, 0, 0, false, CUBED_FAILURE_PERMANENT, 0, 0, 0                     \
    }

/* A status as a short English phrase; never NULL. */
CUBED_API const char *cubed_status_str(cubed_status status);
/* What kind of failure an error of a task is: `failure`, or what follows from status and `transient`. */
CUBED_API cubed_failure cubed_failure_of(const cubed_error *err);
/* "timed out"; never NULL. */
CUBED_API const char *cubed_failure_str(cubed_failure failure);

/* "1.0.0.dev0" */
CUBED_API const char *cubed_version(void);
/* Removes from all URLs in a text user and password (`http://user:password@host`) and the values of parameters that
 * sign a request (`?sig=...`). The library's messages are treated so. */
CUBED_API void cubed_hide_secrets(char *text);

/* The libraries that it was built with, and their versions, as one line for people. */
CUBED_API const char *cubed_libraries(void);

/* A number of bytes as people write it: "2GB", "1.5 GiB", "2gb", "500M", "1.5e9", "100_000". Units are B, and k, M, G, T and P
 * (powers of 1000) or Ki, Mi, ... (of 1024) with B behind them, in any case; the B of the first may be left out. False
 * if `text` is none of that, or more than 9e18; *out is only set where it is true. */
CUBED_API bool cubed_parse_bytes(const char *text, uint64_t *out);

/* Where the library's own memory comes from. `resize` behaves as realloc (ptr NULL: allocate;
 * returns NULL when there is none, old block intact), `free` is told the size that was asked for.
 * Both must be callable from any thread. */
typedef struct cubed_allocator {
    void *ctx;
    void *(*resize)(void *ctx, void *ptr, size_t old_size, size_t new_size);
    void (*free)(void *ctx, void *ptr, size_t size);
} cubed_allocator;

#ifdef __cplusplus
}
#endif

#endif
