# SPDX-License-Identifier: MIT
"""Known bugs of views (nopal/stack/view.h) for calibrate.py: rows as in known_bugs.py."""

_VIEWS = "tests/model/views_model.cc"
_PARTS = "nopal/stack/view_parts.h"
_RING = "nopal/deque/public_ring.h"
_JOIN = "nopal/join/wait_free.h"
_CHILD = "counter_.fetch_sub(1, base::acq_rel)"
_ARRIVE = "counter_.fetch_add(stolen, base::acq_rel)"


def bug(name, path, before, after):
    return (name, path, before, after, _VIEWS)


BUGS = (
    bug(
        "a main path goes on, and its process shows what the last strand saw",
        _VIEWS,
        "show(own, its_scope.home);",
        "",
    ),
    bug(
        "a reclaimer joins, and its process shows what its last strand saw",
        _VIEWS,
        "show(own, main_path.home);",
        "",
    ),
    bug(
        "a strand that waited goes on, and its process shows what its last strand saw",
        _VIEWS,
        "show(own, own.stack); own.pointer = strand.pointer;",
        "own.pointer = strand.pointer;",
    ),
    bug(
        "a strand is ready before it has left its stack",
        _VIEWS,
        "retire(strand.on, strand.pointer); fiber* none_waits = nullptr;",
        "if (ready.load(base::relaxed) == nullptr) { ready.store(&strand, base::release); "
        "retire(strand.on, strand.pointer); return none; } "
        "retire(strand.on, strand.pointer); fiber* none_waits = nullptr;",
    ),
    bug(
        "a stack that is shown counts as shown however far down it reaches",
        _PARTS,
        "high = known && now.all[at].low > wanted.low ? now.all[at].low : wanted.low;",
        "high = !same && known && now.all[at].low > wanted.low ? now.all[at].low : wanted.low;",
    ),
    bug(
        "a thief's stack begins on the page of the frame",
        _PARTS,
        "return frame_low & ~(page - 1);",
        "return (frame_low + page - 1) & ~(page - 1);",
    ),
    bug(
        "a stack that is shown counts as shown where it begins elsewhere",
        _PARTS,
        "&& now.all[at].top == wanted.top;",
        ";",
    ),
    bug(
        "a process shows a stack before that begins elsewhere",
        _VIEWS,
        "begun.top = view::top_below(frame_low, page); begun.parent = parent; "
        "show(own, own.stack);",
        "begun.parent = parent; show(own, own.stack); "
        "begun.top = view::top_below(frame_low, page);",
    ),
    bug(
        "a stack is the child of the stack that the victim runs on",
        _VIEWS,
        "see_below(own, taken.frame->low, taken.frame->home);",
        "see_below(own, taken.frame->low, victim.stack);",
    ),
    bug(
        "a thief reads what the frame lies on before it has the fork",
        _VIEWS,
        "if (victim.ring.steal(nullptr, taken) != outcome::got) return none; "
        "if (own.stack == no_stack) own.stack = acquire(); "
        "see_below(own, taken.frame->low, taken.frame->home);",
        "const bool got = victim.ring.steal(nullptr, taken) == outcome::got; "
        "if (taken.frame == nullptr) return none; "
        "if (own.stack == no_stack) own.stack = acquire(); "
        "see_below(own, taken.frame->low, taken.frame->home); if (!got) return none;",
    ),
    bug(
        "the page of a frame is given back with those below it",
        _VIEWS,
        "const std::uintptr_t high = of.place(from) & ~(page - 1);",
        "const std::uintptr_t high = (of.place(from) + page - 1) & ~(page - 1);",
    ),
    bug(
        "a child's worker keeps the stack that its parent's frame lies on",
        _VIEWS,
        "retire(own.stack, lows[caller]); own.stack = no_stack;",
        "retire(own.stack, lows[caller]);",
    ),
    bug(
        "a child counts as finished before it has left its stack",
        _VIEWS,
        "return join.child_finished() ? joined(own, caller) : none;",
        "const bool last = join.child_finished(); write(own, own.pointer - 1, nothing); "
        "return last ? joined(own, caller) : none;",
    ),
    bug(
        "a main path's stack is released while the strand still runs on it",
        _VIEWS,
        'check(read(own, own.pointer) == linkage, "a main path has lost its linkage area");',
        "const stack_id on = own.stack; own.stack = no_stack; release(on); "
        'check(read(own, own.pointer) == linkage, "a main path has lost its linkage area");',
    ),
    bug(
        "a stack begins while a reclaimer still gives its pages back",
        _VIEWS,
        "if (reuse(pooled + 1, {})) return pooled + 1;",
        "return pooled + 1;",
    ),
    # The orders that hand segments and frames to a thief and to the last strand.
    bug(
        "a view's stacks are handed to a thief without release",
        _RING,
        "word.pushed().bits, base::release, // P",
        "word.pushed().bits, base::relaxed, // P",
    ),
    bug(
        "a thief takes a view's stacks without acquire",
        _RING,
        "outcome steal(const void* group, entry<Record>& taken) noexcept { "
        "ring_word word{word_.load(base::acquire)}; // S",
        "outcome steal(const void* group, entry<Record>& taken) noexcept { "
        "ring_word word{word_.load(base::relaxed)}; // S\n",
    ),
    bug(
        "a child leaves pages of a view without release",
        _JOIN,
        _CHILD,
        "counter_.fetch_sub(1, base::acquire)",
    ),
    bug(
        "a child joins without acquire",
        _JOIN,
        _CHILD,
        "counter_.fetch_sub(1, base::release)",
    ),
    bug(
        "a main path leaves pages of a view without release",
        _JOIN,
        _ARRIVE,
        "counter_.fetch_add(stolen, base::acquire)",
    ),
    bug(
        "a main path joins without acquire",
        _JOIN,
        _ARRIVE,
        "counter_.fetch_add(stolen, base::release)",
    ),
)
