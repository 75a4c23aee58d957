"""Tables that are built in the first third, and used from then on."""

from pace import steps, work

tables = []
for number, share in enumerate(steps()):
    work()
    if share < 0.33:
        tables.append(list(range(number, number + 5000)))
    total = sum(sum(table[:100]) for table in tables[:20])
