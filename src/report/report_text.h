/* Strings, numbers, colours and memory of reports. */
#ifndef CUBED_REPORT_TEXT_H
#define CUBED_REPORT_TEXT_H

#include <stdio.h>

#include "cubed/base.h"

enum { TEXT_COLOURS = 8 };

/* Write a string escaped for HTML and XML: all of it, or at most `max` characters from its start or end. An ellipsis
 * replaces removed characters, a question mark invalid UTF-8. */
void text_put(FILE *f, const char *s);
void text_put_start(FILE *f, const char *s, int max);
void text_put_end(FILE *f, const char *s, int max);
/* Writes a string as JSON, with at most `max` characters, and an ellipsis if it has more. Question marks replace invalid
 * UTF-8. */
void text_put_json(FILE *f, const char *s, int max);
/* Returns the number of characters that text_put, text_put_start and text_put_end write. */
int text_width(const char *s, int max);
/* Format values as strings such as "1.5 GB" and "12 ms". Return `text`. */
const char *text_bytes(double bytes, char text[32]);
const char *text_time(double seconds, char text[32]);
/* Returns the step of an axis with about `ticks` ticks: 1, 2 or 5 times a power of ten. */
double text_step(double extent, int ticks);
/* Returns a stage's colour, as #rrggbb. */
const char *text_colour(int stage);

/* Returns zeroed memory; NULL, and sets *err, if out of memory. */
void *text_alloc(size_t n, size_t size, cubed_error *err);
void text_free(void *p);

#endif
