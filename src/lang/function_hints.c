#include "lang/function_hints.h"

#include <stdio.h>
#include <string.h>

#include "lang/calendar_call.h"
#include "lang/expr_defined.h"
#include "lang/field_axes.h"

/* Functions of NumPy and Xarray that have other names here or in the Array API standard. */
static const struct {
    const char *theirs, *ours;
} names[] = {
    {"absolute", "abs(x)"},
    {"fabs", "abs(x)"},
    {"amax", "max(x)"},
    {"amin", "min(x)"},
    {"arccos", "acos(x)"},
    {"arccosh", "acosh(x)"},
    {"arcsin", "asin(x)"},
    {"arcsinh", "asinh(x)"},
    {"arctan", "atan(x)"},
    {"arctan2", "atan2(y, x)"},
    {"arctanh", "atanh(x)"},
    {"avg", "mean(x)"},
    {"array", "a list, or arange(n), full(shape, value)"},
    {"concatenate", "concat([x, y], axis=0)"},
    {"invert", "~x"},
    {"isel", "x[0, 5:10]"},
    {"isnull", "isnan(x)"},
    {"isna", "isnan(x)"},
    {"notnull", "~isnan(x)"},
    {"len", "the number that `cubed info` shows"},
    {"ln", "log(x)"},
    {"logical_or", "x | y"},
    {"mod", "remainder(x, y)"},
    {"fmod", "remainder(x, y)"},
    {"nanstdev", "nanstd(x)"},
    {"negate", "-x"},
    {"power", "pow(x, y), or x ** y"},
    {"rint", "round(x)"},
    {"stdev", "std(x)"},
    {"trapz", "trapezoid(y, x)"},
    {"true_divide", "x / y"},
    {"unique", "unique_values(x)"},
    {"variance", "var(x)"},
};

static void try_word(lang_guess *g, const char *word)
{
    if (word) lang_guess_try(g, word, strlen(word));
}

static void try_function(void *ctx, const char *name) { try_word(ctx, name); }

static void try_functions(lang_guess *g)
{
    for (const cubed_function *f = cubed_function_next(NULL); f; f = cubed_function_next(f))
        try_word(g, f->name);
    expr_function_each(try_function, g);
    for (int i = 0; i < CUBED_DTYPE_COUNT; i++) try_word(g, cubed_dtype_name((cubed_dtype)i));
}

bool expr_is_function(const char *name)
{
    cubed_dtype dtype;
    return cubed_function_find(name) || expr_find_function(name) ||
           calendar_call_is_function(name) || expr_defined_find(name) ||
           cubed_dtype_parse(name, &dtype, NULL) == CUBED_OK;
}

bool expr_is_along_time(const char *name)
{
    static const expr_function *const tables[] = {expr_climatology_functions, NULL};
    const expr call = {.kind = EXPR_CALL, .text = (char *)name};
    calendar_call unused;
    for (const expr_function *const *t = tables; *t; t++) {
        for (const expr_function *f = *t; f->name; f++) {
            if (strcmp(f->name, name) == 0) return true;
        }
    }
    const expr_definition *d = expr_defined_find(name);
    if (d) return expr_defined_is_along(d);
    return calendar_call_is_function(name) || calendar_call_windows(&call, &unused) ||
           calendar_call_sets(&call, &unused);
}

const char *expr_function_hint(const char *name, char *hint, size_t cap)
{
    char text[GUESS_TEXT];
    lang_guess g;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(names[i].theirs, name) != 0) continue;
        snprintf(hint, cap, ": write %s", names[i].ours);
        return hint;
    }
    lang_guess_init(&g, name);
    try_functions(&g);
    snprintf(hint, cap, "%s", lang_guess_text(&g, text));
    return hint;
}

bool expr_function_describe(const char *name, expr_function_text *out)
{
    cubed_dtype dtype;
    const expr_function *f = expr_find_function(name);
    const expr_definition *d = expr_defined_find(name);
    if (cubed_function_find(name)) return false;
    if (d) {
        expr_defined_usage(d, name, out->usage, sizeof out->usage);
        snprintf(out->summary, sizeof out->summary, "%s", d->summary);
        return true;
    }
    if (f) {
        snprintf(out->usage, sizeof out->usage, "%s%s", f->usage ? f->usage : name,
                 f->usage ? "" : "(x, ...)");
        snprintf(out->summary, sizeof out->summary, "%s",
                 f->usage ? f->summary : "The topics of `cubed help eval` show its arguments.");
        return true;
    }
    if (calendar_call_describe(name, out->usage, sizeof out->usage, out->summary,
                               sizeof out->summary))
        return true;
    if (cubed_dtype_parse(name, &dtype, NULL) != CUBED_OK) return false;
    snprintf(out->usage, sizeof out->usage, "%s(x)", name);
    snprintf(out->summary, sizeof out->summary, "The elements as %s, like astype(x, \"%s\").", name,
             name);
    return true;
}

void expr_function_each(void (*put)(void *ctx, const char *name), void *ctx)
{
    for (const expr_function *const *t = expr_function_tables(); *t; t++) {
        for (const expr_function *f = *t; f->name; f++) {
            if (!cubed_function_find(f->name)) put(ctx, f->name);
        }
    }
    calendar_call_each_function(put, ctx);
    expr_defined_each(put, ctx);
}

