"""A crowd of rude clients: connections that say nothing and connections that send a byte a second.

    crowd.py PORT IDLE DRIBBLING

Prints "ready" once all are connected, then goes on until its standard input closes. Whoever is
closed by the server comes again at once, as such clients do.
"""

import resource
import selectors
import socket
import sys

HEAD = b"POST /v1/payments HTTP/1.1\r\nHost: dribble\r\nX-Slow: " + b"x" * 8000


def connect(port, number):
    one = socket.socket()
    one.bind((f"127.0.0.{2 + number % 8}", 0))  # eight addresses, as if they were eight clients
    one.connect(("127.0.0.1", port))
    one.setblocking(False)
    return one


def is_closed(one):
    try:
        return one.recv(4096) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


def main():
    port, idle, dribbling = map(int, sys.argv[1:])
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, idle + dribbling + 100),) * 2)
    clients = {number: connect(port, number) for number in range(idle + dribbling)}
    sent = dict.fromkeys(range(idle, idle + dribbling), 0)
    print("ready", flush=True)
    waiting = selectors.DefaultSelector()
    waiting.register(sys.stdin, selectors.EVENT_READ)
    again = 0
    while not waiting.select(timeout=1):
        for number, one in clients.items():
            closed = is_closed(one)
            if not closed and number in sent:
                try:
                    one.send(HEAD[sent[number]:sent[number] + 1])
                    sent[number] += 1
                except OSError:
                    closed = True
            if closed:
                one.close()
                clients[number] = connect(port, number)
                again += 1
                if number in sent:
                    sent[number] = 0
    print(f"came again {again} times", flush=True)


if __name__ == "__main__":
    main()
