/* Reasons why nodes are stored. The optimiser records a reason when it decides to store a node. */
#ifndef CB_PLAN_WHY_H
#define CB_PLAN_WHY_H

#include <stdbool.h>

/* The numbers are part of the plan format. */
typedef enum cb_why {
    CB_WHY_NOT = 0, /* not stored */
    CB_WHY_TARGET = 1,
    CB_WHY_AS_WRITTEN = 2,   /* not optimised */
    CB_WHY_OTHER_AXES = 3,   /* fuse.c: reductions */
    CB_WHY_OTHER_REDUCE = 4, /* ... */
    CB_WHY_UNDER_REDUCE = 5, /* ... */
    CB_WHY_UNDER_BLOCKS = 6, /* ... */
    CB_WHY_BLOCKS = 7,
    CB_WHY_SCAN = 8,
    CB_WHY_TEXT = 9,
    CB_WHY_LONG = 10,
    CB_WHY_MEMORY = 11,      /* divide.c */
    CB_WHY_PARTIAL = 12,     /* split.c */
    CB_WHY_SPREAD = 13,      /* split_output.c */
    CB_WHY_RECHUNK = 14,     /* passes.c */
    CB_WHY_BLOCK_INPUT = 15, /* block_inputs.c */
    CB_WHY_FINER = 16,       /* block_inputs.c */
    CB_WHY_RESHAPE = 17,     /* sink.c */
    CB_WHYS
} cb_why;

/* Returns the reason as a string for reports; "" for nodes that are not stored. */
const char *cb_why_text(cb_why why);

#endif
