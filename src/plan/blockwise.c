#include "plan/blockwise.h"

#include <inttypes.h>
#include <string.h>

#include "base/error.h"

/* Copies the blocks of operands to the zone. Returns false if out of memory. */
static bool own_blocks(cb_zone *zone, cb_block_operand *x, int n)
{
    for (int i = 0; i < n; i++) {
        if (cb_grid_own(zone, &x[i].blocks, NULL, 0, NULL) != CUBED_OK) return false;
        if (!x[i].reach) continue;
        const size_t items = (size_t)x[i].blocks.ndim * (size_t)x[i].blocks.ndim;
        cb_reach *reach = cb_zone_memdup(zone, x[i].reach, sizeof *reach);
        if (!reach) return false;
        reach->matrix = cb_zone_memdup(zone, reach->matrix, items * sizeof *reach->matrix);
        if (!reach->matrix) return false;
        x[i].reach = reach;
    }
    return true;
}

const cb_blockwise *cb_blockwise_copy(cb_zone *zone, const cb_blockwise *op)
{
    cb_blockwise *copy = cb_zone_memdup(zone, op, sizeof *op);
    if (!copy) return NULL;
    copy->function = cb_zone_strdup(zone, op->function);
    copy->params = cb_zone_memdup(zone, op->params, op->params_size);
    copy->in = cb_zone_memdup(zone, op->in, (size_t)op->nin * sizeof *op->in);
    copy->out = cb_zone_memdup(zone, op->out, (size_t)op->nout * sizeof *op->out);
    if (!copy->function || !copy->params || !copy->in || !copy->out) return NULL;
    bool owned = own_blocks(zone, copy->in, op->nin) && own_blocks(zone, copy->out, op->nout);
    return owned ? copy : NULL;
}

const cb_blockwise *cb_blockwise_keep(cb_zone *zone, const cb_blockwise *op,
                                      const cb_blockwise *const *known, int nknown)
{
    for (int i = 0; i < nknown; i++) {
        if (known[i] && cb_blockwise_equal(known[i], op)) return known[i];
    }
    return cb_blockwise_copy(zone, op);
}

/* The sums cannot overflow, because check_halo limits extents and halos. */
void cb_halo_widen(const cubed_block_halo *halo, int64_t extent, int64_t *lo, int64_t *hi)
{
    if (halo->padded) {
        *hi += halo->before + halo->after;
    } else {
        *lo = cb_max_i64(0, *lo - halo->before);
        *hi = cb_min_i64(extent, *hi + halo->after);
    }
}

int64_t cb_halo_most(const cubed_block_halo *halo, const cb_axis *blocks)
{
    int64_t around = halo->before + halo->after, most = cb_min_i64(blocks->extent, blocks->chunk);
    return halo->padded ? most + around : cb_min_i64(blocks->extent, most + around);
}

bool cb_block_has_halo(const cb_block_operand *x)
{
    for (int d = 0; d < x->blocks.ndim; d++) {
        if (x->halo[d].before || x->halo[d].after) return true;
    }
    return false;
}

bool cb_block_overlaps(const cb_block_operand *x) { return x->reach || cb_block_has_halo(x); }

int64_t cb_block_most(const cb_block_operand *x, int axis)
{
    if (x->reach) return cb_reach_most(x->reach, &x->blocks, axis);
    return cb_halo_most(&x->halo[axis], &x->blocks.axis[axis]);
}

bool cb_block_covers(const cb_block_operand *x, const cb_grid *array)
{
    if (x->blocks.ndim != array->ndim) return false;
    for (int d = 0; d < array->ndim; d++) {
        int64_t extent = x->reach ? x->reach->extent[d] : x->blocks.axis[d].extent;
        const cubed_block_halo *halo = &x->halo[d];
        if (halo->padded &&
            (cb_add_i64(extent, halo->before, &extent) || cb_add_i64(extent, halo->after, &extent)))
            return false;
        if (extent != array->axis[d].extent) return false;
    }
    return true;
}

static bool same_halos(const cb_block_operand *a, const cb_block_operand *b)
{
    for (int d = 0; d < a->blocks.ndim; d++) {
        const cubed_block_halo *x = &a->halo[d], *y = &b->halo[d];
        if (x->before != y->before || x->after != y->after || x->padded != y->padded) return false;
    }
    return true;
}

static bool same_gather(const cb_gather *a, const cb_gather *b)
{
    return a->most == b->most && a->per == b->per && a->axis == b->axis && a->ranges == b->ranges;
}

static bool same_reach(const cb_block_operand *a, const cb_block_operand *b)
{
    if (!a->reach || !b->reach) return a->reach == b->reach;
    return cb_reach_equal(a->reach, b->reach, a->blocks.ndim);
}

