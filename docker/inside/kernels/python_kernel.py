# SPDX-License-Identifier: MIT
"""The Python kernel: runs in a sandbox and exchanges frames with the supervisor on descriptor 3.

It runs exactly the code that it receives: no magic, no automagic, no input transformation; the gateway rewrote notebook syntax
before it judged the code. Standard library and IPython only. Cells run here; IPython formats what they display, and is imported
when a cell needs it: that takes a quarter of a second, which most cells need not spend. A program shares this process and may
replace or delete anything that it can name, so the kernel reports through references of its own.
"""
import builtins

__builtins__ = dict(vars(builtins))  # a copy for the functions below: a program may delete a builtin

import _ast
import _ctypes
import _frozen_importlib
import _imp
import _json
import _posixsubprocess
import _signal
import _socket
import _thread
import ast  # changes classes of _ast, so it comes before the guard reads them
import atexit
import binascii
import codecs
import fcntl
import functools
import gc
import getpass
import io
import json
import linecache
import opcode  # for the guard
import os
import platform
import re
import sys
import time
import tokenize
import traceback
import types
import warnings
import weakref

CONTROL = 3
LANGUAGE_OFFSET, INTERACTIVE_OFFSET, ONE_SHOT_OFFSET, REFUSED_OFFSET, ARGUMENTS_OFFSET, IMPORTS_OFFSET, INPUT_OFFSET, RUN_HEAD = 0, 16, 17, 18, 20, 24, 28, 32  # struct cbx_frame_run
WARM = ("IPython", "numpy", "matplotlib.pyplot", "pandas")
LAYER = f"/usr/local/lib/python{sys.version_info.major}.{sys.version_info.minor}/dist-packages"  # where docker/packages/layer_images.c puts packages
IPYTHON_FOLDER = "/codebox/ipython"  # an empty folder: IPython reads no configuration
IMAGE_PATH = tuple(sys.path)
INSTALLERS = frozenset(("pip", "pip3", "conda", "mamba", "micromamba", "uv", "npm", "npx", "yarn", "apt", "apt-get"))
BUNDLE_MAX, ERROR_MAX = 64 << 20, 200_000  # below the limits of frame.def
FRAMES_MAX, CHAIN_MAX = 2000, 20
TOP_LEVEL_AWAIT, ONLY_AST, COROUTINE = 0x2000, 0x400, 0x80
FUTURES = 0x1FE0000  # flags of `from __future__ import ...`, which apply to later cells too
AGAIN_AFTER, AGAIN_EVERY = 0.15, 0.05  # seconds after which an interrupt that the program caught is repeated

quote, now, getpid, get_ident = _json.encode_basestring, time.monotonic, os.getpid, _thread.get_ident
read_fd, write_fd, exit_now = os.read, os.write, os._exit
get_limit, set_limit, sleep, ioctl = sys.getrecursionlimit, sys.setrecursionlimit, time.sleep, fcntl.ioctl
open_fd, close_fd, chdir, fchdir = os.open, os.close, os.chdir, os.fchdir
set_blocking, fstat, dup2 = os.set_blocking, os.fstat, os.dup2
lines = linecache.cache
START_PROGRAM = _posixsubprocess.fork_exec
to_json, decode64, TracebackException = json.dumps, binascii.a2b_base64, traceback.TracebackException


class Run:
    """One run, parsed from the payload of a RUN frame."""

    def __init__(self, payload):
        imports_end = RUN_HEAD + int.from_bytes(payload[IMPORTS_OFFSET : IMPORTS_OFFSET + 4], "little")
        arguments_end = imports_end + int.from_bytes(payload[ARGUMENTS_OFFSET : ARGUMENTS_OFFSET + 4], "little")
        words = payload[imports_end:arguments_end].split(b"\0")[:-1]
        self.language = payload[LANGUAGE_OFFSET:INTERACTIVE_OFFSET].split(b"\0")[0].decode()
        self.is_interactive = payload[INTERACTIVE_OFFSET] == 1
        self.is_one_shot = payload[ONE_SHOT_OFFSET] == 1
        self.has_input = payload[INPUT_OFFSET] == 1
        self.refused = int.from_bytes(payload[REFUSED_OFFSET : REFUSED_OFFSET + 2], "little")
        self.imports = payload[RUN_HEAD:imports_end]
        self.is_program = self.language == "python"
        self.file_name = os.fsdecode(words[0]) if words else ""
        self.arguments = [os.fsdecode(word) for word in words[1:]]
        self.code = payload[arguments_end:].decode("utf-8", "replace")


