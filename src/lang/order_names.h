/* Names of order statistics of groups. */
#ifndef CUBED_LANG_ORDER_NAMES_H
#define CUBED_LANG_ORDER_NAMES_H

#include <stdbool.h>

enum { ORDER_SKIP_NAN = 1, ORDER_PERCENT = 2, ORDER_MEDIAN = 4 };

/* Returns the flags of "median", "nanquantile" and the like; -1 for other names. */
int order_name_flags(const char *name);
/* All but medians take the numbers q. */
bool order_name_takes_q(const char *name);

#endif
