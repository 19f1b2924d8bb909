"""A child for the tests of process.py: answers pings, prints noise, dies when told to."""

import os
import sys
import threading

from qiming_tui.provider.frames import Count, Counted, Frame, Hello, Ping, Pong, Quit
from qiming_tui.provider.pipes import Pipes


def main() -> None:
    pipes = Pipes.take()
    if "die-early" in sys.argv:
        os._exit(3)

    def on_frame(frame: Frame) -> None:
        print("noise on stdout", flush=True)
        os.system("echo noise of a grandchild")
        match frame:
            case Ping(id="die"):
                os._exit(7)
            case Ping(id="nonsense"):
                os.write(pipes._sink, b"\xff\xff\xff\xffnonsense")
            case Ping(id=name):
                pipes.send(Pong(name, {"stdin": os.read(0, 10).decode(), "cwd": os.getcwd() in sys.path}))
            case Count(id=name, texts=texts):
                pipes.send(Counted(name, [len(text) for text in texts]))
            case Quit():
                os._exit(0)

    pipes.listen(on_frame)
    pipes.send(Hello(os.getpid(), {"args": sys.argv[1:], "secret": os.environ.get("SECRET")}))
    threading.Event().wait()


if __name__ == "__main__":
    main()
