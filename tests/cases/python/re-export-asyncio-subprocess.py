import asyncio
print(asyncio.subprocess.subprocess.getoutput('id'))
# expect 2 py.process
# expect 2 sh.command
