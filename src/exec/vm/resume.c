#include "exec/vm/resume.h"

#include <string.h>

#include "base/error.h"

/* State of a search for the smallest box that contains all chunks of a task that are not stored yet. */
typedef struct absent {
    const cb_task *t;
    const cb_box *all; /* box of all chunks of the task */
    cb_box box;
    int next; /* number of the output that is checked next */
} absent;

static cubed_status find_absent(void *ctx, int node, const cb_box *chunks, cubed_error *err)
{
    absent *a = ctx;
    const cb_stage_out *out = &a->t->stage->outs[a->next++];
    const cb_grid *g = a->t->plan->ir.nodes[node].grid;
    int64_t idx[CUBED_MAX_NDIM];
    memcpy(idx, chunks->lo, sizeof idx);
    do {
        bool found;
        cb_box one = *a->all;
        CB_TRY(cb_chunks_exists(a->t->chunks, node, cb_grid_ravel(g, idx), &found, err));
        if (found) continue;
        for (int d = 0; d < g->ndim; d++) {
            if (out->axis[d] < 0) continue;
            one.lo[out->axis[d]] = idx[d];
            one.hi[out->axis[d]] = idx[d] + 1;
        }
        for (int j = 0; j < one.ndim; j++) {
            a->box.lo[j] = cb_min_i64(a->box.lo[j], one.lo[j]);
            a->box.hi[j] = cb_max_i64(a->box.hi[j], one.hi[j]);
        }
    } while (cb_odometer_next(chunks, idx));
    return CUBED_OK;
}

cubed_status cb_task_skip_present(const cb_task *t, cb_box *chunks, cubed_error *err)
{
    const cb_stage *s = t->stage;
    if (cb_box_count(chunks) == 1) return CUBED_OK;
    for (int o = 0; o < s->nouts; o++) {
        if (!cb_chunks_resumes(t->chunks, s->outs[o].node)) return CUBED_OK;
    }
    absent a = {t, chunks, *chunks, 0};
    for (int j = 0; j < chunks->ndim; j++) {
        a.box.lo[j] = chunks->hi[j];
        a.box.hi[j] = chunks->lo[j];
    }
    CB_TRY(cb_stage_box_writes(t->plan, s, chunks, find_absent, &a, err));
    /* If no chunk is missing, another attempt of the task has written all of them. Leave *chunks unchanged. */
    if (!cb_box_empty(&a.box)) *chunks = a.box;
    return CUBED_OK;
}
