/* Functions for the tail of a stage (cb_stage.tail), which several operators use. */
#include "base/error.h"
#include "exec/vm/frames.h"

/* Results in the caller's memory of at least this size in bytes are written with instructions that bypass the processor's
 * caches. */
#define STREAM_BYTES ((size_t)8 << 20)

cubed_status cb_stage_compile_tail(cubed_plan *p, cb_stage *s, cb_zone *scratch, cubed_error *err)
{
    CB_TRY(cb_stage_set_domain(&p->ir, s, err));
    CB_TRY(cb_stage_set_tasks(s, err));
    return cb_stage_lower_tail(p, s, scratch, err);
}

void cb_stage_prepare_tail(const cubed_plan *p, cb_stage *s)
{
    cb_blocks kept[CUBED_MAX_NDIM + 1];
    cb_program_blocks(s, 1, kept);
    cb_traffic_add_program(p, s, &s->tail, kept);
}

cubed_status cb_stage_read_tail(const cubed_plan *p, const cb_stage *s, const cb_box *kept,
                                cb_chunks_fn fn, void *ctx, cubed_error *err)
{
    return cb_program_reads(p, &s->tail, kept, fn, ctx, err);
}

/* Compares the bytes that all tasks write, because a large result replaces other data in the cache even if each task is small. */
bool cb_stage_streams(const cubed_plan *p, const cb_stage *s, const cb_box *kept)
{
    size_t bytes = 0;
    for (int o = 0; o < s->nouts; o++) {
        const cb_node *n = &p->ir.nodes[s->outs[o].node];
        if (!n->to_memory) return false;
        bytes += (size_t)cb_box_count(kept) * cubed_dtype_size(n->dtype);
    }
    return bytes * (size_t)s->ntasks >= STREAM_BYTES;
}
