# SPDX-License-Identifier: MIT
"""Unwinds stolen frames in gdb. It is part of each program with Nopal: x86_64_gdb.S.

A frame F whose continuation was stolen lies on stack A, and what it calls, G, on the thief's stack
B. gdb unwinds G to F, but if A is below B it refuses to unwind F: "previous frame inner to this
frame". Then the unwinder below claims F, and there are three frames in its place:

    G             on B
    F             claimed here: hands on what F has, but for the pc (the trampoline's), the stack
                  pointer (on A) and rcx (F's pc)
    trampoline    of a signal's type, so gdb does not compare its place, nor F's, with others
    F             as gdb unwinds it by itself, with its variables
    F's callers   on A

A backtrace shows the last of the three only.

While the program runs for a command, the innermost frame's caller must look as it did when that
frame was the innermost itself, or `next` would not know a call when it sees one: nothing is claimed
then. But `finish` waits for the frame that it has seen, the claimed one, to be the innermost.
"""

import re
import struct

import gdb
import gdb.unwinder
from gdb.FrameDecorator import FrameDecorator


class NopalFrameId:
    """Identifies a claimed frame: not inner to its callee's, and different for each return."""

    def __init__(self, sp, pc):
        self.sp = gdb.Value(sp)
        self.pc = gdb.Value(pc)


def nopal_words(address, count):
    memory = gdb.selected_inferior().read_memory(address, 8 * count)
    return struct.unpack(f"<{count}Q", memory)


