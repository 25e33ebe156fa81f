/* The expression that `cubed apply` generates: a statement for each variable of its inputs. */
#ifndef CUBED_CLI_APPLY_EXPRESSION_H
#define CUBED_CLI_APPLY_EXPRESSION_H

#include "file_content.h"
#include "operation.h"
#include "operators.h"

enum { APPLY_MAX_OPERATIONS = 32 };

typedef struct apply {
    operation operations[APPLY_MAX_OPERATIONS]; /* operations from the outermost to the innermost */
    int noperations;
    const char **in;
    /* nin: number of inputs; owned: number of strings in `in` that this structure owns */
    int nin, owned;
    const char *out;
    const char *along; /* dimension along which several input files are joined */
    bool has_along,
        stacks; /* has_along: --along was given; stacks: the files do not have the dimension `along` */
    operator_kind
        of_inputs; /* the innermost operator if it accepts several files, else OPERATOR_NONE */
    /* The list of inputs that are used as one input; NULL if there is no such list. */
    char *list;
    char *first_file; /* first of several input files; NULL if there is one file */
    content *content; /* content of each input */
    int ncontents;
    const operation *piece; /* selection of a piece, applied last; may be NULL */
    const char *piece_dim;  /* dimension of the pieces; may be NULL */
    int npieces;            /* number of variables from which a->text selects a piece */
    const char *only;       /* the only variable of the result; NULL: all variables */
    char *wrong;            /* first error in an operator's arguments */
    int code;               /* exit code: not EXIT_SUCCESS after a reported error */
    char **options;         /* options of the command line */
    int noptions;
    char *command; /* the command line, for the attribute history */
    char *text;    /* the expression */
    char *copied;  /* names of variables that are copied, for a message */
    char **inputs; /* arguments of --in for single variables */
    int ninputs;
} apply;

/* Returns true if an expression can assign the name to a result. Names that begin with _ are not results. */
bool apply_is_result_name(const char *name);
/* Returns true if the variable becomes a result. A variable that only describes other variables becomes a result only if an
 * operator names it. */
bool apply_is_wanted(const apply *a, const content *c, const variable *v);
/* Checks the names of variables in the operators selname and delname. Reports an error if a name matches no variable, or if
 * delname names a variable that describes other variables. Returns an exit code. */
int apply_check_names(const apply *a);
/* Returns the name of a dimension of the given kind (such as latitudes) in the first input, or NULL if there is none. Sets
 * *length to the dimension's length in one file. */
const char *apply_find_dimension(const apply *a, operator_axis kind, int64_t *length);

/* Returns "op1(op2(x, ...), ...)" with the operations that apply to the variable, and sets *n to their number. `first` is the
 * name of x. `second` is the second argument of the outermost function, or NULL without a second input. */
char *apply_call(apply *a, const content *c, const variable *v, const char *first,
                 const char *second, int *n);
/* Builds the lazy array of the expression `value`, in which the variable v is called `name`. If `dim` is not NULL, builds the
 * coordinate of this dimension of the result instead. Returns an exit code. */
int apply_build_value(apply *a, const variable *v, const char *name, const char *value,
                      const char *dim, cubed_array **built);
/* Like apply_build_value, and also finds the axes of the result. *built owns the names of the axes. */
int apply_find_axes(apply *a, const content *c, const variable *v, const char *name,
                    const char *value, operator_axes *axes, cubed_array **built);
/* Generates a->text, the expression of the result, in place of the previous expression. Returns an exit code. */
int apply_write(apply *a);
/* Returns the arguments of the command `cubed eval TEXT --out OUT` with the options of this command. The caller frees the list,
 * but not the strings. */
char **apply_eval_words(const apply *a, const char *out, int *count);
/* Reports which variables are copied unchanged or left out. */
void apply_say_what_is_left(const apply *a);

#endif
