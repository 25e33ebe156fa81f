#include "lang/guess.h"

#include <ctype.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Costs of a change of case, and of any other edit of one character. */
enum { CASE = 1, EDIT = 2 };

static int cost(char a, char b)
{
    if (a == b) return 0;
    return tolower((unsigned char)a) == tolower((unsigned char)b) ? CASE : EDIT;
}

static int least(int a, int b) { return a < b ? a : b; }

/* Returns EDIT times the optimal string alignment distance: the number of insertions, deletions, substitutions and swaps of
 * neighbours. A change of case costs CASE. Both words are shorter than GUESS_LONGEST. */
static int distance(const char *a, int na, const char *b, int nb)
{
    int rows[3][GUESS_LONGEST + 1];
    int *before = rows[0], *last = rows[1], *row = rows[2];
    for (int j = 0; j <= nb; j++) last[j] = j * EDIT;
    for (int i = 1; i <= na; i++) {
        row[0] = i * EDIT;
        for (int j = 1; j <= nb; j++) {
            row[j] = least(last[j], row[j - 1]) + EDIT;
            row[j] = least(row[j], last[j - 1] + cost(a[i - 1], b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = least(row[j], before[j - 2] + EDIT);
        }
        int *free = before;
        before = last;
        last = row;
        row = free;
    }
    return last[nb];
}

void lang_guess_init(lang_guess *g, const char *word)
{
    *g = (lang_guess){.word = word, .distance = INT_MAX};
}

void lang_guess_try(lang_guess *g, const char *candidate, size_t n)
{
    const size_t length = strlen(g->word);
    if (n == 0 || n >= GUESS_LONGEST || length == 0 || length >= GUESS_LONGEST) return;
    /* Allows one change in words of up to four letters, two in words of five to seven, and one more for each further three
     * letters. */
    const int most = EDIT * (length <= 4 ? 1 : (int)(length - 2) / 3 + 1);
    const bool same = n == length && strncasecmp(g->word, candidate, n) == 0;
    const int d = same ? CASE : distance(g->word, (int)length, candidate, (int)n);
    /* Words in which every character differs, such as "x" and "y", do not resemble each other. */
    if (d > most || d >= EDIT * (int)(n < length ? length : n) || d >= g->distance) return;
    g->distance = d;
    snprintf(g->best, sizeof g->best, "%.*s", (int)n, candidate);
}

void lang_guess_list(lang_guess *g, const char *list)
{
    while (*list) {
        const size_t n = strcspn(list, ", |");
        lang_guess_try(g, list, n);
        list += n;
        list += strspn(list, ", |");
    }
}

const char *lang_guess_text(const lang_guess *g, char text[GUESS_TEXT])
{
    text[0] = 0;
    if (g->best[0]) snprintf(text, GUESS_TEXT, " (did you mean \"%s\"?)", g->best);
    return text;
}
