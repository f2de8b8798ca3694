import os
async def f(): return getattr
async def main(): (await f())(os, 'system')('id')
# expect 3 py.process
# expect 3 sh.command
