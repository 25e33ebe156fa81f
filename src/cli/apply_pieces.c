#include "apply_pieces.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "inputs.h"
#include "joined_order.h"
#include "lang/lang_arrays.h"
#include "lang/lang_memory.h"

/* Adds a piece with selection `spec` and variable `only`, both nullable. Takes ownership of all strings. */
/* NOLINTNEXTLINE(readability-non-const-parameter): the piece owns the strings */
static void add_piece(pieces *p, char *suffix, char *spec, char *only)
{
    p->piece = cli_resize(p->piece, (size_t)(p->n + 1) * sizeof *p->piece);
    piece *q = &p->piece[p->n++];
    *q = (piece){.suffix = suffix, .only = only};
    if (spec) operation_read(&q->selects, spec);
    cli_free(spec);
}

void apply_free_pieces(pieces *p)
{
    for (int i = 0; i < p->n; i++) {
        cli_free(p->piece[i].suffix);
        cli_free(p->piece[i].only);
        operations_free(&p->piece[i].selects, 1);
    }
    cli_free(p->piece);
}

/* Adds pieces of months or years. `month` has the months of all times in ascending order, counted from year 0. */
static void add_spans(pieces *p, const char *name, const char *dim, const int64_t *month, int64_t n)
{
    const bool by_year = strcmp(name, "splityear") == 0, by_month = strcmp(name, "splitmon") == 0;
    for (int64_t i = 0; i < (by_month ? 12 : n); i++) {
        char *labels = cli_strdup(""), *suffix;
        if (by_year && i > 0 && month[i] / 12 == month[i - 1] / 12) {
            cli_free(labels);
            continue;
        }
        for (int64_t k = by_month ? 0 : i; k < (by_month ? n : i + 1); k++) {
            if (by_month && month[k] % 12 != i) continue;
            char *label = by_year ? cli_printf("\"%04" PRId64 "\"", month[k] / 12)
                                  : cli_printf("\"%04" PRId64 "-%02" PRId64 "\"", month[k] / 12,
                                               month[k] % 12 + 1);
            char *longer = cli_printf("%s%s%s", labels, *labels ? ", " : "", label);
            cli_free(label);
            cli_free(labels);
            labels = longer;
        }
        suffix = by_year ? cli_printf("%04" PRId64, month[i] / 12)
                 : by_month
                     ? cli_printf("%02" PRId64, i + 1)
                     : cli_printf("%04" PRId64 "%02" PRId64, month[i] / 12, month[i] % 12 + 1);
        if (*labels)
            add_piece(p, suffix, cli_printf("sel,%s=[%s]", dim, labels), NULL);
        else
            cli_free(suffix);
        cli_free(labels);
    }
}

