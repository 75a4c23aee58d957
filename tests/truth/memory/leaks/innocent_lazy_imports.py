"""Modules that are imported when they are wanted first, over most of the time."""

import contextlib
import importlib

from pace import steps, work

MODULES = """
argparse ast asyncio bdb bz2 calendar cmd code codeop colorsys concurrent.futures configparser csv ctypes datetime
decimal difflib dis doctest email.message email.parser filecmp fractions ftplib gettext glob graphlib gzip hashlib
html html.parser http.client http.cookiejar http.server imaplib inspect ipaddress json logging logging.handlers lzma
mailbox mimetypes multiprocessing netrc optparse pathlib pdb pickle pickletools plistlib poplib pprint profile pydoc
pyclbr random sched secrets selectors shelve shlex shutil smtplib socket socketserver sqlite3 ssl statistics string
subprocess symtable tarfile tempfile textwrap tokenize trace traceback turtledemo typing unittest unittest.mock
urllib.request urllib.robotparser uuid wave webbrowser wsgiref.simple_server xml.dom.minidom xml.etree.ElementTree
xml.sax xmlrpc.client xmlrpc.server zipapp zipfile zoneinfo
"""
modules, loaded = MODULES.split(), 0
for share in steps():
    work()
    while loaded < min(1, share / 0.8) * len(modules):
        with contextlib.suppress(ImportError):  # an interpreter may be built without some
            importlib.import_module(modules[loaded])
        loaded += 1
