import subprocess
import sys

subprocess.check_call([sys.executable, "-m", "pip", "install", "numpy<1.22"])
subprocess.run(["pip", "install", "paramiko"])
# expect 1 py.process
# expect 4 pkg.version
# expect 5 pkg.blocked
