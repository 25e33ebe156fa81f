/* The expression language of `cubed eval`: what text means, and what is said of text that means
 * nothing. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/cli.h"
#include "cli/expr.h"
#include "cli/expr_value.h"

/* --- Text to trees ---------------------------------------------------------------------------- */

typedef struct buffer {
    char text[2000];
    size_t n;
} buffer;

static void append(buffer *b, const char *fmt, ...) CUBED_PRINTF(2, 3);
static void append(buffer *b, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    b->n += (size_t)vsnprintf(b->text + b->n, sizeof b->text - b->n, fmt, ap);
    va_end(ap);
    assert_true(b->n < sizeof b->text);
}

/* A tree in prefix notation: "(+ a (* 2 b))". */
static void show(buffer *b, const expr *e)
{
    static const char *const words[] = {
        [EXPR_TUPLE] = "tuple", [EXPR_INDEX] = "index", [EXPR_SLICE] = "slice"};
    switch (e->kind) {
    case EXPR_INT: append(b, "%lld", (long long)e->integer); return;
    case EXPR_FLOAT: append(b, "%gf", e->re); return;
    case EXPR_COMPLEX: append(b, "%gj", e->im); return;
    case EXPR_BOOL: append(b, e->integer ? "True" : "False"); return;
    case EXPR_NONE: append(b, "None"); return;
    case EXPR_ELLIPSIS: append(b, "..."); return;
    case EXPR_NAME: append(b, "%s", e->text); return;
    case EXPR_STRING: append(b, "'%s'", e->text); return;
    case EXPR_UNARY:
    case EXPR_BINARY: append(b, "(%c", e->op); break;
    case EXPR_CALL: append(b, "(%s", e->text); break;
    case EXPR_KEYWORD:
    case EXPR_ASSIGN: append(b, "(%s=", e->text); break;
    default: append(b, "(%s", words[e->kind]); break;
    }
    for (int i = 0; i < e->n; i++) {
        append(b, " ");
        show(b, e->child[i]);
    }
    append(b, ")");
}

static void check_tree(const char *text, const char *expected)
{
    cubed_error err = CUBED_ERROR_INIT;
    expr **list;
    int n;
    buffer b = {.n = 0};
    if (expr_parse(text, &list, &n, &err) != CUBED_OK) fail_msg("%s: %s", text, err.message);
    for (int i = 0; i < n; i++) {
        if (i) append(&b, "; ");
        show(&b, list[i]);
    }
    expr_free(list, n);
    assert_string_equal(b.text, expected);
}

static void test_precedence(void **state)
{
    (void)state;
    check_tree("a+b*c", "(+ a (* b c))");
    check_tree("a*b+c", "(+ (* a b) c)");
    check_tree("a-b-c", "(- (- a b) c)");
    check_tree("a/b*c", "(* (/ a b) c)");
    check_tree("2**3**2", "(p 2 (p 3 2))");
    check_tree("-x**2", "(- (p x 2))");
    check_tree("2**-x", "(p 2 (- x))");
    check_tree("-x*y", "(* (- x) y)");
    check_tree("--x", "(- (- x))");
    check_tree("~a & b | c", "(| (& (~ a) b) c)");
    check_tree("a & b == c", "(e (& a b) c)");
    check_tree("a + b < c - d", "(< (+ a b) (- c d))");
    check_tree("a <= b", "(l a b)");
    check_tree("a >= b", "(g a b)");
    check_tree("a != b", "(n a b)");
    check_tree("(a + b) * c", "(* (+ a b) c)");
    check_tree("-x[0]", "(- (index x 0))");
    check_tree("x[0]**2", "(p (index x 0) 2)");
    check_tree("x**y[0]", "(p x (index y 0))");
}

static void test_literals(void **state)
{
    (void)state;
    check_tree("1", "1");
    check_tree("1.", "1f");
    check_tree(".5", "0.5f");
    check_tree("1e-3", "0.001f");
    check_tree("2j", "2j");
    check_tree("1.5J", "1.5j");
    check_tree("9223372036854775807", "9223372036854775807");
    check_tree("True", "True");
    check_tree("Truest", "Truest");
    check_tree("None", "None");
    check_tree("inf", "inff");
    check_tree("'a b'", "'a b'");
    check_tree("\"it's\"", "'it's'");
}