def printable(text):
    """Returns the text without lone surrogates, which JSON cannot represent."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


class Channel:
    """The socket to the supervisor. Only the process that opened the socket sends on it: a fork inherits
    the descriptor. An interrupt during a frame is raised after the frame. The guard receives the
    frames, and applies the frames about itself (docker/inside/python_guard/inbox.c)."""

    def __init__(self, fd, guard):
        self.socket = _socket.socket(fileno=fd)
        os.set_inheritable(fd, False)
        self.fd = fd
        self.pid, self.main = getpid(), get_ident()
        self.lock = _thread.RLock()
        self.busy, self.interrupted = 0, False
        self.is_idle = True  # between two runs
        self.receive, self.has_more = guard.receive, guard.has_more

    def send(self, kind, *parts):
        if getpid() != self.pid:
            return
        size = sum(len(part) for part in parts)
        data = b"".join((kind.encode(), size.to_bytes(4, "little")) + parts)
        is_main = get_ident() == self.main
        self.busy += is_main
        try:
            with self.lock:
                self.socket.sendall(data)
        finally:
            self.busy -= is_main
            if is_main and self.interrupted and not self.busy:
                self.interrupted = False
                raise KeyboardInterrupt

    def is_main_thread(self):
        return getpid() == self.pid and get_ident() == self.main

    def settle(self):
        """Waits until the supervisor has read all sent bytes, so that it reads later output of other
        processes after these bytes."""
        until = now() + 0.2
        while now() < until and ioctl(self.fd, 0x5411, b"\0\0\0\0") != b"\0\0\0\0":  # SIOCOUTQ
            sleep(0.0005)


class Stream(io.TextIOBase):
    """sys.stdout or sys.stderr: text is sent as frames, in order with figures and results."""

    def __init__(self, channel, kind, fd, name):
        self._channel, self._kind, self._fd, self._lock = channel, kind, fd, _thread.RLock()
        self._pending, self._size = [], 0
        self._encoding, self._errors = "utf-8", "backslashreplace"
        self.buffer = Buffer(self)
        self.name, self.mode = name, "w"

    encoding = property(lambda self: self._encoding)
    errors = property(lambda self: self._errors)
    line_buffering = property(lambda self: True)

    def writable(self):
        return True

    def fileno(self):
        return self._fd

    def isatty(self):
        return False

    def close(self):
        self.flush()  # the stream stays open for later programs

    def detach(self):
        return self.buffer

    def reconfigure(self, *, encoding=None, errors=None, newline=None, line_buffering=None, write_through=None):
        "".encode(encoding or "utf-8", errors or "strict")
        self._encoding = encoding or self._encoding
        self._errors = errors or ("strict" if encoding else self._errors)

    def write(self, text):
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        self.keep(text.encode(self._encoding, self._errors), "\n" in text)
        return len(text)

    def keep(self, data, ends):
        with self._lock:
            self._pending.append(data)
            self._size += len(data)
            # The text of a thread between two runs must not become output of the next run.
            if ends or self._size > 1 << 13 or self._channel.is_idle:
                self.flush()

    def flush(self):
        with self._lock:
            data, self._pending, self._size = b"".join(self._pending), [], 0
            if data:
                self.emit(data)

    def emit(self, data):
        if getpid() != self._channel.pid:
            while data:
                data = data[write_fd(self._fd, data) :]
            return
        for at in range(0, len(data), 1 << 20):
            self._channel.send(self._kind, data[at : at + (1 << 20)])


class Buffer(io.BufferedIOBase):
    """sys.stdout.buffer: bytes and text are sent in the order in which they are written."""

    def __init__(self, stream):
        self._stream = stream
        self.name, self.mode = stream._fd, "wb"

    raw = property(lambda self: self)

    def writable(self):
        return True

    def fileno(self):
        return self._stream._fd

    def write(self, data):
        data = bytes(memoryview(data))
        self._stream.keep(data, b"\n" in data)
        return len(data)

    def flush(self):
        self._stream.flush()

    def close(self):
        self.flush()  # stays open, because a TextIOWrapper closes its buffer when it is collected


class Stdin(io.TextIOBase):
    """sys.stdin: reads descriptor 0, which is at its end in a run without an input. In an interactive
    run the object requests each line from the client instead. Programs may keep the object over runs;
    begin() drops the unread input of the previous run."""

    def __init__(self, channel, flush):
        self._channel, self._flush = channel, flush
        self._own = os.dup(0)  # a program may close descriptor 0, as `open(0)` does
        self.name, self.mode = "<stdin>", "r"
        self.begin(False, False)

    def begin(self, interactive, has_input):
        """Prepares the input of a new run."""
        self.interactive, self._has_input = interactive, has_input
        self._text = io.TextIOWrapper(io.BufferedReader(StdinBytes(self)), encoding="utf-8", errors="strict")
        set_blocking(self._own, True)  # a program may have set O_NONBLOCK
        try:
            fstat(0)
        except OSError:
            dup2(self._own, 0)

    buffer = property(lambda self: self._text.buffer)
    encoding = property(lambda self: self._text.encoding)
    errors = property(lambda self: self._text.errors)
    newlines = property(lambda self: self._text.newlines)
    line_buffering = property(lambda self: False)

    def readable(self):
        return True

    def fileno(self):
        return 0

    def isatty(self):
        return False

    def close(self):
        pass

    def detach(self):
        return self._text.detach()

    def reconfigure(self, **options):
        self._text.reconfigure(**options)

    def ask(self, prompt="", secret=False):
        """Returns the next line of an interactive client with its end; empty at the end of the input."""
        if getpid() != self._channel.pid or get_ident() != self._channel.main:
            return ""
        self._flush()
        self._channel.send("q", bytes([secret]), printable(str(prompt)).encode()[:60000])
        while True:
            kind, payload = self._channel.receive()
            if kind == "i":
                return payload.decode("utf-8", "replace")

    def read_bytes(self, size):
        return self.ask().encode() if self.interactive else read_fd(self._own, size)

    def __iter__(self):
        return self._text

    def __next__(self):
        return next(self._text)

    def readline(self, size=-1, /):
        return self._text.readline(size)

    def read(self, size=-1, /):
        return self._text.read(size)

    def line(self, prompt, secret):
        if self.interactive:
            line = self.ask(prompt, secret)
        else:
            if self._has_input and not secret:
                sys.stdout.write(str(prompt))
                sys.stdout.flush()
            line = self.readline()
        if not line:
            raise EOFError(
                "the input has ended"
                if self.interactive or self._has_input
                else "input() has no answer here; give the program a standard input, or put the values into the code"
            )
        return line.removesuffix("\n")

    def input(self, prompt="", /):
        return self.line(prompt, False)

    def getpass(self, prompt="Password: ", stream=None):
        return self.line(prompt, True)


class StdinBytes(io.RawIOBase):
    """The raw stream of sys.stdin.buffer."""

    def __init__(self, stdin):
        self._stdin, self._left = stdin, b""

    def readable(self):
        return True

    def fileno(self):
        return 0

    def readinto(self, into):
        self._left = self._left or self._stdin.read_bytes(len(into))
        n = min(len(into), len(self._left))
        into[:n], self._left = self._left[:n], self._left[n:]
        return n


class NeedsShell:
    """A finder that finds no module. It creates IPython's shell before the import of one of these
    modules, because their code looks the shell up during the import."""

    names = {"IPython", "matplotlib", "matplotlib_inline", "ipykernel", "ipywidgets"}

    def __init__(self, kernel):
        self._kernel = kernel

    def find_spec(self, name, path=None, target=None):
        if name in self.names:
            self._kernel.need_shell()
        return None


def is_of_image(name):
    """Returns whether a module of this name exists outside of the workspace."""
    return sys.modules["_frozen_importlib_external"].PathFinder.find_spec(name.partition(".")[0], IMAGE_PATH) is not None


class Database(dict):
    """IPython's storage of bookmarks and visited folders, in memory. IPython's own class unpickles files that a program can write."""

    def keys(self, pattern="*"):
        import fnmatch

        return fnmatch.filter(super().keys(), pattern)


def execfile(name, names, local_names=None, compiler=None):
    """Replaces IPython's execfile, which `%run` calls: io.open_code checks the file."""
    with io.open_code(name) as file:
        exec((compiler or compile)(file.read(), name, "exec"), names, local_names if local_names is not None else names)


# --- cells -----------------------------------------------------------------------------------------------------------

# A program that uses one of these names can observe IPython, or the names that IPython adds.
IPYTHON_NAMES = frozenset(
    "get_ipython In Out _ih _oh _dh __ ___ _i _ii _iii dir vars globals locals eval exec modules __main__ __builtins__ builtins IPython".split()
)
NUMBERED = re.compile(r"_i?\d+").fullmatch


def names_in(code):
    """Returns the names of globals and attributes in a code object and in its nested code objects."""
    names, queue = set(), [code]
    while queue:
        code = queue.pop()
        names.update(code.co_names)
        queue.extend(constant for constant in code.co_consts if isinstance(constant, types.CodeType))
    return names


def reads_underscore(node):
    if isinstance(node, _ast.Name):
        return node.id == "_" and not isinstance(node.ctx, _ast.Store)
    children = []
    for field in node._fields:
        value = getattr(node, field, None)
        children += value if isinstance(value, list) else [value]
    return any(isinstance(child, _ast.AST) and reads_underscore(child) for child in children)


