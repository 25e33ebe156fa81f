/* Formats values of arrays for users and programs. */
#ifndef CUBED_CLI_VALUES_H
#define CUBED_CLI_VALUES_H

#include <jansson.h>
#include <stdio.h>

#include "cubed/cubed.h"

/* Returns element i, in C order, as a string without quotes; `brief`: with fewer digits. The caller frees the string. */
char *values_element(const cubed_array *x, const void *data, int64_t i, bool brief);
/* Prints an array as NumPy does: with eight digits (scalars with all digits), and summarised above 1000 elements. */
void values_print(FILE *f, const cubed_array *x, const void *data);
/* Returns nested lists. NaN and infinities are strings; complex numbers are pairs. */
json_t *values_json(const cubed_array *x, const void *data);
/* Returns the type, shape, names of dimensions and elements of an array; without elements if `data` is NULL. */
json_t *values_array_json(const cubed_array *x, const void *data);
/* Returns the statistics of a run and of its plan. */
json_t *values_run_json(const cubed_run_stats *s, const cubed_plan_info *p);

#endif
