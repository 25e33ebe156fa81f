/* A Pratt parser (Pratt, "Top down operator precedence", 1973) for NumPy-like expressions. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "lang/expr.h"
#include "lang/hints.h"
#include "lang/lang_memory.h"

/* Limits for untrusted text. MAX_DEPTH limits nested brackets and signs. The height of the syntax tree is also limited: a long
 * sum increases it, and functions that walk the tree recurse to this depth. */
#define MAX_DEPTH  200
#define MAX_HEIGHT 1000
#define MAX_NODES  10000
#define MAX_BYTES  ((size_t)1 << 20)

typedef struct parser {
    const char *text;
    int at; /* offset of the next token */
    int depth, nodes;
    int brackets; /* number of open brackets; newlines inside them are spaces */
    cubed_error *err;
    cubed_status status;
    /* node with number 0, which replaces a new node if memory is exhausted; never part of a tree */
    expr spare;
} parser;

static bool is_continuation(char c) { return ((unsigned char)c & 0xc0) == 0x80; }

/* Returns the number of UTF-8 characters between two byte offsets. */
static int count_characters(const char *text, int from, int to)
{
    int n = 0;
    for (int i = from; i < to; i++) n += !is_continuation(text[i]);
    return n;
}

cubed_status expr_fail(cubed_error *err, cubed_status status, const char *text, int at,
                       const char *fmt, ...)
{
    enum { AROUND = 60 }; /* maximum number of bytes shown to either side of the error */
    if (!err) return status;
    char what[600], where[48], line[2 * AROUND + 1];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    int start = at, lines = 1, n = 0;
    while (start > 0 && text[start - 1] != '\n') start--;
    for (int i = 0; i < start; i++) lines += text[i] == '\n';
    int column = count_characters(text, start, at) + 1;
    if (lines > 1 || strchr(text, '\n'))
        snprintf(where, sizeof where, "line %d, column %d", lines, column);
    else
        snprintf(where, sizeof where, "column %d", column);
    if (at - start > AROUND) start = at - AROUND;
    while (start < at && is_continuation(text[start])) start++;
    for (int i = start; text[i] && text[i] != '\n' && i < at + AROUND; i++)
        line[n++] = (char)((unsigned char)text[i] < ' ' || text[i] == 127 ? ' ' : text[i]);
    snprintf(err->message, sizeof err->message, "at %s: %s\n  %.*s\n  %*s^", where, what, n, line,
             count_characters(text, start, at), "");
    err->status = status;
    err->os_errno = 0;
    return status;
}

static void fail(parser *p, const char *what)
{
    if (p->status == CUBED_OK)
        p->status = expr_fail(p->err, CUBED_E_ARG, p->text, p->at, "%s", what);
}

static void fail_memory(parser *p)
{
    if (p->status == CUBED_OK)
        p->status = expr_fail(p->err, CUBED_E_NOMEM, p->text, p->at, EXPR_NO_MEMORY);
}

/* Fails at this token. If `value`, the parser expected a value, otherwise an operator or the end. */
static void fail_here(parser *p, bool value, const char *what)
{
    char hint[300];
    while (p->text[p->at] == ' ') p->at++;
    fail(p, expr_syntax_hint(p->text, p->at, value, hint, sizeof hint) ? hint : what);
}

static void skip_space(parser *p)
{
    for (;; p->at++) {
        char c = p->text[p->at];
        if (c != ' ' && c != '\t' && c != '\r' && (c != '\n' || !p->brackets)) return;
    }
}

static bool accept(parser *p, const char *token)
{
    skip_space(p);
    size_t n = strlen(token);
    if (strncmp(p->text + p->at, token, n) != 0) return false;
    /* Do not accept half of "**" or "==". */
    if (n == 1 && strchr("*=", token[0]) && p->text[p->at + 1] == token[0]) return false;
    p->at += (int)n;
    return true;
}

static expr *new_node(parser *p, expr_kind kind, int at)
{
    if (++p->nodes > MAX_NODES) fail(p, "the expression is too long");
    expr *e = lang_alloc(sizeof *e);
    if (!e) fail_memory(p);
    if (!e) e = &p->spare;
    e->kind = kind;
    e->at = at;
    e->number = e == &p->spare ? 0 : p->nodes;
    return e;
}