static void test_calls_and_indices(void **state)
{
    (void)state;
    check_tree("f()", "(f)");
    check_tree("mean(x, axis=(0, 1), keepdims=True)",
               "(mean x (axis= (tuple 0 1)) (keepdims= True))");
    check_tree("f(a == b)", "(f (e a b))");
    check_tree("f(a,)", "(f a)");
    check_tree("(1,)", "(tuple 1)");
    check_tree("()", "(tuple)");
    check_tree("[a, b]", "(tuple a b)");
    check_tree("x[:]", "(index x (slice None None None))");
    check_tree("x[::2]", "(index x (slice None None 2))");
    check_tree("x[1:]", "(index x (slice 1 None None))");
    check_tree("x[:-1:]", "(index x (slice None (- 1) None))");
    check_tree("x[1:2:3]", "(index x (slice 1 2 3))");
    check_tree("x[0, ..., None]", "(index x 0 ... None)");
    check_tree("x[0, ]", "(index x 0)");
    check_tree("x[0][1]", "(index (index x 0) 1)");
    check_tree("f(x)[0]", "(index (f x) 0)");
}

static void test_statements(void **state)
{
    (void)state;
    check_tree("a=1; b=a", "(a= 1); (b= a)");
    check_tree("a=1\nb=2;", "(a= 1); (b= 2)");
    check_tree("\n ;;x\r\n", "x");
    check_tree("a == b", "(e a b)");
    check_tree("f(1,\n  2)", "(f 1 2)");
    check_tree("x[0,\n0]", "(index x 0 0)");
    check_tree("(a\n + b)\n-c", "(+ a b); (- c)");
}

static const struct {
    const char *text, *message;
} wrong[] = {
    {"", "at column 1: there is no expression"},
    {"a +", "at column 4: the expression ends too early"},
    {"a b", "at column 3: expected an operator or ;"},
    {"a $ b", "at column 3: expected an operator or ;"},
    {"(a", "at column 3: expected a comma or the closing bracket"},
    {"a)", "at column 2: expected an operator"},
    {"f(a b)", "at column 5: expected a comma"},
    {"f(,)", "at column 3: expected a value"},
    {"x[]", "at column 3: expected an index"},
    {"x[0", "at column 4: expected a comma or ]"},
    {"x[1:2:3:4]", "at column 8: expected a comma or ]"},
    {"a < b < c", "comparisons do not chain"},
    {"a /* b", "at column 4: expected a value"},
    {"'abc", "at column 1: a string without its end"},
    {"1x", "a number runs into a name"},
    {"1_000", "a number runs into a name"},
    {"0x10", "at column 1: numbers are decimal"},
    {"9223372036854775808", "at column 1: beyond int64"},
    {"pi = 3", "this name is a constant"},
    {"f(1=2)", "expected a comma"},
    {"a=1\nb=2\nc=(3", "at line 3, column 5: expected a comma"},
    {"'\xc3\xa4\xc3\xb6' $", "at column 6: expected an operator"},
    {"a = b = c", "at column 7: expected an operator or ;"},
};

static void test_wrong_text(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        cubed_error err = CUBED_ERROR_INIT;
        expr **list = NULL;
        int n = 0;
        assert_int_equal(expr_parse(wrong[i].text, &list, &n, &err), CUBED_E_ARG);
        if (!strstr(err.message, wrong[i].message))
            fail_msg("%s: \"%s\" has no \"%s\"", wrong[i].text, err.message, wrong[i].message);
        assert_null(list);
        /* No message is needed. */
        assert_int_equal(expr_parse(wrong[i].text, &list, &n, NULL), CUBED_E_ARG);
    }
}

/* The caret is under the character, also where a line is cut at both ends. */
static void test_the_caret(void **state)
{
    (void)state;
    for (int before = 1; before < 200; before += 7) {
        char text[500];
        cubed_error err = CUBED_ERROR_INIT;
        expr **list;
        int n;
        snprintf(text, sizeof text, "a%*s$%150s", before - 1, "", "\xc3\xa4");
        assert_int_equal(expr_parse(text, &list, &n, &err), CUBED_E_ARG);
        const char *line = strchr(err.message, '\n');
        assert_non_null(line);
        const char *carets = strchr(line + 1, '\n');
        assert_non_null(carets);
        const char *caret = strchr(carets, '^'), *dollar = strchr(line, '$');
        assert_non_null(caret);
        assert_non_null(dollar);
        assert_int_equal(caret - carets, dollar - line);
    }
}

