/* Sorting more elements than a task holds: "sort_part" makes one part of the result from a visit to all
 * elements.
 *
 * Which elements are in a part say the keys at its ends, and how many elements that are equal to them are in
 * front of it: a state of "refine_keys" (key_counts.c). They are gathered in the order of their positions,
 * and sorted when all are there: equal ones stay in order. */
#include <inttypes.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "block/functions.h"
#include "block/order.h"
#include "block/params.h"

/* An end of a part: elements with this key are in front of it while fewer than `rank` of them were seen. */
typedef struct bound {
    uint64_t key;
    int64_t rank, seen;
} bound;

#define CB_PART_JOIN(a, b)  a##b
#define CB_PART_PASTE(a, b) CB_PART_JOIN(a, b)
#define K                   uint8_t
#define BITS                8
#include "block/sort_part.inc.h"
#define K    uint16_t
#define BITS 16
#include "block/sort_part.inc.h"
#define K    uint32_t
#define BITS 32
#include "block/sort_part.inc.h"
#define K    uint64_t
#define BITS 64
#include "block/sort_part.inc.h"

typedef int64_t (*pick_fn)(const void *keys, int64_t n, bound *from, bound *to, uint32_t *places);

static pick_fn pick_fn_of(size_t size)
{
    static const pick_fn fns[] = {pick8, pick16, pick32, pick64};
    return fns[size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3];
}

/* Elements that are made keys at a time. */
#define SOME ((int64_t)1024)

/* Outputs: the result, and what is carried from call to call. */
enum { RESULT, KEYS, ITEMS, COUNTS, OUTPUTS };
/* Of COUNTS. */
enum { FILLED, SEEN_FROM, SEEN_TO, NAN_OR_ZERO };

static cubed_dtype item_type(const cb_sort_part_params *p, cubed_dtype x)
{
    return p->positions ? CUBED_INT64 : x;
}

static cubed_status check(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    const cb_sort_part_params *p = call->params;
    (void)ctx;
    if (call->params_size != sizeof *p || call->nin != 2 || call->nout != OUTPUTS || p->chunk < 1 ||
        p->chunk > UINT32_MAX || p->descending >> 1 || p->positions >> 1)
        return cb_fail(err, CUBED_E_FORMAT, "other parameters or operands than it takes");
    const cubed_block *x = &call->in[0], *state = &call->in[1], *y = call->out;
    cubed_kind kind = cubed_dtype_kind(x->dtype);
    if (kind == CUBED_KIND_COMPLEX || kind == CUBED_KIND_TEXT)
        return cb_fail(err, CUBED_E_TYPE, "it is not defined for %s", cubed_dtype_name(x->dtype));
    if (x->ndim != 1 || state->ndim != 1 || state->dtype != CUBED_INT64 || state->shape[0] % 4 != 1)
        return cb_fail(err, CUBED_E_FORMAT, "operands of other types or shapes");
    for (int k = 0; k < OUTPUTS; k++) {
        int64_t n = k == COUNTS ? 4 : y[RESULT].shape[0];
        if (y[k].ndim != 1 || y[k].shape[0] != n || n > cb_max_i64(4, p->chunk))
            return cb_fail(err, CUBED_E_FORMAT, "a result of another shape");
    }
    if (y[RESULT].dtype != item_type(p, x->dtype) || y[ITEMS].dtype != y[RESULT].dtype ||
        cubed_dtype_kind(y[KEYS].dtype) != CUBED_KIND_UINT ||
        cubed_dtype_size(y[KEYS].dtype) != cubed_dtype_size(x->dtype) ||
        y[COUNTS].dtype != CUBED_INT64)
        return cb_fail(err, CUBED_E_FORMAT, "a result of another type");
    return CUBED_OK;
}

static size_t rounded(size_t bytes) { return cb_sat_add(bytes, 63) & ~(size_t)63; }

/* Some keys and their places; for sorting, as many as the part has, and positions twice. */
static cubed_block_need need(const cubed_block_call *call, void *ctx)
{
    const cb_sort_part_params *p = call->params;
    size_t size = cubed_dtype_size(call->in[0].dtype), n = (size_t)call->out[RESULT].shape[0];
    size_t some = (size_t)SOME * (8 + sizeof(uint32_t)), spare = rounded(cb_sat_mul(n, size));
    size_t positions = p->positions ? rounded(cb_sat_mul(n, sizeof(uint32_t))) : 0;
    (void)ctx;
    size_t sorting = cb_sat_add(spare, cb_sat_add(positions, positions));
    return (cubed_block_need){some > sorting ? some : sorting, 0};
}

static cubed_status other_elements(cubed_error *err)
{
    return cb_fail(err, CUBED_E_ARG, "the elements are not those that were counted");
}

