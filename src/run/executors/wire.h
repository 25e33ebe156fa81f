/* What the executor "processes" and its workers say to each other over a socket: a greeting, the plan's bytes, then
 * ranges one way and reports the other, as in cubed/sys/message.h. */
#ifndef CB_RUN_WIRE_H
#define CB_RUN_WIRE_H

#include "cubed/sys/message.h"

/* The driver's first message; the plan's bytes follow. Then come ranges. */
typedef struct cb_wire_hello {
    uint64_t plan_size;
    uint32_t nshared;       /* descriptors of memory that is shared, behind the connection's */
    bool resume;            /* all targets have been begun by an earlier run */
    uint32_t timeout_ms;    /* of cubed_run_options */
    char plan[40], run[40]; /* of the driver's run, see run/places/self.h */
} cb_wire_hello;
/* "CBDH", version, two zeros; the library's version in 24 bytes; then the above in their order, `resume` in 4 bytes, and timeout_ms
 * last. */
#define CB_WIRE_HELLO_BYTES 132

/* Tokens of reports of no task: of a worker that cannot start, and of one that waits for its first range. */
#define CB_WIRE_NO_START UINT64_MAX
#define CB_WIRE_READY    (UINT64_MAX - 1)

/* What has come so far of a report that a worker sends. */
typedef struct cb_wire_inbox {
    cubed_task_report report;
    uint8_t head[CUBED_REPORT_BYTES];
    uint8_t *whole; /* of reports that are longer: `size` bytes */
    size_t size, got;
} cb_wire_inbox;

typedef enum cb_wire_came {
    CB_WIRE_MORE,  /* the rest has yet to come */
    CB_WIRE_WHOLE, /* the report is in the inbox, which is ready for the next one */
    CB_WIRE_END    /* of the connection */
} cb_wire_came;

void cb_wire_put_hello(const cb_wire_hello *h, uint8_t bytes[CB_WIRE_HELLO_BYTES]);
/* CUBED_E_UNSUPPORTED if it is of another version of the library. */
CUBED_MUST_CHECK cubed_status cb_wire_get_hello(const uint8_t bytes[CB_WIRE_HELLO_BYTES],
                                                cb_wire_hello *h, cubed_error *err);
/* Of a connection that does not block: sends what there is room for, and adds it to *sent. False at the end of
 * the connection. */
bool cb_wire_send_some(int fd, const void *data, size_t size, size_t *sent);
/* The same for reports; fails if what has come is none. */
CUBED_MUST_CHECK cubed_status cb_wire_receive_some(const cubed_context *ctx, int fd,
                                                   cb_wire_inbox *in, cb_wire_came *came,
                                                   cubed_error *err);
void cb_wire_inbox_clear(const cubed_context *ctx, cb_wire_inbox *in);
/* A descriptor's whole message: false at the end of the connection, or after an error. */
bool cb_wire_receive(int fd, void *data, size_t size);
bool cb_wire_send_report(const cubed_context *ctx, int fd, const cubed_task_report *report);

#endif