/* --- Text that would cost too much -------------------------------------------------------------- */

static char *repeated(const char *first, const char *part, int n, const char *last)
{
    size_t len = strlen(part);
    char *text = malloc(strlen(first) + (size_t)n * len + strlen(last) + 1);
    assert_non_null(text);
    char *p = stpcpy(text, first);
    for (int i = 0; i < n; i++) p = stpcpy(p, part);
    stpcpy(p, last);
    return text;
}

static void check_refused(char *text, const char *message)
{
    cubed_error err = CUBED_ERROR_INIT;
    expr **list;
    int n;
    assert_int_equal(expr_parse(text, &list, &n, &err), CUBED_E_ARG);
    assert_non_null(strstr(err.message, message));
    free(text);
}

static void test_limits(void **state)
{
    (void)state;
    cubed_error err = CUBED_ERROR_INIT;
    expr **list;
    int n;
    check_refused(repeated("", "(", 100000, ""), "nested too deeply");
    check_refused(repeated("", "f(", 100000, ""), "nested too deeply");
    check_refused(repeated("", "-", 100000, "x"), "nested too deeply");
    check_refused(repeated("", "2**", 100000, "x"), "nested too deeply");
    check_refused(repeated("x", "[0]", 50000, ""), "too long");
    check_refused(repeated("x", "+x", 50000, ""), "too long");
    check_refused(repeated("f(x", ",x", 200000, ")"), "too long");
    check_refused(repeated("x", ";x", 200000, ""), "too long");
    check_refused(repeated("", " ", 2000000, "x"), "longer than 1 MiB");
    /* What people write is far below. */
    char *text = repeated("x", "+x", 900, "");
    assert_int_equal(expr_parse(text, &list, &n, &err), CUBED_OK);
    assert_int_equal(list[0]->height, 900);
    expr_free(list, n);
    free(text);
    text = repeated("(((((x", ")", 5, "");
    assert_int_equal(expr_parse(text, &list, &n, &err), CUBED_OK);
    expr_free(list, n);
    free(text);
}

/* --- Arithmetic of literals ---------------------------------------------------------------------- */

static expr_value whole(int64_t i) { return expr_literal(EXPR_INT, i, 0, 0); }
static expr_value real(double x) { return expr_literal(EXPR_FLOAT, 0, x, 0); }

static void check_whole(char op, int64_t x, int64_t y, int64_t expected)
{
    expr_value a = whole(x), b = whole(y), out;
    assert_null(expr_literal_combine(op, &a, &b, &out));
    assert_int_equal(out.kind, EXPR_INT);
    assert_int_equal(out.i, expected);
    assert_true(out.re == (double)expected);
}

static void test_whole_numbers(void **state)
{
    (void)state;
    expr_value a = whole(INT64_MAX), b = whole(1), c = whole(INT64_MIN), out;
    check_whole('+', INT64_MAX, -1, INT64_MAX - 1);
    check_whole('*', -4, 5, -20);
    check_whole('p', 2, 62, (int64_t)1 << 62);
    check_whole('p', -2, 63, INT64_MIN);
    check_whole('p', 3, 39, 4052555153018976267);
    check_whole('p', -1, INT64_MAX, -1);
    check_whole('p', 0, 0, 1);
    check_whole('p', 0, INT64_MAX, 0);
    assert_non_null(expr_literal_combine('+', &a, &b, &out));
    assert_non_null(expr_literal_combine('-', &c, &b, &out));
    assert_non_null(expr_literal_combine('*', &a, &a, &out));
    assert_non_null(expr_literal_negate(&c, &out));
    b = whole(64);
    a = whole(2);
    assert_non_null(expr_literal_combine('p', &a, &b, &out));
    assert_non_null(expr_literal_combine('<', &a, &b, &out));
    b = whole(0);
    assert_non_null(expr_literal_combine('/', &a, &b, &out));
}

