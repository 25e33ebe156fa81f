/* The catalogue: look-up, contents of its rows, and calls with right and wrong values. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "cubed/cubed.h"

typedef struct fixture {
    cubed_context *ctx;
    cubed_array *x; /* 2 x 2, float64 */
    cubed_error err;
} fixture;

static const double matrix[] = {2, 1, 1, 2};

static int set_up(void **state)
{
    static fixture f;
    const int64_t shape[] = {2, 2};
    f = (fixture){.err = CUBED_ERROR_INIT};
    assert_int_equal(cubed_context_new(NULL, &f.ctx, &f.err), CUBED_OK);
    assert_int_equal(
        cubed_array_from_memory(f.ctx, CUBED_FLOAT64, 2, shape, NULL, shape, matrix, &f.x, &f.err),
        CUBED_OK);
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    cubed_array_unref(f->x);
    cubed_context_unref(f->ctx);
    return 0;
}

static cubed_argument positional(cubed_value value) { return (cubed_argument){.value = value}; }

static cubed_argument named(const char *name, cubed_value value)
{
    return (cubed_argument){.name = name, .value = value};
}

static cubed_value array(cubed_array *x)
{
    return (cubed_value){.kind = CUBED_VALUE_ARRAY, .as.array = x};
}

static cubed_value integer(int64_t i)
{
    return (cubed_value){.kind = CUBED_VALUE_INT, .as.integer = i};
}

static cubed_value string(const char *s)
{
    return (cubed_value){.kind = CUBED_VALUE_STRING, .as.string = s};
}

static cubed_value boolean(bool b)
{
    return (cubed_value){.kind = CUBED_VALUE_BOOL, .as.boolean = b};
}

static cubed_value list(int n, const int64_t *items)
{
    return (cubed_value){.kind = CUBED_VALUE_INTS, .n = n, .as.ints = items};
}

/* --- Rows --------------------------------------------------------------------------------------------- */

static void finds_each_function(void **state)
{
    int n = 0;
    (void)state;
    for (const cubed_function *f = cubed_function_next(NULL); f; f = cubed_function_next(f), n++)
        assert_ptr_equal(cubed_function_find(f->name), f);
    assert_true(n > 30);
    assert_null(cubed_function_find("no_such_function"));
    assert_null(cubed_function_find(""));
}

static void check_param(const cubed_function *f, const cubed_param *p)
{
    char text[512];
    assert_true(strlen(p->name) > 0);
    assert_true(p->accepts != 0 && p->accepts < 1U << CUBED_VALUE_KIND_COUNT);
    assert_true(strlen(p->notes) > 0 && p->notes[strlen(p->notes) - 1] == '.');
    assert_true(p->least <= p->most);
    assert_true(cubed_param_expected(p, text, sizeof text) < sizeof text);
    assert_true(strlen(text) > 0);
    /* A default is a value that the parameter accepts, or None. */
    if (!(p->flags & CUBED_PARAM_REQUIRED) && p->fallback.kind != CUBED_VALUE_NONE)
        assert_true(p->accepts >> p->fallback.kind & 1);
    assert_true(!(p->accepts >> CUBED_VALUE_CHOICE & 1) == !p->choices);
    for (const cubed_param *q = f->params; q < p; q++) assert_string_not_equal(p->name, q->name);
}

/* The order of a row's parameters lets arguments be bound: positional-only parameters are first, and keyword-only parameters are
 * last. */
static void rows_are_sound(void **state)
{
    (void)state;
    for (const cubed_function *f = cubed_function_next(NULL); f; f = cubed_function_next(f)) {
        bool named_only = false, optional = false;
        assert_true(f->nparams <= CUBED_MAX_PARAMS);
        assert_true(strlen(f->summary) > 0 && f->summary[strlen(f->summary) - 1] == '.');
        assert_true(strlen(f->returns) > 0 && f->returns[strlen(f->returns) - 1] == '.');
        for (int i = 0; i < f->nparams; i++) {
            const cubed_param *p = cubed_function_param(f, i);
            check_param(f, p);
            if (p->flags & CUBED_PARAM_KEYWORD_ONLY)
                named_only = true;
            else
                assert_false(named_only);
            if (!(p->flags & (CUBED_PARAM_REQUIRED | CUBED_PARAM_KEYWORD_ONLY)))
                optional = true;
            else if (p->flags & CUBED_PARAM_POSITION_ONLY)
                assert_false(optional);
        }
        assert_null(cubed_function_param(f, f->nparams));
        assert_null(cubed_function_param(f, -1));
    }
}

