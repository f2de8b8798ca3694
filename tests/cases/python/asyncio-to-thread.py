import asyncio
import os
async def main():
    m = await asyncio.to_thread(lambda: os)
    m.system('id')
asyncio.run(main())
# expect 5 py.process
# expect 5 sh.command
