# Only the header is needed here; the library is loaded at run time. tools/setup.sh fetches both.
set(COTAN_WEBGPU_ROOT "$ENV{COTAN_WEBGPU_ROOT}" CACHE PATH "Folder with include/webgpu.h and lib/libwebgpu_wrapper.so")
if(NOT COTAN_WEBGPU_ROOT)
  if(DEFINED ENV{XDG_CACHE_HOME})
    set(cotan_cache "$ENV{XDG_CACHE_HOME}")
  else()
    set(cotan_cache "$ENV{HOME}/.cache")
  endif()
  file(STRINGS tools/webgpu_version cotan_webgpu_version LIMIT_COUNT 1)
  set(COTAN_WEBGPU_ROOT "${cotan_cache}/cotan/webgpu-${cotan_webgpu_version}")
endif()
find_path(COTAN_WEBGPU_INCLUDE webgpu.h PATHS "${COTAN_WEBGPU_ROOT}/include" NO_DEFAULT_PATH)
find_path(COTAN_WEBGPU_INCLUDE webgpu.h PATH_SUFFIXES webgpu)
if(NOT COTAN_WEBGPU_INCLUDE)
  message(STATUS "WebGPU: no webgpu.h, so there is no device 'webgpu'; run tools/setup.sh, or set COTAN_WEBGPU_ROOT")
  return()
endif()
message(STATUS "WebGPU: ${COTAN_WEBGPU_INCLUDE}/webgpu.h")

# Nothing but this folder includes the header.
target_sources(cotan PRIVATE ${device_sources})
target_include_directories(cotan SYSTEM PRIVATE ${COTAN_WEBGPU_INCLUDE})
set_source_files_properties(${CMAKE_CURRENT_LIST_DIR}/api.cpp PROPERTIES
  COMPILE_DEFINITIONS COTAN_WEBGPU_FETCHED="${COTAN_WEBGPU_ROOT}/lib/libwebgpu_wrapper.so")
