"""A terminal's screen for tests: what stands on it after all that this program has printed. Standard library only."""
import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
import unicodedata

import darknet

ESCAPE = re.compile(r"\x1b\[([0-9;]*)([A-Za-z])")


def cells(character):
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


class Screen:
    """Rows that have scrolled away are kept. A row that is full goes on in the next one."""

    def __init__(self, columns):
        self.columns = columns
        self.rows, self.goes_on = [[]], [False]
        self.row = self.column = 0
        self.rest = ""

    def feed(self, text):
        text, at = self.rest + text, 0
        self.rest = ""
        while at < len(text):
            if text[at] == "\x1b":
                code = ESCAPE.match(text, at)
                if not code:
                    self.rest = text[at:]
                    return
                self._erase(code[2])
                at = code.end()
            else:
                self._put(text[at])
                at += 1

    def lines(self):
        """Each with what went on in further rows."""
        found, begun = [], ""
        for row, goes_on in zip(self.rows, self.goes_on):
            begun += "".join(row)
            if not goes_on:
                found.append(begun.rstrip())
                begun = ""
        return found

    def _erase(self, kind):
        if kind in "JK":
            del self.rows[self.row][self.column:]
            self.goes_on[self.row] = False
        if kind == "J":
            del self.rows[self.row + 1:], self.goes_on[self.row + 1:]

    def _down(self, goes_on):
        self.goes_on[self.row] = goes_on
        self.row += 1
        if self.row == len(self.rows):
            self.rows.append([])
            self.goes_on.append(False)

    def _put(self, character):
        width = cells(character)
        if character == "\n":
            self._down(False)
        elif character == "\r":
            self.column = 0
        elif character >= " " and width:
            if self.column + width > self.columns:
                self._down(True)
                self.column = 0
            row = self.rows[self.row]
            row.extend(" " * (self.column - len(row)))
            row[self.column:self.column + width] = [character, ""][:width]
            self.column += width


class OnTerminal:
    """A process whose terminal is of so many columns, which is its session's: what is typed comes as signals. A with statement."""

    def __init__(self, args, folder, columns, environment=None):
        self.screen, self.printed = Screen(columns), ""
        self.ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        self.job = subprocess.Popen(args, cwd=folder, env={**darknet.ENVIRONMENT, **darknet.sessions_beside(folder), "TERM": "xterm", **(environment or {})},
                                    stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
                                    preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        os.close(theirs)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        darknet.end_group(self.job)
        os.close(self.ours)

    def type(self, text):
        os.write(self.ours, text.encode())

    def read(self, until=None):
        """Until that has been printed, or the end. Returns all that was printed so far."""
        while until is None or not re.search(until, self.printed):
            try:
                more = os.read(self.ours, 65536).decode(errors="replace")
            except OSError:
                more = ""
            if not more:
                break
            self.printed += more
            self.screen.feed(more)
        return self.printed
