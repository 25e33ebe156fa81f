/* Stages: what tasks run.
 *
 * A stage makes one stored array, or several siblings with the same domain, and everything virtual
 * beneath them. Compiled once from the nodes, immutable, shared by all workers.
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
#include "plan/reshape.h"

typedef enum cb_load_kind {
    CB_LOAD_STORED, /* chunks of a Zarr source or stored node */
    CB_LOAD_MEMORY, /* the caller's memory, addressed in place */
    CB_LOAD_CONST,  /* one value */
    CB_LOAD_INDEX,  /* start + sum(step[d] * x[d]) */
    CB_LOAD_BLOCKS, /* the values of a BLOCKS node */
    CB_LOAD_REDUCE  /* the result of reduction number `reduction` of this stage (tail only) */
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
    int node;          /* STORED, MEMORY, BLOCKS */
    const cb_map *map; /* domain -> array, or the shape that a reshape makes of it */
    int reshape;       /* STORED: the node that it is seen through; 0: none */
    cubed_scalar value;
    int64_t start;       /* INDEX */
    const int64_t *step; /* the same: one for each axis of the domain */
    int reduction;
    bool tile;      /* STORED: a block may touch several chunks, or lies across them (transposed):
                      gathered into a dense tile first. Set by need.c */
    cb_reuse reuse; /* STORED: set by need.c and cb_plan_mark_reuse */
    bool subread;   /* STORED: of a chunk only the part that a block needs is read. Set by need.c */
} cb_load;

/* What a load goes through: see plan/reshape.h. */
void cb_load_reshape(const cb_ir *ir, const cb_load *load, cb_reshape *out);
/* The smallest box of the array (STORED) that holds what a load reads for a box of the domain. */
void cb_load_image(const cb_ir *ir, const cb_load *load, const cb_box *domain, cb_box *image);

typedef enum cb_instr_kind { CB_INSTR_ELEM, CB_INSTR_CAST, CB_INSTR_SUPER } cb_instr_kind;

