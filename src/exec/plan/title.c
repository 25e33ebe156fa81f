#include "exec/plan/title.h"

#include <inttypes.h>
#include <string.h>

#include "base/checked.h"
#include "context/context.h"
#include "plan/reduction.h"

/* Limits of a title: number of characters, levels of nested operations, operands of one function, and nodes that are visited
 * to make it. */
enum { MOST_TEXT = 60, MOST_DEPTH = 8, MOST_OPERANDS = 3, MOST_VISITS = 300 };

/* Precedence of operators, as in Python. */
typedef enum rank { COMPARE = 1, OR, XOR, AND, SHIFT, SUM, PRODUCT, SIGN, POWER, ATOM } rank;

typedef struct title {
    const cubed_plan *plan;
    const cb_ir *ir;
    cb_buf *text;
    size_t start; /* position in `text` at which the title begins */
    int depth;    /* number of levels of nested operations that may still be written */
    int visits;
    bool full; /* the text has reached its maximum length, and the rest of the title is omitted */
} title;

static void put_node(title *t, int node, rank at_least);

static const cb_node *node_of(const title *t, int node) { return &t->ir->nodes[node]; }

static bool is_op(const cb_node *n, cubed_op op) { return n->kind == CB_NODE_ELEM && n->op == op; }

static bool is_random(cubed_op op) { return strncmp(cubed_op_name(op), "random_", 7) == 0; }

static bool is_whole_reduction(const cb_node *n)
{
    return n->kind == CB_NODE_REDUCE || n->kind == CB_NODE_MERGE;
}

/* --- Views -------------------------------------------------------------------------------------------- */

/* Returns true if a view selects all elements of axis d of its source, in order. */
static bool takes_all(const title *t, const cb_node *n, int d)
{
    const int64_t extent = node_of(t, n->inputs[0])->grid->axis[d].extent;
    const int axis = n->map->dim[d].axis;
    if (extent <= 1) return true;
    return axis >= 0 && n->map->dim[d].offset == 0 && n->map->dim[d].stride == 1 &&
           n->grid->axis[axis].extent == extent;
}

/* Returns true if a view only adds or drops axes of extent 1, or repeats elements. */
static bool is_plain_view(const title *t, const cb_node *n)
{
    int previous = -1;
    if (n->kind != CB_NODE_VIEW) return false;
    for (int d = 0; d < n->map->ndim_out; d++) {
        if (!takes_all(t, n, d)) return false;
        if (n->map->dim[d].axis < 0) continue;
        if (n->map->dim[d].axis < previous) return false;
        previous = n->map->dim[d].axis;
    }
    return true;
}

static bool is_permuted(const cb_node *n)
{
    int previous = -1;
    for (int d = 0; d < n->map->ndim_out; d++) {
        if (n->map->dim[d].axis >= 0 && n->map->dim[d].axis < previous) return true;
        if (n->map->dim[d].axis >= 0) previous = n->map->dim[d].axis;
    }
    return false;
}

/* Writes an index or a slice: "3", ":", "2:10" or "::-1". */
static void put_slice(const title *t, const cb_node *n, int d)
{
    const int64_t extent = node_of(t, n->inputs[0])->grid->axis[d].extent;
    const int64_t first = n->map->dim[d].offset, step = n->map->dim[d].stride;
    if (takes_all(t, n, d)) {
        cb_buf_puts(t->text, ":");
        return;
    }
    if (n->map->dim[d].axis < 0) {
        cb_buf_printf(t->text, "%" PRId64, first);
        return;
    }
    const int64_t count = n->grid->axis[n->map->dim[d].axis].extent;
    const int64_t stop = first + (count - 1) * step + (step > 0 ? 1 : -1);
    if (first != (step > 0 ? 0 : extent - 1)) cb_buf_printf(t->text, "%" PRId64, first);
    cb_buf_puts(t->text, ":");
    if (step > 0 ? stop + step - 1 < extent : stop - step - 1 >= 0)
        cb_buf_printf(t->text, "%" PRId64, stop);
    if (step != 1) cb_buf_printf(t->text, ":%" PRId64, step);
}

static void put_slices(const title *t, const cb_node *n)
{
    int last = n->map->ndim_out - 1;
    while (last >= 0 && takes_all(t, n, last)) last--;
    if (last < 0) return;
    cb_buf_puts(t->text, "[");
    for (int d = 0; d <= last; d++) {
        if (d) cb_buf_puts(t->text, ", ");
        put_slice(t, n, d);
    }
    cb_buf_puts(t->text, "]");
}

/* --- Leaves ------------------------------------------------------------------------------------------- */

