#include "lang/order_names.h"

#include <stddef.h>
#include <string.h>

int order_name_flags(const char *name)
{
    static const struct {
        const char *name;
        int flags;
    } names[] = {{"median", ORDER_MEDIAN},
                 {"nanmedian", ORDER_MEDIAN | ORDER_SKIP_NAN},
                 {"quantile", 0},
                 {"nanquantile", ORDER_SKIP_NAN},
                 {"percentile", ORDER_PERCENT},
                 {"nanpercentile", ORDER_PERCENT | ORDER_SKIP_NAN}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(names[i].name, name) == 0) return names[i].flags;
    }
    return -1;
}

bool order_name_takes_q(const char *name)
{
    const int flags = order_name_flags(name);
    return flags >= 0 && !(flags & ORDER_MEDIAN);
}
