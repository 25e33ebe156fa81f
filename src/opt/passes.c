/* Rechunking through intermediates.
 *
 * A stage whose tasks straddle the chunks that they read decodes them again and again. Where reading
 * everything more than three times is the best that one pass can do, two passes move less: 2 copies
 * against (1 + a) / 2 for a-fold reading. The intermediate's chunks are the pieces in which a read
 * tile R (whole source chunks) and a write tile W (whole target chunks), each as large as memory
 * allows, intersect. One intermediate does while N <= M^2 / beta, beta being the smallest piece worth
 * a request (Aggarwal and Vitter, "The input/output complexity of sorting and related problems", CACM
 * 1988); beyond that the next round splits the passes that are still bad.
 *
 * The projection judges the outcome: a detour that does not save bytes is taken back. */
#include <string.h>

#include "base/error.h"
#include "opt/opt.h"
#include "plan/need.h"

/* Reading this many times is as good as a detour. */
#define MAX_REREADS 3
#define MAX_ROUNDS  3

/* Bytes of all arrays that the stage loads, each once. */
static uint64_t read_once(const cubed_plan *p, const cb_stage *s)
{
    uint64_t bytes = 0;
    for (int b = 0; b < s->tail.nbranches; b++) {
        for (int v = 0; v < s->tail.branches[b].nloads; v++) {
            const cb_load *l = &s->tail.branches[b].loads[v];
            if (l->kind != CB_LOAD_STORED) continue;
            const cb_grid *g = &p->ir.nodes[l->node].grid;
            bytes =
                cb_sat_add(bytes, cb_sat_mul((size_t)cb_grid_count(g), cb_chunk_bytes(p, l->node)));
        }
    }
    return bytes;
}

static double elements(int ndim, const int64_t *box)
{
    double n = 1;
    for (int d = 0; d < ndim; d++) n *= (double)box[d];
    return n;
}

/* Grows a box of whole chunks along the axes on which the other side's chunks are longer, the axis
 * with most to gain first, while it has at most `most` elements. */
static void grow(const cb_grid *own, const cb_grid *other, double most, int64_t *box)
{
    for (int d = 0; d < own->ndim; d++) {
        int64_t extent = cb_max_i64(1, own->axis[d].extent);
        box[d] = cb_min_i64(extent, own->axis[d].chunk);
    }
    for (;;) {
        int best = -1;
        double gain = 1;
        for (int d = 0; d < own->ndim; d++) {
            int64_t extent = cb_max_i64(1, own->axis[d].extent);
            int64_t goal = cb_min_i64(extent, other->axis[d].chunk);
            double ratio = (double)goal / (double)box[d];
            double longer = (double)cb_min_i64(extent, box[d] + own->axis[d].chunk);
            if (ratio <= gain || elements(own->ndim, box) / (double)box[d] * longer > most)
                continue;
            gain = ratio;
            best = d;
        }
        if (best < 0) return;
        /* By doubling at first, then chunk by chunk: axes may have a million chunks. */
        int64_t extent = own->axis[best].extent, chunk = own->axis[best].chunk;
        int64_t twice = cb_min_i64(extent, cb_ceil_div(2 * box[best], chunk) * chunk);
        double rest = elements(own->ndim, box) / (double)box[best];
        box[best] = rest * (double)twice <= most ? twice : cb_min_i64(extent, box[best] + chunk);
    }
}

static cb_grid middle_grid(const cb_grid *source, const cb_grid *target, double most)
{
    int64_t r[CUBED_MAX_NDIM], w[CUBED_MAX_NDIM], shape[CUBED_MAX_NDIM], piece[CUBED_MAX_NDIM];
    grow(source, target, most, r);
    grow(target, source, most, w);
    for (int d = 0; d < source->ndim; d++) {
        shape[d] = source->axis[d].extent;
        piece[d] = cb_min_i64(r[d], w[d]);
    }
    return cb_grid_regular(source->ndim, shape, piece);
}

/* The grid that an array below a copy is read in: that of the first stored array in it that has the
 * shape of the copy, else the logical one. */
static const cb_grid *source_grid(const cubed_plan *p, const cb_stage *s, const cb_node *n)
{
    for (int b = 0; b < s->tail.nbranches; b++) {
        for (int v = 0; v < s->tail.branches[b].nloads; v++) {
            const cb_load *l = &s->tail.branches[b].loads[v];
            if (l->kind == CB_LOAD_STORED && cb_map_is_identity(&l->map))
                return &p->ir.nodes[l->node].grid;
        }
    }
    return &p->ir.nodes[n->inputs[0]].grid;
}

