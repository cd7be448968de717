// SPDX-License-Identifier: MIT
// Nothing: the header that is precompiled for all tests belongs to a target, which compiles this.
