/* What a worker is told that is started with nothing, and what it answers: the bytes of cubed/sys/message.h. */
#ifndef CB_RUN_TOLD_H
#define CB_RUN_TOLD_H

#include "cubed/sys/executor.h"

#include "base/alloc.h"

/* Appends a message with all that a worker needs. Options of stores are in it: it may hold secrets. */
CUBED_MUST_CHECK cubed_status cb_told_write(const cubed_executor_args *args,
                                            const cubed_task_range *range, cb_buf *out,
                                            cubed_error *err);
/* Behind a range; all of it points into the message. */
typedef struct cb_told {
    const char *work_dir, *plan_key, *version, *options;
} cb_told;
/* CUBED_E_FORMAT if it is none. */
CUBED_MUST_CHECK cubed_status cb_told_read(const void *message, size_t size, cb_told *out,
                                           cubed_error *err);

typedef struct cb_answer {
    const char *worker; /* its name, of so many bytes */
    size_t worker_size;
    const char *reports;
    size_t size;
    int64_t shift_ns; /* of its clock, to be of this process's */
} cb_answer;
/* Appends what stands in front of reports. */
void cb_answer_begin(cb_buf *out);
/* Of `bytes`. CUBED_E_FORMAT if it is none. */
CUBED_MUST_CHECK cubed_status cb_answer_read(const void *bytes, size_t size, cb_answer *out,
                                             cubed_error *err);

/* {"cubed": "BASE64"}, for services that carry JSON. */
void cb_told_put_json(cb_buf *out, const void *bytes, size_t size);
/* Appends what it stands for. CUBED_E_FORMAT if it is none. */
CUBED_MUST_CHECK cubed_status cb_told_take_json(const char *text, size_t size, cb_buf *out,
                                                cubed_error *err);

#endif
