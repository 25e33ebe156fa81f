/* What the executor "processes" and its workers say to each other over a socket. Both are the same
 * version of the library on one machine: structs travel as they are. */
#ifndef CB_RUN_WIRE_H
#define CB_RUN_WIRE_H

#include "cubed/sys/executor.h"

/* The driver's first message; the plan's bytes follow. Then come ranges. */
typedef struct cb_wire_hello {
    char version[24];
    uint64_t range_size, report_size; /* of the structs */
    uint64_t plan_size;
    uint64_t resume;        /* all targets have been begun by an earlier run */
    uint64_t nshared;       /* descriptors of memory that is shared, behind the connection's */
    char plan[40], run[40]; /* of the driver's run, see run/self.h */
} cb_wire_hello;

/* Tokens of reports of no task: of a worker that cannot start, and of one that waits for its first range. */
#define CB_WIRE_NO_START UINT64_MAX
#define CB_WIRE_READY    (UINT64_MAX - 1)

/* What has come so far of a report that a worker sends. */
typedef struct cb_wire_inbox {
    cubed_task_report report;
    uint64_t size; /* of what is behind its error */
    char *raised;
    size_t got; /* of all three */
} cb_wire_inbox;

typedef enum cb_wire_came {
    CB_WIRE_MORE,  /* the rest has yet to come */
    CB_WIRE_WHOLE, /* the report is in the inbox, which is ready for the next one */
    CB_WIRE_END    /* of the connection, in order or not */
} cb_wire_came;

void cb_wire_hello_init(cb_wire_hello *h);
/* Of a connection that does not block: sends what there is room for, and adds it to *sent. False at the end of
 * the connection. */
bool cb_wire_send_some(int fd, const void *data, size_t size, size_t *sent);
/* The same for reports. */
cb_wire_came cb_wire_receive_some(const cubed_context *ctx, int fd, cb_wire_inbox *in);
void cb_wire_inbox_clear(const cubed_context *ctx, cb_wire_inbox *in);
/* A descriptor's whole message: false at the end of the connection, or after an error. */
bool cb_wire_send(int fd, const void *data, size_t size);
bool cb_wire_receive(int fd, void *data, size_t size);
/* A report, and what is behind its error if there is something. */
bool cb_wire_send_report(const cubed_context *ctx, int fd, const cubed_task_report *report);

#endif
