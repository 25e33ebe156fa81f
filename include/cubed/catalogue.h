/* The catalogue: every function that creates lazy arrays, with its parameters, defaults and documentation.
 *
 * A binding or a command looks up a function by name, reads its parameters, and calls it with checked values. Programs in C
 * can use the typed functions of cubed/array.h and cubed/array_api.h, which do the same work. The catalogue is read-only:
 * rows may be used from any thread, and live as long as the library. */
#ifndef CUBED_CATALOGUE_H
#define CUBED_CATALOGUE_H

#include "cubed/array.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- Values ------------------------------------------------------------------------------------------- */

typedef enum cubed_value_kind {
    CUBED_VALUE_NONE, /* Python's None: for example no array, all axes, or the default */
    CUBED_VALUE_ARRAY,
    CUBED_VALUE_ARRAYS,
    CUBED_VALUE_BOOL,
    CUBED_VALUE_INT,
    CUBED_VALUE_FLOAT,
    CUBED_VALUE_COMPLEX,
    CUBED_VALUE_INTS, /* a list of integers, such as axes, a shape or chunk lengths */
    /* A list of values, which may themselves be lists, such as the chunks of each axis. */
    CUBED_VALUE_LIST,
    CUBED_VALUE_FLOATS, /* a list of numbers */
    CUBED_VALUE_STRING,
    CUBED_VALUE_CHOICE, /* one of the parameter's choices; given by its name, as a string */
    CUBED_VALUE_DTYPE,  /* a data type, which may also be given by its name, as a string */
    CUBED_VALUE_SLICE,
    CUBED_VALUE_KIND_COUNT
} cubed_value_kind;

/* Python's slice(start, stop, step); NULL for a bound that is None. */
typedef struct cubed_slice_bounds {
    const int64_t *start, *stop, *step;
} cubed_slice_bounds;

/* A value of an argument. Everything that it points to belongs to the caller. */
typedef struct cubed_value {
    cubed_value_kind kind;
    int n; /* number of items of a list */
    union {
        cubed_array *array;
        cubed_array *const *arrays;
        bool boolean;
        int64_t integer; /* value of an integer, or number of a choice */
        double real;
        double complex_parts[2];
        const int64_t *ints;
        const struct cubed_value *items; /* None, bools, numbers, strings, and lists of them */
        const double *reals;
        const char *string;
        cubed_dtype dtype;
        const cubed_slice_bounds *slice;
    } as;
} cubed_value;

/* --- Functions ---------------------------------------------------------------------------------------- */

/* A choice of a parameter; a name of NULL ends a list of choices. */
typedef struct cubed_choice {
    const char *name;
    int number;
} cubed_choice;

/* Bits of cubed_param.flags. */
enum {
    CUBED_PARAM_REQUIRED = 1,      /* required: has no default */
    CUBED_PARAM_POSITION_ONLY = 2, /* positional only: cannot be given by name */
    CUBED_PARAM_KEYWORD_ONLY = 4,  /* keyword only: must be given by name */
    /* accepts all positional arguments from this parameter on, or one list */
    CUBED_PARAM_VARIADIC = 8,
    CUBED_PARAM_AXIS = 16, /* integers are axes: negative numbers count from the last axis */
    CUBED_PARAM_ENGINE =
        /* Set by the calling program, not by the program's user, such as `task_mem`. */
    32,
    CUBED_PARAM_LIKE = 64, /* an array, or a list of numbers that becomes one */
    CUBED_PARAM_LABELS =
        128, /* if the argument is a list, it is the coordinate of the result's first axis */
    CUBED_PARAM_RULE =
        256, /* the argument names a reduction, which determines the attributes of the result */
    /* a list of arrays with an item for each axis; items may be None (NULL) */
    CUBED_PARAM_GAPS = 512,
    /* The argument has one number for each element of the first array, or for each element along the axes of the
     * CUBED_PARAM_AXIS parameter, in the order of these axes. Callers that know names of dimensions may pair axes by name. */
    CUBED_PARAM_WEIGHTS = 1024
};

