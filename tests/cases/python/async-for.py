import asyncio
import os
async def g():
    yield os
async def main():
    async for m in g():
        m.system('id')
asyncio.run(main())
# expect 7 py.process
# expect 7 sh.command
