#define _GNU_SOURCE
#include "mem/process.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/checked.h"

/* Calls `line` for each line of a file in /proc, without its line break. Lines longer than the buffer are passed in parts.
 * Returns false if the file cannot be read. */
static bool each_line(const char *path, void (*line)(void *ctx, const char *text), void *ctx)
{
    char text[PATH_MAX + 256];
    FILE *f = fopen(path, "re");
    if (!f) return false;
    while (fgets(text, sizeof text, f)) {
        text[strcspn(text, "\n")] = 0;
        line(ctx, text);
    }
    const bool complete = !ferror(f);
    (void)fclose(f);
    return complete;
}

/* Reads the number of kB after `name` at the start of a line, in bytes. */
static bool read_kb(const char *line, const char *name, uint64_t *bytes)
{
    const size_t n = strlen(name);
    if (strncmp(line, name, n) != 0) return false;
    *bytes = cb_sat_mul((size_t)strtoull(line + n, NULL, 10), 1024);
    return true;
}

/* Fields of /proc/self/status. */
typedef struct status {
    uint64_t peak, resident, private_bytes, anonymous, files;
} status;

static void read_status_line(void *ctx, const char *line)
{
    status *s = ctx;
    const struct {
        const char *name;
        uint64_t *to;
    } lines[] = {{"VmHWM:", &s->peak},
                 {"VmRSS:", &s->resident},
                 {"VmData:", &s->private_bytes},
                 {"RssAnon:", &s->anonymous},
                 {"RssFile:", &s->files}};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        if (read_kb(line, lines[i].name, lines[i].to)) return;
    }
}

static status read_status(void)
{
    status s = {0};
    if (!each_line("/proc/self/status", read_status_line, &s)) return (status){0};
    return s;
}

/* getrusage is not used because its peak may include the parent process. */
size_t cb_peak_rss(void) { return (size_t)read_status().peak; }

size_t cb_resident(void) { return (size_t)read_status().resident; }

size_t cb_private_memory(void) { return (size_t)read_status().private_bytes; }

cubed_resident cb_resident_kinds(void)
{
    const status s = read_status();
    return (cubed_resident){.anonymous = s.anonymous, .files = s.files};
}

/* --- Memory for code ------------------------------------------------------------------------------------- */

/* State of reading /proc/self/smaps. */
typedef struct mappings {
    char program[PATH_MAX]; /* path of this process's program; "": unknown */
    bool is_code;           /* the current lines belong to a mapping of code */
    uint64_t code;
} mappings;

/* Returns true if a path ends with ".so" or with ".so." and numbers. */
static bool is_library(const char *path)
{
    const char *so = NULL;
    for (const char *at = path; (at = strstr(at, ".so")); at++) so = at;
    if (!so) return false;
    so += 3;
    return *so == 0 || (*so == '.' && so[1 + strspn(so + 1, "0123456789.")] == 0);
}

static void read_mapping_line(void *ctx, const char *line)
{
    mappings *m = ctx;
    uint64_t resident;
    /* Each mapping starts with a line of addresses in lowercase hexadecimal digits. The lines of its fields start with capital
     * letters. */
    if ((*line >= '0' && *line <= '9') || (*line >= 'a' && *line <= 'f')) {
        const char *path = strchr(line, '/');
        m->is_code = path && (strcmp(path, m->program) == 0 || is_library(path));
    } else if (m->is_code && read_kb(line, "Rss:", &resident)) {
        m->code = cb_sat_add(m->code, resident);
    }
}

static uint64_t files_of_code(void)
{
    mappings m = {.program = ""};
    const ssize_t n = readlink("/proc/self/exe", m.program, sizeof m.program - 1);
    if (n > 0) m.program[n] = 0;
    return each_line("/proc/self/smaps", read_mapping_line, &m) ? m.code : 0;
}

static uint64_t grown(uint64_t from, uint64_t to) { return to > from ? to - from : 0; }

/* Returns the bytes of files that are code. To avoid a measurement, may return another number that compares with `limit` in the
 * same way. The code cannot exceed the last measurement plus the growth of all files. If files have not shrunk, the code has not
 * shrunk either. */
static uint64_t code_of_files(cb_code_memory *c, uint64_t files, uint64_t limit)
{
    const uint64_t seen = atomic_load(&c->seen);
    const uint64_t files_seen = (seen >> 32) * 1024, code_seen = (seen & UINT32_MAX) * 1024;
    if (seen != 0) {
        const uint64_t most = code_seen + grown(files_seen, files);
        if (most <= limit) return most;
        if (code_seen > limit && files >= files_seen) return code_seen;
    }
    const uint64_t code = files_of_code();
    atomic_store(&c->seen, (files / 1024) << 32 | cb_min_size(code / 1024, UINT32_MAX));
    return code;
}

void cb_code_count(cb_code_memory *c, cubed_resident before)
{
    const cubed_resident now = cb_resident_kinds();
    const uint64_t anonymous = grown(before.anonymous, now.anonymous);
    atomic_fetch_add(&c->anonymous, anonymous);
    if (atomic_load(&c->measured) > 0)
        atomic_fetch_add(&c->measured, anonymous + grown(before.files, now.files));
}

void cb_code_measured(cb_code_memory *c, uint64_t resident)
{
    uint64_t known = atomic_load(&c->measured);
    while (resident > known && !atomic_compare_exchange_weak(&c->measured, &known, resident)) {
    }
}

uint64_t cb_code_above(cb_code_memory *c, uint64_t limit)
{
    const uint64_t measured = atomic_load(&c->measured), anonymous = atomic_load(&c->anonymous);
    struct rusage usage;
    uint64_t held = measured;
    /* The peak from getrusage requires no file, but may be the parent process's. So it is only an upper bound. */
    const bool may_exceed =
        getrusage(RUSAGE_SELF, &usage) != 0 || cb_sat_mul((size_t)usage.ru_maxrss, 1024) > limit;
    if (may_exceed) {
        const uint64_t files = cb_resident_kinds().files;
        if (cb_sat_add(anonymous, files) > limit) {
            const uint64_t code = code_of_files(c, files, grown(anonymous, limit));
            held = cb_max_size(held, cb_sat_add(anonymous, code));
        }
    }
    return held > limit ? held : 0;
}
