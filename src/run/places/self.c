#define XXH_INLINE_ALL
#include "run/places/self.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <xxhash.h>

#include "base/error.h"
#include "base/pool.h"

#define FOLDER      "cubed-"
#define RESULT      "cubed-result-"
#define MAX_SOURCES 64 /* maximum number of sources that are recorded one by one */
#define DIGITS      16

/* Returns true if the node is a source that other processes may change during the run. Returns false for a source that the run
 * replaces, because the run has claimed its place. */
static bool is_noted(const cubed_plan *p, int i)
{
    if (p->ir.nodes[i].kind != CB_NODE_ZARR || !p->storage[i]) return false;
    for (int t = 0; t < p->ntargets; t++) {
        const int n = p->targets[t];
        if (p->storage[n] && p->ir.nodes[n].overwrite &&
            cb_place_compare(&p->storage[n]->place, &p->storage[i]->place) == CB_PLACES_SAME)
            return false;
    }
    return true;
}

/* Writes a hash of each source, or one hash of all if there are many. */
static cubed_status note_sources(const cubed_plan *p, cb_zone *zone, const char **out,
                                 cubed_error *err)
{
    cb_buf text;
    cubed_status st = CUBED_OK;
    int n = 0;
    cb_buf_init(&text, &p->ctx->alloc);
    for (int i = 0; i < p->ir.nnodes; i++) {
        const cb_storage *s = p->storage[i];
        if (!is_noted(p, i)) continue;
        cubed_object_version version = *cb_zarr_opened_version(s->array);
        if (cb_version_is_none(&version))
            CB_GO(cb_zarr_version(s->store, s->place.path, s->meta.format, &version, err));
        if (cb_version_is_none(&version))
            CB_GO(
                cb_fail(err, CUBED_E_NOT_FOUND, "%s does not exist any more", p->ir.nodes[i].url));
        cb_buf_printf(&text, "%016" PRIx64, XXH3_64bits(version.text, strlen(version.text)));
        n++;
    }
    if (n > MAX_SOURCES) {
        const uint64_t all = XXH3_64bits(text.data, text.size);
        text.size = 0;
        cb_buf_printf(&text, "%016" PRIx64, all);
    }
    if (!text.failed) *out = cb_zone_strdup(zone, text.data ? text.data : "");
    if (text.failed || !*out)
        st = cb_fail(err, CUBED_E_NOMEM, "no memory for the hashes of sources");
out:
    cb_buf_free(&text);
    return st;
}

cubed_status cb_run_new_name(char name[CB_RUN_NAME_CAP], cubed_error *err)
{
    uint64_t nonce;
    if (getrandom(&nonce, sizeof nonce, 0) != (ssize_t)sizeof nonce)
        return cb_fail(err, CUBED_E_IO,
                       "the operating system returned no random numbers for the name of a run");
    snprintf(name, CB_RUN_NAME_CAP, "%016" PRIx64, nonce);
    return CUBED_OK;
}

cubed_status cb_run_self_init(const cubed_plan *p, const char *name, bool resumable, cb_zone *zone,
                              cb_run_self *out, cubed_error *err)
{
    memset(out, 0, sizeof *out);
    if (name) {
        snprintf(out->run, sizeof out->run, "%s", name);
    } else {
        CB_TRY(cb_run_new_name(out->run, err));
    }
    if (!resumable || !cb_plan_is_known(p)) return CUBED_OK;
    CB_TRY(cb_plan_identify(p, out->plan, out->goal, err));
    return note_sources(p, zone, &out->sources, err);
}

bool cb_run_is_same(const cb_run_self *self, const cb_claim *c)
{
    return !cb_version_is_none(&c->version) && *self->plan &&
           strcmp(self->plan, c->record.plan) == 0;
}

static cubed_status check_unchanged(void *plan, size_t i, cubed_error *err)
{
    const cubed_plan *p = *(const cubed_plan **)plan;
    const cb_storage *s = p->storage[i];
    cubed_object_version now;
    if (!is_noted(p, (int)i) || cb_version_is_none(cb_zarr_opened_version(s->array)))
        return CUBED_OK;
    CB_TRY(cb_zarr_version(s->store, s->place.path, s->meta.format, &now, err));
    if (cb_version_equal(&now, cb_zarr_opened_version(s->array))) return CUBED_OK;
    return cb_fail(
        err, CUBED_E_FORMAT,
        "%s has been %s since the plan was made: the results may mix both versions; open it again",
        p->ir.nodes[i].url, cb_version_is_none(&now) ? "removed" : "rewritten");
}

cubed_status cb_run_check_unchanged(const cubed_plan *p, cubed_error *err)
{
    return cb_pool_each(&p->ctx->alloc, (size_t)p->ir.nnodes, cb_plan_sources_at_once(p),
                        check_unchanged, &p, err);
}

