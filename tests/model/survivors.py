# SPDX-License-Identifier: MIT
"""The mutants of mutate.py that no model kills, each with the reason.

A key is (header, line without its comment, number of orders before it on the line, replacement).
The second line of the same text in a header has " #2" behind it, and so on.
"""

_RING = "nopal/deque/public_ring.h"
_FREE_LIST = "nopal/base/free_list.h"
_THE = "bench/baseline/the.h"
_CHASE_LEV = "bench/baseline/chase_lev.h"
_PARKING = "nopal/sync/parking.h"
_LIMIT = "nopal/deque/limit.h"
_LOCALS = "nopal/sync/fiber_locals.h"
_CANCELABLE = "nopal/join/cancelable.h"
_DESCENT = "nopal/join/descent.h"
_PROCESS_QUEUE = "nopal/process/transport/queue.h"
_EVENTS = "nopal/io/event_count.h"

_CANCEL = "if (state_.compare_exchange_strong(from, awake, base::acquire, base::acquire)) {"
_SETTLE = "if (!state_.compare_exchange_strong(expected, as, base::acquire, base::acquire))"
_WAKE = "if (state_.compare_exchange_strong(seen, notified, base::acq_rel, base::relaxed))"
_MARK = (
    "if (mark_.compare_exchange_strong(unmarked, word, base::acq_rel, base::acquire))"
)
_RING_STEAL = (
    "return word_.compare_exchange_strong(word.bits, word.stolen().bits, base::release,"
)
_AFTER_TAKE_BACK = "bottom_.store(at + 1, base::release);"
_STEAL_TOP = "std::int64_t top = top_.load(base::acquire);"
_PUT_TOP = "const std::int64_t top = top_.load(base::acquire);"
_HAS_WORK = (
    "return anything_public() && may_take(group, group_.load(base::acquire));"
)
_INTERRUPT = "void interrupt() noexcept { value_.store(asked, base::seq_cst); }"
_ATTEND = (
    "return is_lowered(value_.exchange(normal(), base::seq_cst)) ? attention::requested"
)
_LOCALS_END = "for (value* at = first_.load(base::acquire); at != nullptr;) {"
_LAST = "expected, tail + 1, base::seq_cst, base::relaxed);"
_PARK = "state_.store(parked, base::release);"

_LOCK = "called under the lock, which every push to the ring holds"
_COUNT_FIRST = "keeps fetch_sub after fetch_add; the checker never lets two updates change places"
_OWN_STORE = "a success reads the own store; GCC 12 wants its order not below the failure's"

_NO_LOAD_BUFFERING = (
    "keeps the thief's read of a slot before the owner's next write to it; the checker never lets "
    "a store move before an earlier load"
)
_KEEPS_LOADS = "keeps the load of bottom behind it; the checker lets no load move before another"
_ALREADY_ACQUIRED = "the same value was acquired before; GCC 12 wants it not below a failure's"
_DECIDED = "the last entry is decided by then; the checker never moves it before the swap"
_PUSH_BARRIER = "the light barrier of push comes before it, in the model a full fence"
_DROPPED = "what the thief has read of a fork that it steps back from is dropped"
_NOT_MODELLED = "no model of a baseline gives a deque back; its tests with forced steals do"
_BARRIER = "the sleeper's heavy barrier comes before it, the owner's light one after what it reads"
_NEWEST = (
    "orders the limit's history with that of the signals; the checker gives an exchange the newest "
    "value of the limit, and with it that order, whatever it asks for"
)
_JOINED = "the fiber's strands were joined before, which orders more"
_FENCE_BEFORE = (
    "the fence of the pop comes before it, and a thread that reads the new head reads the tail "
    "with it, or after a fence; who takes the entry is decided by the head's history, whatever the "
    "order"
)

_WATCH_TAKE = "bool take() noexcept { return !taken() && taken_.exchange(1, base::acquire) == 0; }"
_SYSTEM_ORDERS = (
    "the words of the system that a watcher waits for order it behind the one before in the model; "
    "the contract of the events' buffer asks for no such words"
)
_PLAIN_READ = (
    "guards one read of a plain word, for the search for deadlocks; the checker watches only its "
    "own words, and ThreadSanitizer watches this one"
)

REASONS = {
    (_EVENTS, "const base::locked guard{waiting_.lock()}; #2", 0, ""): _PLAIN_READ,
    ("nopal/sync/watch.h", _WATCH_TAKE, 0, "relaxed"): _SYSTEM_ORDERS,
    (_FREE_LIST, "base::acquire, base::acquire))", 0, "relaxed"): _ALREADY_ACQUIRED,
    (_RING, "const ring_word word{word_.load(base::acquire)};", 0, "relaxed"): _LOCK,
    (_RING, "ring_word word{word_.load(base::acquire)};", 0, "relaxed"): _NO_LOAD_BUFFERING,
    (_RING, _RING_STEAL, 0, "relaxed"): _NO_LOAD_BUFFERING,
    (_LIMIT, _INTERRUPT, 0, "release"): _NEWEST,
    (_LIMIT, _INTERRUPT, 0, "relaxed"): _NEWEST,
    (_LIMIT, _ATTEND, 0, "acq_rel"): _NEWEST,
    (_LIMIT, _ATTEND, 0, "relaxed"): _NEWEST,
    (_THE, "tail_.store(at, base::release);", 0, "relaxed"): _PUSH_BARRIER,
    (_THE, "return head_.load(base::acquire) <= at;", 0, "relaxed"): _DROPPED,
    (_THE, "head_.store(at, base::release);", 0, "relaxed"): _DROPPED,
    (_THE, "const base::locked guard{lock_}; #4", 0, ""): _NOT_MODELLED,
    (_CHASE_LEV, _AFTER_TAKE_BACK, 0, "relaxed"): _DECIDED,
    (_CHASE_LEV, _STEAL_TOP, 0, "relaxed"): _KEEPS_LOADS,
    (_CHASE_LEV, _PUT_TOP, 0, "relaxed"): _NO_LOAD_BUFFERING,
    (_CHASE_LEV, _HAS_WORK, 0, "relaxed"): _BARRIER,
    (_LOCALS, _LOCALS_END, 0, "relaxed"): _JOINED,
    (_PARKING, _PARK, 0, "relaxed"): _COUNT_FIRST,
    (_CANCELABLE, _MARK, 0, "release"): (
        "a success reads the first value, which nothing was written before; GCC 12 wants its order "
        "not below the failure's"
    ),
    (_PARKING, _SETTLE, 0, "relaxed"): _OWN_STORE,
    (_PARKING, _CANCEL, 0, "relaxed"): _OWN_STORE,
    (_PARKING, _WAKE, 0, "release"): _COUNT_FIRST,
    (_PROCESS_QUEUE, _LAST, 0, "release"): _FENCE_BEFORE,
    (_PROCESS_QUEUE, _LAST, 0, "relaxed"): _FENCE_BEFORE,
    (_DESCENT, "return above_.store(nothing_above(), base::release);", 0,
     "relaxed"): "Where nothing is above there is nothing to see.",
}