/* --- Calls -------------------------------------------------------------------------------------------- */

static cubed_status call(fixture *f, const char *name, const cubed_argument *arguments, int n,
                         cubed_results *results)
{
    const cubed_function *function = cubed_function_find(name);
    assert_non_null(function);
    f->err = (cubed_error)CUBED_ERROR_INIT;
    return cubed_call(f->ctx, function, arguments, n, results, &f->err);
}

static void calls_with_defaults(void **state)
{
    fixture *f = *state;
    cubed_results r;
    const cubed_argument x = positional(array(f->x));
    assert_int_equal(call(f, "det", &x, 1, &r), CUBED_OK);
    assert_int_equal(r.n, 1);
    assert_int_equal(cubed_array_ndim(r.arrays[0]), 0);
    cubed_results_free(f->ctx, &r);
    assert_int_equal(r.n, 0);
    assert_int_equal(call(f, "qr", &x, 1, &r), CUBED_OK);
    assert_int_equal(r.n, 2);
    cubed_results_free(f->ctx, &r);
}

static void calls_with_names(void **state)
{
    fixture *f = *state;
    cubed_results r;
    const int64_t axes[] = {0, -1};
    const cubed_argument arguments[] = {positional(array(f->x)), named("keepdims", boolean(true)),
                                        named("axis", list(2, axes)), named("ord", integer(1))};
    assert_int_equal(call(f, "vector_norm", arguments, 4, &r), CUBED_OK);
    assert_int_equal(cubed_array_ndim(r.arrays[0]), 2);
    cubed_results_free(f->ctx, &r);
    const cubed_argument by_choice[] = {positional(array(f->x)), named("ord", string("nuc")),
                                        named("keepdims", integer(1))};
    assert_int_equal(call(f, "matrix_norm", by_choice, 3, &r), CUBED_OK);
    assert_int_equal(cubed_array_ndim(r.arrays[0]), 2);
    cubed_results_free(f->ctx, &r);
    const cubed_argument typed[] = {positional(array(f->x)), named("dtype", string("float32"))};
    assert_int_equal(call(f, "trace", typed, 2, &r), CUBED_OK);
    assert_int_equal(cubed_array_dtype(r.arrays[0]), CUBED_FLOAT32);
    cubed_results_free(f->ctx, &r);
}

static void gathers_arguments(void **state)
{
    fixture *f = *state;
    cubed_results r;
    cubed_array *const arrays[] = {f->x, f->x, f->x};
    const cubed_argument each[] = {positional(array(f->x)), positional(array(f->x)),
                                   positional(array(f->x))};
    const cubed_argument all =
        positional((cubed_value){.kind = CUBED_VALUE_ARRAYS, .n = 3, .as.arrays = arrays});
    assert_int_equal(call(f, "multi_dot", each, 3, &r), CUBED_OK);
    cubed_results_free(f->ctx, &r);
    assert_int_equal(call(f, "multi_dot", &all, 1, &r), CUBED_OK);
    cubed_results_free(f->ctx, &r);
    const cubed_argument mixed[] = {positional(array(f->x)), positional(integer(3))};
    assert_int_equal(call(f, "multi_dot", mixed, 2, &r), CUBED_E_TYPE);
    assert_int_equal(f->err.argument, 2);
    const cubed_argument twice[] = {
        positional(array(f->x)),
        named("arrays", (cubed_value){.kind = CUBED_VALUE_ARRAYS, .n = 3, .as.arrays = arrays})};
    assert_int_equal(call(f, "multi_dot", twice, 2, &r), CUBED_E_TYPE);
    assert_string_equal(f->err.message, "multi_dot: arrays is given twice");
}

static void rejects(fixture *f, const char *name, const cubed_argument *arguments, int n,
                    cubed_status status, int argument, const char *message)
{
    cubed_results r;
    assert_int_equal(call(f, name, arguments, n, &r), status);
    assert_string_equal(f->err.message, message);
    assert_int_equal(f->err.argument, argument);
    assert_int_equal(r.n, 0);
}

