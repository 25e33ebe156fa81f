#include "lang/expr_defined.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lang/expr_attributes.h"
#include "lang/lang_arrays.h"
#include "lang/lang_memory.h"

/* --- Definitions -------------------------------------------------------------------------------------- */

/* Code that sets {p}u and {p}v to the elements of both arrays minus their means, where neither element is missing. */
#define PAIRS(MEAN)                                                                                \
    "{p}o = ({x} == {x}) & ({y} == {y}); {p}a = where({p}o, {x}, nan); "                           \
    "{p}b = where({p}o, {y}, nan); {p}u = {p}a - " MEAN("{p}a") "; {p}v = {p}b - " MEAN(           \
        "{p}b") "; "
/* Last sentences of summaries: the effect of missing values on a statistic, and the divisor of a sample variance. */
#define SKIPPED      " Missing values are skipped."
#define NOT_SKIPPED  " Missing values make the result missing."
#define OF_SAMPLE    SKIPPED " The divisor is n - 1."
#define TIME_MEAN(X) "nanmean(" X ", {d}, keepdims=True)"
#define AREA_MEAN(X) "fldmean(" X ", keepdims=True)"

/* Code that sets {p}u and {p}v to time steps and elements minus their means, where the element is not missing. It sets {p}s
 * to the slope of the least-squares line. */
#define LINE                                                                                       \
    "{p}t = where({x} == {x}, time_steps({x}, dim={d}), nan); "                                    \
    "{p}u = {p}t - nanmean({p}t, {d}, keepdims=True); "                                            \
    "{p}v = {x} - nanmean({x}, {d}, keepdims=True); "                                              \
    "{p}w = nansum({p}u * {p}u, {d}, keepdims=True); "                                             \
    "{p}s = nansum({p}u * {p}v, {d}, keepdims=True) / {p}w; "

/* Code that also sets {p}e to the standard error of the slope, and {p}n to the degrees of freedom of the residuals. */
#define ERROR                                                                                      \
    LINE "{p}r = {p}v - {p}s * {p}u; "                                                             \
         "{p}n = nansum(where({p}t == {p}t, 1.0, 0.0), {d}, keepdims=True) - 2; "                  \
         "{p}e = sqrt(nansum({p}r * {p}r, {d}, keepdims=True) / where({p}n > 0, {p}n, nan) "       \
         "/ {p}w); "

/* Code that sets {p}m to 1 if a condition is true, 0 if it is false, and NaN if x is missing. */
#define HOLDS(CONDITION) "{p}m = where({x} == {x}, where(" CONDITION ", 1.0, 0.0), nan); "

/* Code that sets {p}l to the length of the spell that contains each element. A spell is a run of days on which the condition is
 * true. {p}m is 1 in spells of at least {0} days, 0 outside of them, and NaN if x is missing. */
#define SPELLS(CONDITION)                                                                          \
    "{p}c = " CONDITION "; {p}l = consecsum({p}c, dim={d}) + flip(consecsum(flip({p}c, "           \
    "dim={d}), dim={d}), dim={d}) - 1; "                                                           \
    "{p}m = where({x} == {x}, where({p}c & ({p}l >= {0}), 1.0, 0.0), nan); "

#define CLIMATOLOGY "ydaysub({x}, {y}, dim={d})"

#define DAYS(NAME, ALIAS, NUMBER, FIRST, CONDITION, LONG_NAME, SUMMARY)                            \
    {                                                                                              \
        .name = (NAME), .alias = (ALIAS), .arrays = {"x"}, .numbers = {NUMBER}, .number = {FIRST}, \
        .summary = (SUMMARY), .body = HOLDS(CONDITION) "{total m}", .rule = CUBED_ATTRS_REDUCE,    \
        .method = "sum", .units = "days", .long_name = (LONG_NAME), .takes_freq = true             \
    }
/* Defines an index of heat or cold waves. Its first number is the minimum length, in days, of a spell whose days are counted. */
#define WAVES(NAME, ALIAS, NUMBER, SECOND, CONDITION, LONG_NAME, SUMMARY)                          \
    {                                                                                              \
        .name = (NAME), .alias = (ALIAS), .arrays = {"x", "c"}, .numbers = {"days", NUMBER},       \
        .number = {6, SECOND}, .summary = (SUMMARY), .body = SPELLS(CONDITION) "{total m}",        \
        .rule = CUBED_ATTRS_REDUCE, .method = "sum", .units = "days", .long_name = (LONG_NAME),    \
        .takes_freq = true                                                                         \
    }
#define SHARE(NAME, CONDITION, SIDE)                                                               \
    {                                                                                              \
        .name = (NAME), .arrays = {"x", "c"},                                                      \
        .summary = "Percentage of days on which x is " SIDE " c, a percentile of each calendar "   \
                   "day.",                                                                         \
        .body = HOLDS(CONDITION) "100 * {mean m}", .rule = CUBED_ATTRS_REDUCE, .units = "%",       \
        .long_name = "share of days " SIDE " a percentile", .takes_freq = true                     \
    }
#define LONGEST(NAME, ALIAS, NUMBER, FIRST, CONDITION, LONG_NAME, SUMMARY)                         \
    {                                                                                              \
        .name = (NAME), .alias = (ALIAS), .arrays = {"x"}, .numbers = {NUMBER}, .number = {FIRST}, \
        .summary = (SUMMARY),                                                                      \
        .body = "{p}c = consecsum(" CONDITION ", dim={d}); {p}m = where({x} == {x}, {p}c, nan); "  \
                "{most m}",                                                                        \
        .rule = CUBED_ATTRS_REDUCE, .method = "maximum", .units = "days",                          \
        .long_name = (LONG_NAME), .takes_freq = true                                               \
    }
#define LARGEST(NAME, ALIAS, VALUE, SUMMARY)                                                       \
    {                                                                                              \
        .name = (NAME), .alias = (ALIAS), .arrays = {"x"}, .summary = (SUMMARY),                   \
        .body = "{p}m = " VALUE "; {most m}", .rule = CUBED_ATTRS_REDUCE, .method = "maximum",     \
        .takes_freq = true                                                                         \
    }
#define OF_PAIRS(NAME, BODY, UNITS, SUMMARY)                                                       \
    {                                                                                              \
        .name = (NAME), .arrays = {"x", "y"}, .summary = (SUMMARY), .body = (BODY),                \
        .rule = CUBED_ATTRS_NONE, .units = (UNITS)                                                 \
    }
#define WITH_TREND(NAME, SIGN, SUMMARY)                                                            \
    {                                                                                              \
        .name = (NAME), .arrays = {"x", "intercept", "slope"}, .summary = (SUMMARY),               \
        .body = "{x} " SIGN " ({y} + {z} * time_steps({x}, dim={d}))", .rule = CUBED_ATTRS_SAME    \
    }

/* Two indices of days above y, a percentile of wet days: their percentage of all days, and their percentage of the total
 * precipitation. */
