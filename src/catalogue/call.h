/* Declarations of catalogue rows and their calls, shared by the files of this folder. */
#ifndef CB_CATALOGUE_CALL_H
#define CB_CATALOGUE_CALL_H

#include "cubed/array_api.h"
#include "cubed/catalogue.h"

/* A call with checked arguments. */
typedef struct cb_call {
    cubed_context *ctx;
    const cubed_function *function;
    int which; /* `which` of the function's row: distinguishes functions that share one body */
    /* One value for each parameter, of an accepted kind. CUBED_VALUE_NONE if it has no default and was not given. Strings that
     * name a choice or a type are CUBED_VALUE_CHOICE and CUBED_VALUE_DTYPE. */
    const cubed_value *values;
    cubed_array **
        out; /* CUBED_MAX_RESULTS pointers, initially NULL; the results are stored in the first of them */
    cubed_results *results; /* results of a function with a variable number of results */
    cubed_error *err;
} cb_call;

/* A function and its body. */
typedef struct cb_row {
    cubed_function function;
    cubed_status (*call)(const cb_call *c);
    int which; /* number of this function among those that share one body; 0 if the body is not shared */
    /* For functions whose results have an extent that depends on values: creates the array of offsets, from which the extent is
     * computed before the call, as c->out[0], or leaves c->out[0] NULL. *most receives the maximum number of elements of the
     * results. NULL for other functions. */
    cubed_status (*count)(const cb_call *c, int64_t *most);
} cb_row;

/* The rows of one category. Each category has its own file. */
typedef struct cb_rows {
    const cb_row *rows;
    int n;
} cb_rows;
extern const cb_rows cb_interpolation_rows, cb_measurement_rows, cb_bits_rows, cb_products_rows,
    cb_creation_rows, cb_indexing_rows, cb_elementwise_rows, cb_fft_rows, cb_field_rows,
    cb_grid_rows, cb_groups_rows, cb_linalg_rows, cb_manipulation_rows, cb_math_rows,
    cb_morphology_rows, cb_ndimage_rows, cb_numeric_rows, cb_pieces_rows, cb_random_rows,
    cb_reduction_rows, cb_remap_rows, cb_searching_rows, cb_sets_rows, cb_statistical_rows,
    cb_stats_rows;

/* Choices that several categories share. */
extern const cubed_choice cb_devices[], cb_quantile_methods[];

/* --- Values of a call, by the position of the parameter (values.c) ------------------------------------- */

static inline bool cb_call_has(const cb_call *c, int i)
{
    return c->values[i].kind != CUBED_VALUE_NONE;
}
/* Returns the array of an argument; NULL for None. */
static inline cubed_array *cb_call_array(const cb_call *c, int i)
{
    return c->values[i].kind == CUBED_VALUE_ARRAY ? c->values[i].as.array : NULL;
}
static inline bool cb_call_bool(const cb_call *c, int i) { return c->values[i].as.boolean; }
static inline int64_t cb_call_int(const cb_call *c, int i) { return c->values[i].as.integer; }
/* Returns the index of a choice. */
static inline int cb_call_choice(const cb_call *c, int i) { return (int)c->values[i].as.integer; }
/* Returns an integer or float argument as double. */
double cb_call_real(const cb_call *c, int i);
/* Returns the name of a choice; NULL if the value is not a choice. */
const char *cb_call_choice_name(const cb_call *c, int i);
/* Clamps the number of an axis to the range of int. No array has an axis beyond this range. */
int cb_clamp_axis(int64_t axis);
/* Returns an axis, or a number of axes, clamped by cb_clamp_axis. */
int cb_call_axis(const cb_call *c, int i);
/* Gets an argument that is one axis or a list of axes: copies the axes to `room`, sets *n to their number, and returns `room`.
 * For None, returns NULL and sets *n to 0. */
const int *cb_call_axes(const cb_call *c, int i, int room[CUBED_MAX_NDIM], int *n);
/* Gets an argument that is one axis: stores the axis in *room and returns `room`. Returns NULL for None. */
const int *cb_call_one_axis(const cb_call *c, int i, int *room);
/* Converts the axis `given`, which comes from argument number i, to a number from 0 to ndim - 1. CUBED_E_AXIS if it is not one of
 * the ndim axes. */
