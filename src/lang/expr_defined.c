#include "lang/expr_defined.h"

#include <stdio.h>
#include <string.h>

#include "lang/expr_attributes.h"
#include "lang/lang_arrays.h"
#include "lang/lang_memory.h"

/* --- Definitions -------------------------------------------------------------------------------------- */

/* Elements of both arrays where neither is missing, less their means: {p}u and {p}v. */
#define PAIRS(MEAN)                                                                                \
    "{p}o = ({x} == {x}) & ({y} == {y}); {p}a = where({p}o, {x}, nan); "                           \
    "{p}b = where({p}o, {y}, nan); {p}u = {p}a - " MEAN("{p}a") "; {p}v = {p}b - " MEAN(           \
        "{p}b") "; "
#define TIME_MEAN(X) "nanmean(" X ", \"time\", keepdims=True)"
#define AREA_MEAN(X) "fldmean(" X ", keepdims=True)"

/* Steps of time and elements less their means, where no element is missing, and the slope {p}s of the least-squares line. */
#define LINE                                                                                       \
    "{p}t = where({x} == {x}, time_steps({x}), nan); {p}u = {p}t - " TIME_MEAN(                    \
        "{p}t") "; {p}v = {x} - " TIME_MEAN("{x}") "; {p}s = nansum({p}u * {p}v, \"time\", "       \
                                                   "keepdims=True) / "                             \
                                                   "nansum({p}u * {p}u, \"time\", "                \
                                                   "keepdims=True); "

/* Code that sets {p}m to 1 if a condition is true, 0 if it is false, and NaN if x is missing. */
#define HOLDS(CONDITION) "{p}m = where({x} == {x}, where(" CONDITION ", 1.0, 0.0), nan); "

/* Code that sets {p}l to the length of the spell that contains each element. A spell is a run of days on which the condition is
 * true. {p}m is 1 in spells of at least {0} days, 0 outside of them, and NaN if x is missing. */
#define SPELLS(CONDITION)                                                                          \
    "{p}c = " CONDITION "; {p}l = consecsum({p}c) + flip(consecsum(flip({p}c, dim=\"time\")), "    \
    "dim=\"time\") - 1; {p}m = where({x} == {x}, where({p}c & ({p}l >= {0}), 1.0, 0.0), nan); "

#define DAYS(NAME, ALIAS, N, FIRST, CONDITION, LONG_NAME)                                          \
    {                                                                                              \
        .name = (NAME), .alias = (ALIAS), .narrays = 1, .nnumbers = (N), .number = {FIRST},        \
        .body = HOLDS(CONDITION) "{total m}", .rule = CUBED_ATTRS_REDUCE, .method = "sum",         \
        .units = "days", .long_name = (LONG_NAME), .takes_freq = true                              \
    }
/* Defines an index of heat or cold waves. Its first number is the minimum length, in days, of a spell whose days are counted. */
#define WAVES(NAME, ALIAS, N, SECOND, CONDITION, LONG_NAME)                                        \
    {                                                                                              \
        .name = (NAME), .alias = (ALIAS), .narrays = 2, .nnumbers = (N), .number = {6, SECOND},    \
        .body = SPELLS(CONDITION) "{total m}", .rule = CUBED_ATTRS_REDUCE, .method = "sum",        \
        .units = "days", .long_name = (LONG_NAME), .takes_freq = true                              \
    }
#define SHARE(NAME, CONDITION, LONG_NAME)                                                          \
    {                                                                                              \
        .name = (NAME), .narrays = 2, .body = HOLDS(CONDITION) "100 * {mean m}",                   \
        .rule = CUBED_ATTRS_REDUCE, .units = "%", .long_name = (LONG_NAME), .takes_freq = true     \
    }
#define LONGEST(NAME, ALIAS, CONDITION, LONG_NAME)                                                 \
    {                                                                                              \
        .name = (NAME), .alias = (ALIAS), .narrays = 1, .nnumbers = 1, .number = {1},              \
        .body = "{p}c = consecsum(" CONDITION "); {p}m = where({x} == {x}, {p}c, nan); {most m}",  \
        .rule = CUBED_ATTRS_REDUCE, .method = "maximum", .units = "days",                          \
        .long_name = (LONG_NAME), .takes_freq = true                                               \
    }