static bool same_operands(const cb_block_operand *a, const cb_block_operand *b, int n)
{
    for (int i = 0; i < n; i++) {
        size_t symbols = (size_t)a[i].blocks.ndim * sizeof *a[i].symbol;
        if (a[i].dtype != b[i].dtype || !cb_grid_equal(&a[i].blocks, &b[i].blocks) ||
            memcmp(a[i].symbol, b[i].symbol, symbols) != 0 || !same_halos(&a[i], &b[i]) ||
            !same_gather(&a[i].gather, &b[i].gather) || !same_reach(&a[i], &b[i]))
            return false;
    }
    return true;
}

bool cb_blockwise_equal(const cb_blockwise *a, const cb_blockwise *b)
{
    return strcmp(a->function, b->function) == 0 && a->params_size == b->params_size &&
           a->nin == b->nin && a->nout == b->nout &&
           (a->params_size == 0 || memcmp(a->params, b->params, a->params_size) == 0) &&
           same_operands(a->in, b->in, a->nin) && same_operands(a->out, b->out, a->nout);
}

/* Checks that the halo is not longer than the axis. A padded array contains the elements of the halo, so its halo may be longer
 * than the axis; the limit then only prevents overflow. */
static cubed_status check_halo(const cubed_block_halo *halo, int64_t extent, int axis, int number,
                               cubed_error *err)
{
    const int64_t most = halo->padded ? INT64_MAX / 4 : extent;
    if (halo->before == 0 && halo->after == 0) return CUBED_OK;
    if (halo->before >= 0 && halo->after >= 0 && halo->before <= most && halo->after <= most &&
        extent <= INT64_MAX / 4)
        return CUBED_OK;
    return cb_fail(err, CUBED_E_ARG,
                   "axis %d of input %d has a halo of %" PRId64 " and %" PRId64
                   " elements, expected 0 to %" PRId64,
                   axis, number, halo->before, halo->after, most);
}

/* Checks axis d, if an earlier axis of the operand has the same symbol. Only axes of an input may have the same symbol, and
 * only if their blocks are equal. The input must not be gathered, and must have neither a halo nor a reach. */
static cubed_status check_repeated(const cb_block_operand *x, int d, bool output, const char *what,
                                   int number, cubed_error *err)
{
    for (int e = 0; e < d; e++) {
        if (x->symbol[e] != x->symbol[d]) continue;
        if (!output && x->gather.most == 0 && !cb_block_overlaps(x) &&
            cb_axis_equal(&x->blocks.axis[e], &x->blocks.axis[d]))
            continue;
        return cb_fail(
            err, CUBED_E_ARG, "%s %d has the symbol %d twice, expected once%s", what, number,
            x->symbol[d],
            output ? "" : ", or along axes with equal blocks and without halo, reach or gather");
    }
    return CUBED_OK;
}

/* Checks that symbols are in range, and that axes without a symbol are one block. */
static cubed_status check_operand(const cb_block_operand *x, bool output, const char *what,
                                  int number, cubed_error *err)
{
    for (int d = 0; d < x->blocks.ndim; d++) {
        int s = x->symbol[d];
        CB_TRY(check_halo(&x->halo[d], x->blocks.axis[d].extent, d, number, err));
        if (s < -1 || s >= CUBED_MAX_NDIM)
            return cb_fail(err, CUBED_E_ARG,
                           "axis %d of %s %d has the symbol %d, expected -1 to %d", d, what, number,
                           s, CUBED_MAX_NDIM - 1);
        if (s < 0) {
            if (cb_axis_count(&x->blocks.axis[d]) > 1)
                return cb_fail(err, CUBED_E_ARG,
                               "axis %d of %s %d has no symbol, but more than one block", d, what,
                               number);
            continue;
        }
        CB_TRY(check_repeated(x, d, output, what, number, err));
    }
    return CUBED_OK;
}

/* Records the number of blocks of an operand along each symbol. Along a symbol, every operand must have the same number of
 * blocks, or one block. The axis of a gathered input is ignored. */
static cubed_status count_blocks(const cb_block_operand *x, bool output, int number,
                                 cb_symbols *out, bool *known, cubed_error *err)
{
    const char *what = output ? "output" : "input";
    CB_TRY(check_operand(x, output, what, number, err));
    for (int d = 0; d < x->blocks.ndim; d++) {
        int s = x->symbol[d];
        int64_t n = cb_axis_count(&x->blocks.axis[d]);
        if (s < 0 || n == 1 || (x->gather.most > 0 && d == x->gather.axis)) continue;
        if (known[s] && out->nblocks[s] != n)
            return cb_fail(err, CUBED_E_ARG,
                           "%s %d has %" PRId64
                           " blocks along the symbol %d, but another operand has %" PRId64
                           ", expected equal numbers of blocks",
                           what, number, n, s, out->nblocks[s]);
        known[s] = true;
        out->nblocks[s] = n;
    }
    return CUBED_OK;
}

