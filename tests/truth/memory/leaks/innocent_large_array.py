"""One large block that is made in the middle and kept."""

from pace import steps, work

array = None
for share in steps():
    work()
    if share > 0.4 and array is None:
        array = bytearray(200_000_000)
        array[::4096] = b"x" * len(array[::4096])
