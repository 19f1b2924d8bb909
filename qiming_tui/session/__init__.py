"""L3, the session: one asyncio worker that queues, asks models, runs tools, prunes and compacts.

Follow one prompt: `worker.py` takes it, `loop.py` runs the turn, `step.py` makes one request,
`processor.py` turns the answer into parts, `message.py` writes them, `journal.py` stores them,
`bus.py` tells everybody.
"""
