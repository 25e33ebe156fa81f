/* Stages from stored nodes.
 *
 * Stored nodes that have the same domain and read an array in common become one stage, so that the
 * array is read and decoded once: u*u, v*v and u*v read u and v once. Only nodes of the same level
 * (longest way from the sources) are joined: then no stage can come to wait for itself. A join that
 * does not fit in memory is undone. */
#include <string.h>

#include "base/error.h"
#include "opt/opt.h"
#include "plan/need.h"

static bool same_tiles(const cb_stage *a, const cb_stage *b)
{
    if (!cb_grid_equal(&a->kept, &b->kept)) return false;
    return memcmp(a->task_chunks, b->task_chunks, (size_t)a->kept.ndim * sizeof(int64_t)) == 0;
}

/* Different outputs of one function on blocks. */
static bool same_call(const cubed_plan *p, const cb_stage *a, const cb_stage *b)
{
    const cb_node *nodes = p->ir.nodes;
    if (!cb_ir_same_call(&p->ir, a->outs[0].node, b->outs[0].node)) return false;
    for (int i = 0; i < a->nouts; i++) {
        for (int k = 0; k < b->nouts; k++) {
            if (nodes[a->outs[i].node].output == nodes[b->outs[k].node].output) return false;
        }
    }
    return true;
}

/* Why two stages cannot be one, whatever they need; NULL: they can. */
static const char *why_not(const cubed_plan *p, const cb_stage *a, const cb_stage *b)
{
    /* Texts have no registers: they are only copied, by a stage of their own. */
    if (cubed_dtype_kind(p->ir.nodes[a->outs[0].node].dtype) == CUBED_KIND_TEXT ||
        cubed_dtype_kind(p->ir.nodes[b->outs[0].node].dtype) == CUBED_KIND_TEXT)
        return "texts are copied by themselves";
    if (a->scan || b->scan) return "one makes chunk after chunk, each from the one before";
    if (a->call || b->call)
        return same_call(p, a, b) ? NULL : "a function on whole blocks has its tasks for itself";
    if ((a->nfolds > 0) != (b->nfolds > 0)) return "one reduces, the other does not";
    if (a->partial != b->partial || a->merge != b->merge) return "one reduces in parts";
    if (!same_tiles(a, b)) return "their tasks make other chunks";
    if (a->nfolds == 0) {
        const cb_grid *x = &p->ir.nodes[a->outs[0].node].grid;
        if (!cb_grid_equal(x, &p->ir.nodes[b->outs[0].node].grid)) return "they make other chunks";
        return cb_programs_share_a_load(&a->tail, &b->tail) ? NULL : "they read nothing in common";
    }
    if (!cb_stage_same_domain(&p->ir, a->folds[0].node, b->folds[0].node))
        return "they reduce other elements";
    /* Merges share no loads, but what they merge was made together. */
    return a->merge || cb_programs_share_a_load(&a->body, &b->body) ? NULL
                                                                    : "they read nothing in common";
}

static bool may_join(const cubed_plan *p, const cb_stage *a, const cb_stage *b)
{
    return !why_not(p, a, b);
}

static bool read_the_same(const cb_stage *a, const cb_stage *b)
{
    const cb_program *x, *y;
    for (int i = 0; (x = cb_stage_program(a, i)) != NULL; i++) {
        for (int k = 0; (y = cb_stage_program(b, k)) != NULL; k++) {
            if (cb_programs_share_a_load(x, y)) return true;
        }
    }
    return false;
}

const char *cubed_plan_why_apart(const cubed_plan *p, int stage, int other)
{
    if (stage < 0 || other < 0 || stage >= p->nstages || other >= p->nstages || stage == other)
        return NULL;
    const cb_stage *a = &p->stages[stage], *b = &p->stages[other];
    if (!read_the_same(a, b)) return NULL;
    if (a->level != b->level) return "one waits for results that the other does without";
    const char *why = why_not(p, a, b);
    return why ? why : "a task of both would need more than the allowed memory has room for";
}