#define ABOVE "where(({x} == {x}) & ({y} == {y}), where(({x} > {y}) & ({x} >= {R0}), "
#define WET(DAYS_NAME, AMOUNT_NAME)                                                                \
    {.name = (DAYS_NAME),                                                                          \
     .arrays = {"x", "p"},                                                                         \
     .number = {1},                                                                                \
     .summary = "Percentage of days whose precipitation is at least 1 mm and above p, a "          \
                "percentile of the precipitation of wet days.",                                    \
     .body = "{p}m = " ABOVE "1.0, 0.0), nan); 100 * {mean m}",                                    \
     .rule = CUBED_ATTRS_REDUCE,                                                                   \
     .units = "%",                                                                                 \
     .long_name = "share of days above a percentile of wet days",                                  \
     .takes_freq = true},                                                                          \
    {                                                                                              \
        .name = (AMOUNT_NAME), .arrays = {"x", "p"}, .number = {1},                                \
        .summary = "Percentage of the total precipitation that falls on days whose precipitation " \
                   "is at least 1 mm and above p, a percentile of the precipitation of wet days.", \
        .body = "{p}m = " ABOVE "{x}, 0.0), nan); {p}k = where({p}m == {p}m, {x}, nan); "          \
                "100 * {total m} / {total k}",                                                     \
        .rule = CUBED_ATTRS_REDUCE, .units = "%",                                                  \
        .long_name = "share of precipitation on days above a percentile of wet days",              \
        .takes_freq = true                                                                         \
    }

/* Code for statistics of windows around the same day of all years. They are computed from sums over each window, so that
 * each element is read once, not once per window. {p}s and {p}n are the sum and the number of elements of each window. */
#define RUNS                                                                                       \
    "{p}s = runsum({x}, {0}, dim={d}); {p}n = runsum(where({x} == {x}, ones_like({x}), "           \
    "zeros_like({x})), {0}, dim={d}); {p}k = ydaysum({p}n, dim={d}); "
/* Code that sets {p}q to the sum of squared differences from the mean of the day. It adds the squares within windows and
 * those of the windows' means. */
#define RUN_SQUARES                                                                                \
    RUNS "{p}a = ydaysub(runmean({x}, {0}, dim={d}), ydaysum({p}s, dim={d}) / {p}k, dim={d}); "    \
         "{p}q = ydaysum(runvar({x}, {0}, dim={d}) * {p}n + {p}n * {p}a * {p}a, dim={d}); "
#define YDRUN(STATISTIC, BODY, RULE, METHOD, WHAT, MISSING)                                        \
    {                                                                                              \
        .name = "ydrun" STATISTIC, .arrays = {"x"}, .numbers = {"length"}, .number = {NAN},        \
        .summary = WHAT ", for each day of the year, of the elements of all years in windows of "  \
                        "`length` times around this day, as in CDO." MISSING,                      \
        .body = (BODY), .rule = CUBED_ATTRS_##RULE, .method = (METHOD)                             \
    }

/* Code for growing seasons. In the north a season is a year, in the south it begins in July. {p}n is true in the north, and {p}b
 * in the second half of a season. {p}s and {p}r are the first time step of each year at the end of {0} warm days in a row: {p}s
 * in the first half of a season, {p}r in the second half. {p}z is the last time step of the second half, {p}o the difference
 * between days of the year and time steps, and {p}k is false where the result is missing. Counts of warm days begin at 0 with
 * each season. */
#define SEASONS                                                                                    \
    "{p}n = latitudes({x}) >= 0; {p}t = time_steps({x}, dim={d}); "                                \
    "{p}b = {p}n != (date_part({x}, \"month\", dim={d}) < 7); "                                    \
    "{p}j = time_steps({x}, freq=\"YS\", dim={d}) + 1; "                                           \
    "{p}u = time_steps({x}, freq=\"YS-JUL\", dim={d}) + 1; "                                       \
    "{p}w = minimum(consecsum({x} > {K1}, dim={d}), where({p}n, {p}j, {p}u)) >= {0}; "             \
    "{p}i = date_part({x}, \"dayofyear\", dim={d}) - {p}t; {p}o = {year_min i}; "                  \
    "{p}p = where({p}w & ~{p}b, {p}t, nan); {p}s = {year_min p}; "                                 \
    "{p}q = where({p}w & {p}b, {p}t, nan); {p}r = {year_min q}; "                                  \
    "{p}h = where({p}b, {p}t, nan); {p}l = {year_max h}; {p}z = {later l}; "                       \
    "{p}y = time_steps({p}s, dim={d}); "                                                           \
    "{p}k = ({p}n | ({p}y < max({p}y, {d}, keepdims=True))) & ({y} >= {2}) & "                     \
    "~all({x} != {x}, dim={d}, keepdims=True); "
#define OF_SEASONS(NAME, ALIAS, BODY, UNITS, LONG_NAME, SUMMARY)                                   \
    {                                                                                              \
        .name = (NAME), .alias = (ALIAS), .arrays = {"x", "land"},                                 \
        .numbers = {"days", "threshold", "fraction"}, .number = {6, 5, 0.5}, .summary = (SUMMARY), \
        .body = SEASONS BODY, .rule = CUBED_ATTRS_REDUCE, .units = (UNITS),                        \
        .long_name = (LONG_NAME)                                                                   \
    }

/* Fields of a definition whose function works on the horizontal axes of a grid. */
#define OF_GRID(NAME, BODY, RULE, SUMMARY)                                                         \
    .name = (NAME), .summary = (SUMMARY), .body = (BODY), .rule = CUBED_ATTRS_##RULE,              \
    .keeps_coords = true, .of_grid = true
/* Code that sets {p}b to true for cells in a box. The numbers of the box begin with number I. N is I + 2. The tolerance of 1e-5
 * degrees, about a metre, includes cells on the edge of the box whose coordinates have single precision. */
#define LON_LAT_BOX(I, N)                                                                          \
    "{p}t = latitudes({x}); {p}l = remainder(longitudes({x}) - {" I "} + 1e-5, 360); "             \
    "{p}b = ({p}l <= {W" I "} + 2e-5) & ({p}t >= {L" N "} - 1e-5) & ({p}t <= {H" N "} + 1e-5); "
/* Code that sets {p}b to true for cells in a box of cell numbers. A box whose first column is beyond its last column wraps
 * around: then one of the two conditions on columns suffices. */
#define INDEX_BOX(I, J, K, N)                                                                      \
    "{p}c = time_steps({x}, dim={X}) + 1; {p}r = time_steps({x}, dim={Y}) + 1; "                   \
    "{p}n = where({p}c >= {X" I "}, 1, 0) + where({p}c <= {X" J "}, 1, 0); "                       \
    "{p}b = ({p}n >= {N" I "}) & ({p}r >= {Y" K "}) & ({p}r <= {Y" N "}); "
/* Defines a comparison of two arrays. Its result is 1 or 0, and missing if an element is missing. */
#define COMPARISON(NAME, SIGN)                                                                     \
    {                                                                                              \
        .name = (NAME), .arrays = {"x", "y"},                                                      \
        .summary = "1 where x " SIGN " y, 0 where not, and missing where x or y is missing.",      \
        .body = "where(({x} == {x}) & ({y} == {y}), where({x} " SIGN " {y}, 1.0, 0.0), nan)",      \
        .rule = CUBED_ATTRS_SAME, .units = "1", .of_grid = true                                    \
    }
