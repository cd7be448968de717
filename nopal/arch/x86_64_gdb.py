# SPDX-License-Identifier: MIT
"""Unwinds stolen frames in gdb. Each program with Nopal contains this script (x86_64_gdb.S).

A function F whose continuation was stolen has its frame on stack A; the function G that F calls has
its frame on the thief's stack B. gdb unwinds G to F. If A lies below B, gdb refuses to unwind F:
"previous frame inner to this frame". Then the unwinder below claims F's frame, and gdb sees three
frames in its place:

    G             on B
    F             the claimed frame. Its caller's registers are F's own, except the pc (the
                  trampoline's), the stack pointer (on A) and rcx (F's pc)
    trampoline    has the type of a signal's frame, so gdb does not compare its address, nor the
                  claimed frame's, with those of other frames
    F             as gdb unwinds it by itself, with its variables
    F's callers   on A

A backtrace shows only the last of the three.

While the program runs for a command, nothing new is claimed: `next` recognises a call by comparing
the caller of the innermost frame with the frame that was innermost before. But `finish` waits until
the frame that it has seen, a claimed one, is the innermost; so frames claimed before stay claimed.
"""

import re
import struct

import gdb
import gdb.unwinder
from gdb.FrameDecorator import FrameDecorator


class NopalFrameId:
    """Identifies a claimed frame: sp is not below the callee's, pc tells its calls apart."""

    def __init__(self, sp, pc):
        self.sp = gdb.Value(sp)
        self.pc = gdb.Value(pc)


def nopal_words(address, count):
    memory = gdb.selected_inferior().read_memory(address, 8 * count)
    return struct.unpack(f"<{count}Q", memory)


class NopalUnwinder(gdb.unwinder.Unwinder):
    """Claims the frame that calls the first function on a stack, if it lies on a lower stack."""

    KEPT = ("rbx", "rbp", "r12", "r13", "r14", "r15")
    ARGUMENTS_MAX = 4096  # bytes that a call's arguments take on the stack
    PROLOGUE_MAX = 65536  # bytes of code before the call
    KEEP_FRAME_POINTER = b"\x48\x89\xe5"  # mov %rsp, %rbp

    def __init__(self):
        super().__init__("nopal")
        self.ranges = {}  # by program space: (base, bytes, slot_bytes, trampoline), or None
        self.returns = set()  # (thread, sp, pc) of each frame claimed since the program stopped
        self.levels = {}  # by thread: the lowest level of a frame seen since the program stopped
        self.unclaimed = False  # True if frames were seen while the program ran

    def forget(self, _event=None):
        """For when objects are loaded or relocated, or the range of stacks may be reserved."""
        self.ranges.clear()

    def stopped(self, _event):
        self.forget()
        self.range()  # evaluates an expression, which needs frames: not possible while unwinding
        self.returns.clear()
        self.levels.clear()
        if self.unclaimed:
            self.unclaimed = False
            gdb.invalidate_cached_frames()

    def range(self):
        space = gdb.current_progspace()
        if space not in self.ranges:
            try:
                at = int(gdb.parse_and_eval("(unsigned long) &nopal_gdb_words"))
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
        except gdb.error:  # a register or a word of memory is not available
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
        # Functions inlined into the innermost frame have levels that the unwinder never sees, so
        # the innermost level need not be 0.
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
        # gdb subtracts one from a return address to find the call, but not from the pc of a frame
        # that a signal interrupted.
        return self.claim(pending, identity, {"rip": trampoline + 1, "rsp": frame, "rcx": pc - 1})

    def is_first(self, sp, pc, top):
        """Whether the function that calls with this stack pointer is the first on the stack. It
        calls with the stack pointer with which the stack began, less the bytes of the call's
        arguments. A function that it has called may call with such a stack pointer too, but only
        if it keeps no frame pointer of its own."""
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
        # Without debugging information: is there a return address between the two? (An old one may
        # lie in the gaps between arguments; then the backtrace ends here.)
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
        """Whether gdb puts the frame of an inlined function before this one. gdb compares only
        addresses of frames of whole functions."""
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
    """Names a function as a backtrace without filters does: without the types of parameters."""

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
    """Hides each trampoline and the claimed frame before it."""

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
    """Registers once for all programs of a session of gdb. A program or library that is loaded
    again brings its script again."""
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