/* Operands are value numbers: loads first (0..nloads-1), then one per instruction. */
typedef struct cb_instr {
    uint8_t kind;
    uint8_t dtype; /* of the operands (where: of b and c) */
    uint8_t to;    /* of the result */
    uint8_t nargs;
    uint16_t op; /* cubed_op, or row of the superinstruction table */
    uint16_t arg[3];
    uint16_t reg; /* register the result goes to; reused when its value is dead */
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

/* What of a box is a branch's. */
void cb_branch_part(const cb_branch *b, const cb_box *box, cb_box *part);

typedef struct cb_program {
    int ndim;
    int nresults;
    cubed_dtype *types; /* of the results */
    int nbranches;
    cb_branch *branches; /* disjoint, together the whole domain */
    int cut;             /* the axis along which they come one behind the other; -1: there is one */
    int nreads, *reads;  /* the nodes that are stored or in memory of which it loads, in order */
    int nregs;           /* the most registers any branch uses */
    size_t reg_size;     /* bytes: CB_VECTOR elements of the widest type */
} cb_program;

/* Whether two programs load of one node. */
bool cb_programs_share_a_load(const cb_program *a, const cb_program *b);
/* The branches that may have elements of a box: from *first to before *last. */
void cb_program_branches(const cb_program *prog, const cb_box *box, int *first, int *last);

typedef struct cb_stage_reduction {
    cb_reduction kind;
    cubed_dtype dtype; /* of state and result */
    cubed_dtype value; /* of what is reduced: float32 may be widened by the reduction itself */
    int nplanes;       /* arrays of state */
    int node;          /* REDUCE, PARTIAL or MERGE */
    int states;        /* MERGE: the node that holds the states; else -1 */
} cb_stage_reduction;

typedef struct cb_stage_out {
    int node;
    int axis[CUBED_MAX_NDIM]; /* node's axis d is this axis of the tail's domain; -1: extent 1 */
    int alias; /* the result may be made in place of the state of this reduction; -1: it has a tile */
} cb_stage_out;

/* A function on whole blocks: block_stage.c. */
typedef struct cb_stage_input {
    int node;
    cb_program program; /* over the input's own axes */
    /* Its blocks are whole chunks of what is stored there: they are used where they are. */
    bool in_place;
} cb_stage_input;

typedef struct cb_stage_call {
    bool compress; /* there is no function: elements are picked */
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

typedef struct cb_stage {
    int index;
    int level; /* the longest way from the sources */
    const char *name;
    int nouts;
    cb_stage_out *outs;

    /* The tasks: boxes of output chunks. `kept` is the tail's domain; PARTIAL stages have the
     * groups in front of it. */
    cb_grid kept;
    int64_t task_chunks[CUBED_MAX_NDIM];
    int64_t ntasks;
    /* Of copies that scatter: workers that make a task together, each with its share of the chunks in its
     * own memory. Fewer make it in rounds, with that memory; more hold less. Else 1. */
    unsigned team;

    /* Running totals: a task is a column of chunks along the axis, made one after another. */
    bool scan;
    int scan_axis;

    /* A function on whole blocks: `kept` counts blocks along the symbols that outputs have. Such stages
     * have no programs but those of the inputs. NULL: none. */
    cb_stage_call *call;

    bool copy; /* one output, every branch a bare load: chunks are gathered straight into it */
    /* A copy of one load into several chunks, which are held one beside the other: what is read is
     * scattered straight into them. Set by need.c */
    bool scatter;

    /* Stages without reductions have an empty body. */
    int nreductions;
    cb_stage_reduction *reductions;
    bool partial, merge; /* PARTIAL writes states of groups of blocks; MERGE reads them */
    uint32_t reduced;    /* axes of the body's domain that are reduced */
    cb_grid domain;      /* of the body: blocks along reduced axes fix the order of the reduction */
    cb_program body, tail;

    /* The nodes whose chunks, states or memory it reads, in order. */
    int ninputs, *inputs;

    cb_need need; /* upper bound for every task of this stage */
    uint64_t bytes_read, bytes_written, chunks_read, chunks_written;
    /* Processor time of one worker, in seconds: set when all is planned. */
    cb_moves moves;
    double operations;
} cb_stage;

/* Whether results are made of anything that is seen through a reshape. */
bool cb_stage_reshapes(const cb_stage *s);

struct cubed_plan;

/* Reductions below a root that are not stored, with the map from the root's axes. The root itself is
 * looked into (or reported) even when it is stored. */
typedef cubed_status (*cb_reduce_fn)(void *ctx, int node, const cb_map *map, cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_stage_find_reductions(const cb_ir *ir, int root, cb_reduce_fn fn,
                                                       void *ctx, cubed_error *err);
/* Whether a reduction with this kept grid, seen through `map` from a root with grid `root`, lies in
 * memory as the root does: only axes of extent 1 differ. axis[r] is then the kept axis of root
 * axis r, or -1. */
bool cb_stage_reduce_fits(const cb_map *map, const cb_grid *kept, const cb_grid *root,
                          int axis[CUBED_MAX_NDIM]);
/* Whether two reductions can be computed in one pass. */
bool cb_stage_same_domain(const cb_ir *ir, int reduce_a, int reduce_b);

/* One more than the highest level of the stored nodes that it reads (level[node]), else 0. */
int cb_stage_level(const struct cubed_plan *p, const cb_stage *s, const int *level);

/* The programs of a stage, from 0 up; NULL behind the last. */
const cb_program *cb_stage_program(const cb_stage *s, int i);

/* Compiles a stage from outs[].node and task_chunks (all 0: 1), which are set. Everything is made in the
 * plan's zone. need and counts are left to cb_stage_project. */
CUBED_MUST_CHECK cubed_status cb_stage_compile(struct cubed_plan *p, cb_stage *s, cubed_error *err);

/* Chunks along an axis that a task has in memory at one time. */
static inline int64_t cb_stage_step(const cb_stage *s, int d)
{
    return s->scan && d == s->scan_axis ? 1 : s->task_chunks[d];
}

/* Sets ntasks from task_chunks, which may have changed since the stage was compiled. */
CUBED_MUST_CHECK cubed_status cb_stage_set_tasks(cb_stage *s, cubed_error *err);

/* The output chunks of a task: a box in the grid `kept`, and its elements. */
void cb_stage_task_chunks(const cb_stage *s, int64_t task, cb_box *chunks);
void cb_stage_task_box(const cb_stage *s, int64_t task, cb_box *elements);
void cb_stage_elements(const cb_stage *s, const cb_box *chunks, cb_box *elements);

/* Reducing stages: blocks along the reduced axes, numbered in C order; those that a task visits;
 * and the part of the body's domain that one of them is for a task's box (of PARTIAL: with the
 * groups in front). */
int64_t cb_stage_nblocks(const cb_stage *s);
void cb_stage_task_blocks(const cb_stage *s, const cb_box *task, int64_t *first, int64_t *last);
void cb_stage_block(const cb_stage *s, const cb_box *task, int64_t block, cb_box *domain);

/* Calls fn for each range of chunks (a box in the stored node's grid) that a task reads from a
 * stored node or Zarr source; the same chunk may come several times. */
typedef cubed_status (*cb_chunks_fn)(void *ctx, int node, const cb_box *chunks, cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_stage_task_reads(const struct cubed_plan *p, const cb_stage *s,
                                                  int64_t task, cb_chunks_fn fn, void *ctx,
                                                  cubed_error *err);
/* The part of it that a program reads for a box of its domain. */
CUBED_MUST_CHECK cubed_status cb_program_reads(const struct cubed_plan *p, const cb_program *prog,
                                               const cb_box *box, cb_chunks_fn fn, void *ctx,
                                               cubed_error *err);
/* The same for the chunks that it writes, and for those of a box of output chunks. */
CUBED_MUST_CHECK cubed_status cb_stage_task_writes(const struct cubed_plan *p, const cb_stage *s,
                                                   int64_t task, cb_chunks_fn fn, void *ctx,
                                                   cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_stage_box_writes(const struct cubed_plan *p, const cb_stage *s,
                                                  const cb_box *kept, cb_chunks_fn fn, void *ctx,
                                                  cubed_error *err);

#endif
