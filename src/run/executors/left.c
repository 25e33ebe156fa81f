#define _GNU_SOURCE
#define XXH_INLINE_ALL
#include "run/executors/left.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/error.h"
#include "exec/operators/finish.h"
#include "run/executors/shared.h"
#include "run/places/io_state.h"

#define MAX_PLAN ((size_t)1 << 30)

/* Appends the name of the object that contains a source, next to the object of the plan. Plans do not share these objects. */
static void name_source(const char *key, int node, cb_buf *path)
{
    cb_buf_printf(path, "/%s-%d", key, node);
}

static cubed_status no_memory(cubed_error *err)
{
    return cb_fail(err, CUBED_E_NOMEM, "no memory for a path");
}

/* Writes a source to a temporary file, and renames the complete file to `path`. It does not overwrite the file there, because a
 * worker of an earlier driver of the run may have mapped that file. */
static cubed_status leave_source(const cubed_plan *p, int node, size_t size, const char *path,
                                 cubed_error *err)
{
    char temporary[4096];
    cb_shared s = {.node = node, .size = size};
    const int n = snprintf(temporary, sizeof temporary, "%s.part", path);
    if (n < 0 || (size_t)n >= sizeof temporary)
        return cb_fail(err, CUBED_E_ARG, "the path of the work directory is too long: %s", path);
    /* A killed driver may have left a temporary file. */
    if (unlink(temporary) != 0 && errno != ENOENT)
        return cb_fail_errno(err, errno, "cannot remove %s", temporary);
    s.fd = open(temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (s.fd < 0) return cb_fail_errno(err, errno, "cannot create %s", temporary);
    cubed_status st = cb_shared_copy(p, &s, err);
    close(s.fd);
    if (st == CUBED_OK && rename(temporary, path) != 0)
        st = cb_fail_errno(err, errno, "cannot rename a temporary file to %s", path);
    return st;
}

static cubed_status leave_sources(const cb_io *io, const char *key, cubed_error *err)
{
    const cubed_plan *p = io->plan;
    cb_buf path;
    cubed_status st = CUBED_OK;
    cb_buf_init(&path, &p->ctx->alloc);
    for (int i = 0; i < p->ir.nnodes; i++) {
        size_t size;
        if (!cb_plan_is_shared(&p->ir.nodes[i], &size)) continue;
        path.size = 0;
        CB_GO(cb_shared_directory(p, &path, err));
        name_source(key, i, &path);
        if (path.failed) CB_GO(no_memory(err));
        CB_GO(leave_source(p, i, size, path.data, err));
    }
out:
    cb_buf_free(&path);
    return st;
}

static cubed_status find_url(const cubed_plan *p, cb_buf *url, cubed_error *err)
{
    cb_zone *zone;
    cb_place place;
    CB_TRY(cb_zone_new(&p->ctx->alloc, &zone, err));
    cubed_status st = cb_place_parse_store(zone, p->work_dir, &place, err);
    if (st == CUBED_OK) cb_place_put_url(&place, url);
    cb_zone_free(zone);
    return st == CUBED_OK && url->failed ? no_memory(err) : st;
}

cubed_status cb_leave_plan(cb_io *io, const void *bytes, size_t size, cb_left_plan *out,
                           cubed_error *err)
{
    char name[32];
    cb_buf_init(&out->work_dir, &io->plan->ctx->alloc);
    snprintf(name, sizeof name, "plan-%016" PRIx64, (uint64_t)XXH3_64bits(bytes, size));
    CB_TRY(cb_key_join(out->key, sizeof out->key, io->prefix, name, err));
    CB_TRY(find_url(io->plan, &out->work_dir, err));
    CB_TRY(leave_sources(io, out->key, err));
    return cb_store_put(io->work, out->key, bytes, size, err);
}

void cb_left_free(cb_left_plan *left)
{
    if (left->work_dir.alloc) cb_buf_free(&left->work_dir);
}

/* --- A worker ------------------------------------------------------------------------------------------ */

static cubed_status map_sources(cubed_plan *p, const char *key, cubed_error *err)
{
    cb_buf path;
    cubed_status st = CUBED_OK;
    cb_buf_init(&path, &p->ctx->alloc);
    p->maps_sources = true;
    for (int i = 0; i < p->ir.nnodes; i++) {
        size_t size;
        if (!cb_plan_is_shared(&p->ir.nodes[i], &size)) continue;
        path.size = 0;
        CB_GO(cb_shared_directory(p, &path, err));
        name_source(key, i, &path);
        if (path.failed) CB_GO(no_memory(err));
        const int fd = open(path.data, O_RDONLY | O_CLOEXEC);
        if (fd < 0) CB_GO(cb_fail_errno(err, errno, "cannot open %s", path.data));
        st = cb_shared_map_source(p, i, fd, err);
        close(fd);
        if (st != CUBED_OK) break;
    }
out:
    cb_buf_free(&path);
    return st;
}

cubed_status cubed_plan_fetch(cubed_context *ctx, const char *work_dir, const char *key,
                              cubed_plan **out, cubed_error *err)
{
    cubed_store *store = NULL;
    cubed_plan *plan = NULL;
    cb_buf bytes;
    cubed_status st;
    cb_buf_init(&bytes, &ctx->alloc);
    CB_GO(cb_key_check(key, err));
    CB_GO(cb_place_open_store(&ctx->stores, work_dir, false, &store, err));
    CB_GO(cb_store_read_all(store, key, MAX_PLAN, &bytes, err));
    CB_GO(cb_plan_load(ctx, bytes.data, bytes.size, CB_TRUST_DRIVER, &plan, err));
    CB_GO(map_sources(plan, key, err));
    CB_GO(cb_plan_keep_id(plan, err));
    *out = plan;
    plan = NULL;
out:
    cubed_plan_unref(plan);
    cb_store_close(store);
    cb_buf_free(&bytes);
    return st;
}
