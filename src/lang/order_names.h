/* Names of the order statistics that reduce groups. */
#ifndef CUBED_LANG_ORDER_NAMES_H
#define CUBED_LANG_ORDER_NAMES_H

#include <stdbool.h>

enum { ORDER_SKIP_NAN = 1, ORDER_PERCENT = 2, ORDER_MEDIAN = 4 };

/* Returns the flags of a name such as "median" or "nanquantile", or -1 for other names. */
int order_name_flags(const char *name);
/* Returns true if the function with this name has the parameter q (quantiles). All order statistics except medians have it. */
bool order_name_takes_q(const char *name);

#endif
