/* The same header in C++17: a region ends with its scope, even if an exception leaves it. */
#include <iostream>
#include <sonde.h>
#include <stdexcept>
#include <string>

static int
parse(const std::string &text)
{
    SONDE_REGION("parse");
    return std::stoi(text);
}

int
main()
{
    sonde_options options{};
    options.recording = "scopes.sonde";
    if (sonde_start(&options) != 0) {
        std::cerr << "scopes: " << sonde_error() << '\n';
        return 1;
    }
    int sum = 0;
    for (const char *text : {"1", "2", "three", "4"}) {
        SONDE_REGION("line");
        try {
            sum += parse(text);
        } catch (const std::invalid_argument &) {
            SONDE_COUNTER_ADD("bad lines", 1);
        }
    }
    std::cout << "sum " << sum << ", recorded in scopes.sonde\n";
    return sonde_stop() == 0 ? 0 : 1;
}
