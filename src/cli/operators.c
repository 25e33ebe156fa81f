#include "operators.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "lang/function_hints.h"
#include "lang/lang_memory.h"

enum { MOST_ARGUMENTS = 4096, MOST_POSITIONS = 1 << 20 };

/* An operator. In the body, %V stands for the value, %D for the quoted dimension, %P for all arguments as text, and %1 to %4 for
 * single arguments. */
typedef struct operator_row {
    const char *name;
    operator_kind kind;
    int least, most;      /* number of arguments; `most` -1: unlimited */
    const char *expected; /* description of the arguments, for messages */
    const char *body;
} operator_row;

#define VALUES(NAME, NUMBERS, EXPECTED, BODY)                                                      \
    {                                                                                              \
        NAME, OPERATOR_VALUES, NUMBERS, NUMBERS, EXPECTED, BODY                                    \
    }
/* 1 or 0 if the comparison is true or false, as in CDO; missing values stay missing. */
#define COMPARISON(NAME, SIGN)                                                                     \
    VALUES(NAME, 1, "a number", "where(%V == %V, where(%V " SIGN " %1, 1.0, 0.0), nan)")

static const operator_row rows[] = {
    VALUES("addc", 1, "a number", "(%V + %1)"),
    VALUES("subc", 1, "a number", "(%V - %1)"),
    VALUES("mulc", 1, "a number", "(%V * %1)"),
    VALUES("divc", 1, "a number", "(%V / %1)"),
    VALUES("minc", 1, "a number", "minimum(%V, %1)"),
    VALUES("maxc", 1, "a number", "maximum(%V, %1)"),
    VALUES("sqr", 0, "no arguments", "(%V * %V)"),
    VALUES("ln", 0, "no arguments", "log(%V)"),
    VALUES("int", 0, "no arguments", "trunc(%V)"),
    VALUES("nint", 0, "no arguments",
           "where(abs(%V - trunc(%V)) >= 0.5, trunc(%V) + sign(%V), trunc(%V))"),
    VALUES("reci", 0, "no arguments", "(1 / %V)"),
    VALUES("not", 0, "no arguments", "where(%V == %V, where(%V == 0, 1.0, 0.0), nan)"),
    COMPARISON("eqc", "=="),
    COMPARISON("nec", "!="),
    COMPARISON("lec", "<="),
    COMPARISON("ltc", "<"),
    COMPARISON("gec", ">="),
    COMPARISON("gtc", ">"),
    VALUES("setmisstoc", 1, "a number", "where(%V == %V, %V, %1)"),
    VALUES("setctomiss", 1, "a number", "where(%V == %1, nan, %V)"),
    VALUES("setvals", 2, "two numbers: an old and a new value", "where(%V == %1, %2, %V)"),
    VALUES("setrtomiss", 2, "two numbers", "where((%V >= %1) & (%V <= %2), nan, %V)"),
    VALUES("setvrange", 2, "two numbers", "where((%V >= %1) & (%V <= %2), %V, nan)"),
    VALUES("setrtoc", 3, "three numbers", "where((%V >= %1) & (%V <= %2), %3, %V)"),
    VALUES("setrtoc2", 4, "four numbers",
           "where(%V == %V, where((%V >= %1) & (%V <= %2), %3, %4), nan)"),
    {"selname", OPERATOR_VARIABLES, 1, -1, "names of variables", NULL},
    {"delname", OPERATOR_VARIABLES, 1, -1, "names of variables", NULL},
    {"selvar", OPERATOR_VARIABLES, 1, -1, "names of variables", NULL},
    {"sellevel", OPERATOR_SELECT, 1, -1, "levels", NULL},
    {"sellevidx", OPERATOR_SELECT, 1, -1, "numbers of levels, from 1", NULL},
    {"seltimestep", OPERATOR_SELECT, 1, -1, "numbers of time steps such as 1/12 or -1", NULL},
    {"sellonlatbox", OPERATOR_SELECT, 4, 4, "WEST,EAST,SOUTH,NORTH", NULL},
    {"selindexbox", OPERATOR_SELECT, 4, 4, "numbers of X1,X2,Y1,Y2, from 1", NULL},
    {"mergetime", OPERATOR_JOIN, 0, 0, "no arguments", NULL},
    {"cat", OPERATOR_JOIN, 0, 0, "no arguments", NULL},
    {"merge", OPERATOR_MERGE, 0, 0, "no arguments", NULL},
    {"ensmean", OPERATOR_ENSEMBLE, 0, 0, "no arguments", "nanmean(%V, dim=%D)"},
    {"ensavg", OPERATOR_ENSEMBLE, 0, 0, "no arguments", "mean(%V, dim=%D)"},
    {"ensmin", OPERATOR_ENSEMBLE, 0, 0, "no arguments", "nanmin(%V, dim=%D)"},
    {"ensmax", OPERATOR_ENSEMBLE, 0, 0, "no arguments", "nanmax(%V, dim=%D)"},
    /* As in CDO, the sum is missing if all values are missing. */
    {"enssum", OPERATOR_ENSEMBLE, 0, 0, "no arguments",
     "where(all(isnan(%V), dim=%D), nan, nansum(%V, dim=%D))"},
    {"ensrange", OPERATOR_ENSEMBLE, 0, 0, "no arguments",
     "(nanmax(%V, dim=%D) - nanmin(%V, dim=%D))"},
    {"ensmedian", OPERATOR_ENSEMBLE, 0, 0, "no arguments", "nanmedian(%V, dim=%D)"},
    {"ensstd", OPERATOR_ENSEMBLE, 0, 0, "no arguments", "nanstd(%V, dim=%D)"},
    {"ensstd1", OPERATOR_ENSEMBLE, 0, 0, "no arguments", "nanstd(%V, dim=%D, correction=1)"},
    {"ensvar", OPERATOR_ENSEMBLE, 0, 0, "no arguments", "nanvar(%V, dim=%D)"},
    {"ensvar1", OPERATOR_ENSEMBLE, 0, 0, "no arguments", "nanvar(%V, dim=%D, correction=1)"},
    /* divides by the cube of the sample standard deviation, as in CDO */
    {"ensskew", OPERATOR_ENSEMBLE, 0, 0, "no arguments",
     "(nanmean((%V - nanmean(%V, dim=%D, keepdims=True)) ** 3, dim=%D) / "
     "nanvar(%V, dim=%D, correction=1) ** 1.5)"},
    {"enskurt", OPERATOR_ENSEMBLE, 0, 0, "no arguments",
     "(nanmean((%V - nanmean(%V, dim=%D, keepdims=True)) ** 4, dim=%D) / nanvar(%V, dim=%D) ** 2 - "
     "3)"},
    {"enspctl", OPERATOR_ENSEMBLE, 1, 1, "a number from 0 to 100",
     "nanpercentile(%V, %P, dim=%D, method=\"inverted_cdf\")"},
    {"splitname", OPERATOR_SPLIT, 0, 0, "no arguments", NULL},
    {"splitlevel", OPERATOR_SPLIT, 0, 0, "no arguments", NULL},
    {"splityear", OPERATOR_SPLIT, 0, 0, "no arguments", NULL},
    {"splitmon", OPERATOR_SPLIT, 0, 0, "no arguments", NULL},
    {"splityearmon", OPERATOR_SPLIT, 0, 0, "no arguments", NULL},
    {"splitsel", OPERATOR_SPLIT, 1, 1, "a number of time steps", NULL}};
