/* Where arrays have their chunks from. */
#include "kernel/kernel.h"
#include "plan/graph.h"

static void raise_to(cubed_array *x, int axis, uint8_t from)
{
    if (x->chunks_from[axis] < from) x->chunks_from[axis] = from;
}

/* Inputs have x's axes, or none. */
static void of_inputs(cubed_array *x)
{
    for (int i = 0; i < x->node.ninputs; i++) {
        const cubed_array *in = x->in[i];
        for (int d = 0; d < in->node.grid.ndim; d++) raise_to(x, d, in->chunks_from[d]);
    }
}

static void of_view(cubed_array *x)
{
    const cb_map *map = x->node.map;
    for (int d = 0; d < map->ndim_out; d++) {
        if (map->dim[d].axis >= 0) raise_to(x, map->dim[d].axis, x->in[0]->chunks_from[d]);
    }
}

static void of_fold(cubed_array *x)
{
    const cubed_array *in = x->in[0];
    for (int d = 0, k = 0; d < in->node.grid.ndim; d++) {
        if (!(x->node.reduced >> d & 1)) raise_to(x, k++, in->chunks_from[d]);
    }
}

/* Axes of the result are made of several: they have what the firmest has. */
static void of_any(cubed_array *x)
{
    uint8_t most = CB_CHUNKS_NONE;
    for (int i = 0; i < x->node.ninputs; i++) {
        for (int d = 0; d < x->in[i]->node.grid.ndim; d++) {
            if (x->in[i]->chunks_from[d] > most) most = x->in[i]->chunks_from[d];
        }
    }
    for (int d = 0; d < x->node.grid.ndim; d++) raise_to(x, d, most);
}

static void all(cubed_array *x, cb_chunks_from from)
{
    for (int d = 0; d < x->node.grid.ndim; d++) raise_to(x, d, (uint8_t)from);
}

void cb_graph_find_chunks_from(cubed_array *x)
{
    switch (x->node.kind) {
    case CB_NODE_FULL:
    case CB_NODE_INDEX: all(x, CB_CHUNKS_CALL); break;
    case CB_NODE_MEMORY: all(x, CB_CHUNKS_MEMORY); break;
    case CB_NODE_VIEW: of_view(x); break;
    case CB_NODE_FOLD: of_fold(x); break;
    case CB_NODE_CAST:
    case CB_NODE_CONCAT:
    case CB_NODE_SCAN: of_inputs(x); break;
    case CB_NODE_RESHAPE: of_any(x); break;
    case CB_NODE_ELEM: /* random numbers are no constants */
        if (cb_op_takes_index(x->node.op))
            all(x, CB_CHUNKS_DATA);
        else
            of_inputs(x);
        break;
    case CB_NODE_COPY: /* of constants the same constants */
        for (int d = 0; d < x->node.grid.ndim; d++)
            raise_to(x, d,
                     x->in[0]->chunks_from[d] <= CB_CHUNKS_CALL ? CB_CHUNKS_CALL : CB_CHUNKS_DATA);
        break;
    default: all(x, CB_CHUNKS_DATA); break;
    }
}
