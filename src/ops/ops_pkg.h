/* Shared by the files of this folder only. */
#ifndef CB_OPS_PKG_H
#define CB_OPS_PKG_H

#include "ops/steps.h"
#include "plan/graph.h"

/* Chunks that result from merging chunks have at most so many bytes, unless chunks that a user chose are larger. */
#define CB_OP_CHUNK_BYTES ((int64_t)16 << 20)

/* x seen through a map; a view of a view refers to the array beneath. Keeps attributes; `names` has
 * the result's dimension names. */
CUBED_MUST_CHECK cubed_status cb_op_view(cubed_array *x, const cb_map *map, const cb_grid *grid,
                                         const char *const *names, cubed_array **out,
                                         cubed_error *err);
/* n has values of x only: its fill value is x's. */
void cb_op_keep_fill(const cubed_array *x, cb_node *n);
/* Whether what is made of a view may have its input instead: not where that loses what the program keeps with it. */
static inline bool cb_op_is_seen_through(const cubed_array *x)
{
    return !x->tag || x->tag == x->in[0]->tag;
}
/* A cast between any two types. */
CUBED_MUST_CHECK cubed_status cb_op_cast(cubed_array *x, cubed_dtype dtype, cubed_array **out,
                                         cubed_error *err);
/* A cast between numbers, or between a time and its int64: one or two nodes. */
CUBED_MUST_CHECK cubed_status cb_op_cast_plain(cubed_array *x, cubed_dtype dtype, cubed_array **out,
                                               cubed_error *err);
/* cubed_elementwise of numbers. The caller has checked the number of operands, their contexts and the condition of
 * CUBED_OP_WHERE. */
CUBED_MUST_CHECK cubed_status cb_op_numbers(cubed_op op, cubed_array *const *args, int nargs,
                                            cubed_array **out, cubed_error *err);
bool cb_op_is_comparison(cubed_op op);
/* The type that all operands promote to, without the condition of CUBED_OP_WHERE; CUBED_E_TYPE if there is none. */
CUBED_MUST_CHECK cubed_status cb_op_promote(cubed_op op, cubed_array *const *args, int nargs,
                                            cubed_dtype *type, cubed_error *err);
/* The shape that operands broadcast to, and the first name of each dimension; `dtype` is checked to fit in memory. */
typedef struct cb_broadcast {
    int ndim;
    int64_t shape[CUBED_MAX_NDIM];
    const char *names[CUBED_MAX_NDIM];
} cb_broadcast;
CUBED_MUST_CHECK cubed_status cb_op_broadcast(cubed_op op, cubed_array *const *args, int nargs,
                                              cubed_dtype dtype, cb_broadcast *out,
                                              cubed_error *err);
/* Chunks of a new array: the caller's, or automatic ones. */
CUBED_MUST_CHECK cubed_status cb_op_grid(const char *what, cubed_dtype dtype, int ndim,
                                         const int64_t *shape, const int64_t *chunks, cb_grid *out,
                                         cubed_error *err);
/* Chunks of what is made of several arrays of one shape, or of such that broadcast to it: those of the largest,
 * by axes that it broadcasts those of the next. What is computed from nothing decides where nothing else does;
 * along axes that only such have, chunks are so short that those of the others do not grow by them beyond 16 MiB. */
cb_grid cb_op_broadcast_grid(cubed_array *const *args, int nargs, int ndim, const int64_t *shape,
                             cubed_dtype dtype);
/* Chunks of arrays behind each other along an axis. Beside one that has chunks of its own, others fill
 * (cb_axis_extend). Several give regular ones, as long as the longest. Lists are in the zone. */
CUBED_MUST_CHECK cubed_status cb_op_concat_grid(cb_zone *zone, cubed_array *const *args, int nargs,
                                                int axis, const int64_t *shape, cb_grid *out,
                                                cubed_error *err);
/* Chunks along the axes that x is repeated over: with x's along the others about a MiB. */
void cb_op_repeated_axes(const cubed_array *x, int ndim, const int64_t *shape, cb_grid *grid);
/* An axis of the array in chunks of these lengths; the list is in the zone. */
CUBED_MUST_CHECK cubed_status cb_op_axis(const char *what, cb_zone *zone, int dim, int64_t extent,
                                         const cubed_chunk_list *chunks, cb_axis *out,
                                         cubed_error *err);