static void test_floats(void **state)
{
    (void)state;
    expr_value out;
    /* Division rounds once, as IEEE says, for whole numbers, too. */
    for (int i = 1; i < 200; i++) {
        expr_value a = whole(1), b = whole(i);
        assert_null(expr_literal_combine('/', &a, &b, &out));
        assert_int_equal(out.kind, EXPR_FLOAT);
        assert_true(out.re == 1.0 / i);
    }
    expr_value minus8 = whole(-8), half = real(0.5), zero = real(0), minus1 = whole(-1);
    assert_non_null(expr_literal_combine('p', &minus8, &half, &out));
    assert_non_null(expr_literal_combine('p', &zero, &minus1, &out));
    assert_null(expr_literal_combine('p', &minus8, &minus1, &out));
    assert_true(out.kind == EXPR_FLOAT && out.re == -0.125);
    expr_value i1 = expr_literal(EXPR_COMPLEX, 0, 0, 1), c = expr_literal(EXPR_COMPLEX, 0, 8, 0);
    assert_null(expr_literal_combine('*', &i1, &i1, &out));
    assert_true(out.kind == EXPR_COMPLEX && out.re == -1 && out.im == 0);
    assert_null(expr_literal_combine('+', &c, &minus8, &out));
    assert_true(out.kind == EXPR_COMPLEX && out.re == 0);
    assert_non_null(expr_literal_combine('/', &i1, &zero, &out));
    expr_value yes = expr_literal(EXPR_BOOL, 1, 0, 0);
    assert_null(expr_literal_combine('+', &yes, &yes, &out));
    assert_true(out.kind == EXPR_INT && out.i == 2);
    assert_null(expr_literal_negate(&half, &out));
    assert_true(out.kind == EXPR_FLOAT && out.re == -0.5);
}

static void test_ranges_of_types(void **state)
{
    (void)state;
    static const struct {
        cubed_dtype dtype;
        int64_t least, most;
    } types[] = {{CUBED_INT8, INT8_MIN, INT8_MAX},    {CUBED_INT16, INT16_MIN, INT16_MAX},
                 {CUBED_INT32, INT32_MIN, INT32_MAX}, {CUBED_UINT8, 0, UINT8_MAX},
                 {CUBED_UINT16, 0, UINT16_MAX},       {CUBED_UINT32, 0, UINT32_MAX}};
    cubed_scalar s;
    for (size_t k = 0; k < sizeof types / sizeof *types; k++) {
        expr_value v = whole(types[k].most);
        assert_true(expr_literal_scalar(&v, types[k].dtype, &s));
        v = whole(types[k].most + 1);
        assert_false(expr_literal_scalar(&v, types[k].dtype, &s));
        v = whole(types[k].least);
        assert_true(expr_literal_scalar(&v, types[k].dtype, &s));
        v = whole(types[k].least - 1);
        assert_false(expr_literal_scalar(&v, types[k].dtype, &s));
    }
    expr_value v = whole(INT64_MAX);
    assert_true(expr_literal_scalar(&v, CUBED_UINT64, &s));
    assert_true(s.u64 == INT64_MAX);
    v = whole(-1);
    assert_false(expr_literal_scalar(&v, CUBED_UINT64, &s));
    v = expr_literal(EXPR_COMPLEX, 0, 1, -2);
    assert_true(expr_literal_scalar(&v, CUBED_COMPLEX64, &s));
    assert_true(s.c64[0] == 1 && s.c64[1] == -2);
}

/* --- Trees to arrays ---------------------------------------------------------------------------- */

typedef struct arrays {
    cubed_context *ctx;
    cubed_array *f, *h, *i, *s, *b, *c;
} arrays;

static double f_data[6];

static cubed_array *full(cubed_context *ctx, cubed_dtype dtype, int ndim)
{
    const int64_t shape[2] = {2, 3};
    const char *const dims[2] = {"y", "x"};
    cubed_scalar one = {.c128 = {0, 0}};
    cubed_array *x, *y;
    assert_int_equal(cubed_array_full(ctx, dtype, ndim, shape, NULL, &one, &x, NULL), CUBED_OK);
    assert_int_equal(cubed_array_with_dim_names(x, dims, &y, NULL), CUBED_OK);
    cubed_array_unref(x);
    return y;
}

