// SPDX-License-Identifier: MIT
// The cases of views_cases.cc where thieves come when they please.
