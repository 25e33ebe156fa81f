/* The kinds of nodes, as a table. A row has the properties that several kinds share or that other code needs. Code that
 * concerns one kind alone names that kind. A second table, above this folder (exec/plan/lower.c), compiles kinds to
 * instructions. */
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
    CB_KIND_SOURCE = 1 << 0,   /* an array that exists before the run */
    CB_KIND_CHUNKED = 1 << 1,  /* a source of which tasks read chunks */
    CB_KIND_CONSTANT = 1 << 2, /* a computed constant, at no cost */
    /* each element depends only on input elements at the same position */
    CB_KIND_ELEMENTWISE = 1 << 3,
    CB_KIND_PULLED = 1 << 4,        /* needs no more input elements than the requested ones */
    CB_KIND_REDUCTION = 1 << 5,     /* a reduction, or half of one */
    CB_KIND_STORES_ITSELF = 1 << 6, /* stored wherever it is read */
    CB_KIND_CALL = 1 << 7,          /* a function on blocks that the context finds by name */
    CB_KIND_MIXED = 1 << 8          /* inputs may have different types */
} cb_kind_is;

/* The cost of an element (exec/plan/costs.c). */
typedef enum cb_kind_cost {
    CB_COST_CHEAP, /* negligible */
    CB_COST_OP,    /* cost of the node's operation */
    CB_COST_REDUCE,
    CB_COST_SCAN,
    CB_COST_PASS, /* one pass over the elements */
    CB_COST_CALL, /* cost of the node's block function */
    CB_COSTS
} cb_kind_cost;

struct cb_ir;
struct cb_node;
struct cubed_array;

typedef struct cb_kind {
    const char *name;
    int min_inputs, max_inputs; /* max -1: unlimited */
    unsigned is;                /* cb_kind_is */
    cb_kind_cost cost;
    /* Checks inputs and parameters in addition to the rules for all nodes. CUBED_E_FORMAT. */
    cubed_status (*check)(const struct cb_ir *ir, const struct cb_node *n, cubed_error *err);
    /* Serialise and deserialise the parameters. NULL for kinds without parameters. */
    void (*put)(cb_buf *b, const struct cb_node *n);
    void (*get)(cb_reader *r, struct cb_node *n);
    /* Instead of `put`: serialises data, which some uses do not need and some may not have. */
    cubed_status (*put_data)(cb_buf *b, const struct cb_node *n, cb_plan_use use, cubed_error *err);
    /* Copies what the parameters point to into the zone, except grids, operations on blocks and sources. Returns false if
     * out of memory. NULL: nothing to copy. */
    bool (*own)(cb_zone *zone, struct cb_node *n);
    /* Sets fields derived from inputs, which are not checked yet. Returns false if out of memory. NULL: none. */
    bool (*derive)(const struct cb_ir *ir, struct cb_node *n);
    /* For an array that was deserialised: takes over what the node points to, or opens it. NULL: nothing. */
    cubed_status (*restore)(struct cubed_array *x, const struct cb_node *n, cubed_error *err);
    /* Sets the origin of the chunks of an array of this kind, and the axes with given lengths. */
    void (*find_chunks_from)(struct cubed_array *x);
    /* Name in reports. NULL: the kind moves data, or is data. */
    const char *(*operation)(const struct cb_node *n);
} cb_kind;

extern const cb_kind *const cb_kinds[CB_NODE_KINDS];

#endif