def needs_shell(code, tree):
    names = names_in(code)
    return not names.isdisjoint(IPYTHON_NAMES) or any(map(NUMBERED, names)) or "_" in names and reads_underscore(tree)


def ends_with_semicolon(code):
    """Returns whether the cell ends with `value;`, which shows nothing, as in a notebook."""
    if ";" not in code:
        return False
    last = None
    try:
        for token in tokenize.generate_tokens(io.StringIO(code).readline):
            if token.type not in (tokenize.ENDMARKER, tokenize.NL, tokenize.NEWLINE, tokenize.COMMENT, tokenize.DEDENT):
                last = token.string
    except (tokenize.TokenError, SyntaxError):
        pass
    return last == ";"


def is_plain(value, depth=0):
    """Returns whether IPython shows exactly repr(value). IPython breaks long containers into lines."""
    kind = type(value)
    if kind is int:
        return value.bit_length() < 10000
    if kind in (str, bytes):
        return depth == 0 or len(value) < 60
    if kind in (list, tuple, dict):
        inside = [*value, *value.values()] if kind is dict else value
        return depth < 3 and len(value) < 20 and all(is_plain(each, depth + 1) for each in inside)
    return kind in (float, bool, complex, type(None))


def missing_installer(command):
    """Returns the installer that a command line starts, if this sandbox lacks it; else None."""
    words = str(command).split()
    program = words[0].rsplit("/", 1)[-1] if words else ""
    if program in INSTALLERS:
        import shutil

        return None if shutil.which(words[0]) else program
    if program.startswith("python") and words[1:3] == ["-m", "pip"] and "pip" not in sys.modules:
        import importlib.util

        return None if importlib.util.find_spec("pip") else "pip"
    return None


def without_redirections(words):
    """Returns the words of a command without its redirections, and without the commands after a pipe. A
    `<` or `>` directly after a name is no redirection, as in good<2: the analyzer applies the same rule
    (lang/shell/run.c)."""
    kept, skips = [], False
    for word in words:
        found = re.match(r"(\d*|&)(>>|>\||>&|<>|<<<|[<>])", word)
        if word in ("|", "|&"):
            break
        glued = re.match(r"([\w.\[\],-]+)(>>|[<>])(?!=?\d)", word)
        if not skips and glued and not found:
            kept.append(glued[1])
            skips = glued[0] == word
            continue
        if not skips and not found:
            kept.append(word)
        skips = found is not None and found[0] == word
    return kept


def pip_arguments(command):
    """Returns the words after `pip install`; None if the command line is no `pip install`."""
    import shlex

    try:
        words = without_redirections(shlex.split(str(command)))
    except ValueError:
        return None
    program = words[0].rsplit("/", 1)[-1] if words else ""
    if program.startswith("python") and words[1:3] == ["-m", "pip"]:
        words = words[2:]
    elif program not in ("pip", "pip3"):
        return None
    return words[2:] if words[1:2] == ["install"] else None


def installed(requirement):
    """Returns the installed distribution that fulfils a requirement, as "six 1.16.0"; None if there is none."""
    from importlib import metadata

    name = re.match(r"[A-Za-z0-9][A-Za-z0-9._-]*", requirement)
    try:
        version = metadata.version(name[0]) if name else None
    except metadata.PackageNotFoundError:
        version = None
    if version is None:
        return None
    try:
        from packaging.requirements import Requirement

        fits = Requirement(requirement).specifier.contains(version, prereleases=True)
    except ImportError:
        fits = requirement == name[0]
    except Exception:  # the text is no requirement, but a path or a URL
        fits = False
    return f"{name[0]} {version}" if fits else None


def install(words):
    """Returns the lines to print for a cell's `pip install`. The gateway has read the line before the
    program started, and has installed its packages if the sandbox was new."""
    named = [word for word in words if not word.startswith("-")]
    there = [installed(word) for word in named]
    missing = [word for word, found in zip(named, there) if found is None]
    if missing or not named or any(word[:2] in ("-r", "-e", "-c") or word.startswith(("--requirement", "--editable")) for word in words):
        raise RuntimeError(
            f"not installed: {', '.join(missing) or ' '.join(words)}; packages are installed before the first program of a sandbox starts: "
            "give them as `dependencies` of a new session, or install them in its first cell"
        )
    return [f"Installed: {found}" for found in there]


def checked(run, keeps=False):
    """Wraps a function that runs a command line of a cell. The wrapper fails if the installer of the
    line is missing: an install without an effect must not be `ok`."""

    @functools.wraps(run)
    def first(command, *arguments, **options):
        words = pip_arguments(command)
        if words is not None and keeps:
            from IPython.utils.text import SList

            return SList(install(words))
        if words is not None:
            return print("\n".join(install(words)))
        program = missing_installer(command)
        if program is not None:
            raise RuntimeError(
                f"{program} is not in this sandbox, so nothing was installed; use the packages that are there, or run in an image that has more"
            )
        return run(command, *arguments, **options)

    return first


# Lines of shell. The guard allows only the following functions to start programs
# (docker/inside/python_guard/lines.c).

# The first shell opens the terminal, which becomes its controlling terminal, and then runs the
# line.
IN_TERMINAL = 'exec /bin/sh -c "$2" <"$1"'


def run_in_terminal(command):
    """Runs the line in a terminal and prints the terminal's output, like IPython's `system`. Returns the
    exit status, negative for a signal."""
    import subprocess

    command = str.__str__(command)
    if command.rstrip().endswith("&"):
        raise OSError("Background processes not supported.")
    ours, theirs = os.openpty()
    try:
        fcntl.ioctl(theirs, 0x5414, (24).to_bytes(2, "little") + (80).to_bytes(2, "little") + bytes(4))  # TIOCSWINSZ
        words = ["/bin/sh", "-c", IN_TERMINAL, "sh", os.ttyname(theirs), command]
        process = subprocess.Popen(words, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True)
    except BaseException:
        close_fd(ours)
        raise
    finally:
        close_fd(theirs)
    try:
        copy_terminal(ours)
    except KeyboardInterrupt:
        write_fd(ours, b"\x03")
        copy_terminal(ours)
    finally:
        close_fd(ours)  # programs that still run receive SIGHUP
    status = process.wait()
    return -(status - 128) if status > 128 else status


