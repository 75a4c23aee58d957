/* How much memory and time a command may take to read files that somebody else may have made. */
#ifndef SND_CLI_BUDGET_H
#define SND_CLI_BUDGET_H

#include "cli/options.h"

/* From now on allocations fail once they take far more than the files among the command's words explain, and all of
 * them once it runs far too long; then it ends with SND_EXIT_USAGE and one line. Nothing where SONDE_LIMITS=off. */
void snd_budget_start(const snd_arguments *given);

#endif