static void names_what_is_wrong(void **state)
{
    fixture *f = *state;
    const cubed_argument x = positional(array(f->x));
    const cubed_argument spelled = {"axis", "dim", string("time")};
    rejects(f, "det", NULL, 0, CUBED_E_TYPE, 0, "det: x is missing, expected an array");
    rejects(f, "det", (cubed_argument[]){positional(integer(3))}, 1, CUBED_E_TYPE, 1,
            "det: x (argument 1) is 3, expected an array");
    rejects(f, "det", (cubed_argument[]){x, named("uper", boolean(true))}, 2, CUBED_E_TYPE, 2,
            "det: the function has no argument named uper, expected arguments by position");
    rejects(f, "cholesky", (cubed_argument[]){x, named("upper", string("yes"))}, 2, CUBED_E_TYPE, 2,
            "cholesky: upper is 'yes', expected True or False");
    rejects(f, "cholesky", (cubed_argument[]){x, named("upper", integer(2))}, 2, CUBED_E_TYPE, 2,
            "cholesky: upper is 2, expected True or False");
    rejects(f, "cholesky", (cubed_argument[]){x, x}, 2, CUBED_E_TYPE, 2,
            "cholesky: there are 2 arguments without names, expected at most 1");
    rejects(f, "qr", (cubed_argument[]){x, named("mode", string("raw"))}, 2, CUBED_E_ARG, 2,
            "qr: mode is 'raw', expected one of 'reduced', 'complete'");
    rejects(f, "tensorinv", (cubed_argument[]){x, positional(integer(0))}, 2, CUBED_E_ARG, 2,
            "tensorinv: ind (argument 2) is 0, expected an integer from 1 to 32");
    rejects(f, "norm", (cubed_argument[]){x, named("axis", integer(0)), named("axis", integer(0))},
            3, CUBED_E_TYPE, 3, "norm: axis is given twice");
    rejects(f, "norm", (cubed_argument[]){x, spelled}, 2, CUBED_E_TYPE, 2,
            "norm: dim is 'time', expected an axis or a list of axes or None");
    rejects(f, "det", (cubed_argument[]){named("x", array(f->x))}, 1, CUBED_E_TYPE, 1,
            "det: the function has no argument named x, expected arguments by position");
    rejects(f, "norm", (cubed_argument[]){x, named("p", integer(1))}, 2, CUBED_E_TYPE, 2,
            "norm: the function has no argument named p, expected one of x, ord, axis, keepdims");
}

static void refuses_what_is_not_there(void **state)
{
    fixture *f = *state;
    const cubed_argument x = positional(array(f->x));
    cubed_array *const arrays[] = {f->x, NULL};
    rejects(f, "det", (cubed_argument[]){positional(array(NULL))}, 1, CUBED_E_ARG, 1,
            "det: x is NULL");
    rejects(f, "tensorinv", (cubed_argument[]){x, positional(array(NULL))}, 2, CUBED_E_ARG, 2,
            "tensorinv: ind is NULL");
    rejects(f, "qr", (cubed_argument[]){x, named("mode", string(NULL))}, 2, CUBED_E_ARG, 2,
            "qr: mode is NULL");
    rejects(f, "vector_norm", (cubed_argument[]){x, named("axis", list(1, NULL))}, 2, CUBED_E_ARG,
            2, "vector_norm: axis is NULL");
    rejects(f, "multi_dot", (cubed_argument[]){x, positional(array(NULL))}, 2, CUBED_E_ARG, 2,
            "multi_dot: arrays is NULL");
    rejects(f, "multi_dot",
            (cubed_argument[]){
                positional((cubed_value){.kind = CUBED_VALUE_ARRAYS, .n = 2, .as.arrays = arrays})},
            1, CUBED_E_ARG, 1, "multi_dot: arrays is NULL");
    rejects(f, "det",
            (cubed_argument[]){positional((cubed_value){.kind = CUBED_VALUE_KIND_COUNT, .n = 0})},
            1, CUBED_E_ARG, 1,
            "det: x is a value of kind 14 with 0 items, expected a cubed_value_kind");
}

static void refuses_two_names_of_one_limit(void **state)
{
    fixture *f = *state;
    const cubed_value limit = {.kind = CUBED_VALUE_FLOAT, .as.real = 0.5};
    rejects(
        f, "pinv",
        (cubed_argument[]){positional(array(f->x)), named("rcond", limit), named("rtol", limit)}, 3,
        CUBED_E_ARG, 2, "pinv: rcond and rtol are the same parameter, expected one of the two");
}

static void passes_errors_of_functions(void **state)
{
    fixture *f = *state;
    const int64_t axes[] = {5};
    cubed_results r;
    const cubed_argument arguments[] = {positional(array(f->x)), named("axis", list(1, axes))};
    assert_int_equal(call(f, "vector_norm", arguments, 2, &r), CUBED_E_AXIS);
    /* The message names the parameter. */
    assert_string_equal(f->err.message, "vector_norm: axis 5 is out of range for 2 dimensions");
    assert_int_equal(f->err.argument, 2);
}

