# Run at every build: writes OUTPUT, a header with the version of what is built. From a checkout it has the commit, as
# `git describe` counts: 0.1.0+277.gb83dfee. Without one, and at the tag itself, it is the project's version alone.
# usage: cmake -DVERSION=0.1.0 -DSOURCE_DIR=… -DOUTPUT=… -P version.cmake
cmake_minimum_required(VERSION 3.25)
function(git out)
  execute_process(COMMAND git -C ${SOURCE_DIR} ${ARGN} OUTPUT_VARIABLE text OUTPUT_STRIP_TRAILING_WHITESPACE
    ERROR_QUIET RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    set(text "")
  endif()
  set(${out} "${text}" PARENT_SCOPE)
endfunction()

set(build "")
# Inside another project's checkout the commit would be that project's.
git(prefix rev-parse --show-prefix)
git(commit rev-parse --short=7 HEAD)
if(commit AND prefix STREQUAL "")
  git(tag describe --tags --abbrev=0 --match v${VERSION})
  if(tag)
    git(commits rev-list --count ${tag}..HEAD)
  else()
    git(commits rev-list --count HEAD)
  endif()
  if(NOT commits STREQUAL "0")
    set(build "+${commits}.g${commit}")
  endif()
endif()
# Written only where it changed, so that nothing is compiled again for nothing.
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "#define COTAN_BUILD_VERSION \"@VERSION@@build@\"\n" @ONLY)
