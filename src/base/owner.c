#define _GNU_SOURCE
#include "base/owner.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/mix.h"

/* Inode of the initial PID namespace, which no container has. */
#define FIRST_SPACE 0xEFFFFFFCu

/* Reads the start of a system file, without trailing white space. */
static bool read_text(const char *path, char *text, size_t cap)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) return false;
    ssize_t n;
    do n = read(fd, text, cap - 1);
    while (n < 0 && errno == EINTR);
    close(fd);
    while (n > 0 && (text[n - 1] == '\n' || text[n - 1] == ' ')) n--;
    if (n <= 0) return false;
    text[n] = 0;
    return true;
}

/* Returns the FNV-1a hash of a string. The result is never 0, which means unknown. */
static uint64_t hash_text(uint64_t seed, const char *text)
{
    uint64_t h = seed ^ CB_FNV_START;
    for (; *text; text++) h = cb_fnv_add(h, (unsigned char)*text);
    return h ? h : 1;
}

static bool is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '-';
}

/* Gets the state of a process. Returns false if the system does not provide it. */
static bool look_at(int64_t pid, uint64_t *start, bool *ended)
{
    char path[48], text[1024];
    snprintf(path, sizeof path, "/proc/%" PRId64 "/stat", pid);
    if (!read_text(path, text, sizeof text)) return false;
    /* Fields are counted after the program's name, which may contain any character. The state is field 3, the number of threads
     * field 20, and the start field 22. */
    const char *at = strrchr(text, ')');
    if (!at || at[1] != ' ') return false;
    char state = at[2];
    long threads = 1;
    at += 2;
    for (int field = 3; field < 22; field++) {
        at = strchr(at, ' ');
        if (!at) return false;
        at++;
        if (field + 1 == 20) threads = strtol(at, NULL, 10);
    }
    *start = strtoull(at, NULL, 10);
    /* The first thread of a process may end before the other threads do. So also check whether other threads run. */
    *ended = state == 'X' || (state == 'Z' && threads <= 1);
    return true;
}

uint64_t cb_owner_process_start(int64_t pid)
{
    uint64_t start;
    bool ended;
    return look_at(pid, &start, &ended) ? start : 0;
}

void cb_owner_self(cb_owner *out)
{
    char text[256];
    struct utsname names;
    memset(out, 0, sizeof *out);
    const char *host = uname(&names) == 0 && names.nodename[0] ? names.nodename : "unknown";
    size_t n = 0;
    for (; n + 1 < sizeof out->host && host[n]; n++) out->host[n] = host[n];
    for (size_t i = 0; i < n; i++) {
        if (!is_name(out->host[i])) out->host[i] = '-';
    }
    out->machine = hash_text(0, host);
    if (read_text("/etc/machine-id", text, sizeof text))
        out->machine = hash_text(out->machine, text);
    if (read_text("/proc/sys/kernel/random/boot_id", text, sizeof text))
        out->boot = hash_text(0, text);
    ssize_t got = readlink("/proc/self/ns/pid", text, sizeof text - 1);
    if (got > 5 && strncmp(text, "pid:[", 5) == 0) {
        text[got] = 0;
        out->space = strtoull(text + 5, NULL, 10);
    }
    out->pid = getpid();
    out->start = cb_owner_process_start(out->pid);
}

void cb_owner_format(const cb_owner *o, char text[CB_OWNER_CAP])
{
    snprintf(text, CB_OWNER_CAP, "%s_%" PRIx64 "_%" PRIx64 "_%" PRIx64 "_%" PRId64 "_%" PRIx64,
             o->host, o->machine, o->boot, o->space, o->pid, o->start);
}

/* Parses '_' and digits of base 16 or 10, without sign or white space. */
static bool parse_number(const char **at, int base, uint64_t *out)
{
    const char *s = *at;
    char *end;
    if (*s++ != '_' || !((*s >= '0' && *s <= '9') || (base == 16 && *s >= 'a' && *s <= 'f')))
        return false;
    errno = 0;
    *out = strtoull(s, &end, base);
    *at = end;
    return errno == 0 && end - s <= (base == 16 ? 16 : 18);
}

bool cb_owner_parse(const char *text, cb_owner *out, const char **end)
{
    uint64_t pid;
    size_t n = 0;
    memset(out, 0, sizeof *out);
    for (; is_name(text[n]); n++) {
        if (n + 1 == sizeof out->host) return false;
        out->host[n] = text[n];
    }
    const char *at = text + n;
    if (n == 0 || !parse_number(&at, 16, &out->machine) || !parse_number(&at, 16, &out->boot) ||
        !parse_number(&at, 16, &out->space) || !parse_number(&at, 10, &pid) ||
        !parse_number(&at, 16, &out->start))
        return false;
    out->pid = (int64_t)pid;
    if (end) *end = at;
    return out->pid > 0 && (*at == 0 || (end && *at == '_'));
}

cb_owner_state cb_owner_alive(const cb_owner *o)
{
    cb_owner self;
    uint64_t start;
    bool ended;
    cb_owner_self(&self);
    if (!o->boot || !self.boot || !o->space || !self.space) return CB_OWNER_UNKNOWN;
    if (o->boot != self.boot) {
        /* On the owner's machine, a different boot ID means that the owner ended with a reboot. Containers are excluded, because
         * several containers may share a host name and a machine ID. */
        bool restarted =
            o->machine == self.machine && o->space == FIRST_SPACE && self.space == FIRST_SPACE;
        return restarted ? CB_OWNER_GONE : CB_OWNER_UNKNOWN;
    }
    if (o->space != self.space || o->pid <= 0 || o->pid > INT32_MAX) return CB_OWNER_UNKNOWN;
    if (kill((pid_t)o->pid, 0) != 0 && errno == ESRCH) return CB_OWNER_GONE;
    /* The system may hide processes of other users. */
    if (!look_at(o->pid, &start, &ended) || !o->start) return CB_OWNER_UNKNOWN;
    return start == o->start && !ended ? CB_OWNER_ALIVE : CB_OWNER_GONE;
}
