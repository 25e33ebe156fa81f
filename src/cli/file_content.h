/* The variables of a file or store, and the meaning of their dimensions. */
#ifndef CUBED_CLI_FILE_CONTENT_H
#define CUBED_CLI_FILE_CONTENT_H

#include "cubed/cubed.h"
#include "lang/field_axes.h"
#include "operators.h"

typedef struct variable {
    char *name;
    char **dims;
    int64_t *shape;
    int ndim;
    bool is_numeric;
    field_axis kind; /* kind of a coordinate; FIELD_KINDS for other variables */
    bool is_rotated; /* values are degrees of a rotated grid */
    bool has_pole;   /* the variable is a grid mapping with a rotated pole */
    char *mapping;   /* attribute grid_mapping; NULL if the variable has none */
    bool has_words;  /* elements of the variable (dates or strings) are selected by strings */
} variable;

/* A dimension whose coordinate the file describes as latitudes, longitudes, levels or times. */
typedef struct content_axis {
    char *dim;
    operator_axis kind;
} content_axis;

typedef struct content {
    variable *variable;
    int n;
    /* Names of coordinates, bounds and the like, which are written with the variables that use them. */
    char **aside;
    int naside;
    content_axis *axis;
    int naxes;
    char *unsupported; /* names of variables whose type is not supported, for a message */
} content;

/* Reads the root of a store, or of the first file if there are several. Free the content even after an error. */
CUBED_MUST_CHECK cubed_status content_read(cubed_context *ctx, const char *url, content *c,
                                           cubed_error *err);
void content_free(content *c);
/* Returns true if a variable only describes other variables, such as bounds and grid mappings. */
bool content_is_aside(const content *c, const variable *v);
bool content_has_dim(const variable *v, const char *name);
/* Returns whether the grid mapping of a variable has a rotated pole. */
bool content_has_pole(const content *c, const variable *v);
/* Returns whether a variable has a dimension of that name. */
bool content_is_dim(const content *c, const char *name);
operator_axis content_kind_of(const content *c, const char *dim);
/* Returns the axes of a variable, whose names are borrowed. */
operator_axes content_axes_of(const content *c, const variable *v);
/* Appends a name to a list for a message; *list may be NULL. */
void content_append(char **list, const char *name);

#endif
