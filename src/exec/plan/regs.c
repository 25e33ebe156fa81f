/* Superinstructions and registers for the code of one branch.
 *
 * Registers 0..nloads-1 belong to the loads, for operands that are not contiguous in memory. The other registers hold results of
 * instructions; the first free register is reused first. A result may use an operand's register only if both have elements of the
 * same size. Kernels allow dst to be the same array as an input, but not to overlap it in part. */

#include "base/error.h"
#include "exec/plan/lower.h"

static int *count_uses(const cb_code *code)
{
    const cb_branch *b = code->branch;
    int *uses = cb_zone_alloc(code->zone, (size_t)(b->nloads + b->ninstrs) * sizeof *uses + 1);
    if (!uses) return NULL;
    for (int i = 0; i < b->ninstrs; i++) {
        for (int k = 0; k < b->instrs[i].nargs; k++) uses[b->instrs[i].arg[k]]++;
    }
    for (int r = 0; r < code->nresults; r++) uses[b->results[r]]++;
    return uses;
}

/* Returns the superinstruction of `inner` (an operation, a cast, or a superinstruction of two) followed by `outer`; -1 if
 * there is none. */
static int find_super(const cb_kernels *k, const cb_instr *inner, const cb_instr *outer, int pos)
{
    const cb_super *pair = inner->kind == CB_INSTR_SUPER ? &k->super[inner->op] : NULL;
    const int first = pair ? pair->op[0] : inner->kind == CB_INSTR_CAST ? CB_SUPER_CAST : inner->op;
    const int from = pair ? pair->from : inner->kind == CB_INSTR_CAST ? inner->dtype : 0;
    const int last = pair ? 2 : 1;
    if (pair && pair->n > 2) return -1;
    for (int s = 0; s < k->nsuper; s++) {
        const cb_super *row = &k->super[s];
        if (row->n == last + 1 && row->op[last] == outer->op && row->pos[last - 1] == pos &&
            row->op[0] == first && row->from == from && k->super_fn[s][outer->dtype] &&
            (!pair || (row->op[1] == pair->op[1] && row->pos[0] == pair->pos[0])))
            return s;
    }
    return -1;
}

/* Returns true if an instruction may be the first part of a superinstruction with operands of this type. */
static bool may_begin(const cb_instr *x, cubed_dtype dtype)
{
    if (x->to != dtype || x->nargs == 0) return false;
    if (x->kind == CB_INSTR_CAST) return true;
    return (x->kind == CB_INSTR_SUPER || (x->kind == CB_INSTR_ELEM && x->nargs <= 2)) &&
           x->dtype == dtype;
}

/* Merges instruction `outer` with the producer of the operand at `pos`, if the producer has no other use and a superinstruction
 * exists. The unused producer gets nargs = 0 until compact() removes it. */
static bool merge_at(const cb_code *code, const int *uses, cb_instr *outer, int pos, bool longer)
{
    const cb_branch *b = code->branch;
    const int v = outer->arg[pos];
    if (v < b->nloads || uses[v] != 1) return false;
    cb_instr *inner = &b->instrs[v - b->nloads];
    if ((inner->kind == CB_INSTR_SUPER) != longer || !may_begin(inner, (cubed_dtype)outer->dtype))
        return false;
    const int s = find_super(code->kernels, inner, outer, pos);
    if (s < 0) return false;
    cb_instr fused = {.kind = CB_INSTR_SUPER,
                      .dtype = outer->dtype,
                      .to = outer->to,
                      .nargs = 3,
                      .op = (uint16_t)s,
                      .quotients = (uint8_t)(inner->quotients |
                                             outer->quotients << (code->kernels->super[s].n - 1))};
    /* Unused operands are copies of the first one, so that every operand is valid. */
    for (int k = 0; k < 3; k++) fused.arg[k] = inner->arg[k < inner->nargs ? k : 0];
    if (outer->nargs > 1)
        fused.arg[longer ? code->kernels->super[s].place : 2] = outer->arg[1 - pos];
    *outer = fused;
    inner->nargs = 0;
    return true;
}

/* Merges instruction i with the instruction that computes one of its operands. Tries to make pairs of operations first,
 * because the next instruction may extend a pair to three operations. */
static void merge_one(const cb_code *code, const int *uses, int i)
{
    cb_instr *outer = &code->branch->instrs[i];
    if (outer->kind != CB_INSTR_ELEM || outer->nargs > 2 || outer->dtype >= CUBED_DTYPE_COUNT)
        return;
    for (int k = 0; k < 2 * outer->nargs; k++) {
        if (merge_at(code, uses, outer, k % outer->nargs, k >= outer->nargs)) return;
    }
}

