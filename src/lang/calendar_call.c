#include "lang/calendar_call.h"

#include <stdio.h>
#include <string.h>

#include "lang/order_names.h"

static const struct {
    date_part part;
    const char *name;
} parts[] = {{YEAR, "year"},
             {QUARTER, "quarter"},
             {SEASON, "season"},
             {MONTH, "month"},
             {WEEK_DAY, "dayofweek"},
             {WEEK_DAY, "weekday"},
             {DAY_OF_YEAR, "dayofyear"},
             {HOUR_OF_YEAR, "hourofyear"},
             {DAY, "day"},
             {HOUR, "hour"},
             {MINUTE, "minute"},
             {SECOND, "second"}};
static const struct {
    const char *component, *frequency, *prefix;
} families[] = {{"dayofyear", NULL, "yday"}, {"hourofyear", NULL, "yhour"}, {"hour", NULL, "dhour"},
                {"month", NULL, "ymon"},     {"season", NULL, "yseas"},     {NULL, "h", "hour"},
                {NULL, "D", "day"},          {NULL, "MS", "mon"},           {NULL, "YS", "year"},
                {NULL, "QS-DEC", "seas"}};

/* Reductions by the suffix of the function's name. All except "avg" skip missing values. If all values are missing, a sum is
 * missing. std1 and var1 divide by n - 1. */
static const struct {
    const char *suffix, *reduction;
    bool skip_nan;
    double correction;
    int64_t min_count;
} family_reductions[] = {{"mean", "mean", true, 0, 0}, {"avg", "mean", false, 0, 0},
                         {"min", "min", true, 0, 0},   {"max", "max", true, 0, 0},
                         {"sum", "sum", true, 0, 1},   {"std", "std", true, 0, 0},
                         {"std1", "std", true, 1, 0},  {"var", "var", true, 0, 0},
                         {"var1", "var", true, 1, 0},  {"pctl", "percentile", true, 0, 0}};

bool calendar_call_statistic(const char *suffix, calendar_call *c)
{
    for (size_t k = 0; k < sizeof family_reductions / sizeof *family_reductions; k++) {
        if (strcmp(suffix, family_reductions[k].suffix) != 0) continue;
        c->reduction = family_reductions[k].reduction;
        c->skip_nan = family_reductions[k].skip_nan;
        c->correction = family_reductions[k].correction;
        c->min_count = family_reductions[k].min_count;
        c->method = "inverted_cdf"; /* NumPy's name of the method that CDO calls "nearest rank" */
        return true;
    }
    return false;
}

/* Splits a name such as "monmean" into a family and a reduction. */
static bool find_family(const char *name, calendar_call *c)
{
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        const size_t n = strlen(families[i].prefix);
        if (strncmp(name, families[i].prefix, n) != 0) continue;
        *c = (calendar_call){.component = families[i].component,
                             .frequency = families[i].frequency,
                             .only = true,
                             .by_date =
                                 families[i].component && strstr(families[i].component, "ofyear"),
                             .in_time_order = true};
        if (calendar_call_statistic(name + n, c)) return true;
    }
    return false;
}

bool calendar_call_is_function(const char *name)
{
    calendar_call unused;
    return find_family(name, &unused);
}

void calendar_call_each_function(void (*put)(void *ctx, const char *name), void *ctx)
{
    char name[16];
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        for (size_t k = 0; k < sizeof family_reductions / sizeof *family_reductions; k++) {
            snprintf(name, sizeof name, "%s%s", families[i].prefix, family_reductions[k].suffix);
            put(ctx, name);
        }
    }
}

