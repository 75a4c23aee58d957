"""The report as comma-separated values, properly quoted: python csv_report.py > regions.csv"""

import sys
import time

import sonde.regions as rp


def main():
    for name in ("read", 'parse "header", body', "write"):
        with rp.region(name):
            time.sleep(0.002)


if __name__ == "__main__":
    rp.install(reporter=rp.CsvReporter(stream=sys.stdout))
    main()
