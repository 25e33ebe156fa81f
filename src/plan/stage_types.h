/* Stages: the parts of a plan, which are divided into tasks. Functions of stages are in exec/plan/stage.h.
 *
 * A stage computes one stored array, or several stored arrays with the same domain ("siblings"), and all virtual nodes below
 * them. It is compiled once from the nodes, immutable, and shared by all workers. Its operator defines the algorithm
 * (exec/plan/operator.h).
 *
 * A stage without reductions has one program, over the axes of the output. A stage with reductions has two programs:
 * - `body`, over the axes of the reductions' input (the domain), computes the values that are reduced.
 * - `tail`, over the axes that are kept, computes the outputs from the results of the reductions and from other arrays.
 *
 * A task is a box of output chunks (`task_chunks` per axis). It visits the blocks of its domain in C order and evaluates each
 * block vector by vector. */
#ifndef CB_PLAN_STAGE_H
#define CB_PLAN_STAGE_H

#include "cubed/sys/block.h"
#include "mem/arena.h"
#include "plan/ir.h"

/* Kinds of loads, by the origin of their values. */
typedef enum cb_load_kind {
    CB_LOAD_STORED,         /* values of chunks of a Zarr source or stored node */
    CB_LOAD_MEMORY,         /* values in the caller's memory, accessed in place */
    CB_LOAD_CONST,          /* one value */
    CB_LOAD_INDEX,          /* values computed from the position x: start + sum(step[d] * x[d]) */
    CB_LOAD_CHUNK_POSITION, /* the values of a CHUNK_POSITION node */
    CB_LOAD_REDUCE          /* result number `reduction` of this stage (tail only) */
} cb_load_kind;

/* Chunks of a load that are read for more than one block. */
typedef enum cb_reuse {
    CB_REUSE_NONE,
    /* chunks that a block boundary splits: one block reads a part, other blocks the remainder */
    CB_REUSE_CUT,
    CB_REUSE_ALL /* all chunks */
} cb_reuse;

/* An operand of a program that its instructions do not compute: elements of an array, a constant, a value derived from the
 * position, or the result of a reduction. A comment "for KIND" names the kinds of loads that use a field. */
typedef struct cb_load {
    cb_load_kind kind;
    cubed_dtype dtype;
    int node; /* the node that is loaded; for kinds STORED, MEMORY and CHUNK_POSITION */
    /* Maps positions in the domain to positions in the array or, if the load has a reshape, in the reshaped array. */
    const cb_map *map;
    /* Number of the reshape node between the load and the array; 0 if there is no reshape. For STORED. */
    int reshape;
    cubed_scalar value;  /* for CONST */
    int64_t start;       /* for INDEX */
    const int64_t *step; /* one number for each axis of the domain; for INDEX */
    int reduction;       /* for REDUCE */
    /* The elements of a block are copied into a dense tile, because they are in several chunks or transposed. For STORED; set
     * by exec/plan/traffic.c. */
    bool tile;
    bool follows;   /* the load is in a group (see `next`), and is not the first one of the group */
    bool window;    /* the load is in a group whose loads share one tile (see `next`) */
    cb_reuse reuse; /* for STORED; set by exec/plan/traffic.c and cb_plan_find_reuse */
    /* Only the part of a chunk that a block needs is read. For STORED; set by exec/plan/traffic.c. */
    bool subread;
    /* If `subread` is set: the part is decoded one codec block (a part that can be decoded alone) at a time, when a reduction
     * reaches the block. For STORED; set by exec/operators/reduce_ways.c. */
    bool piecewise;
    /* Number of the next load of the group; 0 if this is the last load of the group, or in no group. For STORED; set by
     * exec/plan/traffic.c. The loads of a group read the same array with equal strides, but with different offsets. So they need
     * the same chunks. Each chunk is read once for all of them, into the buffer of the first load. If a stride exceeds 1, each
     * load has a tile. If all strides are 1 or -1, the loads share one tile (`window`). It has all elements from the first to
     * the last that any of the loads needs, along each axis. */
    uint16_t next;
} cb_load;

