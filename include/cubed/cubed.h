/* Includes all public headers of the API. */
#ifndef CUBED_H
#define CUBED_H

#include "cubed/array.h"
#include "cubed/array_api.h"
#include "cubed/attribute.h"
#include "cubed/base.h"
#include "cubed/blockwise.h"
#include "cubed/calendar.h"
#include "cubed/cancel.h"
#include "cubed/catalogue.h"
#include "cubed/cf.h"
#include "cubed/context.h"
#include "cubed/dtype.h"
#include "cubed/fields.h"
#include "cubed/filters.h"
#include "cubed/groupby.h"
#include "cubed/interpolation.h"
#include "cubed/measurements.h"
#include "cubed/new_file.h"
#include "cubed/plan.h"
#include "cubed/remap.h"
#include "cubed/rolling.h"
#include "cubed/run.h"
#include "cubed/stats.h"
#include "cubed/zarr.h"

#endif
