# Install rules, the CMake package and cotan.pc. Both packages also work straight from the build tree.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/cotan)
install(TARGETS cotan EXPORT cotanTargets)
install(DIRECTORY include/ TYPE INCLUDE FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h")
install(EXPORT cotanTargets NAMESPACE cotan:: DESTINATION ${package_dir})
export(EXPORT cotanTargets NAMESPACE cotan:: FILE ${PROJECT_BINARY_DIR}/cotanTargets.cmake)

configure_package_config_file(cmake/cotanConfig.cmake.in ${PROJECT_BINARY_DIR}/cotanConfig.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/cotanConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/cotanConfig.cmake ${PROJECT_BINARY_DIR}/cotanConfigVersion.cmake
  DESTINATION ${package_dir})

# A program linked with a sanitized library needs the same sanitizer.
string(JOIN " " pc_flags ${COTAN_SANITIZE_FLAGS})

# The rpath in both files lets programs run without LD_LIBRARY_PATH, wherever the library is.
# Build tree: absolute paths.
set(pc_prefix ${PROJECT_BINARY_DIR})
set(pc_includedir ${PROJECT_SOURCE_DIR}/include)
set(pc_libdir ${PROJECT_BINARY_DIR})
configure_file(cmake/cotan.pc.in ${PROJECT_BINARY_DIR}/cotan.pc @ONLY)

# Installed: relative to the file itself, so that the prefix may be chosen (or moved) later.
file(RELATIVE_PATH up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" up "${up}")
set(pc_prefix "\${pcfiledir}/${up}")
set(pc_includedir "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
set(pc_libdir "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
configure_file(cmake/cotan.pc.in ${PROJECT_BINARY_DIR}/cotan-installed.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/cotan-installed.pc
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig RENAME cotan.pc)

# Docs, in the folders that their links expect; the reference site where `make docs` made it.
set(doc_dir ${CMAKE_INSTALL_DOCDIR})
install(FILES LICENSE README.md CHANGELOG.md CONTRIBUTING.md DESTINATION ${doc_dir})
install(DIRECTORY docs/ DESTINATION ${doc_dir}/docs FILES_MATCHING PATTERN "*.md" PATTERN "*.svg" PATTERN "*.cpp")
# Pages link to headers as they lie in the sources.
file(RELATIVE_PATH headers /${doc_dir} /${CMAKE_INSTALL_INCLUDEDIR})
install(CODE "file(CREATE_LINK \"${headers}\" \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${doc_dir}/include\" SYMBOLIC)")
install(DIRECTORY bench/results DESTINATION ${doc_dir}/bench FILES_MATCHING PATTERN "*.md" PATTERN "*.svg")
install(FILES bench/README.md DESTINATION ${doc_dir}/bench)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/build/docs/html DESTINATION ${doc_dir} OPTIONAL)
