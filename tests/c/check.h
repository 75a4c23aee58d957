/* The harness of a test file: checks that go on after a failure, and a list of tests whose names are sentences. */
#ifndef SND_TEST_CHECK_H
#define SND_TEST_CHECK_H

#include <stdint.h>

/* Goes on after a failure. Thread-safe. */
#define CHECK(x) check_true((x) ? 1 : 0, #x, __FILE__, __LINE__)
#define CHECK_TEXT(got, wanted) check_text(got, wanted, #got, __FILE__, __LINE__)
#define CHECK_NUMBER(got, wanted) check_number((uint64_t)(got), (uint64_t)(wanted), #got, __FILE__, __LINE__)

/* The text has the part somewhere. */
#define CHECK_HAS(got, part) check_has(got, part, #got, __FILE__, __LINE__)

/* They differ by `within` at most. */
#define CHECK_NEAR(got, wanted, within) check_near(got, wanted, within, #got, __FILE__, __LINE__)

/* Ends the program after a failure: what follows needs it. */
#define REQUIRE(x) check_required((x) ? 1 : 0, #x, __FILE__, __LINE__)

/* main is a list of these and ends with `return check_report();`. What SONDE_LEAVE_OUT names does not run. */
#define RUN(test) check_run(#test, test)

void check_true(int is_true, const char *expression, const char *file, int line);
void check_text(const char *got, const char *wanted, const char *expression, const char *file, int line);
void check_number(uint64_t got, uint64_t wanted, const char *expression, const char *file, int line);
void check_has(const char *got, const char *part, const char *expression, const char *file, int line);
void check_near(double got, double wanted, double within, const char *expression, const char *file, int line);
void check_required(int is_true, const char *expression, const char *file, int line);
void check_run(const char *name, void (*test)(void));

/* Prints "N passed, M failed". The exit status. */
int check_report(void);

/* For a forked child: the exit status by its checks. */
int check_child_status(void);

#endif
