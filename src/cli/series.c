#include "series.h"

#include <inttypes.h>
#include <string.h>

#include "cli.h"
#include "cli_values.h"
#include "dates.h"

enum { MOST_LINES = 1000, EDGE = 3 };

series_column series_column_of(const char *name, const cubed_array *array, const void *data)
{
    series_column c = {.name = name, .array = array, .data = data};
    c.is_time = dates_axis(cubed_array_attrs(array), cubed_array_dtype(array), &c.axis);
    return c;
}

/* Formats times as dates, and other elements unchanged. The caller frees the string. */
static char *element_of(const series_column *c, int64_t i, bool brief)
{
    char *date =
        c->is_time ? dates_element(&c->axis, cubed_array_dtype(c->array), c->data, i) : NULL;
    return date ? date : values_element(c->array, c->data, i, brief);
}

static int width_of(const char *text) { return (int)strlen(text); }

/* Returns the width of a column: the length of the longest printed element. */
static int width_of_column(const series_column *c, int64_t n, bool brief)
{
    int width = width_of(c->name);
    for (int64_t i = 0; i < n; i++) {
        if (n > MOST_LINES && i == EDGE) i = n - EDGE;
        char *text = element_of(c, i, brief);
        if (width_of(text) > width) width = width_of(text);
        cli_free(text);
    }
    return width;
}

void series_print(FILE *f, const series_column *coordinate, const series_column *values)
{
    const int64_t n = cubed_array_shape(values->array)[0];
    const int width = width_of_column(coordinate, n, false);
    const int value_width = width_of_column(values, n, true);
    char *name = cli_visible(coordinate->name, false);
    fprintf(f, "%-*s  %*s\n", width, name, value_width, values->name);
    cli_free(name);
    for (int64_t i = 0; i < n; i++) {
        if (n > MOST_LINES && i == EDGE) {
            fprintf(f, "...\n");
            i = n - EDGE;
        }
        char *at = element_of(coordinate, i, false);
        char *value = element_of(values, i, true);
        fprintf(f, "%-*s  %*s\n", width, at, value_width, value);
        cli_free(at);
        cli_free(value);
    }
}

static void put_field(FILE *f, const char *text)
{
    if (!strpbrk(text, ",\"\r\n")) {
        fputs(text, f);
        return;
    }
    fputc('"', f);
    for (; *text; text++) {
        if (*text == '"') fputc('"', f);
        fputc(*text, f);
    }
    fputc('"', f);
}

static void put_names(FILE *f, const series_column *coordinates, const series_column *values,
                      int nvalues)
{
    const cubed_array *x = values[0].array;
    for (int d = 0; d < cubed_array_ndim(x); d++) {
        const char *name = cubed_array_dim_name(x, d);
        char *position = cli_printf("axis_%d", d);
        put_field(f, coordinates[d].name ? coordinates[d].name : name ? name : position);
        fputc(',', f);
        cli_free(position);
    }
    for (int k = 0; k < nvalues; k++) {
        if (k) fputc(',', f);
        put_field(f, values[k].name);
    }
    fputc('\n', f);
}

static void put_element(FILE *f, const series_column *c, int64_t i)
{
    char *text = element_of(c, i, false);
    put_field(f, text);
    cli_free(text);
}

/* Moves to the next element in C order. */
static void advance(const cubed_array *x, int64_t *at)
{
    for (int d = cubed_array_ndim(x) - 1; d >= 0; d--) {
        if (++at[d] < cubed_array_shape(x)[d]) return;
        at[d] = 0;
    }
}

void series_print_csv(FILE *f, const series_column *coordinates, const series_column *values,
                      int nvalues)
{
    const cubed_array *x = values[0].array;
    int64_t at[CUBED_MAX_NDIM] = {0}, n = 1;
    for (int d = 0; d < cubed_array_ndim(x); d++) n *= cubed_array_shape(x)[d];
    put_names(f, coordinates, values, nvalues);
    for (int64_t i = 0; i < n; i++) {
        for (int d = 0; d < cubed_array_ndim(x); d++) {
            if (coordinates[d].name)
                put_element(f, &coordinates[d], at[d]);
            else
                fprintf(f, "%" PRId64, at[d]);
            fputc(',', f);
        }
        for (int k = 0; k < nvalues; k++) {
            if (k) fputc(',', f);
            put_element(f, &values[k], i);
        }
        fputc('\n', f);
        advance(x, at);
    }
}
