from pathlib import Path
(Path('/etc') / name).write_text('x')
# expect 2 py.open-outside
