#include "lang/hints.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "lang/guess.h"

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

static bool is_one_of(const char *word, size_t n, const char *const *list)
{
    for (; *list; list++) {
        if (strlen(*list) == n && strncmp(*list, word, n) == 0) return true;
    }
    return false;
}

/* Sets *word to the word before text + at, ignoring spaces, and returns its length. */
static size_t word_before(const char *text, int at, const char **word)
{
    while (at > 0 && text[at - 1] == ' ') at--;
    int start = at;
    while (start > 0 && is_word(text[start - 1])) start--;
    *word = text + start;
    return (size_t)(at - start);
}

static size_t word_at(const char *text)
{
    size_t n = 0;
    while (is_word(text[n])) n++;
    return n;
}

/* Writes a hint if the text has a method or attribute of Python, such as x.mean(). `at` is the offset of the dot. */
static bool dot_hint(const char *text, int at, char *hint, size_t cap)
{
    static const char *const modules[] = {"np", "numpy", "xp",   "xr",  "xarray", "da",
                                          "cp", "cubed", "math", "jnp", NULL};
    const char *before, *name = text + at + 1;
    const size_t n = word_before(text, at, &before), length = word_at(name);
    if (length == 0 || length > GUESS_LONGEST) return false;
    const int shown = (int)(n < GUESS_LONGEST ? n : GUESS_LONGEST);
    const char *owner = n > 0 ? before : "x";
    const int nowner = n > 0 ? shown : 1;
    if (n > 0 && is_one_of(before, n, modules)) {
        snprintf(hint, cap,
                 "functions have no module here: write %.*s(...) instead of %.*s.%.*s(...)",
                 (int)length, name, nowner, owner, (int)length, name);
    } else if (name[length] == '(') {
        snprintf(hint, cap,
                 "there are no methods here: write %.*s(%.*s, ...) instead of %.*s.%.*s(...)",
                 (int)length, name, nowner, owner, nowner, owner, (int)length, name);
    } else if (length == 1 && name[0] == 'T') {
        snprintf(hint, cap, "there are no attributes here: write transpose(%.*s)", nowner, owner);
    } else {
        snprintf(hint, cap, "there are no attributes here, such as .%.*s", (int)length, name);
    }
    return true;
}

static const struct {
    const char *word, *hint;
} words[] = {
    {"and", "\"and\" is written &, with brackets around comparisons: (a < b) & (b < c)"},
    {"or", "\"or\" is written |, with brackets around comparisons: (a < b) | (b < c)"},
    {"not", "\"not\" is written ~, with brackets around comparisons: ~(a < b)"},
    {"if", "there is no \"if\" here: write where(condition, a, b)"},
    {"else", "there is no \"else\" here: write where(condition, a, b)"},
    {"in", "there is no \"in\" here: write isin(a, (1, 2))"},
    {"is", "there is no \"is\" here: write isnan(a), or a == b"},
    {"for", "there are no loops here: operations take whole arrays"},
    {"lambda", "an expression cannot define functions"},
    {"def", "an expression cannot define functions"},
    {"import", "functions need no import here"},
};

static const char *hint_of_word(const char *word, size_t n)
{
    for (size_t i = 0; n > 0 && i < sizeof words / sizeof *words; i++) {
        if (strlen(words[i].word) == n && strncmp(words[i].word, word, n) == 0)
            return words[i].hint;
    }
    return NULL;
}

bool expr_syntax_hint(const char *text, int at, bool value, char *hint, size_t cap)
{
    const char *here = text + at, *before, *said = NULL;
    if (!value && *here == '.') return dot_hint(text, at, hint, cap);
    const size_t n = word_before(text, at, &before);
    said = hint_of_word(here, word_at(here));
    if (!said) said = hint_of_word(before, n);
    if (!said && *here == '@') said = "products of matrices are written matmul(a, b)";
    if (!said && *here == '!') said = "\"not\" is written ~, with brackets around comparisons";
    if (!said && value && at > 0 && here[-1] == *here && *here == '&')
        said = "\"and\" is written &, with brackets around comparisons: (a < b) & (b < c)";
    if (!said && value && at > 0 && here[-1] == *here && *here == '|')
        said = "\"or\" is written |, with brackets around comparisons: (a < b) | (b < c)";
    if (!said && *here == '{') said = "there are no dictionaries here";
    if (said) snprintf(hint, cap, "%s", said);
    return said != NULL;
}