/* Checks an input from which a call gets ranges (cb_gather). Several calls may get ranges of one block. */
static cubed_status check_gather(const cb_blockwise *op, int number, const cb_symbols *symbols,
                                 cubed_error *err)
{
    const cb_block_operand *x = &op->in[number];
    const cb_gather *g = &x->gather;
    if (g->most == 0) return CUBED_OK;
    bool sound = g->most > 0 && g->most <= INT64_MAX / 4 && g->per > 0 && g->axis >= 0 &&
                 g->axis < x->blocks.ndim && g->ranges >= 0 && g->ranges < number &&
                 !cb_block_overlaps(x);
    if (sound) {
        const cb_block_operand *ranges = &op->in[g->ranges];
        int s = x->symbol[g->axis];
        sound = ranges->dtype == CUBED_INT64 && ranges->gather.most == 0 && s >= 0 &&
                symbols->kept[s] &&
                cb_axis_count(&x->blocks.axis[g->axis]) == cb_ceil_div(symbols->nblocks[s], g->per);
    }
    for (int d = 0; sound && d < x->blocks.ndim; d++)
        sound = d == g->axis || x->blocks.axis[d].chunk == 1;
    return sound
               ? CUBED_OK
               : cb_fail(
                     err, CUBED_E_ARG,
                     "input %d has an invalid gather, expected an earlier int64 input with ranges, "
                     "a gathered axis with a symbol of the outputs, blocks of extent 1 along "
                     "other axes, and no halo",
                     number);
}

/* Checks an input with a reach: a call gets the elements to which an affine map leads. The input must have the blocks of the
 * first output. */
static cubed_status check_reach(const cb_blockwise *op, int number, cubed_error *err)
{
    const cb_block_operand *x = &op->in[number], *out = &op->out[0];
    if (!x->reach) return CUBED_OK;
    bool sound = x->gather.most == 0 && !cb_block_has_halo(x) &&
                 cb_grid_equal(&x->blocks, &out->blocks) &&
                 cb_reach_is_valid(x->reach, x->blocks.ndim);
    for (int d = 0; sound && d < x->blocks.ndim; d++)
        sound = x->symbol[d] >= 0 && x->symbol[d] == out->symbol[d];
    return sound
               ? CUBED_OK
               : cb_fail(
                     err, CUBED_E_ARG,
                     "input %d has an invalid reach, expected the blocks and symbols of output 0, "
                     "no halo and no gather",
                     number);
}

static int most_symbols(const cb_block_operand *x, int n, int most)
{
    for (int i = 0; i < n; i++) {
        for (int d = 0; d < x[i].blocks.ndim; d++) {
            if (x[i].symbol[d] >= most) most = x[i].symbol[d] + 1;
        }
    }
    return most;
}

cubed_status cb_blockwise_symbols(const cb_blockwise *op, cb_symbols *out, cubed_error *err)
{
    bool known[CUBED_MAX_NDIM] = {false};
    memset(out, 0, sizeof *out);
    for (int s = 0; s < CUBED_MAX_NDIM; s++) out->nblocks[s] = 1;
    for (int i = 0; i < op->nin; i++) CB_TRY(count_blocks(&op->in[i], false, i, out, known, err));
    for (int i = 0; i < op->nout; i++) CB_TRY(count_blocks(&op->out[i], true, i, out, known, err));
    out->n = most_symbols(op->out, op->nout, most_symbols(op->in, op->nin, 0));
    for (int i = 0; i < op->nout; i++) {
        for (int d = 0; d < op->out[i].blocks.ndim; d++) {
            if (op->out[i].symbol[d] >= 0) out->kept[op->out[i].symbol[d]] = true;
        }
    }
    for (int i = 0; i < op->nin; i++) {
        CB_TRY(check_gather(op, i, out, err));
        CB_TRY(check_reach(op, i, err));
    }
    /* Check that only one task writes a block of an output. */
    for (int i = 0; i < op->nout; i++) {
        uint32_t has = 0;
        for (int d = 0; d < op->out[i].blocks.ndim; d++) {
            int s = op->out[i].symbol[d];
            if (s < 0) continue;
            has |= 1u << s;
            if (cb_axis_count(&op->out[i].blocks.axis[d]) != out->nblocks[s])
                return cb_fail(err, CUBED_E_ARG,
                               "output %d has one block along the symbol %d, inputs have %" PRId64,
                               i, s, out->nblocks[s]);
        }
        for (int s = 0; s < out->n; s++) {
            if (out->kept[s] && out->nblocks[s] != 1 && !(has >> s & 1))
                return cb_fail(err, CUBED_E_ARG, "output %d lacks the symbol %d of other outputs",
                               i, s);
        }
    }
    return CUBED_OK;
}
