// SPDX-License-Identifier: MIT
// knapsack_swapped: knapsack with the order of its two branches exchanged.
#pragma once

#include "bench/problems/knapsack.h"