/* A parameter of a function. Only the library creates these structures; later versions may append members. */
typedef struct cubed_param {
    const char *name;
    unsigned accepts; /* one bit (1 << kind) for each cubed_value_kind that the parameter accepts */
    unsigned flags;
    cubed_value fallback; /* the value if the argument is not given */
    double least, most;   /* minimum and maximum of a number, and of each integer of a list */
    const cubed_choice *choices; /* NULL if the parameter is not a choice */
    const char *notes;           /* a sentence for the documentation */
} cubed_param;

/* Effect of a function on attributes: which attributes of the first operand the result has, and the units of the result. */
typedef enum cubed_attrs_rule {
    CUBED_ATTRS_NONE, /* the result has no attributes, because its values mean something else */
    CUBED_ATTRS_VIEW, /* the result has all attributes, because its values are those of the operand */
    CUBED_ATTRS_SAME,  /* the result has the units of the operand */
    CUBED_ATTRS_SCALE, /* the result has the units of the operand if the other operand is a number */
    CUBED_ATTRS_SHARED, /* the result has the attributes that all operands share */
    CUBED_ATTRS_REDUCE, /* the result has the units of the operand, and a CF cell method */
    CUBED_ATTRS_SQUARE  /* the result has the squared units of the operand, and a CF cell method */
} cubed_attrs_rule;

/* Effect of a function on coordinates: which coordinates of the first array describe the elements of the result. */
typedef enum cubed_coords_rule {
    CUBED_COORDS_KEEP, /* the coordinates of all axes that the result still has */
    /* No coordinates along the axes of the CUBED_PARAM_AXIS parameter; without such a parameter, no coordinates at all */
    CUBED_COORDS_CUT,
    CUBED_COORDS_REVERSED, /* the coordinates in reverse order along the axes of the CUBED_PARAM_AXIS parameter */
    /* the last coordinates along the axes of the CUBED_PARAM_AXIS parameter, because a difference has the coordinate of its
     * second element */
    CUBED_COORDS_LATER,
    CUBED_COORDS_JOINED, /* the coordinates of all arrays, concatenated along the axis */
    CUBED_COORDS_RESIZED, /* no coordinates along axes whose extent changes; axes are matched from the last one */
    CUBED_COORDS_WINDOWS /* coordinates of windows: each window has `window` elements around its coordinate along `axis` */
} cubed_coords_rule;

/* Maximum number of results of a function with a fixed number of results. */
#define CUBED_MAX_RESULTS 4
/* Maximum number of parameters of a function. */
#define CUBED_MAX_PARAMS 16

/* A function. Only the library creates these structures; later versions may append members. */
typedef struct cubed_function {
    const char *name;     /* unique in the catalogue */
    const char *category; /* one word, such as "linalg" */
    const char *summary;  /* a sentence for the documentation */
    const char *returns;  /* shape and type of the results, for the documentation */
    const cubed_param *params;
    int nparams;
    const char *results
        [CUBED_MAX_RESULTS]; /* names of the results if there are several; NULL: the result is one array */
    /* number of results, at the end of the list, that an expression drops if it does not name them */
    int nextra;
    cubed_attrs_rule attrs;
    const char *
        cell_method; /* cell method for CUBED_ATTRS_REDUCE and CUBED_ATTRS_SQUARE; NULL: CF defines no name */
    int first_operand; /* number of the first array whose attributes are used */
    bool moves;        /* the results contain only unchanged elements of the first array or list */
    cubed_coords_rule coords;
    bool
        /* The number of results varies, so they are a list, even if there is only one result. */
        any_results;
    bool counts; /* extents of the results depend on values: see cubed_call_offsets */
} cubed_function;

/* Returns the function with that name, or NULL if there is none. The lookup takes constant time. */
CUBED_API const cubed_function *cubed_function_find(const char *name);
/* Returns the function after `previous` in the order of the catalogue, by category; the first one if `previous` is NULL. NULL
 * after the last one. */
