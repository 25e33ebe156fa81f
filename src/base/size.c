/* Sizes with units, as users write them for the command and the package. */
#include <ctype.h>
#include <stdlib.h>

#include "cubed/base.h"

/* Removes underscores between two digits. Returns false if the result does not fit in `cap`. */
static bool drop_underscores(const char *text, char *out, size_t cap)
{
    size_t n = 0;
    for (size_t i = 0; text[i]; i++) {
        const bool between =
            i > 0 && isdigit((unsigned char)text[i - 1]) && isdigit((unsigned char)text[i + 1]);
        if (text[i] == '_' && between) continue;
        if (n + 1 >= cap) return false;
        out[n++] = text[i];
    }
    out[n] = 0;
    return true;
}

bool cubed_parse_bytes(const char *text, uint64_t *out)
{
    static const struct {
        char letter;
        double decimal, binary;
    } units[] = {{'k', 1e3, 0x1p10},
                 {'m', 1e6, 0x1p20},
                 {'g', 1e9, 0x1p30},
                 {'t', 1e12, 0x1p40},
                 {'p', 1e15, 0x1p50}};
    char *end, plain[128] = "";
    if (!drop_underscores(text, plain, sizeof plain)) return false;
    text = plain;
    while (isspace((unsigned char)*text)) text++;
    /* strtod would also accept signs, "inf" and hexadecimal numbers. */
    if (!isdigit((unsigned char)*text) && *text != '.') return false;
    if (text[0] == '0' && tolower((unsigned char)text[1]) == 'x') return false;
    double v = strtod(text, &end);
    if (end == text) return false;
    while (isspace((unsigned char)*end)) end++;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (tolower((unsigned char)*end) != units[i].letter) continue;
        const bool binary = tolower((unsigned char)end[1]) == 'i';
        if (binary && tolower((unsigned char)end[2]) != 'b') return false;
        v *= binary ? units[i].binary : units[i].decimal;
        end += binary ? 2 : 1;
        break;
    }
    if (tolower((unsigned char)*end) == 'b') end++;
    while (isspace((unsigned char)*end)) end++;
    if (*end || !(v <= 9e18)) return false;
    *out = (uint64_t)v;
    return true;
}
