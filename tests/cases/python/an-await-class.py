import asyncio
import os
class A:
    def __await__(self):
        yield
        return os
async def main():
    (await A()).system('id')
asyncio.run(main())
# expect 8 py.process
# expect 8 sh.command