/* Node number 0, the replacement for failed allocations, has no children and is not freed. */
static void free_node(expr *e)
{
    if (!e || e->number == 0) return;
    for (int i = 0; i < e->n; i++) free_node(e->child[i]);
    lang_free(e->child);
    lang_free(e->text);
    lang_free(e);
}

void expr_free(expr **list, int n)
{
    for (int i = 0; i < n; i++) free_node(list[i]);
    lang_free(list);
}

/* Ensures that a list of n pointers has space for one more. Doubles the list when it is full. */
static bool grow(expr ***list, int n)
{
    if (n & (n - 1)) return true;
    expr **longer = lang_resize(*list, (n ? 2 * (size_t)n : 1) * sizeof *longer);
    if (longer) *list = longer;
    return longer != NULL;
}

static void add_child(parser *p, expr *e, expr *child)
{
    if (child->height >= e->height) e->height = child->height + 1;
    if (e->height > MAX_HEIGHT) fail(p, "the expression is too long: name parts of it with name =");
    if (e->number == 0 || child->number == 0 || !grow(&e->child, e->n)) {
        free_node(child);
        fail_memory(p);
        return;
    }
    e->child[e->n++] = child;
}

/* Sets the string of a node to the bytes from `start` to `end`. */
static void set_text(parser *p, expr *e, int start, int end)
{
    if (e->number == 0) return;
    e->text = lang_printf("%.*s", end - start, p->text + start);
    if (!e->text) fail_memory(p);
}

static expr *parse_binary(parser *p, int power);

/* Sets the string of a node to the name at this position. */
static void take_name(parser *p, expr *e)
{
    int start = p->at;
    while (isalnum((unsigned char)p->text[p->at]) || p->text[p->at] == '_') p->at++;
    set_text(p, e, start, p->at);
}

static expr *parse_number(parser *p)
{
    expr *e = new_node(p, EXPR_INT, p->at);
    const char *s = p->text + p->at;
    char *end, *int_end;
    errno = 0;
    e->integer = strtoll(s, &int_end, 10);
    bool overflow = errno == ERANGE;
    e->re = strtod(s, &end);
    if (s[0] == '0' && (s[1] == 'x' || s[1] == 'X')) {
        fail(p, "numbers are decimal");
        return e;
    }
    if (end > int_end) e->kind = EXPR_FLOAT;
    /* Refuses leading zeros, as Python does. Otherwise 2020-03 would be 2017. */
    const bool is_padded = s[0] == '0' && e->integer != 0;
    if (*end == 'j' || *end == 'J') {
        e->kind = EXPR_COMPLEX;
        e->im = e->re;
        e->re = 0;
        end++;
    }
    if (e->kind == EXPR_INT && is_padded)
        fail(p, "an integer with leading zeros, expected none; dates are in quotes: \"2020-03\"");
    if (e->kind == EXPR_INT && overflow) fail(p, "beyond int64: write it as a float");
    p->at += (int)(end - s);
    if (isalnum((unsigned char)*end) || *end == '_')
        fail(p, "a number is directly followed by a letter or _");
    return e;
}

static expr *parse_string(parser *p)
{
    char quote = p->text[p->at];
    int start = p->at + 1;
    const char *end = strchr(p->text + start, quote);
    expr *e = new_node(p, EXPR_STRING, p->at);
    if (!end) {
        fail(p, "a string without a closing quote");
        return e;
    }
    p->at = (int)(end - p->text) + 1;
    set_text(p, e, start, p->at - 1);
    return e;
}

/* Parses expressions and keywords up to the token `close`. */
static void parse_list(parser *p, expr *into, const char *close, bool *comma)
{
    bool any = false;
    p->brackets++;
    while (p->status == CUBED_OK && !accept(p, close)) {
        if (any) {
            if (!accept(p, ",")) fail_here(p, false, "expected a comma or the closing bracket");
            if (comma) *comma = true;
            if (accept(p, close)) break;
        }
        any = true;
        expr *e = parse_binary(p, 0);
        if (e && e->kind == EXPR_NAME && accept(p, "=")) {
            e->kind = EXPR_KEYWORD;
            expr *value = parse_binary(p, 0);
            if (value) add_child(p, e, value);
        }
        if (e) add_child(p, into, e);
    }
    p->brackets--;
}

