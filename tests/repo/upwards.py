# SPDX-License-Identifier: MIT
"""The exceptions from the rules that forbid calls upwards: each allows files one name.

An exception is written as "FILE NAME: REASON", or "FILE,FILE NAME: REASON". One that nothing needs
any more is a problem, and so are two exceptions for one name: one reason says why files use it.
"""

import re

_FORM = re.compile(r"(nopal/\S+) ([\w:]+): (.+)")


class Exceptions:
    def __init__(self, written):
        self.unused = {}
        self.problems = []
        for text in written:
            match = _FORM.fullmatch(text)
            if not match:
                self.problems.append(f"{text!r} is no exception; FILE NAME: REASON is accepted")
                continue
            if any(name == match[2] for _, name in self.unused):
                self.problems.append(f"{match[2]}: two exceptions allow it")
            for path in match[1].split(","):
                self.unused[path, match[2]] = True
        self.known = set(self.unused)

    def allow(self, path, name):
        """Whether the file may use the name; if so the exception is needed."""
        self.unused.pop((path, name), None)
        return (path, name) in self.known

    def leftover(self):
        """To be called last."""
        return self.problems + [
            f"{path}: may name {name} by an exception that nothing needs any more"
            for path, name in self.unused
        ]