/* Functions of a mask. An element of the mask is true if it is not 0. If an element of the mask is missing, the result is
 * missing. */
#define WITH_MASK(NAME, BODY, ABOUT, SUMMARY)                                                      \
    .name = (NAME), .summary = (SUMMARY), .body = (BODY), .rule = CUBED_ATTRS_SAME,                \
    .about = (ABOUT), .of_grid = true

/* A statistic of all times, with CDO's name. */
#define TIM(STATISTIC, BODY, RULE, METHOD, WHAT, MISSING)                                          \
    {                                                                                              \
        .name = "tim" STATISTIC, .arrays = {"x"},                                                  \
        .summary = WHAT " of the elements at all times, as in CDO." MISSING, .body = (BODY),       \
        .rule = CUBED_ATTRS_##RULE, .method = (METHOD)                                             \
    }
/* The range of the elements in each period: FAMILY max minus FAMILY min, such as monmax minus monmin. */
#define RANGE(FAMILY, WHERE)                                                                       \
    {                                                                                              \
        .name = FAMILY "range", .arrays = {"x"},                                                   \
        .summary = "Maximum minus minimum of the elements " WHERE ", as in CDO." SKIPPED,          \
        .body = FAMILY "max({x}, dim={d}) - " FAMILY "min({x}, dim={d})",                          \
        .rule = CUBED_ATTRS_REDUCE, .method = "range"                                              \
    }

/* The number of elements in each period that are not missing. */
#define COUNT(FAMILY, WHERE)                                                                       \
    {                                                                                              \
        .name = FAMILY "count", .arrays = {"x"},                                                   \
        .summary = "Number of elements " WHERE " that are not missing, as in CDO. The number is "  \
                   "missing if all elements are missing.",                                         \
        .body = FAMILY "sum(where({x} == {x}, 1.0, nan), dim={d})", .rule = CUBED_ATTRS_REDUCE,    \
        .method = "sum", .units = "1"                                                              \
    }
/* A mean of monthly values, weighted by the lengths of months. Missing values have no weight, or make the mean missing. */
#define OF_MONTHS(FAMILY, WHAT)                                                                    \
    {.name = FAMILY "monmean",                                                                     \
     .arrays = {"x"},                                                                              \
     .summary = WHAT " means of monthly values, weighted by the lengths of months." SKIPPED,       \
     .body = "{p}d = days_in_month({x}, dim={d}); " FAMILY "sum({x} * {p}d, dim={d}) / " FAMILY    \
             "sum(where({x} == {x}, {p}d, nan), dim={d})",                                         \
     .rule = CUBED_ATTRS_REDUCE,                                                                   \
     .method = "mean"},                                                                            \
    {                                                                                              \
        .name = FAMILY "monavg", .arrays = {"x"},                                                  \
        .summary =                                                                                 \
            WHAT " means of monthly values, weighted by the lengths of months." NOT_SKIPPED,       \
        .body = "{p}d = days_in_month({x}, dim={d}) + 0 * {x}; " FAMILY                            \
                "avg({x} * {p}d, dim={d}) / " FAMILY "avg({p}d, dim={d})",                         \
        .rule = CUBED_ATTRS_REDUCE, .method = "mean"                                               \
    }
/* Code that sets {p}n to the number of elements along axes of a grid that are not missing, {p}u to the elements minus their mean,
 * and {p}s to the sum of their squares. FAMILY is "fld", "zon" or "mer". Elements have equal weights, as in CDO. */
#define DEVIATIONS(FAMILY)                                                                         \
    "{p}o = where({x} == {x}, 1.0, 0.0); {p}x = astype({x}, \"float64\"); "                        \
    "{p}n = " FAMILY "sum({p}o); {p}u = {p}x - " FAMILY "sum({p}x, keepdims=True) / " FAMILY       \
    "sum({p}o, keepdims=True); {p}s = " FAMILY "sum({p}u * {p}u); "
#define SHAPES(FAMILY, WHERE)                                                                      \
    {.name = FAMILY "median",                                                                      \
     .arrays = {"x"},                                                                              \
     .summary = "Median of the elements " WHERE "." SKIPPED,                                       \
     .body = "{p}n = -{x}; 0.5 * (" FAMILY "pctl({x}, 50) - " FAMILY "pctl({p}n, 50))",            \
     .rule = CUBED_ATTRS_REDUCE,                                                                   \
     .method = "median",                                                                           \
     .of_grid = true},                                                                             \
        {.name = FAMILY "skew",                                                                    \
         .arrays = {"x"},                                                                          \
         .summary = "Skewness of the elements " WHERE ", all with the same weight, as in CDO: "    \
                    "the mean cube of their deviations from the mean, divided by the cube of the " \
                    "sample standard deviation." SKIPPED,                                          \
         .body = DEVIATIONS(FAMILY) "{p}v = {p}s / where({p}n > 1, {p}n - 1, nan); " FAMILY        \
                                    "sum({p}u * {p}u * {p}u) / {p}n / ({p}v * sqrt({p}v))",        \
         .rule = CUBED_ATTRS_NONE,                                                                 \
         .units = "1",                                                                             \
         .of_grid = true},                                                                         \
    {                                                                                              \
        .name = FAMILY "kurt", .arrays = {"x"},                                                    \
        .summary = "Excess kurtosis (kurtosis minus 3) of the elements " WHERE                     \
                   ", all with the same weight, as in CDO." SKIPPED,                               \
        .body = DEVIATIONS(FAMILY) "{p}v = {p}s / {p}n; " FAMILY                                   \
                                   "sum({p}u * {p}u * {p}u * {p}u) / {p}n / ({p}v * {p}v) - 3",    \
        .rule = CUBED_ATTRS_NONE, .units = "1", .of_grid = true                                    \
    }
/* The number of days with wind of at least a given speed. */
#define WIND(NAME, SPEED, WHAT)                                                                    \
    DAYS(NAME, NULL, "speed", SPEED, "{x} >= {0}", "days with a " WHAT,                            \
         "Number of days with a " WHAT ": the maximum wind speed x of the day, in m s-1, is at "   \
         "least `speed`.")

