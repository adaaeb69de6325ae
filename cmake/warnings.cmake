# cotan_warning_flags: what our own code is compiled with. Conversions between signed and unsigned are left out: src has some 540, and all
# but thirty of them are integers that index a std::vector or a std::span.
set(cotan_warning_flags "")
if(COTAN_WARNINGS)
  set(cotan_warning_flags -Wall -Wextra -Wconversion -Wno-sign-conversion)
endif()
if(COTAN_WARNINGS AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  list(APPEND cotan_warning_flags -Wno-deprecated-declarations)  # std::stable_sort of libstdc++ 12 calls what is deprecated
endif()
# Other versions warn of other things, which nobody has seen yet.
string(REGEX MATCH "^[0-9]+" cotan_compiler_version "${CMAKE_CXX_COMPILER_VERSION}")
if(COTAN_WERROR AND "${CMAKE_CXX_COMPILER_ID} ${cotan_compiler_version}" MATCHES "^(GNU 12|Clang 19)$")
  list(APPEND cotan_warning_flags -Werror -Wno-error=invalid-pch)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # What g++ 12's optimizer guesses of the standard library's code, once that is inlined, is wrong too often.
    list(APPEND cotan_warning_flags -Wno-error=maybe-uninitialized -Wno-error=array-bounds -Wno-error=stringop-overflow
      -Wno-error=stringop-overread -Wno-error=restrict -Wno-error=free-nonheap-object -Wno-error=dangling-pointer
      -Wno-error=use-after-free -Wno-error=nonnull -Wno-error=null-dereference)
  endif()
endif()