typedef struct detour {
    int root;
    cb_grid grid;
} detour;

static cubed_status insert(void *ctx, cubed_plan *p, cb_ir *to, int i, const cb_node *n, int *out,
                           cubed_error *err)
{
    const detour *d = ctx;
    (void)p;
    if (i != d->root) return cb_ir_add(to, n, out, err);
    cb_node middle = {.kind = CB_NODE_COPY,
                      .dtype = n->dtype,
                      .grid = d->grid,
                      .ninputs = 1,
                      .inputs = n->inputs,
                      .stored = true};
    cb_node root = *n;
    int index;
    CB_TRY(cb_ir_add(to, &middle, &index, err));
    root.inputs = &index;
    return cb_ir_add(to, &root, out, err);
}

static uint64_t traffic(const cubed_plan *p)
{
    uint64_t bytes = 0;
    for (int i = 0; i < p->nstages; i++)
        bytes = cb_sat_add(bytes, cb_sat_add(p->stages[i].bytes_read, p->stages[i].bytes_written));
    return bytes;
}

static bool fits(const cubed_plan *p)
{
    for (int i = 0; i < p->nstages; i++) {
        if (cb_sat_add(p->stages[i].need.arena, p->stages[i].need.library) > cb_opt_task_mem(p))
            return false;
    }
    return true;
}

/* Sources are open already: their handles move to the new node list. */
static cubed_status restage(cubed_plan *p, cb_storage *old, int nold, cubed_error *err)
{
    cb_storage *storage = cb_zone_alloc(p->ir.zone, (size_t)p->ir.nnodes * sizeof *storage);
    if (!storage) return cb_fail(err, CUBED_E_NOMEM, "no memory to plan");
    for (int i = 0, k = 0; i < p->ir.nnodes; i++) {
        if (!p->ir.nodes[i].url) continue;
        while (k < nold && !old[k].where) k++;
        storage[i] = old[k++];
        cb_codec_chain_fix(&storage[i].meta.codecs);
    }
    p->storage = storage;
    return cb_opt_make_stages(p, true, err);
}

/* Tries a detour in front of stage `s`; memory is divided by `part` for the tiles. */
static cubed_status try_detour(cubed_plan *p, const cb_stage *s, double part, bool *better,
                               cubed_error *err)
{
    const cubed_plan before = *p; /* nodes and stages are replaced, never changed */
    int *targets = cb_zone_memdup(p->ir.zone, p->targets, (size_t)p->ntargets * sizeof(int));
    if (!targets) return cb_fail(err, CUBED_E_NOMEM, "no memory to plan");
    detour d = {.root = s->outs[0].node};
    const cb_node *n = &p->ir.nodes[d.root];
    const cb_grid *source = source_grid(p, s, n);
    size_t size = cubed_dtype_size(n->dtype);
    double chunks = 2.0 * (double)size *
                    (double)cb_max_i64(cb_grid_max_chunk(source), cb_grid_max_chunk(&n->grid));
    double room = (double)cb_opt_task_mem(p) - chunks;
    *better = false;
    if (room <= 0) return CUBED_OK;
    d.grid = middle_grid(source, &n->grid, room / part / (double)size);
    if (cb_grid_equal(&d.grid, source) || cb_grid_equal(&d.grid, &n->grid)) return CUBED_OK;
    cubed_status st = cb_opt_rewrite(p, insert, &d, err);
    if (st == CUBED_OK) st = restage(p, before.storage, before.ir.nnodes, err);
    *better = st == CUBED_OK && fits(p) && traffic(p) < traffic(&before);
    if (!*better) {
        p->ir = before.ir;
        p->storage = before.storage;
        p->stages = before.stages;
        p->nstages = before.nstages;
        p->targets = targets;
    }
    return st;
}

cubed_status cb_opt_rechunk_passes(cubed_plan *p, cubed_error *err)
{
    static const double parts[] = {1.05, 1.3, 2, 4};
    for (int round = 0; round < MAX_ROUNDS; round++) {
        bool any = false;
        for (int i = 0; i < p->nstages; i++) {
            const cb_stage *s = &p->stages[i];
            bool better = false;
            if (s->nouts != 1 || s->nfolds || s->ntasks == 0 ||
                s->bytes_read / MAX_REREADS < read_once(p, s))
                continue;
            for (size_t k = 0; k < sizeof parts / sizeof *parts && !better; k++)
                CB_TRY(try_detour(p, &p->stages[i], parts[k], &better, err));
            any = any || better;
        }
        if (!any) return CUBED_OK;
    }
    return CUBED_OK;
}
