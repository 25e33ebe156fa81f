/* Places that one process at a time extends. */
#include <inttypes.h>
#include <stdio.h>
#include <sys/random.h>

#include "base/error.h"
#include "cubed/run.h"
#include "place/place.h"
#include "plan/context.h"
#include "run/claim.h"

#define FOLDER ".cubed-append"

struct cubed_hold {
    cubed_context *ctx;
    cb_zone *zone;
    cubed_store *store;
    cb_place place;
    char path[4096];
    cb_run_self self;
    cb_claim claim;
};

static cubed_status take(cubed_hold *h, const char *url, cubed_error *err)
{
    uint64_t nonce;
    if (getrandom(&nonce, sizeof nonce, 0) != (ssize_t)sizeof nonce)
        return cb_fail(err, CUBED_E_IO, "the system gives no random numbers");
    h->self.silence = CB_RUN_SILENCE;
    snprintf(h->self.run, sizeof h->self.run, "%016" PRIx64, nonce);
    CB_TRY(cb_place_parse(h->zone, url, &h->place, err));
    CB_TRY(cb_place_open(&h->ctx->stores, &h->place, false, &h->store, err));
    CB_TRY(cb_key_join(h->path, sizeof h->path, h->place.path, FOLDER, err));
    CB_TRY(cb_claim_look(h->store, h->path, h->zone, &h->claim, err));
    CB_TRY(cb_claim_check_free(&h->claim, &h->self, err));
    return cb_claim_take(&h->claim, &h->self, "", err);
}

cubed_status cubed_place_hold(cubed_context *ctx, const char *url, cubed_hold **out,
                              cubed_error *err)
{
    cb_zone *zone;
    CB_TRY(cb_zone_new(&ctx->alloc, &zone, err));
    cubed_hold *h = cb_zone_alloc(zone, sizeof *h);
    if (!h) {
        cb_zone_free(zone);
        return cb_fail(err, CUBED_E_NOMEM, "no memory to hold %s", url);
    }
    h->ctx = cubed_context_ref(ctx);
    h->zone = zone;
    cubed_status st = take(h, url, err);
    if (st == CUBED_OK) {
        *out = h;
        return st;
    }
    h->claim.version = (cubed_object_version){""};
    cubed_place_release(h);
    if (st != CUBED_E_EXISTS) return st;
    return cb_context(err, st, "another process extends the array at this moment: try again");
}

void cubed_place_release(cubed_hold *h)
{
    if (!h) return;
    cubed_context *ctx = h->ctx;
    if (h->store) cb_claim_drop(&h->claim);
    cb_store_close(h->store);
    cb_zone_free(h->zone);
    cubed_context_unref(ctx);
}
