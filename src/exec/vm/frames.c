#include "exec/vm/frames.h"

#include "base/error.h"

cubed_status cb_machine_frame(const cb_program *prog, const cb_branch *branch, cb_arena *arena,
                              cb_machine *out, cubed_error *err)
{
    const size_t nloads = (size_t)branch->nloads, ninstrs = (size_t)branch->ninstrs;
    CB_TRY(cb_arena_alloc(arena, (nloads + 1) * CB_VM_LOAD_BYTES, "loads", &out->loads, err));
    CB_TRY(cb_arena_alloc(arena, (ninstrs + 1) * CB_VM_INSTR_BYTES, "instructions", &out->instrs,
                          err));
    CB_TRY(cb_arena_alloc(arena, (nloads + ninstrs) * sizeof(void *), "values", &out->values, err));
    return cb_arena_alloc(arena, cb_sat_mul((size_t)prog->nregs, prog->reg_size), "registers",
                          &out->regs, err);
}

cubed_status cb_load_frame(const cubed_plan *p, const cb_load *load, const int64_t *extents,
                           cb_arena *arena, void **chunk, void **tile, cubed_error *err)
{
    *chunk = NULL;
    if (!load->follows)
        CB_TRY(cb_arena_alloc(arena, cb_load_bytes(p, load, extents), "chunk", chunk, err));
    if (tile) *tile = NULL;
    if (tile && load->tile)
        CB_TRY(cb_arena_alloc(arena, cb_tile_bytes(load, extents), "tile", tile, err));
    if (!cb_arena_measures(arena) || load->piecewise) return CUBED_OK;
    cb_need read =
        load->subread ? cb_read_subread_need(p, load->node) : cb_read_need(p, load->node);
    read.arena = cb_sat_add(read.arena, CB_CHUNKS_PIN_BYTES);
    cb_arena_may_take(arena, read);
    if (tile) cb_arena_may_keep(arena, CB_CHUNKS_PIN_BYTES);
    return CUBED_OK;
}

cubed_status cb_grouped_frame(const cubed_plan *p, const cb_branch *branch, int v,
                              const int64_t *extents, cb_arena *arena, void **chunk, void **tile,
                              cubed_error *err)
{
    const cb_load *l = &branch->loads[v];
    CB_TRY(cb_load_frame(p, l, extents, arena, chunk, tile, err));
    if (!l->window || l->follows) return CUBED_OK;
    return cb_arena_alloc(arena, cb_window_bytes(branch, v, -1, extents), "window", tile, err);
}

cubed_status cb_branch_frame(const cubed_plan *p, const cb_program *prog, const cb_branch *branch,
                             const int64_t *extents, cb_arena *arena, cubed_error *err)
{
    cb_machine machine;
    CB_TRY(cb_machine_frame(prog, branch, arena, &machine, err));
    for (int v = 0; v < branch->nloads; v++) {
        void *chunk, *tile;
        if (branch->loads[v].kind == CB_LOAD_STORED)
            CB_TRY(cb_grouped_frame(p, branch, v, extents, arena, &chunk, &tile, err));
    }
    /* Measure these reads after the buffers, because all loads have their buffers when the reads take place. */
    for (int v = 0; v < branch->nloads && cb_arena_measures(arena); v++) {
        if (branch->loads[v].kind == CB_LOAD_STORED && branch->loads[v].piecewise)
            cb_arena_may_take(arena, cb_read_subread_need(p, branch->loads[v].node));
    }
    return CUBED_OK;
}
