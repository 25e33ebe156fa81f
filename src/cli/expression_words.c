/* Completion inside expressions: names of functions and their parameters from the catalogue. */
#include <string.h>

#include "cli.h"
#include "cubed/catalogue.h"
#include "lang/function_hints.h"

enum { MAX_DEPTH = 64 };

static const char name_characters[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";

/* A name in a text. */
typedef struct span {
    const char *start;
    int n;
} span;

/* Finds the function whose parenthesis is open at the end of `text`, and the name that the text ends with. Each may be
 * empty. Returns false inside a string, and if parentheses are nested too deeply. */
static bool find_end(const char *text, span *function, span *last)
{
    span open[MAX_DEPTH];
    int depth = 0;
    *last = (span){text, 0};
    for (const char *s = text; *s;) {
        const size_t n = strspn(s, name_characters);
        if (n > 0) {
            *last = (span){s, (int)n};
            s += n;
            continue;
        }
        if (*s == '\'' || *s == '"') {
            s = strchr(s + 1, *s);
            if (!s) return false;
        }
        if (*s == '(' || *s == '[') {
            if (depth == MAX_DEPTH) return false;
            open[depth++] = *s == '(' ? *last : (span){s, 0};
        }
        if ((*s == ')' || *s == ']') && depth > 0) depth--;
        *last = (span){++s, 0};
    }
    *function = depth > 0 ? open[depth - 1] : (span){text, 0};
    return true;
}

static void put_word(FILE *f, const char *text, const span *last, const char *name, char end)
{
    if (strncmp(name, last->start, (size_t)last->n) != 0) return;
    fprintf(f, "%.*s%s%c\n", (int)(last->start - text), text, name, end);
}

/* Returns true if a value ends at `end`, after which an operator is expected. */
static bool ends_value(const char *text, const char *end)
{
    while (end > text && end[-1] == ' ') end--;
    return end > text && (strchr(name_characters, end[-1]) || strchr(")]'\"", end[-1]));
}

/* State of the completion of `last`, the name at the end of a text, for functions outside the catalogue. */
typedef struct completed {
    FILE *f;
    const char *text;
    const span *last;
} completed;

static void put_unlisted(void *ctx, const char *name)
{
    const completed *c = ctx;
    put_word(c->f, c->text, c->last, name, '(');
}

void cli_print_expression_words(FILE *f, const char *text)
{
    char name[64];
    span function, last;
    if (!find_end(text, &function, &last) || strspn(last.start, "0123456789") > 0) return;
    if (ends_value(text, last.start)) return;
    snprintf(name, sizeof name, "%.*s", function.n, function.start);
    const cubed_function *call = cubed_function_find(name);
    for (int i = 0; call && i < call->nparams; i++) {
        const cubed_param *p = cubed_function_param(call, i);
        const unsigned unnamed =
            CUBED_PARAM_POSITION_ONLY | CUBED_PARAM_VARIADIC | CUBED_PARAM_ENGINE;
        if (!(p->flags & unnamed)) put_word(f, text, &last, p->name, '=');
    }
    for (const cubed_function *c = cubed_function_next(NULL); c; c = cubed_function_next(c))
        put_word(f, text, &last, c->name, '(');
    expr_function_each(put_unlisted, &(completed){f, text, &last});
}