bool cb_run_has_same_goal(const cb_run_self *self, const cb_claim *c)
{
    return !cb_version_is_none(&c->version) && *self->goal &&
           strcmp(self->goal, c->record.goal) == 0;
}

bool cb_run_saw_sources(const cb_run_self *self, const cb_run_record *r)
{
    return strcmp(r->sources ? r->sources : "", self->sources ? self->sources : "") == 0;
}

cubed_status cb_run_check_sources(const cubed_plan *p, const cb_run_self *self,
                                  const cb_run_record *r, cubed_error *err)
{
    const char *was = r->sources ? r->sources : "", *is = self->sources ? self->sources : "";
    const char *url = "one of its sources";
    if (cb_run_saw_sources(self, r)) return CUBED_OK;
    size_t k = 0;
    while (was[k] && was[k] == is[k]) k++;
    size_t n = 0;
    const char *first = url;
    for (int i = 0; i < p->ir.nnodes; i++) {
        if (!is_noted(p, i)) continue;
        if (n++ == k / DIGITS) first = p->ir.nodes[i].url;
    }
    if (strlen(is) == n * DIGITS) url = first;
    return cb_fail(err, CUBED_E_EXISTS,
                   "the unfinished run cannot be resumed: %s has been overwritten since the run "
                   "began; start again and overwrite it, or remove its chunks (cubed clean)",
                   url);
}

void cb_run_folder(const char *plan, const char *run, char folder[CB_RUN_FOLDER_CAP])
{
    snprintf(folder, CB_RUN_FOLDER_CAP, FOLDER "%s%s%s", plan, *plan ? "-" : "", run);
}

bool cb_run_is_folder(const char *name, const cb_run_record *r)
{
    char folder[CB_RUN_FOLDER_CAP];
    cb_run_folder(r->plan, r->run, folder);
    return *r->run && strcmp(name, folder) == 0;
}

bool cb_run_names_folder(const char *name)
{
    const size_t n = strlen(FOLDER), digits = CB_PLAN_ID_CAP - 1;
    return strncmp(name, FOLDER, n) == 0 && strspn(name + n, "0123456789abcdef") == digits &&
           name[n + digits] == '-';
}

bool cb_run_names_result(const char *name)
{
    const size_t n = strlen(RESULT);
    return strncmp(name, RESULT, n) == 0 && strspn(name + n, "0123456789abcdef") >= DIGITS;
}

cubed_status cb_run_forget_folder(cubed_store *work, const char *plan, const char *run,
                                  const cb_run_self *self, cb_zone *zone, cubed_error *err)
{
    char folder[CB_RUN_FOLDER_CAP];
    cb_claim c;
    cb_run_folder(plan, run, folder);
    CB_TRY(cb_claim_look(work, folder, zone, &c, err));
    if (cb_version_is_none(&c.version) || cb_takeover_must_wait(self, &c.record)) return CUBED_OK;
    return cb_store_clear(work, folder, err);
}

typedef struct finder {
    const cubed_plan *p;
    cubed_store *work;
    const cb_run_self *self;
    cb_zone *zone;
    char *found; /* name of the run that was found; "" if none yet */
    bool may_write;
} finder;

static cubed_status look_at_folder(void *ctx, const char *name, bool is_prefix, cubed_error *err)
{
    finder *f = ctx;
    char start[CB_RUN_FOLDER_CAP];
    cb_claim c;
    snprintf(start, sizeof start, FOLDER "%s-", f->self->plan);
    if (*f->found || !is_prefix || strncmp(name, start, strlen(start)) != 0) return CUBED_OK;
    if (strlen(name + strlen(start)) >= CB_RUN_NAME_CAP) return CUBED_OK;
    /* Skip folders that are not private: in a directory that all users can write, another user may have stored wrong values. */
    if (cb_store_check_private(f->work, name, NULL) != CUBED_OK) return CUBED_OK;
    CB_TRY(cb_claim_look(f->work, name, f->zone, &c, err));
    if (!cb_run_is_same(f->self, &c) || strcmp(c.record.cubed, CUBED_VERSION_STRING) != 0 ||
        cb_takeover_must_wait(f->self, &c.record))
        return CUBED_OK;
    CB_TRY(cb_run_check_sources(f->p, f->self, &c.record, err));
    snprintf(f->found, CB_RUN_NAME_CAP, "%s", name + strlen(start));
    f->may_write = cb_run_record_may_write(&c.record);
    return CUBED_OK;
}

cubed_status cb_run_find_folder(const cubed_plan *p, cubed_store *work, const cb_run_self *self,
                                cb_zone *zone, char run[CB_RUN_NAME_CAP], bool *may_write,
                                cubed_error *err)
{
    finder f = {p, work, self, zone, run, false};
    *run = 0;
    if (*self->plan) CB_TRY(cb_store_members(work, "", look_at_folder, &f, err));
    *may_write = f.may_write;
    return CUBED_OK;
}
