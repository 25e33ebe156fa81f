/* Determines the costs of copies through intermediates before a stage's output. It projects the stages, because the planner's
 * formulas are only estimates for them. */
#ifndef CB_OPT_RECHUNK_JUDGE_H
#define CB_OPT_RECHUNK_JUDGE_H

#include "opt/rechunk.h"
#include "plan/plan.h"

typedef struct cb_judge {
    cb_zone *zone;
    cubed_plan plan; /* copy of the plan with two additional nodes */
    int root;
    cb_stage first; /* first pass: the stage with its own loads */
    cb_stage copy;  /* all other passes: copies of an intermediate */
    /* Arrays that are read, for the tile search, and a lower bound of the bytes that any plan reads. */
    int nsources;
    cb_tile_source *sources;
    cb_rechunk_cost least;
} cb_judge;

/* Returns whether passes may improve the stage. They cannot if its tasks make one chunk each and read nothing twice. */
bool cb_judge_is_needed(const cubed_plan *p, const cb_stage *s);
/* Creates a judge for a stage with one output and without reductions. Free it with cb_judge_free. */
CUBED_MUST_CHECK cubed_status cb_judge_new(cubed_plan *p, const cb_stage *s, cb_judge *out,
                                           cubed_error *err);
void cb_judge_free(cb_judge *j);
/* Makes the planner use the judge. `plain`: the first pass only copies the planner's source. */
void cb_judge_ask(cb_judge *j, bool plain, cb_rechunk_in *in);

#endif
