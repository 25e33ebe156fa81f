/* Makes text safe to print on a terminal. */
#ifndef CUBED_REPORT_VISIBLE_H
#define CUBED_REPORT_VISIBLE_H

#include <stdbool.h>

/* Returns a copy of a text without secrets, in which control characters are escaped ("\x1b"). With `lines`, newlines are
 * kept. The caller frees the copy with text_free. Returns NULL if out of memory. */
char *text_visible(const char *text, bool lines);

#endif
