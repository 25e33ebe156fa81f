/* Computes hashes that identify the computation of a plan. Equal plans have the same hash in any process. */
#define XXH_INLINE_ALL
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#include "base/error.h"
#include "plan/serial.h"

/* Hashes elements in C order, one contiguous run of trailing axes at a time. */
static void put_contents(cb_buf *b, const cb_node *n)
{
    int64_t shape[CUBED_MAX_NDIM], idx[CUBED_MAX_NDIM] = {0};
    size_t run = cubed_dtype_size(n->dtype);
    XXH3_state_t state;
    XXH128_canonical_t out;
    cb_node_shape(n, shape);
    XXH3_128bits_reset(&state);
    int outer = n->grid->ndim;
    while (outer > 0 && n->strides[outer - 1] == (int64_t)run) run *= (size_t)shape[--outer];
    cb_box rows = {.ndim = outer};
    memcpy(rows.hi, shape, sizeof rows.hi);
    if (run == 0 || cb_box_empty(&rows)) run = 0;
    do {
        const char *at = n->data;
        for (int d = 0; d < outer; d++) at += idx[d] * n->strides[d];
        XXH3_128bits_update(&state, at, run);
    } while (run > 0 && cb_odometer_next(&rows, idx));
    XXH128_canonicalFromHash(&out, XXH3_128bits_digest(&state));
    cb_buf_put(b, out.digest, sizeof out.digest);
}

static XXH128_canonical_t digest_of(const cb_buf *b)
{
    XXH128_canonical_t out;
    XXH128_canonicalFromHash(&out, XXH3_128bits(b->data, b->size));
    return out;
}

/* Sets the name: a hash of the bytes in b and of the contents. */
static cubed_status put_name(cb_buf *b, const cb_buf *contents, char name[CB_PLAN_ID_CAP],
                             cubed_error *err)
{
    cb_buf_put(b, contents->data, contents->size);
    if (b->failed || contents->failed)
        return cb_fail(err, CUBED_E_NOMEM, "no memory for the hash of a plan");
    const XXH128_canonical_t out = digest_of(b);
    for (size_t k = 0; k < sizeof out.digest; k++) snprintf(name + 2 * k, 3, "%02x", out.digest[k]);
    return CUBED_OK;
}

cubed_status cb_plan_note_goal(cubed_plan *p, cubed_error *err)
{
    cb_buf bytes;
    _Static_assert(sizeof(XXH128_canonical_t) == sizeof p->goal, "the bytes of a hash");
    cb_buf_init(&bytes, &p->ctx->alloc);
    const cubed_status st = cb_plan_write(p, CB_PLAN_FOR_ID, &bytes, err);
    if (st == CUBED_OK) memcpy(p->goal, digest_of(&bytes).digest, sizeof p->goal);
    cb_buf_free(&bytes);
    return st;
}

/* Hashes the arrays in memory; if `wanted` is not NULL, only the nodes with wanted[i]. */
static void put_all_contents(const cubed_plan *p, const bool *wanted, cb_buf *contents)
{
    for (int i = 0; i < p->ir.nnodes; i++) {
        if (p->ir.nodes[i].kind == CB_NODE_MEMORY && (!wanted || wanted[i]))
            put_contents(contents, &p->ir.nodes[i]);
    }
}

/* Hashes the arrays in memory at or below kept states. */
static cubed_status put_states_contents(const cubed_plan *p, cb_buf *contents, cubed_error *err)
{
    const size_t n = (size_t)p->ir.nnodes;
    bool *below = cb_alloc_zero(&p->ctx->alloc, n * sizeof *below);
    if (!below) return cb_fail(err, CUBED_E_NOMEM, "no memory for the hash of a plan");
    for (int i = 0; i < p->ir.nnodes; i++) below[i] = cb_plan_keeps_states(p, i);
    cb_ir_mark_inputs(&p->ir, below);
    put_all_contents(p, below, contents);
    cb_free(&p->ctx->alloc, below, n * sizeof *below);
    return CUBED_OK;
}

cubed_status cb_plan_identify_growth(const cubed_plan *p, bool states, char name[CB_PLAN_ID_CAP],
                                     cubed_error *err)
{
    const cubed_allocator *a = &p->ctx->alloc;
    const cb_growth *growth = states ? &p->states_growth : &p->growth;
    cubed_status st = CUBED_OK;
    cb_buf contents, bytes;
    *name = 0;
    if (growth->size == 0) return CUBED_OK;
    cb_buf_init(&contents, a);
    cb_buf_init(&bytes, a);
    if (states)
        st = put_states_contents(p, &contents, err);
    else
        put_all_contents(p, NULL, &contents);
    cb_buf_put(&bytes, growth->hash, sizeof growth->hash);
    if (st == CUBED_OK) st = put_name(&bytes, &contents, name, err);
    cb_buf_free(&contents);
    cb_buf_free(&bytes);
    return st;
}

/* Hashes the contents of arrays in memory in the order of their nodes. This order does not depend on the optimiser: the nodes
 * that it adds do not read memory. */
static cubed_status identify(const cubed_plan *p, cb_plan_use use, char id[CB_PLAN_ID_CAP],
                             char *goal, cubed_error *err)
{
    const bool known = *p->id;
    cubed_status st = CUBED_OK;
    cb_buf contents, bytes;
    if (known) memcpy(id, p->id, CB_PLAN_ID_CAP);
    if (known && !goal) return CUBED_OK;
    cb_buf_init(&contents, &p->ctx->alloc);
    cb_buf_init(&bytes, &p->ctx->alloc);
    put_all_contents(p, NULL, &contents);
    if (!known) {
        CB_GO(cb_plan_write(p, use, &bytes, err));
        CB_GO(put_name(&bytes, &contents, id, err));
    }
    if (goal) {
        bytes.size = 0;
        cb_buf_put(&bytes, p->goal, sizeof p->goal);
        st = put_name(&bytes, &contents, goal, err);
    }
out:
    cb_buf_free(&contents);
    cb_buf_free(&bytes);
    return st;
}

cubed_status cb_plan_identify(const cubed_plan *p, char id[CB_PLAN_ID_CAP], char *goal,
                              cubed_error *err)
{
    return identify(p, CB_PLAN_FOR_ID, id, goal, err);
}

cubed_status cb_plan_identify_update(const cubed_plan *p, char id[CB_PLAN_ID_CAP], char *goal,
                                     cubed_error *err)
{
    return identify(p, CB_PLAN_FOR_UPDATE, id, goal, err);
}

cubed_status cb_plan_keep_id(cubed_plan *p, cubed_error *err)
{
    char id[CB_PLAN_ID_CAP];
    if (!cb_plan_is_known(p)) return CUBED_OK;
    CB_TRY(cb_plan_identify(p, id, NULL, err));
    memcpy(p->id, id, sizeof p->id);
    return CUBED_OK;
}

bool cb_plan_is_known(const cubed_plan *p)
{
    for (int i = 0; i < p->ir.nnodes; i++) {
        if (p->ir.nodes[i].source) return false;
    }
    return true;
}

cubed_status cubed_plan_get_id(const cubed_plan *plan, char id[CUBED_PLAN_ID_CAP], cubed_error *err)
{
    _Static_assert(CUBED_PLAN_ID_CAP == CB_PLAN_ID_CAP, "the bytes of an id");
    *id = 0;
    return cb_plan_is_known(plan) ? cb_plan_identify(plan, id, NULL, err) : CUBED_OK;
}
