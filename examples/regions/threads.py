"""Threads: each has its own tree below its name."""

import hashlib
from concurrent.futures import ThreadPoolExecutor

import sonde.regions as rp


@rp.func()
def digest(block):
    return hashlib.sha256(block).hexdigest()


def main():
    blocks = [bytes([i]) * 2_000_000 for i in range(16)]
    with rp.region("wait for workers"), ThreadPoolExecutor(2, thread_name_prefix="worker") as pool:
        return list(pool.map(digest, blocks))


if __name__ == "__main__":
    rp.install()
    main()
