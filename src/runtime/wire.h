/* What the executor "processes" and its workers say to each other over a socket. Both are the same
 * version of the library on one machine: structs travel as they are. */
#ifndef CB_RUNTIME_WIRE_H
#define CB_RUNTIME_WIRE_H

#include "cubed/sys/executor.h"

/* The driver's first message; the plan's bytes follow. Then come ranges. */
typedef struct cb_wire_hello {
    char version[24];
    uint64_t range_size, report_size; /* of the structs */
    uint64_t plan_size;
    uint64_t resume;  /* all targets have been begun by an earlier run */
    uint64_t nshared; /* descriptors of memory that is shared, behind the connection's */
} cb_wire_hello;

/* The token of the report of a worker that cannot start. */
#define CB_WIRE_NO_START UINT64_MAX

void cb_wire_hello_init(cb_wire_hello *h);
/* A descriptor's whole message: false at the end of the connection, or after an error. */
bool cb_wire_send(int fd, const void *data, size_t size);
bool cb_wire_receive(int fd, void *data, size_t size);
/* A report, and what is behind its error if there is something. */
bool cb_wire_send_report(const cubed_context *ctx, int fd, const cubed_task_report *report);
bool cb_wire_receive_report(const cubed_context *ctx, int fd, cubed_task_report *report);

#endif
