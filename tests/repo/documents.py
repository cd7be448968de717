# SPDX-License-Identifier: MIT
"""Checks that what documents and comments name is in the tree, and that counts are right.

usage: documents.py ROOT

A document is any *.md file. Each line says what is compared:

  paths     a word with a slash whose first part is a folder of ours, or a word that ends like one
            of our files, is a path, or the end of one, with its suffix or without; or it begins in
            the document's folder. Comments of code are compared too, and the code of these rules.
  names     nopal::NAME is an identifier in nopal/ or a target of CMake; `two_words` and `a::b`
            are identifiers of our code, and (`name`, `file`) says where one is
  variables NOPAL_NAME is an option of a program, of CMake or of the code, or is read by a script;
            each that a program knows has a row in README.md or docs/processes.md
  presets   --preset NAME is in CMakePresets.json, and what that file sets is an option of CMake
  tests     `suite.name` and `name_model` are tests; a star stands for the rest of a name; each
            model is in docs/model_checking.md
  fields    where a title names a header, as "worker (`nopal/vproc/worker.h`)", the section has each
            public field of that struct, and what stands before the colons of its list is there
  counts    a number in front of <!-- files GLOB --> is the number of files; in front of
            <!-- lines GLOB --> or <!-- code GLOB --> no file has more lines, or lines of code

A script may give a program only the variables NOPAL_NAME that Nopal knows: of any other, the
program would warn.
"""

import fnmatch
import functools
import json
import re
import sys

import tree

