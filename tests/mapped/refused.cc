// SPDX-License-Identifier: MIT
// A program that is compiled with a sanitizer of memory.
int main() { return 0; }
