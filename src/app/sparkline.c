/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/app/sparkline.h"

#include <math.h>

static const char *const blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
static const char *const ascii[] = {"_", ".", "-", ":", "=", "+", "*", "#"};
enum { HEIGHTS = sizeof blocks / sizeof *blocks };

void sparkline_print(FILE *out, const double *values, size_t count, double low, double high,
                     bool utf8) {
  const char *const *heights = utf8 ? blocks : ascii;
  for (size_t i = 0; i < count; i++) {
    const double height = high > low ? HEIGHTS * (values[i] - low) / (high - low) : HEIGHTS;
    if (isnan(values[i]))
      fputs(" ", out);
    else
      fputs(heights[(int)fmin(fmax(height, 0.0), HEIGHTS - 1)], out);
  }
}

void sparkline_bar(FILE *out, double share, int width, bool utf8) {
  const int filled = (int)(width * fmin(fmax(share, 0.0), 1.0));
  fputs("[", out);
  for (int i = 0; i < width; i++) fputs(i < filled ? (utf8 ? "█" : "#") : (utf8 ? "░" : "."), out);
  fputs("]", out);
}