class NopalUnwinder(gdb.unwinder.Unwinder):
    """Claims the first frame on a stack if it lies on another, lower one."""

    KEPT = ("rbx", "rbp", "r12", "r13", "r14", "r15")
    ARGUMENTS_MAX = 4096  # bytes that a call's arguments take on the stack
    PROLOGUE_MAX = 65536  # bytes of code before the call
    KEEP_FRAME_POINTER = b"\x48\x89\xe5"  # mov %rsp, %rbp

    def __init__(self):
        super().__init__("nopal")
        self.ranges = {}  # of each program space: (base, bytes, slot_bytes, trampoline) or None
        self.returns = set()  # (thread, sp, pc) of what was claimed since the program stopped
        self.levels = {}  # of each thread: the lowest seen since then
        self.unclaimed = False  # frames were seen while the program ran

    def forget(self, _event=None):
        """Objects were loaded or relocated, or the range was reserved."""
        self.ranges.clear()

    def stopped(self, _event):
        self.forget()
        self.range()  # now, since expressions need frames
        self.returns.clear()
        self.levels.clear()
        if self.unclaimed:
            self.unclaimed = False
            gdb.invalidate_cached_frames()

    def range(self):
        space = gdb.current_progspace()
        if space not in self.ranges:
            try:
                at = int(gdb.parse_and_eval("(unsigned long) &nopal_gdb_range"))
                words = nopal_words(at, 4)
            except gdb.error:
                words = None
            self.ranges[space] = words if words and words[0] else None
        return self.ranges[space]

    def made(self, frame):
        found = self.range()
        return found is not None and frame.pc() == found[3] + 1

    def __call__(self, pending):
        try:
            return self.unwind(pending)
        except gdb.error:  # a register or a word of memory is not there
            return None

    def unwind(self, pending):
        sp, pc = (int(pending.read_register(name)) for name in ("rsp", "rip"))
        thread = gdb.selected_thread()
        if thread is None:
            return None
        lowest = min(self.levels.get(thread.ptid, pending.level()), pending.level())
        self.levels[thread.ptid] = lowest
        if thread.is_running():
            self.unclaimed = True
            if (thread.ptid, sp, pc) not in self.returns:
                return None
        # Functions inlined into the innermost frame have levels of their own, which are not seen.
        elif pending.level() == lowest or not self.follows_call(pc):
            return None
        found = self.range()
        if found is None:
            return None
        base, size, slot, trampoline = found
        frame = int(pending.read_register("rbp"))
        top = sp - (sp - base) % slot + slot
        if not 0 <= sp - base < size or not frame < top - slot:
            return None
        if not self.is_first(sp, pc - 1, top) or self.is_inlined(pc - 1):
            return None
        self.returns.add((thread.ptid, sp, pc))
        identity = NopalFrameId(top, pc)
        # gdb takes one off a return address to find the call, but not off the pc below a signal's.
        return self.claim(pending, identity, {"rip": trampoline + 1, "rsp": frame, "rcx": pc - 1})

    def is_first(self, sp, pc, top):
        """Whether the frame that calls with this stack pointer is the first on the stack. It calls
        with the one the stack began with, less the bytes of the call's arguments. So may a frame
        that the first one called, but only one that keeps no frame pointer of its own."""
        begin = nopal_words(top - 8, 1)[0]
        if sp == begin:
            return True
        if not sp < begin < top or begin - sp > self.ARGUMENTS_MAX:
            return False
        block = gdb.block_for_pc(pc)
        while block is not None and block.function is None:
            block = block.superblock
        if block is not None:
            entry = int(block.function.value().address)
            size = pc - entry if 0 < pc - entry < self.PROLOGUE_MAX else 256
            code = gdb.selected_inferior().read_memory(entry, size)
            return self.KEEP_FRAME_POINTER in bytes(code)
        # Without debugging information: is there a return address? (The bytes between arguments
        # may hold an old one; then the backtrace ends here.)
        return not any(map(self.follows_call, nopal_words(sp, (begin - sp) // 8)))

    def follows_call(self, address):
        try:
            before = bytes(gdb.selected_inferior().read_memory(max(address - 7, 0), 7))
        except gdb.error:
            return False
        if before[-5] == 0xE8:
            return True
        return any(before[-n] == 0xFF and before[1 - n] & 0x38 == 0x10 for n in (2, 3, 4, 6, 7))

    def is_inlined(self, pc):
        """Whether gdb puts a frame of an inlined function before this one. It compares places of
        whole functions only."""
        block = gdb.block_for_pc(pc)
        functions = 0
        while block is not None and not block.is_static and not block.is_global:
            functions += block.function is not None
            block = block.superblock
        return functions > 1

    def claim(self, pending, identity, changed):
        info = pending.create_unwind_info(identity)
        for name in (*self.KEPT, *changed):
            value = pending.read_register(name)
            if name in changed:
                value = gdb.Value(changed[name]).cast(value.type)
            if not value.is_optimized_out:
                info.add_saved_register(name, value)
        return info


class NopalDecorator(FrameDecorator):
    """Names a function as backtraces without filters do, that is without its parameters' types."""

    def function(self):
        name = super().function()
        if not isinstance(name, str):
            return name
        end = re.search(r"\)[ a-z&]*$", name)
        depth = 0
        for at in range(end.start() if end else -1, -1, -1):
            depth += {")": 1, "(": -1}.get(name[at], 0)
            if depth == 0:
                return name if name[:at].endswith("operator") else name[:at]
        return name


class NopalFilter:
    """Hides trampolines, and before each the claimed frame."""

    def __init__(self, unwinder):
        self.name = "nopal"
        self.priority = 1000
        self.enabled = True
        self.unwinder = unwinder

    def filter(self, frames):
        held = None
        for each in frames:
            frame = each.inferior_frame()
            if frame.type() == gdb.SIGTRAMP_FRAME and self.unwinder.made(frame):
                held = None
                continue
            if held is not None:
                yield held
            held = NopalDecorator(each)
        if held is not None:
            yield held


def nopal_register():
    """Once for all programs of this session: the objects that brought the script may go and come
    back."""
    too_old = not hasattr(gdb, "PendingFrame") or not hasattr(gdb.PendingFrame, "level")
    if too_old or "nopal" in gdb.frame_filters:
        return
    unwinder = NopalUnwinder()
    gdb.unwinder.register_unwinder(None, unwinder)
    gdb.frame_filters["nopal"] = NopalFilter(unwinder)
    gdb.events.stop.connect(unwinder.stopped)
    for event in (gdb.events.new_objfile, gdb.events.clear_objfiles, gdb.events.exited):
        event.connect(unwinder.forget)


nopal_register()