static expr *parse_index_item(parser *p)
{
    skip_space(p);
    int at = p->at;
    expr *part[3] = {NULL, NULL, NULL};
    int n = 0;
    bool colon = false;
    for (; n < 3 && p->status == CUBED_OK; n++) {
        skip_space(p);
        char c = p->text[p->at];
        if (c != ':' && c != ',' && c != ']') part[n] = parse_binary(p, 0);
        if (n == 2 || !accept(p, ":")) break;
        colon = true;
    }
    if (!colon) {
        if (!part[0]) fail(p, "expected an index");
        return part[0];
    }
    expr *e = new_node(p, EXPR_SLICE, at);
    for (int i = 0; i < 3; i++) add_child(p, e, part[i] ? part[i] : new_node(p, EXPR_NONE, at));
    return e;
}

static expr *parse_postfix(parser *p, expr *e)
{
    while (e) {
        skip_space(p);
        int at = p->at;
        if (!accept(p, "[")) return e;
        expr *x = new_node(p, EXPR_INDEX, at);
        add_child(p, x, e);
        e = x;
        p->brackets++;
        do {
            expr *item = parse_index_item(p);
            if (item) add_child(p, e, item);
            if (p->status != CUBED_OK || !accept(p, ",")) break;
            skip_space(p);
        } while (p->text[p->at] != ']');
        if (!accept(p, "]"))
            fail_here(p, false,
                      p->text[p->at] == '='
                          ? "elements are chosen by coordinates with sel(x, time=\"2020-01\")"
                          : "expected a comma or ]");
        p->brackets--;
        if (p->status != CUBED_OK) return e;
    }
    return NULL;
}

/* Constants. */
static const struct {
    const char *name;
    expr_kind kind;
    double value;
} constants[] = {{"True", EXPR_BOOL, 1},
                 {"False", EXPR_BOOL, 0},
                 {"None", EXPR_NONE, 0},
                 {"nan", EXPR_FLOAT, (double)NAN},
                 {"inf", EXPR_FLOAT, (double)INFINITY},
                 {"pi", EXPR_FLOAT, 3.141592653589793}};

static int find_constant(const char *name)
{
    for (int i = 0; name && i < (int)(sizeof constants / sizeof *constants); i++) {
        if (strcmp(constants[i].name, name) == 0) return i;
    }
    return -1;
}

static expr *parse_name(parser *p)
{
    expr *e = new_node(p, EXPR_NAME, p->at);
    take_name(p, e);
    int constant = find_constant(e->text);
    if (constant >= 0) {
        e->kind = constants[constant].kind;
        e->re = constants[constant].value;
        e->integer = e->kind == EXPR_BOOL && e->re == 1;
    } else if (accept(p, "(")) {
        e->kind = EXPR_CALL;
        parse_list(p, e, ")", NULL);
    }
    return e;
}

static expr *parse_atom(parser *p)
{
    skip_space(p);
    int at = p->at;
    char c = p->text[p->at];
    if (isdigit((unsigned char)c) || (c == '.' && isdigit((unsigned char)p->text[at + 1])))
        return parse_number(p);
    if (isalpha((unsigned char)c) || c == '_') return parse_name(p);
    if (c == '\'' || c == '"') return parse_string(p);
    if (accept(p, "...")) return new_node(p, EXPR_ELLIPSIS, at);
    if (c == '(' || c == '[') {
        bool comma = false;
        expr *e = new_node(p, EXPR_TUPLE, at);
        e->op = c;
        p->at++;
        parse_list(p, e, c == '(' ? ")" : "]", &comma);
        if (c == '(' && e->n == 1 && !comma) { /* an expression in parentheses, not a tuple */
            expr *inner = e->child[0];
            e->n = 0;
            free_node(e);
            return inner;
        }
        return e;
    }
    if (c)
        fail_here(p, true, "expected a value");
    else
        fail(p, "the expression ends too early");
    return NULL;
}

static expr *unary(parser *p, char op, int at, int power)
{
    expr *e = new_node(p, EXPR_UNARY, at);
    e->op = op;
    expr *x = parse_binary(p, power);
    if (x) add_child(p, e, x);
    return e;
}