/* Kinds of instructions. */
typedef enum cb_instr_kind {
    CB_INSTR_ELEM,  /* an elementwise operation */
    CB_INSTR_CAST,  /* a cast to another type */
    CB_INSTR_FIELD, /* a field of records from a load */
    CB_INSTR_SUPER, /* two or three operations in one loop (a superinstruction) */
    /* a multiplication whose only use is a sum: it is not executed, because the reduction multiplies its factors */
    CB_INSTR_PRODUCT
} cb_instr_kind;

/* An instruction. Its operands are values of the branch, which are numbered: first the loads, from 0 to nloads - 1, then the
 * results of the instructions. */
typedef struct cb_instr {
    uint8_t kind;
    /* Type of the operands; for the operation "where", type of the second and third operand. */
    uint8_t dtype;
    uint8_t to; /* type of the result */
    uint8_t nargs;
    /* depends on the kind: the cubed_op, the row of the superinstruction table, or the offset of a field in bytes */
    uint16_t op;
    uint16_t arg[3];
    uint16_t reg; /* register of the result; reused after its last use */
    /* bit i: operation i is a division by a power of two, executed as a multiplication by the inverse */
    uint8_t quotients;
    bool swapped; /* the field's byte order differs from this machine's */
} cb_instr;

/* Straight-line code for a box of the domain. Each piece of a concatenation has its own branch. */
typedef struct cb_branch {
    const int64_t *lo, *hi; /* the box, with an entry for each axis of the program's domain */
    int nloads;
    cb_load *loads;
    int ninstrs;
    cb_instr *instrs;
    uint16_t *results; /* value number of each result of the program */
} cb_branch;

/* A program: computes values over a domain, which is divided into branches. */
typedef struct cb_program {
    int ndim;
    int nresults;
    cubed_dtype *types; /* types of the results */
    int nbranches;
    cb_branch *branches; /* the branches, whose disjoint boxes cover the domain */
    int cut; /* axis along which the domain is divided into branches; -1 if there is only one branch */
    int nreads,
        *reads; /* sorted numbers of the nodes, stored or in memory, that the program loads */
    int nregs;  /* maximum number of registers that a branch uses */
    /* Number of elements of a register: CB_VECTOR, or more for values that are reduced. */
    int64_t vector;
    size_t reg_size; /* size in bytes of a register of the widest type */
} cb_program;

/* A reduction of a stage. */
typedef struct cb_stage_reduction {
    cb_reduction kind;
    cubed_dtype dtype; /* type of the state and the result */
    /* Type of the reduced values; it may differ, because the reduction itself can widen float32. */
    cubed_dtype value;
    int nplanes; /* number of planes (arrays) of the state */
    int node;    /* the node, of kind REDUCE, PARTIAL, MERGE_PARTIAL or MERGE */
    int states; /* the node with the states that a merge reads; -1 if the reduction is not a merge */
} cb_stage_reduction;

/* The reductions of a stage. */
typedef struct cb_stage_reduce {
    int n;
    cb_stage_reduction *list;
    /* 1 if tasks output states, one for each group of blocks: the groups are then the leading axis of `kept`. Otherwise 0. */
    int groups;
    /* Numbers of blocks of the original reduction's input. from: blocks in one input item, which is 1 for a block, or the
     * number of blocks that were reduced into a stored state. to: blocks that are reduced into one output state; 0: all
     * blocks. */
    int64_t from, to;
    uint32_t reduced; /* bit d is set if axis d of the domain is reduced */
    /* The first reduced axis. If `slice` is not 0, blocks are reduced slice by slice along this axis. */
    int slice_axis;
    /* number of steps in a slice; 0 if there are no slices. Set together with the flags of loads. */
    int64_t slice;
    /* Each branch of `body` has the full extent of every reduced axis. So the parts of a block in different branches are
     * reduced separately. */
    bool apart;
    /* Number of rows that are reduced together: 1, or more if all loads are decoded piecewise. */
    int rows;
    /* The reductions' input; its blocks along reduced axes fix the order of the reduction. */
    const cb_grid *domain;
    /* Computes the reduced values over `domain`; empty for merges, which read states. */
    cb_program body;
} cb_stage_reduce;