/* Returns the word for a reduction in a description of a function. */
static const char *reduction_word(const char *reduction)
{
    static const char *const words[][2] = {{"max", "maximum"},
                                           {"min", "minimum"},
                                           {"std", "standard deviation"},
                                           {"var", "variance"},
                                           {"percentile", "percentile q"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcmp(reduction, words[i][0])) return words[i][1];
    return reduction;
}

/* Returns the word for a frequency or a part of dates in a description of a function. */
static const char *period_word(const char *period)
{
    static const char *const words[][2] = {{"h", "hour"},
                                           {"D", "day"},
                                           {"MS", "month"},
                                           {"YS", "year"},
                                           {"QS-DEC", "season"},
                                           {"dayofyear", "day of the year"},
                                           {"month", "month of the year"},
                                           {"hour", "hour of the day"},
                                           {"hourofyear", "hour of the year"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcmp(period, words[i][0])) return words[i][1];
    return period;
}

bool calendar_call_describe(const char *name, char *usage, size_t usage_cap, char *purpose,
                            size_t purpose_cap)
{
    calendar_call c;
    if (!find_family(name, &c)) return false;
    const bool takes_q = order_name_takes_q(c.reduction);
    snprintf(usage, usage_cap, "%s(x%s, dim=\"time\")", name, takes_q ? ", q" : "");
    const int n =
        snprintf(purpose, purpose_cap, "The %s of the elements of %s %s, as in CDO.",
                 reduction_word(c.reduction), c.component ? "all times with the same" : "each",
                 period_word(c.component ? c.component : c.frequency));
    if (n < 0 || (size_t)n >= purpose_cap) return true;
    snprintf(purpose + n, purpose_cap - (size_t)n, " Missing values %s.%s",
             c.skip_nan ? "are skipped" : "make the result missing",
             c.correction != 0 ? " The divisor is n - 1." : "");
    return true;
}

void calendar_call_guess(lang_guess *g)
{
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) lang_guess_list(g, parts[i].name);
}

bool date_part_find(const char *name, date_part *out)
{
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (strcmp(parts[i].name, name) != 0) continue;
        *out = parts[i].part;
        return true;
    }
    return false;
}

static const char *string_of(const expr *e) { return e && e->kind == EXPR_STRING ? e->text : NULL; }

/* Splits a dimension such as "time.month" into its name and a part of dates. */
static void split_component(calendar_call *c, const char *dim)
{
    const char *dot = c->component ? strchr(c->component, '.') : NULL;
    c->dim = dim ? dim : "time";
    c->ndim = strlen(c->dim);
    if (!dot) return;
    c->dim = c->component;
    c->ndim = (size_t)(dot - c->component);
    c->component = dot + 1;
}

bool calendar_call_anomaly(const expr *e, calendar_call *c)
{
    const bool is_second = e->n > 1 && e->child[1]->kind != EXPR_KEYWORD;
    const expr *by = is_second ? e->child[1] : expr_keyword(e, "groupby");
    *c = (calendar_call){.reduction = "mean", .component = string_of(by), .skip_nan = true};
    split_component(c, string_of(expr_keyword(e, "dim")));
    return c->component && !(is_second && expr_keyword(e, "groupby"));
}

bool calendar_call_find(const expr *e, calendar_call *c)
{
    const expr *by = expr_keyword(e, "groupby"), *every = expr_keyword(e, "resample");
    const char *dim = string_of(expr_keyword(e, "dim"));
    const bool is_resample = strcmp(e->text, "resample") == 0;
    bool is_named = true; /* the function is a reduction, or a member of a family such as monmean */
    date_part part;
    *c = (calendar_call){.reduction = NULL};
    if (strcmp(e->text, "anomaly") == 0)
        return false; /* anomaly subtracts the means of its groups instead of returning them */
    if (!find_family(e->text, c)) {
        if (is_resample || (strcmp(e->text, "groupby") == 0 && e->n > 1)) {
            if (e->n < 3 || !string_of(e->child[1])) return false;
            if (is_resample) every = e->child[1];
            if (!is_resample) by = e->child[1];
            c->reduction = string_of(e->child[2]);
            is_named = false;
        } else {
            c->reduction = e->text;
        }
        if (!by == !every) return false;
        c->component = string_of(by);
        c->frequency = string_of(every);
        if (!c->reduction || (!c->component && !c->frequency)) return false;
    }
    const char *dot = c->component ? strchr(c->component, '.') : NULL;
    if (c->component && !dot && !date_part_find(c->component, &part)) return false;
    c->most = is_named ? 1 : 3;
    if (is_named && order_name_takes_q(c->reduction)) {
        c->most = 2;
        if (e->n > 1 && e->child[1]->kind != EXPR_KEYWORD) c->q = e->child[1];
    }
    split_component(c, dim);
    return true;
}

