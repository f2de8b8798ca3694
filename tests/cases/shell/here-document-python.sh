python3 - <<'E'
import subprocess
E
# expect 1 sh.command
# expect 1 py.process
