list(map(exec,['import subprocess as s\ns.run(["nohup","FILE"])']))
# expect 1 py.dynamic-code
# expect 1 py.process
# expect 1 sh.command
