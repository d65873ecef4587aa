# A terminal with a program in it, driven over pipes. stdin: one JSON object a line, {"type": TEXT}, {"resize": [ROWS, COLUMNS]}
# or {"signal": NUMBER}; stdout: what the terminal shows; the last line of stderr: {"exit": CODE} or {"killed": SIGNAL}.
# Usage: terminal.py COMMAND ARG...
import fcntl
import json
import os
import pty
import select
import struct
import sys
import termios

pid, master = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])

shown, asked = True, True
pending = b""
while shown:
    ready, _, _ = select.select([master] + ([0] if asked else []), [], [])
    if master in ready:
        try:
            data = os.read(master, 65536)
        except OSError:
            data = b""  # EIO: nobody has the terminal open any more
        shown = data != b""
        os.write(1, data)
    if 0 in ready:
        data = os.read(0, 65536)
        asked = data != b""
        pending += data
        while b"\n" in pending:
            line, pending = pending.split(b"\n", 1)
            request = json.loads(line)
            if "type" in request:
                os.write(master, request["type"].encode())
            if "resize" in request:
                fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", *request["resize"], 0, 0))
            if "signal" in request:
                os.kill(pid, request["signal"])
_, status = os.waitpid(pid, 0)
end = {"killed": os.WTERMSIG(status)} if os.WIFSIGNALED(status) else {"exit": os.WEXITSTATUS(status)}
print(json.dumps(end), file=sys.stderr)