/* Marks multiplications whose only use is a sum, if the kernel of the sum can multiply with the bitwise same result. */
static void mark_products(const cb_code *code, const int *uses)
{
    const cb_branch *b = code->branch;
    for (int r = 0; r < code->nresults; r++) {
        int v = b->results[r];
        if (!code->roots[r].summed || v < b->nloads || uses[v] != 1) continue;
        cb_instr *x = &b->instrs[v - b->nloads];
        if (x->kind != CB_INSTR_ELEM || x->dtype >= CUBED_DTYPE_COUNT ||
            !code->kernels->sum_of_products[x->dtype].rows)
            continue;
        if (x->op != CUBED_OP_MULTIPLY && x->op != CUBED_OP_SQUARE) continue;
        if (x->op == CUBED_OP_SQUARE) x->arg[1] = x->arg[0];
        x->kind = CB_INSTR_PRODUCT;
        x->nargs = 2;
    }
}

/* Removes merged instructions and unused loads. */
static cubed_status compact(const cb_code *code, const int *uses, cubed_error *err)
{
    cb_branch *b = code->branch;
    uint16_t *renamed =
        cb_zone_alloc(code->zone, (size_t)(b->nloads + b->ninstrs) * sizeof *renamed + 1);
    if (!renamed) return cb_fail(err, CUBED_E_NOMEM, "no memory to compile the plan");
    int loads = 0, kept = 0;
    for (int v = 0; v < b->nloads; v++) {
        if (uses[v] == 0) continue;
        renamed[v] = (uint16_t)loads;
        b->loads[loads++] = b->loads[v];
    }
    for (int i = 0; i < b->ninstrs; i++) {
        if (b->instrs[i].nargs == 0) continue;
        for (int k = 0; k < b->instrs[i].nargs; k++)
            b->instrs[i].arg[k] = renamed[b->instrs[i].arg[k]];
        renamed[b->nloads + i] = (uint16_t)(loads + kept);
        b->instrs[kept++] = b->instrs[i];
    }
    for (int r = 0; r < code->nresults; r++) b->results[r] = renamed[b->results[r]];
    b->nloads = loads;
    b->ninstrs = kept;
    return CUBED_OK;
}

cubed_status cb_allocate_registers(const cb_code *code, int *nregs, size_t *widest,
                                   cubed_error *err)
{
    cb_branch *b = code->branch;
    int *uses = count_uses(code);
    if (!uses) return cb_fail(err, CUBED_E_NOMEM, "no memory to compile the plan");
    mark_products(code, uses);
    for (int i = 0; i < b->ninstrs; i++) merge_one(code, uses, i);
    CB_TRY(compact(code, uses, err));

    int nvalues = b->nloads + b->ninstrs, nfree = 0, next = b->nloads;
    int *last = cb_zone_alloc(code->zone, (size_t)nvalues * sizeof *last + 1);
    uint16_t *free_regs = cb_zone_alloc(code->zone, (size_t)nvalues * sizeof *free_regs + 1);
    if (!last || !free_regs) return cb_fail(err, CUBED_E_NOMEM, "no memory to compile the plan");
    for (int i = 0; i < b->ninstrs; i++) {
        last[b->nloads + i] = i;
        for (int k = 0; k < b->instrs[i].nargs; k++) last[b->instrs[i].arg[k]] = i;
    }
    /* Registers of results are in use until the end of the code. */
    for (int r = 0; r < code->nresults; r++) last[b->results[r]] = b->ninstrs;
    for (int i = 0; i < b->ninstrs; i++) {
        const cb_instr *in = &b->instrs[i];
        for (int k = 0; k < in->nargs && in->kind == CB_INSTR_PRODUCT; k++)
            last[in->arg[k]] = b->ninstrs;
    }

    for (int v = 0; v < b->nloads; v++) {
        size_t size = cubed_dtype_size(b->loads[v].dtype);
        if (size > *widest) *widest = size;
    }
    for (int i = 0; i < b->ninstrs; i++) {
        cb_instr *in = &b->instrs[i];
        size_t size = cubed_dtype_size((cubed_dtype)in->to);
        if (size > *widest) *widest = size;
        int taken = -1;
        for (int k = 0; k < in->nargs && taken < 0; k++) {
            int v = in->arg[k];
            if (v >= b->nloads && last[v] == i &&
                cubed_dtype_size((cubed_dtype)b->instrs[v - b->nloads].to) == size)
                taken = b->instrs[v - b->nloads].reg;
        }
        int mine = taken >= 0 ? taken : nfree > 0 ? free_regs[--nfree] : next++;
        if (mine > UINT16_MAX)
            return cb_fail(err, CUBED_E_BUDGET,
                           "one stage needs more than %d registers at the same time", UINT16_MAX);
        for (int k = 0; k < in->nargs; k++) {
            int v = in->arg[k];
            if (v < b->nloads || last[v] != i || b->instrs[v - b->nloads].reg == mine) continue;
            /* the same operand may occur again; its register must be freed only once */
            last[v] = -1;
            free_regs[nfree++] = b->instrs[v - b->nloads].reg;
        }
        in->reg = (uint16_t)mine;
        /* no instruction uses the result */
        if (last[b->nloads + i] == i) free_regs[nfree++] = in->reg;
    }
    *nregs = next;
    return CUBED_OK;
}
