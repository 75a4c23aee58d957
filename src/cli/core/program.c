/* Starting a Python program under one of the package's runners. */
#include "cli/core/program.h"

#include "base/alloc.h"
#include "base/buffer.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- the Python that this program was installed for ---- */

#ifndef SND_PYTHON_NAME
#define SND_PYTHON_NAME "python3"
#endif

extern char **environ;

int
snd_python_find(char *path, size_t size)
{
    static const char *const names[] = {"python", SND_PYTHON_NAME, "python3"};
    char here[PATH_MAX];
    ssize_t len = readlink("/proc/self/exe", here, sizeof here - 1);

    if (len > 0) {
        here[len] = '\0';
        *strrchr(here, '/') = '\0';
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
            snprintf(path, size, "%s/%s", here, names[i]);
            if (access(path, X_OK) == 0)
                return 1;
        }
    }
    return snd_path_search(SND_PYTHON_NAME, path, size);
}

/* The folder of our sitecustomize in the environment of an interpreter, by the interpreter's path. 0 where that does
 * not tell, or where there are several. */
static int
find_site(const char *python, char path[PATH_MAX])
{
    char pattern[PATH_MAX], real[PATH_MAX];
    const char *slash = strrchr(python, '/');
    glob_t files = {0};
    int is_one = 1;

    if (slash == NULL)
        return 0;
    path[0] = '\0';
    snprintf(pattern, sizeof pattern, "%.*s/../lib*/python3*/*-packages/sonde/_site/sitecustomize.py",
             (int)(slash - python), python);
    (void)glob(pattern, GLOB_NOSORT, NULL, &files);
    for (size_t i = 0; i < files.gl_pathc; i++) { /* lib64 may be lib by another name */
        is_one &= realpath(files.gl_pathv[i], real) != NULL && (i == 0 || strcmp(real, path) == 0);
        memcpy(path, real, sizeof real);
    }
    is_one &= files.gl_pathc != 0;
    globfree(&files);
    if (is_one)
        *strrchr(path, '/') = '\0';
    return is_one;
}

static pid_t
spawn(const char *program, const char *code, int output)
{
    char *const argv[] = {(char *)(uintptr_t)program, (char *)(uintptr_t)"-c", (char *)(uintptr_t)code, NULL};
    posix_spawn_file_actions_t actions;
    pid_t child = -1;

    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addchdir_np(&actions, "/"); /* a folder named sonde here is not the package */
    if (posix_spawn(&child, program, &actions, NULL, argv, environ) != 0)
        child = -1;
    posix_spawn_file_actions_destroy(&actions);
    return child;
}

int
snd_python_ask(const char *code, snd_buffer *answer)
{
    char program[PATH_MAX + 32];
    char part[1024];
    int ends[2];
    int state = 1;
    ssize_t size;

    if (!snd_python_find(program, sizeof program) || pipe2(ends, O_CLOEXEC) != 0)
        return 0;
    pid_t child = spawn(program, code, ends[1]);
    close(ends[1]);
    while (child > 0 && (size = read(ends[0], part, sizeof part)) > 0)
        snd_buffer_put(answer, part, (size_t)size);
    close(ends[0]);
    while (child > 0 && waitpid(child, &state, 0) < 0 && errno == EINTR)
        ;
    while (answer->size > 0 && answer->data[answer->size - 1] == '\n')
        answer->data[--answer->size] = '\0';
    return child > 0 && state == 0 && !answer->failed;
}

/* Goes to any interpreter, also to one that is too old for us: without the first entry of the path, where a file of
 * the user's might have the name of one that we import. */
static const char boot[] = "import sys\n"
                           "if not getattr(sys.flags, 'safe_path', False):\n"
                           "    del sys.path[0]\n"
                           "try:\n"
                           "    from sonde._runtime import %s as runner\n"
                           "except (ImportError, SyntaxError):\n"
                           "    sys.stderr.write('sonde: %%s has no working sonde; install sonde-profiler there\\n' "
                           "%% sys.executable)\n"
                           "    sys.exit(2)\n"
                           "runner.main()\n";

/* What is to be run. Texts belong to somebody else. */
typedef struct program {
    const char *python;         /* NULL: the one beside us */
    const char *const *options; /* the interpreter's own, as they were given */
    int option_count;
    char
        letters[32]; /* what stands before 'm' or 'c' in one word, or behind the interpreter in a script; "": nothing */
    const char *kind;        /* "module", "code" or NULL for a file */
    const char *text;        /* the module's name, the code or the file */
    const char *const *rest; /* its arguments, ended by NULL */
    int is_isolated;         /* by -I, -E or -S: no sitecustomize of ours is imported */
    char path[PATH_MAX];     /* of a script that was found on PATH */
    snd_script script;       /* what it says of its interpreter */
} program;