/* An output of a stage. */
typedef struct cb_stage_out {
    int node;
    /* Axis d of the node is axis[d] of the tail's domain; axis[d] is -1 if axis d has extent 1 and is not in the domain. */
    int axis[CUBED_MAX_NDIM];
    /* Number of the reduction whose state the output may overwrite, so that the output needs no tile; -1: the output has a
     * tile. */
    int alias;
} cb_stage_out;

/* An input of a function on whole blocks, or of a selection of elements from them. */
typedef struct cb_stage_input {
    int node;
    cb_program program; /* evaluates the input over its own axes */
    /* The blocks of the input are whole stored chunks, which are used without copying them. */
    bool in_place;
} cb_stage_input;

/* The call of a function on whole blocks, for a stage that has one. */
typedef struct cb_stage_call {
    const cb_blockwise *op;
    const cubed_block_fn *fn;
    void *fn_ctx;
    cubed_block_need need;
    cb_symbols symbols;
    /* Axis of the stage's grid `kept` for each symbol; -1 if no output has the symbol. */
    int axis[CUBED_MAX_NDIM];
    cb_stage_input *inputs;
    /* For each output of the operation, its index among the outputs of the stage; -1 if the output is not used. */
    int *outs;
} cb_stage_call;

/* Processor time of data movement, in seconds: reading and decoding chunks; memory accesses; encoding and writing results. */
typedef struct cb_moves {
    double read, memory, write;
} cb_moves;

/* Reads of each node by all stages, counted during the projection. If a load is repeated, its n reads count as ceil(n / per) *
 * times. */
typedef struct cb_reads {
    uint64_t *chunks, *bytes; /* one number for each node */
    /* One entry for each node: the size above which its chunks are uploaded in parts, and the size of a part. */
    struct cb_upload_sizes *uploads;
    uint64_t times, per;
} cb_reads;

/* A stage: see the top of this file. */
typedef struct cb_stage {
    int index;
    int level; /* length of the longest path from the sources */
    const char *name;
    int nouts;
    cb_stage_out *outs;

    const struct cb_operator *op; /* see exec/plan/operator.h */
    cb_stage_reduce *reduce;      /* NULL if the stage has no reductions */
    cb_stage_call *call;          /* NULL if the stage calls no function on whole blocks */

    /* A task is a box of output chunks. `kept` is the grid of these chunks, over the tail's domain. Two kinds of stages differ:
     * - Stages that output states of groups of blocks: the first axis of `kept` counts groups.
     * - Stages on whole blocks: `kept` counts blocks along the symbols of outputs. */
    const cb_grid *kept;
    int64_t task_chunks[CUBED_MAX_NDIM];
    int64_t ntasks;
    /* The axis along which a task processes its chunks one by one, from the first to the last, with one in memory at a time;
     * -1 if there is no such axis. */
    int column;
    /* The number of workers that execute a cooperative task together, each with its share of the chunks in its own memory;
     * 1 for other tasks. If a run has fewer workers, they execute the task in rounds, with the same memory each; if it has
     * more, each uses less memory. */
    unsigned coop;

    /* The program that computes the outputs, from the results of reductions if the stage has any. Empty in stages on whole
     * blocks, and in stages whose outputs are states of reductions. */
    cb_program tail;

    /* The nodes whose chunks, states or memory the stage reads, in order. */
    int ninputs, *inputs;

    cb_need need; /* upper bound for every task of this stage */
    uint64_t bytes_read, bytes_written, chunks_read, chunks_written;
    /* Parts of chunks_read and bytes_read that are cheap to read again (cb_node_is_cheap); 0 in stages of block calls */
    uint64_t chunks_cheap, bytes_cheap;
    cb_reads *reads; /* counts of reads for each node; may be NULL */
    /* Processor time of one worker in seconds, set at the end of planning. moves: for data movement. operations: for
     * operations. */
    cb_moves moves;
    double operations;
} cb_stage;

#endif
