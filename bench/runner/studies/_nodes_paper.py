# SPDX-License-Identifier: MIT
"""The figures of uni-address-hpdc15 that the study `nodes` sets beside ours."""

# Table 2, on a Xeon E5-2660: cycles of a task's creation.
CREATION = {"uni-address threads": 100, "MassiveThreads": 110, "MIT Cilk": 59}
# Section 6.3: a steal between two nodes whose processors have 1.848 GHz, and what its suspending
# and resuming take; the frame has 3,055 bytes.
STEAL_CYCLES, SUSPEND_RESUME_CYCLES, GHZ = 42_000, 3_500, 1.848
# Table 4: what a task's stack, or several, have used of the region on 3,840 cores; by depth or N.
REGION = {"BTC, iter 1": {38: 43_568, 39: 44_688}, "BTC, iter 2": {19: 22_288, 20: 23_408},
          "UTS": {17: 139_536, 18: 147_392}, "NQueens": {17: 74_272, 18: 79_120}}
# The most that a level of UTS may take: Table 4's last tree.
BYTES_A_LEVEL = 147_392 / 18
# Section 6.4, from 480 to 3,840 cores.
EFFICIENCY = {"BTC, iter 1": 0.98, "BTC, iter 2": 0.98, "UTS": 0.99, "NQueens": 0.95}
