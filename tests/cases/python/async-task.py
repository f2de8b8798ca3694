import asyncio
import os
async def f():
    return os
async def main():
    t = asyncio.create_task(f())
    (await t).system('id')
asyncio.run(main())
# expect 7 py.process
# expect 7 sh.command
