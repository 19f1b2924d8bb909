"""Put on a child's PYTHONPATH by a test: prints noise and a secret all the time, once stdout is the log."""

import os
import sys
import threading


def noise() -> None:
    here, log = os.fstat(1), os.fstat(2)
    tick = threading.Event()
    while (here.st_dev, here.st_ino) != (log.st_dev, log.st_ino):
        tick.wait(0.002)
        here = os.fstat(1)
    while True:
        print("noise of a print " * 20, os.environ["QIMING_TEST_KEY"], flush=True)
        os.write(1, b"noise of a write " * 20 + b"\n")
        os.system("echo noise of a grandchild")
        tick.wait(0.005)


if "QIMING_TEST_NOISE" in os.environ and "qiming_tui.provider.child" in sys.orig_argv:
    threading.Thread(target=noise, daemon=True).start()