static const expr_definition definitions[] = {
    TIM("mean", "nanmean({x}, {d})", REDUCE, "mean", "The mean", SKIPPED),
    TIM("avg", "mean({x}, {d})", REDUCE, "mean", "The mean", NOT_SKIPPED),
    TIM("min", "nanmin({x}, {d})", REDUCE, "minimum", "The minimum", SKIPPED),
    TIM("max", "nanmax({x}, {d})", REDUCE, "maximum", "The maximum", SKIPPED),
    TIM("range", "nanmax({x}, {d}) - nanmin({x}, {d})", REDUCE, "range",
        "The maximum minus the minimum", SKIPPED),
    TIM("sum", "where(all({x} != {x}, dim={d}), nan, nansum({x}, {d}))", REDUCE, "sum", "The sum",
        SKIPPED),
    TIM("var", "nanvar({x}, {d})", SQUARE, "variance", "The variance", SKIPPED),
    TIM("var1", "nanvar({x}, {d}, correction=1)", SQUARE, "variance", "The variance", OF_SAMPLE),
    TIM("std", "nanstd({x}, {d})", REDUCE, "standard_deviation", "The standard deviation", SKIPPED),
    TIM("std1", "nanstd({x}, {d}, correction=1)", REDUCE, "standard_deviation",
        "The standard deviation", OF_SAMPLE),
    {.name = "timpctl",
     .arrays = {"x"},
     .numbers = {"q"},
     .number = {NAN},
     .summary = "The percentile q, from 0 to 100, of the elements at all times, by the method "
                "\"nearest rank\" of CDO." SKIPPED,
     .body = "nanpercentile({x}, {0}, dim={d}, method=\"inverted_cdf\")",
     .rule = CUBED_ATTRS_REDUCE},
    RANGE("hour", "in each hour"),
    RANGE("day", "on each day"),
    RANGE("mon", "in each month"),
    RANGE("seas", "in each season"),
    RANGE("year", "in each year"),
    RANGE("yday", "of all times with the same day of the year"),
    RANGE("ymon", "of all times with the same month of the year"),
    RANGE("yseas", "of all times with the same season"),
    RANGE("yhour", "of all times with the same hour of the year"),
    RANGE("dhour", "of all times with the same hour of the day"),
    {.name = "timselrange",
     .arrays = {"x"},
     .numbers = {"length", "offset", "skip"},
     .number = {NAN, 0, 0},
     .summary = "Maximum minus minimum of each set of `length` successive times, as in CDO. The "
                "first `offset` times, and `skip` times between two sets, are left out.",
     .body = "timselmax({x}, {0}, {1}, {2}, dim={d}) - timselmin({x}, {0}, {1}, {2}, dim={d})",
     .rule = CUBED_ATTRS_REDUCE,
     .method = "range"},
    {.name = "timcumsum",
     .arrays = {"x"},
     .summary =
         "Sum of the elements up to and including each time. A missing element counts as 0, as "
         "in CDO.",
     .body = "cumulative_sum(where({x} == {x}, {x}, 0), dim={d})",
     .rule = CUBED_ATTRS_SAME,
     .keeps_coords = true},
    {.name = "muldpm",
     .arrays = {"x"},
     .summary = "Elements times the number of days in the month of their time, as in CDO.",
     .body = "{x} * days_in_month({x}, dim={d})",
     .rule = CUBED_ATTRS_SAME,
     .keeps_coords = true},
    {.name = "divdpm",
     .arrays = {"x"},
     .summary = "Elements divided by the number of days in the month of their time, as in CDO.",
     .body = "{x} / days_in_month({x}, dim={d})",
     .rule = CUBED_ATTRS_SAME,
     .keeps_coords = true},
    {.name = "muldpy",
     .arrays = {"x"},
     .summary = "Elements times the number of days in the year of their time, as in CDO.",
     .body = "{x} * days_in_year({x}, dim={d})",
     .rule = CUBED_ATTRS_SAME,
     .keeps_coords = true},
    {.name = "divdpy",
     .arrays = {"x"},
     .summary = "Elements divided by the number of days in the year of their time, as in CDO.",
     .body = "{x} / days_in_year({x}, dim={d})",
     .rule = CUBED_ATTRS_SAME,
     .keeps_coords = true},
    {OF_GRID("mulcoslat", "{x} * cos(latitudes({x}) * 0.017453292519943295)", SAME,
             "Elements times the cosine of the latitude of their cell."),
     .arrays = {"x"}},
    {OF_GRID("divcoslat", "{x} / cos(latitudes({x}) * 0.017453292519943295)", SAME,
             "Elements divided by the cosine of the latitude of their cell."),
     .arrays = {"x"}},
    {OF_GRID("masklonlatbox", LON_LAT_BOX("0", "2") "where({p}b, {x}, nan)", SAME,
             "Elements in a box of longitudes and latitudes. Elements outside of the box become "
             "missing."),
     .arrays = {"x"}, .numbers = {"west", "east", "south", "north"},
     .number = {NAN, NAN, NAN, NAN}},
    {OF_GRID(
         "setclonlatbox", LON_LAT_BOX("1", "3") "where({p}b, {0}, {x})", SAME,
         "The elements, except that all elements in a box of longitudes and latitudes are replaced "
         "by one value."),
     .arrays = {"x"}, .numbers = {"value", "west", "east", "south", "north"},
     .number = {NAN, NAN, NAN, NAN, NAN}},
    {OF_GRID(
         "maskindexbox", INDEX_BOX("0", "1", "2", "3") "where({p}b, {x}, nan)", SAME,
         "Elements in a box of columns and rows, which are counted from 1. Elements outside of the "
         "box become missing."),
     .arrays = {"x"}, .numbers = {"x1", "x2", "y1", "y2"}, .number = {NAN, NAN, NAN, NAN}},
    {OF_GRID(
         "setcindexbox", INDEX_BOX("1", "2", "3", "4") "where({p}b, {0}, {x})", SAME,
         "The elements, except that all elements in a box of columns and rows, which are counted "
         "from 1, are replaced by one value."),
     .arrays = {"x"}, .numbers = {"value", "x1", "x2", "y1", "y2"},
     .number = {NAN, NAN, NAN, NAN, NAN}},
    {.name = "sellonlatbox",
     .arrays = {"x"},
     .numbers = {"west", "east", "south", "north"},
     .number = {NAN, NAN, NAN, NAN},
     .summary = "The elements in a box of longitudes and latitudes. Longitude and latitude must be "
                "axes of x.",
     .body = "sel({x}, {X=}({0}, {1}), {Y=}({2}, {3}))",
     .rule = CUBED_ATTRS_SAME,
     .of_grid = true},
    {.name = "invertlat",
     .arrays = {"x"},
     .summary = "The elements in the reverse order of latitudes.",
     .body = "flip({x}, dim={Y})",
     .rule = CUBED_ATTRS_SAME,
     .of_grid = true},
    {.name = "invertlon",
     .arrays = {"x"},
     .summary = "The elements in the reverse order of longitudes.",
     .body = "flip({x}, dim={X})",
     .rule = CUBED_ATTRS_SAME,
     .of_grid = true},
    {.name = "invertlev",
     .arrays = {"x"},
     .summary = "The elements in the reverse order of levels.",
     .body = "flip({x}, dim={Z})",
     .rule = CUBED_ATTRS_SAME,
     .of_grid = true},
    COMPARISON("eq", "=="),
    COMPARISON("ne", "!="),
    COMPARISON("le", "<="),
    COMPARISON("lt", "<"),
    COMPARISON("ge", ">="),
    COMPARISON("gt", ">"),
    {WITH_MASK("ifthen", "where(({x} == {x}) & ({x} != 0), {y}, nan)", 1,
               "Elements of y where the mask x is not 0. All other elements are missing."),
     .arrays = {"x", "y"}},
    {WITH_MASK("ifnotthen", "where({x} == 0, {y}, nan)", 1,
               "Elements of y where the mask x is 0. All other elements are missing."),
     .arrays = {"x", "y"}},
    {WITH_MASK(
         "ifthenelse", "where({x} == {x}, where({x} != 0, {y}, {z}), nan)", 1,
         "Elements of y where the mask x is not 0, and elements of z where x is 0. The result is "
         "missing where x is missing."),
     .arrays = {"x", "y", "z"}},
    {WITH_MASK("ifthenc", "where(({x} == {x}) & ({x} != 0), {0}, nan)", 0,
               "The number `value` where x is not 0. All other elements are missing."),
     .arrays = {"x"}, .numbers = {"value"}, .number = {NAN}},
    {WITH_MASK("ifnotthenc", "where({x} == 0, {0}, nan)", 0,
               "The number `value` where x is 0. All other elements are missing."),
     .arrays = {"x"}, .numbers = {"value"}, .number = {NAN}},
    {.name = "runrange",
     .arrays = {"x"},
     .numbers = {"length"},
     .number = {NAN},
     .summary = "Maximum minus minimum of the elements in windows of `length` times, as in CDO.",
     .body = "runmax({x}, {0}, dim={d}) - runmin({x}, {0}, dim={d})",
     .rule = CUBED_ATTRS_REDUCE,
     .method = "range"},
    YDRUN("mean", RUNS "ydaysum({p}s, dim={d}) / {p}k", REDUCE, "mean", "The mean", SKIPPED),
    YDRUN("avg", "ydayavg(runavg({x}, {0}, dim={d}), dim={d})", REDUCE, "mean", "The mean",
          NOT_SKIPPED),
    YDRUN("sum", "ydaysum(runsum({x}, {0}, dim={d}), dim={d})", REDUCE, "sum", "The sum", SKIPPED),
    YDRUN("min", "ydaymin(runmin({x}, {0}, dim={d}), dim={d})", REDUCE, "minimum", "The minimum",
          SKIPPED),
    YDRUN("max", "ydaymax(runmax({x}, {0}, dim={d}), dim={d})", REDUCE, "maximum", "The maximum",
          SKIPPED),
    YDRUN("var", RUN_SQUARES "{p}q / {p}k", SQUARE, "variance", "The variance", SKIPPED),
    YDRUN("var1", RUN_SQUARES "{p}q / where({p}k > 1, {p}k - 1, nan)", SQUARE, "variance",
          "The variance", OF_SAMPLE),
    YDRUN("std", RUN_SQUARES "sqrt({p}q / {p}k)", REDUCE, "standard_deviation",
          "The standard deviation", SKIPPED),
    YDRUN("std1", RUN_SQUARES "sqrt({p}q / where({p}k > 1, {p}k - 1, nan))", REDUCE,
          "standard_deviation", "The standard deviation", OF_SAMPLE),
    OF_MONTHS("year", "Yearly"),
    OF_MONTHS("seas", "Seasonal"),
    COUNT("tim", "at all times"),
    COUNT("hour", "in each hour"),
    COUNT("day", "on each day"),
    COUNT("mon", "in each month"),
    COUNT("seas", "in each season"),
    COUNT("year", "in each year"),
    {.name = "fldcount",
     .arrays = {"x"},
     .summary = "Number of elements of the field that are not missing, as in CDO.",
     .body = "fldsum(where({x} == {x}, 1.0, 0.0))",
     .rule = CUBED_ATTRS_REDUCE,
     .method = "sum",
     .units = "1",
     .of_grid = true},
    SHAPES("fld", "of the field"),
    SHAPES("zon", "of each row of longitudes"),
    SHAPES("mer", "of each column of latitudes"),
    OF_PAIRS("timrmsd", "{p}e = {x} - {y}; sqrt(nanmean({p}e * {p}e, {d}))", NULL,
             "Root mean square of the difference of two series, over the times at which both have "
             "values."),
    OF_PAIRS("fldrms", "{p}e = {x} - {y}; sqrt(fldmean({p}e * {p}e))", NULL,
             "Root mean square of the difference of two fields, weighted by area, over the cells "
             "where both have values."),
    OF_PAIRS("timcovar", PAIRS(TIME_MEAN) "nanmean({p}u * {p}v, {d})", NULL,
             "Covariance of two series, over the times at which both have values."),
    OF_PAIRS("timcor",
             PAIRS(TIME_MEAN) "nansum({p}u * {p}v, {d}) / sqrt(nansum({p}u * {p}u, {d}) "
                              "* nansum({p}v * {p}v, {d}))",
             "1", "Correlation of two series, over the times at which both have values."),
    OF_PAIRS("fldcovar", PAIRS(AREA_MEAN) "fldmean({p}u * {p}v)", NULL,
             "Covariance of two fields, weighted by area, over the cells where both have values."),
    OF_PAIRS("fldcor",
             PAIRS(AREA_MEAN) "fldmean({p}u * {p}v) / "
                              "sqrt(fldmean({p}u * {p}u) * fldmean({p}v * {p}v))",
             "1",
             "Correlation of two fields, weighted by area, over the cells where both have values."),
    {.name = "regres",
     .alias = "trend_slope",
     .arrays = {"x"},
     .summary = "Slope of the least-squares line of each series, per time step.",
     .body = LINE "nansum({p}u * {p}v, {d}) / nansum({p}u * {p}u, {d})",
     .rule = CUBED_ATTRS_NONE},
    {.name = "trend_intercept",
     .arrays = {"x"},
     .summary = "Value of the least-squares line of each series at the first time.",
     .body = LINE "nanmean({x}, {d}) - nanmean({p}s * {p}t, {d})",
     .rule = CUBED_ATTRS_REDUCE},
    {.name = "trend_stderr",
     .arrays = {"x"},
     .summary = "Standard error of the slope of the least-squares line, per time step.",
     .body = ERROR "squeeze({p}e, {d})",
     .rule = CUBED_ATTRS_NONE},
    {.name = "trend_pvalue",
     .arrays = {"x"},
     .summary =
         "Two-sided p-value of the slope of the least-squares line, by Student's t test of the "
         "hypothesis that there is no trend.",
     .body = ERROR "squeeze(2 * stdtr({p}n, -abs({p}s / {p}e)), {d})",
     .rule = CUBED_ATTRS_NONE,
     .units = "1"},
    {.name = "detrend",
     .arrays = {"x"},
     .summary = "Elements minus the least-squares line of their series.",
     .body = LINE "{p}v - {p}s * {p}u",
     .rule = CUBED_ATTRS_SAME},
    WITH_TREND(
        "subtrend", "-",
        "Elements minus a line: x - (intercept + slope * step), where `step` is the number of "
        "the time step, counted from 0."),
    WITH_TREND(
        "addtrend", "+",
        "Elements plus a line: x + (intercept + slope * step), where `step` is the number of "
        "the time step, counted from 0."),
    {.name = "consecsum",
     .alias = "consecutive",
     .arrays = {"x"},
     .summary = "Number of consecutive elements that are true or not 0, up to and including each "
                "element. A missing element counts as 0.",
     .body = "{p}m = ({x} == {x}) & ({x} != 0); "
             "{p}n = cumulative_sum(where({p}m, 1, 0), dim={d}); "
             "{p}n - cumulative_max(where({p}m, 0, {p}n), dim={d})",
     .rule = CUBED_ATTRS_SAME,
     .units = "1"},
    {.name = "consects",
     .alias = "spell_lengths",
     .arrays = {"x"},
     .summary = "Length of each spell of consecutive elements that are true or not 0, at the last "
                "element of the spell. All other elements are missing.",
     .body = "{p}r = flip(consecsum(flip({x}, dim={d}), dim={d}), dim={d}); "
             "where({p}r == 1, consecsum({x}, dim={d}), nan)",
     .rule = CUBED_ATTRS_SAME,
     .units = "1"},
    {.name = "lag",
     .arrays = {"x"},
     .numbers = {"steps"},
     .number = {1},
     .summary = "The element `steps` time steps before each element, or after it if `steps` is "
                "negative. The result is missing where there is no such time step.",
     .body = "{p}t = time_steps({x}, dim={d}); {p}s = {p}t - {0}; "
             "where(({p}s >= 0) & ({p}s <= max({p}t)), roll({x}, {0}, dim={d}), nan)",
     .rule = CUBED_ATTRS_SAME,
     .keeps_coords = true},
    DAYS("eca_fd", "frost_days", NULL, 0, "{x} < {K0}", "days below 0 degrees Celsius",
         "Number of days whose minimum temperature is below 0 degrees Celsius."),
    DAYS("eca_id", "ice_days", NULL, 0, "{x} < {K0}", "days below 0 degrees Celsius",
         "Number of days whose maximum temperature is below 0 degrees Celsius."),
    DAYS("eca_su", "summer_days", "threshold", 25, "{x} > {K0}", "days above a temperature",
         "Number of days whose maximum temperature is above `threshold` degrees Celsius."),
    DAYS("eca_tr", "tropical_nights", "threshold", 20, "{x} > {K0}", "nights above a temperature",
         "Number of days whose minimum temperature is above `threshold` degrees Celsius."),
    DAYS("eca_rr1", "wet_days", "threshold", 1, "{x} >= {R0}", "days with precipitation",
         "Number of days with at least `threshold` mm of precipitation."),
    DAYS("eca_r1mm", NULL, NULL, 1, "{x} >= {R0}", "days with 1 mm or more of precipitation",
         "Number of days with 1 mm or more of precipitation."),
    DAYS("eca_r10mm", "heavy_precipitation_days", NULL, 10, "{x} >= {R0}",
         "days with 10 mm or more of precipitation",
         "Number of days with 10 mm or more of precipitation."),
    DAYS("eca_r20mm", "very_heavy_precipitation_days", NULL, 20, "{x} >= {R0}",
         "days with 20 mm or more of precipitation",
         "Number of days with 20 mm or more of precipitation."),
    WIND("strwin", 10.5, "strong wind"),
    WIND("strbre", 10.5, "strong breeze"),
    WIND("strgal", 20.5, "strong gale"),
    WIND("hurr", 32.5, "wind of hurricane force"),
    LONGEST("eca_cdd", "consecutive_dry_days", "threshold", 1, "{x} < {R0}", "longest dry spell",
            "Largest number of consecutive days with less than `threshold` mm of precipitation."),
    LONGEST("eca_cwd", "consecutive_wet_days", "threshold", 1, "{x} >= {R0}", "longest wet spell",
            "Largest number of consecutive days with at least `threshold` mm of precipitation."),
    LONGEST("eca_csu", "consecutive_summer_days", "threshold", 25, "{x} > {K0}",
            "longest spell of summer days",
            "Largest number of consecutive days whose maximum temperature is above `threshold` "
            "degrees Celsius."),
    LONGEST("eca_cfd", "consecutive_frost_days", NULL, 0, "{x} < {K0}",
            "longest spell of frost days",
            "Largest number of consecutive days whose minimum temperature is below 0 degrees "
            "Celsius."),
    {.name = "eca_hd",
     .alias = "heating_degree_days",
     .arrays = {"x"},
     .numbers = {"base"},
     .number = {17},
     .summary = "Sum of base - x over all days whose mean temperature x is below `base` degrees "
                "Celsius.",
     .body = "{p}m = where({x} == {x}, where({x} < {K0}, {K0} - {x}, 0.0), nan); {total m}",
     .rule = CUBED_ATTRS_REDUCE,
     .method = "sum",
     .units = "K d",
     .long_name = "heating degree days",
     .takes_freq = true},
    {.name = "eca_etr",
     .alias = "extreme_temperature_range",
     .arrays = {"x", "y"},
     .summary = "Largest maximum temperature x minus the smallest minimum temperature y.",
     .body = "{p}m = {x}; {p}n = -{y}; {most m} + {most n}",
     .rule = CUBED_ATTRS_REDUCE,
     .method = "range",
     .takes_freq = true},
    LARGEST("eca_rx1day", "highest_one_day_precipitation", "{x}",
            "Largest precipitation of one day."),
    /* CDO's eca_rx5day expects an input that already has the sums of five days. */
    LARGEST("eca_rx5day", NULL, "{x}",
            "Largest element of x, which holds sums of precipitation over five days, as in CDO."),
    LARGEST("highest_five_day_precipitation", NULL, "runsum({x}, 5, dim={d})",
            "Largest precipitation of five consecutive days."),
    WET("eca_r75p", "eca_r75ptot"),
    WET("eca_r90p", "eca_r90ptot"),
    WET("eca_r95p", "eca_r95ptot"),
    WET("eca_r99p", "eca_r99ptot"),
    {.name = "eca_sdii",
     .alias = "wet_day_intensity",
     .arrays = {"x"},
     .numbers = {"threshold"},
     .number = {1},
     .summary = "Mean precipitation of the days with at least `threshold` mm of precipitation.",
     .body = "{p}m = where({x} >= {R0}, {x}, nan); {mean m}",
     .rule = CUBED_ATTRS_REDUCE,
     .method = "mean",
     .takes_freq = true},
    WAVES("eca_hwdi", "heat_wave_days", "degrees", 5, CLIMATOLOGY " > {1}",
          "days of heat waves above the mean of the calendar day",
          "Number of days in spells of at least `days` days that are more than `degrees` kelvins "
          "warmer than c, the mean of each calendar day."),
    WAVES("eca_cwdi", "cold_wave_days", "degrees", 5, CLIMATOLOGY " < -{1}",
          "days of cold waves below the mean of the calendar day",
          "Number of days in spells of at least `days` days that are more than `degrees` kelvins "
          "colder than c, the mean of each calendar day."),
    WAVES("eca_hwfi", "warm_spell_days", NULL, 0, CLIMATOLOGY " > 0",
          "days of spells above a percentile of the calendar day",
          "Number of days in spells of at least `days` days above c, a percentile of each calendar "
          "day."),
    WAVES("eca_cwfi", "cold_spell_days", NULL, 0, CLIMATOLOGY " < 0",
          "days of spells below a percentile of the calendar day",
          "Number of days in spells of at least `days` days below c, a percentile of each calendar "
          "day."),
    /* {p}e and {p}f are the first time steps at the end of {0} cold days in a row, after {p}s and after {p}r. Without such days,
     * the season ends with its last time step. */
    OF_SEASONS(
        "eca_gsl", "growing_season_length",
        "{p}c = minimum(consecsum({x} < {K1}, dim={d}), minimum({p}j, {p}u)) >= {0}; "
        "{p}g = where({p}c & {p}b, {p}t, nan); {p}e = {year_min g}; "
        "{p}v = where(yearsub({p}g, {p}r, dim={d}) > 0, {p}g, nan); {p}f = {year_min v}; "
        "{p}m = where(~{p}b, {p}t, nan); {p}a = {year_max m}; "
        "{p}d = where({p}s == {p}s, {later e}, {later f}); "
        "{p}w0 = where({p}z == {p}z, {p}z, {p}a); "
        "{p}w1 = where({p}d == {p}d, {p}d, {p}w0) - where({p}s == {p}s, {p}s, {later r}); "
        "{p}w2 = where({p}w0 == {p}w0, 0.0, nan); "
        "where({p}k, where({p}w1 == {p}w1, {p}w1, {p}w2), nan)",
        "days", "growing season length",
        "Length of the growing season of each year in days. It begins at the end of the first "
        "`days` days in a row above `threshold` degrees Celsius, and ends at the end of the first "
        "`days` days in a row below it in the second half of the season. In the southern "
        "hemisphere, seasons begin in July."),
    OF_SEASONS(
        "growing_season_start", NULL,
        "{p}v = {p}r + {p}o; {p}e = where({p}s == {p}s, {p}s + {p}o, {later v}); "
        "where({p}k, {p}e, nan)",
        "1", "day of the year on which the growing season begins",
        "Day of the year on which the growing season of eca_gsl begins: the last of the first "
        "`days` days in a row above `threshold` degrees Celsius."),
    SHARE("eca_tx90p", CLIMATOLOGY " > 0", "above"),
    SHARE("eca_tg90p", CLIMATOLOGY " > 0", "above"),
    SHARE("eca_tn90p", CLIMATOLOGY " > 0", "above"),
    SHARE("eca_tx10p", CLIMATOLOGY " < 0", "below"),
    SHARE("eca_tg10p", CLIMATOLOGY " < 0", "below"),
    SHARE("eca_tn10p", CLIMATOLOGY " < 0", "below"),
};