/* Gathers the elements of the block that are in the part. */
static cubed_status gather(const cubed_block_call *call, bound *from, bound *to, cubed_error *err)
{
    const cb_sort_part_params *p = call->params;
    const cubed_block *x = &call->in[0], *y = call->out;
    const size_t size = cubed_dtype_size(x->dtype);
    const cb_order o = cb_order_of(x->dtype, p->descending);
    int64_t *counts = y[COUNTS].data;
    uint32_t *places = (uint32_t *)((char *)call->scratch + SOME * 8);
    cb_order_seen seen = {counts[NAN_OR_ZERO] & 1, counts[NAN_OR_ZERO] >> 1 & 1};
    for (int64_t i = 0; i < x->shape[0]; i += SOME) {
        const char *data = (const char *)x->data + (size_t)i * size, *keys = call->scratch;
        int64_t n = cb_min_i64(SOME, x->shape[0] - i), at = counts[FILLED];
        cb_order_width_of(size)->make_keys(data, (int64_t)size, n, &o, call->scratch, &seen);
        int64_t picked = pick_fn_of(size)(keys, n, from, to, places);
        if (picked > y[RESULT].shape[0] - at) return other_elements(err);
        for (int64_t k = 0; k < picked; k++, at++) {
            size_t place = places[k];
            memcpy((char *)y[KEYS].data + (size_t)at * size, keys + place * size, size);
            if (p->positions)
                ((int64_t *)y[ITEMS].data)[at] = x->offset[0] + i + (int64_t)place;
            else
                memcpy((char *)y[ITEMS].data + (size_t)at * size, data + place * size, size);
        }
        counts[FILLED] = at;
    }
    counts[NAN_OR_ZERO] = seen.nan | seen.minus_zero << 1;
    return CUBED_OK;
}

static void finish(const cubed_block_call *call)
{
    const cb_sort_part_params *p = call->params;
    const cubed_block *y = call->out;
    const int64_t n = y[RESULT].shape[0], *counts = y[COUNTS].data;
    const cubed_dtype dtype = call->in[0].dtype;
    const size_t size = cubed_dtype_size(dtype);
    const cb_order_width *w = cb_order_width_of(size);
    const cb_order o = cb_order_of(dtype, p->descending);
    char *spare = call->scratch;
    if (!p->positions) {
        const cb_order_seen seen = {counts[NAN_OR_ZERO] & 1, counts[NAN_OR_ZERO] >> 1 & 1};
        w->sort_keys(y[KEYS].data, NULL, n, spare, NULL);
        w->make_values(y[KEYS].data, n, &o, seen, y[ITEMS].data, (int64_t)size);
        memcpy(y[RESULT].data, y[KEYS].data, (size_t)n * size);
        return;
    }
    uint32_t *pos = (uint32_t *)(spare + rounded((size_t)n * size));
    uint32_t *spare_pos = pos + rounded((size_t)n * sizeof *pos) / sizeof *pos;
    for (int64_t i = 0; i < n; i++) pos[i] = (uint32_t)i;
    w->sort_keys(y[KEYS].data, pos, n, spare, spare_pos);
    for (int64_t i = 0; i < n; i++)
        ((int64_t *)y[RESULT].data)[i] = ((const int64_t *)y[ITEMS].data)[pos[i]];
}

static cubed_status run(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    const cb_sort_part_params *p = call->params;
    const cubed_block *y = call->out;
    const int64_t part = y[RESULT].offset[0] / p->chunk, ends = call->in[1].shape[0] / 4;
    const int64_t *state = call->in[1].data, *end = state + 1 + 4 * part;
    int64_t *counts = y[COUNTS].data;
    (void)ctx;
    if (!y[RESULT].data) return CUBED_OK;
    if (part > ends) return other_elements(err);
    if (call->first) memset(counts, 0, 4 * sizeof *counts);
    /* The first part has no element in front of it, the last one none behind. */
    bound from = {0, 0, counts[SEEN_FROM]}, to = {UINT64_MAX, INT64_MAX, counts[SEEN_TO]};
    if (part > 0) from = (bound){(uint64_t)end[-4], end[-3], counts[SEEN_FROM]};
    if (part < ends) to = (bound){(uint64_t)end[0], end[1], counts[SEEN_TO]};
    CB_TRY(gather(call, &from, &to, err));
    counts[SEEN_FROM] = from.seen;
    counts[SEEN_TO] = to.seen;
    if (!call->last) return CUBED_OK;
    if (counts[FILLED] != y[RESULT].shape[0]) return other_elements(err);
    finish(call);
    return CUBED_OK;
}

const cubed_block_fn cb_block_sort_part = {.name = "sort_part",
                                           .check = check,
                                           .need = need,
                                           .run = run,
                                           .carried = 1u << KEYS | 1u << ITEMS | 1u << COUNTS};
