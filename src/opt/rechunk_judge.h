/* The judge: determines the projected costs of writing a stage's output through intermediate arrays. It compiles and projects the
 * stages, because the formulas of the rechunk planner are only estimates for stages that compute something. */
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
    /* The arrays that the stage reads, for the tile search; and a lower bound of the costs of any plan. */
    int nsources;
    cb_tile_source *sources;
    cb_rechunk_cost least;
} cb_judge;

/* Returns true if copies through intermediates may improve the stage. Returns false if each task produces one chunk, each chunk
 * is read once, and at most 4 MiB of unused parts of chunks are decoded, so that a search would take longer than it saves. */
bool cb_judge_is_needed(const cubed_plan *p, const cb_stage *s);
/* Creates a judge for a stage with one output and without reductions. Free it with cb_judge_free. */
CUBED_MUST_CHECK cubed_status cb_judge_new(cubed_plan *p, const cb_stage *s, cb_judge *out,
                                           cubed_error *err);
void cb_judge_free(cb_judge *j);
/* Sets the members of *in by which the rechunk planner calls the judge. `plain` is true if the first pass only copies
 * in->source. */
void cb_judge_ask(cb_judge *j, bool plain, cb_rechunk_in *in);

#endif
