/* The drawings of a run. */
#ifndef CUBED_REPORT_CHARTS_H
#define CUBED_REPORT_CHARTS_H

#include <stdio.h>

#include "report/record.h"

enum { CHART_WIDTH = 1160 };

/* As part of a page (`inside`), or a file of its own with a title and a legend. */
void chart_timeline(const report *r, bool inside, FILE *f);
void chart_memory(const report *r, bool inside, FILE *f);
/* A file of its own. */
void chart_progress(const report *r, FILE *f);

#endif
