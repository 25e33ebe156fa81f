#include "run/places/run_record.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/json.h"
#include "cubed/run.h"

#define VERSION   1
#define MAX_BYTES ((size_t)64 << 20)

static const char *const states[] = {"working", "left", "copying", "swapped", "done", "committing"};

static void copy(char *to, size_t cap, const json_t *o, const char *key)
{
    const char *text = json_string_value(json_object_get(o, key));
    snprintf(to, cap, "%s", text ? text : "");
}

/* Parses a record. Fields that are missing or have another type are empty, so a record whose `owner` is not a string counts as
 * having no owner. If the record has another version, all fields are empty. Returns false if out of memory. */
static bool parse(const json_t *o, cb_zone *zone, cb_run_record *r)
{
    if (json_integer_value(json_object_get(o, "version")) != VERSION) return true;
    copy(r->plan, sizeof r->plan, o, "plan");
    copy(r->goal, sizeof r->goal, o, "goal");
    copy(r->run, sizeof r->run, o, "run");
    copy(r->owner, sizeof r->owner, o, "owner");
    copy(r->since, sizeof r->since, o, "since");
    copy(r->staged, sizeof r->staged, o, "staged");
    copy(r->cubed, sizeof r->cubed, o, "cubed");
    r->beat = cb_max_i64(json_integer_value(json_object_get(o, "beat")), 0);
    r->detached = json_is_true(json_object_get(o, "detached"));
    r->all = json_is_true(json_object_get(o, "all"));
    r->elsewhere = json_is_true(json_object_get(o, "elsewhere"));
    copy(r->made.text, sizeof r->made.text, o, "made");
    r->format = (int)json_integer_value(json_object_get(o, "format"));
    const char *state = json_string_value(json_object_get(o, "state"));
    for (int i = 0; state && i < (int)(sizeof states / sizeof *states); i++) {
        if (strcmp(state, states[i]) == 0) r->state = (cb_run_state)i;
    }
    const char *sources = json_string_value(json_object_get(o, "sources"));
    if (sources) r->sources = cb_zone_strdup(zone, sources);
    return !sources || r->sources;
}

cubed_status cb_run_record_read(cubed_store *store, const char *path, cb_zone *zone,
                                cb_run_record *out, cubed_object_version *version, cubed_error *err)
{
    char key[4096];
    cb_buf text;
    cubed_error why = CUBED_ERROR_INIT;
    cubed_object_info info;
    cubed_status st;
    memset(out, 0, sizeof *out);
    *version = (cubed_object_version){""};
    CB_TRY(cb_key_join(key, sizeof key, path, CB_RUN_RECORD, err));
    cb_buf_init(&text, store->alloc);
    st = cb_store_read_object(store, key, MAX_BYTES, &text, &info, &why);
    if (st == CUBED_OK) {
        *version = info.version;
        json_t *o = NULL;
        /* Return the error if memory is exhausted. A record without owner would let this run take over the place. */
        st = cb_json_try(key, text.data, text.size, &o, &why);
        if (st == CUBED_OK && !parse(o, zone, out))
            st = cb_fail(&why, CUBED_E_NOMEM, "no memory for %s", key);
        json_decref(o);
    }
    cb_buf_free(&text);
    if (st == CUBED_OK || st == CUBED_E_NOT_FOUND) return CUBED_OK;
    if (err) *err = why;
    return st;
}

cubed_status cb_run_record_write(cubed_store *store, const char *path, const cb_run_record *r,
                                 cubed_object_version *version, cubed_error *err)
{
    char key[4096];
    cb_buf text;
    CB_TRY(cb_key_join(key, sizeof key, path, CB_RUN_RECORD, err));
    cb_buf_init(&text, store->alloc);
    json_t *o = json_pack("{s:i,s:s,s:s,s:s,s:s,s:s,s:s,s:I,s:s,s:s,s:b,s:b,s:s,s:i}", "version",
                          VERSION, "cubed", r->cubed, "plan", r->plan, "goal", r->goal, "run",
                          r->run, "owner", r->owner, "since", r->since, "beat", (json_int_t)r->beat,
                          "state", states[r->state], "staged", r->staged, "detached", r->detached,
                          "elsewhere", r->elsewhere, "made", r->made.text, "format", r->format);
    bool ok = o &&
              (!r->sources || json_object_set_new(o, "sources", json_string(r->sources)) == 0) &&
              (!r->all || json_object_set_new(o, "all", json_true()) == 0) &&
              cb_json_dump(o, JSON_COMPACT, &text);
    cubed_status st = ok ? cb_store_put_if(store, key, version, text.data, text.size, version, err)
                         : cb_fail(err, CUBED_E_NOMEM, "no memory for %s", key);
    json_decref(o);
    cb_buf_free(&text);
    return st;
}

cubed_status cb_run_record_remove(cubed_store *store, const char *path,
                                  const cubed_object_version *version, cubed_error *err)
{
    char key[4096];
    CB_TRY(cb_key_join(key, sizeof key, path, CB_RUN_RECORD, err));
    return version ? cb_store_del_if(store, key, version, err) : cb_store_del(store, key, err);
}

static bool is_over(const cb_run_record *r)
{
    return r->state == CB_RUN_LEFT || r->state == CB_RUN_DONE;
}

bool cb_run_record_is_live(const cb_run_record *r, int64_t silence)
{
    cb_owner owner;
    if (is_over(r)) return false;
    if (r->detached) return true;
    if (!cb_owner_parse(r->owner, &owner, NULL)) return false;
    cb_owner_state state = cb_owner_alive(&owner);
    if (state != CB_OWNER_UNKNOWN) return state == CB_OWNER_ALIVE;
    return cb_run_now() - r->beat < silence;
}

bool cb_run_record_may_write(const cb_run_record *r)
{
    cb_owner owner;
    if (r->state == CB_RUN_DONE) return false;
    if (r->elsewhere || r->detached) return true;
    return r->state != CB_RUN_LEFT &&
           (!cb_owner_parse(r->owner, &owner, NULL) || cb_owner_alive(&owner) != CB_OWNER_GONE);
}

bool cb_run_record_is_here(const cb_run_record *r)
{
    cb_owner owner;
    return cb_owner_parse(r->owner, &owner, NULL) && cb_owner_alive(&owner) == CB_OWNER_ALIVE;
}

int64_t cb_run_record_age(const cb_run_record *r) { return cb_max_i64(cb_run_now() - r->beat, 0); }

void cb_run_record_who(const cb_run_record *r, char *text, size_t cap)
{
    cb_owner owner = {.pid = 0};
    bool known = cb_owner_parse(r->owner, &owner, NULL);
    if (!known && !r->detached)
        snprintf(text, cap, "a process that its record does not name");
    else if (r->detached)
        snprintf(text, cap, "run %s, begun on %s at %s", r->run, known ? owner.host : "?",
                 r->since);
    else
        snprintf(text, cap, "process %" PRId64 " on %s since %s", owner.pid,
                 known ? owner.host : "?", r->since);
}

int64_t cb_run_now(void) { return (int64_t)time(NULL); }

uint64_t cubed_process_start(int64_t pid) { return cb_owner_process_start(pid); }
