/* Views that are more than a table on a terminal. */
#ifndef SND_FORMAT_REPORTS_H
#define SND_FORMAT_REPORTS_H

#include "format/table/format.h"

/* X(name of the view). */
#define SND_REPORT_MAP(X) X(memory) X(footprint) X(graph)

/* As the view's own function, with words and drawings in place of one table. */
typedef snd_status snd_report(const snd_profile *profile, const snd_view_options *options,
                              const snd_format_options *format, snd_buffer *out);

#define SND_REPORT_DECLARE(name) snd_report snd_report_##name;
SND_REPORT_MAP(SND_REPORT_DECLARE)
#undef SND_REPORT_DECLARE

/* NULL: this view is a table. */
snd_report *snd_report_find(const char *view);

#endif