CUBED_API const cubed_function *cubed_function_next(const cubed_function *previous);
/* Returns the parameter at a position, from 0, or NULL if there is none. */
CUBED_API const cubed_param *cubed_function_param(const cubed_function *function, int position);

/* Writes a description of the values that a parameter accepts ("an integer or None") into a buffer, with a terminating NUL;
 * truncates a longer string. Returns the length without truncation. */
CUBED_API size_t cubed_param_expected(const cubed_param *param, char *buffer, size_t size);
/* Writes a value into a buffer as Python spells it ("True", "[1, 2]", "'fro'"), with a terminating NUL; truncates a longer
 * string. Returns the length without truncation. */
CUBED_API size_t cubed_value_format(const cubed_value *value, char *buffer, size_t size);

/* --- Numbers combined with arrays ----------------------------------------------------------------------------- */

/* Returns whether an operation accepts integers that the type of its array cannot represent: comparisons, and operations that
 * convert integers to floats. */
CUBED_API bool cubed_op_takes_any_integer(cubed_op op);
/* Returns the type that a number (CUBED_VALUE_BOOL to CUBED_VALUE_COMPLEX) gets in an operation with an array, by the rules for
 * Python's scalars.
 *
 * beside       type of the array; CUBED_BOOL if there is no array
 * any_integer  an integer that the array's type cannot represent gets the type int64 */
CUBED_API cubed_dtype cubed_number_dtype(const cubed_value *number, cubed_dtype beside,
                                         bool any_integer);
/* Converts a number to an element of a type. Returns false if the type has no such value: an integer out of range, a float
 * in an integer type (even 2.0), or a complex number in a real type. Floating-point types round. For times, the number must
 * be an integer, in the type's unit, or NaN for "not a time". */
CUBED_API bool cubed_number_scalar(const cubed_value *number, cubed_dtype dtype, cubed_scalar *out);

/* --- Calls -------------------------------------------------------------------------------------------- */

/* An argument of a call. Positional arguments come first. */
typedef struct cubed_argument {
    const char *name;    /* NULL: positional */
    const char *spelled; /* name that the user wrote, for messages; NULL: `name` is used */
    cubed_value value;
} cubed_argument;

/* The arrays that a call created. */
typedef struct cubed_results {
    int n;
    cubed_array **arrays;
} cubed_results;

/* Calls a function with values, which are checked before any work starts.
 *
 * function   row from cubed_function_find
 * arguments  n arguments: first positional ones in the order of the parameters, then named ones in any order
 * results    receives the arrays; free it with cubed_results_free
 *
 * Errors: CUBED_E_TYPE if an argument is missing, unknown, given twice or of another kind; CUBED_E_ARG if it is out of range;
 * err->argument is 1 + its number in `arguments`. Also the errors of the typed function.
 * Ownership: borrows the arguments; the results belong to the caller. Thread safety: any thread, if no other thread uses the
 * context or the arguments in a way that its header forbids. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_call(cubed_context *ctx,
                                                   const cubed_function *function,
                                                   const cubed_argument *arguments, int n,
                                                   cubed_results *results, cubed_error *err);
/* First of two steps to call a function with `counts`, whose results have a number of elements that depends on values. Creates an
 * int64 array whose last element is this number. The caller computes the array in a run, and passes the array and the number to
 * cubed_call as the arguments `offsets` and `count`.
 *
 * arguments  the arguments of the call, without `offsets` and `count`
 * out        receives the array; NULL if the number does not depend on values, as for `repeat` with one number
 * most       receives the greatest possible number; may be NULL
 *
 * Errors: those of cubed_call; CUBED_E_ARG for a function without `counts`. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_call_offsets(cubed_context *ctx,
                                                           const cubed_function *function,
                                                           const cubed_argument *arguments, int n,
                                                           cubed_array **out, int64_t *most,
                                                           cubed_error *err);
/* Releases the arrays in *results and the list itself, and empties *results. The caller may take an array out of the list by
 * setting its entry to NULL. */
CUBED_API void cubed_results_free(cubed_context *ctx, cubed_results *results);

#ifdef __cplusplus
}
#endif

#endif
