/* From nodes to programs: the compiler's first half. Views, concatenations and copies disappear
 * into the loads; what is left is straight-line code. */
#ifndef CB_EXEC_LOWER_H
#define CB_EXEC_LOWER_H

#include "exec/plan/stage.h"

/* Most branches of a program (pieces of concatenations, of which a plan has no more than nodes), and most
 * values of a branch. A stage that would need more gets an input stored (opt/divide.c). */
#define CB_MAX_BRANCHES CB_MAX_NODES
#define CB_MAX_VALUES   4096

typedef struct cb_lower_root {
    int node;
    cb_map map;  /* domain -> the node's axes */
    bool summed; /* into states of float64, and nothing else is made of it */
} cb_lower_root;

/* A program to be compiled. */
typedef struct cb_lower_request {
    const cb_ir *ir;
    cb_zone *zone; /* of the program */
    const cb_kernels *kernels;
    int ndim; /* of the domain */
    const int64_t *shape;
    const cb_lower_root *roots; /* one for each result of the program */
    int nroots;
    bool load_roots; /* a root that is stored is loaded; otherwise this stage computes it */
    /* Reductions that are loaded from this stage's states, by their numbers in this list. Every reduction on the way that
     * is not stored must be in it; a body has none. */
    const int *reduce_nodes;
    int nreductions;
} cb_lower_request;

/* Compiles the roots over the domain. */
CUBED_MUST_CHECK cubed_status cb_lower(const cb_lower_request *q, cb_program *out,
                                       cubed_error *err);

/* Whether the compiler's table of kinds has a row for one. */
bool cb_lower_has_kind(cb_node_kind kind);

/* Sorts numbers, and leaves each once; how many that are. */
int cb_sort_unique(int *list, int n);

/* Second half: superinstructions and registers. In regs.c. */
typedef struct cb_code {
    cb_zone *zone;
    const cb_kernels *kernels;
    cb_branch *branch; /* loads and instrs with value numbers; results set */
    int nresults;
    const cb_lower_root *roots; /* of the results */
} cb_code;
CUBED_MUST_CHECK cubed_status cb_allocate_registers(const cb_code *code, int *nregs, size_t *widest,
                                                    cubed_error *err);

#endif
