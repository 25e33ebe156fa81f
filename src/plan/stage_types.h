/* Stages: the units that tasks run. Their functions are in exec/plan/stage.h.
 *
 * A stage computes one stored array, or several siblings with the same domain, and all virtual nodes below them. It is
 * compiled once from the nodes, immutable, and shared by all workers. Its operator defines the algorithm
 * (exec/plan/operator.h).
 *
 * A stage without reductions has one program over the output's axes. A stage with reductions has two: `body`, over the axes
 * of the reductions' input, computes the values that are reduced; `tail`, over the kept axes, computes results from the
 * reductions (and from other arrays).
 *
 * A task is a box of output chunks (`task_chunks` per axis). It visits the blocks of its domain in C order and evaluates
 * each block vector by vector. */
#ifndef CB_PLAN_STAGE_H
#define CB_PLAN_STAGE_H

#include "cubed/sys/block.h"
#include "mem/arena.h"
#include "plan/ir.h"

typedef enum cb_load_kind {
    CB_LOAD_STORED,         /* chunks of a Zarr source or stored node */
    CB_LOAD_MEMORY,         /* the caller's memory, accessed in place */
    CB_LOAD_CONST,          /* one value */
    CB_LOAD_INDEX,          /* start + sum(step[d] * x[d]) */
    CB_LOAD_CHUNK_POSITION, /* the values of a CHUNK_POSITION node */
    CB_LOAD_REDUCE          /* result number `reduction` of this stage (tail only) */
} cb_load_kind;

/* Which chunks of a load are read more than once. */
typedef enum cb_reuse {
    CB_REUSE_NONE,
    CB_REUSE_CUT, /* chunks of which a block needs a part: other blocks need the rest */
    CB_REUSE_ALL
} cb_reuse;

typedef struct cb_load {
    cb_load_kind kind;
    cubed_dtype dtype;
    int node;          /* STORED, MEMORY, CHUNK_POSITION */
    const cb_map *map; /* domain -> array, or the shape that a reshape makes of it */
    int reshape;       /* STORED: the reshape node that it is seen through; 0: none */
    cubed_scalar value;
    int64_t start;       /* INDEX */
    const int64_t *step; /* INDEX: one per axis of the domain */
    int reduction;
    /* STORED: a block may touch several chunks, or is transposed: gathered into a dense tile first. Set by
     * exec/plan/traffic.c */
    bool tile;
    cb_reuse reuse; /* STORED: set by exec/plan/traffic.c and cb_plan_find_reuse */
    /* STORED: only the part of a chunk that a block needs is read. Set by exec/plan/traffic.c */
    bool subread;
    /* STORED: the part is decoded codec block by codec block, as a reduction reaches them. Set by
     * exec/operators/reduce_ways.c */
    bool piecewise;
} cb_load;

/* PRODUCT: a multiplication whose only use is a sum. The reduction reads its factors. */
typedef enum cb_instr_kind {
    CB_INSTR_ELEM,
    CB_INSTR_CAST,
    CB_INSTR_SUPER,
    CB_INSTR_PRODUCT
} cb_instr_kind;

/* Operands are value numbers: first the loads (0..nloads-1), then one per instruction. */
typedef struct cb_instr {
    uint8_t kind;
    uint8_t dtype; /* of the operands (where: of b and c) */
    uint8_t to;    /* of the result */
    uint8_t nargs;
    uint16_t op; /* cubed_op, or row of the superinstruction table */
    uint16_t arg[3];
    uint16_t reg;      /* register of the result; reused after its last use */
    uint8_t quotients; /* bit i: operation i multiplies by the inverse of the divisor */
} cb_instr;

/* Straight-line code for a box of the domain. Each piece of a concatenation has its own branch. */
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
    int cut;             /* axis along which the branches follow each other; -1: one branch */
    int nreads, *reads;  /* nodes, stored or in memory, that it loads, in order */
    int nregs;           /* maximum registers of any branch */
    int64_t vector;      /* elements of a register: CB_VECTOR, or more in reduced values */
    size_t reg_size;     /* bytes of a register with the widest type */
} cb_program;