static expr *parse_prefix(parser *p)
{
    skip_space(p);
    int at = p->at;
    /* As in Python: -x**2 is -(x**2), and ~a & b is (~a) & b. */
    if (accept(p, "-")) return unary(p, '-', at, 70);
    if (accept(p, "+")) return unary(p, '+', at, 70);
    if (accept(p, "~")) return unary(p, '~', at, 70);
    return parse_postfix(p, parse_atom(p));
}

/* Python's precedences. Comparisons do not chain. */
static const struct {
    const char *token;
    char op;
    int left, right;
} operators[] = {
    /* In this list, an operator must precede any operator that is a prefix of it. */
    {"**", 'p', 80, 71}, {"*", '*', 60, 61},  {"//", 'd', 60, 61}, {"/", '/', 60, 61},
    {"%", '%', 60, 61},  {"+", '+', 50, 51},  {"-", '-', 50, 51},  {"<<", 's', 45, 46},
    {">>", 'r', 45, 46}, {"&", '&', 40, 41},  {"^", '^', 35, 36},  {"|", '|', 30, 31},
    {"<=", 'l', 20, 21}, {">=", 'g', 20, 21}, {"==", 'e', 20, 21}, {"!=", 'n', 20, 21},
    {"<", '<', 20, 21},  {">", '>', 20, 21},
};

static expr *parse_binary(parser *p, int power)
{
    if (++p->depth > MAX_DEPTH) fail(p, "the expression is nested too deeply");
    expr *left = p->status == CUBED_OK ? parse_prefix(p) : NULL;
    bool compared = false;
    while (p->status == CUBED_OK) {
        skip_space(p);
        int at = p->at;
        size_t i = 0, count = sizeof operators / sizeof *operators;
        for (; i < count; i++) {
            if (operators[i].left > power && accept(p, operators[i].token)) break;
        }
        if (i == count) break;
        if (operators[i].left == 20 && compared)
            fail(p, "comparisons do not chain: use (a < b) & (b < c)");
        compared = compared || operators[i].left == 20;
        expr *e = new_node(p, EXPR_BINARY, at);
        e->op = operators[i].op;
        add_child(p, e, left);
        expr *right = parse_binary(p, operators[i].right - 1);
        if (right) add_child(p, e, right);
        left = e;
    }
    p->depth--;
    return left;
}

/* Parses "name =" or "name, name, ... =". */
static bool parse_targets(parser *p, expr *e)
{
    do {
        skip_space(p);
        int at = p->at;
        if (!isalpha((unsigned char)p->text[at]) && p->text[at] != '_') return false;
        if (e->text) {
            expr *other = new_node(p, EXPR_NAME, at);
            take_name(p, other);
            add_child(p, e, other);
        } else {
            take_name(p, e);
        }
    } while (accept(p, ","));
    return accept(p, "=");
}

static expr *parse_statement(parser *p)
{
    skip_space(p);
    int start = p->at;
    expr *e = new_node(p, EXPR_ASSIGN, start);
    if (!parse_targets(p, e)) {
        free_node(e);
        p->at = start;
        return parse_binary(p, 0);
    }
    bool constant = find_constant(e->text) >= 0;
    for (int i = 0; i < e->n; i++) constant = constant || find_constant(e->child[i]->text) >= 0;
    if (constant) fail(p, "this name is a constant");
    expr *value = parse_binary(p, 0);
    if (value) add_child(p, e, value);
    return e;
}

cubed_status expr_parse(const char *text, expr ***out, int *n, cubed_error *err)
{
    parser p = {.text = text, .err = err};
    expr **list = NULL;
    int count = 0;
    if (strlen(text) > MAX_BYTES) fail(&p, "the expression is longer than 1 MiB");
    while (p.status == CUBED_OK) {
        while (p.text[p.at] && strchr(" \t\r\n;", p.text[p.at])) p.at++;
        if (!p.text[p.at]) break;
        expr *e = parse_statement(&p);
        if (e && e->number != 0 && grow(&list, count)) {
            list[count++] = e;
        } else if (e) {
            free_node(e);
            fail_memory(&p);
        }
        skip_space(&p);
        if (p.text[p.at] && !strchr("\n;", p.text[p.at]))
            fail_here(&p, false, "expected an operator or ;");
    }
    if (p.status == CUBED_OK && count == 0) fail(&p, "there is no expression");
    if (p.status != CUBED_OK) {
        expr_free(list, count);
        return p.status;
    }
    *out = list;
    *n = count;
    return CUBED_OK;
}
