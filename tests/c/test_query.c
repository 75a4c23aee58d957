/* The user's own questions to a recording. */
#include "base/alloc.h"
#include "base/buffer.h"
#include "check.h"
#include "fixture.h"
#include "store/reader.h"
#include "store/writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static snd_reader *reader;
static char path[512];

static void
open_recording(void)
{
    snd_profile *profile = small_profile();

    snprintf(path, sizeof path, "%s", temp_path("asked.sonde"));
    write_profile(path, profile, 0);
    snd_profile_free(profile);
    REQUIRE(snd_reader_open(path, &reader) == SND_OK);
}

static snd_status
take_head(void *context, int count, const char *const *names)
{
    for (int i = 0; i < count; i++)
        snd_buffer_printf(context, "%s%s", i == 0 ? "" : ",", names[i]);
    snd_buffer_char(context, '\n');
    return snd_buffer_status(context);
}

static snd_status
take_row(void *context, int count, const snd_query_cell *cells)
{
    for (int i = 0; i < count; i++) {
        snd_buffer_text(context, i == 0 ? "" : ",");
        switch (cells[i].type) {
        case SND_QUERY_NULL:
            snd_buffer_text(context, "null");
            break;
        case SND_QUERY_WHOLE:
            snd_buffer_printf(context, "%lld", (long long)cells[i].whole);
            break;
        case SND_QUERY_REAL:
            snd_buffer_printf(context, "%g", cells[i].real);
            break;
        case SND_QUERY_TEXT:
            snd_buffer_printf(context, "'%s'", cells[i].text);
            break;
        case SND_QUERY_BLOB:
            snd_buffer_printf(context, "%lld bytes", (long long)cells[i].whole);
            break;
        }
    }
    snd_buffer_char(context, '\n');
    return snd_buffer_status(context);
}

static void
check_answer(const char *sql, const char *wanted)
{
    snd_buffer answer = {0};
    snd_status status = snd_reader_query(reader, sql, take_head, take_row, &answer);

    if (status != SND_OK)
        fprintf(stderr, "%s: %s (%s)\n", sql, snd_status_text(status), snd_reader_message(reader));
    CHECK(status == SND_OK);
    CHECK_TEXT(snd_buffer_str(&answer), wanted);
    snd_buffer_free(&answer);
}

static void
check_status(const char *sql, snd_status wanted)
{
    snd_buffer answer = {0};
    snd_status status = snd_reader_query(reader, sql, take_head, take_row, &answer);

    if (status != wanted)
        fprintf(stderr, "%s: %s\n", sql, snd_status_text(status));
    CHECK(status == wanted);
    CHECK(status == SND_READ_ONLY || strlen(snd_reader_message(reader)) > 0);
    snd_buffer_free(&answer);
}

static void
a_question_gets_names_and_rows(void)
{
    check_answer("select name, count, total_ns from region order by total_ns desc limit 2",
                 "name,count,total_ns\n'load',2,8000000\n'parse',3,1600000\n");
    check_answer("select 1 as a, 2.5 as b, 'x' as c, null as d, x'0102' as e;", "a,b,c,d,e\n1,2.5,'x',null,2 bytes\n");
    check_answer("with recursive n(i) as (select 1 union all select i + 1 from n where i < 3) select sum(i) from n",
                 "sum(i)\n6\n");
    check_answer("select count(*) from measure where metric = 'self'", "count(*)\n6\n");
}

static void
the_timeline_is_a_table(void)
{
    snd_reader *kept = reader;
    snd_profile *profile = small_profile();
    const char *name = temp_path("events.sonde");

    write_profile(name, profile, 3);
    REQUIRE(snd_reader_open(name, &reader) == SND_OK);
    check_answer("select count(*), count(distinct node) from event", "count(*),count(distinct node)\n21,7\n");
    check_answer("select name, at_ns, duration_ns, value from event where name = 'load' order by at_ns",
                 "name,at_ns,duration_ns,value\n'load',100,0,null\n'load',101,1,null\n'load',102,2,null\n");
    check_answer("select kind, duration_ns, value from event where name = 'queue' limit 1",
                 "kind,duration_ns,value\n'counter',null,0\n");
    check_answer("select a.rowid from event as a join event as b on a.rowid = b.rowid where a.rowid > 18",
                 "rowid\n19\n20\n");
    check_status("drop table event", SND_READ_ONLY);
    check_status("insert into event values (1, 2, 3, 4, 5, 6, 7, 8, 9)", SND_READ_ONLY);
    check_status("create virtual table temp.other using event", SND_READ_ONLY);
    for (int i = 0; i < 200; i++) { /* an answer or a clear failure, whatever is not to be had */
        snd_buffer answer = {0};
        snd_alloc_fail_after(i);
        snd_status status = snd_reader_query(reader, "select sum(at_ns) from event", take_head, take_row, &answer);
        snd_alloc_fail_after(-1);
        CHECK(status == SND_OK || status == SND_NO_MEMORY);
        snd_buffer_free(&answer);
    }
    snd_reader_free(reader);
    reader = kept;
    snd_profile_free(profile);
}

