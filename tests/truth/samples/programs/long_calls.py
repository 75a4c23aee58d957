"""A loop without calls, and calls into C that do not come back for a second or more."""

import answer  # noqa: I001 (first, so that its clock sees the other imports)
import hashlib


def loop(count):
    i = 0
    while i < count:
        i += 1


def power(exponent):
    """Holds the interpreter's lock all the time."""
    return pow(3, exponent, MODULUS)


def digest(rounds):
    """Gives the interpreter's lock away."""
    return hashlib.pbkdf2_hmac("sha256", b"word", b"salt", rounds)


MODULUS = (1 << 2000) - 9


def power_bits(bits):
    power((1 << bits) - 1)


def main():
    watch = answer.Watch()
    third = answer.seconds() * 1000 / 3
    counts = [answer.count_for(function, third) for function in (loop, power_bits, digest)]
    exponent = (1 << counts[1]) - 1
    watch.run("loop", loop, counts[0])
    watch.run("power", power, exponent)
    watch.run("digest", digest, counts[2])
    answer.write()


main()
