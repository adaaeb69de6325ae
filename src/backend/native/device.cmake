find_package(LLVM 19.1 REQUIRED CONFIG)

# What includes LLVM's headers is compiled apart: nothing else sees them or their flags.
set(codegen_sources ${device_sources})
list(FILTER codegen_sources INCLUDE REGEX "/native/codegen/")
list(REMOVE_ITEM device_sources ${codegen_sources})
add_library(cotan_codegen OBJECT ${codegen_sources})
target_include_directories(cotan_codegen PRIVATE include src)
target_include_directories(cotan_codegen SYSTEM PRIVATE ${LLVM_INCLUDE_DIRS})
separate_arguments(llvm_definitions NATIVE_COMMAND "${LLVM_DEFINITIONS}")
target_compile_options(cotan_codegen PRIVATE ${llvm_definitions} $<$<BOOL:${COTAN_WARNINGS}>:-Wall;-Wextra>)
target_compile_definitions(cotan_codegen PRIVATE COTAN_BUILDING_LIBRARY COTAN_VERSION="${PROJECT_VERSION}")
set_target_properties(cotan_codegen PROPERTIES POSITION_INDEPENDENT_CODE ON)
target_link_libraries(cotan_codegen PRIVATE fmt::fmt)
target_precompile_headers(cotan_codegen PRIVATE ${cotan_common_headers} <llvm/IR/IRBuilder.h> <llvm/IR/Module.h>)

target_sources(cotan PRIVATE ${device_sources} $<TARGET_OBJECTS:cotan_codegen>)
target_link_libraries(cotan PRIVATE LLVM)
