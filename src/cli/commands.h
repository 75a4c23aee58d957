/* Room: the program `sonde`: a file for each command. */
/* The sub-commands. Each stands in a file of its own: cmd_NAME.c. */
#ifndef SND_CLI_COMMANDS_H
#define SND_CLI_COMMANDS_H

#include "cli/core/options.h"

/* In the order of the help. */
#define SND_COMMAND_MAP(X) \
    X(run)                 \
    X(trace)               \
    X(view)                \
    X(report)              \
    X(diff)                \
    X(merge)               \
    X(export)              \
    X(import)              \
    X(stat)                \
    X(info)                \
    X(sql)                 \
    X(doctor)              \
    X(config)              \
    X(completion)

#define SND_COMMAND_DECLARE(name) extern const snd_command snd_command_##name;
SND_COMMAND_MAP(SND_COMMAND_DECLARE)
#undef SND_COMMAND_DECLARE

/* All of them, in that order. */
extern const snd_command *const snd_commands[];
extern const unsigned snd_command_count;

#endif
