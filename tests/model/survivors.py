# SPDX-License-Identifier: MIT
"""The mutants of mutate.py that no model kills, each with the reason.

A key is (header, line without its comment, number of orders before it on the line, replacement).
"""

_STACK_MAP = "nopal/deque/stack_map.h"
_SPLIT = "nopal/deque/split.h"
_RING = "nopal/deque/public_ring.h"
_PARKING = "nopal/vproc/parking.h"

_EXCHANGE = "return limit_.exchange(normal, base::acq_rel) == asked ? attention::requested"
_ASK = "limit_.store(asked, base::release);"
_CANCEL = "if (state_.compare_exchange_strong(expected, awake, base::acq_rel, base::acquire))"
_WAKE = "if (!state_.compare_exchange_strong(expected, notified, base::acq_rel, base::relaxed))"
_PARK = "state_.store(parked, base::seq_cst);"
_ASLEEP = "count.asleep.fetch_add(1, base::seq_cst);"

_FENCES = "a request carries nothing; sleepers and publishers are ordered by their fences (P, W)"
_LOCK = "called under the lock, which every push to the ring holds"
_FENCE_FOLLOWS = "the full fence that follows orders it"
_NOTHING_BACK = "the sleeper hands nothing to its waker"

REASONS = {
    (_RING, "const ring_word word{word_.load(base::acquire)};", 0, "relaxed"): _LOCK,
    (_STACK_MAP, _EXCHANGE, 0, "acquire"): _FENCES,
    (_STACK_MAP, _EXCHANGE, 0, "release"): _FENCES,
    (_STACK_MAP, _EXCHANGE, 0, "relaxed"): _FENCES,
    (_STACK_MAP, _ASK, 0, "relaxed"): _FENCES,
    (_SPLIT, _EXCHANGE, 0, "acquire"): _FENCES,
    (_SPLIT, _EXCHANGE, 0, "release"): _FENCES,
    (_SPLIT, _EXCHANGE, 0, "relaxed"): _FENCES,
    (_SPLIT, _ASK, 0, "relaxed"): _FENCES,
    (_PARKING, _PARK, 0, "release"): _FENCE_FOLLOWS,
    (_PARKING, _PARK, 0, "relaxed"): _FENCE_FOLLOWS,
    (_PARKING, _ASLEEP, 0, "acq_rel"): _FENCE_FOLLOWS,
    (_PARKING, _ASLEEP, 0, "relaxed"): _FENCE_FOLLOWS,
    (_PARKING, _CANCEL, 0, "acquire"): _NOTHING_BACK,
    (_PARKING, _CANCEL, 0, "release"): _NOTHING_BACK,
    (_PARKING, _CANCEL, 0, "relaxed"): _NOTHING_BACK,
    (_PARKING, _WAKE, 0, "release"): _NOTHING_BACK,
}
