# give SOCKET DIRECTORY: from outside, hands two descriptors of DIRECTORY, one to read it and one as a mere place, to
# whoever listens at SOCKET.
# take SOCKET: listens there, and tries everything that a descriptor of a foreign directory might be good for. Prints how each
# try was answered.
import array
import ctypes
import os
import socket
import sys
import time

role, path = sys.argv[1:3]


def give(directory):
    mine = [os.open(directory, os.O_RDONLY | os.O_DIRECTORY), os.open(directory, os.O_PATH | os.O_DIRECTORY)]
    peer = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    for _ in range(1000):
        try:
            peer.connect(path)
            break
        except OSError:
            time.sleep(0.01)
    peer.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", mine))])
    peer.recv(1)


def take():
    server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    server.bind(path)
    os.chmod(path, 0o777)
    server.listen(1)
    peer, _ = server.accept()
    rights = array.array("i")
    _, ancillary, _, _ = peer.recvmsg(1, socket.CMSG_SPACE(2 * rights.itemsize))
    rights.frombytes(ancillary[0][2])
    for kind, directory in zip(["readable", "path"], rights):
        attempt(kind, directory)
    peer.send(b"x")


def attempt(kind, directory):
    def write(name, flags):
        os.write(os.open(name, flags | os.O_WRONLY, 0o644, dir_fd=directory), b"changed")

    def within(act):
        before = os.open(".", os.O_RDONLY)
        os.fchdir(directory)
        try:
            act()
        finally:
            os.fchdir(before)

    libc = ctypes.CDLL(None, use_errno=True)

    def call(number, *values):
        if libc.syscall(number, *values) < 0:
            raise OSError(ctypes.get_errno(), "")

    link = f"/proc/self/fd/{directory}"
    tries = {
        "write": lambda: write("victim", 0),
        "create": lambda: write(f"new-{kind}", os.O_CREAT),
        "append by name": lambda: os.write(os.open(f"{link}/victim", os.O_WRONLY | os.O_APPEND), b"changed"),
        "truncate": lambda: os.truncate(f"{link}/victim", 1),
        "mkdir": lambda: os.mkdir(f"made-{kind}", dir_fd=directory),
        "symlink": lambda: os.symlink("x", f"link-{kind}", dir_fd=directory),
        "chmod": lambda: os.chmod("victim", 0o601 if kind == "path" else 0o610, dir_fd=directory),
        "chmod of itself": lambda: os.chmod(link, 0o751 if kind == "path" else 0o715),
        "utime": lambda: os.utime("victim", (1, 1 if kind == "path" else 2), dir_fd=directory),
        "from within": lambda: within(lambda: os.chmod("victim", 0o661 if kind == "path" else 0o616)),
        "setxattr": lambda: os.setxattr(f"{link}/victim", f"user.{kind}", b"x"),
        "fchmodat2": lambda: call(452, directory, b"victim", 0o641 if kind == "path" else 0o614, 0),
        "link": lambda: os.link("victim", f"hard-{kind}", src_dir_fd=directory, dst_dir_fd=directory),
        "rename": lambda: os.rename("moved", f"moved-{kind}", src_dir_fd=directory, dst_dir_fd=directory),
        "take in": lambda: os.rename("taken", f"taken-{kind}", src_dir_fd=directory),
        "unlink": lambda: os.unlink(f"gone-{kind}", dir_fd=directory),
    }
    for name, act in tries.items():
        try:
            act()
            print(f"{kind} {name}: done")
        except OSError as error:
            print(f"{kind} {name}: {os.strerror(error.errno)}")


take() if role == "take" else give(sys.argv[3])
