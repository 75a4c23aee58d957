/* sys.monitoring from C, for versions that have it. */
#ifndef SND_PYTHON_MONITORING_H
#define SND_PYTHON_MONITORING_H

#include "python/compat/compat.h"

#if SND_HAS_MONITORING

/* Calls a function of sys.monitoring. 0 with an exception set. */
int snd_monitoring_call(const char *function, const char *format, ...);

/* The number of an event, by name. */
long snd_monitoring_event(const char *name);

/* Takes the first tool number that nobody uses, from the ones without a meaning on. -1 without an exception: all are
 * taken. */
int snd_monitoring_take_tool(const char *name);

/* Gives it back; no exception comes out. Taking a callback out is an audit event each: `silently`, and as the
 * interpreter exits, ours stay where they are. They must do nothing then. */
void snd_monitoring_give_back(int tool, const char *const *events, size_t count, int silently);

#endif
#endif
