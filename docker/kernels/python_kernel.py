# SPDX-License-Identifier: MIT
"""The Python kernel: runs in a sandbox, speaks frames on descriptor 3 with the supervisor.

What arrives is what runs: no magic, no automagic, no input transformation; the gateway rewrote notebook syntax before it judged
the code. Standard library and IPython only. IPython is imported when something needs it: a cell, the program, or a sandbox that
waits for its use (WARM).
"""
import builtins
import contextlib
import getpass
import io
import json
import linecache
import os
import select
import signal
import socket
import struct
import sys
import threading
import traceback
import types
import warnings

CONTROL = 3
HEAD = struct.Struct("<BI")
LANGUAGE_OFFSET, INTERACTIVE_OFFSET, RUN_HEAD = 24, 39, 40
WARM = ("IPython", "numpy", "matplotlib.pyplot", "pandas")


def printable(text):
    """Without lone surrogates, which JSON cannot carry."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def cut(text, most):
    """The lines of a text, without its middle when they would have more than so many bytes as JSON: the supervisor ends whoever says
    more than a frame may hold."""
    keep = most
    while True:
        kept = printable(text if len(text) <= keep else f"{text[: keep // 2]}\n...\n{text[-keep // 2 :]}").split("\n")
        if len(json.dumps(kept, ensure_ascii=False).encode()) <= most:
            return kept
        keep //= 2


@contextlib.contextmanager
def shortened(error, most=50):
    """Of a long chain of exceptions the first ones, while it is described."""
    for _ in range(most):
        if error is not None:
            error = error.__cause__ or error.__context__
    if error is None:
        yield
        return
    cause, context, suppress = error.__cause__, error.__context__, error.__suppress_context__
    error.__cause__ = error.__context__ = None
    try:
        yield
    finally:
        error.__cause__, error.__context__, error.__suppress_context__ = cause, context, suppress


class Channel:
    """The socket to the supervisor. Only the process that opened it may speak on it: a fork inherits the descriptor."""

    def __init__(self, fd):
        self.socket = socket.socket(fileno=fd)
        self.socket.set_inheritable(False)
        self.pid = os.getpid()
        self.received = bytearray()  # of a frame whose reading was interrupted

    def send(self, kind, *parts):
        if os.getpid() != self.pid:
            return
        size = sum(len(part) for part in parts)
        self.socket.sendall(b"".join((HEAD.pack(ord(kind), size),) + parts))

    def receive(self):
        while True:
            if len(self.received) >= HEAD.size:
                kind, size = HEAD.unpack_from(self.received)
                if len(self.received) >= HEAD.size + size:
                    payload = bytes(self.received[HEAD.size : HEAD.size + size])
                    del self.received[: HEAD.size + size]
                    return chr(kind), payload
            chunk = self.socket.recv(1 << 20)
            if not chunk:
                os._exit(0)
            self.received += chunk

    def has_more(self):
        return bool(self.received) or bool(select.select([self.socket], [], [], 0)[0])


class Stream(io.TextIOBase):
    """sys.stdout or sys.stderr: text goes out as frames, so that it keeps its place among figures and results."""

    def __init__(self, channel, kind, fd):
        self._channel, self._kind, self._fd = channel, kind, fd
        self._pending, self._size = [], 0
        self.buffer = io.BufferedWriter(Raw(self), 1 << 13)

    encoding = property(lambda self: "utf-8")
    errors = property(lambda self: "backslashreplace")

    def writable(self):
        return True

    def fileno(self):
        return self._fd

    def isatty(self):
        return False

    def write(self, text):
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        if text:
            self._pending.append(text)
            self._size += len(text)
            if self._size > 1 << 13 or "\n" in text:
                self.flush()
        return len(text)

    def flush(self):
        if self._pending:
            data = "".join(self._pending).encode("utf-8", "backslashreplace")
            self._pending, self._size = [], 0
            self.emit(data)

    def emit(self, data):
        if os.getpid() != self._channel.pid:
            os.write(self._fd, data)
            return
        for at in range(0, len(data), 1 << 20):
            self._channel.send(self._kind, data[at : at + (1 << 20)])


class Raw(io.RawIOBase):
    """What sys.stdout.buffer writes to."""

    def __init__(self, stream):
        self._stream = stream

    def writable(self):
        return True

    def write(self, data):
        self._stream.flush()
        self._stream.emit(bytes(data))
        return len(data)


class Stdin(io.TextIOBase):
    """sys.stdin: each line is asked of whoever started the run, if there is somebody to answer."""

    def __init__(self, channel, flush):
        self._channel, self._flush = channel, flush
        self._lock = threading.Lock()
        self.interactive = False

    encoding = property(lambda self: "utf-8")

    def readable(self):
        return True

    def fileno(self):
        return 0

    def isatty(self):
        return False

    def ask(self, prompt="", secret=False):
        """The line with its end; empty at the end of the input."""
        if not self.interactive or os.getpid() != self._channel.pid:
            raise EOFError("nobody can answer input() here; put the values into the code, or run it interactively")
        with self._lock:
            self._flush()
            self._channel.send("q", bytes([secret]), printable(str(prompt))[:60000].encode())
            while True:
                kind, payload = self._channel.receive()
                if kind == "i":
                    return payload.decode("utf-8", "replace")

    def readline(self, size=-1):
        return self.ask()

    def read(self, size=-1):
        return "".join(iter(self.readline, ""))

    def input(self, prompt="", /):
        line = self.ask(prompt)
        if not line:
            raise EOFError("the input has ended")
        return line.removesuffix("\n")

    def getpass(self, prompt="Password: ", stream=None):
        return self.ask(prompt, True).removesuffix("\n")


class NeedsShell:
    """A finder that finds nothing: when one of these modules is about to be imported, IPython's shell is made first, for they look
    for it as they are imported."""

    names = {"IPython", "matplotlib", "matplotlib_inline", "ipykernel", "ipywidgets"}

    def __init__(self, kernel):
        self._kernel = kernel

    def find_spec(self, name, path=None, target=None):
        if name in self.names:
            self._kernel.need_shell()
        return None


def pack_bundle(data):
    """A MIME bundle as JSON list of types and lengths, then the parts as bytes."""
    import base64

    parts = []
    for mime, value in data.items():
        if isinstance(value, (bytes, bytearray)):
            raw = bytes(value)
        elif isinstance(value, str):
            binary = mime.startswith(("image/", "audio/", "application/pdf")) and mime != "image/svg+xml"
            raw = base64.b64decode(value) if binary else value.encode("utf-8", "backslashreplace")
        else:
            raw = json.dumps(value, default=str).encode("utf-8", "backslashreplace")
        parts.append((str(mime), raw))
    listing = json.dumps([[mime, len(raw)] for mime, raw in parts]).encode()
    return [struct.pack("<I", len(listing)), listing] + [raw for _, raw in parts]


class Kernel:
    def __init__(self, channel):
        self.channel = channel
        self.running = False
        self.count = 0
        self.files = {}
        self.shell = None
        self.module = types.ModuleType("__main__")
        self.module.__builtins__ = builtins
        sys.modules["__main__"] = self.module
        self.finder = NeedsShell(self)
        sys.meta_path.insert(0, self.finder)
        self.stdin = Stdin(channel, self.flush)
        sys.stdin = sys.__stdin__ = self.stdin
        builtins.input = self.stdin.input
        getpass.getpass = getpass.win_getpass = getpass.unix_getpass = self.stdin.getpass
        builtins.display = self.display
        self.module.exit = self.module.quit = sys.exit  # IPython's own belong to its terminal

    def flush(self):
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.buffer.flush()
                stream.flush()
            except Exception:
                pass

    def publish(self, kind, data):
        self.flush()
        self.channel.send(kind, *pack_bundle(data))

    def display(self, *objects, **options):
        self.need_shell()
        from IPython.display import display

        return display(*objects, **options)

    def need_shell(self):
        if self.finder in sys.meta_path:
            sys.meta_path.remove(self.finder)
            self.shell = self.make_shell()

    def make_shell(self):
        # IPython's package imports its terminal, and that a completion library: half of the time, for nothing here. Who imports
        # them later gets the real ones.
        hidden = ("IPython.terminal", "IPython.terminal.embed", "jedi")
        for name in hidden:
            sys.modules[name] = None if name == "jedi" else types.ModuleType(name)
        sys.modules["IPython.terminal"].__path__ = []
        sys.modules["IPython.terminal.embed"].embed = None
        try:
            return self.make_ipython()
        finally:
            for name in hidden:
                sys.modules.pop(name, None)

    def make_ipython(self):
        from IPython.core.displayhook import DisplayHook
        from IPython.core.displaypub import DisplayPublisher
        from IPython.core.interactiveshell import InteractiveShell
        from traitlets.config import Config

        kernel = self

        class Hook(DisplayHook):
            def __call__(self, result=None):
                self.check_for_underscore()
                if result is not None and not self.quiet():
                    data, _ = self.compute_format_data(result)
                    self.update_user_ns(result)
                    if data:
                        kernel.publish("R", data)

        class Publisher(DisplayPublisher):
            def publish(self, data, metadata=None, source=None, *, transient=None, update=False, **kwargs):
                kernel.publish("D", data)

            def clear_output(self, wait=False):
                pass

        class Shell(InteractiveShell):
            def enable_gui(self, gui=None):
                pass

            def init_io(self):
                pass

            def showtraceback(self, exc_tuple=None, *args, **kwargs):
                self._get_exc_info(exc_tuple)  # for pdb.pm(); the error is reported as one, not printed

            showsyntaxerror = showindentationerror = lambda self, *args, **kwargs: self.showtraceback()

        config = Config()
        config.HistoryManager.enabled = False
        config.InteractiveShell.colors = "NoColor"
        config.InteractiveShell.automagic = False
        config.InteractiveShell.autocall = 0
        config.InteractiveShell.enable_html_pager = False
        config.InteractiveShell.xmode = "Plain"
        config.InteractiveShell.cache_size = 0
        shell = Shell.instance(
            config=config, displayhook_class=Hook, display_pub_class=Publisher, user_module=self.module, user_ns=self.module.__dict__
        )
        manager = shell.input_transformer_manager
        manager.cleanup_transforms = []
        manager.line_transforms = []
        manager.token_transformers = []
        shell.system = shell.system_raw if os.environ.get("CODEBOX_RAW_SYSTEM") else shell.system_piped
        shell.user_ns["exit"] = shell.user_ns["quit"] = sys.exit
        warnings.filterwarnings("ignore", message="To exit: use")
        return shell

    # --- running ------------------------------------------------------------------------------------------------

    def run_cell(self, code):
        self.need_shell()
        shell = self.shell
        shell.execution_count = self.count
        name = shell.compile.cache(code, self.count, raw_code=code)
        self.files[name] = code
        coroutine = shell.run_cell_async(code, store_history=False, transformed_cell=code)
        if shell.should_run_async(code, transformed_cell=code):
            runner = shell.loop_runner
        else:
            from IPython.core.async_helpers import _pseudo_sync_runner as runner
        result = runner(coroutine)
        shell.events.trigger("post_execute")
        shell.events.trigger("post_run_cell", result)
        return result.error_before_exec or result.error_in_exec

    def run_file(self, code):
        name = f"<program-{self.count}>"
        linecache.cache[name] = (len(code), None, code.splitlines(True), name)
        self.files[name] = code
        error = None
        try:
            exec(compile(code, name, "exec", dont_inherit=True), self.module.__dict__)
        except BaseException as caught:
            error = caught
        if self.shell is not None:
            self.shell.events.trigger("post_execute")
        return error

    def warm(self):
        for name in WARM:
            if self.channel.has_more():
                return
            try:
                self.need_shell()
                __import__(name)
            except Exception:
                pass

    def run(self, language, code):
        self.count += 1
        error = None
        try:
            self.running = True
            error = self.run_file(code) if language == "python" else self.run_cell(code)
        except BaseException as caught:  # an interrupt that came a moment too late, or a broken hook
            error = caught
        finally:
            self.running = False
        self.flush()
        return self.report(error)

    def report(self, error):
        """Sends what went wrong and returns the exit code."""
        if error is None:
            return 0
        if isinstance(error, SystemExit):
            if error.code is None or isinstance(error.code, int):
                return (error.code or 0) & 255
            print(error.code, file=sys.stderr)
            self.flush()
            return 1
        try:
            body = self.describe(error)
        except BaseException as broken:  # also an exit
            body = {"ename": cut(type(error).__name__, 1000)[0], "evalue": f"(its text cannot be read: {type(broken).__name__})", "traceback": []}
        self.channel.send("X", json.dumps(body, ensure_ascii=False).encode())
        return 1

    def describe(self, error):
        frame = error.__traceback__
        # Our own and IPython's frames come first; the program's begin where one of its sources does.
        while frame is not None and frame.tb_frame.f_code.co_filename not in self.files:
            frame = frame.tb_next
        if frame is None and isinstance(error, SyntaxError):
            lines = traceback.format_exception_only(type(error), error)
        else:
            with shortened(error):
                report = traceback.TracebackException(type(error), error, frame)
            each = report
            while each is not None:
                kept = [entry for entry in each.stack if entry.filename != __file__]
                each.stack = traceback.StackSummary.from_list(kept)
                each = each.__cause__ or each.__context__
            lines = report.format()
        return {
            "ename": cut(type(error).__name__, 1000)[0],
            "evalue": "\n".join(cut(str(error)[:8000], 64000)),
            "traceback": cut("".join(line if len(line) <= 240000 else line[:120000] + line[-120000:] for line in lines).rstrip("\n"), 120000),
        }

    # --- serving ------------------------------------------------------------------------------------------------

    def on_interrupt(self, number, frame):
        if self.running:
            raise KeyboardInterrupt

    def serve(self):
        signal.signal(signal.SIGINT, self.on_interrupt)
        self.channel.send("Y")
        while True:
            kind, payload = self.channel.receive()
            if kind == "w":
                self.warm()
            if kind != "E":
                continue
            self.stdin.interactive = payload[INTERACTIVE_OFFSET] == 1
            language = payload[LANGUAGE_OFFSET:INTERACTIVE_OFFSET].split(b"\0")[0].decode()
            code = self.run(language, payload[RUN_HEAD:].decode("utf-8"))
            self.flush()
            self.channel.send("F", struct.pack("<i", code))


def main():
    channel = Channel(CONTROL)
    sys.stdout = sys.__stdout__ = Stream(channel, "O", 1)
    sys.stderr = sys.__stderr__ = Stream(channel, "e", 2)
    sys.path.insert(0, "/workspace")
    sys.argv = [""]
    os.chdir("/workspace")
    Kernel(channel).serve()


main()