_ENDS = "h|cc|S|py|cmake|md|sh"
_WORD = re.compile(
    rf"(?<![\w/.<>$*@{{}}~-])((?:[\w.+*-]+/)+[\w.+*-]*|[\w+*-][\w.+*-]*\.(?:{_ENDS}))(?![\w/])"
)
_HEADER = re.compile(r"<(nopal/[\w/.]+)>")
_OF_NOPAL = re.compile(r"\bnopal::(\w+)")
_VARIABLE = re.compile(r"\bNOPAL_\w+")
_PRESET = re.compile(r"--preset[ =](\w[\w-]*)")
_TEST = re.compile(r"`(\w+)(?:/\*)?\.([\w*]+)`|`(\w+_model)`")
_NO_TEST = re.compile(rf"vm\.|\w+\.(?:{_ENDS}|txt|so|go|json|svg)$")
_COUNT = re.compile(r"([\d,]+)\s+<!--\s+(files|lines|code)\s+(\S+)\s+-->")
_IDENTIFIER = re.compile(r"`([a-z]\w*(?:_|::)\w+)(?:\(\))?`")
# Identifiers of others: of papers, of the kernel, of a compiler; and a namespace that macros make.
_THEIRS = {"atomic_yield", "shmem_enabled", "v0_1"}
_PLACED = re.compile(r"\(`(?:\w+::)*(\w+)`,\s+`([\w/]+\.\w+)`\)")
_SECTION = re.compile(r"^## (\w+) \(`([\w/.]+\.h)`\)$(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_ENTRY = re.compile(r"^- ([^:\n]*):", re.MULTILINE)
_FIELD = re.compile(
    r"^  (?:alignas\(\d+\) )?(?!using |static |friend | )[^(\n]*?[\s*&>](\w+)"
    r"\s*(?:{[^;\n]*}|=[^;]*|\[[^;\n]*)?;",
    re.MULTILINE,
)
# What a process tells itself when it begins anew, and what UCX reads.
_PRIVATE = {"NOPAL_ADDRESSES_FIXED", "NOPAL_UCX_", "NOPAL_UCX_TLS"}
_GTEST = re.compile(r"^\s*(?:TYPED_)?TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)", re.MULTILINE)
_CPP_COMMENT = re.compile(r"//[^\n]*")
_PY_COMMENT = re.compile(r'^ *"""[\s\S]*?"""|#[^\n]*', re.MULTILINE)
_COMMENT = re.compile(r"#[^\n]*")
# How CMake, Python and the shell give a program a variable.
_IN_CMAKE = (
    r"\benv\b[^\n]*?\b(NOPAL_\w+)=",
    r"-x[ \t]+(NOPAL_\w+)=",
    r"\bENVIRONMENT\s+\"?(NOPAL_\w+)=",
)
_IN_PYTHON = (r"environ\[\"(NOPAL_\w+)\"\][ \t]*=[^=]", r"env=\{[^}]*\"(NOPAL_\w+)\":")
_IN_SHELL = (
    r"(?:^|[ \t;&(])(NOPAL_\w+)=\S*(?:[ \t]+\w+=\S*)*[ \t]+[\w.$\"/]",  # NAME=VALUE command
    r"\bexport[ \t]+(NOPAL_\w+)\b",
)
# The samples of the rules name files that there are not.
_MADE_UP = "tests/repo/samples.py"
# Words that look like paths: a build makes them, a user does, or they belong to the system.
_NONE = re.compile(r"build/|and/or$|program\.cc$|sysexits\.h$|[A-Z]+\.cc$")


def code_of(path, text):
    """The text without its comments."""
    if path.endswith(tree.CPP):
        return tree.code_only(text, keep_strings=True)
    return re.sub(r"^\s*#[^\n]*", "", text, flags=re.MULTILINE)


def comments_of(path, text):
    """The text with all but its comments turned into spaces."""
    pattern = _PY_COMMENT if path.endswith(".py") else _COMMENT
    if path.endswith(tree.CPP):
        pattern = _CPP_COMMENT
    blank = re.sub(r"[^\n]", " ", text)
    for match in pattern.finditer(text):
        blank = blank[: match.start()] + match[0] + blank[match.end() :]
    return blank


class Facts:
    """What there is in a tree; `texts` maps each path to its text."""

    def __init__(self, texts):
        self.texts = texts
        folders = {folder for path in texts for folder in folders_of(path)}
        self.folders = {folder.split("/")[-1] for folder in folders}
        self.ends = {end for path in [*texts, *folders] for end in ends_of(path)}
        code = {path: code_of(path, text) for path, text in texts.items() if is_code(path)}
        cmake = "\n".join(text for path, text in code.items() if is_cmake(path))
        ours = "\n".join(text for path, text in code.items() if path.startswith("nopal/"))
        # A library of processes with the parts of a baseline is named after the baseline's header.
        baselines = re.findall(r"^bench/baseline/(\w+)\.h$", "\n".join(texts), re.MULTILINE)
        self.names = {*re.findall(r"\w+", ours + cmake), *(f"process_{each}" for each in baselines)}
        self.words = {word for text in code.values() for word in re.findall(r"\w+", text)}
        self.words |= {part for path in texts for part in re.split(r"[/.]", path)} | self.names
        self.variables = {
            name
            for path, text in code.items()
            if not re.match(r"tests/(repo/|.*\.(h|cc)$)", path)
            for name in _VARIABLE.findall(text)
        }
        self.options = set(re.findall(r"\b(?:option|nopal_part)\((NOPAL_\w+)", cmake))
        self.options |= set(re.findall(r"\bset\((NOPAL_\w+)[^)]*\bCACHE\b", cmake))
        self.known = {
            name
            for path, text in code.items()
            if path.startswith(("nopal/config/", "nopal/process/"))
            for name in re.findall(r'"(NOPAL_\w+)"', text)
        }
        self.presets = presets_of(texts.get("CMakePresets.json", "{}"))
        self.suites = {}
        for path, text in texts.items():
            if path.endswith(tree.CPP) and path.startswith("tests/"):
                for suite, name in _GTEST.findall(text):
                    self.suites.setdefault(suite, set()).add(name)

    def has_path(self, word, folder):
        """Whether a word names a file or folder; it may leave out the suffix of a file."""
        word = word.rstrip("/.")
        while word.startswith("../"):
            word, folder = word[3:], folder.rpartition("/")[0]
        if "*" in word:
            return word.split("/")[0] in self.suites or bool(fnmatch.filter(self.ends, word))
        return word in self.ends or f"{folder}/{word}" in self.ends

    def has_test(self, suite, name):
        """A test of GoogleTest, or one whose name a CMakeLists.txt puts together."""
        if suite in self.suites:
            return bool(fnmatch.filter(self.suites[suite], name))
        declared = "\n".join(
            text
            for path, text in self.texts.items()
            if path.startswith(f"tests/{suite}/") and is_cmake(path)
        )
        parts = re.sub(r"_\d+$", "", name).split("_")
        ends = ["_".join(parts[first:]) for first in range(len(parts))]
        return any(
            f"tests/{suite}/{end}.py" in self.texts
            or re.search(rf"\b{re.escape(end)}\b", declared, re.IGNORECASE)
            for end in ends
        )


def folders_of(path):
    parts = path.split("/")[:-1]
    return ["/".join(parts[: number + 1]) for number in range(len(parts))]


def ends_of(path):
    """The ends of a path at its slashes, with its suffix and without."""
    parts = path.split("/")
    whole = ["/".join(parts[first:]) for first in range(len(parts))]
    return {*whole, *(re.sub(r"\.\w+$", "", each) for each in whole)}


def is_cmake(path):
    return path.endswith((".cmake", "CMakeLists.txt", ".cmake.in"))


def is_code(path):
    name = path.split("/")[-1]
    return path.endswith(tree.CPP + tree.SCRIPTS) or is_cmake(path) or "." not in name


def presets_of(text):
    """The names of presets, each with what it sets."""
    data = json.loads(text)
    found = {each["name"]: {} for kind in data if kind.endswith("Presets") for each in data[kind]}
    for each in data.get("configurePresets", []):
        found[each["name"]] = each.get("cacheVariables", {})
    return found


def paths(text, folder, facts):
    """Words of a text that name no file of ours, though they look like one."""
    found = []
    for match in _HEADER.finditer(text):
        if match[1] not in facts.texts:
            found.append((match.start(), f"there is no <{match[1]}>"))
    for match in _WORD.finditer(text):
        word = re.sub(r"\.?(\*\*)?$", "", match[1])
        first = word.split("/")[0]
        # Of words with a slash only those count that begin with a folder of ours.
        ours = "/" not in word or first in facts.folders or re.search(rf"\.({_ENDS})$", word)
        if ours and not _NONE.match(word) and not facts.has_path(word, folder):
            found.append((match.start(), f"there is no {word}"))
    return found


def counts(text, facts):
    """Counts that a comment marks, and that are others."""
    found = []
    for match in _COUNT.finditer(text):
        stated = int(match[1].replace(",", ""))
        files = [name for name in fnmatch.filter(facts.texts, match[3])
                 if name.count("/") == match[3].count("/")]
        lines = [re.split("\n", facts.texts[path].rstrip("\n")) for path in files]
        if match[2] == "code":
            lines = [[line for line in each if re.search(r"^\s*(?!//)\S", line)] for each in lines]
        real = len(files) if match[2] == "files" else max(map(len, lines), default=0)
        if not files or (real != stated if match[2] == "files" else real > stated):
            found.append((match.start(), f"{match[0]} is {real}"))
    return found


def fields(text, facts):
    """Fields that a section does not tell of, and those that it alone knows."""
    found = []
    for section in _SECTION.finditer(text):
        noun, header, entries = section.groups()
        code = code_of(header, facts.texts.get(header, ""))
        struct = re.search(rf"^(?:struct|class) {noun}\b[^;{{]*{{\n(.*?)^}};", code,
                           re.MULTILINE | re.DOTALL)
        has = set(_FIELD.findall(struct[1])) if struct else set()
        found += [(section.start(), f"{noun}::{name} is left out")
                  for name in sorted(has) if not name.endswith("_") and f"`{name}`" not in entries]
        found += [(section.start(), f"{header} has no {name}")
                  for entry in _ENTRY.findall(entries) for name in re.findall(r"`(\w+)`", entry)
                  if not re.search(rf"\b{name}\b", code)]
    return found


def left_out(path, text, facts):
    """What these documents have to name, and do not."""
    if path == "README.md":
        rows = text + facts.texts.get("docs/processes.md", "")
        return [(0, f"{name} has no row") for name in sorted(facts.known - _PRIVATE)
                if f"| `{name}` |" not in rows]
    if path == "docs/model_checking.md":
        models = re.findall(r"^tests/\w+/(\w+_model)\.cc$", "\n".join(facts.texts), re.MULTILINE)
        return [(0, f"{name} is left out") for name in models if f"`{name}`" not in text]
    return []


def document(path, text, facts):
    """What is wrong with one document."""
    found = paths(text, path.rpartition("/")[0], facts) + counts(text, facts)
    found += fields(text, facts) + left_out(path, text, facts)
    for match in _IDENTIFIER.finditer(text):
        known = facts.words.issuperset(match[1].split("::")) or match[1] in _THEIRS
        if not known and not match[1].endswith("_test"):
            found.append((match.start(), f"nothing is called {match[1]}"))
    for match in _PLACED.finditer(text):
        files = [whole for path, whole in facts.texts.items()
                 if f"/{path}".endswith(f"/{match[2]}")]
        if not any(re.search(rf"\b{match[1]}\b", whole) for whole in files):
            found.append((match.start(), f"{match[2]} has no {match[1]}"))
    for match in _OF_NOPAL.finditer(text):
        if match[1] not in facts.names:
            found.append((match.start(), f"nothing is called {match[0]}"))
    for match in _VARIABLE.finditer(text):
        if match[0] not in facts.variables and not match[0].endswith("_"):
            found.append((match.start(), f"nothing reads {match[0]}"))
    for match in _PRESET.finditer(text):
        if match[1] not in facts.presets:
            found.append((match.start(), f"there is no preset {match[1]}"))
    for match in _TEST.finditer(text):
        if _NO_TEST.match(match[0].strip("`")):
            continue
        known = f"{match[3]}.cc" in facts.ends if match[3] else facts.has_test(match[1], match[2])
        if not known:
            found.append((match.start(), f"there is no test {match[0]}"))
    return found


def script(path, text, facts):
    """Variables that a script gives to programs and that these do not know."""
    patterns = _IN_CMAKE if is_cmake(path) else _IN_PYTHON if path.endswith(".py") else _IN_SHELL
    matches = [m for each in patterns for m in re.finditer(each, text, re.MULTILINE)]
    given = {(match.start(1), match[1]) for match in matches}
    return [
        (at, f"a program is given {name}, which it does not know")
        for at, name in sorted(given)
        if name not in facts.known and not name.startswith("NOPAL_UCX_")
    ]


def presets(facts):
    for name, variables in facts.presets.items():
        for variable in variables:
            if variable.startswith("NOPAL_") and variable not in facts.options:
                yield 0, f"the preset {name} sets {variable}, which is no option"


def problems_of(path, text, facts):
    """What is wrong with one file."""
    if path.endswith(".md"):
        found = document(path, text, facts)
    elif path == "CMakePresets.json":
        found = list(presets(facts))
    elif is_code(path):
        found = []
        if path != _MADE_UP:
            # Rules name files of the tree in their code, too.
            said = text if path.startswith("tests/repo/") else comments_of(path, text)
            found = paths(said, path.rpartition("/")[0], facts)
        if not path.endswith(tree.CPP):
            found += script(path, code_of(path, text), facts)
    else:
        return []
    return [f"{path}:{tree.line_of(text, at)}: {problem}" for at, problem in found]


@functools.lru_cache(maxsize=None)
def texts_of(root):
    texts = {}
    for path in tree.files(root):
        try:
            texts[path] = tree.read(root, path)
        except UnicodeDecodeError:
            texts[path] = ""
    return texts


def check(root):
    texts = texts_of(root)
    facts = Facts(texts)
    return [problem for path, text in texts.items() for problem in problems_of(path, text, facts)]


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    tree.report(check(sys.argv[1]), len(texts_of(sys.argv[1])))
