/* Blocks of the domain of a reduction: their number, the blocks of one task, and the elements of a block. */
#include "exec/plan/operator.h"
#include "plan/reduction.h"

void cb_stage_block(const cb_stage *s, const cb_box *task, int64_t block, cb_box *domain)
{
    const cb_stage_reduce *reduce = s->reduce;
    cb_grid red = cb_reduced_grid(reduce->domain, reduce->reduced);
    int64_t idx[CUBED_MAX_NDIM];
    cb_grid_unravel(&red, block, idx);
    int k = reduce->groups, r = 0;
    domain->ndim = reduce->domain->ndim;
    for (int d = 0; d < reduce->domain->ndim; d++) {
        if (reduce->reduced >> d & 1) {
            domain->lo[d] = cb_axis_lo(&red.axis[r], idx[r]);
            domain->hi[d] = cb_axis_hi(&red.axis[r], idx[r]);
            r++;
        } else {
            domain->lo[d] = task->lo[k];
            domain->hi[d] = task->hi[k];
            k++;
        }
    }
}

int64_t cb_stage_nblocks(const cb_stage *s)
{
    cb_grid red = cb_reduced_grid(s->reduce->domain, s->reduce->reduced);
    return cb_grid_count(&red);
}

void cb_stage_task_blocks(const cb_stage *s, const cb_box *task, int64_t *first, int64_t *last)
{
    const cb_stage_reduce *r = s->reduce;
    const int64_t n = cb_ceil_div(cb_stage_nblocks(s), r->from), each = r->to / r->from;
    *first = r->groups ? task->lo[0] * each : 0;
    *last = r->groups ? *first + cb_min_i64(n - *first, each) : n;
}
