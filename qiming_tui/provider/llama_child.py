"""The process that runs llama.cpp's server on a GGUF file (`mechanisms.md` 4).

Arguments: path of the model, window in tokens. The key is in the environment. It listens on a free port of
127.0.0.1, without CORS and without a web page; hello carries the address and the real window. The frame
`count` with encoding "chat" holds JSON lists of messages: the server's own template and tokenizer count them.
"""

import importlib
import os
import queue
import sys
import urllib.request
from typing import Any, Final, NoReturn

import msgspec

from qiming_tui.model.codec import JSON
from qiming_tui.model.stream import Fault, FaultKind
from qiming_tui.provider.frames import Count, Counted, Error, Frame, Hello, Ping, Pong, Quit
from qiming_tui.provider.pipes import Pipes, lower_priority

KEY_ENV: Final = "QIMING_LOCAL_KEY"
HOST: Final = "127.0.0.1"
NICE: Final = 10
BATCH_TOKENS: Final = 128
"""Tokens a step of the prefill: a cancel is noticed between two steps (0.6 s; 8.7 s with the default)."""
CACHE_MIB: Final = 256
MAX_THREADS: Final = 8
REPLY_S: Final = 60.0


def start_server(path: str, context: int, key: str) -> Any:  # noqa: ANN401 - an untyped binding
    """llama.cpp's server, listening; raises RuntimeError when the model cannot be loaded."""
    llama = importlib.import_module("xllamacpp")
    params = llama.CommonParams()
    params.model.path = path
    params.n_ctx = context
    params.n_parallel = 1
    params.n_batch = params.n_ubatch = BATCH_TOKENS
    params.hostnames = [HOST]
    params.port = 0
    params.api_keys = [key]
    params.cors_origins = ""
    params.cache_ram_mib = CACHE_MIB
    params.use_jinja = True
    params.ui = False
    # One processor stays with the user. Threads wait for each other after every operation: one that does not
    # get its processor, at this low priority, would hold up the other and each token with it.
    threads = max(1, min(MAX_THREADS, (os.cpu_count() or 1) - 1))
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    # Never spin: waiting threads would eat the processor of whoever works beside this server.
    params.cpuparams.poll = params.cpuparams_batch.poll = 0
    # What the makers of SmolLM2 advise, where a request does not say; llama.cpp's own defaults let so small a
    # model ramble on to its limit. One seed: the same conversation goes the same way, within limits.
    sampling = params.sampling
    sampling.temp, sampling.top_p, sampling.seed = 0.2, 0.9, 1
    return llama.Server(params)


class Client:
    """Speaks HTTP to the server of this process."""

    def __init__(self, url: str, key: str) -> None:
        self._url = url
        self._key = key
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def ask(self, path: str, body: JSON = None) -> JSON:
        """The JSON answer to a GET, or to a POST when there is a body. Raises OSError."""
        data = msgspec.json.encode(body) if body is not None else None
        headers = {"Authorization": f"Bearer {self._key}", "Content-Type": "application/json"}
        request = urllib.request.Request(self._url + path, data=data, headers=headers)
        with self._opener.open(request, timeout=REPLY_S) as reply:
            return msgspec.json.decode(reply.read())

    def window(self) -> int:
        """The window in tokens that the server really has."""
        return int(self.ask("/props")["default_generation_settings"]["n_ctx"])

    def count_chat(self, messages: JSON) -> int:
        """Tokens of a request with these messages, as the server will count them itself."""
        prompt = self.ask("/apply-template", {"messages": messages})["prompt"]
        body = {"content": prompt, "add_special": True, "parse_special": True}
        return len(self.ask("/tokenize", body)["tokens"])


def answer(client: Client, job: Count) -> Counted | Error:
    """The counts that a frame asks for, or why there are none."""
    try:
        return Counted(job.id, [client.count_chat(msgspec.json.decode(text)) for text in job.texts])
    except (OSError, KeyError, TypeError, msgspec.DecodeError) as fault:
        return Error(job.id, Fault(kind=FaultKind.INVALID, message=f"the local model cannot count: {fault}"))


def main() -> NoReturn:
    """Entry of the process."""
    pipes = Pipes.take()
    jobs: queue.SimpleQueue[Count] = queue.SimpleQueue()

    def take(frame: Frame) -> None:
        match frame:
            case Count():
                jobs.put(frame)
            case Ping():
                pipes.send(Pong(frame.id))
            case Quit():
                os._exit(0)
            case _:
                return

    pipes.listen(take)
    lower_priority(NICE)
    path, context = sys.argv[1], int(sys.argv[2])
    key = os.environ.pop(KEY_ENV)
    try:
        server = start_server(path, context, key)
    except (ImportError, RuntimeError) as fault:
        words = f"llama.cpp cannot run {os.path.basename(path)}: {fault}"
        pipes.send(Error("", Fault(kind=FaultKind.INVALID, message=words)))
        os._exit(1)
    client = Client(server.listening_address, key)
    pipes.send(Hello(os.getpid(), {"url": server.listening_address, "context": client.window()}))
    while True:
        pipes.send(answer(client, jobs.get()))


if __name__ == "__main__":
    main()
