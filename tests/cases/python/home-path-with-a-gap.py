from pathlib import Path
open(f"{Path.home()}/.ssh/{key}")
# expect 2 any.credentials
