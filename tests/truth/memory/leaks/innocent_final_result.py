"""Everything is worked through, and one large result is made at the end."""

from pace import steps, work

total = 0
for _ in steps():
    total += work()
result = [bytes(1000) for _ in range(100_000)]
print(len(result) > 0 and total > 0)
