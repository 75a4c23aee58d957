"""Your own reporter is any object with dump_profiler(profiler): this one prints the slowest regions by self time."""

import time

import sonde.regions as rp


class Slowest:
    def __init__(self, count):
        self.count = count

    def dump_profiler(self, profiler):
        rows = sorted(profiler.rows(), key=lambda row: -row["self_ns"])
        for row in rows[: self.count]:
            print(f"{row['self_ns'] / 1e6:8.2f} ms  {row['count']:4} x  {row['name']}  ({row['place'] or 'no place'})")


def main():
    for i in range(20):
        with rp.region("short"):
            time.sleep(0.001)
        if i % 5 == 0:
            with rp.region("long"):
                time.sleep(0.01)
                with rp.region("inner"):
                    time.sleep(0.002)


if __name__ == "__main__":
    rp.install(reporter=Slowest(3))
    main()