/* A 0-d constant. */
CUBED_MUST_CHECK cubed_status cb_op_scalar(cubed_context *ctx, cubed_dtype dtype, double value,
                                           cubed_array **out, cubed_error *err);
/* Makes negative axes positive; CUBED_E_ARG if one is out of range or comes twice. */
CUBED_MUST_CHECK cubed_status cb_op_axes(const char *what, int ndim, const int *axes, int n,
                                         uint32_t *mask, cubed_error *err);
/* The axes that options name, as a mask; all of them if they name none. */
CUBED_MUST_CHECK cubed_status cb_op_reduce_axes(const char *what, int ndim,
                                                const cubed_reduce_options *options, uint32_t *mask,
                                                cubed_error *err);
/* cubed_reduce of numbers. */
CUBED_MUST_CHECK cubed_status cb_op_reduce_numbers(cubed_reduction reduction, cubed_array *x,
                                                   const cubed_reduce_options *options,
                                                   cubed_array **out, cubed_error *err);
/* Elements that are reduced into one; INT64_MAX where that is more, as it may be of arrays that have none. */
int64_t cb_op_reduce_count(const cubed_array *x, uint32_t reduced);
/* The reduction of x, which has the type of the state, over these axes; over a new one if there are
 * none. */
CUBED_MUST_CHECK cubed_status cb_op_reduce(const char *what, cubed_array *x, cb_reduction kind,
                                           uint32_t reduced, cubed_array **out, cubed_error *err);
/* Elementwise operations of which an operand is a time, but for the condition of CUBED_OP_WHERE; arguments as in
 * cubed_elementwise, checked but for types. */
CUBED_MUST_CHECK cubed_status cb_op_time(cubed_op op, cubed_array *const *args, int nargs,
                                         cubed_array **out, cubed_error *err);
/* Whether a time is cast to another unit by arithmetic; and that. */
bool cb_op_is_time_cast(cubed_dtype from, cubed_dtype to);
CUBED_MUST_CHECK cubed_status cb_op_cast_time(cubed_array *x, cubed_dtype dtype, cubed_array **out,
                                              cubed_error *err);
/* int64 whose first largest (least) element is the first NaT, or where x has its own. */
CUBED_MUST_CHECK cubed_status cb_op_ordered_time(cubed_array *x, bool largest, cubed_array **out,
                                                 cubed_error *err);
/* Reductions of times, of which NaT is or is not passed over: smallest and largest, and of differences sums and
 * means, which are truncated; options as in cubed_reduce. CUBED_E_TYPE for others. */
CUBED_MUST_CHECK cubed_status cb_op_reduce_time(cubed_reduction which, cubed_array *x,
                                                bool skip_nan, const cubed_reduce_options *options,
                                                cubed_array **out, cubed_error *err);
/* Of texts: CUBED_OP_WHERE, CUBED_OP_ADD and comparisons of operands that broadcast, whose result has this type and these names of
 * dimensions; other lengths, cut or padded, and bool; smallest and largest, options as in cubed_reduce; and their positions,
 * axis NULL: in C order. */
CUBED_MUST_CHECK cubed_status cb_op_text(cubed_op op, cubed_array *const *args, int nargs,
                                         cubed_dtype dtype, const char *const *names,
                                         cubed_array **out, cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_op_cast_text(cubed_array *x, cubed_dtype dtype, cubed_array **out,
                                              cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_op_reduce_text(cubed_reduction which, cubed_array *x,
                                                const cubed_reduce_options *options,
                                                cubed_array **out, cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_op_arg_text(const char *name, bool largest, cubed_array *x,
                                             const int *axis, bool keepdims, cubed_array **out,
                                             cubed_error *err);
/* Puts the axes of `from` that were reduced back into x (given up), with extent 1 and their names. */
CUBED_MUST_CHECK cubed_status cb_op_restore_axes(cubed_array **x, const cubed_array *from,
                                                 uint32_t reduced, cubed_error *err);
/* Like cubed_expand_dims; the new dimension has a name, or none if it is NULL. */
CUBED_MUST_CHECK cubed_status cb_op_expand_dims(cubed_array *x, int axis, const char *name,
                                                cubed_array **out, cubed_error *err);

#endif