#define OF_PAIRS(NAME, BODY, RULE, UNITS)                                                          \
    {                                                                                              \
        .name = (NAME), .narrays = 2, .body = (BODY), .rule = CUBED_ATTRS_##RULE, .units = (UNITS) \
    }

/* The share of days above the percentile y of wet days, and their share of all precipitation. */
#define ABOVE "where(({x} == {x}) & ({y} == {y}), where(({x} > {y}) & ({x} >= {R0}), "
#define WET(DAYS_NAME, AMOUNT_NAME)                                                                \
    {.name = (DAYS_NAME),                                                                          \
     .narrays = 2,                                                                                 \
     .number = {1},                                                                                \
     .body = "{p}m = " ABOVE "1.0, 0.0), nan); 100 * {mean m}",                                    \
     .rule = CUBED_ATTRS_REDUCE,                                                                   \
     .units = "%",                                                                                 \
     .long_name = "share of days above a percentile of wet days",                                  \
     .takes_freq = true},                                                                          \
    {                                                                                              \
        .name = (AMOUNT_NAME), .narrays = 2, .number = {1},                                        \
        .body = "{p}m = " ABOVE "{x}, 0.0), nan); {p}k = where({p}m == {p}m, {x}, nan); "          \
                "100 * {total m} / {total k}",                                                     \
        .rule = CUBED_ATTRS_REDUCE, .units = "%",                                                  \
        .long_name = "share of precipitation on days above a percentile of wet days",              \
        .takes_freq = true                                                                         \
    }

