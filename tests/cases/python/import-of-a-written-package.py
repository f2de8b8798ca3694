from pathlib import Path
Path('tools/__init__.py').write_text(s)
from tools import f
# expect 3 any.written-import
