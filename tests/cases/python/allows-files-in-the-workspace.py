import csv
import json
import tempfile
from pathlib import Path
p = Path(tempfile.gettempdir()) / 'wt-ok.json'
with open('/tmp/wt-ok.csv', 'w', newline='') as f:
    csv.writer(f).writerows([[1, 2]])
with p.open('w') as f:
    json.dump({'a': 1}, f)
print(json.loads(p.read_text()), p.exists(), p.suffix, [q.name for q in Path('.').glob('*.nothing')])
