/* Builds lazy arrays from the parsed tree of an expression. These functions are shared by the files that implement functions of
 * the expression language. */
#ifndef CUBED_LANG_EXPR_BUILDER_H
#define CUBED_LANG_EXPR_BUILDER_H

#include "lang/expr.h"
#include "lang/expr_value.h"

typedef struct expr_builder expr_builder;
typedef struct expr_weights expr_weights; /* expr_remap.c */

/* Axes that a function of fields has reduced. */
typedef struct expr_reduced {
    uint32_t axes; /* bit d: axis d was reduced; 0 if the node calls no function of fields */
    bool is_area;  /* both horizontal axes, which CF's cell_methods call "area" */
    const char *
        /* origin of the weights, as a string for the attribute cell_methods; NULL if there are no weights, or if the user gave
         * them */
        said;
} expr_reduced;

struct expr_builder {
    /* Builds the value of a node; called through expr_build_value. */
    cubed_status (*build)(expr_builder *b, const expr *e, expr_value *out);
    cubed_context *ctx;
    const char *text;
    const cubed_expr_host *host;
    expr_result *result;
    cubed_error *err;
    /* Results of the nodes of the syntax tree; the index is the number of a node. */
    int nbuilt;
    struct {
        cubed_array *array; /* decoded values; NULL if the node is not built, or is a literal */
        cubed_array *
            stored; /* packed values before decoding, if the node only selects or moves elements; else NULL */
        const cubed_cf_packing
            *packing; /* packing of `stored`; while a node is built: packing of its result */
        expr_reduced reduced;
        /* expression that replaces a call of a definition; NULL: the node does not call a definition */
        const expr *body;
    } * built;
    bool no_memory; /* no memory for a string or a note: the expression fails with CUBED_E_NOMEM */
    /* number for the next node of a definition; nodes of the text have lower numbers */
    int fresh;
    int nbodies;
    /* The parsed statements of each call of a definition (a function that is written in this language). They are freed after
     * the results are described, because `built[i].body` and the coordinates of results point into them. */
    struct {
        expr **list;
        int n;
    } * bodies;
    expr_source source; /* inputs that the current statement has read so far */
    expr_weights *
        weights; /* weights between two grids, kept for the next call with the same grids; may be NULL */
    /* Coordinates that calls changed or created; `number` is the number of the call. */
    int nnoted;
    struct {
        int number;
        cubed_expr_coord coord;
    } * noted;
};

#define EXPR_TRY(call)                                                                             \
    do {                                                                                           \
        cubed_status status_ = (call);                                                             \
        if (status_ != CUBED_OK) return status_;                                                   \
    } while (0)

/* Sets *out, a pointer of any type, to zeroed memory for n elements of `size` bytes. Free it with lang_free. */
cubed_status expr_alloc(expr_builder *b, const expr *e, int64_t n, size_t size, void *out);
/* Formats a string. Free it with expr_text_free. If memory is exhausted, returns "" and sets b->no_memory, so callers need not
 * check. */
char *expr_text(expr_builder *b, const char *fmt, ...) CUBED_PRINTF(2, 3);
void expr_text_free(char *text);
/* Fails with CUBED_E_ARG. The message shows the position of `e`. */
cubed_status expr_reject(expr_builder *b, const expr *e, const char *what);
/* Adds the position of `e` to an error of the library. Returns `status`. */
cubed_status expr_located(expr_builder *b, const expr *e, cubed_status status);

/* Permutes the dimensions of *y into the order that they have in x. All dimensions of *y must have names of dimensions of x. If
 * `wide` is set, also inserts the dimensions of x that are missing between and after them, with one element each, so that *y
 * broadcasts to x. *y is NULL after an error. */
cubed_status expr_align(expr_builder *b, const expr *e, const cubed_array *x, bool wide,
                        cubed_array **y);
/* Rejects operands in which dimensions of different names are broadcast together, if the host requires this
 * (cubed_expr_host.named). */
cubed_status expr_check_dims(expr_builder *b, const expr *e, cubed_array *const *x, int n);
/* Builds the value of `e`. The caller owns its array. */
cubed_status expr_build_value(expr_builder *b, const expr *e, expr_value *out);
/* Builds the value of `e` as an array; a literal becomes an array of its default type. The caller owns the array. */
cubed_status expr_get_array(expr_builder *b, const expr *e, cubed_array **out);
/* If `child` is packed (its stored elements are integers that encode the values), replaces *x, the values of `child`, by its
 * stored elements. The result of `e` then counts as stored elements with the same packing. */
void expr_take_stored(expr_builder *b, const expr *e, const expr *child, cubed_array **x);
/* Builds the array of `child` for `e`, a function that moves elements without changing them. Returns the stored elements if
 * `child` is packed; the result of `e` then counts as stored elements with the same packing. */