/* Writes the last part of "STORE/PATH" or "STORE::PATH", without ".zarr". */
static void put_url(title *t, const char *url)
{
    const char *slash = strrchr(url, '/'), *colon = strrchr(url, ':');
    const char *last = slash > colon ? slash : colon;
    const char *name = last && last[1] ? last + 1 : url;
    const size_t n = strlen(name), suffix = strlen(".zarr");
    const bool is_store = n > suffix && strcmp(name + n - suffix, ".zarr") == 0;
    cb_buf_put(t->text, name, is_store ? n - suffix : n);
}

static void put_number(title *t, const cb_node *n)
{
    const cubed_scalar *v = &n->value;
    char name[CUBED_DTYPE_TEXT_CAP];
    switch (n->dtype) {
    case CUBED_BOOL: cb_buf_puts(t->text, v->b ? "True" : "False"); break;
    case CUBED_INT8: cb_buf_printf(t->text, "%d", v->i8); break;
    case CUBED_INT16: cb_buf_printf(t->text, "%d", v->i16); break;
    case CUBED_INT32: cb_buf_printf(t->text, "%" PRId32, v->i32); break;
    case CUBED_INT64: cb_buf_printf(t->text, "%" PRId64, v->i64); break;
    case CUBED_UINT8: cb_buf_printf(t->text, "%u", v->u8); break;
    case CUBED_UINT16: cb_buf_printf(t->text, "%u", v->u16); break;
    case CUBED_UINT32: cb_buf_printf(t->text, "%" PRIu32, v->u32); break;
    case CUBED_UINT64: cb_buf_printf(t->text, "%" PRIu64, v->u64); break;
    case CUBED_FLOAT32: cb_buf_printf(t->text, "%.6g", (double)v->f32); break;
    case CUBED_FLOAT64: cb_buf_printf(t->text, "%.6g", v->f64); break;
    default: cb_buf_puts(t->text, cubed_dtype_text(n->dtype, name));
    }
}

static void put_leaf(title *t, const cb_node *n)
{
    if (n->source)
        put_url(t, n->source->name);
    else if (n->kind == CB_NODE_ZARR)
        put_url(t, n->url);
    else if (n->kind == CB_NODE_FULL)
        put_number(t, n);
    else if (n->kind == CB_NODE_MEMORY)
        cb_buf_puts(t->text, "array");
    else
        cb_buf_puts(t->text, cb_kinds[n->kind]->name);
}

/* --- Nodes that titles omit ---------------------------------------------------------------------------- */

/* Returns the first node at or below `node` that is not a cast, a copy, or a view that only adds or drops axes. It has the
 * same elements. */
static int behind(title *t, int node)
{
    for (;;) {
        const cb_node *n = node_of(t, node);
        if (n->kind != CB_NODE_CAST && n->kind != CB_NODE_COPY && !is_plain_view(t, n)) return node;
        if (++t->visits > MOST_VISITS) t->full = true;
        if (t->full) return node;
        node = n->inputs[0];
    }
}

static const cb_node *node_behind(title *t, int node) { return node_of(t, behind(t, node)); }

/* --- Functions that consist of several operations ------------------------------------------------------- */

/* Returns the input of a reduction, even if it is computed through states of partial reductions; -1 if the node is not a
 * reduction. */
static int reduced_by(title *t, int node)
{
    const cb_node *n = node_of(t, node);
    if (!is_whole_reduction(n) && !cb_node_leaves_states(n)) return -1;
    while (n->reduce_grid && ++t->visits < MOST_VISITS) n = node_of(t, n->inputs[0]);
    return n->inputs[0];
}

static bool is_reduction(title *t, int node, cb_reduction kind)
{
    const cb_node *n = node_of(t, node);
    return is_whole_reduction(n) && n->reduction == kind;
}

/* Returns x of where(isnan(x), NUMBER, x), as in functions that skip NaN; -1 if the node has another form. */
static int without_nan(title *t, int node)
{
    const cb_node *n = node_behind(t, node);
    if (!is_op(n, CUBED_OP_WHERE) || node_behind(t, n->inputs[1])->kind != CB_NODE_FULL) return -1;
    const int x = behind(t, n->inputs[2]);
    const cb_node *mask = node_behind(t, n->inputs[0]);
    return is_op(mask, CUBED_OP_ISNAN) && behind(t, mask->inputs[0]) == x ? x : -1;
}

