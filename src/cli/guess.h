/* "did you mean": the nearest of some words to one that is none of them. */
#ifndef CUBED_CLI_GUESS_H
#define CUBED_CLI_GUESS_H

#include <stddef.h>

enum { GUESS_LONGEST = 64, GUESS_TEXT = 96 };

typedef struct cli_guess {
    const char *word; /* that somebody wrote */
    char best[GUESS_LONGEST];
    int distance; /* of `best`, which is empty where nothing is near */
} cli_guess;

/* Begins with a word; nothing is near longer ones than names have. */
void cli_guess_init(cli_guess *g, const char *word);
/* The next candidate: the first `n` characters. */
void cli_guess_try(cli_guess *g, const char *candidate, size_t n);
/* All words of a list "a, b, c" or "a|b|c". */
void cli_guess_list(cli_guess *g, const char *list);
/* " (did you mean \"mean\"?)", or "" where nothing is near. Returns `text`. */
const char *cli_guess_text(const cli_guess *g, char text[GUESS_TEXT]);

#endif