typedef struct cb_stage_reduction {
    cb_reduction kind;
    cubed_dtype dtype; /* of state and result */
    cubed_dtype value; /* of the reduced values: the reduction itself may widen float32 */
    int nplanes;       /* arrays of state */
    int node;          /* REDUCE, PARTIAL, MERGE_PARTIAL or MERGE */
    int states;        /* of merges: the node with the states; otherwise -1 */
} cb_stage_reduction;

/* The reductions of a stage. */
typedef struct cb_stage_reduce {
    int n;
    cb_stage_reduction *list;
    /* for tasks that output states of groups of blocks: 1, the leading axis of `kept`; otherwise 0 */
    int groups;
    /* numbers of blocks: per input, 1 or those of a stored state; per output state, 0: all */
    int64_t from, to;
    uint32_t reduced; /* axes of the domain that are reduced */
    int slice_axis;   /* the first of them, if blocks are reduced in slices along it; */
    int64_t slice;    /* steps per slice, otherwise 0. Set with the flags of loads */
    bool apart;       /* branches cover all reduced axes: a block is reduced branch by branch */
    /* number of rows that are processed together if all reads are decoded piecewise; otherwise 1 */
    int rows;
    const cb_grid *domain; /* blocks along reduced axes fix the order of the reduction */
    cb_program body;       /* over `domain`; empty for merges, which read states */
} cb_stage_reduce;

typedef struct cb_stage_out {
    int node;
    /* the node's axis d is this axis of the tail's domain; -1: extent 1 */
    int axis[CUBED_MAX_NDIM];
    /* the result may be made in place of the state of this reduction; -1: it has a tile */
    int alias;
} cb_stage_out;

/* An input of a function on whole blocks, or of a selection of elements from them. */
typedef struct cb_stage_input {
    int node;
    cb_program program; /* over the input's own axes */
    /* Its blocks are whole stored chunks, which are used in place. */
    bool in_place;
} cb_stage_input;

typedef struct cb_stage_call {
    const cb_blockwise *op;
    const cubed_block_fn *fn;
    void *fn_ctx;
    cubed_block_need need;
    cb_symbols symbols;
    int axis[CUBED_MAX_NDIM]; /* axis in `kept` of the stage, per symbol; -1: contracted */
    cb_stage_input *inputs;
    int *outs; /* per output of the operation: output number in the stage, -1: unused */
} cb_stage_call;

/* Processor time of data movement: reading and decoding chunks, passing over memory, and encoding and putting results. */
typedef struct cb_moves {
    double read, memory, write;
} cb_moves;

/* Reads of each node by all stages, counted during the projection. A load that is repeated in each of `times` passes, of
 * which `per` count as one, is counted accordingly. */
typedef struct cb_reads {
    uint64_t *chunks, *bytes;        /* per node */
    struct cb_upload_sizes *uploads; /* per node: when its chunks are uploaded in parts */
    uint64_t times, per;
} cb_reads;

typedef struct cb_stage {
    int index;
    int level; /* length of the longest path from the sources */
    const char *name;
    int nouts;
    cb_stage_out *outs;

    const struct cb_operator *op; /* exec/plan/operator.h; its state for the stage is in: */
    cb_stage_reduce *reduce;      /* NULL: no reductions */
    cb_stage_call *call;          /* NULL: no function on whole blocks */

    /* The tasks: boxes of output chunks. `kept` is the tail's domain. Stages that output states of groups of blocks have
     * the groups as a leading axis. Stages on whole blocks count blocks along the symbols of outputs. */
    const cb_grid *kept;
    int64_t task_chunks[CUBED_MAX_NDIM];
    int64_t ntasks;
    /* The axis along which a task has one chunk in memory at a time, from the first to the last; -1: none. */
    int column;
    /* Workers of a cooperative task, each with its share of the chunks in its own memory. Fewer workers run it in rounds,
     * with the same memory each; more workers hold less each. Otherwise 1. */
    unsigned coop;

    cb_program tail; /* empty for stages on whole blocks, and for those that output states */

    /* The nodes whose chunks, states or memory the stage reads, in order. */
    int ninputs, *inputs;

    cb_need need; /* upper bound for every task of this stage */
    uint64_t bytes_read, bytes_written, chunks_read, chunks_written;
    cb_reads *reads; /* also counts these by node; otherwise NULL */
    /* Processor time of one worker in seconds: set at the end of planning. */
    cb_moves moves;
    double operations;
} cb_stage;

#endif
