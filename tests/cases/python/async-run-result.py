import asyncio
import os
async def f():
    return os
asyncio.run(f()).system('id')
# expect 5 py.process
# expect 5 sh.command
