/* The drawings of a run. */
#ifndef CUBED_REPORT_CHARTS_H
#define CUBED_REPORT_CHARTS_H

#include <stdio.h>

#include "report/record.h"

enum { CHART_WIDTH = 1160 };

void chart_timeline(const report *r, FILE *f);
void chart_memory(const report *r, FILE *f);

#endif
