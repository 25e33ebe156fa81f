/* Who made something that lies in a store: a process, told apart from all others that may see the store.
 *
 * A process number alone means nothing on another machine, after a restart, in another container, or when the
 * system has given it to somebody else; so the machine's start, the process's namespace and start belong to it. */
#ifndef CB_BASE_OWNER_H
#define CB_BASE_OWNER_H

#include "cubed/base.h"

/* Of a name with its zero; longer ones are cut. */
#define CB_OWNER_HOST 33
/* Of the text of an owner, with its zero. */
#define CB_OWNER_CAP 128

typedef struct cb_owner {
    char host[CB_OWNER_HOST]; /* the machine's name, for people: letters, digits, '.' and '-' */
    uint64_t machine;         /* says which machine it is: of its whole name and its number */
    uint64_t boot;            /* this start of it; 0: not known */
    uint64_t space;           /* which processes' numbers `pid` is one of; 0: not known */
    int64_t pid;
    uint64_t start; /* of the process, since the machine's; 0: not known */
} cb_owner;

typedef enum cb_owner_state {
    CB_OWNER_GONE,
    CB_OWNER_ALIVE,
    CB_OWNER_UNKNOWN /* of another machine or container, or the system does not tell */
} cb_owner_state;

/* This process. Reads a few files of the system; what they do not say is not known of it. */
void cb_owner_self(cb_owner *out);
/* As text of letters, digits, '.', '-' and '_', which may be part of a file's name. */
void cb_owner_format(const cb_owner *o, char text[CB_OWNER_CAP]);
/* False if the text is none; *end (may be NULL: nothing may follow) is what is behind it, '_' first. */
bool cb_owner_parse(const char *text, cb_owner *out, const char **end);
/* Whether that process runs. Never CB_OWNER_GONE of one that does. */
cb_owner_state cb_owner_alive(const cb_owner *o);

#endif