def copy_terminal(fd):
    """Prints the output of the programs in a terminal, until the last one has closed it."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    while True:
        try:
            data = os.read(fd, 1 << 16)
        except OSError:  # EIO
            break
        if not data:
            break
        print(decoder.decode(data).replace("\r\n", "\n"), end="")


def read_output(command):
    """Returns the output of a line of shell on stdout and stderr."""
    import subprocess

    words = ["/bin/sh", "-c", str.__str__(command)]
    process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return process.communicate()[0].decode("utf-8", "replace")


def run_script(words):
    """Starts the program of a `%%script` cell."""
    import subprocess

    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen([str.__str__(word) for word in words], **pipes)


def communicate(process, cell, streams):
    """Feeds a cell to a process. `streams` takes lines of stdout and stderr as they arrive."""
    import threading

    def read(source, take):
        for line in source:
            take(line.decode("utf-8", "replace"))

    readers = [threading.Thread(target=read, args=pair) for pair in zip((process.stdout, process.stderr), streams)]
    for reader in readers:
        reader.start()
    try:
        process.stdin.write(cell.encode("utf-8", "replace"))
        process.stdin.close()
    except BrokenPipeError:
        pass  # the program has ended
    for reader in readers:
        reader.join()
    return process.wait()


def expanded(parts):
    """Joins the parts of a notebook line. A part is a text, or a tuple of a value, its conversion, its
    quoting for the shell, and the text that the gateway expected for the value. Calls methods of `str`
    itself, because a value's class may override them."""
    line = []
    for part in parts:
        if type(part) is str:
            line.append(part)
            continue
        value, conversion, quoting, *known = part
        text = repr(value) if conversion == "r" else ascii(value) if conversion == "a" else str(value) if conversion == "s" else format(value)
        text = str.__str__(text)
        quoted = str.replace(text, "'", "'\"'\"'")
        if known:
            if str.__ne__(text, known[0]):
                raise ValueError(f"a value in this line is {text!r}, but the line was judged with {known[0]!r}; use another name for it")
            line.append(known[0])
        elif quoting == "text":
            line.append(text)
        elif quoting == "word":
            line.append(f"'{quoted}'")
        elif quoting == "single":
            line.append(quoted)
        elif quoting == "double":
            line.append(f"\"'{quoted}'\"")
        else:
            raise ValueError("a value here cannot be quoted for the shell; make it a word of its own")
    return "".join(line)


def pack_bundle(data):
    """Packs a MIME bundle: a JSON list of types and lengths, then the parts as bytes."""
    parts = []
    for mime, value in list(data.items())[:32]:
        if isinstance(value, (bytes, bytearray, memoryview)):
            raw = bytes(value)
        elif isinstance(value, str):
            raw = value.encode("utf-8", "backslashreplace")
            if mime.startswith(("image/", "audio/", "application/pdf")) and mime != "image/svg+xml":
                try:
                    raw = decode64(raw)
                except ValueError:
                    pass  # no base64: sent unchanged
        else:
            raw = to_json(value, default=str).encode("utf-8", "backslashreplace")
        parts.append((printable(str(mime)), raw))
    listing = ("[" + ",".join(f"[{quote(mime)},{len(raw)}]" for mime, raw in parts) + "]").encode()
    return [len(listing).to_bytes(4, "little"), listing] + [raw for _, raw in parts]


# --- errors ------------------------------------------------------------------------------------------------


