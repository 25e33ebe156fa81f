/* For each axis of an array, finds the origin of its chunk lengths, such as a stored source, and whether the caller gave them. */
#include "kernel/kernel.h"
#include "plan/kinds/kind_rows.h"

static void raise_to(cubed_array *x, int axis, uint8_t from)
{
    if (x->chunks_from[axis] < from) x->chunks_from[axis] = from;
}

/* Gives an axis of x the origin of the chunks along axis `of` of an input. */
static void take(cubed_array *x, int axis, const cubed_array *in, int of)
{
    raise_to(x, axis, in->chunks_from[of]);
    if (in->listed >> of & 1) x->listed |= 1u << axis;
}

/* Gives x the origins of the chunks of all inputs. Each input has the axes of x, or no axes. */
void cb_chunks_of_inputs(cubed_array *x)
{
    for (int i = 0; i < x->node.ninputs; i++) {
        const cubed_array *in = x->in[i];
        for (int d = 0; d < in->node.grid->ndim; d++) take(x, d, in, d);
    }
}

void cb_chunks_of_view(cubed_array *x)
{
    const cb_map *map = x->node.map;
    for (int d = 0; d < map->ndim_out; d++) {
        if (map->dim[d].axis >= 0) take(x, map->dim[d].axis, x->in[0], d);
    }
}

void cb_chunks_of_reduce(cubed_array *x)
{
    const cubed_array *in = x->in[0];
    for (int d = 0, k = 0; d < in->node.grid->ndim; d++) {
        if (!(x->node.reduced >> d & 1)) take(x, k++, in, d);
    }
}

/* Gives all axes of the result the origin with the highest value of all axes of the input, because an axis of the result may
 * consist of several axes of the input. */
void cb_chunks_of_reshape(cubed_array *x)
{
    uint8_t most = CB_CHUNKS_NONE;
    for (int i = 0; i < x->node.ninputs; i++) {
        if (x->in[i]->listed) x->listed = UINT32_MAX;
        for (int d = 0; d < x->in[i]->node.grid->ndim; d++) {
            if (x->in[i]->chunks_from[d] > most) most = x->in[i]->chunks_from[d];
        }
    }
    for (int d = 0; d < x->node.grid->ndim; d++) raise_to(x, d, most);
}

static void all(cubed_array *x, cb_chunks_from from)
{
    for (int d = 0; d < x->node.grid->ndim; d++) raise_to(x, d, (uint8_t)from);
}

static bool same_chunks(const cb_axis *a, const cb_axis *b)
{
    int64_t n = cb_axis_count(a);
    if (n != cb_axis_count(b)) return false;
    for (int64_t i = 0; i < n; i++) {
        if (cb_axis_lo(a, i) != cb_axis_lo(b, i)) return false;
    }
    return true;
}

/* Sets the origins of a copy with other chunks. The chunk lengths count as given by the caller, except for irregular chunks that
 * equal the input's: they count as given if they do for the input. Chunks of computed constants count neither as chunks of data
 * nor as given. */
void cb_chunks_of_copy(cubed_array *x)
{
    const cubed_array *in = x->in[0];
    for (int d = 0; d < x->node.grid->ndim; d++) {
        const cb_axis *a = &x->node.grid->axis[d];
        bool constant = in->chunks_from[d] <= CB_CHUNKS_CALL;
        raise_to(x, d, constant ? CB_CHUNKS_CALL : CB_CHUNKS_DATA);
        bool kept = a->starts && same_chunks(a, &in->node.grid->axis[d]);
        if (kept ? in->listed >> d & 1 : !constant) x->listed |= 1u << d;
    }
}

/* If the chunk lengths of an operand were given, the chunk lengths of the result along the same symbol count as given. */
void cb_chunks_of_blocks(cubed_array *x)
{
    const cb_blockwise *op = x->node.block;
    const cb_block_operand *out = &op->out[x->node.output];
    all(x, CB_CHUNKS_DATA);
    for (int i = 0; i < op->nin; i++) {
        for (int k = 0; k < op->in[i].blocks.ndim; k++) {
            if (!(x->in[i]->listed >> k & 1) || op->in[i].symbol[k] < 0) continue;
            for (int d = 0; d < out->blocks.ndim; d++) {
                if (out->symbol[d] == op->in[i].symbol[k]) x->listed |= 1u << d;
            }
        }
    }
}

void cb_chunks_are_call(cubed_array *x) { all(x, CB_CHUNKS_CALL); }

void cb_chunks_are_memory(cubed_array *x)
{
    all(x, CB_CHUNKS_MEMORY);
    x->listed = UINT32_MAX;
}

void cb_chunks_are_data(cubed_array *x)
{
    all(x, CB_CHUNKS_DATA);
    x->listed = UINT32_MAX;
}

/* An elementwise result has the chunks of its inputs. Random numbers count as data, because they are not constants. */
void cb_chunks_of_elem(cubed_array *x)
{
    if (cb_op_takes_index(x->node.op))
        all(x, CB_CHUNKS_DATA);
    else
        cb_chunks_of_inputs(x);
}

void cb_graph_find_chunks_from(cubed_array *x)
{
    cb_kinds[x->node.kind]->find_chunks_from(x);
    for (int d = 0; d < CUBED_MAX_NDIM; d++) {
        if (d >= x->node.grid->ndim || !x->node.grid->axis[d].starts) x->listed &= ~(1u << d);
    }
}
