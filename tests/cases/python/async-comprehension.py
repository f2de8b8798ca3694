import asyncio
import os
async def g():
    yield os
async def main():
    [m.system('id') async for m in g()]
asyncio.run(main())
# expect 6 py.process
# expect 6 sh.command
