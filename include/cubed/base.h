/* Base of all public headers: export marks, limits, status codes, errors and allocators.
 *
 * Conventions of the whole API:
 * - Functions that can fail return cubed_status and take a trailing, optional `cubed_error *err` that the caller owns. On
 *   failure every output is left untouched or set to NULL.
 * - The caller owns the object in an output `T **out`, and releases it with the matching `_unref` or `_free`. A returned
 *   `const char *` or `const T *` belongs to the object that was passed to the function.
 * - Option structures start with `size_t struct_size`. Initialise them with their `_INIT` macro; another struct_size causes
 *   CUBED_E_ARG. NULL as a pointer to options selects the defaults.
 * - Any function that allocates may fail with CUBED_E_NOMEM, and any function that uses a store with CUBED_E_IO. Comments
 *   name only the other errors.
 * - Objects may be used from any thread. Two threads must not use one object at the same time unless its header allows it. */
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

/* Largest number of dimensions of an array. */
#define CUBED_MAX_NDIM 32

/* The result of a function: success, or the kind of failure. The Python exception is in parentheses. */
typedef enum cubed_status {
    CUBED_OK = 0,
    CUBED_E_ARG,    /* an argument's value is wrong (Python: ValueError) */
    CUBED_E_TYPE,   /* an argument's data type is wrong (TypeError) */
    CUBED_E_INDEX,  /* an index is out of bounds (IndexError) */
    CUBED_E_NOMEM,  /* the machine is out of memory (MemoryError) */
    CUBED_E_BUDGET, /* the plan needs more memory than is allowed (MemoryError) */
    CUBED_E_IO, /* the operating system or a store failed; err->os_errno is the cause (OSError) */
    CUBED_E_NOT_FOUND, /* a store, key or array does not exist (FileNotFoundError) */
    CUBED_E_EXISTS, /* something exists that the call may not replace, such as a target or another run (FileExistsError) */
    CUBED_E_FORMAT, /* metadata or chunk bytes are malformed (ValueError) */
    CUBED_E_UNSUPPORTED, /* valid, but not implemented (NotImplementedError) */
    CUBED_E_CANCELLED,   /* the run was interrupted (KeyboardInterrupt) */
    CUBED_E_INTERNAL,    /* a bug in this library (RuntimeError) */
    CUBED_E_FUNCTION,    /* a user-defined function failed (its exception) */
    CUBED_E_LINALG, /* a matrix is singular, or has no factors of the requested form (numpy.linalg.LinAlgError) */
    CUBED_E_AXIS, /* an axis is out of bounds (numpy.exceptions.AxisError) */
} cubed_status;

enum { CUBED_ERROR_ORIGINS = 8 };

/* Reason for the failure of a task. It decides whether the task is retried. */
typedef enum cubed_failure {
    CUBED_FAILURE_PERMANENT, /* the task would fail again if it were retried */
    CUBED_FAILURE_TRANSIENT, /* input or output failed, but may succeed later */
    /* the machine has too little memory for the task, so a retry with the same memory is useless */
    CUBED_FAILURE_MEMORY,
    /* the worker was ordered to stop, for example because its machine was reclaimed; the attempt is not counted */
    CUBED_FAILURE_PREEMPTED,
    CUBED_FAILURE_LOST,     /* the worker died for an unknown reason */
    CUBED_FAILURE_TIMED_OUT /* the task exceeded task_timeout_ms */
} cubed_failure;
#define CUBED_FAILURES 6

/* Details of a failure. Zero the structure or use CUBED_ERROR_INIT before the first use. A function that succeeds does not
 * change it. */
typedef struct cubed_error {
    cubed_status status;
    int os_errno;       /* errno of the system call that failed; 0: unknown */
    char message[1008]; /* UTF-8, NUL-terminated, no newline at the end */
    /* Origins (cubed_array_set_origin) of the arrays that a stage computes, starting with the last array, if the stage exceeds
     * its memory or one of its tasks failed. Unused entries are 0. */
    uint32_t origins[CUBED_ERROR_ORIGINS];
    /* For a refused plan (CUBED_E_BUDGET): an allowed_mem, in bytes, with which the plan can be created if nothing else
     * changes; 0: unknown. If the machine has memory for fewer workers of this size, the message states their number. */
    uint64_t enough_mem;
    /* Number that identifies the object that the program's own code raised (cubed/sys/raised.h); 0: none. */
    uint64_t raised;
    /* For CUBED_E_IO: whether a retry may succeed (`transient`), and the number of milliseconds to wait before it. */
    uint32_t retry_after_ms;
    bool transient;
    /* Set by the worker or executor if `status` and `transient` do not express the failure; see cubed_failure_of. */
    cubed_failure failure;
    /* For a run that ends because a task failed. failed_stage: 1 + the number of the task's stage; 0 if no task failed.
     * failed_task: the number of the task. */
    int failed_stage;
    int64_t failed_task;
    int argument; /* set by cubed_call: 1 + the index of the wrong argument; 0 if no argument is wrong */
} cubed_error;

#define CUBED_ERROR_INIT                                                                           \
    {                                                                                              \
        CUBED_OK, 0, "", {0}, 0, 0, 0, false, CUBED_FAILURE_PERMANENT, 0, 0, 0                     \
    }

/* Returns a status as a short English phrase; never NULL. */
CUBED_API const char *cubed_status_str(cubed_status status);
/* Returns the kind of failure of a task's error: `failure` if it is not CUBED_FAILURE_PERMANENT, else the kind that `status`
 * and `transient` imply. `err` is not NULL. */
CUBED_API cubed_failure cubed_failure_of(const cubed_error *err);
/* Returns a failure as a short English phrase such as "timed out"; never NULL. */
CUBED_API const char *cubed_failure_str(cubed_failure failure);

/* Returns the version of the library, such as "1.0.0.dev0". */
CUBED_API const char *cubed_version(void);
/* Removes user and password (`http://user:password@host`) and the values of parameters that sign a request (`?sig=...`) from
 * all URLs in a string, in place. The library removes them from its own messages. */
CUBED_API void cubed_hide_secrets(char *text);

/* Returns the libraries that this library was built with, and their versions, as one line of text. */
CUBED_API const char *cubed_libraries(void);

/* Parses a number of bytes with an optional unit: "2GB", "1.5 GiB", "2gb", "500M", "1.5e9", "100_000". Returns false, and
 * leaves *out unchanged, if `text` is not a number of bytes or exceeds 9e18.
 *
 * Units are in upper or lower case: B; kB, MB, GB, TB and PB (powers of 1000), in which the B is optional; KiB, MiB, ...
 * (powers of 1024). A fraction of a byte is dropped. */
CUBED_API bool cubed_parse_bytes(const char *text, uint64_t *out);

/* Allocator of the library's own memory. Both functions must be callable from any thread.
 *
 * resize  allocates a block if `ptr` is NULL; otherwise changes the size of a block, as realloc does. Returns NULL, and leaves
 *         the old block intact, if there is no memory
 * free    frees a block; `size` is the size that was requested */
typedef struct cubed_allocator {
    void *ctx;
    void *(*resize)(void *ctx, void *ptr, size_t old_size, size_t new_size);
    void (*free)(void *ctx, void *ptr, size_t size);
} cubed_allocator;

#ifdef __cplusplus
}
#endif

#endif
