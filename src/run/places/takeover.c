/* Decides when a run may take over a place from another run that may still be working.
 *
 * The heartbeats are the only information about a process on another machine. The process may be suspended or disconnected from
 * the network, and continue after another run has taken over its place. A store prevents late writes of this process in one of
 * two ways: it can exchange places, or it supports conditional puts (cb_claim_fence). Some object stores ignore the conditions.
 * */
#include <inttypes.h>

#include "base/error.h"
#include "base/struct_size.h"
#include "run/places/claim.h"

cubed_status cb_takeover_read(cb_run_self *self, const cubed_takeover_options *options,
                              cubed_error *err)
{
    cubed_takeover_options o = CUBED_TAKEOVER_OPTIONS_INIT;
    CB_TRY(CB_OPTIONS_TAKE("takeover", options, &o, err));
    self->silence = o.silence_seconds ? o.silence_seconds : CB_RUN_SILENCE;
    self->take_over = o.take_over;
    return CUBED_OK;
}

bool cb_takeover_must_wait(const cb_run_self *self, const cb_run_record *r)
{
    return cb_run_record_is_live(r, self->take_over ? CB_RUN_NO_SILENCE : self->silence);
}

cubed_status cb_takeover_is_safe(const cb_claim *c, bool *safe, cubed_error *err)
{
    *safe = cb_version_is_none(&c->version) || !cb_run_record_may_write(&c->record) ||
            !cb_claim_needs_fence(c->store);
    return *safe ? CUBED_OK : cb_zarr_try_conditions(c->store, c->path, safe, err);
}

cubed_status cb_takeover_check(const cb_claim *c, const cb_run_self *self, cubed_error *err)
{
    char who[CB_RUN_WHO_CAP];
    bool safe = true;
    if (!self->take_over) CB_TRY(cb_takeover_is_safe(c, &safe, err));
    if (safe) return CUBED_OK;
    cb_run_record_who(&c->record, who, sizeof who);
    return cb_fail(err, CUBED_E_UNSUPPORTED,
                   "%s%s%s was being written by %s, whose last heartbeat is %" PRId64
                   " seconds old. That run may still write: this store ignores the conditions of "
                   "puts (If-Match, If-None-Match), so late writes would change the new array; "
                   "make sure that no process of that run is left, and take the place over "
                   "(--take-over, take_over=True), or write to another place",
                   c->store->url, *c->path ? "::" : "", c->path, who,
                   cb_run_record_age(&c->record));
}