static void gives_any_number_of_results(void **state)
{
    fixture *f = *state;
    const cubed_value two = {.kind = CUBED_VALUE_INT, .as.integer = 2};
    const cubed_value one = {.kind = CUBED_VALUE_INT, .as.integer = 1};
    const cubed_argument halves[] = {positional(array(f->x)), positional(two)};
    const cubed_argument whole[] = {positional(array(f->x)), positional(one)};
    cubed_results r;
    assert_int_equal(call(f, "split", halves, 2, &r), CUBED_OK);
    assert_int_equal(r.n, 2);
    assert_int_equal(cubed_array_shape(r.arrays[1])[0], 1);
    cubed_results_free(f->ctx, &r);
    assert_int_equal(call(f, "split", whole, 2, &r), CUBED_OK);
    assert_int_equal(r.n, 1);
    cubed_results_free(f->ctx, &r);
    assert_int_equal(call(f, "unstack", halves, 2, &r), CUBED_E_AXIS);
    assert_int_equal(r.n, 0);
}

static void formats_values(void **state)
{
    fixture *f = *state;
    char text[64], small[5];
    const int64_t items[] = {1, -2};
    const double reals[] = {0.1, 2};
    const cubed_value nested[] = {{.kind = CUBED_VALUE_STRING, .as.string = "auto"},
                                  list(2, items)};
    const cubed_value values[] = {
        array(f->x),
        list(2, items),
        {.kind = CUBED_VALUE_FLOATS, .n = 2, .as.reals = reals},
        {.kind = CUBED_VALUE_COMPLEX, .as.complex_parts = {1, -0.5}},
        {.kind = CUBED_VALUE_FLOAT, .as.real = -INFINITY},
        {.kind = CUBED_VALUE_NONE},
        {.kind = CUBED_VALUE_DTYPE, .as.dtype = CUBED_INT8},
        {.kind = CUBED_VALUE_LIST, .n = 2, .as.items = nested},
    };
    const char *const expected[] = {"an array of float64 and shape (2, 2)",
                                    "[1, -2]",
                                    "[0.1, 2.0]",
                                    "complex(1.0, -0.5)",
                                    "-inf",
                                    "None",
                                    "'int8'",
                                    "['auto', [1, -2]]"};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        assert_int_equal(cubed_value_format(&values[i], text, sizeof text), strlen(expected[i]));
        assert_string_equal(text, expected[i]);
    }
    assert_int_equal(cubed_value_format(&values[1], small, sizeof small), 7);
    assert_string_equal(small, "[1, ");
    assert_int_equal(cubed_value_format(&values[1], NULL, 0), 7);
}

/* A truncated UTF-8 sequence at the end of a text must not make the reader read beyond the end. */
static void refuses_text_that_is_not_utf8(void **state)
{
    static const char cut[] = "a\xf0\0\0\0b";
    fixture *f = *state;
    const int64_t extent = 1;
    const uint32_t element[4] = {'c'};
    cubed_dtype dtype;
    cubed_array *x;
    cubed_results r;
    assert_int_equal(cubed_dtype_fixed(CUBED_STRING, 4, &dtype, &f->err), CUBED_OK);
    assert_int_equal(cubed_array_full_text(f->ctx, dtype, 1, &extent, NULL, element, &x, &f->err),
                     CUBED_OK);
    const cubed_argument arguments[] = {positional(array(x)), positional(integer(1)),
                                        named("constant_values", string(cut))};
    assert_int_equal(call(f, "pad", arguments, 3, &r), CUBED_E_ARG);
    assert_non_null(strstr(f->err.message, "expected strings that"));
    cubed_array_unref(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_each_function),
        cmocka_unit_test(rows_are_sound),
        cmocka_unit_test(calls_with_defaults),
        cmocka_unit_test(calls_with_names),
        cmocka_unit_test(gathers_arguments),
        cmocka_unit_test(names_what_is_wrong),
        cmocka_unit_test(passes_errors_of_functions),
        cmocka_unit_test(gives_any_number_of_results),
        cmocka_unit_test(formats_values),
        cmocka_unit_test(refuses_text_that_is_not_utf8),
        cmocka_unit_test(refuses_what_is_not_there),
        cmocka_unit_test(refuses_two_names_of_one_limit),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
