import asyncio
import os
async def main():
    q = asyncio.Queue()
    await q.put(os)
    (await q.get()).system('id')
asyncio.run(main())
# expect 6 py.process
# expect 6 sh.command
