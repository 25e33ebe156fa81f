/* Writes results to a file, atomically.
 *
 * The results are created in a directory next to the file (FILE.cubed-new), which one process at a time claims. The file is
 * written in the directory under a name that is unique to this process. A rename out of the open directory gives the file its
 * final name.
 *
 * If a process takes over the directory from another process, which seems to have ended, it puts a new directory under the
 * name and empties the old directory. If the other process renames its file late, the file no longer exists there. */
#define XXH_INLINE_ALL
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/error.h"
#include "base/struct_size.h"
#include "context/context.h"
#include "cubed/new_file.h"
#include "export/netcdf.h"
#include "export/zip_write.h"
#include "files/files.h"
#include "place/place.h"
#include "run/places/beats.h"
#include "run/places/self.h"

#define SUFFIX CB_NEW_FILE_SUFFIX
#define DATA   "data"         /* name of the store in the directory */
#define DRAFT  ".cubed-part-" /* beginning of the name of the file in the directory */
/* NOLINTNEXTLINE(misc-redundant-expression): the public name and its parts */
_Static_assert(sizeof CUBED_NEW_FILE_STORE == sizeof SUFFIX "/" DATA, "one name in both places");

struct cubed_new_file {
    cubed_context *ctx;
    cb_zone *zone;
    const char *given, *path;   /* path of the file as the caller wrote it, and absolute */
    cubed_store *above, *place; /* directory of the file, and the claimed directory in it */
    const char *name;           /* name of the claimed directory in its parent */
    const char *draft, *part;   /* path of the draft, and its name in the claimed directory */
    cb_run_self self;
    cb_claim claim;
    cb_beats *beats;
    pid_t pid;
    bool claimed, published, replace;
};

static cubed_status no_memory(cubed_error *err)
{
    return cb_fail(err, CUBED_E_NOMEM, "out of memory: the path of a new file");
}

static char *join(cb_zone *zone, const char *a, const char *b, const char *c, const char *d)
{
    const size_t n = strlen(a) + strlen(b) + strlen(c) + strlen(d) + 1;
    char *text = cb_zone_alloc(zone, n);
    if (text) snprintf(text, n, "%s%s%s%s", a, b, c, d);
    return text;
}

/* Returns the suffix of a path. The draft has the suffix of the file, because programs choose formats by suffix. */
static const char *suffix_of(const char *path)
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
    return dot && (!slash || dot > slash) ? dot : "";
}

static cubed_status find(cubed_new_file *f, const char *path, cubed_error *err)
{
    cb_place place;
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    char *above = slash ? join(f->zone, path, "", "", "") : join(f->zone, ".", "", "", "");
    f->given = join(f->zone, path, "", "", "");
    f->name = join(f->zone, base, SUFFIX, "", "");
    f->part = join(f->zone, DRAFT, f->self.run, suffix_of(path), "");
    if (!above || !f->given || !f->name || !f->part) return no_memory(err);
    if (slash) above[slash - path + (slash == path)] = 0;
    CB_TRY(cb_place_parse_store(f->zone, above, &place, err));
    if (place.store[0] != '/' || !*base)
        return cb_fail(err, CUBED_E_ARG, "%s: files can be written only to local paths", path);
    const char *root = place.store[1] ? place.store : "";
    f->path = join(f->zone, root, "/", base, "");
    f->draft = f->path ? join(f->zone, f->path, SUFFIX, "/", f->part) : NULL;
    if (!f->draft) return no_memory(err);
    return cb_store_open_local(&f->ctx->alloc, place.store, false, &f->above, err);
}

/* Names in the claimed directory, except the record. */
typedef struct members {
    bool ours, foreign; /* results or drafts exist; other files exist */
} members;

static cubed_status find_members(void *ctx, const char *name, bool is_prefix, cubed_error *err)
{
    members *m = ctx;
    (void)is_prefix;
    (void)err;
    if (strcmp(name, DATA) == 0 || strncmp(name, DRAFT, sizeof DRAFT - 1) == 0)
        m->ours = true;
    else
        m->foreign = true;
    return CUBED_OK;
}

/* Checks that the directory has no files of other programs, unless another process has claimed the directory since `claim` was
 * read. Sets *left to true if the directory has results, which a power failure may leave without a record. */