CUBED_MUST_CHECK cubed_status cb_call_check_axis(const cb_call *c, int i, int ndim, int64_t given,
                                                 int *axis);
/* Gets one axis of an array of ndim dimensions. Does not check that the array has the axis. None means the only axis: CUBED_E_ARG
 * if the array does not have exactly one dimension. */
CUBED_MUST_CHECK cubed_status cb_call_only_axis(const cb_call *c, int i, int ndim, int *axis);
/* Gets an argument that is one integer or a list of integers. Returns the integers, which the call owns, and sets *n to their
 * number. */
const int64_t *cb_call_ints(const cb_call *c, int i, int *n);
/* Gets an argument that gives the lengths of chunks of an array with ndim dimensions. *out points to memory of the call; NULL for
 * None. */
CUBED_MUST_CHECK cubed_status cb_call_chunks(const cb_call *c, int i, int ndim,
                                             const int64_t **out);
/* Returns the type of an argument; NULL for None. */
static inline const cubed_dtype *cb_call_dtype(const cb_call *c, int i)
{
    return cb_call_has(c, i) ? &c->values[i].as.dtype : NULL;
}
/* Returns the memory of a task in bytes, which is the value of the last parameter. 0: unknown. */
uint64_t cb_call_task_mem(const cb_call *c);

/* Gets the number at position i as a 0-d array of a type; CUBED_E_ARG if the type cannot represent the number. If the value is
 * an array, gets a reference to it. */
CUBED_MUST_CHECK cubed_status cb_call_number(const cb_call *c, int i, cubed_dtype dtype,
                                             cubed_array **out);

/* Like cb_call_number, but the type is the one that a Python scalar of this value has in an operation with an array of type
 * `beside`. */
CUBED_MUST_CHECK cubed_status cb_call_operand(const cb_call *c, int i, cubed_dtype beside,
                                              cubed_array **out);

/* Gets the values at positions `first` to `last` as arrays. Numbers get the type that they have in operations with the first
 * array, or their own type if there is no array. With `any_integer`, integers that this type cannot represent are allowed.
 * out[0] receives the array of `first`. Members of `out` must be NULL before the call; the caller releases all of them, even
 * after an error. */
CUBED_MUST_CHECK cubed_status cb_call_operands(const cb_call *c, int first, int last,
                                               bool any_integer, cubed_array **out);
/* Allocates the list of n results of a function with a variable number of results. The entries are NULL; the body fills
 * them. */
CUBED_MUST_CHECK cubed_status cb_call_results(const cb_call *c, int64_t n, cubed_array ***out);
/* Allocates a list of n arrays, which are NULL. Returns NULL if out of memory. cb_call_arrays_free also releases the arrays. */
cubed_array **cb_call_arrays(const cb_call *c, int n);
void cb_call_arrays_free(const cb_call *c, cubed_array **arrays, int n);

/* The arguments `offsets` and `count` (COUNTED_PARAMS), which the caller computed before the call. cb_call_counted fails with
 * CUBED_E_ARG if they are missing. `offsets` is NULL if the user passes the count, which some functions allow. */
typedef struct cb_counted {
    cubed_array *offsets;
    int64_t count;
} cb_counted;
CUBED_MUST_CHECK cubed_status cb_call_counted(const cb_call *c, cb_counted *out);

/* Computes the quantiles of x, which is parameter 0, for q, which is parameter 1 (quantile_calls.c).
 *
 * weights  weights of the elements; NULL if the elements have no weights. With weights, parameter 3 is the method
 * whole    the value of q for the maximum, such as 1 or 100 */
CUBED_MUST_CHECK cubed_status cb_call_quantiles(const cb_call *c, cubed_array *weights,
                                                double whole, const cubed_quantile_options *o);

/* Records in the error of the call that the argument at position i caused it. Returns `status`. */
cubed_status cb_call_blame(const cb_call *c, int i, cubed_status status);

#endif