static int by_number(const void *left, const void *right)
{
    const int64_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

/* Appends the months of n times to *month. Months are counted from year 0. */
static void note_months(const cubed_time_axis *axis, const int64_t *us, int64_t n, int64_t **month,
                        int64_t *nmonths)
{
    *month = cli_resize(*month, (size_t)(*nmonths + n + 1) * sizeof **month);
    for (int64_t i = 0; i < n; i++) {
        const cubed_date date =
            cubed_calendar_date(axis->calendar, cubed_floor_div(us[i], CUBED_US_PER_DAY));
        (*month)[(*nmonths)++] = 12 * date.year + date.month - 1;
    }
}

/* Reads the months of all inputs. */
static int read_months(const apply *a, cubed_context *ctx, const char *dim, int64_t **month,
                       int64_t *n)
{
    cubed_error err = CUBED_ERROR_INIT;
    joined_inputs in = {.ctx = ctx, .overlap = JOINED_FIRST};
    joined_order *order;
    const char *from = a->list ? a->list : a->in[0];
    char *self = cli_strdup(from), **urls = &self;
    int code = EXIT_SUCCESS, nurls = 1;
    if (joined_is_pattern(from)) urls = joined_expand(from, &nurls);
    if (joined_find_order(&in, from, urls, nurls, dim, &order, &err) != CUBED_OK)
        code = cli_report("apply", &err);
    for (int f = 0; code == EXIT_SUCCESS && f < order->n; f++) {
        const joined_file *file = &order->file[f];
        if (file->us && file->has_units)
            note_months(&file->axis, file->us, file->n, month, n);
        else
            code = cli_usage_error("apply",
                                   "%s: the coordinate \"%s\" has no dates, expected units such as "
                                   "\"days since 2000-01-01\"",
                                   a->operations[0].name, dim);
    }
    if (urls != &self) joined_free_urls(urls, nurls);
    cli_free(self);
    joined_free(&in);
    return code;
}

/* Reads the months of x, the results' coordinate of dimension `dim`. *n stays 0 if the coordinate has no dates. */
static cubed_status months_of(const char *dim, cubed_array *x, int64_t **month, int64_t *n,
                              cubed_error *err)
{
    json_t *attrs = lang_attributes(cubed_array_attrs(x));
    const int64_t count = cubed_array_shape(x)[0];
    int64_t *us = cli_alloc((size_t)(count + 1) * sizeof *us), kept = 0;
    void *number = NULL;
    cubed_time_axis axis;
    bool is_time;
    cubed_status st = joined_find_units(dim, dim, attrs, NULL, &is_time, &axis, err);
    if (st == CUBED_OK && is_time)
        st = joined_read_elements(cubed_array_context(x), x, true, &number, err);
    for (int64_t i = 0; number && i < count; i++)
        kept += cubed_time_of_float(&axis, ((const double *)number)[i], &us[kept]);
    if (st == CUBED_OK && is_time) note_months(&axis, us, kept, month, n);
    json_decref(attrs);
    cli_free(number);
    cli_free(us);
    return st;
}

/* Reads the months that remain after the command's functions, from the first variable along the dimension. *n stays 0 if
 * they are unknown. */
static int read_months_left(apply *a, const char *dim, int64_t **month, int64_t *n)
{
    const content *c = &a->content[0];
    for (int i = 0; i < c->n && a->of_inputs == OPERATOR_NONE; i++) {
        const variable *v = &c->variable[i];
        cubed_error err = CUBED_ERROR_INIT;
        cubed_array *x = NULL;
        int applied, code = EXIT_SUCCESS;
        if (!apply_is_wanted(a, c, v) || !apply_is_result_name(v->name) || !content_has_dim(v, dim))
            continue;
        char *value = apply_call(a, c, v, v->name, NULL, &applied);
        if (applied > 0 && a->code == EXIT_SUCCESS)
            code = apply_build_value(a, v, v->name, value, dim, &x);
        cli_free(value);
        if (x && cubed_array_ndim(x) == 1 && months_of(dim, x, month, n, &err) != CUBED_OK)
            code = cli_report("apply", &err);
        cubed_array_unref(x);
        return a->code != EXIT_SUCCESS ? a->code : code;
    }
    return EXIT_SUCCESS;
}

/* Finds the months of all times, and adds their pieces. */
static int split_times(apply *a, cubed_context *ctx, const char *dim, pieces *p)
{
    int64_t n = 0, m = 0, *month = NULL;
    int code = EXIT_SUCCESS;
    if (a->noperations > 1) code = read_months_left(a, dim, &month, &n);
    if (code == EXIT_SUCCESS && n == 0) code = read_months(a, ctx, dim, &month, &n);
    if (code == EXIT_SUCCESS && n > 0) {
        qsort(month, (size_t)n, sizeof *month, by_number);
        for (int64_t i = 0; i < n; i++) {
            if (i == 0 || month[i] != month[i - 1]) month[m++] = month[i];
        }
        if (month[0] < 0 || month[m - 1] >= (int64_t)12 * 10000)
            code = cli_usage_error("apply", "%s: expected years from 0 to 9999",
                                   a->operations[0].name);
        else
            add_spans(p, a->operations[0].name, dim, month, m);
    }
    cli_free(month);
    return code;
}

/* Adds a piece for each level. */
static int split_levels(const apply *a, cubed_context *ctx, const char *dim, pieces *p)
{
    cubed_error err = CUBED_ERROR_INIT;
    joined_inputs in = {.ctx = ctx};
    joined_order *order;
    char *first = inputs_first(a->list ? a->list : a->in[0]);
    int code = EXIT_SUCCESS;
    if (joined_find_order(&in, first, &first, 1, dim, &order, &err) != CUBED_OK)
        code = cli_report("apply", &err);
    else if (!order->file[0].number)
        code = cli_usage_error("apply", "splitlevel: \"%s\" has no coordinate of numbers", dim);
    for (int64_t i = 0; code == EXIT_SUCCESS && i < order->file[0].n; i++) {
        const double level = order->file[0].number[i];
        add_piece(p, cli_printf("%06g", level), cli_printf("sellevel,%.17g", level), NULL);
    }
    joined_free(&in);
    cli_free(first);
    return code;
}

/* Returns the number of time steps that remain after the command's functions, or 0 without time steps. Sets a->code after an
 * error. */
static int64_t count_steps(apply *a)
{
    const content *c = &a->content[0];
    for (int i = 0; i < c->n; i++) {
        const variable *v = &c->variable[i];
        operator_axes axes = content_axes_of(c, v);
        cubed_array *built = NULL;
        int n;
        if (!apply_is_wanted(a, c, v) || !apply_is_result_name(v->name)) continue;
        char *value = apply_call(a, c, v, v->name, NULL, &n);
        if (n > 0 && a->code == EXIT_SUCCESS)
            a->code = apply_find_axes(a, c, v, v->name, value, &axes, &built);
        cli_free(value);
        int64_t length = 0;
        for (int d = 0; d < axes.ndim && a->code == EXIT_SUCCESS; d++) {
            if (axes.kind[d] == AXIS_TIME) length = axes.length[d];
        }
        cubed_array_unref(built);
        if (length > 0 || a->code != EXIT_SUCCESS) return length;
    }
    return 0;
}

/* Adds pieces with a fixed number of time steps. */
static int split_steps(apply *a, pieces *p)
{
    int64_t each;
    const char *text = operator_arguments(a->operations[0].spec);
    if (!lang_parse_int(&text, &each) || *text || each < 1)
        return cli_usage_error("apply", "%s: expected a number of time steps",
                               a->operations[0].spec);
    if (a->list || a->first_file)
        return cli_usage_error("apply", "splitsel: expected one file: join files first");
    const int64_t length = count_steps(a);
    if (a->code != EXIT_SUCCESS) return a->code;
    if (a->wrong) return cli_usage_error("apply", "%s", a->wrong);
    for (int64_t i = 0; i < length; i += each)
        add_piece(p, cli_printf("%06" PRId64, i / each + 1),
                  cli_printf("seltimestep,%" PRId64 "/%" PRId64, i + 1,
                             i + each < length ? i + each : length),
                  NULL);
    return EXIT_SUCCESS;
}

int apply_find_pieces(apply *a, cubed_context *ctx, pieces *p)
{
    const char *name = a->operations[0].name;
    const bool levels = strcmp(name, "splitlevel") == 0;
    int64_t length;
    if (strcmp(name, "splitname") == 0) {
        for (int k = 0; k < (a->of_inputs == OPERATOR_MERGE ? a->nin : 1); k++) {
            const content *c = &a->content[k];
            for (int i = 0; i < c->n; i++) {
                const char *of = c->variable[i].name;
                if (apply_is_wanted(a, c, &c->variable[i]))
                    add_piece(p, cli_strdup(of), NULL, cli_strdup(of));
            }
        }
        return EXIT_SUCCESS;
    }
    const char *dim = apply_find_dimension(a, levels ? AXIS_LEVEL : AXIS_TIME, &length);
    if (!dim || dim[strspn(dim, operation_name_characters)])
        return cli_usage_error("apply", "%s: %s has no dimension of %s", name, a->in[0],
                               levels ? "levels" : "time");
    if (strcmp(name, "splitsel") == 0) return split_steps(a, p);
    a->piece_dim = dim;
    if (levels) return split_levels(a, ctx, dim, p);
    return split_times(a, ctx, dim, p);
}
