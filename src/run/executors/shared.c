#define _GNU_SOURCE
#include "run/executors/shared.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "exec/vm/vm.h"
#include "kernel/kernel.h"

/* --- The driver ---------------------------------------------------------------------------------------- */

static cubed_status share_result(cb_shared *s, int lowest, cubed_error *err)
{
    int made = memfd_create("cubed-result", MFD_CLOEXEC);
    s->fd = made < 0 ? -1 : fcntl(made, F_DUPFD_CLOEXEC, lowest);
    if (made >= 0) close(made);
    if (s->fd >= 0 && s->size > 0 && ftruncate(s->fd, (off_t)s->size) == 0)
        s->map = mmap(NULL, s->size, PROT_READ | PROT_WRITE, MAP_SHARED, s->fd, 0);
    if (s->fd >= 0 && (s->size == 0 || (s->map && s->map != MAP_FAILED))) return CUBED_OK;
    int e = errno;
    s->map = NULL;
    return cb_fail_errno(err, e, "cannot share a result of %zu bytes with workers", s->size);
}

/* Creates a directory with its parents. Ignores errors, because opening a file in the directory then fails. */
static void make_directories(char *path)
{
    for (char *c = path + 1; *c; c++) {
        if (*c != '/') continue;
        *c = 0;
        (void)mkdir(path, 0777);
        *c = '/';
    }
    (void)mkdir(path, 0777);
}

cubed_status cb_shared_directory(const cubed_plan *p, cb_buf *path, cubed_error *err)
{
    cb_zone *zone;
    cb_place place;
    CB_TRY(cb_zone_new(&p->ctx->alloc, &zone, err));
    cubed_status st = cb_place_parse_store(zone, p->work_dir, &place, err);
    if (st == CUBED_OK && place.store[0] != '/')
        st = cb_fail(err, CUBED_E_UNSUPPORTED,
                     "the plan reads the caller's memory, which worker processes get through the "
                     "work directory: %s is not a local directory",
                     place.store);
    if (st == CUBED_OK) cb_buf_puts(path, place.store);
    cb_zone_free(zone);
    if (st == CUBED_OK && path->failed) st = cb_fail(err, CUBED_E_NOMEM, "no memory for a path");
    if (st == CUBED_OK) make_directories(path->data);
    return st;
}

/* Creates a file that has no name and is removed with its last descriptor. Returns -1 on failure. */
static int make_file(const cubed_plan *p, cubed_error *err)
{
    cb_buf path;
    int fd = -1;
    if (!p->work_dir) {
        (void)cb_fail(err, CUBED_E_BUDGET,
                      "the plan reads the caller's memory, which worker processes get through the "
                      "work directory: set one");
        return -1;
    }
    cb_buf_init(&path, &p->ctx->alloc);
    if (cb_shared_directory(p, &path, err) == CUBED_OK) {
        fd = open(path.data, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
        /* the file system does not support O_TMPFILE */
        if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR)) {
            cb_buf_puts(&path, "/.cubed-tmp-XXXXXX");
            fd = path.failed ? -1 : mkostemp(path.data, O_CLOEXEC);
            if (fd >= 0) unlink(path.data);
        }
        if (fd < 0) (void)cb_fail_errno(err, errno, "cannot make a file in %s", p->work_dir);
    }
    cb_buf_free(&path);
    return fd;
}

cubed_status cb_shared_copy(const cubed_plan *p, const cb_shared *s, cubed_error *err)
{
    const cb_node *n = &p->ir.nodes[s->node];
    int64_t shape[CUBED_MAX_NDIM], dense[CUBED_MAX_NDIM];
    /* Allocate the file's space now: here a full disk is an error, but later, when the mapping is written, it would be a
     * signal. */
    int e = posix_fallocate(s->fd, 0, (off_t)s->size);
    void *map = e ? MAP_FAILED : mmap(NULL, s->size, PROT_READ | PROT_WRITE, MAP_SHARED, s->fd, 0);
    if (map == MAP_FAILED)
        return cb_fail_errno(err, e ? e : errno,
                             "cannot put %zu bytes of the caller's memory into %s", s->size,
                             p->work_dir);
    cb_node_shape(n, shape);
    cb_dense_strides(n->grid->ndim, shape, cubed_dtype_size(n->dtype), dense);
    cb_copy_box(n->grid->ndim, shape, cubed_dtype_size(n->dtype), map, dense, n->data, n->strides);
    munmap(map, s->size);
    return CUBED_OK;
}