static void
an_answer_without_rows_still_has_names(void)
{
    check_answer("select name from region where 0", "name\n");
}

static void
blanks_and_a_semicolon_may_follow(void)
{
    check_answer("select 1 as one ;\n\t ", "one\n1\n");
}

static void
a_question_that_writes_is_refused(void)
{
    static const char *const writing[] = {
        "insert into info values ('a', 'b')",
        "update info set value = ''",
        "delete from info",
        "create table more (x)",
        "create temp table more (x)",
        "drop table info",
        "attach 'other.db' as other",
        "vacuum",
        "vacuum into 'copy.db'",
        "pragma user_version = 5",
        "pragma journal_mode = wal",
        "begin",
        "reindex",
        "analyze",
        "with a as (select 1) insert into info select 'a', 'b' from a",
        "select load_extension('evil.so')",
        "select * from pragma_table_info('node')",
    };
    size_t before, after;
    char *original = read_file(path, &before);

    for (size_t i = 0; i < sizeof writing / sizeof writing[0]; i++) {
        snd_buffer answer = {0};
        snd_status status = snd_reader_query(reader, writing[i], take_head, take_row, &answer);
        if (status != SND_READ_ONLY && status != SND_BAD_QUERY)
            fprintf(stderr, "%s: %s\n", writing[i], snd_status_text(status));
        CHECK(status == SND_READ_ONLY || status == SND_BAD_QUERY);
        CHECK(answer.size <= 1); /* no row came before the refusal */
        snd_buffer_free(&answer);
    }
    char *kept = read_file(path, &after);
    CHECK(before == after && memcmp(original, kept, before) == 0);
    CHECK(access("other.db", F_OK) != 0 && access("copy.db", F_OK) != 0);
    free(original);
    free(kept);
    check_status("insert into info values ('a', 'b')", SND_READ_ONLY);
    check_status("attach 'other.db' as other", SND_READ_ONLY);
}

static void
two_statements_are_refused(void)
{
    check_status("select 1; select 2", SND_BAD_QUERY);
    check_status("select 1; delete from info", SND_BAD_QUERY);
    check_status("", SND_BAD_QUERY);
    check_status("  -- nothing but a comment", SND_BAD_QUERY);
}

static void
a_mistake_is_told_in_the_words_of_sqlite(void)
{
    check_status("selec 1", SND_BAD_QUERY);
    CHECK(strstr(snd_reader_message(reader), "selec") != NULL);
    check_status("select colour from region", SND_BAD_QUERY);
    CHECK_TEXT(snd_reader_message(reader), "no such column: colour");
    check_status("select * from nowhere", SND_BAD_QUERY);
    check_status("select abs(-9223372036854775807 - 1)", SND_BAD_QUERY);
}

static void
the_reader_works_after_a_refused_question(void)
{
    snd_profile *profile = NULL;

    check_status("drop table info", SND_READ_ONLY);
    CHECK(snd_reader_profile(reader, &profile) == SND_OK);
    snd_profile_free(profile);
}

static snd_status
refuse_row(void *context, int count, const snd_query_cell *cells)
{
    (void)count, (void)cells;
    ++*(int *)context;
    return SND_BUSY;
}

static snd_status
ignore_head(void *context, int count, const char *const *names)
{
    (void)context, (void)count, (void)names;
    return SND_OK;
}

static void
the_taker_can_end_it(void)
{
    int rows = 0;

    CHECK(snd_reader_query(reader, "select * from node", ignore_head, refuse_row, &rows) == SND_BUSY);
    CHECK_NUMBER(rows, 1);
}

static snd_status
ask(void *context)
{
    snd_buffer answer = {0};
    snd_status status = snd_reader_query(reader, context, take_head, take_row, &answer);
    snd_buffer_free(&answer);
    return status;
}

static void
every_failing_allocation_is_reported(void)
{
    char sql[] = "select name, count, total_ns from region";
    CHECK(fail_each_allocation(ask, sql) > 2);
}

int
main(void)
{
    open_recording();
    RUN(a_question_gets_names_and_rows);
    RUN(the_timeline_is_a_table);
    RUN(an_answer_without_rows_still_has_names);
    RUN(blanks_and_a_semicolon_may_follow);
    RUN(a_question_that_writes_is_refused);
    RUN(two_statements_are_refused);
    RUN(a_mistake_is_told_in_the_words_of_sqlite);
    RUN(the_reader_works_after_a_refused_question);
    RUN(the_taker_can_end_it);
    RUN(every_failing_allocation_is_reported);
    snd_reader_free(reader);
    return check_report();
}
