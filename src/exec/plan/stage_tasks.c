/* Tasks of stages: their boxes, and the chunks that they read and write. */
#include <string.h>

#include "base/error.h"
#include "exec/plan/operator.h"

/* --- Loads ---------------------------------------------------------------------------------------- */

void cb_load_reshape(const cb_ir *ir, const cb_load *load, cb_reshape *out)
{
    const cb_node *n = &ir->nodes[load->reshape];
    int64_t to[CUBED_MAX_NDIM];
    cb_node_shape(n, to);
    cb_reshape_make(out, n->map->ndim_in, n->from, n->grid->ndim, to);
}

void cb_load_image(const cb_ir *ir, const cb_load *load, const cb_box *domain, cb_box *image)
{
    cb_box to, from;
    cb_reshape r;
    if (!load->reshape) {
        cb_map_image(load->map, domain, image);
        return;
    }
    cb_map_image(load->map, domain, &to);
    cb_load_reshape(ir, load, &r);
    cb_reshape_image(&r, &to, &from);
    cb_map_image(ir->nodes[load->reshape].map, &from, image);
}

/* --- Tasks ---------------------------------------------------------------------------------------- */

void cb_stage_task_chunks(const cb_stage *s, int64_t task, cb_box *chunks)
{
    chunks->ndim = s->kept->ndim;
    for (int d = s->kept->ndim - 1; d >= 0; d--) {
        int64_t n = cb_axis_count(&s->kept->axis[d]);
        int64_t per = s->task_chunks[d], tasks = cb_ceil_div(n, per);
        int64_t i = task % tasks;
        task /= tasks;
        chunks->lo[d] = i * per;
        chunks->hi[d] = cb_min_i64(n, (i + 1) * per);
    }
}

void cb_stage_task_box(const cb_stage *s, int64_t task, cb_box *elements)
{
    cb_box chunks;
    cb_stage_task_chunks(s, task, &chunks);
    cb_stage_elements(s, &chunks, elements);
}

void cb_stage_elements(const cb_stage *s, const cb_box *chunks, cb_box *elements)
{
    elements->ndim = s->kept->ndim;
    for (int d = 0; d < s->kept->ndim; d++) {
        elements->lo[d] = cb_axis_lo(&s->kept->axis[d], chunks->lo[d]);
        elements->hi[d] = cb_axis_hi(&s->kept->axis[d], chunks->hi[d] - 1);
    }
}

/* Sets the box of chunks that a load needs for a part of its branch. */
static void cover_of(const cubed_plan *p, const cb_load *l, const cb_box *part, cb_box *cover)
{
    cb_box image;
    cb_load_image(&p->ir, l, part, &image);
    cb_grid_cover(p->ir.nodes[l->node].grid, &image, cover);
}

/* Returns true if an earlier load of the branch has loaded the chunk that load `v` needs, and load `v` needs no other chunk. */
static bool is_resident(const cubed_plan *p, const cb_branch *b, int v, const cb_box *part,
                        const cb_box *chunks)
{
    if (cb_box_count(chunks) != 1) return false;
    for (int o = 0; o < v; o++) {
        const cb_load *l = &b->loads[o];
        cb_box cover;
        if (l->kind != CB_LOAD_STORED || l->node != b->loads[v].node || l->subread || l->reshape)
            continue;
        cover_of(p, l, part, &cover);
        if (cb_box_count(&cover) == 1 &&
            memcmp(cover.lo, chunks->lo, (size_t)cover.ndim * sizeof *cover.lo) == 0)
            return true;
    }
    return false;
}

/* Returns true if a load before number v, in the same group, needs the chunk. */
static bool is_gathered(const cubed_plan *p, const cb_branch *b, int first, int v,
                        const cb_box *part, const int64_t *idx)
{
    for (int o = first; o != v; o = b->loads[o].next) {
        cb_box cover;
        cover_of(p, &b->loads[o], part, &cover);
        if (cb_box_has(&cover, idx)) return true;
    }
    return false;
}

/* Calls fn for the chunks that the group that begins with load `first` reads, once for each chunk. */
static cubed_status walk_group(const cubed_plan *p, const cb_branch *b, int first,
                               const cb_box *part, cb_chunks_fn fn, void *ctx, cubed_error *err)
{
    cb_box before = {.hi = {0}}, cover;
    int v = first;
    do {
        int64_t idx[CUBED_MAX_NDIM];
        cover_of(p, &b->loads[v], part, &cover);
        memcpy(idx, cover.lo, sizeof idx);
        do {
            cb_box chunk = {.ndim = cover.ndim};
            /* Compare with the previous load first, because most loads need the same chunks. */
            if (v != first && (cb_box_has(&before, idx) || is_gathered(p, b, first, v, part, idx)))
                continue;
            for (int d = 0; d < cover.ndim; d++) {
                chunk.lo[d] = idx[d];
                chunk.hi[d] = idx[d] + 1;
            }
            CB_TRY(fn(ctx, b->loads[v].node, &chunk, err));
        } while (cb_odometer_next(&cover, idx));
        before = cover;
    } while ((v = b->loads[v].next) > 0);
    return CUBED_OK;
}