/* Returns true if a node is a constant that equals the number of elements that the node `sum` adds for each result. */
static bool is_count_of(title *t, int node, int sum)
{
    const cb_node *n = node_behind(t, node), *s = node_of(t, sum);
    const cb_grid *grid = cb_ir_reduced_grid(t->ir, s);
    double count = 1;
    if (n->kind != CB_NODE_FULL || n->dtype != CUBED_FLOAT64) return false;
    for (int d = 0; d < grid->ndim; d++) {
        if (s->reduced >> d & 1) count *= (double)grid->axis[d].extent;
    }
    return n->value.f64 == count;
}

/* Returns true if a node counts elements that are not NaN. */
static bool counts_present(title *t, int node)
{
    const int sum = behind(t, node),
              of = is_reduction(t, sum, CB_REDUCE_SUM) ? reduced_by(t, sum) : -1;
    if (of < 0) return false;
    const cb_node *present = node_behind(t, of);
    return is_op(present, CUBED_OP_LOGICAL_NOT) &&
           is_op(node_behind(t, present->inputs[0]), CUBED_OP_ISNAN);
}

/* Returns true if a node is a sequence with a constant step: multiples of a position, plus a number. */
static bool is_sequence(title *t, int node)
{
    const cb_node *n = node_behind(t, node);
    int of = -1;
    if (n->kind == CB_NODE_INDEX) return true;
    if (!is_op(n, CUBED_OP_ADD) && !is_op(n, CUBED_OP_MULTIPLY)) return false;
    for (int i = 0; i < 2; i++) {
        if (node_behind(t, n->inputs[i])->kind == CB_NODE_FULL) of = n->inputs[1 - i];
    }
    return of >= 0 && ++t->visits < MOST_VISITS && is_sequence(t, of);
}

/* A call of a function of one operand: its name, and the node of the operand. */
typedef struct call {
    const char *name; /* NULL: the node is not the result of such a function */
    int of;
} call;

/* Recognises mean and var, whose last operation is a division, and their variants without NaN. */
static call quotient_call(title *t, const cb_node *n)
{
    const int top = behind(t, n->inputs[0]);
    const int of = reduced_by(t, top);
    if (of < 0) return (call){NULL, -1};
    if (is_reduction(t, top, CB_REDUCE_M2) && node_behind(t, n->inputs[1])->kind == CB_NODE_FULL)
        return (call){"var", of};
    if (!is_reduction(t, top, CB_REDUCE_SUM)) return (call){NULL, -1};
    if (is_count_of(t, n->inputs[1], top)) return (call){"mean", of};
    const int plain = without_nan(t, of);
    if (plain >= 0 && counts_present(t, n->inputs[1])) return (call){"nanmean", plain};
    return (call){NULL, -1};
}

/* Recognises nanvar, nanmin and nanmax, whose last operation chooses NaN if too few elements are numbers. */
static call choice_call(title *t, const cb_node *n)
{
    for (int i = 1; i < 3; i++) {
        const int found = behind(t, n->inputs[i]);
        const cb_node *x = node_of(t, found);
        const int of = reduced_by(t, found), plain = of < 0 ? -1 : without_nan(t, of);
        if (node_behind(t, n->inputs[3 - i])->kind != CB_NODE_FULL) continue;
        if (plain >= 0 && is_reduction(t, found, CB_REDUCE_MIN)) return (call){"nanmin", plain};
        if (plain >= 0 && is_reduction(t, found, CB_REDUCE_MAX)) return (call){"nanmax", plain};
        if (!is_op(x, CUBED_OP_DIVIDE)) continue;
        const int squares = behind(t, x->inputs[0]);
        if (is_reduction(t, squares, CB_REDUCE_NAN_M2))
            return (call){"nanvar", reduced_by(t, squares)};
    }
    return (call){NULL, -1};
}

static call reduction_call(title *t, int node)
{
    const cb_node *n = node_of(t, node);
    const int of = reduced_by(t, node), plain = of < 0 ? -1 : without_nan(t, of);
    if (of < 0) return (call){NULL, -1};
    if (n->dtype == CUBED_BOOL) return (call){n->reduction == CB_REDUCE_MIN ? "all" : "any", of};
    if (plain >= 0 && n->reduction == CB_REDUCE_SUM) return (call){"nansum", plain};
    if (plain >= 0 && n->reduction == CB_REDUCE_PROD) return (call){"nanprod", plain};
    if (n->reduction == CB_REDUCE_M2) return (call){"var", of};
    if (n->reduction == CB_REDUCE_NAN_M2) return (call){"nanvar", of};
    return (call){cb_reduction_name(n->reduction), of};
}

