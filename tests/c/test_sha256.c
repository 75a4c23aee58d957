/* SHA-256 against the examples of NIST. */
#include "base/sha256.h"

#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void
check_digest(const void *data, size_t size, const char *wanted)
{
    unsigned char digest[SND_SHA256_SIZE];
    char text[2 * SND_SHA256_SIZE + 1];

    snd_sha256(data, size, digest);
    for (size_t i = 0; i < sizeof digest; i++)
        snprintf(text + 2 * i, 3, "%02x", digest[i]);
    CHECK_TEXT(text, wanted);
}

static void
the_published_examples_come_out(void)
{
    static const char two_blocks[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    char *million = malloc(1000000);

    REQUIRE(million != NULL);
    memset(million, 'a', 1000000);
    check_digest("", 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    check_digest("abc", 3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    check_digest(two_blocks, strlen(two_blocks), "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    check_digest(million, 1000000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    free(million);
}

/* The digest of all of them, one behind the other, is from Python's hashlib. */
static void
every_length_around_a_block_is_padded_as_it_should(void)
{
    unsigned char bytes[130], all[sizeof bytes * SND_SHA256_SIZE];

    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(31 * i + 1);
    for (size_t size = 0; size < sizeof bytes; size++)
        snd_sha256(bytes, size, all + size * SND_SHA256_SIZE);
    check_digest(all, sizeof all, "3ada0d162f541d43908cad7f464fc5844ba818a432f238097a0f831198f629f8");
}

int
main(void)
{
    RUN(the_published_examples_come_out);
    RUN(every_length_around_a_block_is_padded_as_it_should);
    return check_report();
}
