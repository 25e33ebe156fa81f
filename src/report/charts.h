/* Charts of a run. */
#ifndef CUBED_REPORT_CHARTS_H
#define CUBED_REPORT_CHARTS_H

#include <stdio.h>

#include "report/record.h"

enum { CHART_WIDTH = 1160 };

/* Draw a chart as part of a page (`inside`), or as a separate file with title and legend. */
void chart_timeline(const report *r, bool inside, FILE *f);
void chart_memory(const report *r, bool inside, FILE *f);
/* Draws the progress as a separate file. */
void chart_progress(const report *r, FILE *f);

#endif
