/* The first half of the compiler, which makes a program for the register machine (exec/vm) from nodes. Views, concatenations
 * and copies become part of the program's loads. All other nodes become straight-line code. */
#ifndef CB_EXEC_LOWER_H
#define CB_EXEC_LOWER_H

#include "exec/plan/stage.h"

/* Limits of a program. A branch is the code for one piece of a concatenation; a value is the result of a load or an
 * instruction. If a stage would exceed a limit, the optimiser stores one of the stage's inputs (opt/divide.c).
 *
 * CB_MAX_BRANCHES  maximum number of branches of a program; at most one per node
 * CB_MAX_VALUES    maximum number of values of a branch */
#define CB_MAX_BRANCHES CB_MAX_NODES
#define CB_MAX_VALUES   4096

/* A root: a node whose values are a result of the program. */
typedef struct cb_lower_root {
    int node;
    cb_map map;  /* maps positions in the program's domain to positions in the node */
    bool summed; /* the values are only used by a sum that accumulates in float64 */
} cb_lower_root;

/* A request to compile a program. */
typedef struct cb_lower_request {
    const cb_ir *ir;
    cb_zone *zone; /* memory for the program */
    const cb_kernels *kernels;
    /* The domain: the index space over which the program is evaluated. `ndim` is its number of axes, `shape` has their
     * extents. */
    int ndim;
    const int64_t *shape;
    const cb_lower_root *roots; /* one root for each result of the program */
    int nroots;
    bool load_roots; /* roots that are stored are loaded instead of computed */
    /* Numbers of the nodes of reductions that this stage computes. The program loads their results from the reductions'
     * states. Instructions refer to a reduction by its index in this list. The list must contain every reduction that is a
     * direct or indirect input of the roots and is not stored. It is empty if the program computes the values to be reduced
     * (`body` of cb_stage_reduce). */
    const int *reduce_nodes;
    int nreductions;
} cb_lower_request;

/* Compiles a program that computes the roots over the domain. */
CUBED_MUST_CHECK cubed_status cb_lower(const cb_lower_request *q, cb_program *out,
                                       cubed_error *err);

/* Returns true if programs can compute nodes of this kind. */
bool cb_lower_has_kind(cb_node_kind kind);

/* Sorts numbers and removes duplicates. Returns the number of remaining numbers. */
int cb_sort_unique(int *list, int n);

/* Input of the second half of the compiler (regs.c). This half combines instructions into superinstructions and allocates
 * registers. */
typedef struct cb_code {
    cb_zone *zone;
    const cb_kernels *kernels;
    cb_branch *branch; /* has loads, instructions and results, which refer to value numbers */
    int nresults;
    /* The node from which each result is computed. */
    const cb_lower_root *roots;
} cb_code;
CUBED_MUST_CHECK cubed_status cb_allocate_registers(const cb_code *code, int *nregs, size_t *widest,
                                                    cubed_error *err);

#endif