int calendar_call_axis(const cubed_array *x, const calendar_call *c)
{
    for (int d = 0; d < cubed_array_ndim(x); d++) {
        const char *name = cubed_array_dim_name(x, d);
        if (name && strlen(name) == c->ndim && strncmp(name, c->dim, c->ndim) == 0) return d;
    }
    return -1;
}

const calendar_operation *calendar_call_operation(const char *name)
{
#define OPERATIONS(FAMILY)                                                                         \
    {                                                                                              \
        {FAMILY, CUBED_OP_ADD, CUBED_ATTRS_SAME}, {FAMILY, CUBED_OP_SUBTRACT, CUBED_ATTRS_SAME},   \
            {FAMILY, CUBED_OP_MULTIPLY, CUBED_ATTRS_SCALE},                                        \
        {                                                                                          \
            FAMILY, CUBED_OP_DIVIDE, CUBED_ATTRS_SCALE                                             \
        }                                                                                          \
    }
    static const char suffixes[4][4] = {"add", "sub", "mul", "div"};
    static const char *const prefixes[FAMILY_COUNT] = {"ymon", "yseas", "yday", "yhour",
                                                       "mon",  "day",   "year"};
    static const calendar_operation operations[FAMILY_COUNT][4] = {
        OPERATIONS(FAMILY_YMON),  OPERATIONS(FAMILY_YSEAS), OPERATIONS(FAMILY_YDAY),
        OPERATIONS(FAMILY_YHOUR), OPERATIONS(FAMILY_MON),   OPERATIONS(FAMILY_DAY),
        OPERATIONS(FAMILY_YEAR)};
#undef OPERATIONS
    for (int i = 0; i < FAMILY_COUNT; i++) {
        const size_t n = strlen(prefixes[i]);
        if (strncmp(name, prefixes[i], n) != 0) continue;
        for (int k = 0; k < 4; k++) {
            if (strcmp(name + n, suffixes[k]) == 0) return &operations[i][k];
        }
    }
    return NULL;
}

const char *calendar_call_selection(const char *name)
{
    static const struct {
        const char *name, *part;
    } selections[] = {{"selmon", "month"},   {"selmonth", "month"},   {"select_month", "month"},
                      {"selyear", "year"},   {"select_year", "year"}, {"selday", "day"},
                      {"select_day", "day"}, {"selhour", "hour"},     {"select_hour", "hour"},
                      {"selseas", "season"}, {"selseason", "season"}, {"select_season", "season"},
                      {"seldate", "date"},   {"select_date", "date"}, {"seltime", "time"}};
    for (size_t i = 0; i < sizeof selections / sizeof *selections; i++) {
        if (strcmp(selections[i].name, name) == 0) return selections[i].part;
    }
    return NULL;
}

bool calendar_call_sets(const expr *e, calendar_call *c)
{
    static const char prefix[] = "timsel";
    const size_t n = sizeof prefix - 1;
    *c = (calendar_call){.only = true};
    if (strncmp(e->text, prefix, n) != 0 || !calendar_call_statistic(e->text + n, c)) return false;
    split_component(c, string_of(expr_keyword(e, "dim")));
    return true;
}

bool calendar_call_windows(const expr *e, calendar_call *c)
{
    static const char *const prefixes[] = {"ydrun", "run"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        const size_t n = strlen(prefixes[i]);
        if (strncmp(e->text, prefixes[i], n) != 0) continue;
        *c = (calendar_call){
            .component = i == 0 ? "dayofyear" : NULL, .only = true, .by_date = i == 0};
        if (!calendar_call_statistic(e->text + n, c)) return false;
        split_component(c, string_of(expr_keyword(e, "dim")));
        return true;
    }
    return false;
}

const char *calendar_call_reduction(const expr *e, const cubed_array *x, int *axis)
{
    calendar_call c;
    if (e->kind != EXPR_CALL ||
        (!calendar_call_find(e, &c) && !calendar_call_windows(e, &c) && !calendar_call_sets(e, &c)))
        return NULL;
    *axis = calendar_call_axis(x, &c);
    return c.reduction;
}