enum { ROWS = sizeof rows / sizeof *rows };

static const operator_row *find(const char *spec)
{
    const size_t n = strcspn(spec, ",");
    for (int i = 0; i < ROWS; i++) {
        if (strlen(rows[i].name) != n || strncmp(rows[i].name, spec, n) != 0) continue;
        /* use this table for all selections, because they need the axes of their input */
        return rows[i].kind != OPERATOR_SELECT && expr_is_function(rows[i].name) ? NULL : &rows[i];
    }
    return NULL;
}

operator_kind operator_find(const char *spec)
{
    const operator_row *row = find(spec);
    return row ? row->kind : OPERATOR_NONE;
}

void operator_each(void (*fn)(void *ctx, const char *name), void *ctx)
{
    for (int i = 0; i < ROWS; i++) fn(ctx, rows[i].name);
}

const char *operator_arguments(const char *spec)
{
    const char *comma = strchr(spec, ',');
    return comma ? comma + 1 : "";
}

/* --- Arguments ---------------------------------------------------------------------------------------- */

typedef struct arguments {
    int n;
    char **word;
} arguments;

static arguments split(const char *text)
{
    arguments a = {0, NULL};
    if (!*text) return a;
    for (;; text++) {
        const size_t n = strcspn(text, ",");
        a.word = cli_resize(a.word, (size_t)(a.n + 1) * sizeof *a.word);
        a.word[a.n++] = cli_printf("%.*s", (int)n, text);
        text += n;
        if (!*text || a.n == MOST_ARGUMENTS) return a;
    }
}