cubed_status expr_get_moved(expr_builder *b, const expr *e, const expr *child, cubed_array **out);
/* Builds the arrays of all items of a list that `e` joins: stored elements if all items have the same packing, otherwise values.
 * `arrays` must be zeroed. The caller owns the arrays in it, even after an error. */
cubed_status expr_get_moved_list(expr_builder *b, const expr *e, const expr *list,
                                 cubed_array **arrays);
/* Returns the packing of a node's result, or NULL if the node does not have unchanged stored elements. */
const cubed_cf_packing *expr_packing_of(const expr_builder *b, const expr *e);
/* Converts a literal to an array of the type that it has in an operation with `other` (NULL: its default type). Arrays are not
 * changed. */
cubed_status expr_operand(expr_builder *b, const expr *e, expr_value *v, const cubed_array *other);
/* Converts a literal to an array of a type that can represent every integer literal, for operations such as comparisons with
 * `other`. Arrays are not changed. */
cubed_status expr_wide_operand(expr_builder *b, const expr *e, expr_value *v,
                               const cubed_array *other);
/* Gets the integer value of the expression `e`, which must not be an array. */
cubed_status expr_get_int(expr_builder *b, const expr *e, int64_t *out);
/* Gets the value of the expression `e`, an integer or a list of *n integers. */
cubed_status expr_get_ints(expr_builder *b, const expr *e, int *n, int64_t out[CUBED_MAX_NDIM]);

/* Returns the value of a keyword argument, or NULL if the call does not have it. */
const expr *expr_keyword(const expr *call, const char *name);
/* Checks that a call has `least` to `most` positional arguments first, then only the keywords in `names`, each at most once.
 * `names` ends with NULL. */
cubed_status expr_check_args(expr_builder *b, const expr *call, int least, int most,
                             const char *const *names, int *positional);
/* Gets axes from axis= or dim= or a positional argument (may be NULL). *n is -1 if the call has none of them. */
cubed_status expr_get_axes(expr_builder *b, const expr *call, const expr *positional,
                           const cubed_array *x, int *n, int axes[CUBED_MAX_NDIM]);
/* Gets one axis from axis= or dim= or a positional argument (may be NULL). *out is `missing` if the call has none of them. */
cubed_status expr_get_axis(expr_builder *b, const expr *call, const expr *positional,
                           const cubed_array *x, int missing, int *out);
/* Gets the value of the expression `e`, an integer or a float that is not an array. out->re has the value in both cases. */
cubed_status expr_get_number(expr_builder *b, const expr *e, expr_value *out);
/* Converts a literal to a scalar. Fails if the type cannot represent the value. */
cubed_status expr_get_scalar(expr_builder *b, const expr *e, const expr_value *v, cubed_dtype dtype,
                             cubed_scalar *out);
/* Builds an array from a number, a string, a list of them, or an array. Numbers get the type that they have in an operation
 * with `like` (NULL: their default type). */
cubed_status expr_get_elements(expr_builder *b, const expr *e, const cubed_array *like,
                               cubed_array **out);
/* Returns true if `e` is a string literal or a list of string literals. */
bool expr_is_texts(const expr *e);
/* Creates an array of these strings, of the kind of strings that `like` has. Fails if `like` is not an array of strings. */
cubed_status expr_get_texts(expr_builder *b, const expr *e, const cubed_array *like,
                            cubed_array **out);
/* Encodes a string as an element of a type of the same kind as `like`. Returns the number of bytes. `to` may be NULL, which only
 * counts them. */
size_t expr_encode_text(const char *text, cubed_dtype like, char *to);
/* Gets the keyword argument `name`, True or False. *out is unchanged if the call does not have it. */
cubed_status expr_get_bool(expr_builder *b, const expr *call, const char *name, bool *out);
/* Computes all elements of a small array immediately, in this thread, and stores them in `to`. */
cubed_status expr_compute(expr_builder *b, cubed_array *x, void *to);
/* Creates an array of memory from lang_alloc. Takes ownership of `data`, even after an error. */
cubed_status expr_own_array(expr_builder *b, const expr *e, cubed_dtype dtype, int ndim,
                            const int64_t *shape, void *data, cubed_array **out);
/* Describes the elements, the dimensions and the attributes of an array. */
typedef struct expr_description {
    cubed_dtype dtype;
    int ndim;
    const int64_t *shape;
    const char *const *names; /* names of the dimensions */
    json_t *attrs;            /* NULL: no attributes */
} expr_description;
/* Creates a described array of memory from lang_alloc. Takes ownership of `data`, even after an error. */
cubed_status expr_own_described(expr_builder *b, const expr *e, const expr_description *d,
                                void *data, cubed_array **out);
/* The expr_note functions record the effect of a call on the coordinate of dimension d of its operand x. `of` is the expression
 * of x.
 *
 * expr_note_cut: the coordinate of x does not describe the result's elements along d, and no other coordinate does. */
