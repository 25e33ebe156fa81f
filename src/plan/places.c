/* Lists the places of a plan's sources, results, groups and intermediates, and checks that writing one of them does not
 * destroy another one. */
#include <string.h>

#include "base/error.h"
#include "files/files.h"
#include "plan/plan.h"

/* The use of a place. */
typedef enum place_use { USE_SOURCE, USE_RESULT, USE_ASSIGNED, USE_GROUP, USE_WORK } place_use;

typedef struct placed {
    cb_place at;
    place_use use;
    bool region;    /* the plan writes only a part of an existing array */
    bool overwrite; /* a result that replaces existing data once it is complete */
} placed;

cubed_status cb_plan_find_place(const cubed_context *ctx, cb_zone *zone, const char *url,
                                cb_place *out, cubed_error *err)
{
    CB_TRY(cb_place_parse(zone, url, out, err));
    return cb_store_check(&ctx->stores, out->store, err);
}

cubed_status cb_plan_check_work_dir(const cubed_context *ctx, const char *url, cubed_error *err)
{
    if (!cb_store_is_of_process(&ctx->stores, url)) return CUBED_OK;
    return cb_fail(err, CUBED_E_ARG,
                   "work_dir is %s, which is in memory, expected a directory for data that do not "
                   "fit in memory",
                   url);
}

cubed_status cb_plan_check_shared(const cubed_context *ctx, const cb_ir *ir, cubed_error *err)
{
    for (int i = 0; i < ir->nnodes; i++) {
        const char *url = ir->nodes[i].url;
        if (url && cb_store_is_of_process(&ctx->stores, url))
            return cb_fail(err, CUBED_E_UNSUPPORTED,
                           "%s is in the memory of this process: compute it in threads, because it "
                           "cannot be saved or sent to other processes",
                           url);
    }
    return CUBED_OK;
}

/* All places of a plan, results first. User-defined functions may read and write other places; the list contains these places
 * only if the caller declares them. */
typedef struct placed_list {
    const cubed_context *ctx;
    cb_zone *zone;
    placed *all;
    int n;
    /* parse places again, because since the plan was made more files may exist and links may have changed */
    bool again;
} placed_list;

/* Adds a place to the list. `known`: the place of the URL if it is already parsed, otherwise NULL. */
static cubed_status add(placed_list *l, const char *url, const cb_place *known, place_use use,
                        const cb_node *n, cubed_error *err)
{
    placed *x = &l->all[l->n++];
    x->use = use;
    x->region = n && n->region;
    x->overwrite = n && n->overwrite;
    if (known && !l->again) {
        x->at = *known;
        return CUBED_OK;
    }
    return use == USE_WORK ? cb_place_parse_store(l->zone, url, &x->at, err)
                           : cb_plan_find_place(l->ctx, l->zone, url, &x->at, err);
}

/* Lists the arrays that the plan's groups copy unchanged. */
static cubed_status list_copies(const cubed_plan *p, placed_list *l, bool results, cubed_error *err)
{
    for (int i = 0; i < p->ngroups; i++) {
        const cb_plan_group *g = &p->groups[i];
        if (!g->copy_of) continue;
        CB_TRY(add(l, results ? g->url : g->copy_of, NULL, results ? USE_RESULT : USE_SOURCE, NULL,
                   err));
        l->all[l->n - 1].overwrite = g->overwrite;
    }
    return CUBED_OK;
}

static cubed_status list_places(const cubed_plan *p, placed_list *l, cubed_error *err)
{
    size_t n = 1 + 2 * (size_t)p->ngroups;
    for (int i = 0; i < p->ir.nnodes; i++) {
        const cb_node *x = &p->ir.nodes[i];
        n += (size_t)(x->url != NULL) + (x->source != NULL) + (x->writes != NULL);
    }
    l->all = cb_zone_alloc(l->zone, n * sizeof *l->all);
    if (!l->all) return cb_fail(err, CUBED_E_NOMEM, "no memory for a plan's places");
    for (int results = 1; results >= 0; results--) {
        CB_TRY(list_copies(p, l, results == 1, err));
        for (int i = 0; i < p->ir.nnodes; i++) {
            const cb_node *x = &p->ir.nodes[i];
            if (x->url && x->is_target == (results == 1))
                CB_TRY(add(l, x->url, &p->storage[i]->place, results ? USE_RESULT : USE_SOURCE, x,
                           err));
            if (results) continue;
            if (x->writes) CB_TRY(add(l, x->writes, NULL, USE_ASSIGNED, NULL, err));
            const cb_source *s = x->source;
            const char *read = s && s->handle && s->fn->place ? s->fn->place(s->handle) : NULL;
            if (read) CB_TRY(add(l, read, NULL, USE_SOURCE, NULL, err));
        }
    }
    for (int i = 0; i < p->ngroups; i++) {
        if (!p->groups[i].copy_of) CB_TRY(add(l, p->groups[i].url, NULL, USE_GROUP, NULL, err));
    }
    /* A plan with results and sources only in memory has no places that could overlap. */
    return p->work_dir && l->n > 0 ? add(l, p->work_dir, NULL, USE_WORK, NULL, err) : CUBED_OK;
}

/* Returns true if writing `a` would destroy `b`, or if writing `b` would destroy `a`. `relation` states whether the place of
 * `a` equals the place of `b`, or is above or below it. */
