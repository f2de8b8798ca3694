import asyncio
print(asyncio.subprocess.subprocess.getoutput('id'))
# expect 2 py.process
# known-miss: an alias of a prefix hides the module behind it
