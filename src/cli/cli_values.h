/* Values of arrays for people and for programs. */
#ifndef CUBED_CLI_VALUES_H
#define CUBED_CLI_VALUES_H

#include <jansson.h>
#include <stdio.h>

#include "cubed/cubed.h"

/* Element i, in C order, as text without quotes; `brief`: with as many digits as people read. The caller's. */
char *values_element(const cubed_array *x, const void *data, int64_t i, bool brief);
/* As NumPy prints arrays: eight digits (scalars have all), summarised above 1000 elements. */
void values_print(FILE *f, const cubed_array *x, const void *data);
/* Nested lists; NaN and infinities as strings, complex numbers as pairs. */
json_t *values_json(const cubed_array *x, const void *data);
/* What a run did and needed: the figures of both. */
json_t *values_run_json(const cubed_run_stats *s, const cubed_plan_info *p);

#endif
