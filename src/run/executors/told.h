/* Messages to workers that start without a plan, such as functions of cloud services, and the answers of these workers. The
 * format is described in cubed/sys/message.h. */
#ifndef CB_RUN_TOLD_H
#define CB_RUN_TOLD_H

#include "cubed/sys/executor.h"

#include "base/alloc.h"

/* Appends a message with everything that a worker needs. It contains storage options, so it may hold secrets. */
CUBED_MUST_CHECK cubed_status cb_told_write(const cubed_executor_args *args,
                                            const cubed_task_range *range, cb_buf *out,
                                            cubed_error *err);
/* The strings of a message, which follow the range of tasks. They point into the message. */
typedef struct cb_told {
    const char *work_dir, *plan_key, *version, *options;
} cb_told;
/* Reads a message. Fails with CUBED_E_FORMAT if the bytes are not a message of cb_told_write. */
CUBED_MUST_CHECK cubed_status cb_told_read(const void *message, size_t size, cb_told *out,
                                           cubed_error *err);

typedef struct cb_answer {
    const char *worker; /* name, `worker_size` bytes long */
    size_t worker_size;
    const char *reports;
    size_t size;
    int64_t
        shift_ns; /* offset that is added to times of the worker's clock to get times of this process's clock */
} cb_answer;
/* Appends the head of this worker's answer: the offset of its clock (shift_ns of cb_answer), and its name. Append the reports
 * after the head. */
void cb_answer_begin(cb_buf *out);
/* Reads the answer in `bytes`. CUBED_E_FORMAT if it is not an answer. */
CUBED_MUST_CHECK cubed_status cb_answer_read(const void *bytes, size_t size, cb_answer *out,
                                             cubed_error *err);

/* For services that transport only JSON: appends a message or an answer as {"cubed": "BASE64"}. */
void cb_told_put_json(cb_buf *out, const void *bytes, size_t size);
/* The inverse of cb_told_put_json: appends the bytes that a JSON text encodes. CUBED_E_FORMAT if the text has another form. */
CUBED_MUST_CHECK cubed_status cb_told_take_json(const char *text, size_t size, cb_buf *out,
                                                cubed_error *err);

#endif
