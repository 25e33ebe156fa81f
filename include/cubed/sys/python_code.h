/* The function "python" of plans: a Python function on blocks.
 *
 * The Python package adds it to its context (cubed/sys/block.h). A program that does not run Python can add a function with this
 * name and the checks below. It can then load plans with Python functions, and give their tasks to workers of the package. */
#ifndef CUBED_SYS_PYTHON_CODE_H
#define CUBED_SYS_PYTHON_CODE_H

#include <stdio.h>
#include <string.h>

#include "cubed/dtype.h"
#include "cubed/sys/block.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CUBED_PYTHON_NAME "python"

/* Header at the start of the parameters. The pickled code follows it. */
typedef struct cubed_python_params {
    uint64_t extra_mem; /* bytes that a call allocates in addition to its results */
    uint8_t digest[16]; /* digest of the pickled code */
    char title[40];     /* name that is shown to users; NUL-terminated */
} cubed_python_params;

/* Fails with CUBED_E_FORMAT unless the parameters have a header and code: for `check` of cubed_block_fn. */
static inline cubed_status cubed_python_check(const cubed_block_call *call, void *ctx,
                                              cubed_error *err)
{
    const cubed_python_params *p = (const cubed_python_params *)call->params;
    (void)ctx;
    if (call->params_size > sizeof *p && memchr(p->title, 0, sizeof p->title)) return CUBED_OK;
    if (err) {
        err->status = CUBED_E_FORMAT;
        err->os_errno = 0;
        snprintf(err->message, sizeof err->message, "a function of Python without code");
    }
    return CUBED_E_FORMAT;
}

/* Returns the size of an operand in bytes; SIZE_MAX if it does not fit into a size_t. */
static inline size_t cubed_python_bytes(const cubed_block *b)
{
    size_t bytes = cubed_dtype_size(b->dtype);
    for (int d = 0; d < b->ndim; d++) {
        if (__builtin_mul_overflow(bytes, (size_t)b->shape[d], &bytes)) return SIZE_MAX;
    }
    return bytes;
}

/* The `need` of cubed_block_fn. A call needs memory outside the arena for its results, which are copied, and the declared extra
 * memory. The function itself stays in memory until the run ends. Its memory, about the size of its code, is counted with the
 * plan. */
static inline cubed_block_need cubed_python_need(const cubed_block_call *largest, void *ctx)
{
    cubed_block_need need = {0, 0};
    size_t sum = (size_t)((const cubed_python_params *)largest->params)->extra_mem;
    (void)ctx;
    for (int i = 0; i < largest->nout; i++) {
        if (__builtin_add_overflow(sum, cubed_python_bytes(&largest->out[i]), &sum)) sum = SIZE_MAX;
    }
    need.library = sum;
    return need;
}

/* Returns the name that is shown to users: for `title` of cubed_block_fn. */
static inline const char *cubed_python_title(const void *params)
{
    return ((const cubed_python_params *)params)->title;
}

#ifdef __cplusplus
}
#endif

#endif