static cubed_status try_join(cubed_plan *p, cb_stage *a, const cb_stage *b, bool *joined,
                             cubed_error *err)
{
    cb_stage both = *a;
    *joined = false;
    both.nouts = a->nouts + b->nouts;
    both.outs = cb_zone_alloc(p->ir.zone, (size_t)both.nouts * sizeof *both.outs);
    if (!both.outs) return cb_fail(err, CUBED_E_NOMEM, "no memory to plan");
    memcpy(both.outs, a->outs, (size_t)a->nouts * sizeof *a->outs);
    memcpy(both.outs + a->nouts, b->outs, (size_t)b->nouts * sizeof *b->outs);
    cubed_status st = cb_stage_compile(p, &both, err);
    if (st == CUBED_E_BUDGET) return CUBED_OK; /* too long a program: stay apart */
    if (st != CUBED_OK) return st;
    cb_stage_project(p, &both);
    if (cb_opt_need(p, both.need) > cb_opt_task_mem(p)) return CUBED_OK;
    *a = both;
    *joined = true;
    return CUBED_OK;
}

static cubed_status make_single(cubed_plan *p, int node, cb_stage *s, cubed_error *err)
{
    memset(s, 0, sizeof *s);
    s->nouts = 1;
    s->outs = cb_zone_alloc(p->ir.zone, sizeof *s->outs);
    if (!s->outs) return cb_fail(err, CUBED_E_NOMEM, "no memory to plan");
    s->outs[0].node = node;
    return cb_opt_tile(p, s, cb_opt_task_mem(p), err);
}

/* u*u and v*v share nothing until u*v has joined one of them: stages are joined until none can be. */
static cubed_status join_stages(cubed_plan *p, int *stage_level, cubed_error *err)
{
    for (int i = 0; i < p->nstages; i++) {
        for (int k = i + 1; k < p->nstages; k++) {
            bool joined = false;
            if (stage_level[i] != stage_level[k] || !may_join(p, &p->stages[i], &p->stages[k]))
                continue;
            CB_TRY(try_join(p, &p->stages[i], &p->stages[k], &joined, err));
            if (!joined) continue;
            p->nstages--;
            memmove(&p->stages[k], &p->stages[k + 1], (size_t)(p->nstages - k) * sizeof *p->stages);
            memmove(&stage_level[k], &stage_level[k + 1],
                    (size_t)(p->nstages - k) * sizeof *stage_level);
            k = i; /* what did not share a load before may do so now */
        }
    }
    return CUBED_OK;
}

cubed_status cb_opt_make_stages(cubed_plan *p, bool merge_siblings, cubed_error *err)
{
    int n = p->ir.nnodes, nstages = 0;
    int *level = cb_zone_alloc(p->ir.zone, (size_t)n * sizeof *level + 1);
    int *stage_level = cb_zone_alloc(p->ir.zone, (size_t)n * sizeof *stage_level + 1);
    for (int i = 0; i < n; i++) nstages += p->ir.nodes[i].stored;
    p->stages = cb_zone_alloc(p->ir.zone, (size_t)nstages * sizeof *p->stages + 1);
    if (!level || !stage_level || !p->stages)
        return cb_fail(err, CUBED_E_NOMEM, "no memory to plan");
    p->nstages = 0;
    for (int i = 0; i < n; i++) {
        if (!p->ir.nodes[i].stored) continue;
        cb_stage s;
        bool joined = false;
        CB_TRY(make_single(p, i, &s, err));
        level[i] = s.level = cb_stage_level(p, &s, level);
        for (int k = 0; k < p->nstages && merge_siblings && !joined; k++) {
            if (stage_level[k] == level[i] && may_join(p, &p->stages[k], &s))
                CB_TRY(try_join(p, &p->stages[k], &s, &joined, err));
        }
        if (joined) continue;
        stage_level[p->nstages] = level[i];
        p->stages[p->nstages++] = s;
    }
    return merge_siblings ? join_stages(p, stage_level, err) : CUBED_OK;
}
