/* Stages: what tasks run. Their functions are in exec/plan/stage.h.
 *
 * A stage makes one stored array, or several siblings with the same domain, and everything virtual
 * beneath them. Compiled once from the nodes, immutable, shared by all workers. Its operator says how
 * (exec/plan/operator.h).
 *
 * A stage without reductions has one program over the output's axes. With reductions there are two: `body`,
 * over the axes of the reductions' input, gives the values that are reduced; `tail`, over the axes that
 * are kept, makes results from the reductions (and from other arrays).
 *
 * A task is a box of output chunks (`task_chunks` per axis). It visits the blocks of its domain in
 * C order; each block is evaluated vector by vector.
 */
#ifndef CB_PLAN_STAGE_H
#define CB_PLAN_STAGE_H

#include "cubed/sys/block.h"
#include "mem/arena.h"
#include "plan/ir.h"

typedef enum cb_load_kind {
    CB_LOAD_STORED,         /* chunks of a Zarr source or stored node */
    CB_LOAD_MEMORY,         /* the caller's memory, addressed in place */
    CB_LOAD_CONST,          /* one value */
    CB_LOAD_INDEX,          /* start + sum(step[d] * x[d]) */
    CB_LOAD_CHUNK_POSITION, /* the values of a CHUNK_POSITION node */
    CB_LOAD_REDUCE /* the result of reduction number `reduction` of this stage (tail only) */
} cb_load_kind;

/* Which chunks of a load are read more than once. */
typedef enum cb_reuse {
    CB_REUSE_NONE,
    CB_REUSE_CUT, /* those of which a block needs a part: others need the rest */
    CB_REUSE_ALL
} cb_reuse;

typedef struct cb_load {
    cb_load_kind kind;
    cubed_dtype dtype;
    int node;          /* STORED, MEMORY, CHUNK_POSITION */
    const cb_map *map; /* domain -> array, or the shape that a reshape makes of it */
    int reshape;       /* STORED: the node that it is seen through; 0: none */
    cubed_scalar value;
    int64_t start;       /* INDEX */
    const int64_t *step; /* the same: one for each axis of the domain */
    int reduction;
    bool tile;      /* STORED: a block may touch several chunks, or lies across them (transposed):
                      gathered into a dense tile first. Set by exec/plan/traffic.c */
    cb_reuse reuse; /* STORED: set by exec/plan/traffic.c and cb_plan_find_reuse */
    bool
        subread; /* STORED: of a chunk only the part that a block needs is read. Set by exec/plan/traffic.c */
    /* STORED: the part is decoded block by block of its codec, as a reduction comes to them. Set by
     * exec/operators/reduce_ways.c */
    bool piecewise;
} cb_load;

/* PRODUCT: a multiplication whose result is summed and read by nobody else. A reduction takes its factors. */
typedef enum cb_instr_kind {
    CB_INSTR_ELEM,
    CB_INSTR_CAST,
    CB_INSTR_SUPER,
    CB_INSTR_PRODUCT
} cb_instr_kind;

/* Operands are value numbers: loads first (0..nloads-1), then one per instruction. */
typedef struct cb_instr {
    uint8_t kind;
    uint8_t dtype; /* of the operands (where: of b and c) */
    uint8_t to;    /* of the result */
    uint8_t nargs;
    uint16_t op; /* cubed_op, or row of the superinstruction table */
    uint16_t arg[3];
    uint16_t reg; /* register the result goes to; reused when its value is dead */
    uint8_t
        quotients; /* bit i: operation i multiplies by the inverse of what was to be divided by */
} cb_instr;

/* Straight-line code for a box of the domain. Where arrays are concatenated each piece has its
 * own. */
typedef struct cb_branch {
    const int64_t *lo, *hi; /* the box, of the program's ndim */
    int nloads;
    cb_load *loads;
    int ninstrs;
    cb_instr *instrs;
    uint16_t *results; /* value numbers, nresults of the program */
} cb_branch;

typedef struct cb_program {
    int ndim;
    int nresults;
    cubed_dtype *types; /* of the results */
    int nbranches;
    cb_branch *branches; /* disjoint, together the whole domain */
    int cut;             /* the axis along which they come one behind the other; -1: there is one */
    int nreads, *reads;  /* the nodes that are stored or in memory of which it loads, in order */
    int nregs;           /* the most registers any branch uses */
    int64_t vector;      /* elements of a register: CB_VECTOR, or more in what is reduced */
    size_t reg_size;     /* bytes: so many of the widest type */
} cb_program;

