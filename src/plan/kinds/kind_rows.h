/* The rows of the kinds, and helpers of their files. */
#ifndef CB_PLAN_KINDS_ROWS_H
#define CB_PLAN_KINDS_ROWS_H

#include "base/error.h"
#include "plan/graph.h"

#define CB_KIND(number, NAME, row) extern const cb_kind cb_kind_##row;
#include "plan/kinds.def"
#undef CB_KIND

#define BAD(...) cb_fail(err, CUBED_E_FORMAT, __VA_ARGS__)

/* Checks that input 0 has the shape of the node. */
CUBED_MUST_CHECK cubed_status cb_kind_check_same_shape(const cb_ir *ir, const cb_node *n,
                                                       cubed_error *err);

/* A cb_kind.fix_axes for kinds whose axes may all grow: marks no axis. */
void cb_fix_no_axes(const cb_ir *ir, int node, cb_fixed_axes *fixed);

/* Functions for cb_kind.find_chunks_from (chunks_from.c). */
void cb_chunks_are_data(cubed_array *x);
void cb_chunks_are_memory(cubed_array *x);
void cb_chunks_are_call(cubed_array *x);
void cb_chunks_of_inputs(cubed_array *x);
void cb_chunks_of_elem(cubed_array *x);
void cb_chunks_of_view(cubed_array *x);
void cb_chunks_of_reduce(cubed_array *x);
void cb_chunks_of_reshape(cubed_array *x);
void cb_chunks_of_copy(cubed_array *x);
void cb_chunks_of_blocks(cubed_array *x);

#endif