unsigned expr_field_kinds(const char *name)
{
    const unsigned lat = 1U << FIELD_LAT, lon = 1U << FIELD_LON;
    const expr_definition *d = expr_defined_find(name);
    if (!d || !d->of_grid) return 0;
    if (strstr(d->body, "latitudes(") || strstr(d->body, "{X")) return lat | lon;
    if (strstr(d->body, "{Y")) return lat;
    return strstr(d->body, "{Z") ? 1U << FIELD_LEVEL : 0;
}

int expr_mask_arrays(const char *name)
{
    const expr_definition *d = expr_defined_find(name);
    return d && d->about > 0 ? expr_defined_arrays(d) : 0;
}

bool expr_is_climate(const char *name)
{
    return expr_is_along_time(name) || expr_defined_find(name) || strcmp(name, "anomaly") == 0;
}

/* Returns the description of the parameter "threshold" of a function. */
static const char *threshold_note(const char *function)
{
    const expr_definition *d = expr_defined_find(function);
    return d && strstr(d->body, "{R")
               ? "Precipitation of a day in mm. It is converted to the units of x."
               : "Temperature in degrees Celsius. It is converted to the units of x.";
}

const char *expr_param_note(const char *function, const char *name)
{
    static const struct {
        const char *name, *note;
    } notes[] = {
        {"x", "Array with coordinates, by the CF conventions."},
        {"y", "Second array, with the dimensions of x."},
        {"c", "Climatology: an element for each group of times, such as a result of ymonmean or "
              "ydaypctl. Dimensions are aligned by name."},
        {"p", "Percentile of the precipitation of wet days, for each grid cell."},
        {"land", "Fraction of each cell that is land, from 0 to 1."},
        {"fraction", "Minimum land fraction of a cell that has a result."},
        {"base", "Temperature in degrees Celsius. It is converted to the units of x."},
        {"speed", "Wind speed in the units of x, which should be m s-1."},
        {"steps", "Number of time steps."},
        {"part", "Part of the dates, such as \"year\", \"month\", \"dayofyear\" or \"hour\"."},
        {"intercept", "Value of the line at the first time, such as a result of trend_intercept."},
        {"slope", "Change of the line per time step, such as a result of trend_slope."},
        {"days", "Minimum length of a spell in days."},
        {"degrees", "Difference from c in kelvins, which each day of a spell exceeds."},
        {"freq",
         "Intervals that have one result each, such as \"YS\" for years. None: one result for all "
         "times."},
        {"dim", "Dimension of the times."},
        {"q", "Percentile, from 0 to 100, or a list of percentiles."},
        {"length",
         "Number of times in a window (run*), or in a set of consecutive times (timsel*)."},
        {"offset", "Number of times before the first set."},
        {"skip", "Number of times between two sets."},
        {"z", "Third array, with the dimensions of x."},
        {"value", "New value of the elements."},
        {"west", "Western longitude of the box in degrees. It may be greater than the eastern "
                 "longitude."},
        {"east", "Eastern longitude of the box in degrees."},
        {"south", "Southern latitude of the box in degrees."},
        {"north", "Northern latitude of the box in degrees."},
        {"x1",
         "First column of the box, counted from 1. If it is greater than the last column, the box "
         "wraps around."},
        {"x2", "Last column of the box."},
        {"y1", "First row of the box, counted from 1."},
        {"y2", "Last row of the box."},
        {"before", "Number of time steps before the month."},
        {"after", "Number of time steps after the month. None: the same number as `before`."},
        {"time", "Times of day such as \"06:00\", or ranges of them."},
        {"groupby",
         "Component of the date that the times of a group share, such as \"time.month\"."},
        {"reference", "First and last date of the times from which means are computed, such as "
                      "(\"1981\", \"2010\"). None: all times."},
        {"skipna",
         "Whether missing values are skipped. None: they are skipped if x has a floating-point "
         "type."},
        {"month", "Numbers of months, ranges such as (6, 8), or lists such as [1, 12]."},
        {"year", "Years, ranges such as (1981, 2010), or lists of them."},
        {"day", "Days of the month, ranges such as (1, 7), or lists of them."},
        {"hour", "Hours, ranges such as (6, 18), or lists of them."},
        {"season", "Initials of 3 to 12 months, such as \"DJF\", or \"ANN\"."},
        {"first", "First date: \"2000-01-15\", \"2000-01\" or \"2000\"."},
        {"last",
         "Last date, whose whole day, month or year is included. None: the same as `first`."},
    };
    if (strcmp(name, "threshold") == 0) return threshold_note(function);
    if (strcmp(name, "day") == 0 && strcmp(function, "delday") == 0)
        return "Days of the month from 1 to 31, or days of the year such as \"5mar\".";
    if (strcmp(name, "q") == 0 && expr_defined_find(function)) return "Percentile, from 0 to 100.";
    for (size_t i = 0; i < sizeof notes / sizeof *notes; i++) {
        if (strcmp(notes[i].name, name) == 0) return notes[i].note;
    }
    return NULL;
}
