"""A PostgreSQL server of its own in a folder, on a free port of the loopback interface."""
import glob
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import time


class Missing(Exception):
    """PostgreSQL is not installed, or has not started."""


def binaries():
    """The folder of the server's programs; none if it is not installed."""
    folders = os.environ.get("PATH", "").split(os.pathsep)
    for pattern in ("/usr/lib/postgresql/*/bin", "/opt/homebrew/opt/postgresql@*/bin", "/usr/local/opt/postgresql@*/bin"):
        folders += sorted(glob.glob(pattern), reverse=True)
    for folder in folders:
        if all(os.access(f"{folder}/{name}", os.X_OK) for name in ("initdb", "pg_ctl", "psql")):
            return folder
    return None


def free_port():
    with socket.socket() as socket_:
        socket_.bind(("127.0.0.1", 0))
        return socket_.getsockname()[1]


class Database:
    def __init__(self, folder):
        """Starts the server that is in a folder, or a new one."""
        self.binaries = binaries()
        if not self.binaries:
            raise Missing("PostgreSQL is not installed (Debian: apt-get install postgresql; Homebrew: brew install postgresql@17)")
        self.folder = os.path.abspath(folder)
        self.data = f"{self.folder}/data"
        self.port = free_port()
        os.makedirs(self.folder, exist_ok=True)
        self.user = None
        # The server refuses to run as root.
        if os.getuid() == 0:
            names = {entry.pw_name for entry in pwd.getpwall()}
            self.user = "postgres" if "postgres" in names else "nobody"
            shutil.chown(self.folder, self.user)
        # It is there before the server is. Its input ends with this process, however that ends, and signals to this one's group do not
        # reach it.
        self.guard = subprocess.Popen([sys.executable, "-B", os.path.abspath(__file__), "--guard", f"{self.data}/postmaster.pid"],
                                      stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/",
                                      start_new_session=True)
        is_new = not os.path.exists(f"{self.data}/PG_VERSION")
        if is_new:
            self.run("initdb", "-D", self.data, "-U", "owner", "-E", "UTF8", "--locale=C", "-A", "trust")
        self.start()
        if is_new:
            self.sql("CREATE ROLE shop LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE", "postgres")
            self.sql("CREATE DATABASE shop OWNER shop", "postgres")

    @property
    def url(self):
        return f"postgresql://shop@127.0.0.1:{self.port}/shop"

    def start(self):
        options = f"-c listen_addresses=127.0.0.1 -c port={self.port} -c unix_socket_directories="
        self.run("pg_ctl", "-D", self.data, "-l", f"{self.folder}/log", "-w", "-o", options, "start")

    def stop(self, mode="fast"):
        self.run("pg_ctl", "-D", self.data, "-w", "-m", mode, "stop")

    def sql(self, text, database="shop"):
        return self.run("psql", "-X", "-q", "-A", "-t", "-h", "127.0.0.1", "-p", str(self.port), "-U", "owner",
                        "-d", database, "-v", "ON_ERROR_STOP=1", "-c", text)

    def run(self, program, *options):
        command = [f"{self.binaries}/{program}", *options]
        if self.user:
            command = ["runuser", "-u", self.user, "--", *command]
        # A file, since the server that is started would hold a pipe open.
        with open(f"{self.folder}/said", "w+") as said:
            status = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=said, stderr=said, cwd=self.folder,
                                    env={**os.environ, "LC_ALL": "C"}).returncode
            said.seek(0)
            text = said.read().strip()
        if status != 0:
            raise Missing(f"{program} has failed: {text}")
        return text


def is_server(pid):
    """Whether a process is a PostgreSQL server, as far as the system tells."""
    if not os.path.isdir("/proc/self"):
        return True
    with open(f"/proc/{pid}/comm") as name:
        return name.read().startswith("postgres")


def guard(file):
    """Stops the server that a file names as soon as the input ends. It may just be starting."""
    sys.stdin.buffer.read()
    for _ in range(3):
        try:
            with open(file) as lines:
                pid = int(lines.readline())
            # The file of a server that ended long ago may name another program by now.
            if is_server(pid):
                os.kill(pid, signal.SIGQUIT)
        except (OSError, ValueError):
            pass
        time.sleep(1)


def main():
    """`postgresql.py FOLDER VARIABLE COMMAND…`: runs a command with a new server, whose URL is in a variable of the environment, and
    whose programs are in its path."""
    if sys.argv[1] == "--guard":
        return guard(sys.argv[2])
    # What ends this ends the server, too.
    for number in (signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    folder, variable, *command = sys.argv[1:]
    try:
        database = Database(folder)
    except Missing as error:
        sys.exit(str(error))
    try:
        path = os.pathsep.join([database.binaries, os.environ.get("PATH", "")])
        sys.exit(subprocess.run(command, env={**os.environ, "PATH": path, variable: database.url}).returncode)
    finally:
        database.stop("immediate")


if __name__ == "__main__":
    main()
