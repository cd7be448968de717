# SPDX-License-Identifier: MIT
# cpack makes one Debian package of what is installed: libnopal-dev.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME libnopal-dev)
set(CPACK_PACKAGE_CONTACT "The Nopal authors <nopal@localhost>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libstdc++-12-dev | libstdc++-dev")
set(CPACK_STRIP_FILES OFF)
include(CPack)