static int set_up(void **state)
{
    static arrays a;
    const int64_t shape[2] = {2, 3};
    const char *const dims[2] = {"y", "x"};
    cubed_array *x;
    for (int i = 0; i < 6; i++) f_data[i] = i + 0.5;
    if (cubed_context_new(NULL, &a.ctx, NULL) != CUBED_OK) return 1;
    if (cubed_array_from_memory(a.ctx, CUBED_FLOAT64, 2, shape, NULL, NULL, f_data, &x, NULL) !=
        CUBED_OK)
        return 1;
    if (cubed_array_with_dim_names(x, dims, &a.f, NULL) != CUBED_OK) return 1;
    cubed_array_unref(x);
    a.h = full(a.ctx, CUBED_FLOAT32, 2);
    a.i = full(a.ctx, CUBED_INT64, 2);
    a.s = full(a.ctx, CUBED_INT8, 2);
    a.b = full(a.ctx, CUBED_BOOL, 2);
    a.c = full(a.ctx, CUBED_COMPLEX64, 2);
    *state = &a;
    return 0;
}

static int tear_down(void **state)
{
    arrays *a = *state;
    cubed_array *all[] = {a->f, a->h, a->i, a->s, a->b, a->c};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) cubed_array_unref(all[k]);
    cubed_context_unref(a->ctx);
    return 0;
}

static cubed_status lookup(void *ctx, const char *name, cubed_array **out, const char **known,
                           cubed_error *err)
{
    const arrays *a = ctx;
    cubed_array *const all[] = {a->f, a->h, a->i, a->s, a->b, a->c};
    static const char names[] = "fhisbc";
    const char *p = name[1] ? NULL : strchr(names, name[0]);
    (void)err;
    *out = p ? cubed_array_ref(all[p - names]) : NULL;
    *known = "b, c, f, h, i, s";
    return CUBED_OK;
}

static cubed_status build(const arrays *a, const char *text, expr_result *out, cubed_error *err)
{
    expr **list;
    int n;
    cubed_status st = expr_parse(text, &list, &n, err);
    if (st != CUBED_OK) return st;
    st = expr_build(a->ctx, text, list, n, &(expr_host){.lookup = lookup, .ctx = (void *)a}, out,
                    err);
    expr_free(list, n);
    return st;
}

static void test_types_of_results(void **state)
{
    static const struct {
        const char *text;
        cubed_dtype dtype;
    } cases[] = {
        {"i + 1", CUBED_INT64},
        {"s + 1", CUBED_INT8},
        {"s + True", CUBED_INT8},
        {"s + 1.0", CUBED_FLOAT64},
        {"h + 1.0", CUBED_FLOAT32},
        {"h + 1", CUBED_FLOAT32},
        {"h + 1j", CUBED_COMPLEX64},
        {"f + 1j", CUBED_COMPLEX128},
        {"i + 1j", CUBED_COMPLEX128},
        {"c + 1.0", CUBED_COMPLEX64},
        {"b + 1", CUBED_INT64},
        {"b & True", CUBED_BOOL},
        {"h * 2**40", CUBED_FLOAT32},
        {"s / 2", CUBED_FLOAT64},
        {"s ** 2", CUBED_INT8},
        {"s ** 1", CUBED_INT8},
        {"s ** 0.5", CUBED_FLOAT64},
        {"h ** -1", CUBED_FLOAT32},
        {"h < 1", CUBED_BOOL},
        {"where(b, h, 1)", CUBED_FLOAT32},
        {"where(b, 1, 2.5)", CUBED_FLOAT64},
        {"float32(i)", CUBED_FLOAT32},
        {"astype(i, 'uint8')", CUBED_UINT8},
        {"minimum(h, 1)", CUBED_FLOAT32},
        {"1", CUBED_INT64},
        {"1 + True", CUBED_INT64},
        {"1.0", CUBED_FLOAT64},
        {"True", CUBED_BOOL},
        {"1j", CUBED_COMPLEX128},
        {"mean(s)", CUBED_FLOAT64},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        cubed_error err = CUBED_ERROR_INIT;
        expr_result r;
        if (build(*state, cases[k].text, &r, &err) != CUBED_OK)
            fail_msg("%s: %s", cases[k].text, err.message);
        if (cubed_array_dtype(r.vars[0].array) != cases[k].dtype)
            fail_msg("%s is %s", cases[k].text,
                     cubed_dtype_name(cubed_array_dtype(r.vars[0].array)));
        expr_result_free(&r);
    }
}

