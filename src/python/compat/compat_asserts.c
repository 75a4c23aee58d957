/* Every number of the interpreter's that we rely on without its name, or by its order: a new CPython that counts anew
 * does not compile. docs/cpython.md says what to do then. */
#include "python/compat/compat.h"

#define Py_BUILD_CORE 1
#undef _PyGC_FINALIZED           /* 3.12: the macro would rename the function of an internal header */
#if PY_VERSION_HEX >= 0x030e0000 /* 3.14 moved the frame's layout */
#include <internal/pycore_genobject.h>
#include <internal/pycore_interpframe.h>
#include <internal/pycore_optimizer.h>
#endif
#include <internal/pycore_code.h>
#include <internal/pycore_frame.h>
#include <internal/pycore_runtime.h>
#include <stddef.h>

/* Who owns a frame: compat.c and compat_stack.c skip everything from the interpreter's on. */
_Static_assert(FRAME_OWNED_BY_THREAD == 0 && FRAME_OWNED_BY_GENERATOR == 1 && FRAME_OWNED_BY_FRAME_OBJECT == 2, "");
#if PY_VERSION_HEX >= 0x030e0000 /* 3.14: renamed */
_Static_assert(FRAME_OWNED_BY_INTERPRETER == 3, "");
#elif PY_VERSION_HEX >= 0x030c0000 /* 3.12: new */
_Static_assert(FRAME_OWNED_BY_CSTACK == 3, "");
#endif

/* The state of a generator, by which call_hooks_eval.c knows a yield from a return. */
#if PY_VERSION_HEX >= 0x030f0000 /* 3.15 counts from 0 */
_Static_assert(FRAME_CREATED == 0 && FRAME_SUSPENDED == 1 && FRAME_EXECUTING == 4 && FRAME_CLEARED == 5, "");
#elif PY_VERSION_HEX >= 0x030d0000 /* 3.13: one more that is suspended */
_Static_assert(FRAME_CREATED == -3 && FRAME_SUSPENDED == -2 && FRAME_EXECUTING == 0 && FRAME_CLEARED == 4, "");
#else
_Static_assert(FRAME_CREATED == -2 && FRAME_SUSPENDED == -1 && FRAME_EXECUTING == 0 && FRAME_CLEARED == 4, "");
#endif

/* The table of lines, which compat_code.c reads: kinds below 10 have one more byte, 10 to 12 have two. */
_Static_assert(PY_CODE_LOCATION_INFO_SHORT0 == 0 && PY_CODE_LOCATION_INFO_ONE_LINE0 == 10 &&
                   PY_CODE_LOCATION_INFO_ONE_LINE2 == 12 && PY_CODE_LOCATION_INFO_NO_COLUMNS == 13 &&
                   PY_CODE_LOCATION_INFO_LONG == 14 && PY_CODE_LOCATION_INFO_NONE == 15,
               "");

/* An instruction has 2 bytes, and a text 1, 2 or 4 a character. */
_Static_assert(sizeof(_Py_CODEUNIT) == 2, "");
_Static_assert(PyUnicode_1BYTE_KIND == 1 && PyUnicode_2BYTE_KIND == 2 && PyUnicode_4BYTE_KIND == 4, "");

/* The lowest bits of a reference on the stack are flags, which code_of in compat_stack.c leaves out. */
#if PY_VERSION_HEX >= 0x030e0000 /* 3.14: tagged */
_Static_assert(Py_TAG_BITS <= 3, "");
#endif

/* What is reached without its name. */
#if PY_VERSION_HEX >= 0x030d0000 /* 3.13: a table of offsets, at the very start for readers from outside */
_Static_assert(offsetof(_PyRuntimeState, debug_offsets) == 0, "");
#endif
#if PY_VERSION_HEX >= 0x030e0000 /* 3.14: executors have machine code */
_Static_assert(sizeof(((_PyExecutorObject *)0)->jit_size) == sizeof(size_t), "");
#endif
