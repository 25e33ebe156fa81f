/* The expression language of `cubed eval`: trees and literals that text means, and errors for other text. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lang/expr.h"
#include "lang/expr_value.h"

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
    {"'abc", "at column 1: a string without a closing quote"},
    {"1x", "a number is directly followed by a letter or _"},
    {"1_000", "a number is directly followed by a letter or _"},
    {"0x10", "at column 1: numbers are decimal"},
    {"2020-03", "at column 6: an integer with leading zeros, expected none"},
    {"007", "at column 1: an integer with leading zeros, expected none"},
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
        /* A caller may pass NULL for the error. */
        assert_int_equal(expr_parse(wrong[i].text, &list, &n, NULL), CUBED_E_ARG);
    }
}

/* The caret is under the character, also in a line that is shortened at both ends. */
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

/* --- Text that would be too expensive ----------------------------------------------------------- */

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
    /* Text that people write is far below the limits. */
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
    /* Division rounds once, as IEEE requires, also for whole numbers. */
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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
