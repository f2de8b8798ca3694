import asyncio
async def fetch(n):
    await asyncio.sleep(0)
    return n
async def main():
    results = await asyncio.gather(*(fetch(i) for i in range(3)))
    async with asyncio.Lock():
        print(results)
    t = asyncio.create_task(fetch(1))
    print(await asyncio.wait_for(t, 1))
asyncio.run(main())
