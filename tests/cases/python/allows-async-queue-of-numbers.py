import asyncio
async def producer(q):
    for i in range(3):
        await q.put(i)
    await q.put(None)
async def consumer(q):
    while (item := await q.get()) is not None:
        print(item)
async def main():
    q = asyncio.Queue()
    await asyncio.gather(producer(q), consumer(q))
asyncio.run(main())
