# SPDX-License-Identifier: MIT
"""The mutants of mutate.py that no model kills, each with the reason.

A key is (header, line without its comment, number of orders before it on the line, replacement).
"""

_RING = "nopal/deque/public_ring.h"
_PARKING = "nopal/vproc/parking.h"

_CANCEL = "if (state_.compare_exchange_strong(expected, awake, base::acquire, base::acquire))"
_WAKE = "if (!state_.compare_exchange_strong(expected, notified, base::acq_rel, base::relaxed))"
_PARK = "state_.store(parked, base::release);"

_LOCK = "called under the lock, which every push to the ring holds"
_COUNT_FIRST = "keeps fetch_sub after fetch_add; the checker never lets two updates change places"
_OWN_STORE = "a success reads the own store; GCC 12 wants its order not below the failure's"

REASONS = {
    (_RING, "const ring_word word{word_.load(base::acquire)};", 0, "relaxed"): _LOCK,
    (_PARKING, _PARK, 0, "relaxed"): _COUNT_FIRST,
    (_PARKING, _CANCEL, 0, "relaxed"): _OWN_STORE,
    (_PARKING, _WAKE, 0, "release"): _COUNT_FIRST,
}
