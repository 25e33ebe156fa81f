/* Kinds of nodes for elementwise operations, casts, and fields of records. */
#include "dtype/typestr.h"
#include "plan/kinds/kind_rows.h"

static cubed_status check_elem(const cb_ir *ir, const cb_node *n, cubed_error *err)
{
    if ((unsigned)n->op >= CUBED_OP_COUNT) return BAD("operation number %d", (int)n->op);
    int arity = 0;
    cubed_op same;
    if (!cubed_op_parse(cubed_op_name(n->op), &same, &arity) || n->ninputs != arity)
        return BAD("%s has %d inputs", cubed_op_name(n->op), n->ninputs);
    cubed_dtype type = ir->nodes[n->inputs[arity - 1]].dtype;
    for (int i = 0; i < arity; i++) {
        const cb_node *in = &ir->nodes[n->inputs[i]];
        if (in->grid->ndim != 0 && !cb_grid_same_shape(in->grid, n->grid))
            return BAD("input %d of %s has another shape", i, cubed_op_name(n->op));
        cubed_dtype want = n->op == CUBED_OP_WHERE && i == 0 ? CUBED_BOOL : type;
        if (in->dtype != want)
            return BAD("input %d of %s has another type", i, cubed_op_name(n->op));
    }
    if (!cb_kernel_has_op(n->op, type))
        return BAD("%s is not for %s", cubed_op_name(n->op), cubed_dtype_name(type));
    if (n->dtype != cb_op_result(n->op, type))
        return BAD("%s of %s is not %s", cubed_op_name(n->op), cubed_dtype_name(type),
                   cubed_dtype_name(n->dtype));
    return CUBED_OK;
}

static void put_elem(cb_buf *b, const cb_node *n) { cb_put_u(b, (uint64_t)n->op); }

static void get_elem(cb_reader *r, cb_node *n) { n->op = (cubed_op)cb_get_n(r, CUBED_OP_COUNT); }

static const char *elem_name(const cb_node *n) { return cubed_op_name(n->op); }

const cb_kind cb_kind_elem = {.name = "elem",
                              .min_inputs = 1,
                              .max_inputs = 3,
                              .is = CB_KIND_ELEMENTWISE | CB_KIND_PULLED | CB_KIND_MIXED,
                              .cost = CB_COST_OP,
                              .check = check_elem,
                              .put = put_elem,
                              .get = get_elem,
                              .fix_axes = cb_fix_no_axes,
                              .find_chunks_from = cb_chunks_of_elem,
                              .operation = elem_name};

static cubed_status check_cast(const cb_ir *ir, const cb_node *n, cubed_error *err)
{
    const cubed_dtype from = ir->nodes[n->inputs[0]].dtype;
    if (from != n->dtype && !cb_kernel_has_cast(from, n->dtype))
        return BAD("a cast of %s to %s", cubed_dtype_name(from), cubed_dtype_name(n->dtype));
    return cb_kind_check_same_shape(ir, n, err);
}

static const char *kind_name(const cb_node *n) { return cb_kinds[n->kind]->name; }

const cb_kind cb_kind_cast = {.name = "cast",
                              .min_inputs = 1,
                              .max_inputs = 1,
                              .is = CB_KIND_ELEMENTWISE | CB_KIND_PULLED | CB_KIND_MIXED,
                              .check = check_cast,
                              .fix_axes = cb_fix_no_axes,
                              .find_chunks_from = cb_chunks_of_inputs,
                              .operation = kind_name};

static cubed_status check_field(const cb_ir *ir, const cb_node *n, cubed_error *err)
{
    const cubed_dtype from = ir->nodes[n->inputs[0]].dtype;
    const size_t size = cubed_dtype_size(n->dtype);
    if (cubed_dtype_family(from) != CUBED_RECORD)
        return BAD("a field of %s", cubed_dtype_name(from));
    if (cubed_dtype_kind(n->dtype) > CUBED_KIND_TIME)
        return BAD("a field of type %s", cubed_dtype_name(n->dtype));
    if (n->offset < 0 || (size_t)n->offset + size > cubed_dtype_size(from))
        return BAD("a field that ends after its record");
    if (n->swapped && cb_unit_size(n->dtype) == 1) return BAD("a field without byte order");
    return cb_kind_check_same_shape(ir, n, err);
}

static void put_field(cb_buf *b, const cb_node *n)
{
    cb_put_u(b, (uint64_t)n->offset << 1 | n->swapped);
}

static void get_field(cb_reader *r, cb_node *n)
{
    const int both = cb_get_n(r, 1 << 17);
    n->offset = both >> 1;
    n->swapped = both & 1;
}

const cb_kind cb_kind_field = {.name = "field",
                               .min_inputs = 1,
                               .max_inputs = 1,
                               .is = CB_KIND_ELEMENTWISE | CB_KIND_PULLED | CB_KIND_MIXED,
                               .check = check_field,
                               .put = put_field,
                               .get = get_field,
                               .fix_axes = cb_fix_no_axes,
                               .find_chunks_from = cb_chunks_of_inputs,
                               .operation = kind_name};
