/* Reasons why nodes are stored. The optimiser records a reason when it decides to store a node. */
#ifndef CB_PLAN_WHY_H
#define CB_PLAN_WHY_H

#include <stdbool.h>

/* A reason, and the file in opt/ that records it. The numbers are part of the plan format. */
typedef enum cb_why {
    CB_WHY_NOT = 0,        /* the node is not stored */
    CB_WHY_TARGET = 1,     /* the node is a result: flatten.c */
    CB_WHY_AS_WRITTEN = 2, /* the plan is not optimised: fuse.c */
    /* a reduction whose reader also has other axes: fuse.c */
    CB_WHY_OTHER_AXES = 3,
    /* a reduction over other elements than another reduction of the same reader: fuse.c */
    CB_WHY_OTHER_REDUCE = 4,
    /* a reduction whose complete result another reduction needs: fuse.c */
    CB_WHY_UNDER_REDUCE = 5,
    CB_WHY_UNDER_BLOCKS = 6, /* a reduction that is read block by block: fuse.c */
    CB_WHY_BLOCKS = 7,       /* a function on whole blocks, or a selection by a mask: fuse.c */
    CB_WHY_SCAN = 8,         /* a scan, whose chunks are computed in order: fuse.c */
    CB_WHY_TEXT = 9,         /* strings in another shape: fuse.c */
    CB_WHY_LONG = 10,        /* the chain of virtual nodes below has the maximum length: fuse.c */
    CB_WHY_MEMORY = 11,      /* otherwise a task would not fit in memory: divide.c */
    /* partial results of a reduction that is split, so that all workers have tasks: split.c */
    CB_WHY_PARTIAL = 12,
    /* a reduction in smaller chunks, so that all workers have tasks: split_output.c */
    CB_WHY_SPREAD = 13,
    CB_WHY_RECHUNK = 14, /* an intermediate step of a rechunk: passes.c */
    CB_WHY_BLOCK_INPUT =
        15,              /* a copy in the blocks of its reader: block_inputs.c, or src/array_api */
    CB_WHY_FINER = 16,   /* a copy in smaller blocks than its chunks: block_inputs.c */
    CB_WHY_RESHAPE = 17, /* read in another shape: sink.c */
    CB_WHY_KEPT = 18,    /* partial results of a reduction that are kept for updates: partials.c */
    CB_WHYS
} cb_why;

/* Returns the reason as a string for reports; "" for nodes that are not stored. */
const char *cb_why_text(cb_why why);

#endif
