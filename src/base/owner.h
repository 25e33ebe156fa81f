/* Identifies the process that created an object in a store, among all processes that can access the store.
 *
 * A process ID alone is ambiguous on another machine, after a reboot, in another container, and after the system has reused
 * it. So an owner also has hashes of the machine's ID and boot ID, and the PID namespace and the start time of the process. */
#ifndef CB_BASE_OWNER_H
#define CB_BASE_OWNER_H

#include "cubed/base.h"

/* Size of a host name including the terminating NUL; longer names are truncated. */
#define CB_OWNER_HOST 33
/* Size of an owner string including the terminating NUL. */
#define CB_OWNER_CAP 128

typedef struct cb_owner {
    char host[CB_OWNER_HOST]; /* host name for messages; consists of letters, digits, '.' and '-' */
    uint64_t machine;         /* hash of the machine's full name and ID */
    uint64_t boot;            /* hash of the boot ID; 0: unknown */
    uint64_t space;           /* PID namespace of `pid`; 0: unknown */
    int64_t pid;
    uint64_t start; /* start time of the process since boot; 0: unknown */
} cb_owner;

typedef enum cb_owner_state {
    CB_OWNER_GONE,
    CB_OWNER_ALIVE,
    /* The process is on another machine or in another container, or the system does not report it. */
    CB_OWNER_UNKNOWN
} cb_owner_state;

/* Returns the start time of a process in clock ticks since boot; 0 if it is unknown or the process does not run. */
uint64_t cb_owner_process_start(int64_t pid);
/* Sets *out to identify this process. Reads a few files of the system. If a member cannot be determined, `host` is "unknown", and
 * `boot`, `space` and `start` are 0. */
void cb_owner_self(cb_owner *out);
/* Formats an owner with letters, digits, '.', '-' and '_', suitable for file names. */
void cb_owner_format(const cb_owner *o, char text[CB_OWNER_CAP]);
/* Parses an owner. *end is the rest of the string, which starts with '_'; if `end` is NULL, there must be no rest. Returns
 * false if it is not valid. */
bool cb_owner_parse(const char *text, cb_owner *out, const char **end);
/* Finds out whether the owner's process is running. A running process is never reported as CB_OWNER_GONE. */
cb_owner_state cb_owner_alive(const cb_owner *o);

#endif
