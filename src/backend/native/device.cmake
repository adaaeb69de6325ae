find_package(LLVM 19.1 REQUIRED CONFIG)

# What includes LLVM's headers is compiled apart: nothing else sees them or their flags.
set(codegen_sources ${device_sources})
list(FILTER codegen_sources INCLUDE REGEX "/native/codegen/")
list(REMOVE_ITEM device_sources ${codegen_sources})
add_library(cotan_codegen OBJECT ${codegen_sources})
target_include_directories(cotan_codegen PRIVATE include src)
target_include_directories(cotan_codegen SYSTEM PRIVATE ${LLVM_INCLUDE_DIRS})
separate_arguments(llvm_definitions NATIVE_COMMAND "${LLVM_DEFINITIONS}")
target_compile_options(cotan_codegen PRIVATE ${llvm_definitions} ${cotan_warning_flags})
target_compile_definitions(cotan_codegen PRIVATE COTAN_BUILDING_LIBRARY COTAN_VERSION="${PROJECT_VERSION}")
set_target_properties(cotan_codegen PROPERTIES POSITION_INDEPENDENT_CODE ON)
target_link_libraries(cotan_codegen PRIVATE fmt::fmt)
target_precompile_headers(cotan_codegen PRIVATE ${cotan_common_headers} <llvm/IR/IRBuilder.h> <llvm/IR/Module.h>)

cotan_compile_together(cotan_codegen)

# Each of these defines what gemm_simd.hpp is for its instructions.
set_source_files_properties(src/backend/native/routines/gemm_avx2.cpp src/backend/native/routines/gemm_avx512.cpp
  src/backend/native/routines/gemm_bf16.cpp src/backend/native/routines/gemm_portable.cpp
  src/backend/native/routines/fft_avx2.cpp src/backend/native/routines/fft_avx512.cpp
  src/backend/native/routines/fft_portable.cpp
  PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
target_sources(cotan PRIVATE ${device_sources} $<TARGET_OBJECTS:cotan_codegen>)
target_link_libraries(cotan PRIVATE LLVM)
