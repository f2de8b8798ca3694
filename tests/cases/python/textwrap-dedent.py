import os
import textwrap
getattr(os, textwrap.dedent(' system'))("id")
# expect 3 py.internals
