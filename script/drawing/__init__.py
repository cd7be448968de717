# SPDX-License-Identifier: MIT
"""What script/pictures draws, a module for each picture."""