static void free_arguments(arguments *a)
{
    for (int i = 0; i < a->n; i++) cli_free(a->word[i]);
    cli_free(a->word);
}

static char *expected(const operator_row *row, const char *given)
{
    return cli_printf("%s,%s: expected %s", row->name, given, row->expected);
}

char *operator_check(const char *spec)
{
    const operator_row *row = find(spec);
    arguments a = split(operator_arguments(spec));
    bool ok = a.n >= row->least && (row->most < 0 || a.n <= row->most);
    for (int i = 0; i < a.n; i++) ok = ok && *a.word[i];
    free_arguments(&a);
    return ok ? NULL : expected(row, operator_arguments(spec));
}

static bool is_number(const char *text)
{
    char *end;
    const double v = strtod(text, &end);
    return end != text && !*end && isfinite(v);
}

/* --- Positions ---------------------------------------------------------------------------------------- */

typedef struct positions {
    int64_t n, *at;
} positions;

static int by_position(const void *left, const void *right)
{
    const int64_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

/* Reads positions N, FIRST/LAST or FIRST/LAST/STEP, which count from 1, or from the end if negative. Appends them as positions
 * from 0 among `length` elements. Returns false for other strings. If a position does not exist, sets *absent to true and *beyond
 * to the position. */
static bool read_numbers(const char *text, int64_t length, positions *p, int64_t *beyond,
                         bool *absent)
{
    int64_t v[3] = {0, 0, 1};
    int n = 0;
    for (; n < 3; n++) {
        if (!lang_parse_int(&text, &v[n])) return false;
        if (*text != '/') break;
        text++;
    }
    if (*text || n == 3 || v[2] < 1) return false;
    if (n == 0) v[1] = v[0];
    for (int i = 0; i < 2; i++) {
        const bool outside = v[i] == 0 || v[i] > length || v[i] < -length;
        if (outside && !*absent) *beyond = v[i];
        *absent = *absent || outside;
        if (v[i] < 0) v[i] += length + 1;
    }
    if (*absent || v[0] > v[1]) return *absent;
    for (int64_t i = v[0]; i <= v[1]; i += v[2]) {
        if (p->n == MOST_POSITIONS) return false;
        if ((p->n & (p->n - 1)) == 0)
            p->at = cli_resize(p->at, (size_t)(p->n ? 2 * p->n : 1) * sizeof *p->at);
        p->at[p->n++] = i - 1;
    }
    return true;
}

/* Returns the expression VALUE[:, ..., FIRST:BEHIND:STEP], which slices along axis d. */
static char *slice_text(const char *value, int d, int64_t first, int64_t behind, int64_t step)
{
    char *all = cli_printf("%s[", value);
    for (int k = 0; k < d; k++) {
        char *longer = cli_printf("%s:, ", all);
        cli_free(all);
        all = longer;
    }
    char *done = cli_printf("%s%" PRId64 ":%" PRId64 ":%" PRId64 "]", all, first, behind, step);
    cli_free(all);
    return done;
}

/* Returns an expression for the elements at sorted positions along axis d: a slice, or a concatenation of ranges. */
static char *positions_text(const char *value, int d, const positions *p)
{
    const int64_t step = p->n > 1 ? p->at[1] - p->at[0] : 1;
    bool even = true;
    for (int64_t i = 1; i < p->n; i++) even = even && p->at[i] - p->at[i - 1] == step;
    if (even) return slice_text(value, d, p->at[0], p->at[p->n - 1] + 1, step);
    char *all = cli_strdup("concat([");
    for (int64_t i = 0, end; i < p->n; i = end) {
        for (end = i + 1; end < p->n && p->at[end] == p->at[end - 1] + 1; end++) continue;
        char *part = slice_text(value, d, p->at[i], p->at[end - 1] + 1, 1);
        char *longer = cli_printf("%s%s%s", all, i ? ", " : "", part);
        cli_free(part);
        cli_free(all);
        all = longer;
    }
    char *done = cli_printf("%s], axis=%d)", all, d);
    cli_free(all);
    return done;
}

/* Selects elements along axis d by their positions. */
static char *select_numbers(const operator_row *row, const char *given, const arguments *a,
                            const operator_axes *axes, int d, const char *value, char **wrong)
{
    positions p = {0, NULL};
    int64_t beyond = 0, n = 0;
    bool ok = true, absent = false;
    for (int i = 0; i < a->n && ok && !absent; i++)
        ok = read_numbers(a->word[i], axes->length[d], &p, &beyond, &absent);
    if (absent)
        *wrong = cli_printf("%s,%s: dimension \"%s\" has %" PRId64 " elements, so number %" PRId64
                            " does not exist",
                            row->name, given, axes->name[d], axes->length[d], beyond);
    else if (!ok || p.n == 0)
        *wrong = expected(row, given);
    char *text = NULL;
    if (!*wrong) {
        qsort(p.at, (size_t)p.n, sizeof *p.at, by_position);
        for (int64_t i = 0; i < p.n; i++) {
            if (i == 0 || p.at[i] != p.at[i - 1]) p.at[n++] = p.at[i];
        }
        p.n = n;
        text = positions_text(value, d, &p);
    }
    cli_free(p.at);
    return text;
}

/* --- Selections --------------------------------------------------------------------------------------- */

static int find_axis(const operator_axes *axes, operator_axis kind)
{
    for (int d = 0; d < axes->ndim; d++) {
        if (axes->kind[d] == kind) return d;
    }
    return -1;
}

/* Returns true if a dimension's name can be a keyword of sel. */
static bool is_keyword(const char *name)
{
    if (!isalpha((unsigned char)*name) && *name != '_') return false;
    while (isalnum((unsigned char)*name) || *name == '_') name++;
    return !*name;
}

/* Selects levels by a list of numbers such as [850, 200]. */
static char *select_levels(const operator_row *row, const char *given, const arguments *a,
                           const char *dim, const char *value, char **wrong)
{
    for (int i = 0; i < a->n; i++) {
        if (is_number(a->word[i])) continue;
        *wrong = expected(row, given);
        return NULL;
    }
    return cli_printf("sel(%s, %s=[%s])", value, dim, given);
}

/* Selects a box of longitudes and latitudes. Uses only the axes that the variable has. */
static char *select_box(const operator_row *row, const char *given, const arguments *a, int lon,
                        int lat, const operator_axes *axes, const char *value, char **wrong)
{
    for (int i = 0; i < 4 && !*wrong; i++) {
        if (!is_number(a->word[i])) *wrong = expected(row, given);
    }
    if (*wrong) return NULL;
    char *x = lon < 0 ? cli_strdup("")
                      : cli_printf(", %s=(%s, %s)", axes->name[lon], a->word[0], a->word[1]);
    char *y = lat < 0 ? cli_strdup("")
                      : cli_printf(", %s=(%s, %s)", axes->name[lat], a->word[2], a->word[3]);
    char *text = cli_printf("sel(%s%s%s)", value, x, y);
    cli_free(x);
    cli_free(y);
    return text;
}

/* Selects a box by positions along both axes. */
static char *select_index_box(const operator_row *row, const char *given, const arguments *a,
                              int lon, int lat, const operator_axes *axes, const char *value,
                              char **wrong)
{
    const int axis[2] = {lon, lat};
    char *text = cli_strdup(value);
    for (size_t k = 0; k < 2 && !*wrong; k++) {
        arguments range = {1, NULL};
        char *word = cli_printf("%s/%s", a->word[2 * k], a->word[2 * k + 1]);
        range.word = &word;
        char *next = axis[k] < 0 ? cli_strdup(text)
                                 : select_numbers(row, given, &range, axes, axis[k], text, wrong);
        cli_free(word);
        cli_free(text);
        text = next;
    }
    return text;
}

bool operator_counts(const char *spec)
{
    const operator_row *row = find(spec);
    return row && (strcmp(row->name, "selindexbox") == 0 || strcmp(row->name, "sellevidx") == 0 ||
                   strcmp(row->name, "seltimestep") == 0);
}

char *operator_select(const char *spec, const operator_axes *axes, const char *value, char **wrong)
{
    const operator_row *row = find(spec);
    const char *given = operator_arguments(spec), *name = row->name;
    const int lat = find_axis(axes, AXIS_LAT), lon = find_axis(axes, AXIS_LON),
              level = find_axis(axes, AXIS_LEVEL), time = find_axis(axes, AXIS_TIME);
    const bool box = strstr(name, "box"), by_number = operator_counts(spec);
    const int of = box ? (lon >= 0 ? lon : lat) : strstr(name, "lev") ? level : time;
    *wrong = NULL;
    if (of < 0) return NULL;
    if (!by_number &&
        (!is_keyword(axes->name[of]) || (box && lat >= 0 && !is_keyword(axes->name[lat])))) {
        *wrong = cli_printf("%s: the dimension \"%s\" cannot be named in an expression: select by "
                            "numbers, as seltimestep, sellevidx and selindexbox do",
                            name, axes->name[of]);
        return NULL;
    }
    arguments a = split(given);
    char *text;
    if (strcmp(name, "sellonlatbox") == 0)
        text = select_box(row, given, &a, lon, lat, axes, value, wrong);
    else if (strcmp(name, "selindexbox") == 0)
        text = select_index_box(row, given, &a, lon, lat, axes, value, wrong);
    else if (by_number)
        text = select_numbers(row, given, &a, axes, of, value, wrong);
    else
        text = select_levels(row, given, &a, axes->name[of], value, wrong);
    free_arguments(&a);
    return text;
}

/* --- Templates ---------------------------------------------------------------------------------------- */

/* Returns the body of an operator, in which %V, %D, %P and %1 to %4 are replaced. */
static char *filled(const operator_row *row, const arguments *a, const char *given, const char *dim,
                    const char *value)
{
    char *all = cli_strdup("");
    for (const char *at = row->body; *at;) {
        const size_t n = strcspn(at, "%");
        const char mark = (char)(at[n] ? at[n + 1] : 0);
        char *more = mark == 0     ? cli_strdup("")
                     : mark == 'V' ? cli_strdup(value)
                     : mark == 'P' ? cli_strdup(given)
                     : mark == 'D' ? cli_printf("\"%s\"", dim)
                                   : cli_printf("(%s)", a->word[mark - '1']);
        char *longer = cli_printf("%s%.*s%s", all, (int)n, at, more);
        cli_free(all);
        cli_free(more);
        all = longer;
        at += n + (at[n] ? 2 : 0);
    }
    return all;
}

char *operator_ensemble(const char *spec, const char *dim, const char *value, char **wrong)
{
    const operator_row *row = find(spec);
    const char *given = operator_arguments(spec);
    *wrong = NULL;
    if (row->most == 1 &&
        (!is_number(given) || strtod(given, NULL) < 0 || strtod(given, NULL) > 100)) {
        *wrong = expected(row, given);
        return NULL;
    }
    return filled(row, NULL, given, dim, value);
}

char *operator_values(const char *spec, const char *value, char **wrong)
{
    const operator_row *row = find(spec);
    const char *given = operator_arguments(spec);
    arguments a = split(given);
    bool ok = true;
    *wrong = NULL;
    for (int i = 0; i < a.n; i++) ok = ok && is_number(a.word[i]);
    char *text = ok ? filled(row, &a, given, NULL, value) : NULL;
    if (!ok) *wrong = expected(row, given);
    free_arguments(&a);
    return text;
}
