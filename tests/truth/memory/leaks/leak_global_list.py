"""A list of the module gets longer with every request."""

from pace import steps, work

history = []


def handle():
    history.append(bytes(50_000))  # LEAK


for _ in steps():
    work()
    handle()
