/* Finds the branches of a program that overlap a box, and computes properties of branches. */
#include "exec/plan/operator.h"

void cb_branch_part(const cb_branch *b, const cb_box *box, cb_box *part)
{
    part->ndim = box->ndim;
    for (int d = 0; d < box->ndim; d++) {
        part->lo[d] = cb_max_i64(b->lo[d], box->lo[d]);
        part->hi[d] = cb_min_i64(b->hi[d], box->hi[d]);
    }
}

bool cb_programs_share_a_load(const cb_program *a, const cb_program *b)
{
    for (int i = 0, k = 0; i < a->nreads && k < b->nreads;) {
        if (a->reads[i] == b->reads[k]) return true;
        if (a->reads[i] < b->reads[k])
            i++;
        else
            k++;
    }
    return false;
}

/* Returns the first branch whose end (or start, if `end` is false) is beyond x along the axis that divides the branches. */
static int first_beyond(const cb_program *p, bool end, int64_t x)
{
    int lo = 0, hi = p->nbranches;
    while (lo < hi) {
        const int middle = lo + (hi - lo) / 2;
        const cb_branch *b = &p->branches[middle];
        if ((end ? b->hi : b->lo)[p->cut] > x)
            hi = middle;
        else
            lo = middle + 1;
    }
    return lo;
}

void cb_program_branches(const cb_program *prog, const cb_box *box, int *first, int *last)
{
    const bool cut = prog->nbranches > 1;
    *first = cut ? first_beyond(prog, true, box->lo[prog->cut]) : 0;
    *last = cut ? first_beyond(prog, false, box->hi[prog->cut] - 1) : prog->nbranches;
}

bool cb_stage_reshapes(const cb_stage *s)
{
    for (int i = 0; i < s->tail.nbranches; i++) {
        for (int v = 0; v < s->tail.branches[i].nloads; v++) {
            if (s->tail.branches[i].loads[v].reshape) return true;
        }
    }
    return false;
}

const cb_load *cb_stage_copied(const cb_stage *s)
{
    if (!s->op->copies || s->tail.nbranches != 1) return NULL;
    const cb_branch *b = &s->tail.branches[0];
    const cb_load *load = &b->loads[b->results[0]];
    return load->reshape ? NULL : load;
}
