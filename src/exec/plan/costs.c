/* Cost of operations by kind: processor time of one worker.
 *
 * Nanoseconds per byte of the elements that an operation processes, in addition to reading and writing the arrays. The
 * values are for float64, measured with `python bench/rates.py` on a virtual machine with two Intel Xeon processors of 2023
 * with AVX-512. Other processors differ, mostly by one factor for all values. bench/estimates.py compares plans with their
 * runs. */
#include "exec/plan/costs.h"

#include <math.h>
#include <string.h>

#include "plan/plan.h"

/* Nanoseconds to read or write a byte of memory. */
#define TOUCH (1e9 / CUBED_ASSUMED_COMPUTE)
/* Cost of an operation that is not in the tables: additions and comparisons are as fast as memory. */
#define CHEAP 0.01
/* Cost of a function that is not in the tables: one pass over its elements, by NumPy or code of similar speed. */
#define PASS 0.2

static const double elem[CUBED_OP_COUNT] = {
    [CUBED_OP_DIVIDE] = 0.03,
    [CUBED_OP_POW] = 0.6,
    [CUBED_OP_SQRT] = 0.03,
    [CUBED_OP_EXP] = 0.09,
    [CUBED_OP_LOG] = 0.11,
    [CUBED_OP_SIN] = 0.65,
    [CUBED_OP_COS] = 0.65,
    [CUBED_OP_TAN] = 0.75,
    [CUBED_OP_ASIN] = 0.8,
    [CUBED_OP_ACOS] = 0.85,
    [CUBED_OP_ATAN] = 0.8,
    [CUBED_OP_SINH] = 0.8,
    [CUBED_OP_COSH] = 0.8,
    [CUBED_OP_TANH] = 1,
    [CUBED_OP_ASINH] = 1,
    [CUBED_OP_ACOSH] = 1,
    [CUBED_OP_ATANH] = 1,
    [CUBED_OP_EXPM1] = 0.75,
    [CUBED_OP_LOG1P] = 0.8,
    [CUBED_OP_LOG2] = 0.7,
    [CUBED_OP_LOG10] = 0.65,
    [CUBED_OP_ATAN2] = 0.9,
    [CUBED_OP_HYPOT] = 0.65,
    [CUBED_OP_LOGADDEXP] = 5.5,
    [CUBED_OP_STDTR] = 300,
    [CUBED_OP_FLOOR_DIVIDE] = 0.65,
    [CUBED_OP_REMAINDER] = 0.55,
    [CUBED_OP_RANDOM_UNIFORM] = 0.5,
    [CUBED_OP_RANDOM_BLOCKS] = 0.5,
    [CUBED_OP_RANDOM_BLOCKS_F32] = 0.5,
    [CUBED_OP_RANDOM_NORMAL] = 0.9,
    [CUBED_OP_RANDOM_EXPONENTIAL] = 0.9,
    [CUBED_OP_RANDOM_INTEGERS] = 0.6,
};

#define REDUCE 0.08
#define SCAN   0.19

/* Factor that multiplies the cost of a function per element. */
typedef enum growth {
    EACH,
    LINE_LOG, /* the logarithm of a line's length: sorting, transforms */
    /* length of a block's last axis, for factorisations of matrices. For products of matrices, every multiplication counts as
     * an element (operations.c). */
    LINE
} growth;

static const struct {
    const char *name;
    double cost;
    growth by;
} functions[] = {
    {"matmul", 0.0055, EACH},      {"sort", 0.14, LINE_LOG},
    {"argsort", 0.24, LINE_LOG},   {"sort_run", 0.14, LINE_LOG},
    {"merge_runs", 0.5, EACH},     {"quantile", 1, EACH},
    {"group_quantile", 1, EACH},   {"count_keys", 0.2, EACH},
    {"refine_keys", 0.2, EACH},    {"find_keys", 0.2, EACH},
    {"searchsorted", 3, EACH},     {"isin", 3, EACH},
    {"take", 0.1, EACH},           {"take_along_axis", 0.3, EACH},
    {"group", 0.4, EACH},          {"histogram", 0.5, EACH},
    {"bincount", 0.3, EACH},       {"fft", 0.09, LINE_LOG},
    {"rfft", 0.045, LINE_LOG},     {"irfft", 0.045, LINE_LOG},
    {"qr", 0.014, LINE},           {"qr_panel", 0.01, LINE},
    {"qr_apply", 0.011, EACH},     {"lu_panel", 0.01, LINE},
    {"lu_solve", 0.0055, EACH},    {"cholesky_panel", 0.005, LINE},
    {"cholesky", 0.007, LINE},     {"inv", 0.01, LINE},
    {"solve", 0.009, LINE},        {"det", 0.004, LINE},
    {"slogdet", 0.004, LINE},      {"svd", 0.065, LINE},
    {"svdvals", 0.04, LINE},       {"eigh", 0.035, LINE},
    {"eigvalsh", 0.022, LINE},     {"eig", 0.5, LINE},
    {"eigvals", 0.3, LINE},        {"reflectors", 0.014, LINE},
    {"band_svdvals", 3, EACH},     {"band_eigvalsh", 3, EACH},
    {"subtract_product", 1, EACH}, {"lu", 0.005, LINE},
};

