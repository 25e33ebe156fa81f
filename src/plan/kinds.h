/* The kinds of nodes, as a table. A row has the properties that several kinds share or that other code needs. Code that
 * concerns only one kind names that kind. A second table, in exec/plan/lower.c, compiles kinds to instructions. */
#ifndef CB_PLAN_KINDS_H
#define CB_PLAN_KINDS_H

#include "base/alloc.h"
#include "plan/fields.h"

/* Kinds of nodes (kinds.def). */
typedef enum cb_node_kind {
#define CB_KIND(number, NAME, row) CB_NODE_##NAME = (number),
#include "plan/kinds.def"
#undef CB_KIND
    CB_NODE_KINDS
} cb_node_kind;

/* Flags of a kind of nodes. */
typedef enum cb_kind_is {
    CB_KIND_SOURCE = 1 << 0, /* The node is an array that exists before the run. */
    /* The node is a source that tasks read chunk by chunk. Tasks access other sources in place, in memory. */
    CB_KIND_CHUNKED = 1 << 1,
    CB_KIND_CONSTANT = 1 << 2, /* The values are computed without inputs, at no cost. */
    /* Each element depends only on input elements at the same position. */
    CB_KIND_ELEMENTWISE = 1 << 3,
    CB_KIND_PULLED =
        1 << 4, /* To compute n elements, the node needs at most n elements per input. */
    CB_KIND_REDUCTION =
        1 << 5, /* The node is a reduction, or one of the parts of a split reduction. */
    CB_KIND_STORES_ITSELF = 1 << 6, /* If another node reads this node, it must be stored. */
    CB_KIND_CALL = 1 << 7, /* The node calls a block function, found by name in the context. */
    CB_KIND_MIXED = 1 << 8 /* The inputs may have different types. */
} cb_kind_is;

/* The cause of the processor time per element (exec/plan/costs.c). */
typedef enum cb_kind_cost {
    CB_COST_CHEAP,  /* The time is negligible. */
    CB_COST_OP,     /* The time depends on the node's operation. */
    CB_COST_REDUCE, /* The time is that of a reduction. */
    CB_COST_SCAN,   /* The time is that of a running total. */
    CB_COST_PASS,   /* The time is that of one pass over the elements in memory. */
    CB_COST_CALL,   /* The time is that of the node's block function. */
    CB_COSTS
} cb_kind_cost;

struct cb_ir;
struct cb_node;
struct cubed_array;

/* Axes of a node that may not grow in an update, because growth would change the values of existing elements. Bit d is axis d. */
typedef struct cb_fixed_axes {
    uint32_t exact;   /* axes that keep their extents */
    uint32_t not_one; /* axes that may grow, but not from extent 1 */
} cb_fixed_axes;

/* A row of the table: the properties of one kind of nodes. */
typedef struct cb_kind {
    const char *name;
    int min_inputs, max_inputs; /* max_inputs is -1 if the number is unlimited */
    unsigned is;                /* flags of cb_kind_is */
    cb_kind_cost cost;
    /* Checks the inputs and parameters of a node of this kind, after the checks that apply to all kinds. Returns
     * CUBED_E_FORMAT if a check fails. */
    cubed_status (*check)(const struct cb_ir *ir, const struct cb_node *n, cubed_error *err);
    /* These functions serialise and deserialise the parameters. They are NULL for kinds without parameters. */
    void (*put)(cb_buf *b, const struct cb_node *n);
    void (*get)(cb_reader *r, struct cb_node *n);
    /* Serialises the parameters of kinds that contain data. Such a kind has no `put`. `use` determines whether the data are
     * included or refused. */
    cubed_status (*put_data)(cb_buf *b, const struct cb_node *n, cb_plan_use use, cubed_error *err);
    /* Copies into the zone whatever the parameters point to, except grids, operations on blocks and sources. Returns false
     * if out of memory. NULL if the parameters contain no pointers to copy. */
    bool (*own)(cb_zone *zone, struct cb_node *n);
    /* Computes members of the node that follow from its inputs, which are not checked yet. Returns false if out of memory. NULL
     * if the kind has no such members. */
    bool (*derive)(const struct cb_ir *ir, struct cb_node *n);
    /* Completes a deserialised array: takes ownership of the objects that the node points to, or opens them. NULL if the
     * kind has none. */
    cubed_status (*restore)(struct cubed_array *x, const struct cb_node *n, cubed_error *err);
    /* Sets, for each axis of an array of this kind, the origin of its chunks (`chunks_from`), and whether a user or a source gave
     * the lengths of its chunks (`listed`). The caller then clears the bits of `listed` of axes with regular chunks. */
    void (*find_chunks_from)(struct cubed_array *x);
    /* Marks the axes of a node and of its inputs that may not grow, so that existing elements keep their values if only other
     * axes grow. `fixed` has an entry for each node. NULL: no axis of the node or its inputs may grow. */
    void (*fix_axes)(const struct cb_ir *ir, int node, cb_fixed_axes *fixed);
    /* Returns the name of the operation in reports. NULL if the kind only moves data, or is data. */
    const char *(*operation)(const struct cb_node *n);
} cb_kind;

extern const cb_kind *const cb_kinds[CB_NODE_KINDS];

#endif
