/* The expression language of `cubed eval`: parses a string into a syntax tree (expr_parse.c) and builds arrays from the tree
 * (expr_build.c). */
#ifndef CUBED_LANG_EXPR_H
#define CUBED_LANG_EXPR_H

#include <jansson.h>

#include "cubed/cubed.h"
#include "cubed/lang.h"

typedef enum expr_kind {
    EXPR_INT, /* integer literal, whose value is also in number.re */
    EXPR_FLOAT,
    EXPR_COMPLEX, /* imaginary literal, whose value is number.im */
    EXPR_BOOL,
    EXPR_NONE,
    EXPR_STRING,
    EXPR_NAME,
    EXPR_UNARY,   /* op: '-', '+', '~' */
    EXPR_BINARY,  /* op: + - * / p(**) & | < l(<=) > g(>=) e(==) n(!=) */
    EXPR_CALL,    /* call name(children...); keyword arguments are children of kind EXPR_KEYWORD */
    EXPR_KEYWORD, /* name=child */
    EXPR_TUPLE,   /* a tuple or a list; `op` is '(' or '[' */
    EXPR_INDEX,   /* child 0 [children 1...] */
    EXPR_SLICE,   /* a slice with three children; an omitted child is EXPR_NONE */
    EXPR_ELLIPSIS,
    EXPR_ASSIGN /* an assignment: `text` and children except the last are names; the last child is the value */
} expr_kind;

typedef struct expr {
    expr_kind kind;
    int at;     /* offset of the node in the text */
    int number; /* number of the node, unique in the text, from 1 */
    char op;
    char *text; /* text of NAME, STRING, CALL, KEYWORD and ASSIGN */
    int64_t integer;
    double re, im;
    int height; /* length of the longest path to a leaf */
    int n;
    struct expr **child;
} expr;

/* Parses statements separated by ';' or newlines into a list. On failure the message shows the text
 * and the position. Free the tree with expr_free. Untrusted text is safe because depth and size are
 * bounded. */
CUBED_MUST_CHECK cubed_status expr_parse(const char *text, expr ***out, int *n, cubed_error *err);
void expr_free(expr **list, int n);

/* The attributes and coordinates of an array. Members are owned. */
typedef struct expr_about {
    json_t *attrs; /* NULL: nothing */
    bool
        missing; /* the values are computed from packed values that may be missing; NaN marks missing values */
    int ncoords;
    /* Coordinates; a dimension that is not listed has the coordinate of the input. */
    cubed_expr_coord *coords;
} expr_about;

/* Returns the coordinate of a dimension, or NULL if it is the coordinate of the input. */
cubed_expr_coord *expr_find_coord(const expr_about *about, const char *dim);

/* The inputs that a statement reads, directly or through names, except coordinates and bounds. */
typedef struct expr_source {
    char *name; /* name of the first input; owned; NULL if there is no input */
    bool several;
} expr_source;

/* A name, its array and its description. */
typedef struct expr_var {
    /* Owned; must be the first member, so that a pointer to it is also a pointer to the whole struct. */
    cubed_expr_result of;
    bool is_result;
    bool
        takes_source; /* the statement assigns no name, so the result gets the name of its source */
    expr_source source;
    expr_about about;
} expr_var;

typedef struct expr_result {
    int n;
    expr_var *vars; /* variables in the order of their statements */
    int npackings;
    cubed_cf_packing **packings; /* packings of inputs */
} expr_result;

void expr_result_free(expr_result *r);

/* Size of the name of a bare expression, terminating NUL included. */
#define EXPR_BARE_CAP 32

/* Builds arrays for all statements. Results are the assigned names that do not start with '_', and
 * bare expressions (named by expr_name_results), each once. *out is freed with expr_result_free; it is empty
 * after a failure. */
CUBED_MUST_CHECK cubed_status expr_build(cubed_context *ctx, const char *text,
                                         expr *const *statements, int n,
                                         const cubed_expr_host *host, expr_result *out,
                                         cubed_error *err);

#define EXPR_NO_MEMORY "out of memory: the expression's own tables and strings"

/* Formats a message such as "at column 3: message\n u*w\n ^". Always returns `status`. */
cubed_status expr_fail(cubed_error *err, cubed_status status, const char *text, int at,
                       const char *fmt, ...) CUBED_PRINTF(5, 6);

#endif
