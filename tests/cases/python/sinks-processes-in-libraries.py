import asyncio
import uuid
import pydoc
import platform
import click
import pydot
import pycparser
import graphviz
import _osx_support
import numexpr.cpuinfo
import kubernetes
from PIL import ImageShow
from networkx.utils import default_opener
from sympy.printing.preview import system_default_viewer
from statsmodels.tsa.x13 import run_spec
from nltk.tag import HunposTagger
from tqdm.contrib.concurrent import process_map
asyncio.unix_events._UnixSubprocessTransport(loop, p, 'x', True, 0, 0, 0, 0)
uuid._find_mac_near_keyword('x', '', [], int)
pydoc.getpager()
platform._syscmd_file('x')
click.echo_via_pager('x')
pydot.call_graphviz('x', [], '.')
pycparser.preprocess_file('x', 'touch')
graphviz.Source('x').render('y')
_osx_support._find_build_tool('x')
default_opener('x')
system_default_viewer('x', 'png')
run_spec('x', 'y')
HunposTagger('m', 'x')
process_map(f, items)
# expect 9 py.process
# expect 10 py.process
# expect 11 py.process
# expect 12 py.process
# expect 13 py.process
# expect 13 py.ui
# expect 14 py.process
# expect 15 py.process
# expect 16 py.process
# expect 17 py.process
# expect 18 py.process
# expect 19 py.process
# expect 20 py.process
# expect 21 py.process
# expect 22 py.process
# expect 23 py.process
# expect 24 py.process
# expect 25 py.process
# expect 27 py.process
# expect 27 py.ui
# expect 29 py.process
# expect 30 py.process
# expect 31 py.process
# expect 11 pkg.blocked
