/* The kinds of nodes, as a table. What several kinds have in common, or others have to ask a kind, is in its row; who makes
 * a kind, or does something with that one alone, names it. How a kind becomes instructions is in a second table, above this
 * folder (exec/plan/lower.c). */
#ifndef CB_PLAN_KINDS_H
#define CB_PLAN_KINDS_H

#include "base/alloc.h"
#include "plan/fields.h"

typedef enum cb_node_kind {
#define CB_KIND(number, NAME, row) CB_NODE_##NAME = (number),
#include "plan/kinds.def"
#undef CB_KIND
    CB_NODE_KINDS
} cb_node_kind;

typedef enum cb_kind_is {
    CB_KIND_SOURCE = 1 << 0,        /* an array that is there before the run */
    CB_KIND_CHUNKED = 1 << 1,       /* a source of which tasks read chunks */
    CB_KIND_CONSTANT = 1 << 2,      /* computed from nothing, at no cost */
    CB_KIND_ELEMENTWISE = 1 << 3,   /* each element follows from those at its place */
    CB_KIND_PULLED = 1 << 4,        /* asked for some elements, it asks its inputs for no more */
    CB_KIND_REDUCTION = 1 << 5,     /* a whole one, or half of one */
    CB_KIND_STORES_ITSELF = 1 << 6, /* it is stored wherever it is read */
    CB_KIND_CALL = 1 << 7,          /* of a function on blocks that the context knows by name */
    CB_KIND_MIXED = 1 << 8          /* inputs have types of their own */
} cb_kind_is;

/* What it costs to compute an element (exec/plan/costs.c). */
typedef enum cb_kind_cost {
    CB_COST_CHEAP, /* next to nothing */
    CB_COST_OP,    /* what its op costs */
    CB_COST_REDUCE,
    CB_COST_SCAN,
    CB_COST_PASS, /* of a look at each element */
    CB_COST_CALL, /* what its function costs */
    CB_COSTS
} cb_kind_cost;

struct cb_ir;
struct cb_node;
struct cubed_array;

typedef struct cb_kind {
    const char *name;
    int min_inputs, max_inputs; /* max -1: any number */
    unsigned is;                /* cb_kind_is */
    cb_kind_cost cost;
    /* What its inputs and parameters must be, beyond what holds for all nodes: CUBED_E_FORMAT. */
    cubed_status (*check)(const struct cb_ir *ir, const struct cb_node *n, cubed_error *err);
    /* Its parameters as bytes, and back: both or, of a kind without parameters, none. */
    void (*put)(cb_buf *b, const struct cb_node *n);
    void (*get)(cb_reader *r, struct cb_node *n);
    /* In place of `put`: data, of which some uses need nothing, and some may not have it. */
    cubed_status (*put_data)(cb_buf *b, const struct cb_node *n, cb_plan_use use, cubed_error *err);
    /* Copies what its parameters point to into the zone, but for grids, operations on blocks and sources; false: no
     * memory. NULL: nothing. */
    bool (*own)(cb_zone *zone, struct cb_node *n);
    /* Sets the fields that follow from inputs, which are not checked yet; false: no memory. NULL: none do. */
    bool (*derive)(const struct cb_ir *ir, struct cb_node *n);
    /* Of an array that was read from bytes: takes over what the node points to, or opens it. NULL: nothing. */
    cubed_status (*restore)(struct cubed_array *x, const struct cb_node *n, cubed_error *err);
    /* Sets where an array of this kind has its chunks from, and whose lengths they are. */
    void (*find_chunks_from)(struct cubed_array *x);
    /* What it is called in reports. NULL: it moves data, or is data. */
    const char *(*operation)(const struct cb_node *n);
} cb_kind;

extern const cb_kind *const cb_kinds[CB_NODE_KINDS];

#endif
