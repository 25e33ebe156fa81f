/* From nodes to programs: the first half of the compiler. Views, concatenations and copies become part of loads; the rest
 * is straight-line code. */
#ifndef CB_EXEC_LOWER_H
#define CB_EXEC_LOWER_H

#include "exec/plan/stage.h"

/* Maximum branches of a program (pieces of concatenations, at most one per node), and maximum values of a branch. If a
 * stage would need more, one of its inputs is stored (opt/divide.c). */
#define CB_MAX_BRANCHES CB_MAX_NODES
#define CB_MAX_VALUES   4096

typedef struct cb_lower_root {
    int node;
    cb_map map;  /* domain -> the node's axes */
    bool summed; /* its only use is a sum into states of float64 */
} cb_lower_root;

/* A request to compile a program. */
typedef struct cb_lower_request {
    const cb_ir *ir;
    cb_zone *zone; /* of the program */
    const cb_kernels *kernels;
    int ndim; /* of the domain */
    const int64_t *shape;
    const cb_lower_root *roots; /* one per result of the program */
    int nroots;
    bool load_roots; /* load stored roots instead of computing them in this stage */
    /* Reductions whose results are loaded from the states of this stage. The code refers to them by their index here. The
     * list must contain every reduction below the roots that is not stored. It is empty for a body. */
    const int *reduce_nodes;
    int nreductions;
} cb_lower_request;

/* Compiles the roots over the domain. */
CUBED_MUST_CHECK cubed_status cb_lower(const cb_lower_request *q, cb_program *out,
                                       cubed_error *err);

/* Returns true if the compiler supports the kind. */
bool cb_lower_has_kind(cb_node_kind kind);

/* Sorts numbers and removes duplicates; returns the number of the remaining ones. */
int cb_sort_unique(int *list, int n);

/* Second half: superinstructions and registers (regs.c). */
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
