import asyncio
import os
async def f():
    return os
async def main():
    (await f()).system('id')
asyncio.run(main())
# expect 6 py.process
# expect 6 sh.command
