/* Arguments that are numbers, in operations with arrays (cubed/catalogue.h). */
#ifndef CB_CATALOGUE_LITERAL_H
#define CB_CATALOGUE_LITERAL_H

#include "cubed/catalogue.h"

/* Returns true for CUBED_VALUE_BOOL, _INT, _FLOAT and _COMPLEX. */
bool cb_is_number(const cubed_value *v);

#endif
