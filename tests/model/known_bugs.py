# SPDX-License-Identifier: MIT
"""Known bugs for calibrate.py, one row each; those of views are in views_bugs.py."""

_CHASE_LEV = "bench/baseline/chase_lev.h"
_THE = "bench/baseline/the.h"
_MEETINGS = "tests/model/rendezvous_model.cc"
_SLOTS = "tests/model/slots_model.cc"
_MEETING = "tests/model/meeting.h"
_RENDEZVOUS = "nopal/sync/rendezvous.h"
_CANCELLING = "tests/model/cancel_model.cc"
_CANCELLED_WAITS = "tests/model/cancelled_wait_model.cc"
_ALARMS = "nopal/sync/alarm_queue.h"
_ALARMS_MODEL = "tests/model/alarms_model.cc"
_LENT_PLACES = "tests/model/lent_places_model.cc"
_FENCE = "base::full_fence(); // C "
_LOCK = "const base::locked guard{lock_}; // else a thief that will step back could hide the fork "

# Name, file, text (up to white space), what it becomes, model.
BUGS = (
    # Le et al. (PPoPP'13) publish, and load, the array relaxed, and push goes on with the old one.
    (
        "resize publishes the array without release",
        _CHASE_LEV,
        "array_.store(entries, base::release);",
        "array_.store(entries, base::relaxed);",
        "tests/baseline/chase_lev_model.cc",
    ),
    (
        "steal loads the array without acquire",
        _CHASE_LEV,
        "array_.load(base::acquire);",
        "array_.load(base::relaxed);",
        "tests/baseline/chase_lev_model.cc",
    ),
    (
        "push does not reload the array after resizing",
        _CHASE_LEV,
        "use(grow(array_.load(base::relaxed), top, at));",
        "grow(array_.load(base::relaxed), top, at);",
        "tests/baseline/chase_lev_model.cc",
    ),
    (
        "no fence in take",
        _CHASE_LEV,
        "bottom_.fetch_sub(1, base::seq_cst)",
        "bottom_.fetch_sub(1, base::release)",
        "tests/baseline/chase_lev_model.cc",
    ),
    (
        "no fence in the pop of THE",
        _THE,
        _FENCE + "return head_.load",
        "return head_.load",
        "tests/baseline/the_model.cc",
    ),
    (
        "a ring without a tag (ABA)",
        "nopal/deque/public_ring.h",
        "(((old >> 32) + 1) << 32)",
        "((old >> 32) << 32)",
        "tests/model/ring_model.cc",
    ),
    # Our own: the entry was written for a ring that was not empty yet.
    (
        "a ring that thieves empty during a push begins anew",
        "nopal/deque/public_ring.h",
        "(first ? word.pushed_first()",
        "(word.count() == 0 ? word.pushed_first()",
        "tests/model/ring_model.cc",
    ),
    # parlaylib#83: what was published while a worker was about to sleep is seen by nobody.
    (
        "a worker sleeps without a last look",
        "tests/model/owner_and_sleepers.h",
        "if (deque.has_work(wanted()))",
        "if (false)",
        "tests/baseline/classic_idle_model.cc",
    ),
    # Our own: no thread finds a fork that a search has missed.
    (
        "a last look leaves what it found unsearched",
        "nopal/deque/stack_map.h",
        "limit_.forget_search();",
        "",
        "tests/model/idle_model.cc",
    ),
    # Our own: the thief's step back, which the protocol of THE allows, hides a fork from publish.
    (
        "THE looks for its forks without the lock",
        _THE,
        _LOCK,
        "",
        "tests/baseline/classic_idle_model.cc",
    ),
    # What the dense numbering of workers relies on.
    (
        "a worker that comes into use does not lower its limit",
        "tests/model/waiting_model.cc",
        "limit_is_low.store(true, base::relaxed); // ask",
        "",
        "tests/model/waiting_model.cc",
    ),
    # What a strand that waits with open forks relies on.
    (
        "a worker that goes on does not look for sleepers",
        "tests/model/suspended_model.cc",
        "put(left); announce_work();",
        "put(left);",
        "tests/model/suspended_model.cc",
    ),
    (
        "a worker that takes another's place is not asked again",
        "tests/model/suspended_model.cc",
        "slot.store(&worker, base::release); worker.deque.ask_before_sleep();",
        "slot.store(&worker, base::release);",
        "tests/model/suspended_model.cc",
    ),
    (
        "a worker leaves its place before it is in the list",
        "tests/model/suspended_model.cc",
        "suspended.add(&left); put(fresh);",
        "put(fresh); suspended.add(&left);",
        "tests/model/suspended_model.cc",
    ),
    (
        "a thief whose steals are in vain wakes nobody and does not look",
        "tests/model/waiting_model.cc",
        "if (Amid == amid::vain_steals && !ready.holds(wanted()))",
        "if (Amid == amid::vain_steals)",
        "tests/model/waiting_model.cc",
    ),
    (
        "notify_all reads the next waiter too late",
        "tests/model/mutex_model.cc",
        "waiter* const next = first->next_waiting; first->woken.wake(); first = next;",
        "first->woken.wake(); first = first->next_waiting;",
        "tests/model/mutex_model.cc",
    ),
    # What strands that meet at a place rely on (channels.cc).
    (
        "a strand can be found before its offers are published",
        _MEETING,
        "running.word.begin(&call_frame);",
        "running.word.publish(&call_frame);",
        _MEETINGS,
    ),
    (
        "a strand waits without a last look at the other side",
        _MEETING,
        "possible = possible || each->at->ready(each->wants);",
        ";",
        _MEETINGS,
    ),
    (
        "the places of a choice are locked in any order",
        _MEETING,
        "before != nullptr && before->at < each->at",
        "before != nullptr",
        _MEETINGS,
    ),
    (
        "a strand goes on and leaves its other offers behind",
        _MEETING,
        "running.withdraw_all(taken);",
        "",
        _MEETINGS,
    ),
    (
        "what a choice has taken is replaced",
        "nopal/sync/choice.h",
        "return taken_.compare_exchange_strong(expected, number, base::relaxed, base::relaxed);",
        "return taken_.exchange(number, base::relaxed) == expected || true;",
        _MEETINGS,
    ),
    (
        "a receiver leaves the slot that it has emptied to those who come",
        _RENDEZVOUS,
        "values.take(remove_slot()); offer_type* const sender = claim_first(side::sending);",
        "values.take(remove_slot()); offer_type* const sender = nullptr;",
        _SLOTS,
    ),
    (
        "close forgets those who wait to receive",
        _RENDEZVOUS,
        "for (const side each : {side::sending, side::receiving})",
        "for (const side each : {side::sending})",
        _SLOTS,
    ),
    (
        "a strand waits at a place that is closed",
        _RENDEZVOUS,
        "return (!is_plain() && (closed() || kept_",
        "return (!is_plain() && (kept_",
        _SLOTS,
    ),
    (
        "permits are freed although others wait",
        "nopal/sync/permit_queue.h",
        "if (number != 0) state_.store(number * kOne, base::release); // R",
        "if (true) state_.store(number * kOne, base::release); // R",
        "tests/model/mutex_model.cc",
    ),
    (
        "a fiber is counted after it was told to begin",
        "tests/model/computation_model.cc",
        "in->begin_one(); spawned[number].wake();",
        "spawned[number].wake(); in->begin_one();",
        "tests/model/computation_model.cc",
    ),
    (
        "a vproc makes up its units of a computation",
        "nopal/vproc/computation.h",
        "joined->begin_one(number_ = together);",
        "number_ = together;",
        "tests/model/computation_model.cc",
    ),
    # Our own: a canceller that one node tells that its member has ended destroys the node above,
    # too.
    (
        "a member ends at one node after the other",
        "nopal/sync/members.h",
        "for (members* at = this; at != nullptr; at = at->above_) { at->waiting_.lock().lock(); "
        "at->number_ = at->number_ - 1; while (Fiber* const next = "
        "at->number_ == 0 ? at->waiting_.queue().take(claimable{}) : nullptr) "
        "ready.append(next); } for (members* at = this; at != nullptr;) {",
        "for (members* at = this; at != nullptr;) { at->waiting_.lock().lock();"
        "at->number_ = at->number_ - 1; while (Fiber* const next = "
        "at->number_ == 0 ? at->waiting_.queue().take(claimable{}) : nullptr) "
        "ready.append(next);",
        "tests/model/members_model.cc",
    ),
    # Our own: the alternative that took the answer may fail to write it down.
    (
        "an answer that was taken counts as given",
        "tests/model/either_model.cc",
        "== 1 && !alternatives->settled.happened())",
        "== 1 && !alternatives->claimed.taken())",
        "tests/model/either_model.cc",
    ),
    # Our own: what strands that are to stop rely on.
    (
        "a strand that is unwound looks in vain and is not told again",
        _CANCELLING,
        "if (to_stop || (of_strand == amid::exceptions && stops.any()))",
        "if (to_stop)",
        _CANCELLING,
    ),
    (
        "an owner looks at its region, and then in vain at itself",
        _CANCELLING,
        "fork_in(0, nullptr); begun = !outer.marked();",
        "begun = !outer.marked(); fork_in(0, nullptr);",
        _CANCELLING,
    ),
    (
        "a vproc goes on and does not look whether anything is cancelled",
        _CANCELLING,
        "fork_in(0, nullptr); look_at_next_fork(0);",
        "fork_in(0, nullptr);",
        _CANCELLING,
    ),
    # Our own: what strands that are cancelled while they wait rely on.
    (
        "a stack is placed after its strand can be found",
        _CANCELLED_WAITS,
        "if (!stacks[on].placed()) stacks[on].place(placed(in)); words[on].begin(strand); "
        "if (!enqueue(strand)) { words[on].retract(); make_ready(strand); return; } "
        "words[on].publish(strand); if (stops.any()) wake_if_cancelled(on);",
        "words[on].begin(strand); if (!enqueue(strand)) { words[on].retract(); make_ready(strand);"
        "return; } words[on].publish(strand); if (stops.any()) wake_if_cancelled(on);"
        "if (!stacks[on].placed()) stacks[on].place(placed(in));",
        _CANCELLED_WAITS,
    ),
    (
        "a region is placed before what it lies in",
        _CANCELLED_WAITS,
        "node.below.place(placed_above(node));",
        "{ node.below.place(&node == &outer ? nullptr : &node == &innermost ? &region.below : "
        "&outer.below); placed_above(node); }",
        _CANCELLED_WAITS,
    ),
    (
        "a region that ends stays below the one that it lies in",
        "nopal/join/cancelable.h",
        "if (below.placed()) [[unlikely]] below.remove();",
        "",
        _CANCELLED_WAITS,
    ),
    (
        "a canceller passes over a strand that is held",
        "nopal/sync/wait_word.h",
        "const bool held = (seen & kHeld) != 0;",
        "const bool held = (seen & kHeld) != 0; if (held) return nullptr;",
        _CANCELLED_WAITS,
    ),
    # Our own: an alarm that was about to ring seemed to have rung, and its owner ended it.
    (
        "an alarm is neither in the table nor ringing for a moment",
        _ALARMS,
        "return table_.take_earliest(ringing);",
        "{ Alarm* const due = table_.take_earliest(); due->place.store(ringing, base::relaxed); "
        "return due; }",
        _ALARMS_MODEL,
    ),
    (
        "the thread of alarms is not woken for an earlier one",
        _ALARMS,
        "if (first) base::futex_wake_one(changes_);",
        "",
        _ALARMS_MODEL,
    ),
    (
        "the thread of alarms sleeps although an earlier one has come",
        _ALARMS,
        "if (first) changes_.store(changes_.load(base::relaxed) + 1, base::relaxed);",
        "",
        _ALARMS_MODEL,
    ),
    (
        "an alarm that rings is taken back without a wait",
        _ALARMS,
        "for (unsigned tries = 1; is_set(unwanted); ++tries) base::wait_briefly(tries);",
        "",
        _ALARMS_MODEL,
    ),
    # Our own, both: what those that sleep in a region rely on (spares.cc).
    (
        "a place that is lent while a spare is active wakes nobody",
        _LENT_PLACES,
        "if (idle.wants_wake()) wake_pool_thread(); } void take_spare_back()",
        "} void take_spare_back()",
        _LENT_PLACES,
    ),
    (
        "a thread that sleeps in a region relies on another one that searches",
        _LENT_PLACES,
        "const bool lends = true;",
        "const bool lends = !searches.load(base::relaxed);",
        _LENT_PLACES,
    ),
    (
        "a thread that stops running does not look at what is pinned to it",
        _LENT_PLACES,
        "stood_in.store(true, base::seq_cst); unpin_actions();",
        "stood_in.store(true, base::seq_cst);",
        _LENT_PLACES,
    ),
    (
        "the look at what is pinned to a thread comes before the note that it runs no more",
        _LENT_PLACES,
        "void unpin_actions() noexcept { base::full_fence();",
        "void unpin_actions() noexcept {",
        _LENT_PLACES,
    ),
)