/* Costs of codecs at their usual levels, for data with four significant digits, like measured data. The cost of "bytes" is
 * the cost of writing and reading a file of a Zarr array. */
static const struct {
    const char *name;
    double decode, encode;
} codecs[] = {
    {"bytes", 0.05, 0.25}, {"zstd", 1, 3},    {"blosc", 0.5, 2}, {"lz4", 0.4, 1},
    {"gzip", 2.6, 22},     {"zlib", 2.6, 22}, {"bz2", 20, 50},
};

/* Returns the number of elements of a line: the product of the extents of the axes that a block contains entirely. */
static double line_of(const cb_block_operand *x)
{
    double n = 1;
    for (int d = 0; d < x->blocks.ndim; d++) {
        if (x->symbol[d] < 0) n *= (double)x->blocks.axis[d].extent;
    }
    return n;
}

static double function_cost(const cb_blockwise *op)
{
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        if (strcmp(functions[i].name, op->function) != 0) continue;
        const cb_block_operand *x = op->nin ? &op->in[0] : &op->out[0];
        const int last = x->blocks.ndim - 1;
        if (functions[i].by == LINE_LOG) return functions[i].cost * log2(fmax(2, line_of(x)));
        if (functions[i].by == LINE && last >= 0)
            return functions[i].cost * (double)cb_axis_longest(&x->blocks.axis[last]);
        return functions[i].cost;
    }
    return PASS;
}

double cb_node_cost(const cb_node *n)
{
    static const double of[CB_COSTS] = {[CB_COST_CHEAP] = CHEAP,
                                        [CB_COST_OP] = CHEAP,
                                        [CB_COST_REDUCE] = REDUCE,
                                        [CB_COST_SCAN] = SCAN,
                                        [CB_COST_PASS] = PASS};
    const cb_kind_cost cost = cb_kinds[n->kind]->cost;
    if (cost == CB_COST_CALL) return function_cost(n->block) * 1e-9;
    if (cost == CB_COST_OP && elem[n->op] > 0) return elem[n->op] * 1e-9;
    return of[cost] * 1e-9;
}

/* Returns the cost of reading or writing a byte of an array in nanoseconds. */
static double codec_cost(const cubed_plan *p, int node, bool encode)
{
    double cost = 0;
    if (!p->storage[node]) return 0;
    const cb_codec_chain *c = &p->storage[node]->meta.codecs;
    for (int k = 0; k < c->nsteps; k++) {
        for (size_t i = 0; i < sizeof codecs / sizeof *codecs; i++) {
            if (strcmp(codecs[i].name, c->step[k].vt->name) == 0)
                cost += encode ? codecs[i].encode : codecs[i].decode;
        }
    }
    return cost;
}

static double bytes_of(const cb_node *n)
{
    double bytes = (double)cubed_dtype_size(n->dtype);
    for (int d = 0; d < n->grid->ndim; d++) bytes *= (double)n->grid->axis[d].extent;
    return bytes;
}

cb_moves cb_stage_moves(const cubed_plan *p, const cb_stage *s)
{
    cb_moves m = {0, 0, 0};
    double read = 0, decode = 0;
    for (int i = 0; i < s->ninputs; i++) {
        const cb_node *n = &p->ir.nodes[s->inputs[i]];
        const double bytes = bytes_of(n);
        if (cb_node_in_memory(n)) {
            m.memory += bytes * TOUCH * 1e-9;
            continue;
        }
        read += bytes;
        decode += bytes * codec_cost(p, s->inputs[i], false);
    }
    /* The bytes are assumed to be divided equally among the inputs. */
    if (read > 0) m.read = (double)s->bytes_read * (TOUCH + decode / read) * 1e-9;
    for (int o = 0; o < s->nouts; o++) {
        const int node = s->outs[o].node;
        m.write += bytes_of(&p->ir.nodes[node]) * (TOUCH + codec_cost(p, node, true)) * 1e-9;
    }
    return m;
}
