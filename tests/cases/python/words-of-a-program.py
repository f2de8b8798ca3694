import subprocess
subprocess.run(['id', '-rf', 'x'])
subprocess.run(["echo", "it's"])
# expect 1 py.process
# expect 2 sh.command