/* Takes -m or -c, which may stand behind letters and right before their value: -Bm module, -cpass. */
static int
take_kind(const char *word, const char *letter, const char *const *next, program *out)
{
    size_t before = (size_t)(letter - word);

    if (before >= sizeof out->letters || (letter[1] == '\0' && *next == NULL)) {
        snd_complain("Python's option '-%c' needs a value", *letter);
        return 0;
    }
    if (before > 1)
        snprintf(out->letters, sizeof out->letters, "%.*s", (int)before, word);
    out->kind = *letter == 'm' ? "module" : "code";
    out->text = letter[1] == '\0' ? *next++ : letter + 1;
    out->rest = next;
    return 1;
}

/* The words after an interpreter: its options, then the program. 0 after printing one line. */
static int
parse_python(const char *const *words, program *out)
{
    out->options = words;
    for (; *words != NULL && (*words)[0] == '-' && (*words)[1] != '\0'; words++) {
        const char *letter = *words + 1;
        int is_long = *letter == '-';
        letter += is_long ? strlen(letter) : strcspn(letter, "mcWXxhV?");
        for (const char *before = *words + 1; !is_long && before < letter; before++)
            out->is_isolated |= strchr("IES", *before) != NULL;
        if (*letter == 'm' || *letter == 'c')
            return out->option_count = (int)(words - out->options), take_kind(*words, letter, words + 1, out);
        if (*letter == 'x' || *letter == 'h' || *letter == 'V' || *letter == '?') {
            snd_complain("Python's option '-%c' cannot be used here", *letter);
            return 0;
        }
        int takes_next =
            is_long ? strcmp(*words, "--check-hash-based-pycs") == 0 : *letter != '\0' && letter[1] == '\0';
        if (takes_next && words[1] != NULL)
            words++;
    }
    out->option_count = (int)(words - out->options);
    out->text = *words;
    out->rest = *words == NULL ? words : words + 1;
    if (*words == NULL)
        snd_complain("no program given after the interpreter: sonde run -- python3 prog.py");
    return *words != NULL;
}

/* Whether Python can run a word as it is: a file, or a folder with a program in it. */
static int
is_here(const char *word)
{
    char inside[PATH_MAX];
    struct stat about;

    if (stat(word, &about) != 0 || !S_ISDIR(about.st_mode))
        return access(word, F_OK) == 0;
    snprintf(inside, sizeof inside, "%s/__main__.py", word);
    return access(inside, F_OK) == 0;
}

/* A script, here or on PATH, and its arguments: under the interpreter that it names if it is not here. 0 after printing
 * one line. */
static int
find_script(const snd_arguments *given, program *out)
{
    const char *name = given->words[0];
    int is_found = !is_here(name) && snd_path_search(name, out->path, sizeof out->path);

    out->text = is_found ? out->path : name;
    out->rest = given->words + 1;
    snd_script_kind kind = snd_script_read(out->text, &out->script);
    if (kind == SND_SCRIPT_OTHER) {
        snd_complain("%s is not a Python interpreter or script; after '--' write python3 and its program", out->text);
        return 0;
    }
    if (kind == SND_SCRIPT_PYTHON && is_found) {
        out->python = out->script.python;
        memcpy(out->letters, out->script.option, sizeof out->letters);
        out->is_isolated = strpbrk(out->letters, "IES") != NULL;
    }
    return 1;
}

/* 0 after printing one line. */
static int
find_program(const snd_arguments *given, program *out)
{
    const char *name = given->command->name;

    *out = (program){.rest = given->words};
    for (size_t i = 0; i < 2 && out->kind == NULL; i++) {
        static const char *const kinds[] = {"module", "code"};
        out->text = snd_arguments_value(given, kinds[i]);
        out->kind = out->text == NULL ? NULL : kinds[i];
    }
    if (out->kind != NULL)
        return 1;
    if (given->word_count == 0) {
        snd_complain("%s needs a program: sonde %s prog.py, sonde %s -m module or sonde %s -c code", name, name, name,
                     name);
        return 0;
    }
    if (given->after_dashes && snd_is_python(given->words[0])) {
        out->python = given->words[0];
        return parse_python(given->words + 1, out);
    }
    if (given->after_dashes)
        return find_script(given, out);
    out->text = given->words[0];
    out->rest = given->words + 1;
    return 1;
}