/* Calls fn for the chunks that the program reads for a box. If `fetched` is set, calls it only for chunks that may be
 * prefetched, once for each chunk. */
static cubed_status walk_loads(const cubed_plan *p, const cb_program *prog, const cb_box *box,
                               bool fetched, cb_chunks_fn fn, void *ctx, cubed_error *err)
{
    int i, last;
    for (cb_program_branches(prog, box, &i, &last); i < last; i++) {
        const cb_branch *b = &prog->branches[i];
        cb_box part, chunks;
        cb_branch_part(b, box, &part);
        if (cb_box_empty(&part)) continue;
        for (int v = 0; v < b->nloads; v++) {
            const cb_load *l = &b->loads[v];
            if (l->kind != CB_LOAD_STORED || (fetched && (l->subread || l->reshape))) continue;
            if (fetched && l->follows) continue;
            if (fetched && l->next > 0) {
                CB_TRY(walk_group(p, b, v, &part, fn, ctx, err));
                continue;
            }
            cover_of(p, l, &part, &chunks);
            if (!fetched || !is_resident(p, b, v, &part, &chunks))
                CB_TRY(fn(ctx, l->node, &chunks, err));
        }
    }
    return CUBED_OK;
}

cubed_status cb_program_reads(const cubed_plan *p, const cb_program *prog, const cb_box *box,
                              cb_chunks_fn fn, void *ctx, cubed_error *err)
{
    return walk_loads(p, prog, box, false, fn, ctx, err);
}

cubed_status cb_program_visit(const cubed_plan *p, const cb_program *prog, const cb_box *box,
                              const cb_visited_step *v, cubed_error *err)
{
    return walk_loads(p, prog, box, true, v->fn, v->ctx, err);
}

cubed_status cb_stage_visit_tail(const cubed_plan *p, const cb_stage *s, const cb_visited_step *v,
                                 bool *there, cubed_error *err)
{
    *there = v->step == 0;
    return *there ? cb_program_visit(p, &s->tail, &v->kept, v, err) : CUBED_OK;
}

cubed_status cb_stage_task_reads(const cubed_plan *p, const cb_stage *s, int64_t task,
                                 cb_chunks_fn fn, void *ctx, cubed_error *err)
{
    cb_box kept;
    cb_stage_task_box(s, task, &kept);
    return s->op->reads(p, s, &kept, fn, ctx, err);
}

cubed_status cb_stage_visit(const cubed_plan *p, int stage, int64_t task, int64_t step, bool *there,
                            cb_chunks_fn fn, void *ctx)
{
    const cb_stage *s = &p->stages[stage];
    cb_visited_step v = {.step = step, .fn = fn, .ctx = ctx};
    *there = false;
    if (!s->op->visit) return CUBED_OK;
    cb_stage_task_box(s, task, &v.kept);
    return s->op->visit(p, s, &v, there, NULL);
}

cubed_status cb_stage_task_writes(const cubed_plan *p, const cb_stage *s, int64_t task,
                                  cb_chunks_fn fn, void *ctx, cubed_error *err)
{
    cb_box kept;
    cb_stage_task_chunks(s, task, &kept);
    return cb_stage_box_writes(p, s, &kept, fn, ctx, err);
}

cubed_status cb_stage_box_writes(const cubed_plan *p, const cb_stage *s, const cb_box *kept,
                                 cb_chunks_fn fn, void *ctx, cubed_error *err)
{
    for (int o = 0; o < s->nouts; o++) {
        const cb_grid *g = p->ir.nodes[s->outs[o].node].grid;
        cb_box chunks;
        chunks.ndim = g->ndim;
        /* An output may be empty although another output of the stage is not. */
        if (cb_grid_count(g) == 0) continue;
        for (int d = 0; d < chunks.ndim; d++) {
            int j = s->outs[o].axis[d];
            chunks.lo[d] = j < 0 ? 0 : kept->lo[j];
            chunks.hi[d] = j < 0 ? 1 : kept->hi[j];
        }
        CB_TRY(fn(ctx, s->outs[o].node, &chunks, err));
    }
    return CUBED_OK;
}