enum { COUNT = sizeof definitions / sizeof *definitions };

const expr_definition *expr_defined_find(const char *name)
{
    for (int i = 0; i < COUNT; i++) {
        const expr_definition *d = &definitions[i];
        if (strcmp(d->name, name) == 0 || (d->alias && strcmp(d->alias, name) == 0)) return d;
    }
    return NULL;
}

void expr_defined_each(void (*put)(void *ctx, const char *name), void *ctx)
{
    for (int i = 0; i < COUNT; i++) {
        put(ctx, definitions[i].name);
        if (definitions[i].alias) put(ctx, definitions[i].alias);
    }
}

int expr_defined_arrays(const expr_definition *d)
{
    int n = 0;
    while (n < DEFINED_MOST_ARRAYS && d->arrays[n]) n++;
    return n;
}

int expr_defined_numbers(const expr_definition *d)
{
    int n = 0;
    while (n < DEFINED_MOST_NUMBERS && d->numbers[n]) n++;
    return n;
}

bool expr_defined_is_along(const expr_definition *d)
{
    return strncmp(d->name, "fld", 3) != 0 && !d->of_grid;
}

const char *expr_defined_dim(const expr *e)
{
    const expr *dim = expr_keyword(e, "dim");
    return dim && dim->kind == EXPR_STRING ? dim->text : "time";
}

