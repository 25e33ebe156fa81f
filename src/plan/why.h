/* Reasons why nodes are stored. The optimiser records a reason when it decides to store a node. */
#ifndef CB_PLAN_WHY_H
#define CB_PLAN_WHY_H

#include <stdbool.h>

/* The numbers are part of the plan format. Comments name the file in opt/ that records the reason. */
typedef enum cb_why {
    CB_WHY_NOT = 0,          /* not stored */
    CB_WHY_TARGET = 1,       /* flatten.c */
    CB_WHY_AS_WRITTEN = 2,   /* fuse.c, in a plan that is not optimised */
    CB_WHY_OTHER_AXES = 3,   /* fuse.c */
    CB_WHY_OTHER_REDUCE = 4, /* fuse.c */
    CB_WHY_UNDER_REDUCE = 5, /* fuse.c */
    CB_WHY_UNDER_BLOCKS = 6, /* fuse.c */
    CB_WHY_BLOCKS = 7,       /* fuse.c */
    CB_WHY_SCAN = 8,         /* fuse.c */
    CB_WHY_TEXT = 9,         /* fuse.c */
    CB_WHY_LONG = 10,        /* fuse.c */
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