static void test_errors_of_building(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"f * w", "at column 5: unknown name \"w\"; arrays here: b, c, f"},
        {"g(f)", "at column 1: unknown function \"g\""},
        {"s + 128", "128 is out of the range of int8"},
        {"i ** -1", "negative powers"},
        {"~1", "~ needs an array"},
        {"2**64", "beyond int64"},
        {"1/0", "division by zero"},
        {"f[2]", "at column 3: index 2 is out of bounds for an axis of extent 2"},
        {"f[-3]", "out of bounds"},
        {"f[0, 0, 0]", "3 indices for 2 dimensions"},
        {"f[..., ...]", "more than one ..."},
        {"f[::0]", "at column 3"},
        {"f[f]", "expected a whole number"},
        {"f['y']", "not a value here"},
        {"sum(f, dim='t')", "no dimension \"t\"; there are: y, x"},
        {"sum(f, axis=0, dim='y')", "axis= and dim= together"},
        {"sum(f, 0, axis=1)", "given twice"},
        {"sum(f, axis=0, axis=1)", "comes twice"},
        {"sum(axis=0, f)", "behind keywords"},
        {"sum(f, wrong=0)", "no argument \"wrong\""},
        {"sum(f, keepdims=1)", "expected True or False"},
        {"sum(f, correction=1)", "only var and std"},
        {"var(f, ddof=1, correction=1)", "give one of them"},
        {"sum(f, axis=2)", "axis 2"},
        {"sum()", "takes 1 or more arguments, got 0"},
        {"sqrt(f, f)", "takes 1 argument, got 2"},
        {"concat(f)", "expected a list of arrays"},
        {"concat([])", "expected a list of arrays"},
        {"permute_dims(f, (0,))", "every dimension"},
        {"rechunk(f, (1, 2, 3))", "one chunk length per dimension"},
        {"astype(f, 'float128')", "float128"},
        {"[f, f] + 1", "not a value here"},
        {"f + ...", "not a value here"},
        {"f + None", "not a value here"},
        {"_a = f; _a + 'x'", "not a value here"},
        {"broadcast_to(f, 5)", "at column 1"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        cubed_error err = CUBED_ERROR_INIT;
        expr_result r;
        if (build(*state, cases[k].text, &r, &err) == CUBED_OK)
            fail_msg("%s is accepted", cases[k].text);
        if (!strstr(err.message, cases[k].message) || !strchr(err.message, '^'))
            fail_msg("%s: \"%s\" has no \"%s\"", cases[k].text, err.message, cases[k].message);
        /* The place is said once. */
        assert_null(strchr(strchr(err.message, '^') + 1, '^'));
        assert_true(r.n == 0 && r.vars == NULL && r.ncut == 0);
    }
}

static void test_names_of_results(void **state)
{
    cubed_error err = CUBED_ERROR_INIT;
    expr_result r;
    assert_int_equal(build(*state, "_a = f; b = _a * 2; f; b = b + 1; _a[0]", &r, &err), CUBED_OK);
    static const struct {
        const char *name;
        bool is_result;
    } expected[] = {{"_a", false}, {"b", false}, {"result", true}, {"b", true}, {"result2", true}};
    assert_int_equal(r.n, 5);
    for (int i = 0; i < r.n; i++) {
        assert_string_equal(r.vars[i].name, expected[i].name);
        assert_int_equal(r.vars[i].is_result, expected[i].is_result);
    }
    expr_result_free(&r);
}

static void test_cut_dimensions(void **state)
{
    static const struct {
        const char *text;
        bool y, x;
    } cases[] = {
        {"f + h", false, false},
        {"f[:, :]", false, false},
        {"f[0:2, 0:99]", false, false},
        {"f[0]", false, false},
        {"mean(f, axis=0)", false, false},
        {"f[1:]", true, false},
        {"f[..., ::-1]", false, true},
        {"f - f[:, :1]", false, true},
        {"flip(f)", true, true},
        {"flip(f, axis=-1)", false, true},
        {"flip(f, dim='y')", true, false},
        {"concat([f, f], axis=-1)", false, true},
        {"concat([f, f], dim='y')", true, false},
        {"_a = f[:1]; h", true, false},
        {"transpose(rechunk(f, (1, -1)))", false, false},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        cubed_error err = CUBED_ERROR_INIT;
        expr_result r;
        if (build(*state, cases[k].text, &r, &err) != CUBED_OK)
            fail_msg("%s: %s", cases[k].text, err.message);
        if (expr_is_cut(&r, "y") != cases[k].y || expr_is_cut(&r, "x") != cases[k].x)
            fail_msg("%s: y %d, x %d", cases[k].text, expr_is_cut(&r, "y"), expr_is_cut(&r, "x"));
        expr_result_free(&r);
    }
}

