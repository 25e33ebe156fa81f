#include "report/report_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Returns the number of bytes of the character at `s`, or 0 if it is invalid UTF-8 or not allowed in XML. */
static int char_bytes(const unsigned char *s)
{
    int n = *s < 0x80 ? 1 : *s < 0xc2 ? 0 : *s < 0xe0 ? 2 : *s < 0xf0 ? 3 : *s < 0xf5 ? 4 : 0;
    if (n == 1 && *s < 0x20 && *s != '\t' && *s != '\n') return 0;
    if (n == 1 && *s == 0x7f) return 0;
    for (int i = 1; i < n; i++) {
        if ((s[i] & 0xc0) != 0x80) return 0;
    }
    /* Rejects overlong forms, surrogates, code points beyond the last one, U+FFFE and U+FFFF. */
    if (n == 3 && ((*s == 0xe0 && s[1] < 0xa0) || (*s == 0xed && s[1] > 0x9f))) return 0;
    if (n == 3 && *s == 0xef && s[1] == 0xbf && s[2] > 0xbd) return 0;
    if (n == 4 && ((*s == 0xf0 && s[1] < 0x90) || (*s == 0xf4 && s[1] > 0x8f))) return 0;
    return n;
}

static int step(const char *s)
{
    int n = char_bytes((const unsigned char *)s);
    return n ? n : 1;
}

static int characters(const char *s)
{
    int n = 0;
    for (; *s; s += step(s)) n++;
    return n;
}

static void put(FILE *f, const char *s, int count)
{
    for (; *s && count > 0; s += step(s), count--) {
        int n = char_bytes((const unsigned char *)s);
        switch (*s) {
        case '&': fputs("&amp;", f); break;
        case '<': fputs("&lt;", f); break;
        case '>': fputs("&gt;", f); break;
        case '"': fputs("&quot;", f); break;
        default:
            if (n)
                fprintf(f, "%.*s", n, s);
            else
                fputc('?', f);
        }
    }
}

void text_put(FILE *f, const char *s) { put(f, s, characters(s)); }

void text_put_start(FILE *f, const char *s, int max)
{
    int n = characters(s);
    put(f, s, n <= max ? n : max - 1);
    if (n > max) fputs("\xe2\x80\xa6", f);
}

void text_put_end(FILE *f, const char *s, int max)
{
    int n = characters(s);
    if (n > max) {
        fputs("\xe2\x80\xa6", f);
        for (int skip = n - max + 1; skip > 0; skip--) s += step(s);
    }
    put(f, s, n);
}

void text_put_json(FILE *f, const char *s, int max)
{
    fputc('"', f);
    for (; *s && max > 0; s += step(s), max--) {
        const int n = char_bytes((const unsigned char *)s);
        if (*s == '"' || *s == '\\')
            fprintf(f, "\\%c", *s);
        else if (*s == '\n' || *s == '\t')
            fputs(*s == '\n' ? "\\n" : "\\t", f);
        else if (n)
            fprintf(f, "%.*s", n, s);
        else
            fputc('?', f);
    }
    if (*s) fputs("\xe2\x80\xa6", f);
    fputc('"', f);
}

int text_width(const char *s, int max)
{
    int n = characters(s);
    return n < max ? n : max;
}

const char *text_bytes(double bytes, char text[32])
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB"};
    int u = 0;
    for (; bytes >= 999.5 && u < 5; u++) bytes /= 1000;
    snprintf(text, 32, u && bytes < 99.95 ? "%.1f %s" : "%.0f %s", bytes, units[u]);
    return text;
}

const char *text_time(double s, char text[32])
{
    if (s < 1e-3)
        snprintf(text, 32, "%.0f \xc2\xb5s", s * 1e6);
    else if (s < 1)
        snprintf(text, 32, s < 0.01 ? "%.1f ms" : "%.0f ms", s * 1e3);
    else if (s < 600)
        snprintf(text, 32, s < 100 ? "%.2f s" : "%.0f s", s);
    else if (s < 7200)
        snprintf(text, 32, "%.0f min %02d s", floor(s / 60), (int)fmod(s, 60));
    else
        snprintf(text, 32, "%.0f h %02d min", floor(s / 3600), (int)(fmod(s, 3600) / 60));
    return text;
}

double text_step(double extent, int ticks)
{
    double rough = extent / ticks;
    if (!(rough > 0)) return 1;
    double power = pow(10, floor(log10(rough)));
    double part = rough / power;
    return power * (part <= 1 ? 1 : part <= 2 ? 2 : part <= 5 ? 5 : 10);
}

const char *text_colour(int stage)
{
    /* Colours of Okabe and Ito, distinguishable by colour-blind people. Their black and yellow, which are invisible on dark
     * and white backgrounds, are replaced by grey and olive. */
    static const char colours[TEXT_COLOURS][8] = {"#0072b2", "#e69f00", "#009e73", "#cc79a7",
                                                  "#56b4e9", "#d55e00", "#a39a00", "#8a8f98"};
    return colours[(unsigned)stage % TEXT_COLOURS];
}

void *text_alloc(size_t n, size_t size, cubed_error *err)
{
    /* check_layers: allow call: a report is part of the command, and has no context to ask */
    void *p = calloc(n ? n : 1, size);
    if (p || !err) return p;
    err->status = CUBED_E_NOMEM;
    snprintf(err->message, sizeof err->message, "no memory for a report");
    return NULL;
}

void text_free(void *p) { free(p); /* check_layers: allow call: the other half of text_alloc */ }
