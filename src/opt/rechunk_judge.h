/* What passes in front of a stage's output would cost: by the projection, where the formulas of the planner only guess. */
#ifndef CB_OPT_RECHUNK_JUDGE_H
#define CB_OPT_RECHUNK_JUDGE_H

#include "opt/rechunk.h"
#include "plan/plan.h"

typedef struct cb_judge {
    cb_zone *zone;
    cubed_plan plan; /* with two nodes behind its own */
    int root;
    cb_stage first; /* the stage with loads of its own: the first pass */
    cb_stage copy;  /* of an intermediate: all others */
    /* The arrays that are read, as the tile search sees them, and what no plan reads less than. */
    int nsources;
    cb_tile_source *sources;
    cb_rechunk_cost least;
} cb_judge;

/* Whether passes may be better than the stage as it is: not if its tasks make a chunk each and read nothing twice. */
bool cb_judge_is_needed(const cubed_plan *p, const cb_stage *s);
/* Of a stage of one output without reductions. What it has lives until cb_judge_free. */
CUBED_MUST_CHECK cubed_status cb_judge_new(cubed_plan *p, const cb_stage *s, cb_judge *out,
                                           cubed_error *err);
void cb_judge_free(cb_judge *j);
/* Has the planner ask it. `plain`: the first pass copies what the planner knows as its source. */
void cb_judge_ask(cb_judge *j, bool plain, cb_rechunk_in *in);

#endif
