/* Text, numbers, colours and memory of reports. */
#ifndef CUBED_REPORT_TEXT_H
#define CUBED_REPORT_TEXT_H

#include <stdio.h>

#include "cubed/base.h"

enum { TEXT_COLOURS = 8 };

/* Text for HTML and XML, at most `max` characters of it: the beginning, or the end. What is cut off
 * is an ellipsis; what is no UTF-8 is a question mark. */
void text_put(FILE *f, const char *s);
void text_put_start(FILE *f, const char *s, int max);
void text_put_end(FILE *f, const char *s, int max);
/* Characters of text that is put so. */
int text_width(const char *s, int max);
/* "1.5 GB", "12 ms"; return `text`. */
const char *text_bytes(double bytes, char text[32]);
const char *text_time(double seconds, char text[32]);
/* The step of an axis that has about `ticks` of them: 1, 2 or 5 times a power of ten. */
double text_step(double extent, int ticks);
/* A stage's colour, as #rrggbb. */
const char *text_colour(int stage);

/* Zeroed; NULL (and *err) if there is none. */
void *text_alloc(size_t n, size_t size, cubed_error *err);
void text_free(void *p);

#endif
