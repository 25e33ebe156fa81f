/* "did you mean": finds the candidate that is most similar to an unknown word. */
#ifndef CUBED_LANG_GUESS_H
#define CUBED_LANG_GUESS_H

#include <stddef.h>

enum { GUESS_LONGEST = 64, GUESS_TEXT = 96 };

typedef struct lang_guess {
    const char *word; /* the unknown word; borrowed */
    char best[GUESS_LONGEST];
    int distance; /* edit distance of `best`, the best candidate so far; `best` is "" if none is similar */
} lang_guess;

/* Starts a search for `word`. Words of GUESS_LONGEST characters or more have no similar candidates. */
void lang_guess_init(lang_guess *g, const char *word);
/* Compares the next candidate: the first `n` characters. */
void lang_guess_try(lang_guess *g, const char *candidate, size_t n);
/* Compares all words of a list "a, b, c" or "a|b|c". */
void lang_guess_list(lang_guess *g, const char *list);
/* Writes " (did you mean \"mean\"?)", or "" if no candidate is similar. Returns `text`. */
const char *lang_guess_text(const lang_guess *g, char text[GUESS_TEXT]);

#endif
