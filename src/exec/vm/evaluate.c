/* Evaluates a program over a box, branch by branch. */
#include "base/error.h"
#include "exec/vm/frames.h"

/* Returns a view of a part of the box `all`. */
static cb_view view_of_part(const cb_view *v, const cb_box *all, const cb_box *part)
{
    cb_view out = *v;
    for (int j = 0; j < all->ndim; j++) out.base += (part->lo[j] - all->lo[j]) * v->stride[j];
    return out;
}

static void extents_of(const cb_box *box, int64_t *extents)
{
    for (int d = 0; d < box->ndim; d++) extents[d] = box->hi[d] - box->lo[d];
}

/* Sets *part to the part of the box that belongs to the branch. If `anywhere` is set, sets it to the largest part for any
 * position of the box. */
static bool part_of(const cb_branch *b, const cb_box *box, bool anywhere, cb_box *part)
{
    *part = *box;
    for (int d = 0; anywhere && d < box->ndim; d++)
        part->hi[d] = part->lo[d] + cb_min_i64(box->hi[d] - box->lo[d], b->hi[d] - b->lo[d]);
    if (!anywhere) cb_branch_part(b, box, part);
    return anywhere || !cb_box_empty(part);
}

static bool is_gathered(const cb_evaluation *e, const cb_branch *b)
{
    return e->gather && cb_branch_is_bare(b);
}

static cubed_status measure_branch(const cubed_plan *p, const cb_evaluation *e, const cb_branch *b,
                                   const cb_box *part, cb_arena *arena, cubed_error *err)
{
    int64_t extents[CUBED_MAX_NDIM];
    void *chunk;
    extents_of(part, extents);
    return is_gathered(e, b)
               ? cb_load_frame(p, &b->loads[b->results[0]], extents, arena, &chunk, NULL, err)
               : cb_branch_frame(p, e->prog, b, extents, arena, err);
}

cubed_status cb_evaluate_frame(const cubed_plan *p, const cb_evaluation *e, const cb_box *box,
                               bool anywhere, cb_arena *arena, cb_view **views, cubed_error *err)
{
    const size_t n = (size_t)e->prog->nresults + (size_t)e->nstates;
    int i = 0, last = e->prog->nbranches;
    void *list = *views; /* for a single view, the caller provides the memory in *views */
    if (n > 1) CB_TRY(cb_arena_alloc(arena, n * sizeof **views, "views", &list, err));
    *views = list;
    if (!cb_arena_measures(arena) || (anywhere && arena->kind == CB_ARENA_LEAST)) return CUBED_OK;
    if (!anywhere) cb_program_branches(e->prog, box, &i, &last);
    for (; i < last; i++) {
        size_t mark = cb_arena_mark(arena);
        cb_box part;
        if (!part_of(&e->prog->branches[i], box, anywhere, &part)) continue;
        CB_TRY(measure_branch(p, e, &e->prog->branches[i], &part, arena, err));
        cb_arena_release(arena, mark);
    }
    return CUBED_OK;
}

/* Copies the elements of `part` from a load without instructions, one source chunk at a time. */
static cubed_status gather(const cb_task *t, const cb_load *load, const cb_box *part,
                           const cb_view *to, cubed_error *err)
{
    int64_t extents[CUBED_MAX_NDIM];
    void *chunk;
    extents_of(part, extents);
    CB_TRY(cb_load_frame(t->plan, load, extents, t->arena, &chunk, NULL, err));
    return cb_load_gather(t, load, part, to, chunk, err);
}

cubed_status cb_evaluate(const cb_task *t, const cb_evaluation *e, const cb_box *box,
                         cubed_error *err)
{
    const cb_program *prog = e->prog;
    cb_view one, *views = &one;
    int i, last;
    CB_TRY(cb_evaluate_frame(t->plan, e, box, false, t->arena, &views, err));
    for (cb_program_branches(prog, box, &i, &last); i < last; i++) {
        const cb_branch *b = &prog->branches[i];
        cb_view *states = views + prog->nresults;
        cb_box part;
        if (!part_of(b, box, false, &part)) continue;
        CB_TRY(cb_task_check(t, err));
        for (int r = 0; r < prog->nresults; r++) views[r] = view_of_part(&e->outs[r], box, &part);
        for (int k = 0; k < e->nstates; k++) states[k] = view_of_part(&e->states[k], box, &part);
        size_t mark = cb_arena_mark(t->arena);
        if (is_gathered(e, b)) {
            CB_TRY(gather(t, &b->loads[b->results[0]], &part, &views[0], err));
        } else {
            cb_vm *vm;
            CB_TRY(cb_vm_open(t, prog, b, &part, states, views, &vm, err));
            CB_TRY(cb_vm_store(vm, e->stream, err));
        }
        cb_arena_release(t->arena, mark);
    }
    return CUBED_OK;
}
