"""Counts words, compresses them and waits a little: a program that does not use sonde, to try ``sonde run``."""

import hashlib
import random
import threading
import time
import zlib

WORDS = ["the", "quick", "brown", "fox", "jumps", "over", "a", "lazy", "dog", "while", "nobody", "looks"]


def make_text(count):
    return " ".join(random.choice(WORDS) for _ in range(count))


def count_words(text):
    counts = {}
    for word in text.split():
        counts[word] = counts.get(word, 0) + 1
    return counts


def pack(text):
    return zlib.compress(text.encode(), 9)


def fetch():
    time.sleep(0.05)


def check(data, rounds):
    for _ in range(rounds):
        data = hashlib.sha256(data).digest() * 2000
    return data


def main():
    other = threading.Thread(target=check, args=(b"start", 1000), name="checker")
    other.start()
    for _ in range(5):
        text = make_text(60000)
        for _ in range(4):
            count_words(text)
        pack(text)
        fetch()
    other.join()


if __name__ == "__main__":
    main()