/* Returns the function whose result is the node. The name is NULL for a single operation. */
static call call_of(title *t, int node)
{
    const cb_node *n = node_of(t, node);
    if (is_op(n, CUBED_OP_DIVIDE)) return quotient_call(t, n);
    if (is_op(n, CUBED_OP_WHERE)) return choice_call(t, n);
    if (is_op(n, CUBED_OP_SQRT)) {
        const int under = behind(t, n->inputs[0]);
        /* Do not look below a second square root, so that the recursion is bounded. */
        if (is_op(node_of(t, under), CUBED_OP_SQRT)) return (call){NULL, -1};
        const call c = call_of(t, under);
        if (c.name && strcmp(c.name, "var") == 0) return (call){"std", c.of};
        if (c.name && strcmp(c.name, "nanvar") == 0) return (call){"nanstd", c.of};
        return (call){NULL, -1};
    }
    return reduction_call(t, node);
}

/* --- Operations --------------------------------------------------------------------------------------- */

static const struct {
    cubed_op op;
    const char *sign;
    rank rank;
} infix[] = {
    {CUBED_OP_ADD, " + ", SUM},
    {CUBED_OP_SUBTRACT, " - ", SUM},
    {CUBED_OP_MULTIPLY, "*", PRODUCT},
    {CUBED_OP_DIVIDE, "/", PRODUCT},
    {CUBED_OP_FLOOR_DIVIDE, "//", PRODUCT},
    {CUBED_OP_REMAINDER, "%", PRODUCT},
    {CUBED_OP_POW, "**", POWER},
    {CUBED_OP_EQUAL, " == ", COMPARE},
    {CUBED_OP_NOT_EQUAL, " != ", COMPARE},
    {CUBED_OP_LESS, " < ", COMPARE},
    {CUBED_OP_LESS_EQUAL, " <= ", COMPARE},
    {CUBED_OP_GREATER, " > ", COMPARE},
    {CUBED_OP_GREATER_EQUAL, " >= ", COMPARE},
    {CUBED_OP_LOGICAL_AND, " & ", AND},
    {CUBED_OP_LOGICAL_OR, " | ", OR},
    {CUBED_OP_LOGICAL_XOR, " ^ ", XOR},
    {CUBED_OP_BITWISE_AND, " & ", AND},
    {CUBED_OP_BITWISE_OR, " | ", OR},
    {CUBED_OP_BITWISE_XOR, " ^ ", XOR},
    {CUBED_OP_BITWISE_LEFT_SHIFT, " << ", SHIFT},
    {CUBED_OP_BITWISE_RIGHT_SHIFT, " >> ", SHIFT},
    {CUBED_OP_NEGATIVE, "-", SIGN},
    {CUBED_OP_LOGICAL_NOT, "~", SIGN},
    {CUBED_OP_BITWISE_INVERT, "~", SIGN},
};

static void put_call(title *t, const char *name, const int *operands, int n)
{
    /* Write operands inside the parentheses of a name such as "map_blocks(f)". */
    const size_t length = strlen(name);
    const bool open = length > 0 && name[length - 1] == ')';
    cb_buf_put(t->text, name, open ? length - 1 : length);
    cb_buf_puts(t->text, open ? (n ? ", " : "") : "(");
    for (int i = 0; i < n && i < MOST_OPERANDS; i++) {
        if (i) cb_buf_puts(t->text, ", ");
        put_node(t, operands[i], COMPARE);
    }
    if (n > MOST_OPERANDS) cb_buf_puts(t->text, ", ...");
    cb_buf_puts(t->text, ")");
}

/* Operators of one rank are computed from left to right; comparisons are not chained. */
static void put_infix(title *t, const cb_node *n, size_t which, rank at_least)
{
    const rank own = infix[which].rank;
    if (own < at_least) cb_buf_puts(t->text, "(");
    if (n->ninputs == 2) put_node(t, n->inputs[0], own == POWER || own == COMPARE ? own + 1 : own);
    cb_buf_puts(t->text, infix[which].sign);
    put_node(t, n->inputs[n->ninputs - 1], n->ninputs == 2 && own != POWER ? own + 1 : own);
    if (own < at_least) cb_buf_puts(t->text, ")");
}

static void put_op(title *t, const cb_node *n, rank at_least)
{
    const char *name = cubed_op_name(n->op);
    for (size_t i = 0; i < sizeof infix / sizeof *infix; i++) {
        if (infix[i].op != n->op) continue;
        put_infix(t, n, i, at_least);
        return;
    }
    /* Titles omit positions and keys, the inputs of random numbers, because the user's program does not contain them. */
    put_call(t, name, n->inputs, is_random(n->op) ? 0 : n->ninputs);
}

