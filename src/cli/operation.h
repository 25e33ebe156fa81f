/* Parses an operation of `cubed apply`, a word of the command line: NAME[,ARGUMENT...]. */
#ifndef CUBED_CLI_OPERATION_H
#define CUBED_CLI_OPERATION_H

#include <stdbool.h>

#include "operators.h"

typedef struct argument {
    char *key;     /* "" for a positional argument */
    char *word;    /* possible name of a dimension: "time" for "time" and "time.month"; or "" */
    char *text;    /* the argument in expression syntax, including the key */
    char *strings; /* the argument in expression syntax with numbers in quotes */
} argument;

typedef struct operation {
    operator_kind kind;
    char *spec; /* as given */
    char *name;
    argument *argument;
    int n;
    /* The function is `sel`: keys of its arguments are dimensions. Arguments whose dimension a variable does not have are
     * skipped. */
    bool selects;
    bool by_calendar; /* the function works along time, unless it has an argument dim= */
    bool regrids;     /* the function changes the horizontal grid */
    unsigned kinds; /* bit k: the function works along the dimensions of the coordinate of kind k */
} operation;

/* Characters of names in expressions. */
extern const char operation_name_characters[];

/* Reads "NAME[,ARGUMENT...]". The caller frees the operation. */
void operation_read(operation *o, const char *spec);
/* Frees the content of n operations. */
void operations_free(operation *o, int n);

#endif
