/* Text that is safe on a terminal. */
#ifndef CUBED_REPORT_VISIBLE_H
#define CUBED_REPORT_VISIBLE_H

#include <stdbool.h>

/* Returns a copy of a text without secrets, in which control characters are spelled out ("\x1b"). With `lines` newlines stay. The
 * caller releases it with text_free; NULL if there is no memory. */
char *text_visible(const char *text, bool lines);

#endif