static const expr_definition definitions[] = {
    {.name = "yearmonmean",
     .narrays = 1,
     .body = "{p}d = days_in_month({x}); yearsum({x} * {p}d) / "
             "yearsum(where({x} == {x}, {p}d, nan))",
     .rule = CUBED_ATTRS_REDUCE,
     .method = "mean"},
    OF_PAIRS("timcovar", PAIRS(TIME_MEAN) "nanmean({p}u * {p}v, \"time\")", NONE, NULL),
    OF_PAIRS("timcor",
             PAIRS(TIME_MEAN) "nansum({p}u * {p}v, \"time\") / sqrt(nansum({p}u * {p}u, \"time\") "
                              "* nansum({p}v * {p}v, \"time\"))",
             NONE, "1"),
    OF_PAIRS("fldcovar", PAIRS(AREA_MEAN) "fldmean({p}u * {p}v)", NONE, NULL),
    OF_PAIRS("fldcor",
             PAIRS(AREA_MEAN) "fldmean({p}u * {p}v) / "
                              "sqrt(fldmean({p}u * {p}u) * fldmean({p}v * {p}v))",
             NONE, "1"),
    {.name = "regres",
     .alias = "trend_slope",
     .narrays = 1,
     .body = LINE "nansum({p}u * {p}v, \"time\") / nansum({p}u * {p}u, \"time\")",
     .rule = CUBED_ATTRS_NONE},
    {.name = "trend_intercept",
     .narrays = 1,
     .body = LINE "nanmean({x}, \"time\") - nanmean({p}s * {p}t, \"time\")",
     .rule = CUBED_ATTRS_REDUCE},
    {.name = "detrend", .narrays = 1, .body = LINE "{p}v - {p}s * {p}u", .rule = CUBED_ATTRS_SAME},
    {.name = "consecsum",
     .alias = "consecutive",
     .narrays = 1,
     .body = "{p}m = ({x} == {x}) & ({x} != 0); "
             "{p}n = cumulative_sum(where({p}m, 1, 0), dim=\"time\"); "
             "{p}n - cumulative_max(where({p}m, 0, {p}n), dim=\"time\")",
     .rule = CUBED_ATTRS_SAME,
     .units = "1"},
    {.name = "consects",
     .alias = "spell_lengths",
     .narrays = 1,
     .body = "{p}r = flip(consecsum(flip({x}, dim=\"time\")), dim=\"time\"); "
             "where({p}r == 1, consecsum({x}), nan)",
     .rule = CUBED_ATTRS_SAME,
     .units = "1"},
    DAYS("eca_fd", "frost_days", 0, 0, "{x} < {K0}", "days below 0 degrees Celsius"),
    DAYS("eca_id", "ice_days", 0, 0, "{x} < {K0}", "days below 0 degrees Celsius"),
    DAYS("eca_su", "summer_days", 1, 25, "{x} > {K0}", "days above a temperature"),
    DAYS("eca_tr", "tropical_nights", 1, 20, "{x} > {K0}", "nights above a temperature"),
    DAYS("eca_rr1", "wet_days", 1, 1, "{x} >= {R0}", "days with precipitation"),
    DAYS("eca_r1mm", NULL, 0, 1, "{x} >= {R0}", "days with 1 mm or more of precipitation"),
    DAYS("eca_r10mm", "heavy_precipitation_days", 0, 10, "{x} >= {R0}",
         "days with 10 mm or more of precipitation"),
    DAYS("eca_r20mm", "very_heavy_precipitation_days", 0, 20, "{x} >= {R0}",
         "days with 20 mm or more of precipitation"),
    LONGEST("eca_cdd", "consecutive_dry_days", "{x} < {R0}", "longest dry spell"),
    LONGEST("eca_cwd", "consecutive_wet_days", "{x} >= {R0}", "longest wet spell"),
    {.name = "eca_rx1day",
     .alias = "highest_one_day_precipitation",
     .narrays = 1,
     .body = "{p}m = {x}; {most m}",
     .rule = CUBED_ATTRS_REDUCE,
     .method = "maximum",
     .takes_freq = true},
    /* CDO's input are sums of five days already. */
    {.name = "eca_rx5day",
     .narrays = 1,
     .body = "{p}m = {x}; {most m}",
     .rule = CUBED_ATTRS_REDUCE,
     .method = "maximum",
     .takes_freq = true},
    {.name = "highest_five_day_precipitation",
     .narrays = 1,
     .body = "{p}m = runsum({x}, 5); {most m}",
     .rule = CUBED_ATTRS_REDUCE,
     .method = "maximum",
     .takes_freq = true},
    WET("eca_r75p", "eca_r75ptot"),
    WET("eca_r90p", "eca_r90ptot"),
    WET("eca_r95p", "eca_r95ptot"),
    WET("eca_r99p", "eca_r99ptot"),
    {.name = "eca_sdii",
     .alias = "wet_day_intensity",
     .narrays = 1,
     .nnumbers = 1,
     .number = {1},
     .body = "{p}m = where({x} >= {R0}, {x}, nan); {mean m}",
     .rule = CUBED_ATTRS_REDUCE,
     .method = "mean",
     .takes_freq = true},
    WAVES("eca_hwdi", "heat_wave_days", 2, 5, "ydaysub({x}, {y}) > {1}",
          "days of heat waves above the mean of the calendar day"),
    WAVES("eca_cwdi", "cold_wave_days", 2, 5, "ydaysub({x}, {y}) < -{1}",
          "days of cold waves below the mean of the calendar day"),
    WAVES("eca_hwfi", "warm_spell_days", 1, 0, "ydaysub({x}, {y}) > 0",
          "days of spells above a percentile of the calendar day"),
    WAVES("eca_cwfi", "cold_spell_days", 1, 0, "ydaysub({x}, {y}) < 0",
          "days of spells below a percentile of the calendar day"),
    SHARE("eca_tx90p", "ydaysub({x}, {y}) > 0", "share of days above a percentile"),
    SHARE("eca_tg90p", "ydaysub({x}, {y}) > 0", "share of days above a percentile"),
    SHARE("eca_tn90p", "ydaysub({x}, {y}) > 0", "share of days above a percentile"),
    SHARE("eca_tx10p", "ydaysub({x}, {y}) < 0", "share of days below a percentile"),
    SHARE("eca_tg10p", "ydaysub({x}, {y}) < 0", "share of days below a percentile"),
    SHARE("eca_tn10p", "ydaysub({x}, {y}) < 0", "share of days below a percentile"),
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

void expr_defined_guess(lang_guess *g)
{
    for (int i = 0; i < COUNT; i++) {
        lang_guess_list(g, definitions[i].name);
        if (definitions[i].alias) lang_guess_list(g, definitions[i].alias);
    }
}

/* --- Text --------------------------------------------------------------------------------------------- */

/* A temperature in degrees Celsius, in the units of an array. Sets *known to false for other units. */
static double temperature(const char *units, double celsius, bool *known)
{
    *known = *known && units;
    if (units && expr_is_celsius(units)) return celsius;
    *known = *known && units && (strcmp(units, "K") == 0 || strcmp(units, "kelvin") == 0);
    return celsius + 273.15;
}

/* Millimetres per day, in the units of an array. */
static double precipitation(const char *units, double amount, bool *known)
{
    static const struct {
        const char *units;
        double days_per_unit; /* how many mm per day one unit is */
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

/* The reduction {total m}, {most m} or {mean m} of the name `of`. */
static char *reduction(const char *kind, const char *of, const char *freq)
{
    const bool is_total = strcmp(kind, "total") == 0;
    const char *name = is_total ? "sum" : strcmp(kind, "most") == 0 ? "max" : "mean";
    if (freq)
        return lang_printf("%s(%s, resample=\"%s\", dim=\"time\", skipna=True%s)", name, of, freq,
                           is_total ? ", min_count=1" : "");
    if (!is_total) return lang_printf("nan%s(%s, \"time\")", name, of);
    return lang_printf("where(all(%s != %s, dim=\"time\"), nan, nansum(%s, \"time\"))", of, of, of);
}

/* The text in place of a mark. Sets *units to "temperature" or "precipitation" if the mark needs units that are not known. */
static char *replacement(const expr *e, const char *mark, const json_t *attrs, const double *number,
                         const char *freq, const char **units)
{
    const char *own = lang_attribute_text(attrs, "units");
    char kind[16], name[32], of[64];
    bool known = true;
    const int k = mark[1] == '1';
    if (strcmp(mark, "x") == 0 || strcmp(mark, "y") == 0)
        return lang_printf("_%d%s", e->number, mark);
    if (strcmp(mark, "p") == 0) return lang_printf("_%d_", e->number);
    if (sscanf(mark, "%15s %31s", kind, name) == 2) {
        snprintf(of, sizeof of, "_%d_%s", e->number, name);
        return reduction(kind, of, freq);
    }
    double v = number[*mark == '1'];
    if (*mark == 'K') v = temperature(own, number[k], &known);
    if (*mark == 'R') v = precipitation(own, number[k], &known);
    if (!known) *units = *mark == 'K' ? "K or degC" : "mm, mm d-1, m or kg m-2 s-1";
    return lang_printf("%.17g", v);
}

cubed_status expr_defined_text(expr_builder *b, const expr *e, const expr_definition *d,
                               const json_t *attrs, const double *number, const char *freq,
                               char **text)
{
    char *all = lang_strdup("");
    const char *units = NULL;
    for (const char *at = d->body; *at && all;) {
        const size_t plain = strcspn(at, "{");
        char mark[32] = "", *put = NULL, *longer;
        const size_t length = at[plain] ? strcspn(at + plain + 1, "}") : 0;
        snprintf(mark, sizeof mark, "%.*s", (int)length, at[plain] ? at + plain + 1 : "");
        if (*mark) put = replacement(e, mark, attrs, number, freq, &units);
        longer =
            *mark && !put ? NULL : lang_printf("%s%.*s%s", all, (int)plain, at, put ? put : "");
        lang_free(all);
        lang_free(put);
        all = longer;
        at += plain + (at[plain] ? length + 2 : 0);
    }
    if (!all) return expr_fail(b->err, CUBED_E_NOMEM, b->text, e->at, EXPR_NO_MEMORY);
    const char *own = lang_attribute_text(attrs, "units");
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