/* Appends to a string that has room for `cap` bytes. Truncates the result if it is too long. */
static void append(char *text, size_t cap, const char *fmt, ...) CUBED_PRINTF(3, 4);
static void append(char *text, size_t cap, const char *fmt, ...)
{
    const size_t n = strlen(text);
    va_list args;
    va_start(args, fmt);
    vsnprintf(text + n, cap - n, fmt, args);
    va_end(args);
}

void expr_defined_usage(const expr_definition *d, const char *name, char *usage, size_t cap)
{
    snprintf(usage, cap, "%s(", name);
    for (int i = 0; i < expr_defined_arrays(d); i++)
        append(usage, cap, "%s%s", i > 0 ? ", " : "", d->arrays[i]);
    for (int i = 0; i < expr_defined_numbers(d); i++) {
        append(usage, cap, ", %s", d->numbers[i]);
        if (!isnan(d->number[i])) append(usage, cap, "=%g", d->number[i]);
    }
    if (d->takes_freq) append(usage, cap, ", freq=None");
    append(usage, cap, "%s)", expr_defined_is_along(d) ? ", dim=\"time\"" : "");
}

/* --- Text --------------------------------------------------------------------------------------------- */

/* Converts a temperature in degrees Celsius to the units of an array. Sets *known to false if the units are neither degrees
 * Celsius nor kelvin. */