/* Whether the file of a program can be read; "-" is standard input. 0 after printing one line. */
static int
can_be_read(const program *self, const char *command)
{
    char path[PATH_MAX];

    if (self->kind != NULL || strcmp(self->text, "-") == 0 || access(self->text, R_OK) == 0)
        return 1;
    int error = errno, is_missing = error == ENOENT && self->python == NULL;
    if (is_missing && snd_is_python(self->text))
        snd_complain("%s: %s; to name an interpreter, write sonde %s -- %s …", self->text, strerror(error), command,
                     self->text);
    else if (is_missing && snd_path_search(self->text, path, sizeof path))
        snd_complain("%s: %s; to run %s, write sonde %s -- %s …", self->text, strerror(error), path, command,
                     self->text);
    else
        snd_complain("%s: %s", self->text, strerror(error));
    return 0;
}

/* Appends a word for SONDE_RUN, where a blank stands between words; python/sonde/_runtime/children.py reads it. */
static void
put_word(snd_buffer *text, const char *name, const char *value)
{
    snd_buffer_printf(text, " --%s%s", name, *value == '\0' ? "" : "=");
    for (; *value != '\0'; value++)
        if (*value == '%' || *value == ' ' || *value == '\n')
            snd_buffer_printf(text, "%%%02X", (unsigned)*value);
        else
            snd_buffer_char(text, *value);
}

/* Says in the environment what is wanted. 0 when memory runs out. */
static int
set_wanted(const snd_arguments *given, const char *runner)
{
    snd_buffer text = {0};

    snd_buffer_printf(&text, "_%s", runner);
    for (int i = 0; i < snd_setting_count(given->command); i++)
        if (given->values[i] != NULL)
            put_word(&text, snd_option_at(given->command, i)->name, given->values[i]);
    int done = !text.failed && setenv("SONDE_RUN", snd_buffer_str(&text), 1) == 0;
    snd_buffer_free(&text);
    return done;
}

/* Puts the folder first on PYTHONPATH. */
static int
set_path(const char *folder)
{
    const char *old = getenv("PYTHONPATH");
    snd_buffer path = {0};

    snd_buffer_text(&path, folder);
    if (old != NULL && *old != '\0')
        snd_buffer_printf(&path, ":%s", old);
    int done = !path.failed && setenv("PYTHONPATH", snd_buffer_str(&path), 1) == 0;
    snd_buffer_free(&path);
    return done;
}

static void
put_words(const char **argv, size_t *count, const char *const *words)
{
    for (; *words != NULL; words++)
        argv[(*count)++] = *words;
}

/* The interpreter begins as it would without us, and imports our sitecustomize. */
static void
as_given(const program *self, const char **argv, size_t count)
{
    if (self->options != NULL) {
        put_words(argv, &count, self->options); /* all others stand behind them */
        return;
    }
    if (self->letters[0] != '\0')
        argv[count++] = self->letters;
    if (self->kind != NULL)
        argv[count++] = strcmp(self->kind, "module") == 0 ? "-m" : "-c";
    argv[count++] = self->text;
    put_words(argv, &count, self->rest);
}

/* The same where it would not import that, or where we do not know where it is. */
static void
with_boot(const program *self, const char **argv, size_t count, const char *code)
{
    for (int i = 0; i < self->option_count; i++)
        argv[count++] = self->options[i];
    if (self->letters[0] != '\0')
        argv[count++] = self->letters;
    argv[count++] = "-c";
    argv[count++] = code;
    if (self->kind != NULL)
        argv[count++] = strcmp(self->kind, "module") == 0 ? "--module" : "--code";
    argv[count++] = "--";
    argv[count++] = self->text;
    put_words(argv, &count, self->rest);
}

int
snd_program_start(const snd_arguments *given, const char *runner)
{
    char beside[PATH_MAX + 32], site[PATH_MAX], code[sizeof boot + 64];
    program self;

    if (!find_program(given, &self) || !can_be_read(&self, given->command->name))
        return SND_EXIT_USAGE;
    if (self.python == NULL && !snd_python_find(beside, sizeof beside))
        return snd_complain("no Python was found next to this binary or on PATH");
    const char *python = self.python == NULL ? beside : self.python;
    int is_known = !self.is_isolated && find_site(python, site);
    const char **argv = snd_calloc((size_t)given->word_count + 16, sizeof *argv);
    if (argv == NULL || !set_wanted(given, runner) || (is_known && !set_path(site))) {
        snd_free(argv);
        return snd_complain("out of memory");
    }
    snprintf(code, sizeof code, boot, runner);
    argv[0] = python;
    if (is_known)
        as_given(&self, argv, 1);
    else
        with_boot(&self, argv, 1, code);
    execvp(python, (char *const *)(uintptr_t)argv);
    int status = snd_complain("%s: cannot be started: %s", python, strerror(errno));
    snd_free(argv);
    return status;
}
