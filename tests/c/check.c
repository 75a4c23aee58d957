/* The harness of the test files. */
#include "check.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Atomic unsigned failures; /* of the test that runs */
static const char *running = "before the first test";
static unsigned passed, failed;

static void
note_failure(const char *file, int line)
{
    atomic_fetch_add(&failures, 1);
    fprintf(stderr, "%s:%d: %s: ", file, line, running);
}

void
check_true(int is_true, const char *expression, const char *file, int line)
{
    if (is_true)
        return;
    note_failure(file, line);
    fprintf(stderr, "%s\n", expression);
}

void
check_text(const char *got, const char *wanted, const char *expression, const char *file, int line)
{
    if (got != NULL && wanted != NULL && strcmp(got, wanted) == 0)
        return;
    note_failure(file, line);
    fprintf(stderr, "%s is\n%s\nand not\n%s\n", expression, got == NULL ? "(NULL)" : got,
            wanted == NULL ? "(NULL)" : wanted);
}

void
check_number(uint64_t got, uint64_t wanted, const char *expression, const char *file, int line)
{
    if (got == wanted)
        return;
    note_failure(file, line);
    fprintf(stderr, "%s is %llu and not %llu\n", expression, (unsigned long long)got, (unsigned long long)wanted);
}

void
check_has(const char *got, const char *part, const char *expression, const char *file, int line)
{
    if (got != NULL && strstr(got, part) != NULL)
        return;
    note_failure(file, line);
    fprintf(stderr, "%s is\n%s\nand has not\n%s\n", expression, got == NULL ? "(NULL)" : got, part);
}

void
check_near(double got, double wanted, double within, const char *expression, const char *file, int line)
{
    if (got - wanted <= within && wanted - got <= within)
        return;
    note_failure(file, line);
    fprintf(stderr, "%s is %.12g and not %.12g\n", expression, got, wanted);
}

void
check_required(int is_true, const char *expression, const char *file, int line)
{
    if (is_true)
        return;
    check_true(0, expression, file, line);
    fputs("the other tests cannot run\n", stderr);
    exit(1);
}

/* SONDE_LEAVE_OUT has a blank before and behind each name. */
static int
is_left_out(const char *name)
{
    const char *list = getenv("SONDE_LEAVE_OUT");
    char wanted[256];

    snprintf(wanted, sizeof wanted, " %s ", name);
    return list != NULL && strstr(list, wanted) != NULL;
}

void
check_run(const char *name, void (*test)(void))
{
    if (is_left_out(name))
        return;
    running = name;
    atomic_store(&failures, 0);
    test();
    if (atomic_load(&failures) == 0)
        passed++;
    else
        failed++;
}

int
check_report(void)
{
    printf("%u passed, %u failed\n", passed, failed);
    return failed == 0 ? 0 : 1;
}

int
check_child_status(void)
{
    return atomic_load(&failures) == 0 ? 0 : 1;
}