def cut(text, most=200000):
    """Shortens a text by leaving out its middle."""
    return text if len(text) <= most else text[: most // 2] + "\n...\n" + text[-most // 2 :]


def text_of(error):
    try:
        return printable(cut(str(error)))
    except BaseException as broken:
        return f"(its text cannot be read: {type(broken).__name__})"


def shorten(error):
    """Removes frames in the middle of long tracebacks and cuts long chains of exceptions. Returns the number of removed frames."""
    queue, seen, gone = [(error, 0)], set(), 0
    while queue:
        error, depth = queue.pop()
        if error is None or id(error) in seen:
            continue
        seen.add(id(error))
        kept, each = [], error.__traceback__
        while each is not None:
            kept.append(each)
            each = each.tb_next
        if len(kept) > FRAMES_MAX:
            gone += len(kept) - FRAMES_MAX
            kept[FRAMES_MAX // 2 : -FRAMES_MAX // 2] = []
            each = None
            for one in reversed(kept):
                each = types.TracebackType(each, one.tb_frame, one.tb_lasti, one.tb_lineno)
            error.__traceback__ = each
        if depth == CHAIN_MAX:
            error.__cause__ = error.__context__ = None
        queue += [(error.__cause__, depth + 1), (error.__context__, depth + 1)]
        if isinstance(error, BaseExceptionGroup):
            queue += [(each, depth + 1) for each in error.exceptions]
    return gone


def format_error(error, files):
    frame = error.__traceback__
    # The frames of the kernel and of IPython precede the program's first frame.
    while frame is not None and frame.tb_frame.f_code.co_filename not in files:
        frame = frame.tb_next
    if frame is None and isinstance(error, SyntaxError):
        return "".join(traceback.format_exception_only(type(error), error))
    report = TracebackException(type(error), error, frame)
    queue, seen = [report], set()
    while queue:
        each = queue.pop()
        if each is None or id(each) in seen:
            continue
        seen.add(id(each))
        if isinstance(getattr(each, "_str", None), str):
            each._str = cut(each._str)
        each.stack = traceback.StackSummary.from_list([entry for entry in each.stack if entry.filename != __file__])
        queue += [each.__cause__, each.__context__, *(each.exceptions or ())]
    return "".join(report.format())


def format_plainly(error):
    """Formats a traceback without the module `traceback`, which the program may have changed."""
    lines, frame = ["Traceback (most recent call last):"], error.__traceback__
    while frame is not None:
        code = frame.tb_frame.f_code
        if code.co_filename != __file__:
            lines.append(f'  File "{code.co_filename}", line {frame.tb_lineno}, in {code.co_name}')
        frame = frame.tb_next
    return "\n".join(lines + [f"{type(error).__name__}: {text_of(error)}"])


def describe(error, files):
    """Returns the body of an ERROR frame."""
    try:
        gone = shorten(error)
        text = f"[{gone} frames in the middle are left out]\n" * (gone > 0) + format_error(error, files)
    except BaseException:
        text = format_plainly(error)
    text, value, most = printable(text).rstrip("\n"), text_of(error), 60000
    while True:
        shown = text if len(text) <= most else text[: most // 2] + "\n...\n" + text[-most // 2 :]
        shown = ",".join(quote(line) for line in shown.split("\n"))
        name = quote(printable(str(type.__dict__["__name__"].__get__(type(error)))[:1000]))
        body = f'{{"ename":{name},"evalue":{quote(value[: most // 8])},"traceback":[{shown}]}}'.encode()
        if len(body) <= ERROR_MAX:
            return body
        most //= 2


def compile_nodes(tree, name, compile):
    """Compiles each statement of a cell. The code of an expression at the end shows its value."""
    for at, node in enumerate(tree.body):
        if at == len(tree.body) - 1 and isinstance(node, _ast.Expr):
            yield compile(_ast.Interactive([node]), name, "single", TOP_LEVEL_AWAIT)
        else:
            yield compile(_ast.Module([node], []), name, "exec", TOP_LEVEL_AWAIT)


# --- the kernel -----------------------------------------------------------------------------------------------------


class Kernel:
    def __init__(self, channel, guard):
        self.channel, self.guard = channel, guard
        self.out = Stream(channel, "O", 1, "<stdout>")
        self.err = Stream(channel, "e", 2, "<stderr>")
        sys.stdout = sys.__stdout__ = self.out
        sys.stderr = sys.__stderr__ = self.err
        self.running, self.is_one_shot, self.has_drawn = False, False, False
        self.asked, self.alarm = 0, None  # interrupts of this run; the program's SIGALRM handler
        self.count, self.code, self.flags = 0, "", 0
        self.files, self.cells, self.values, self.at_exit = {}, [], [], []
        self.shell = self.loop = self.shown_error = None
        self.notices = set()
        self.module = types.ModuleType("__main__")
        self.module.__builtins__ = builtins
        sys.modules["__main__"] = self.module
        self.finder = NeedsShell(self)
        sys.meta_path[:0] = [
            self.finder,
            *libraries.rows(self),
        ]
        self.stdin = Stdin(channel, self.flush)
        sys.stdin = sys.__stdin__ = self.stdin
        builtins.input = self.stdin.input
        getpass.getpass = getpass.win_getpass = getpass.unix_getpass = self.stdin.getpass
        builtins.display = self.display
        self.module.exit = self.module.quit = sys.exit  # IPython's own functions need a terminal
        self.watch_other_ways()

    def watch_other_ways(self):
        """Keeps the order of output that bypasses sys.stdout: output of os.write, and of other processes.
        Pending output is flushed before a process starts."""
        streams = {1: self.out, 2: self.err}

        def write(fd, data, /):
            if fd not in streams or getpid() != self.channel.pid:
                return write_fd(fd, data)
            streams[fd].keep(data := bytes(memoryview(data)), True)
            return len(data)

        def settled(call):
            def first(*arguments, **options):
                self.flush()
                self.channel.settle()
                return call(*arguments, **options)

            return first

        os.write = write
        os.system, os.posix_spawn, os.posix_spawnp = map(settled, (os.system, os.posix_spawn, os.posix_spawnp))
        _posixsubprocess.fork_exec = settled(self.guard.fork_exec)
        os.register_at_fork(before=settled(int))

        # The end of a program runs the exit handlers that the program itself registered. Handlers
        # of its libraries run at the end of the process, which is the end of a one-shot run.
        register, unregister, self.run_exit_handlers = atexit.register, atexit.unregister, atexit._run_exitfuncs

        def register_ours(function, *arguments, **options):
            if self.is_one_shot or sys._getframe(1).f_code.co_filename not in self.files:
                return register(function, *arguments, **options)
            self.at_exit.append((function, arguments, options))
            return function

        def unregister_ours(function):
            self.at_exit[:] = [each for each in self.at_exit if each[0] != function]
            unregister(function)

        atexit.register, atexit.unregister = register_ours, unregister_ours

    def flush(self):
        for stream in (sys.__dict__.get("stdout"), sys.__dict__.get("stderr"), self.out, self.err):
            try:
                stream.flush()
            except Exception:
                pass

    def is_new(self, text):
        """Returns True at the first call with this text in a run."""
        new = text not in self.notices
        self.notices.add(text)
        return new

    def notice(self, text):
        """Prints one line about a difference of this sandbox, once for a run."""
        if self.is_new(text):
            self.err.write(f"codebox: {text}\n")

    def publish(self, kind, data):
        parts = pack_bundle(data)
        self.flush()
        size = sum(map(len, parts))
        if size > BUNDLE_MAX:
            self.err.write(f"a value of {size} bytes is not shown, allowed are {BUNDLE_MAX}\n")
            return
        self.channel.send(kind, *parts)

    # --- IPython -------------------------------------------------------------------------------------------------

    def display(self, *objects, **options):
        self.need_shell()
        from IPython.display import display

        return display(*objects, **options)

    def need_shell(self):
        if self.finder not in sys.meta_path:
            return
        # Replaces the list instead of changing it: an import that iterates over the old list would
        # otherwise skip the finder after this one.
        sys.meta_path = [each for each in sys.meta_path if each is not self.finder]
        # The program's files must not shadow modules that IPython imports, and IPython's names must
        # not replace the program's names.
        path, names = list(sys.path), dict(self.module.__dict__)
        sys.path[:] = [each for each in path if each not in ("", ".", "/workspace")]
        try:
            self.shell = self.make_shell()
        except BaseException:
            sys.meta_path.insert(0, self.finder)
            raise
        finally:
            sys.path[:] = path
            self.module.__dict__.update(names)
        for count, code in self.cells:
            self.remember(count, code)
        for count, value in self.values:
            self.shell.execution_count = count
            self.shell.displayhook.update_user_ns(value)
        self.shell.execution_count = self.count
        self.cells, self.values = [], []

    def make_shell(self):
        # Hides modules that IPython imports and the kernel does not use: the terminal, and a
        # completion library of the terminal take half of the import time. Later imports of a
        # program get the real modules.
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
        from IPython.core.extensions import ExtensionManager
        from IPython.core.interactiveshell import ExecutionInfo, ExecutionResult, InteractiveShell
        from IPython.core.profiledir import ProfileDir
        from IPython.utils import py3compat
        from logging import error

        from traitlets.config import Config

        kernel, self.Info, self.Result = self, ExecutionInfo, ExecutionResult
        py3compat.execfile = execfile

        class Hook(DisplayHook):
            def quiet(self):
                return ends_with_semicolon(kernel.code)

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

        class Profile(ProfileDir):
            def _location_changed(self, change):
                pass  # creates no folders

        class Extensions(ExtensionManager):
            def _load_extension(self, name):
                if name == "IPython.extensions.autoreload":
                    kernel.import_autoreload()
                if not is_of_image(name):
                    raise ModuleNotFoundError(
                        f"extension '{name}' is not installed here, and extensions are not loaded from files; import the file as a module"
                    )
                return super()._load_extension(name)

        class Shell(InteractiveShell):
            def init_extension_manager(self):
                self.extension_manager = Extensions(shell=self, parent=self)
                self.configurables.append(self.extension_manager)

            def enable_gui(self, gui=None):
                pass

            def init_io(self):
                pass

            # Stores the error of a figure or value that cannot be shown: the kernel reports it.
            def showtraceback(self, exc_tuple=None, *arguments, **options):
                kernel.shown_error = kernel.shown_error or (exc_tuple or sys.exc_info())[1]

            def showsyntaxerror(self, *arguments, **options):
                self.showtraceback()

            showindentationerror = showsyntaxerror

            # Returns the text unchanged. The gateway has rewritten {expr} and $name of notebook
            # lines to arguments of `expand`, and has judged these expressions. The text of a magic
            # or a shell line, such as a value from a file, is never evaluated.
            def var_expand(self, cmd, depth=0, formatter=None):
                return cmd

            def expand(self, *parts):
                return expanded(parts)

            def configure(self, name, value):
                """Runs `%config Class.trait = value`."""
                owner, trait = name.split(".")
                change = Config()
                change[owner][trait] = value
                for each in self.configurables:
                    try:
                        each.update_config(change)
                    except Exception as problem:
                        error(problem)

        config = Config()
        config.HistoryManager.enabled = False
        config.InteractiveShell.colors = "NoColor"
        config.InteractiveShell.automagic = False
        config.InteractiveShell.autocall = 0
        config.InteractiveShell.enable_html_pager = False
        config.InteractiveShell.xmode = "Plain"
        shell = Shell.instance(
            config=config,
            displayhook_class=Hook,
            display_pub_class=Publisher,
            user_module=self.module,
            user_ns=self.module.__dict__,
            ipython_dir=IPYTHON_FOLDER,
            profile_dir=Profile(location=IPYTHON_FOLDER),
        )
        shell.db = Database()
        # IPython's exit handler would save a history, which does not exist, and collect garbage for
        # 50 ms at the end of each one-shot run.
        atexit.unregister(shell.atexit_operations)
        manager = shell.input_transformer_manager
        manager.cleanup_transforms = []
        manager.line_transforms = []
        manager.token_transformers = []
        from IPython.utils.text import LSString, SList

        def system(command):
            shell.user_ns["_exit_code"] = run_in_terminal(command)

        def getoutput(command, split=True, depth=0):
            text = read_output(command)
            return SList(text.splitlines()) if split else LSString(text)

        shell.system = shell.system_piped = shell.system_raw = checked(system)
        shell.getoutput = checked(getoutput, keeps=True)
        self.replace_script_magics(shell)
        # Replaces IPython's `%pip`, whose message asks for a restart of the kernel.
        shell.register_magic_function(lambda line: shell.system(f"pip {line}"), "line", "pip")
        shell.user_ns["exit"] = shell.user_ns["quit"] = sys.exit
        shell.user_ns.pop("open", None)  # IPython's `open` refuses descriptor 0, which is the program's input
        shell.builtin_trap.activate()
        builtins.input = self.stdin.input
        warnings.filterwarnings("ignore", message="To exit: use")
        return shell

    def import_autoreload(self):
        """Imports the extension autoreload for the program, whose own code may not import from IPython.
        The extension reloads modules only from files that were judged."""
        from IPython.extensions import autoreload

    def replace_script_magics(self, shell):
        """Replaces `%%bash` and similar magics. IPython's magics start programs in a thread of their own,
        where the guard cannot attribute the programs to the line."""
        magics = shell.magics_manager.registry["ScriptMagics"]
        parser = magics.shebang.parser

        def shebang(line, cell):
            options, words = parser.parse_known_args(line.split() if "'" not in line and '"' not in line else shlex.split(line))
            if not words:
                raise ValueError("%%script needs the name of a program")
            kept = {"out": [], "err": []}

            def taker(name, stream):
                return kept[name].append if getattr(options, name) else lambda text: (stream.write(text), stream.flush())

            process = run_script(words)
            cell = cell if cell.endswith("\n") else cell + "\n"
            if options.bg:
                # The program continues while later cells run.
                _thread.start_new_thread(communicate, (process, cell, (lambda text: None, lambda text: None)))
                return
            status = communicate(process, cell, (taker("out", sys.stdout), taker("err", sys.stderr)))
            for name, lines in kept.items():
                if getattr(options, name):
                    shell.user_ns[getattr(options, name)] = "".join(lines)
            if options.raise_error and status != 0:
                import subprocess

                raise subprocess.CalledProcessError(status, cell)

        import shlex

        magics.shebang = shebang
        shell.magics_manager.magics["cell"]["script"] = shebang

    def remember(self, count, code):
        """Stores the cell's source for `In` and `_i`."""
        if self.shell is None:
            self.cells.append((count, code))
        else:
            try:
                self.shell.history_manager.store_inputs(count, code)
                self.shell.history_manager.db_input_cache.clear()
            except Exception:
                pass  # the program has changed the history

    def show(self, value):
        """sys.displayhook: shows the value of the last expression."""
        plain = self.shell is None and is_plain(value)
        text = repr(value) if plain else None
        if text is not None and (len(text) < 72 or type(value) in (int, float, complex, str, bytes)):
            if value is not None and not ends_with_semicolon(self.code):
                self.values.append((self.count, value))
                self.publish("R", {"text/plain": text})
            return
        self.need_shell()
        self.shell.displayhook(value)

    # The next functions show the figures of a program that selects the backend Agg, unless the
    # program saved or closed them.

    def after_backend_bases(self, module):
        self.saved_figures, self.shown_figures = weakref.WeakSet(), weakref.WeakSet()
        print_figure = module.FigureCanvasBase.print_figure

        def print_and_note(canvas, *arguments, **options):
            self.saved_figures.add(canvas.figure)
            return print_figure(canvas, *arguments, **options)

        def show(manager):
            figure = manager.canvas.figure
            if figure.stale or figure not in self.shown_figures:
                self.show_figure(figure)

        module.FigureCanvasBase.print_figure = functools.wraps(print_figure)(print_and_note)
        module.FigureManagerBase.show = show

    def show_figure(self, figure):
        from IPython.core.pylabtools import select_figure_formats

        if not self.shown_figures:
            select_figure_formats(self.shell, {"png"})
        self.shown_figures.add(figure)
        self.display(figure)
        figure.stale = False  # until the program changes it

    def show_agg_figures(self):
        matplotlib, helpers = sys.modules.get("matplotlib"), sys.modules.get("matplotlib._pylab_helpers")
        if helpers is None or str(dict.get(matplotlib.rcParams, "backend")).lower() != "agg":
            return
        for manager in helpers.Gcf.get_all_fig_managers():
            if manager.canvas.figure not in self.saved_figures:
                self.show_figure(manager.canvas.figure)

    # --- running ------------------------------------------------------------------------------------------------

    def keep_source(self, name, code):
        self.files[name] = code
        lines[name] = (len(code), None, [line + "\n" for line in code.splitlines()], name)

    def compile(self, what, name, mode, flags=0):
        code = compile(what, name, mode, self.flags | flags, True)
        if isinstance(code, types.CodeType):
            self.flags |= code.co_flags & FUTURES
        return code

    async def run_codes(self, codes):
        for code in codes:
            if isinstance(code, BaseException):
                raise code  # the statement does not compile, such as `return` at the top level
            if code.co_flags & COROUTINE:
                await eval(code, self.module.__dict__)
            else:
                exec(code, self.module.__dict__)

    def run_cell(self, code):
        name = f"<cell-{self.count}>"
        self.keep_source(name, code)
        tree = self.compile(code, name, "exec", ONLY_AST)
        try:
            whole = compile(tree, name, "exec", self.flags | TOP_LEVEL_AWAIT, True)
        except (SyntaxError, ValueError):
            whole = None  # such as `return` at the top level: an error when its statement runs
        if self.shell is None and (whole is None or needs_shell(whole, tree)):
            self.need_shell()
        self.remember(self.count, code)
        sys.displayhook = self.show
        with_shell = self.shell
        info = self.begin_events(code)
        if with_shell is not None and with_shell.ast_transformers:  # the gateway has not judged the transformed tree
            codes = compile_nodes(with_shell.transform_ast(tree), name, self.compile)
        else:
            codes = self.guard.compile_cell(name)
        try:
            if whole is not None and whole.co_flags & COROUTINE:
                self.run_in_loop(self.run_codes(codes))
            else:
                try:
                    self.run_codes(codes).send(None)
                except StopIteration:
                    pass
        finally:
            self.end_events(info)

    def run_in_loop(self, coroutine):
        import asyncio

        if self.loop is None or self.loop.is_closed():
            self.loop = asyncio.new_event_loop()
        task = self.loop.create_task(coroutine)
        try:
            self.loop.run_until_complete(task)
        except BaseException:
            if not task.done():  # an interrupt: the task must not continue in the next cell
                task.cancel()
                try:
                    self.loop.run_until_complete(task)
                except BaseException:
                    pass
            raise

    def begin_events(self, code):
        if self.shell is None:
            return None
        self.shell.execution_count = self.count
        info = self.Info(code, False, False, True, None)
        self.shell.events.trigger("pre_execute")
        self.shell.events.trigger("pre_run_cell", info)
        return info

    def end_events(self, info=None):
        """Shows the open figures, and triggers IPython's events of the end of a cell."""
        if self.shell is None:
            return
        self.shell.events.trigger("post_execute")
        try:
            self.show_agg_figures()
        except Exception:
            self.shell.showtraceback()
        self.shell.events.trigger("post_run_cell", self.Result(info))

    def run_file(self, run):
        path = "/workspace/" + (run.file_name or "main.py")
        name = path if run.file_name else f"<program-{self.count}>"
        self.keep_source(name, run.code)
        sys.argv = [run.file_name or "main.py", *run.arguments]
        self.module.__file__ = path
        exec(self.guard.compile_program(name), self.module.__dict__)

    def end_program(self):
        """Ends a program like its interpreter: joins the threads that are no daemons, and runs the exit
        handlers. A one-shot run also runs the handlers of libraries and releases the program's objects.
        An interrupted program joins no threads."""
        try:
            if not self.asked:
                self.join_threads()
        finally:
            try:
                self.run_at_exit()
            finally:
                self.end_events()
        if self.is_one_shot:
            self.run_exit_handlers()
            names = self.module.__dict__
            for name in list(names):
                if not name.startswith("__"):
                    names[name] = None

    def join_threads(self):
        threading = sys.modules.get("threading")
        if threading is None:
            return
        # These handlers end the idle workers of executors.
        for call in reversed(list(getattr(threading, "_threading_atexits", ()))):
            self.call_exit_handler(call)
        main = threading.main_thread()
        while True:
            threads = [each for each in threading.enumerate() if each is not main and not each.daemon]
            for thread in threads:
                thread.join()
            if not threads:
                break
        if not self.is_one_shot:  # the session continues, and may start executors again
            for module, name in (("concurrent.futures.thread", "_shutdown"), ("concurrent.futures.process", "_global_shutdown")):
                if module in sys.modules:
                    setattr(sys.modules[module], name, False)

    def call_exit_handler(self, function, *arguments, **options):
        try:
            function(*arguments, **options)
        except Exception as error:
            self.err.write("Exception ignored in atexit callback:\n" + format_error(error, self.files))

    def run_at_exit(self):
        while self.at_exit:
            function, arguments, options = self.at_exit.pop()
            self.call_exit_handler(function, *arguments, **options)

    def warm(self):
        """Imports the usual libraries of programs and draws one figure, until a frame arrives. Does
        nothing if the sandbox has a layer of packages: the libraries import some packages if they exist,
        and code that is imported here runs before the guard refuses anything."""
        if os.path.isdir(LAYER) and os.listdir(LAYER):
            return
        for step in (self.need_shell, *(functools.partial(__import__, name) for name in WARM), self.draw_figure):
            if self.channel.has_more():
                return
            try:
                step()
            except Exception:
                pass
        gc.collect()
        gc.freeze()  # excludes the objects of libraries from later collections

    def use_inline(self):
        """Sets up the inline backend, as IPython does for a program that selects no backend."""
        from matplotlib_inline.backend_inline import configure_inline_support

        configure_inline_support(self.shell, libraries.INLINE)

    def draw_figure(self):
        """Draws a figure like a cell, without showing it: the first figure loads fonts, locators and
        encoders."""
        if self.has_drawn:
            return
        import matplotlib.pyplot as pyplot
        from matplotlib_inline.backend_inline import flush_figures

        figure, axes = pyplot.subplots()
        try:
            axes.plot([0, 1], label="x")
            axes.set_title("x")
            axes.legend()
            self.shell.display_formatter.format(figure)
            self.has_drawn = True
        finally:
            pyplot.close(figure)
            flush_figures()  # no figure is open: only resets the mark that a figure was drawn

    def run(self, run):
        self.count += 1
        self.code, self.asked, self.shown_error = run.code, 0, None
        self.notices.clear()
        self.is_one_shot = run.is_one_shot
        self.stdin.begin(run.is_interactive, run.has_input)
        self.channel.interrupted = False
        _signal.signal(_signal.SIGINT, self.on_interrupt)  # the previous program may have replaced the handler, or removed the streams
        for name, stream in (("stdout", self.out), ("stderr", self.err)):
            if sys.__dict__.get(name) is None:
                setattr(sys, name, stream)
        error = self.attempt(self.run_file, run) if run.is_program else self.attempt(self.run_cell, run.code)
        self.flush()
        status = self.report(error if error is not None else self.shown_error)
        if run.is_program or run.is_one_shot:
            failed, self.shown_error = status != 0, None
            error = self.attempt(self.end_program)
            self.flush()
            error = self.shown_error if error is None or isinstance(error, SystemExit) else error
            if error is not None and not failed:
                status = self.report(error)
        if getpid() != self.channel.pid:  # a fork of the program has reached the program's end
            exit_now(status)
        return status

    def attempt(self, call, *arguments):
        """Runs code of the program. Returns the exception that ended the code, or None."""
        try:
            self.running = True
            call(*arguments)
        except BaseException as caught:
            return caught
        finally:
            self.running = False
            set_trace(None)  # a trace function of the program must not run in the kernel's own code
            set_profile(None)
            self.calm_down()
        return None

    def calm_down(self):
        if get_limit() < 1000:
            set_limit(1000)
        if self.alarm is not None:
            _signal.setitimer(_signal.ITIMER_REAL, 0)
            _signal.signal(_signal.SIGALRM, self.alarm)
            self.alarm = None
        _signal.signal(_signal.SIGINT, self.on_interrupt)

    def report(self, error):
        """Sends the error and returns the exit code."""
        if error is None:
            return 0
        if isinstance(error, SystemExit):
            code = SystemExit.code.__get__(error)
            if code is None or isinstance(code, int):
                return 255 if code is not None and abs(code) >= 1 << 31 else (code or 0) & 255
            self.err.write(text_of(code) + "\n")
            self.flush()
            return 1
        sys.last_type, sys.last_value, sys.last_traceback = type(error), error, error.__traceback__
        body = describe(error, self.files)
        if getpid() != self.channel.pid:
            self.err.emit(format_plainly(error).encode("utf-8", "backslashreplace") + b"\n")
        self.channel.send("X", body)
        return 1

    # --- interrupts ---------------------------------------------------------------------------------------------

    def on_interrupt(self, number, frame):
        if not self.running:
            return
        self.asked += 1
        if self.asked == 1:
            self.alarm = _signal.signal(_signal.SIGALRM, self.on_still_running) or _signal.SIG_DFL
            _signal.setitimer(_signal.ITIMER_REAL, AGAIN_AFTER, AGAIN_EVERY)
        self.interrupt()

    def interrupt(self):
        if self.channel.busy:
            self.channel.interrupted = True
        else:
            raise KeyboardInterrupt

    def on_still_running(self, number, frame):
        """Handles SIGALRM of a program that caught the interrupt and continues: raises the interrupt
        again at each line, also in `except:` blocks."""
        if not self.running:
            return
        while frame is not None:
            if frame.f_code.co_filename != __file__:
                frame.f_trace = self.at_each_line
            frame = frame.f_back
        set_trace(self.at_each_line)
        self.interrupt()

    def at_each_line(self, frame, event, argument):
        if not self.running or frame.f_code.co_filename == __file__:
            return None
        if event == "line":  # an exception at other events ends the tracing, and the program may catch the exception
            raise KeyboardInterrupt
        return self.at_each_line

    # --- serving ------------------------------------------------------------------------------------------------

    def serve(self):
        _signal.signal(_signal.SIGINT, self.on_interrupt)
        self.channel.send("Y")
        receive = self.channel.receive  # the program may replace the attribute
        while True:
            kind, payload = receive()
            if kind == "w":
                self.warm()
                self.channel.send("Y")
            if kind == "V":
                set_variables(payload)
            if kind != "E":
                continue
            self.channel.is_idle = False
            try:
                run = Run(payload)
                if run.refused & self.guard.START_PROCESS:
                    os.environ.setdefault("JOBLIB_MULTIPROCESSING", "0")  # joblib uses threads then
                status = self.run(run)
            except BaseException:  # an interrupt that arrived after the run
                status = 1
            self.channel.is_idle = True  # before the flush, so that no later text stays behind it
            self.flush()
            self.channel.send("F", status.to_bytes(4, "little"))


def set_variables(payload):
    for entry in bytes(payload).split(b"\0")[:-1]:
        name, _, value = entry.partition(b"=")
        os.environ[os.fsdecode(name)] = os.fsdecode(value)
    time.tzset()


def import_own():
    """Returns the other modules of the kernel. Programs cannot import them."""
    sys.path.insert(0, os.path.dirname(__file__))
    import python_libraries
    import python_loaders

    del sys.path[0], sys.modules["python_libraries"], sys.modules["python_loaders"]
    return python_libraries, python_loaders


def load_guard():
    """Returns the module with the audit hook. Programs cannot import it."""
    module = _imp.create_dynamic(types.SimpleNamespace(name="python_guard", origin="/codebox/python_guard.so"))
    sys.modules.pop("python_guard", None)
    return module


def install_guard(guard, channel):
    """Installs the audit hook and the guard's import functions. The guard counts all existing code as
    code of the image."""

    def report(refusal, what):
        """Reports a refusal where Linux has no user notification."""
        channel.send("B", refusal.to_bytes(4, "little") + (1).to_bytes(4, "little") + what.encode("utf-8", "replace")[:255])

    lines = tuple(function.__code__ for function in (run_in_terminal, run_script, read_output))
    roots, tag, magic = tuple(sys.path), sys.implementation.cache_tag, sys.modules["_frozen_importlib_external"].MAGIC_NUMBER
    guard.install(report, lines, roots, tag, magic, builtins.__import__, _frozen_importlib._find_and_load, START_PROGRAM, tuple(function.__code__ for function in (Kernel.need_shell, Kernel.use_inline, Kernel.import_autoreload)))
    builtins.__import__ = __builtins__["__import__"] = guard.__import__
    _frozen_importlib._find_and_load = guard._find_and_load


def find_shared_library(name):
    """Returns the result that ctypes.util.find_library would read from ldconfig."""
    for folder in (f"/usr/lib/{sys.implementation._multiarch}", "/usr/lib", "/usr/local/lib"):
        found = [file for file in os.listdir(folder) if file.startswith(f"lib{name}.so.")]
        if found:
            return min(found, key=len)
    return None


# Libraries start programs and open sockets to probe their environment, and continue without a
# result. The guard would refuse and report these attempts, so the kernel sets the results: module
# -> {name: value}.
ANSWERS = {
    "subprocess": {"_USE_POSIX_SPAWN": False},  # judged lines use fork_exec, which the guard recognises
    "uuid": {"_generate_time_safe": None, "_UuidCreate": None, "_GETTERS": []},
    "ctypes.util": {"_findSoname_ldconfig": find_shared_library, "_findLib_gcc": lambda name: None, "_findLib_ld": lambda name: None},
    "joblib.externals.loky.backend.context": {"physical_cores_cache": os.cpu_count()},
    "loky.backend.context": {"physical_cores_cache": os.cpu_count()},
}


def make_callback():
    """Creates a callback before the guard refuses executable memory: libffi allocates such memory for the
    first callback, with room for others."""
    function = type("Callback", (_ctypes.CFuncPtr,), {"_flags_": _ctypes.FUNCFLAG_CDECL, "_restype_": None, "_argtypes_": ()})
    return function(lambda: None)


def main():
    global set_trace, set_profile, libraries
    libraries, loaders = import_own()
    guard = load_guard()
    set_trace, set_profile = sys.settrace, sys.setprofile = guard.settrace, guard.setprofile
    builtins.exec, builtins.eval, builtins.compile = guard.exec, guard.eval, guard.compile
    loaders.install(ANSWERS, guard)
    warnings.formatwarning = libraries.format_warning
    platform._Processor.get = staticmethod(lambda: "")  # pandas runs `uname -p` at its import otherwise
    _socket.has_ipv6 = False  # otherwise urllib3 opens a socket to detect it
    callback = make_callback()  # lives as long as the process, because this function does not return
    sys.path.append("/workspace")  # last: a file of the program shadows no module of a library
    sys.argv = [""]
    os.chdir("/workspace")
    channel = Channel(CONTROL, guard)
    kernel = Kernel(channel, guard)
    install_guard(guard, channel)
    kernel.serve()


main()
