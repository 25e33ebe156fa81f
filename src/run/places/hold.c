/* cubed_place_hold: lets only one process at a time extend a place. */
#include <unistd.h>

#include "base/error.h"
#include "context/context.h"
#include "cubed/run.h"
#include "place/place.h"
#include "run/places/beats.h"
#include "run/places/self.h"

#define FOLDER ".cubed-append"

struct cubed_hold {
    cubed_context *ctx;
    cb_zone *zone;
    cubed_store *store;
    cb_place place;
    char path[4096];
    cb_run_self self;
    cb_claim claim;
    pid_t pid;
    cb_beats *beats;
};

static cubed_status take(cubed_hold *h, const char *url, cubed_error *err)
{
    CB_TRY(cb_run_new_name(h->self.run, err));
    CB_TRY(cb_place_parse(h->zone, url, &h->place, err));
    CB_TRY(cb_place_open(&h->ctx->stores, &h->place, false, &h->store, err));
    CB_TRY(cb_key_join(h->path, sizeof h->path, h->place.path, FOLDER, err));
    CB_TRY(cb_claim_look(h->store, h->path, h->zone, &h->claim, err));
    CB_TRY(cb_claim_check_free(&h->claim, &h->self, err));
    CB_TRY(cb_takeover_check(&h->claim, &h->self, err));
    return cb_claim_take(&h->claim, &h->self, "", err);
}

cubed_status cubed_place_hold(cubed_context *ctx, const char *url,
                              const cubed_takeover_options *takeover, cubed_hold **out,
                              cubed_error *err)
{
    cb_run_self self = {.run = ""};
    CB_TRY(cb_takeover_read(&self, takeover, err));
    cb_zone *zone;
    CB_TRY(cb_zone_new(&ctx->alloc, &zone, err));
    cubed_hold *h = cb_zone_alloc(zone, sizeof *h);
    if (!h) {
        cb_zone_free(zone);
        return cb_fail(err, CUBED_E_NOMEM, "no memory for the claim of %s", url);
    }
    h->ctx = cubed_context_ref(ctx);
    h->zone = zone;
    h->pid = getpid();
    h->self = self;
    cubed_status st = take(h, url, err);
    if (st != CUBED_OK)
        h->claim.version = (cubed_object_version){""};
    else
        st = cb_beats_start(&ctx->alloc, h->self.silence, cb_claim_beat, &h->beats, err);
    if (st == CUBED_OK) {
        cb_beats_add(h->beats, &h->claim);
        *out = h;
        return st;
    }
    cubed_place_release(h);
    if (st != CUBED_E_EXISTS) return st;
    return cb_context(err, st, "another process extends the array at this moment: try again");
}

void cubed_place_release(cubed_hold *h)
{
    /* Do nothing in a forked child: the place is held by its parent. */
    if (!h || h->pid != getpid()) return;
    cubed_context *ctx = h->ctx;
    cb_beats_end(h->beats);
    if (h->store) cb_claim_drop(&h->claim);
    cb_store_close(h->store);
    cb_zone_free(h->zone);
    cubed_context_unref(ctx);
}
