/* Declarations shared by the files of this folder only. */
#ifndef CB_OPS_PKG_H
#define CB_OPS_PKG_H

#include "ops/steps.h"
#include "plan/graph.h"

/* Maximum bytes of chunks that result from merging chunks, unless chunks that a user chose are larger. */
#define CB_OP_CHUNK_BYTES ((int64_t)16 << 20)

/* Creates a view of x: element i of the view is the element of x at map(i). A view of a view becomes one view of the array below.
 * Keeps the attributes of x.
 *
 * grid   shape and chunks of the view
 * names  dimension names of the view */
CUBED_MUST_CHECK cubed_status cb_op_view(cubed_array *x, const cb_map *map, const cb_grid *grid,
                                         const char *const *names, cubed_array **out,
                                         cubed_error *err);
/* Gives the node n the fill value and the Zarr format of x. Every value of n must be a value of x. */
void cb_op_keep_fill(const cubed_array *x, cb_node *n);
/* Returns true if an operation on the view x may read the input of x instead. Returns false if a tag that the program has set on
 * x would be lost. */
static inline bool cb_op_is_seen_through(const cubed_array *x)
{
    return !x->tag || x->tag == x->in[0]->tag;
}
/* Casts between any two types. */
CUBED_MUST_CHECK cubed_status cb_op_cast(cubed_array *x, cubed_dtype dtype, cubed_array **out,
                                         cubed_error *err);
/* Casts between numbers, or between a time and its int64. Adds one or two nodes, none if x has the type. */
CUBED_MUST_CHECK cubed_status cb_op_cast_plain(cubed_array *x, cubed_dtype dtype, cubed_array **out,
                                               cubed_error *err);
/* Applies an operation to arrays of numbers. The caller has checked the number of operands, their contexts and the condition
 * of CUBED_OP_WHERE. */
CUBED_MUST_CHECK cubed_status cb_op_numbers(cubed_op op, cubed_array *const *args, int nargs,
                                            cubed_array **out, cubed_error *err);
/* Applies an operation with an operand that is an array of records. */
CUBED_MUST_CHECK cubed_status cb_op_records(cubed_op op, cubed_array *const *args, int nargs,
                                            cubed_array **out, cubed_error *err);
bool cb_op_is_comparison(cubed_op op);
/* Sets the promoted type of all operands, without the condition of CUBED_OP_WHERE; CUBED_E_TYPE if they have no common type. */
CUBED_MUST_CHECK cubed_status cb_op_promote(cubed_op op, cubed_array *const *args, int nargs,
                                            cubed_dtype *type, cubed_error *err);
/* Sets the broadcast shape of operands, and the first name of each dimension. Checks that `dtype` fits in memory. */
typedef struct cb_broadcast {
    int ndim;
    int64_t shape[CUBED_MAX_NDIM];
    const char *names[CUBED_MAX_NDIM];
} cb_broadcast;
CUBED_MUST_CHECK cubed_status cb_op_broadcast(cubed_op op, cubed_array *const *args, int nargs,
                                              cubed_dtype dtype, cb_broadcast *out,
                                              cubed_error *err);
/* Chooses the chunks of a new array: the caller's, or automatic ones. */
CUBED_MUST_CHECK cubed_status cb_op_grid(const char *what, cubed_dtype dtype, int ndim,
                                         const int64_t *shape, const int64_t *chunks, cb_grid *out,
                                         cubed_error *err);
/* Returns the chunks of a result of several arrays that have, or broadcast to, one shape. They are the chunks of the largest
 * array; along axes that it broadcasts, the chunks of the next array, and so on. Chunks of computed constants are used only
 * if no other array determines the chunks. Along axes that only constants have, chunks are short enough for chunks of the
 * result of at most 16 MiB. */
cb_grid cb_op_broadcast_grid(cubed_array *const *args, int nargs, int ndim, const int64_t *shape,
                             cubed_dtype dtype);
/* Chooses the chunks of concatenated arrays along an axis. Arrays whose chunks have an origin of lower priority (cb_chunks_from)
 * than the chunks of another array, such as constants, do not count. If one array remains, the result has its chunks, even if
 * they are irregular, extended over the other arrays (cb_axis_extend). If several arrays remain, the result has regular chunks of
 * the greatest length. Lists are allocated in the zone. */
CUBED_MUST_CHECK cubed_status cb_op_concat_grid(cb_zone *zone, cubed_array *const *args, int nargs,
                                                int axis, const int64_t *shape, cb_grid *out,
                                                cubed_error *err);
/* Sets the chunks along the axes over which x is repeated, so that a chunk of the result has about 1 MiB. */
void cb_op_repeated_axes(const cubed_array *x, int ndim, const int64_t *shape, cb_grid *grid);
/* Creates an axis in chunks of these lengths; the list is in the zone. */
CUBED_MUST_CHECK cubed_status cb_op_axis(const char *what, cb_zone *zone, int dim, int64_t extent,
                                         const cubed_chunk_list *chunks, cb_axis *out,
                                         cubed_error *err);
