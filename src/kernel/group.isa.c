/* Reductions by group. Sums of integers wrap around, because this file is compiled with -fwrapv. */
#include "kernel/kernel_isa.h"

#define IS_MISSING(x) false
#define SUMS          1
#define T             int64_t
#define S             int64_t
#define TAG           i8
#define SKIP          0
#define COUNTS        0
#include "kernel/group.inc.h"
#undef T
#undef S
#define T      uint64_t
#define S      uint64_t
#define TAG    u8
#define SKIP   0
#define COUNTS 0
#include "kernel/group.inc.h"
#undef T
#undef S
#undef SUMS
#undef IS_MISSING

#define IS_MISSING(x) ((x) == INT64_MIN)
#define SUMS          0
#define T             int64_t
#define S             int64_t
#define TAG           m8
#define SKIP          0
#define COUNTS        0
#include "kernel/group.inc.h"
#define TAG    m8_skip
#define SKIP   1
#define COUNTS 0
#include "kernel/group.inc.h"
#define TAG    m8_count
#define SKIP   1
#define COUNTS 1
#include "kernel/group.inc.h"
#undef T
#undef S
#undef SUMS
#undef IS_MISSING

#define IS_MISSING(x) ((x) != (x))
#define SUMS          1
#define S             double
#define T             float
#define TAG           f4
#define SKIP          0
#define COUNTS        0
#include "kernel/group.inc.h"
#define TAG    f4_skip
#define SKIP   1
#define COUNTS 0
#include "kernel/group.inc.h"
#define TAG    f4_count
#define SKIP   1
#define COUNTS 1
#include "kernel/group.inc.h"
#undef T
#define T      double
#define TAG    f8
#define SKIP   0
#define COUNTS 0
#include "kernel/group.inc.h"
#define TAG    f8_skip
#define SKIP   1
#define COUNTS 0
#include "kernel/group.inc.h"
#define TAG    f8_count
#define SKIP   1
#define COUNTS 1
#include "kernel/group.inc.h"

void CB_ISA_NAME(cb_fill_group)(cb_kernels *k)
{
    cb_group_table *t = &k->group;
    fill_i8(t, CB_GROUP_ALL, CB_GROUP_INT64);
    fill_u8(t, CB_GROUP_ALL, CB_GROUP_UINT64);
    fill_m8(t, CB_GROUP_ALL, CB_GROUP_TIME);
    fill_m8_skip(t, CB_GROUP_SKIP, CB_GROUP_TIME);
    fill_m8_count(t, CB_GROUP_SKIP_COUNT, CB_GROUP_TIME);
    fill_f4(t, CB_GROUP_ALL, CB_GROUP_FLOAT32);
    fill_f4_skip(t, CB_GROUP_SKIP, CB_GROUP_FLOAT32);
    fill_f4_count(t, CB_GROUP_SKIP_COUNT, CB_GROUP_FLOAT32);
    fill_f8(t, CB_GROUP_ALL, CB_GROUP_FLOAT64);
    fill_f8_skip(t, CB_GROUP_SKIP, CB_GROUP_FLOAT64);
    fill_f8_count(t, CB_GROUP_SKIP_COUNT, CB_GROUP_FLOAT64);
}
