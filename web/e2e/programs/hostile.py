"""Names that try to break out of a page: in regions, functions, arguments, files and source texts."""

import sys
import time
import types

import sonde

# </script><script>window.injected = 1</script> in the source, and <!-- a comment that is never closed
NAMES = [
    "</script><script>window.injected = 1</script>",
    '"><img src=x onerror="window.injected=1">',
    "<!--sonde-data--><!-- ]]> --> </style></title></textarea>",
    "' onmouseover='window.injected=1",
    "\u202eright to left \u05d0\u05d1\u05d2 \u0627\u0644\u0639\u0631\u0628\u064a\u0629\u202c",
    "emoji \U0001f468\u200d\U0001f469\u200d\U0001f467 \U0001f525 e\u0301\u0301\u0301",
    "javascript:window.injected=1",
    "line\u2028separator\u2029and\ttab\nand line feed\rand return",
    "&lt;b&gt; &amp; &#x3c;script&#x3e; ${window.injected=1} {{constructor}}",
    "x" * 10_000,
    "__proto__",
    "constructor",
    " ",
]


def spin(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        sum(range(200))


def renamed(name, number):
    """A function of that name, in a file of that name."""

    def function(value):
        spin(0.02)
        return value

    file = f"/tmp/{name[:200].replace(chr(0), '')}/{number}.py"
    code = function.__code__.replace(co_name=name, co_qualname=name, co_filename=file)
    return types.FunctionType(code, globals(), name, None, function.__closure__)


def main():
    for number, name in enumerate(NAMES):
        function = renamed(name, number)
        kind = type(name, (), {})
        with sonde.region(name):
            function(kind())


sys.argv[1:] = NAMES[:4]
main()
