# The folder of this file stands first on PYTHONPATH while `sonde run` or `sonde trace` measures a program: here its
# measurement begins, and that of every Python that it starts. Any of these reads this file, also a Python 2.
import os
import sys


def _begin(package):
    """The package next to this file, whatever else is installed, if it was built for this interpreter."""
    is_built = sys.version_info[0] > 2
    if is_built:
        import _imp

        is_built = os.path.exists(os.path.join(package, "_core" + _imp.extension_suffixes()[0]))
    if not is_built:
        raise ImportError("sonde is not built for Python %d.%d" % sys.version_info[:2])
    if "sonde" not in sys.modules:
        import _frozen_importlib
        import _frozen_importlib_external

        finder = _frozen_importlib_external.PathFinder
        _frozen_importlib._load(finder.find_spec("sonde", [os.path.dirname(package)]))
    from sonde._runtime import children as _children

    _children.enter()


def _regret(error):
    """The program runs on, and whoever gathers the parts finds a line. Without a folder this is the first process."""
    words = dict(word.split("=", 1) for word in os.environ["SONDE_RUN"].split(" ") if "=" in word)
    folder = words.get("parts", "")
    for escape, letter in (("%20", " "), ("%0A", "\n"), ("%25", "%")):
        folder = folder.replace(escape, letter)
    if not folder:
        sys.stderr.write("sonde: %s has no working sonde: %s\n" % (sys.executable, error))
        sys.stderr.flush()
        os._exit(2)
    try:
        owner = os.lstat(folder[: -len(".parts")]).st_uid  # of the recording
        if not os.path.lexists(folder) and owner == os.geteuid():
            os.mkdir(folder, 0o700)
        if os.lstat(folder).st_uid != owner:
            raise OSError("%s: owned by another user" % folder)
        with open(os.path.join(folder, "not-followed"), "a") as file:
            file.write("%s: %s\n" % (sys.executable, error))
    except (IOError, OSError):  # nobody else will tell
        sys.stderr.write("sonde: not followed: %s: %s\n" % (sys.executable, error))


_here = os.path.dirname(__file__)
sys.path[:] = [folder for folder in sys.path if folder != _here]
sys.path_importer_cache.pop(_here, None)
if "SONDE_RUN" in os.environ:
    try:
        _begin(os.path.dirname(_here))
    except Exception:
        _regret(sys.exc_info()[1])

# The program's own, if there is one: it stands in our place, and what it raises comes to the interpreter.
_kept = sys.modules.pop("sitecustomize")
import sitecustomize  # noqa