static void put_view(title *t, const cb_node *n)
{
    /* The array of random numbers has one axis more than the result that users see. */
    const cb_node *of = node_behind(t, n->inputs[0]);
    if (of->kind == CB_NODE_ELEM && is_random(of->op)) {
        put_node(t, n->inputs[0], ATOM);
        return;
    }
    const bool permuted = is_permuted(n);
    if (permuted) cb_buf_puts(t->text, "transpose(");
    put_node(t, n->inputs[0], ATOM);
    put_slices(t, n);
    if (permuted) cb_buf_puts(t->text, ")");
}

static void put_block(title *t, const cb_node *n)
{
    const cubed_block_fn *fn = NULL;
    void *ctx = NULL;
    /* loaded plans may name functions that this process does not have */
    cubed_error ignored = CUBED_ERROR_INIT;
    const char *name = n->block->function;
    if (cb_context_find_block_fn(t->plan->ctx, name, &fn, &ctx, &ignored) == CUBED_OK)
        name = fn->title ? fn->title(n->block->params) : fn->name;
    put_call(t, name, n->inputs, n->ninputs);
}

static void put_operation(title *t, int node, rank at_least)
{
    const cb_node *n = node_of(t, node);
    const call c = call_of(t, node);
    if (c.name) {
        put_call(t, c.name, &c.of, 1);
        return;
    }
    switch (n->kind) {
    case CB_NODE_ELEM: put_op(t, n, at_least); break;
    case CB_NODE_VIEW: put_view(t, n); break;
    case CB_NODE_BLOCKWISE: put_block(t, n); break;
    case CB_NODE_SCAN: {
        char name[48];
        snprintf(name, sizeof name, "cumulative_%s", cb_reduction_name(n->reduction));
        put_call(t, name, n->inputs, 1);
        break;
    }
    /* Omit the third input, the counts of true elements, because the user's program does not contain it. */
    case CB_NODE_COMPRESS: put_call(t, "compress", n->inputs, 2); break;
    default: put_call(t, cb_kinds[n->kind]->name, n->inputs, n->ninputs);
    }
}

static void put_node(title *t, int node, rank at_least)
{
    node = behind(t, node);
    if (++t->visits > MOST_VISITS || t->text->size - t->start > (size_t)2 * MOST_TEXT)
        t->full = true;
    if (t->full) return;
    const cb_node *n = node_of(t, node);
    if (is_sequence(t, node)) {
        cb_buf_puts(t->text, "arange");
    } else if (n->ninputs == 0 && !n->block) {
        put_leaf(t, n);
    } else if (t->depth == 0) {
        cb_buf_puts(t->text, "...");
    } else {
        t->depth--;
        put_operation(t, node, at_least);
        t->depth++;
    }
}

/* --- Titles ------------------------------------------------------------------------------------------- */

/* Returns a word for a node that only moves a stored array, or NULL if the node does more. Titles of other nodes omit such
 * nodes. */
static const char *only_moves(const title *t, int node)
{
    const cb_node *n = node_of(t, node), *from = n;
    bool copied = false;
    cubed_dtype type = n->dtype;
    for (int i = 0; i < MOST_VISITS && (from == n || !from->stored); i++) {
        copied = copied || from->kind == CB_NODE_COPY;
        if (from->kind != CB_NODE_CAST && from->kind != CB_NODE_COPY && !is_plain_view(t, from))
            break;
        from = node_of(t, from->inputs[0]);
    }
    if (from->kind == CB_NODE_FULL) return "full";
    if (from->ninputs > 0 || from->block)
        return copied && from->stored && from != n ? "rechunk" : NULL;
    if (from->dtype != type) return cubed_dtype_name(type);
    return cb_grid_equal(from->grid, n->grid) ? "copy" : "rechunk";
}

static void put_title(title *t, int node)
{
    const char *moves;
    if (cb_node_leaves_states(node_of(t, node))) {
        cb_buf_puts(t->text, "parts of ");
        moves = NULL;
    } else {
        moves = only_moves(t, node);
    }
    if (moves)
        put_call(t, moves, &node, 1);
    else
        put_node(t, node, COMPARE);
}

/* Writes the title that shows the most nested operations and fits. */
void cb_title_put(const cubed_plan *p, int node, cb_buf *text)
{
    title t = {.plan = p, .ir = &p->ir, .text = text, .start = text->size};
    for (int depth = MOST_DEPTH; depth >= 1 && !text->failed; depth--) {
        t.depth = depth;
        t.visits = 0;
        t.full = false;
        put_title(&t, node);
        if (text->failed || (!t.full && text->size - t.start <= MOST_TEXT) || depth == 1) break;
        text->size = t.start;
    }
    if (t.full) cb_buf_puts(text, "...");
}
