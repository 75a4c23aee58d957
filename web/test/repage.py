"""Puts the data of a page into another template: repage.py PAGE TEMPLATE OUT. For work on the template alone."""

import re
import sys
from pathlib import Path

page, template, out = map(Path, sys.argv[1:])
scripts = re.findall(r'<script id="sonde-data[^>]*>[^<]*</script>', page.read_text())
out.write_text(template.read_text().replace("<!--sonde-data-->", "\n".join(scripts)))
