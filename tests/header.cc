// SPDX-License-Identifier: MIT
// This file is empty: the precompiled header of all tests needs a target, and a target a source.