static double temperature(const char *units, double celsius, bool *known)
{
    *known = *known && units;
    if (units && expr_is_celsius(units)) return celsius;
    *known = *known && units && (strcmp(units, "K") == 0 || strcmp(units, "kelvin") == 0);
    return celsius + 273.15;
}

/* Converts millimetres per day to the units of an array. Sets *known to false if the units are not in the list. */
static double precipitation(const char *units, double amount, bool *known)
{
    static const struct {
        const char *units;
        double days_per_unit; /* millimetres per day in one unit */
    } list[] = {{"mm", 1},         {"mm d-1", 1},       {"mm day-1", 1},
                {"mm/day", 1},     {"mm/d", 1},         {"kg m-2", 1},
                {"kg m-2 d-1", 1}, {"kg m-2 day-1", 1}, {"kg m-2 s-1", 86400},
                {"mm s-1", 86400}, {"mm/s", 86400},     {"m", 1000}};
    for (size_t i = 0; units && i < sizeof list / sizeof *list; i++) {
        if (strcmp(list[i].units, units) == 0) return amount / list[i].days_per_unit;
    }
    *known = false;
    return amount;
}

/* Returns the call that replaces {year_min m}, {year_max m} or {later m} in a body. `of` is the name of its operand. Returns NULL
 * for other words. */
static char *of_years(const char *kind, const char *of, int number, const char *dim)
{
    if (strncmp(kind, "year_", 5) == 0)
        return lang_printf("%s(%s, resample=\"YS\", dim=\"%s\", skipna=True)", kind + 5, of, dim);
    if (strcmp(kind, "later") != 0) return NULL;
    return lang_printf("where(_%d_n, %s, lag(%s, -1, dim=\"%s\"))", number, of, of, dim);
}