void expr_note_cut(expr_builder *b, const expr *call, const cubed_array *x, int d);
/* Records that the result of a call has the elements `s` of x along dimension d. */
void expr_note_part(expr_builder *b, const expr *call, const expr *of, const cubed_array *x, int d,
                    cubed_slice s);
/* Records that the result of a call is the concatenation of the n arrays x along dimension d. `of` has the expressions of these
 * arrays. */
void expr_note_joined(expr_builder *b, const expr *call, const expr *const *of,
                      cubed_array *const *x, int n, int d);
/* Records that each element of the result combines, along dimension d, an element of x with `before` elements before it and
 * `after` elements after it. The bounds of the result's coordinate span all these elements. */
void expr_note_window(expr_builder *b, const expr *call, const expr *of, const cubed_array *x,
                      int d, int64_t before, int64_t after);

/* Names the first axis of *x, quantiles q[0..n) of the array `of`, and records its coordinate. The name is "quantile", as in
 * Xarray, or "quantile_2", ... if `of`, another result or `beside` (a name; may be NULL) uses that name. After an error, the
 * caller still owns *x. */
cubed_status expr_name_quantiles(expr_builder *b, const expr *e, const double *q, int n,
                                 const cubed_array *of, const char *beside, cubed_array **x);

/* Groups of elements, and defaults of the reduction of groups. */
typedef struct expr_grouping {
    cubed_array *codes; /* group numbers along the axes; -1 for elements in no group */
    int naxes, axes[CUBED_MAX_NDIM];
    int64_t ngroups;
    const char *name;         /* name of the result's axis of groups; NULL: unnamed */
    const char *reduction;    /* "mean", "nanmedian" */
    const expr *reduction_at; /* for errors */
    bool skip_nan;            /* default of skipna= */
    double correction;        /* default of ddof= and correction= */
    int64_t min_count;        /* default of min_count= */
    const char *method;       /* default of method= for quantiles; NULL: the catalogue's */
    const expr *q;            /* positional argument q; NULL if not given */
} expr_grouping;

/* Keywords of every call that reduces groups. */
#define EXPR_GROUP_KEYWORDS                                                                        \
    "skipna", "ddof", "correction", "min_count", "q", "method", "fill_value", "fill_absent", "dtype"
/* Reduces groups of x, and names the axes of the result. */
cubed_status expr_reduce_groups(expr_builder *b, const expr *e, const expr_grouping *g,
                                cubed_array *x, cubed_array **out);
/* Builds a call such as mean(x, groupby=labels). *is_one is false for other calls, which are not built. */
cubed_status expr_group_build(expr_builder *b, const expr *e, cubed_array **out, bool *is_one);

/* A function that reads its own arguments, because the catalogue cannot describe them. */
typedef struct expr_function {
    const char *name;
    cubed_status (*fn)(expr_builder *b, const expr *call, cubed_array **out);
    /* NULL if the catalogue or `cubed help eval` describes the function. */
    const char *usage, *summary;
} expr_function;
/* Returns the function of that name, or NULL if there is none. */
const expr_function *expr_find_function(const char *name);
/* Returns all tables of functions. The list ends with NULL. */
const expr_function *const *expr_function_tables(void);
/* Tables for attributes, assignment, reductions by group, calendars, selections by labels, climatologies, and other grids.
 * Each ends with a row without a name. */
extern const expr_function expr_attribute_functions[], expr_block_functions[],
    expr_group_functions[], expr_calendar_functions[], expr_select_functions[],
    expr_climatology_functions[], expr_remap_functions[], expr_field_functions[];
/* Calls a function of the catalogue (expr_catalogue.c). *results is freed with cubed_results_free. */
cubed_status expr_call_function(expr_builder *b, const expr *e, const cubed_function *f,
                                cubed_results *results);
/* An argument that the caller supplies: a value, or, if the value has kind CUBED_VALUE_NONE, the expression `at`, which is then
 * evaluated. */
typedef struct expr_given {
    const char *name;
    cubed_value value; /* borrowed */
    const expr *at;    /* position for errors; may be NULL */
} expr_given;
/* Calls a function that returns one array.
 *
 * given  n arguments, passed by name
 *
 * Keywords of `e` that are parameters of the function and not in `given` are also passed. Other keywords are ignored. */
cubed_status expr_call_given(expr_builder *b, const expr *e, const cubed_function *f,
                             const expr_given *given, int n, cubed_array **out);
/* Maximum number of names that a statement assigns: a, b = f(x). */
#define EXPR_MAX_TUPLE CUBED_MAX_NDIM
/* Computes the elements of x immediately, by cubed_expr_host.count, because the shape of a result depends on them. x is an int64
 * array with at most one dimension. Takes ownership of x, even after an error.
 *
 * most     maximum value of the last element
 * numbers  receives an array of the computed elements; NULL after an error
 * last     receives the last element */
cubed_status expr_count_now(expr_builder *b, const expr *e, cubed_array *x, int64_t most,
                            cubed_array **numbers, int64_t *last);

#endif
