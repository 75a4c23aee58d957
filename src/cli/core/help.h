/* What --help prints: from the commands' lists, as wide as the terminal. */
#ifndef SND_CLI_CORE_HELP_H
#define SND_CLI_CORE_HELP_H

#include "cli/core/options.h"

/* All commands, a line each. */
void snd_help_print(const snd_command *const *commands, unsigned count);

/* One command: its options by groups, and its examples. */
void snd_help_print_command(const snd_command *command);

/* The options of Scalene that `sonde run` takes. */
void snd_help_print_aliases(void);

#endif