/* Values, by way of a plan: each case gives at most six doubles. */
static void test_values(void **state)
{
    static const struct {
        const char *text;
        int n;
        double v[6];
    } cases[] = {
        {"f", 6, {0.5, 1.5, 2.5, 3.5, 4.5, 5.5}},
        {"-f**2 + 2*f/4", 6, {0, -1.5, -5, -10.5, -18, -27.5}},
        {"f[1, ::-1]", 3, {5.5, 4.5, 3.5}},
        {"f[..., None, 1:][0]", 2, {1.5, 2.5}},
        {"f[None, -1, 0]", 1, {3.5}},
        {"mean(f, dim='x')", 2, {1.5, 4.5}},
        {"sum(f, axis=(0, -1))", 1, {18}},
        {"var(f, ddof=1, axis=1)", 2, {1, 1}},
        {"where(f > 2, f, -1)", 6, {-1, -1, 2.5, 3.5, 4.5, 5.5}},
        {"transpose(f)[0]", 2, {0.5, 3.5}},
        {"concat([f[:1], f[1:, :1]], axis=1)[0]", 4, {0.5, 1.5, 2.5, 3.5}},
        {"concat([f, f[:, :1]], axis=0)", 0, {0}}, /* shapes differ */
        {"squeeze(f[:1]) * [1][0]", 0, {0}},
        {"(2 + 3) * 1.5 - 0.5", 1, {7}},
        {"a = f[0]; sum(a*a); a", 3, {0.5, 1.5, 2.5}},
        {"f**-1 * f**1 * f**0.5 / sqrt(f)", 6, {1, 1, 1, 1, 1, 1}},
        {"float64(b | (f < 1) & ~b)", 6, {1, 0, 0, 0, 0, 0}},
        {"nan * f[0]", 3, {NAN, NAN, NAN}},
    };
    const arrays *a = *state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        cubed_error err = CUBED_ERROR_INIT;
        expr_result r;
        double out[6] = {0};
        cubed_plan *plan;
        cubed_plan_options o = CUBED_PLAN_OPTIONS_INIT;
        cubed_status st = build(a, cases[k].text, &r, &err);
        if (cases[k].n == 0) {
            assert_int_not_equal(st, CUBED_OK);
            continue;
        }
        if (st != CUBED_OK) fail_msg("%s: %s", cases[k].text, err.message);
        cubed_array *x = r.vars[r.n - 1].array;
        if (cubed_array_dtype(x) != CUBED_FLOAT64) fail_msg("%s is not float64", cases[k].text);
        int64_t n = 1;
        for (int d = 0; d < cubed_array_ndim(x); d++) n *= cubed_array_shape(x)[d];
        assert_int_equal(n, cases[k].n);
        cubed_target t = {.array = x, .data = out};
        o.allowed_mem = (uint64_t)64 << 20;
        o.max_workers = 1;
        if (cubed_plan_new(a->ctx, &t, 1, &o, &plan, &err) != CUBED_OK ||
            cubed_run(plan, NULL, NULL, &err) != CUBED_OK)
            fail_msg("%s: %s", cases[k].text, err.message);
        for (int i = 0; i < cases[k].n; i++) {
            if (isnan(cases[k].v[i]) ? !isnan(out[i]) : fabs(out[i] - cases[k].v[i]) > 1e-15)
                fail_msg("%s: element %d is %.17g", cases[k].text, i, out[i]);
        }
        cubed_plan_unref(plan);
        expr_result_free(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_precedence),
        cmocka_unit_test(test_literals),
        cmocka_unit_test(test_calls_and_indices),
        cmocka_unit_test(test_statements),
        cmocka_unit_test(test_wrong_text),
        cmocka_unit_test(test_the_caret),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_whole_numbers),
        cmocka_unit_test(test_floats),
        cmocka_unit_test(test_ranges_of_types),
        cmocka_unit_test(test_types_of_results),
        cmocka_unit_test(test_errors_of_building),
        cmocka_unit_test(test_names_of_results),
        cmocka_unit_test(test_cut_dimensions),
        cmocka_unit_test(test_values),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
