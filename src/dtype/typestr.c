#include "dtype/typestr.h"

#include <stdio.h>
#include <string.h>

static const char kinds[] = "biufc";

/* Parses a time type such as "M8[25s]", after its first two characters. */
static bool parse_time(char kind, const char *rest, cubed_dtype *out)
{
    char text[CUBED_DTYPE_TEXT_CAP];
    snprintf(text, sizeof text, "%s%s", kind == 'M' ? "datetime64" : "timedelta64", rest);
    return strlen(rest) < 16 && cubed_dtype_parse(text, out, NULL) == CUBED_OK &&
           cubed_dtype_kind(*out) == CUBED_KIND_TIME;
}

bool cb_typestr_parse(const char *s, cubed_dtype *out, bool *big_endian)
{
    char text[16];
    bool known = false, ordered = s[0] == '<' || s[0] == '>';
    if ((ordered || s[0] == '|') && s[1] && s[2]) {
        const char *kind = strchr(kinds, s[1]);
        if (s[1] == 'M' || s[1] == 'm') {
            known = s[2] == '8' && ordered && parse_time(s[1], s + 3, out);
        } else if (s[1] == 'S' || s[1] == 'U') {
            snprintf(text, sizeof text, "%.15s", s + 1);
            known = strlen(s + 1) < sizeof text && cubed_dtype_parse(text, out, NULL) == CUBED_OK &&
                    (s[1] == 'S' || ordered);
        } else if (kind) {
            for (int t = 0; t <= CUBED_FLOAT16 && !known; t++) {
                cubed_dtype dtype = (cubed_dtype)t;
                if (!cubed_dtype_is_valid(dtype)) continue;
                snprintf(text, sizeof text, "%zu", cubed_dtype_size(dtype));
                known = cubed_dtype_kind(dtype) == (cubed_kind)(kind - kinds) &&
                        strcmp(s + 2, text) == 0 && (ordered || cubed_dtype_size(dtype) == 1);
                if (known) *out = dtype;
            }
        }
    }
    *big_endian = s[0] == '>';
    return known;
}

bool cb_typestr_print(cubed_dtype dtype, bool big_endian, char text[CB_TYPESTR_CAP])
{
    char name[CUBED_DTYPE_TEXT_CAP];
    const char *order = cb_unit_size(dtype) == 1 ? "|" : big_endian ? ">" : "<", *unit;
    cubed_dtype_text(dtype, name);
    switch (cubed_dtype_kind(dtype)) {
    case CUBED_KIND_TEXT: snprintf(text, CB_TYPESTR_CAP, "%s%s", order, name); return true;
    case CUBED_KIND_TIME:
        unit = strchr(name, '[');
        snprintf(text, CB_TYPESTR_CAP, "%s%c8%s", order,
                 cubed_dtype_family(dtype) == CUBED_DATETIME64 ? 'M' : 'm', unit ? unit : "");
        return true;
    default: break;
    }
    if (dtype == CUBED_BFLOAT16 || cubed_dtype_kind(dtype) == CUBED_KIND_RECORD) return false;
    snprintf(text, CB_TYPESTR_CAP, "%s%c%zu", order, kinds[cubed_dtype_kind(dtype)],
             cubed_dtype_size(dtype));
    return true;
}
