/* Includes the file CB_LINALG_FILE with T = double and with T = cb_complex, after the templates that the file uses. A .c file may
 * include this header only once. */
#include "linalg/linalg_wy.h"

#define T   double
#define TAG d
#include "linalg/linalg_vector.inc.h"

#include "linalg/linalg_reflector.inc.h"

#include "linalg/linalg_scale.inc.h"

#include "linalg/linalg_products.inc.h"

#include "linalg/linalg_wy.inc.h"
#undef T
#undef TAG
#define T   cb_complex
#define TAG z
#include "linalg/linalg_vector.inc.h"

#include "linalg/linalg_reflector.inc.h"

#include "linalg/linalg_scale.inc.h"

#include "linalg/linalg_products.inc.h"

#include "linalg/linalg_wy.inc.h"

#include CB_LINALG_FILE
#undef T
#undef TAG
#define T   double
#define TAG d
#include CB_LINALG_FILE
#undef T
#undef TAG