static bool collide(const placed *a, const placed *b, cb_place_relation relation)
{
    if (relation == CB_PLACES_APART) return false;
    if (a->use == USE_RESULT && b->use <= USE_RESULT) {
        /* An array may replace its own source, because it is replaced after all reads. */
        if (a->overwrite && !a->region && b->use == USE_SOURCE && relation == CB_PLACES_SAME)
            return false;
        /* Two regions of one array may be written, because chunks that belong to both are merged when they are put. */
        return !(a->region && b->region && relation == CB_PLACES_SAME);
    }
    /* Functions of the caller may write several regions of one array in one plan. The functions determine the order of these
     * writes. */
    if (a->use == USE_ASSIGNED) return b->use == USE_SOURCE;
    /* Groups and work directories may contain arrays and other places; arrays contain nothing else. */
    return relation != CB_PLACE_ABOVE;
}

static const char *noun(place_use use)
{
    static const char *const nouns[] = {"source", "result", "result", "group", "work directory"};
    return nouns[use];
}

/* Returns an error with both URLs, their common place, and the remedy. If a source must not be overwritten, suggests an array
 * that replaces it after the run. */
static cubed_status refuse(const placed *a, const placed *b, cb_place_relation relation,
                           cubed_error *err)
{
    const char *x = a->at.given, *y = b->at.given;
    if ((a->use == USE_RESULT || a->use == USE_ASSIGNED) && b->use == USE_SOURCE)
        (void)cb_fail(err, CUBED_E_ARG, "the result %s would overwrite the source %s", x, y);
    else if (a->use == b->use)
        (void)cb_fail(err, CUBED_E_ARG, "two %ss go to the same place: %s and %s", noun(a->use), x,
                      y);
    else
        (void)cb_fail(err, CUBED_E_ARG, "the %s %s and the %s %s go to the same place",
                      noun(a->use), x, noun(b->use), y);
    if (!err) return CUBED_E_ARG;
    if (relation == CB_PLACE_ABOVE)
        cb_note(err, ": %s lies in %s", b->at.text, a->at.text);
    else if (relation == CB_PLACE_BELOW)
        cb_note(err, ": %s lies in %s", a->at.text, b->at.text);
    else if (strcmp(a->at.text, b->at.text) != 0)
        cb_note(err, ": %s and %s are one directory", a->at.text, b->at.text);
    else if (strcmp(x, y) != 0)
        cb_note(err, ": both are %s", a->at.text);
    if (a->use == USE_RESULT && b->use == USE_SOURCE)
        cb_note(err, relation == CB_PLACES_SAME && !a->region && !a->overwrite
                         ? "; overwrite it, or use another target"
                         : "; use another target");
    return CUBED_E_ARG;
}

bool cb_plan_writes_nothing(const cubed_plan *p)
{
    for (int i = 0; i < p->ir.nnodes; i++) {
        const cb_node *n = &p->ir.nodes[i];
        if ((n->is_target && n->url) || n->writes || cb_node_is_intermediate(n)) return false;
    }
    return p->ngroups == 0;
}

cubed_status cb_plan_check_places(const cubed_plan *p, bool again, cubed_error *err)
{
    placed_list l = {.ctx = p->ctx, .again = again};
    cubed_status st;
    CB_TRY(cb_zone_new(&p->ctx->alloc, &l.zone, err));
    CB_GO(list_places(p, &l, err));
    for (int i = 0; i < l.n; i++) {
        const placed *a = &l.all[i];
        for (int j = a->use == USE_RESULT ? i + 1 : 0; j < l.n && a->use != USE_SOURCE; j++) {
            const placed *b = &l.all[j];
            if (b->use > USE_RESULT) continue;
            const cb_place_relation relation = cb_place_compare(&a->at, &b->at);
            if (collide(a, b, relation)) CB_GO(refuse(a, b, relation, err));
        }
    }
out:
    cb_zone_free(l.zone);
    return st;
}

/* --- References ------------------------------------------------------------------------------------------- */

/* Returns true if an earlier node has the same store as node k, so that cubed_plan_get_validator returns this store for the
 * earlier one. */
static bool is_listed(const cubed_plan *p, int k)
{
    for (int j = 0; j < k; j++) {
        const cb_storage *s = p->storage[j];
        if (s && s->store && strcmp(s->place.store, p->storage[k]->place.store) == 0 &&
            cb_file_validator(s->store) != CUBED_VALIDATOR_VERSION)
            return true;
    }
    return false;
}

cubed_validator cubed_plan_get_validator(const cubed_plan *p, int i, const char **url)
{
    for (int k = 0; p->storage && k < p->ir.nnodes; k++) {
        const cb_storage *s = p->storage[k];
        if (!s || !s->store) continue;
        const cubed_validator v = cb_file_validator(s->store);
        if (v == CUBED_VALIDATOR_VERSION || is_listed(p, k) || i-- > 0) continue;
        *url = s->place.store;
        return v;
    }
    return CUBED_VALIDATOR_VERSION;
}

const char *cubed_plan_get_references(const cubed_plan *p, int i, const char **document)
{
    const char *last = NULL;
    for (int k = 0; k < p->ir.nnodes + p->ngroups; k++) {
        const bool node = k < p->ir.nnodes;
        const cb_node *n = node ? &p->ir.nodes[k] : NULL;
        const cb_plan_group *g = node ? NULL : &p->groups[k - p->ir.nnodes];
        const char *references = node ? n->references : g->references;
        if (!references) continue;
        const char *url = node && p->storage && p->storage[k] ? p->storage[k]->place.store
                          : node                              ? n->url
                                                              : g->copy_of;
        if (last && strcmp(last, url) == 0) continue; /* skip other arrays of the same document */
        last = url;
        *document = url;
        if (i-- == 0) return references;
    }
    return NULL;
}
