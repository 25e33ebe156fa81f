/* Results as tables: one element per line, with coordinates. */
#ifndef CUBED_CLI_SERIES_H
#define CUBED_CLI_SERIES_H

#include <stdio.h>

#include "cubed/array.h"
#include "cubed/calendar.h"

/* An array in memory and its name. */
typedef struct series_column {
    const char *name; /* name of the array; NULL if there is no array */
    const cubed_array *array;
    const void *data;
    bool is_time; /* numbers are shown as dates, by `axis` */
    cubed_time_axis axis;
} series_column;

series_column series_column_of(const char *name, const cubed_array *array, const void *data);

/* Prints a result of one dimension next to its coordinate. The middle of a long result is omitted. */
void series_print(FILE *f, const series_column *coordinate, const series_column *values);

/* Prints results of equal shapes as comma-separated values (RFC 4180): a line of names, then one line per element, in C
 * order. coordinates[d] describes dimension d; a dimension without coordinate has positions from 0. */
void series_print_csv(FILE *f, const series_column *coordinates, const series_column *values,
                      int nvalues);

#endif
