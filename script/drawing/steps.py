# SPDX-License-Identifier: MIT
"""The steps of one steal, as steal.svg shows them; docs/life_of_a_fork.md tells them in prose."""

import dataclasses

VICTIM, THIEF = "victim", "thief"
ONE, TWO, SCHEDULER = "worker 1's stack", "worker 2's stack", "scheduler's stack"


@dataclasses.dataclass
class Step:
    """A function, how it is found (its name, or `name(type)` for an overload), and what it does.

    `stack`: it changes to that stack. `lock`: it holds the deque's lock. `between`: what the two
    threads share, as the step writes it (`to`), finds it (`from`) or both."""

    lane: str
    file: str
    function: str
    words: str
    stack: str = None
    lock: bool = False
    between: str = None
    arrow: str = "to"


@dataclasses.dataclass
class Strand:
    """Code of the program, meanwhile."""

    lane: str
    words: str


FORKS, SCHEDULE, STEAL = "sched/forks.cc", "sched/schedule.cc", "sched/steal.cc"
STACK_MAP, RING, COUNTER = "deque/stack_map.h", "deque/public_ring.h", "join/wait_free.h"
ASSEMBLY = "arch/x86_64.S"

# (title, what lies between the two, rows); the steps of one row may happen at the same time.
PHASES = [
    ("The request", "worker 1's deque", [
        [Strand(VICTIM, "runs A, a child of fib(n), and forks in it"),
         Step(THIEF, STEAL, "find_work", "has no strand to run")],
        [Step(THIEF, STEAL, "steal_from_anybody", "tries a random victim, which has nothing public",
              between="public ring: empty", arrow="from")],
        [Step(THIEF, STACK_MAP, "ask", "asks worker 1 for a fork", between="limit: lowered")],
    ]),
    ("The victim publishes", "worker 1's deque", [
        [Step(VICTIM, STACK_MAP, "push", "at the next fork, fails: the limit is lowered",
              between="limit: lowered", arrow="from"),
         Strand(THIEF, "(tries other victims)")],
        [Step(VICTIM, FORKS, "fork_slow", "is called by the fork's thunk")],
        [Step(VICTIM, STACK_MAP, "push_anyway", "opens the new fork all the same",
              between="limit: restored")],
        [Step(VICTIM, STACK_MAP, "publish", "finds the oldest open fork, A, and claims its mark",
              lock=True)],
        [Step(VICTIM, STACK_MAP, "publish_claimed",
              "completes A's record, puts it into the public ring, lowers the split to it",
              lock=True, between="A: private → public")],
        [Step(VICTIM, "vproc/wake.cc", "announce_work",
              "wakes a sleeper if no thread is searching")],
    ]),
    ("The thief takes it", "worker 1's deque", [
        [Strand(VICTIM, "runs the child of the new fork, then the rest of A"),
         Step(THIEF, RING, "steal", "takes A's entry with one compare-and-swap",
              between="A: public → stolen", arrow="both")],
        [Step(THIEF, SCHEDULE, "schedule", "gets the stolen continuation from find_work")],
        [Step(THIEF, SCHEDULE, "resume(stolen)",
              "takes a stack if it has none; counts the steal in alpha")],
        [Step(THIEF, ASSEMBLY, "nopal_arch_resume",
              "resumes fib(n) behind the fork of A; what fib(n) calls runs on worker 2's stack",
              stack=TWO)],
    ]),
    ("The child returns to nobody", "worker 1's deque, then the scope", [
        [Step(VICTIM, STACK_MAP, "pop", "A is finished; fails, for its mark is claimed"),
         Strand(THIEF, "runs the continuation of A: fib(n - 2)")],
        [Step(VICTIM, FORKS, "child_returned", "is called by A's thunk"),
         Step(THIEF, "scope.h", "join", "the scope is active, and has been stolen from")],
        [Step(VICTIM, STACK_MAP, "take_back", "neither private nor in the ring: the thief has it",
              lock=True, between="A: stolen", arrow="from"),
         Step(THIEF, ASSEMBLY, "nopal_arch_suspend",
              "stores the join's continuation, leaves worker 2's stack", stack=SCHEDULER)],
        [Step(VICTIM, FORKS, "detach", "does not return into fib(n)"),
         Step(THIEF, FORKS, "main_path_waits",
              "puts the strand's exception state into the scope")],
        [Step(VICTIM, ASSEMBLY, "nopal_arch_leave",
              "leaves worker 1's stack, which belongs to the frame of fib(n) now",
              stack=SCHEDULER)],
        [Step(VICTIM, SCHEDULE, "child_ended", "does the next four steps")],
        [Step(VICTIM, STACK_MAP, "adopt", "the deque offers nothing any more", lock=True,
              between="stack: none")],
        [Step(VICTIM, "stack/pages.cc", "retire",
              "charges the pages below the frame to the budget")],
        [Step(VICTIM, COUNTER, "child_finished",
              "counts the child; now others may run on worker 1's stack",
              between="counter: 0 → -1", arrow="both")],
    ]),
    ("The join", "the scope", [
        [Step(VICTIM, SCHEDULE, "schedule", "is told stop: nothing became runnable"),
         Step(THIEF, COUNTER, "arrive", "adds alpha; zero: all children are finished",
              between="counter: -1 + 1 = 0", arrow="both")],
        [Step(VICTIM, STEAL, "find_work", "has no strand to run: a thief itself"),
         Step(THIEF, SCHEDULE, "schedule", "is told the main path of the scope")],
        [Step(THIEF, SCHEDULE, "resume(joined)",
              "takes over the frame's stack; its own goes to the pool")],
        [Step(THIEF, ASSEMBLY, "nopal_arch_resume",
              "resumes fib(n) behind the join, on its first stack", stack=ONE)],
        [Step(THIEF, FORKS, "finish_join", "rethrows the first of the children's exceptions")],
    ]),
]

OTHERWISE = (
    "If the main path arrives before the child is finished, arrive is not zero and the thief looks "
    "for work. Then child_finished says that this was the last child, and the victim takes the "
    "last four steps.")
