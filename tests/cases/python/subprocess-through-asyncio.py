import asyncio
process = asyncio.base_events.subprocess.Popen(['id'])
# expect 2 py.process
# expect 2 sh.command
