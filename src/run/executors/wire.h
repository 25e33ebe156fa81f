/* The socket protocol of the executor "processes" and its workers. The driver sends a greeting, the serialised plan, and then
 * ranges of tasks. A worker sends reports (cubed/sys/message.h). */
#ifndef CB_RUN_WIRE_H
#define CB_RUN_WIRE_H

#include "cubed/sys/message.h"

/* The driver's first message. The plan's bytes follow, then ranges. */
typedef struct cb_wire_hello {
    uint64_t plan_size;
    /* number of descriptors of shared memory, which follow the connection's descriptor */
    uint32_t nshared;
    /* an earlier run of the plan began all targets in stores; also true if no target is in a store */
    bool resume;
    uint32_t timeout_ms;    /* see cubed_run_options */
    char plan[40], run[40]; /* ID of the plan and name of the driver's run (run/places/self.h) */
} cb_wire_hello;
/* Size of an encoded greeting: "CBDH", the version of the protocol, and two zero bytes; the library's version in 24 bytes; then
 * the fields of cb_wire_hello in order, except that `resume` has 4 bytes and timeout_ms is last. */
#define CB_WIRE_HELLO_BYTES 132

/* Tokens of reports that do not belong to a task: the worker cannot start, or the worker is ready for its first range. */
#define CB_WIRE_NO_START UINT64_MAX
#define CB_WIRE_READY    (UINT64_MAX - 1)

/* The part of a worker's report that has arrived. */
typedef struct cb_wire_inbox {
    cubed_task_report report;
    uint8_t head[CUBED_REPORT_BYTES];
    uint8_t *whole; /* buffer of `size` bytes for a report that is longer than `head` */
    size_t size, got;
} cb_wire_inbox;

typedef enum cb_wire_came {
    CB_WIRE_MORE,  /* incomplete */
    CB_WIRE_WHOLE, /* a whole report is in the inbox, which is ready to receive the next one */
    CB_WIRE_END    /* the connection has ended */
} cb_wire_came;

void cb_wire_put_hello(const cb_wire_hello *h, uint8_t bytes[CB_WIRE_HELLO_BYTES]);
/* Reads a greeting. CUBED_E_FORMAT if the bytes are not a greeting, CUBED_E_UNSUPPORTED if it is from another version of the
 * library. */
CUBED_MUST_CHECK cubed_status cb_wire_get_hello(const uint8_t bytes[CB_WIRE_HELLO_BYTES],
                                                cb_wire_hello *h, cubed_error *err);
/* Sends `data` from byte *sent on, as much as a non-blocking connection accepts, and adds the number of bytes to *sent. Returns
 * false at the end of the connection. */
bool cb_wire_send_some(int fd, const void *data, size_t size, size_t *sent);
/* Receives the bytes of a report that have arrived on a non-blocking connection. Fails if the bytes are not a report. */
CUBED_MUST_CHECK cubed_status cb_wire_receive_some(const cubed_context *ctx, int fd,
                                                   cb_wire_inbox *in, cb_wire_came *came,
                                                   cubed_error *err);
void cb_wire_inbox_clear(const cubed_context *ctx, cb_wire_inbox *in);
/* Receives a whole message. Returns false at the end of the connection or after an error. */
bool cb_wire_receive(int fd, void *data, size_t size);
bool cb_wire_send_report(const cubed_context *ctx, int fd, const cubed_task_report *report);

#endif