/* Creates a 0-d constant. */
CUBED_MUST_CHECK cubed_status cb_op_scalar(cubed_context *ctx, cubed_dtype dtype, double value,
                                           cubed_array **out, cubed_error *err);
/* Sets a mask of the axes, which may be negative. CUBED_E_AXIS if an axis is out of range, CUBED_E_ARG if it is repeated. */
CUBED_MUST_CHECK cubed_status cb_op_axes(const char *what, int ndim, const int *axes, int n,
                                         uint32_t *mask, cubed_error *err);
/* Sets the mask of the axes that options name; all axes if they name none. */
CUBED_MUST_CHECK cubed_status cb_op_reduce_axes(const char *what, int ndim,
                                                const cubed_reduce_options *options, uint32_t *mask,
                                                cubed_error *err);
/* Reduces an array of numbers (cubed_reduce). */
CUBED_MUST_CHECK cubed_status cb_op_reduce_numbers(cubed_reduction reduction, cubed_array *x,
                                                   const cubed_reduce_options *options,
                                                   cubed_array **out, cubed_error *err);
/* Returns the number of elements that are reduced into one element. INT64_MAX on overflow, which is possible for empty arrays. */
int64_t cb_op_reduce_count(const cubed_array *x, uint32_t reduced);
/* Reduces x over the axes in `reduced` (bit d). The type of x is the type of the reduction's state. If `reduced` is 0, reduces
 * over a new last axis of extent 1. */
CUBED_MUST_CHECK cubed_status cb_op_reduce(const char *what, cubed_array *x, cb_reduction kind,
                                           uint32_t reduced, cubed_array **out, cubed_error *err);
/* Applies an elementwise operation if an operand is a date or a time difference. The condition of CUBED_OP_WHERE does not count.
 * Arguments are those of cubed_elementwise; the caller has checked everything but their types. */
CUBED_MUST_CHECK cubed_status cb_op_time(cubed_op op, cubed_array *const *args, int nargs,
                                         cubed_array **out, cubed_error *err);
/* Casts between dates of different units, or between time differences of different units. cb_op_is_time_cast returns true for
 * such types (also if they are equal), and cb_op_cast_time does the cast. */
bool cb_op_is_time_cast(cubed_dtype from, cubed_dtype to);
CUBED_MUST_CHECK cubed_status cb_op_cast_time(cubed_array *x, cubed_dtype dtype, cubed_array **out,
                                              cubed_error *err);
/* Returns an int64 array. Its first largest (or smallest) element is at the position of the first NaT of x. If x has no NaT, it
 * is at the position of the first largest (or smallest) element of x. */
CUBED_MUST_CHECK cubed_status cb_op_ordered_time(cubed_array *x, bool largest, cubed_array **out,
                                                 cubed_error *err);
/* Reduces times: computes the minimum or the maximum and, for time differences, also the sum or the mean, which is truncated.
 * Skips NaT if `skip_nan` is set. Options as in cubed_reduce. CUBED_E_TYPE for other reductions. */
CUBED_MUST_CHECK cubed_status cb_op_reduce_time(cubed_reduction which, cubed_array *x,
                                                bool skip_nan, const cubed_reduce_options *options,
                                                cubed_array **out, cubed_error *err);
/* Operations on strings.
 *
 * cb_op_text         applies CUBED_OP_WHERE, CUBED_OP_ADD or a comparison to operands that broadcast. The result has the type
 *                    `dtype` and the dimension names `names`
 * cb_op_cast_text    casts strings to strings of another length, truncated or padded, or to bool
 * cb_op_reduce_text  computes the minimum or the maximum; options as in cubed_reduce
 * cb_op_arg_text     computes the position of the minimum (CB_REDUCE_ARGMIN) or maximum (CB_REDUCE_ARGMAX) along `axis`. If
 *                    `axis` is NULL, computes the position in the whole array, in C order */
CUBED_MUST_CHECK cubed_status cb_op_text(cubed_op op, cubed_array *const *args, int nargs,
                                         cubed_dtype dtype, const char *const *names,
                                         cubed_array **out, cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_op_cast_text(cubed_array *x, cubed_dtype dtype, cubed_array **out,
                                              cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_op_reduce_text(cubed_reduction which, cubed_array *x,
                                                const cubed_reduce_options *options,
                                                cubed_array **out, cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_op_arg_text(const char *name, cb_reduction kind, cubed_array *x,
                                             const int *axis, bool keepdims, cubed_array **out,
                                             cubed_error *err);
/* Restores the reduced axes of `from` in x (whose reference is consumed), with extent 1 and their names. */
CUBED_MUST_CHECK cubed_status cb_op_restore_axes(cubed_array **x, const cubed_array *from,
                                                 uint32_t reduced, cubed_error *err);
/* Inserts an axis of extent 1, which is `axis` of the result; -1: the last. `name` is the name of the new dimension, or NULL.
 * Errors: those of cubed_expand_dims. */
CUBED_MUST_CHECK cubed_status cb_op_expand_dims(cubed_array *x, int axis, const char *name,
                                                cubed_array **out, cubed_error *err);

#endif
