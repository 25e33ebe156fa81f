/* "did you mean": the nearest of some words to one that is none of them. */
#ifndef CUBED_LANG_GUESS_H
#define CUBED_LANG_GUESS_H

#include <stddef.h>

enum { GUESS_LONGEST = 64, GUESS_TEXT = 96 };

typedef struct lang_guess {
    const char *word; /* that somebody wrote */
    char best[GUESS_LONGEST];
    int distance; /* of `best`, which is empty where nothing is near */
} lang_guess;

/* Begins with a word; nothing is near longer ones than names have. */
void lang_guess_init(lang_guess *g, const char *word);
/* The next candidate: the first `n` characters. */
void lang_guess_try(lang_guess *g, const char *candidate, size_t n);
/* All words of a list "a, b, c" or "a|b|c". */
void lang_guess_list(lang_guess *g, const char *list);
/* " (did you mean \"mean\"?)", or "" where nothing is near. Returns `text`. */
const char *lang_guess_text(const lang_guess *g, char text[GUESS_TEXT]);

#endif