static cubed_status share_source(const cubed_plan *p, cb_shared *s, int lowest, cubed_error *err)
{
    int made = make_file(p, err);
    if (made < 0) return err ? err->status : CUBED_E_IO;
    s->fd = fcntl(made, F_DUPFD_CLOEXEC, lowest);
    int e = errno;
    close(made);
    if (s->fd < 0) return cb_fail_errno(err, e, "no descriptor for a source");
    return cb_shared_copy(p, s, err);
}

cubed_status cb_shared_open(const cubed_plan *p, int lowest, cb_shared *list, int *n,
                            cubed_error *err)
{
    *n = 0;
    for (int t = 0; t < p->ntargets; t++) {
        cb_shared s = {.fd = -1, .node = p->targets[t]};
        if (!cb_plan_memory_result(p, t, &s.size)) continue;
        cubed_status st = share_result(&s, lowest, err);
        list[(*n)++] = s;
        if (st != CUBED_OK) return st;
    }
    for (int i = 0; i < p->ir.nnodes; i++) {
        cb_shared s = {.fd = -1, .node = i};
        if (!cb_plan_is_shared(&p->ir.nodes[i], &s.size)) continue;
        cubed_status st = share_source(p, &s, lowest, err);
        list[(*n)++] = s;
        if (st != CUBED_OK) return st;
    }
    return CUBED_OK;
}

void cb_shared_fetch(const cubed_plan *p, const cb_shared *list, int n)
{
    for (int i = 0; i < n; i++) {
        if (list[i].map) memcpy(p->ir.nodes[list[i].node].result, list[i].map, list[i].size);
    }
}

void cb_shared_close(cb_shared *list, int n)
{
    for (int i = 0; i < n; i++) {
        if (list[i].map) munmap(list[i].map, list[i].size);
        if (list[i].fd >= 0) close(list[i].fd);
    }
}

/* --- A worker ------------------------------------------------------------------------------------------ */

static cubed_status map_one(int fd, size_t size, int protection, const char *what, void **out,
                            cubed_error *err)
{
    *out = mmap(NULL, size, protection, MAP_SHARED, fd, 0);
    if (*out != MAP_FAILED) return CUBED_OK;
    return cb_fail_errno(err, errno, "cannot map a %s of %zu bytes", what, size);
}

cubed_status cb_shared_map_source(cubed_plan *p, int node, int fd, cubed_error *err)
{
    size_t size;
    void *data;
    struct stat info;
    CB_CHECK(cb_plan_is_shared(&p->ir.nodes[node], &size), err);
    if (fstat(fd, &info) != 0 || (uint64_t)info.st_size != size)
        return cb_fail(err, CUBED_E_FORMAT, "the file of a source does not have %zu bytes", size);
    CB_TRY(map_one(fd, size, PROT_READ, "source", &data, err));
    p->ir.nodes[node].data = data;
    return CUBED_OK;
}

cubed_status cb_shared_map(cubed_plan *p, int fd, uint64_t n, cubed_error *err)
{
    size_t size;
    void *data;
    for (int t = 0; t < p->ntargets; t++) {
        if (!cb_plan_memory_result(p, t, &size)) continue;
        if (n-- == 0) return cb_fail(err, CUBED_E_FORMAT, "a result has no descriptor");
        if (size > 0) {
            CB_TRY(map_one(fd, size, PROT_READ | PROT_WRITE, "result", &data, err));
            CB_TRY(cubed_plan_bind_result(p, t, data, size, err));
        }
        fd++;
    }
    for (int i = 0; i < p->ir.nnodes; i++) {
        if (!cb_plan_is_shared(&p->ir.nodes[i], &size)) continue;
        if (n-- == 0) return cb_fail(err, CUBED_E_FORMAT, "a source has no descriptor");
        CB_TRY(cb_shared_map_source(p, i, fd++, err));
    }
    return CUBED_OK;
}