typedef struct cb_stage_reduction {
    cb_reduction kind;
    cubed_dtype dtype; /* of state and result */
    cubed_dtype value; /* of what is reduced: float32 may be widened by the reduction itself */
    int nplanes;       /* arrays of state */
    int node;          /* REDUCE, PARTIAL, MERGE_PARTIAL or MERGE */
    int states;        /* of merges: the node that holds the states; else -1 */
} cb_stage_reduction;

/* What a stage reduces. */
typedef struct cb_stage_reduce {
    int n;
    cb_stage_reduction *list;
    int groups; /* of tasks that leave states of groups of blocks: 1, the axis of `kept` in front; else 0 */
    int64_t from,
        to; /* blocks: of what is taken in, 1 or those of a stored state; of a state that is left, 0: all */
    uint32_t reduced; /* axes of the domain that are reduced */
    int slice_axis;   /* the first of them, if blocks are reduced so many steps of it at a time; */
    int64_t slice;    /* else 0. Set with the flags of loads */
    bool apart; /* branches have all of the reduced axes: a block is reduced branch by branch */
    int rows; /* so many are gone through together where all that is read is decoded piecewise; else 1 */
    const cb_grid *domain; /* blocks along reduced axes fix the order of the reduction */
    cb_program body;       /* over it; of merges, which read states: empty */
} cb_stage_reduce;

typedef struct cb_stage_out {
    int node;
    int axis[CUBED_MAX_NDIM]; /* node's axis d is this axis of the tail's domain; -1: extent 1 */
    int alias; /* the result may be made in place of the state of this reduction; -1: it has a tile */
} cb_stage_out;

/* A function on whole blocks, or elements that are picked out of them. */
typedef struct cb_stage_input {
    int node;
    cb_program program; /* over the input's own axes */
    /* Its blocks are whole chunks of what is stored there: they are used where they are. */
    bool in_place;
} cb_stage_input;

typedef struct cb_stage_call {
    const cb_blockwise *op;
    const cubed_block_fn *fn;
    void *fn_ctx;
    cubed_block_need need;
    cb_symbols symbols;
    int axis[CUBED_MAX_NDIM]; /* of a symbol in `kept` of the stage; -1: contracted */
    cb_stage_input *inputs;
    int *outs; /* by output of the operation: which of the stage's, -1: nobody wants it */
} cb_stage_call;

/* Processor time of what a stage moves: chunks that are read and decoded, memory that is passed over, and results
 * that are encoded and put. */
typedef struct cb_moves {
    double read, memory, write;
} cb_moves;

/* What stages read of each node, counted while they are projected. A load that is visited anew for each of `times`
 * passes, of which `per` are one, is counted so. */
typedef struct cb_reads {
    uint64_t *chunks, *bytes;        /* per node */
    struct cb_upload_sizes *uploads; /* per node: when its chunks are put in parts */
    uint64_t times, per;
} cb_reads;

typedef struct cb_stage {
    int index;
    int level; /* the longest way from the sources */
    const char *name;
    int nouts;
    cb_stage_out *outs;

    const struct cb_operator *op; /* exec/plan/operator.h; what it knows of the stage is in: */
    cb_stage_reduce *reduce;      /* NULL: it does not reduce */
    cb_stage_call *call;          /* NULL: it does not work on whole blocks */

    /* The tasks: boxes of output chunks. `kept` is the tail's domain; stages of states of groups of blocks have
     * the groups in front of it, and those that work on whole blocks count blocks along the symbols of outputs. */
    const cb_grid *kept;
    int64_t task_chunks[CUBED_MAX_NDIM];
    int64_t ntasks;
    /* The axis along which a task has one chunk in memory at a time, from the first to the last; -1: none. */
    int column;
    /* Workers that make a cooperative task together, each with its share of the chunks in its own memory. Fewer
     * make it in rounds, with that memory; more hold less. Else 1. */
    unsigned coop;

    cb_program tail; /* of stages that work on whole blocks, and of those of states: empty */

    /* The nodes whose chunks, states or memory it reads, in order. */
    int ninputs, *inputs;

    cb_need need; /* upper bound for every task of this stage */
    uint64_t bytes_read, bytes_written, chunks_read, chunks_written;
    cb_reads *reads; /* where these are counted by node, too; else NULL */
    /* Processor time of one worker, in seconds: set when all is planned. */
    cb_moves moves;
    double operations;
} cb_stage;

#endif