static cubed_status check_empty(cubed_new_file *f, bool *left, cubed_error *err)
{
    members m = {false};
    CB_TRY(cb_store_members(f->above, f->name, find_members, &m, err));
    *left = m.ours;
    if (!m.ours && !m.foreign) return CUBED_OK;
    CB_TRY(cb_claim_look(f->above, f->name, f->zone, &f->claim, err));
    if (!cb_version_is_none(&f->claim.version) || !m.foreign) return CUBED_OK;
    return cb_fail(err, CUBED_E_EXISTS,
                   "%s%s has files that do not belong to an unfinished %s: rename or remove it",
                   f->given, SUFFIX, f->given);
}

/* Moves the store with the results to the new directory if `keep` is set. Otherwise it is removed with the old directory. */
static cubed_status renew(cubed_new_file *f, bool keep, cubed_error *err)
{
    cb_stage_place p = {.store = NULL};
    char from[sizeof p.staged + sizeof DATA], to[sizeof p.name + sizeof DATA];
    cubed_error why = CUBED_ERROR_INIT;
    cubed_status st;
    CB_TRY(cb_stage_open(f->above, f->name, f->self.run, NULL, &p, err));
    CB_GO(cb_stage_exchange(&p, &f->claim, err));
    if (keep) {
        CB_GO(cb_key_join(from, sizeof from, p.staged, DATA, err));
        CB_GO(cb_key_join(to, sizeof to, p.name, DATA, err));
        st = cb_store_swap(p.store, from, to, &why);
        if (st != CUBED_OK && st != CUBED_E_NOT_FOUND) {
            if (err) *err = why;
            goto out;
        }
    }
    st = cb_store_clear(p.store, p.staged, err);
out:
    cb_store_close(p.store);
    return st;
}

/* Removes a file or folder of the claimed directory, except the record. The record is removed last, because a directory
 * without a record may belong to another program. */
static cubed_status remove_member(void *ctx, const char *name, bool is_prefix, cubed_error *err)
{
    cubed_store *place = ctx;
    if (strcmp(name, CB_RUN_RECORD) == 0) return CUBED_OK;
    return is_prefix ? cb_store_clear(place, name, err) : cb_store_del(place, name, err);
}

static cubed_status claim(cubed_new_file *f, const cubed_new_file_options *o, cubed_error *err)
{
    CB_TRY(cb_claim_look(f->above, f->name, f->zone, &f->claim, err));
    bool left = false;
    if (cb_version_is_none(&f->claim.version)) CB_TRY(check_empty(f, &left, err));
    CB_TRY(cb_claim_check_free(&f->claim, &f->self, err));
    const bool is_new = cb_version_is_none(&f->claim.version);
    /* The store of a process that may still write is not moved, because that process may be removing the store's files one by
     * one. It would continue at the new place. */
    const bool keep = o->resume && strcmp(f->claim.record.goal, f->self.goal) == 0 &&
                      !cb_run_record_may_write(&f->claim.record);
    CB_TRY(cb_claim_take(&f->claim, &f->self, "", err));
    f->claimed = true;
    if (!is_new) CB_TRY(renew(f, keep, err));
    CB_TRY(cb_store_anchor(f->above, f->name, false, &f->place, err));
    CB_TRY(cb_claim_check_place(&f->claim, f->place, f->zone, err));
    f->claim.place = f->place;
    return is_new && left ? cb_store_members(f->place, "", remove_member, f->place, err) : CUBED_OK;
}

cubed_status cubed_new_file_begin(cubed_context *ctx, const char *path,
                                  const cubed_new_file_options *options,
                                  const cubed_takeover_options *takeover, cubed_new_file **out,
                                  cubed_error *err)
{
    cb_zone *zone;
    cb_run_self self = {.run = ""};
    cubed_status st;
    cubed_new_file_options o = CUBED_NEW_FILE_OPTIONS_INIT;
    CB_TRY(CB_OPTIONS_TAKE("new_file", options, &o, err));
    CB_TRY(cb_takeover_read(&self, takeover, err));
    CB_TRY(cb_zone_new(&ctx->alloc, &zone, err));
    cubed_new_file *f = cb_zone_alloc(zone, sizeof *f);
    if (!f) {
        cb_zone_free(zone);
        return no_memory(err);
    }
    f->ctx = cubed_context_ref(ctx);
    f->zone = zone;
    f->pid = getpid();
    f->self = self;
    f->replace = o.replace;
    const char *contents = o.contents ? o.contents : "";
    snprintf(f->self.goal, sizeof f->self.goal, "%016" PRIx64,
             (uint64_t)XXH3_64bits(contents, strlen(contents)));
    CB_GO(cb_run_new_name(f->self.run, err));
    CB_GO(find(f, path, err));
    st = claim(f, &o, err);
    if (st != CUBED_OK) CB_GO(cb_context(err, st, "%s", path));
    CB_GO(cb_beats_start(&ctx->alloc, f->self.silence, cb_claim_beat, &f->beats, err));
    cb_beats_add(f->beats, &f->claim);
    *out = f;
    return st;
out:
    cubed_new_file_end(f);
    return st;
}