/* Returns the call that replaces {total m}, {most m} or {mean m} in a body. `of` is the name of its operand. */
static char *reduction(const char *kind, const char *of, const char *freq, const char *dim)
{
    const bool is_total = strcmp(kind, "total") == 0;
    const char *name = is_total ? "sum" : strcmp(kind, "most") == 0 ? "max" : "mean";
    if (freq)
        return lang_printf("%s(%s, resample=\"%s\", dim=\"%s\", skipna=True%s)", name, of, freq,
                           dim, is_total ? ", min_count=1" : "");
    if (!is_total) return lang_printf("nan%s(%s, \"%s\")", name, of, dim);
    return lang_printf("where(all(%s != %s, dim=\"%s\"), nan, nansum(%s, \"%s\"))", of, of, dim, of,
                       dim);
}

/* Returns the degrees from a western to an eastern longitude: 20 from 350 to 10, 360 from -180 to 180. */
static double width_of(double west, double east)
{
    const double d = fmod(east - west, 360);
    if (east - west >= 360) return 360;
    return d < 0 ? d + 360 : d;
}

/* Converts number `digit` of the call, a position along an axis, to a position from 1. Negative numbers count from the end.
 * Returns 0 if the axis has no such position. */
static int64_t cell_number(const defined_values *values, defined_axis axis, int digit)
{
    const double given = values->number[digit - '0'];
    const int64_t extent = values->extent[axis];
    if (given != floor(given) || fabs(given) > (double)extent) return 0;
    return (int64_t)given + (given < 0 ? extent + 1 : 0);
}

/* Returns the string that replaces a mark. If the mark needs units that are not known, sets *units to "temperature" or
 * "precipitation". */
static char *replacement(const expr *e, const char *mark, const defined_values *values,
                         const char **units)
{
    static const char axes[] = "XYZ";
    const double *number = values->number;
    const char *own = lang_attribute_text(values->attrs, "units"), *freq = values->freq;
    const char *axis = strchr(axes, *mark);
    char kind[16], name[32], of[64];
    bool known = true;
    if (strcmp(mark, "d") == 0) return lang_printf("\"%s\"", expr_defined_dim(e));
    if (strlen(mark) == 1 && strchr("xyz", *mark)) return lang_printf("_%d%s", e->number, mark);
    if (axis && isdigit((unsigned char)mark[1]))
        return lang_printf("%lld",
                           (long long)cell_number(values, (defined_axis)(axis - axes), mark[1]));
    if (axis) return lang_printf(mark[1] == '=' ? "%s=" : "\"%s\"", values->axis[axis - axes]);
    if (strcmp(mark, "p") == 0) return lang_printf("_%d_", e->number);
    if (sscanf(mark, "%15s %31s", kind, name) == 2) {
        snprintf(of, sizeof of, "_%d_%s", e->number, name);
        char *yearly = of_years(kind, of, e->number, expr_defined_dim(e));
        return yearly || strcmp(kind, "later") == 0 || strncmp(kind, "year_", 5) == 0
                   ? yearly
                   : reduction(kind, of, freq, expr_defined_dim(e));
    }
    const double *at = &number[mark[strlen(mark) - 1] - '0'], given = *at;
    double v = given;
    if (*mark == 'L') v = fmin(at[0], at[1]);
    if (*mark == 'H') v = fmax(at[0], at[1]);
    if (*mark == 'N')
        v = cell_number(values, DEFINED_X, mark[1]) <= cell_number(values, DEFINED_X, mark[1] + 1)
                ? 2
                : 1;
    if (*mark == 'W') v = width_of(at[0], at[1]);
    if (*mark == 'K') v = temperature(own, given, &known);
    if (*mark == 'R') v = precipitation(own, given, &known);
    if (!known) *units = *mark == 'K' ? "K or degC" : "mm, mm d-1, m or kg m-2 s-1";
    return lang_printf("%.17g", v);
}

/* Fails if the body has a mark of an axis that the array does not have. */
static cubed_status check_axes(expr_builder *b, const expr *e, const expr_definition *d,
                               const defined_values *values)
{
    static const char *const marks[DEFINED_AXES] = {"{X", "{Y", "{Z"};
    static const char *const nouns[DEFINED_AXES] = {"an axis of longitudes", "an axis of latitudes",
                                                    "an axis of levels"};
    for (int k = 0; k < DEFINED_AXES; k++) {
        if (!strstr(d->body, marks[k]) || values->axis[k]) continue;
        return expr_fail(b->err, CUBED_E_ARG, b->text, e->child[0]->at,
                         "%s: the array has no axis of that kind, expected %s, which a coordinate "
                         "with the attributes of CF names",
                         e->text, nouns[k]);
    }
    for (const char *at = d->body; (at = strchr(at, '{')); at++) {
        const char *axis = strchr("XY", at[1]);
        if (!axis || !isdigit((unsigned char)at[2])) continue;
        const defined_axis k = *axis == 'X' ? DEFINED_X : DEFINED_Y;
        if (cell_number(values, k, at[2]) > 0) continue;
        return expr_fail(b->err, CUBED_E_INDEX, b->text, e->at,
                         "%s: %s is %g, expected 1 to %lld, the number of cells along \"%s\", or "
                         "a negative number that counts from the end",
                         e->text, d->numbers[at[2] - '0'], values->number[at[2] - '0'],
                         (long long)values->extent[k], values->axis[k]);
    }
    return CUBED_OK;
}

cubed_status expr_defined_text(expr_builder *b, const expr *e, const expr_definition *d,
                               const defined_values *values, char **text)
{
    EXPR_TRY(check_axes(b, e, d, values));
    char *all = lang_strdup("");
    const char *units = NULL;
    for (const char *at = d->body; *at && all;) {
        const size_t plain = strcspn(at, "{");
        char mark[32] = "", *put = NULL, *longer;
        const size_t length = at[plain] ? strcspn(at + plain + 1, "}") : 0;
        snprintf(mark, sizeof mark, "%.*s", (int)length, at[plain] ? at + plain + 1 : "");
        if (*mark) put = replacement(e, mark, values, &units);
        longer =
            *mark && !put ? NULL : lang_printf("%s%.*s%s", all, (int)plain, at, put ? put : "");
        lang_free(all);
        lang_free(put);
        all = longer;
        at += plain + (at[plain] ? length + 2 : 0);
    }
    if (!all) return expr_fail(b->err, CUBED_E_NOMEM, b->text, e->at, EXPR_NO_MEMORY);
    const char *own = lang_attribute_text(values->attrs, "units");
    if (units) {
        lang_free(all);
        return expr_fail(b->err, CUBED_E_ARG, b->text, e->at,
                         "%s: the array has the units \"%.60s\", expected %s: state them with "
                         "set_attrs(x, units=\"...\")",
                         e->text, own ? own : "", units);
    }
    *text = all;
    return CUBED_OK;
}
