import asyncio
import os
async def f():
    return os
async def main():
    ms = await asyncio.gather(f(), f())
    ms[0].system('id')
asyncio.run(main())
# expect 7 py.process
# expect 7 sh.command
