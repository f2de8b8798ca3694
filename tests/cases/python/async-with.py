import asyncio
import os
class A:
    async def __aenter__(self):
        return os
    async def __aexit__(self, *a):
        pass
async def main():
    async with A() as m:
        m.system('id')
asyncio.run(main())
# expect 10 py.process
# expect 10 sh.command
