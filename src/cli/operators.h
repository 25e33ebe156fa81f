/* Operators on files, with CDO's names, that are not functions of expressions: they select by position and by kind of
 * coordinate, join several files, or split one file. */
#ifndef CUBED_CLI_OPERATORS_H
#define CUBED_CLI_OPERATORS_H

#include "cubed/cubed.h"

typedef enum operator_kind {
    OPERATOR_NONE,      /* the word is not an operator on files */
    OPERATOR_VARIABLES, /* selname, delname: selection of variables */
    OPERATOR_VALUES,    /* addc, setctomiss, ...: each element and numbers */
    OPERATOR_SELECT,    /* sellevel, seltimestep, ...: parts of variables */
    OPERATOR_JOIN,      /* mergetime, cat: several files along a dimension, as innermost operator */
    OPERATOR_ENSEMBLE,  /* ensmean, ...: statistics over the files, as innermost operator */
    OPERATOR_MERGE,     /* merge: the variables of several files, as innermost operator */
    OPERATOR_SPLIT      /* splityear, ...: several results, as outermost operator */
} operator_kind;

typedef enum operator_axis { AXIS_LAT, AXIS_LON, AXIS_LEVEL, AXIS_TIME, AXIS_KINDS } operator_axis;

/* The axes of a variable. */
typedef struct operator_axes {
    int ndim;
    const char *name[CUBED_MAX_NDIM]; /* names of the axes; "" if an axis has no name */
    int64_t length[CUBED_MAX_NDIM];
    operator_axis kind[CUBED_MAX_NDIM]; /* kind of each axis; AXIS_KINDS: another kind */
} operator_axes;

/* Returns the kind of operator NAME of "NAME[,ARGUMENT...]". Functions of expressions have precedence over all operators
 * except selections. */
operator_kind operator_find(const char *spec);
/* Calls `fn` with the name of each operator, for suggestions. */
void operator_each(void (*fn)(void *ctx, const char *name), void *ctx);
/* Returns the arguments of "NAME[,ARGUMENT...]" as text with commas; "" if there are none. */
const char *operator_arguments(const char *spec);

/* Returns true if a selection selects by positions of elements, so that its result depends on the lengths of the axes. */
bool operator_counts(const char *spec);
/* Returns the text of an expression that performs a selection on `value`. If the variable lacks the axis, returns NULL and sets
 * *wrong to NULL. If the arguments are wrong, returns NULL and sets *wrong to the message. The caller frees both strings. */
char *operator_select(const char *spec, const operator_axes *axes, const char *value, char **wrong);
/* Returns the text of an expression that applies an ensemble operator along the dimension `dim` of `value`. If the arguments
 * are wrong, returns NULL and sets *wrong to the message. The caller frees both strings. */
char *operator_ensemble(const char *spec, const char *dim, const char *value, char **wrong);
/* Returns the text of an expression that applies an operator of kind OPERATOR_VALUES to `value`. If the arguments are wrong,
 * returns NULL and sets *wrong to the message. The caller frees both strings. */
char *operator_values(const char *spec, const char *value, char **wrong);
/* Returns why the arguments of an operator are wrong; NULL if no error was found. The caller frees the string. */
char *operator_check(const char *spec);

#endif