const char *cubed_new_file_draft(const cubed_new_file *f) { return f->draft; }

static cubed_status write_draft(cubed_new_file *f, cubed_file_kind kind, bool durable,
                                cubed_error *err)
{
    const char *data = join(f->zone, f->path, SUFFIX, "/" DATA, "");
    cubed_store *store;
    if (!data) return no_memory(err);
    CB_TRY(cb_store_open_local(&f->ctx->alloc, data, false, &store, err));
    const cubed_status st = kind == CUBED_FILE_NETCDF
                                ? cb_netcdf_write(store, &f->ctx->codecs, f->draft, durable, err)
                                : cb_zip_write(store, f->draft, durable, err);
    cb_store_close(store);
    return st;
}

static cubed_status was_taken(const cubed_new_file *f, cubed_error *err)
{
    return cb_fail(err, CUBED_E_EXISTS,
                   "%s was taken over while this process was writing it: another process "
                   "assumed that this one had ended, and is writing the file",
                   f->given);
}

/* Publishes the file. If another process has taken over the place, an error of the draft is ignored. */
cubed_status cubed_new_file_publish(cubed_new_file *f, cubed_file_kind kind, bool durable,
                                    cubed_error *err)
{
    cubed_error why = CUBED_ERROR_INIT;
    cubed_status st = CUBED_OK;
    if (kind != CUBED_FILE_NONE) st = write_draft(f, kind, durable, &why);
    if (cb_claim_check_own(&f->claim, NULL) == CUBED_E_EXISTS) return was_taken(f, err);
    if (st != CUBED_OK) {
        if (err) *err = why;
        return st;
    }
    const unsigned flags =
        (f->replace ? CB_PUBLISH_REPLACE : 0) | (durable ? CB_PUBLISH_DURABLE : 0);
    st = cb_store_publish(f->place, f->part, f->path, flags, &why);
    f->published = st == CUBED_OK;
    if (st == CUBED_E_NOT_FOUND) return was_taken(f, err);
    if (st == CUBED_E_EXISTS && !f->replace)
        return cb_fail(err, st,
                       "%s exists: another program has created it; allow it to be overwritten, "
                       "or name another file",
                       f->given);
    if (st != CUBED_OK && err) *err = why;
    return st;
}

static cubed_status find_chunk(void *ctx, const char *key, uint64_t size, cubed_error *err)
{
    const char *slash = strrchr(key, '/');
    (void)size;
    (void)err;
    if (cb_zarr_may_be_chunk(slash ? slash + 1 : key)) *(bool *)ctx = true;
    return CUBED_OK;
}

/* Empties the directory and drops the claim. If the file was not published, results stay for a process that resumes. Errors are
 * not reported: the next process that writes the file, or `cubed clean`, removes the remaining files. */
static void empty_directory(cubed_new_file *f)
{
    bool any = false;
    cubed_status ignored = CUBED_OK;
    if (cb_claim_check_own(&f->claim, NULL) != CUBED_OK) return;
    if (f->place && !f->published) ignored = cb_store_list(f->place, DATA, find_chunk, &any, NULL);
    if (f->place && !any && ignored == CUBED_OK &&
        cb_store_members(f->place, "", remove_member, f->place, NULL) == CUBED_OK)
        cb_claim_drop(&f->claim);
    else
        ignored = cb_claim_say(&f->claim, CB_RUN_LEFT, NULL);
    (void)ignored;
}

void cubed_new_file_end(cubed_new_file *f)
{
    /* Do nothing in a forked child, because its parent writes the file. */
    if (!f || f->pid != getpid()) return;
    cubed_context *ctx = f->ctx;
    cb_beats_end(f->beats);
    if (f->claimed) empty_directory(f);
    cb_store_close(f->place);
    cb_store_close(f->above);
    cb_zone_free(f->zone);
    cubed_context_unref(ctx);
}
