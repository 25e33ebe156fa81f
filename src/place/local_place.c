/* Local paths, resolved part by part, as in the kernel. */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "place/place_pkg.h"

/* Maximum number of links that the kernel follows. */
enum { MAX_LINKS = 40, MAX_PARTS = PATH_MAX / 2 };

typedef struct walk {
    const char *given;
    char real[PATH_MAX]; /* resolved parts without links; "" is the root */
    size_t length;
    char rest[PATH_MAX];           /* remaining parts */
    cb_place_id up[MAX_PARTS + 1]; /* IDs of the root and of existing parts in `real` */
    /* number of parts in `real`; number of parts that exist, including the root */
    int parts, found;
    cb_buf ways; /* IDs (cb_place_id) of all directories above the followed links */
    int links;
} walk;

static cubed_status fail(const walk *w, int e, cubed_error *err)
{
    return cb_fail_errno(err, e, "cannot resolve \"%s\"", w->given);
}

static void go_up(walk *w)
{
    if (w->parts == 0) return; /* the parent of the root is the root */
    while (w->real[--w->length] != '/') {
    }
    w->real[w->length] = 0;
    w->parts--;
    if (w->found > w->parts + 1) w->found = w->parts + 1;
}

/* Follows a link, which is the last part of `real`. Continues with the link's target, then with *rest. */
static cubed_status follow(walk *w, const char **rest, cubed_error *err)
{
    char next[PATH_MAX];
    const ssize_t n = readlink(w->real, next, sizeof next);
    const size_t left = strlen(*rest);
    if (n < 0) return fail(w, errno, err);
    if (++w->links > MAX_LINKS) return fail(w, ELOOP, err);
    if ((size_t)n + 1 + left + 1 > sizeof next) return fail(w, ENAMETOOLONG, err);
    next[n] = '/';
    memcpy(next + n + 1, *rest, left + 1);
    memcpy(w->rest, next, (size_t)n + 1 + left + 1);
    *rest = w->rest;
    cb_buf_put(&w->ways, w->up, (size_t)w->found * sizeof *w->up);
    go_up(w);
    if (next[0] == '/')
        while (w->parts > 0) go_up(w);
    return CUBED_OK;
}

static cubed_status enter(walk *w, const char *name, size_t n, const char **rest, cubed_error *err)
{
    struct stat info;
    if (w->length + 1 + n + 1 > sizeof w->real) return fail(w, ENAMETOOLONG, err);
    w->real[w->length++] = '/';
    memcpy(w->real + w->length, name, n);
    w->length += n;
    w->real[w->length] = 0;
    if (w->found < ++w->parts)
        return CUBED_OK; /* a part before this one does not exist, so this one does not either */
    if (lstat(w->real, &info) != 0) {
        const int e = errno;
        const bool missing = e == ENOENT || e == ENOTDIR || e == EACCES || e == ENAMETOOLONG;
        return missing ? CUBED_OK : fail(w, e, err);
    }
    if (S_ISLNK(info.st_mode)) return follow(w, rest, err);
    w->up[w->found++] = (cb_place_id){info.st_dev, info.st_ino};
    return CUBED_OK;
}

static cubed_status go(walk *w, const char *path, cubed_error *err)
{
    const size_t length = strlen(path);
    if (length + 1 > sizeof w->rest) return fail(w, ENAMETOOLONG, err);
    memmove(w->rest, path, length + 1);
    for (const char *at = w->rest; *at;) {
        const char *name = at;
        const size_t n = strcspn(at, "/");
        at += n + (at[n] == '/');
        if (n == 0 || (n == 1 && name[0] == '.')) continue;
        if (n == 2 && name[0] == '.' && name[1] == '.')
            go_up(w);
        else
            CB_TRY(enter(w, name, n, &at, err));
    }
    return CUBED_OK;
}

static cubed_status start(walk *w, const char *path, cubed_error *err)
{
    struct stat info;
    char here[PATH_MAX];
    if (stat("/", &info) != 0) return fail(w, errno, err);
    w->up[w->found++] = (cb_place_id){info.st_dev, info.st_ino};
    if (path[0] == '/') return CUBED_OK;
    if (!getcwd(here, sizeof here)) return fail(w, errno, err);
    /* The kernel returns a path without a leading slash if the current directory is outside the root directory. */
    if (here[0] != '/') return fail(w, ENOENT, err);
    return go(w, here, err);
}

static const char *real(const walk *w) { return w->length ? w->real : "/"; }

static bool has_id(const cb_place_id *ids, int n, cb_place_id id)
{
    for (int i = 0; i < n; i++) {
        if (ids[i].ino == id.ino && ids[i].dev == id.dev) return true;
    }
    return false;
}

/* Stores the resolved path, and the IDs of its parts and links, in the place. */
static cubed_status keep(const walk *w, cb_zone *zone, cb_place *p, cubed_error *err)
{
    const char *missing = w->real;
    const size_t nways = w->ways.size / sizeof(cb_place_id);
    cb_place_id *ids = cb_zone_alloc(zone, ((size_t)w->found + nways) * sizeof *ids);
    p->text = cb_zone_strdup(zone, real(w));
    if (!ids || !p->text || w->ways.failed)
        return cb_fail(err, CUBED_E_NOMEM, "no memory for a place");
    for (int i = w->found - 1; i >= 0; i--) ids[p->nids++] = w->up[i];
    for (size_t i = 0; i < nways; i++) {
        cb_place_id id;
        memcpy(&id, w->ways.data + i * sizeof id, sizeof id);
        if (!has_id(ids, p->nids, id)) ids[p->nids++] = id;
    }
    p->ids = ids;
    for (int i = 1; i < w->found; i++) missing += 1 + strcspn(missing + 1, "/");
    if (*missing == '/') missing++;
    p->missing = p->text + (*missing ? missing - w->real : (ptrdiff_t)strlen(p->text));
    return CUBED_OK;
}

cubed_status cb_place_find_local(cb_zone *zone, const char *root, cb_place *p, cubed_error *err)
{
    const cubed_allocator *a = cb_zone_allocator(zone);
    walk *w = cb_alloc(a, sizeof *w);
    cubed_status st = CUBED_OK;
    if (!w) return cb_fail(err, CUBED_E_NOMEM, "no memory for a place");
    w->given = p->given;
    w->real[0] = 0;
    w->length = 0;
    w->parts = w->found = w->links = 0;
    cb_buf_init(&w->ways, a);
    CB_GO(start(w, root, err));
    CB_GO(go(w, root, err));
    p->store = cb_zone_strdup(zone, real(w));
    if (!p->store) CB_GO(cb_fail(err, CUBED_E_NOMEM, "no memory for a place"));
    CB_GO(go(w, p->path, err));
    CB_GO(keep(w, zone, p, err));
out:
    cb_buf_free(&w->ways);
    cb_free(a, w, sizeof *w);
    return st;
}
