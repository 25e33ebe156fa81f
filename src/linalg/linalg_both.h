/* Includes CB_LINALG_FILE, and the templates that such files share, with T = double and with T = cb_complex. At most once
 * per file. */
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
