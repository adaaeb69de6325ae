// The version, with the commit that the library was built from: a file of its own, since every commit changes it.
#include <cotan/version.hpp>

#include "cotan_build_version.hpp"  // written at every build by cmake/version.cmake

namespace cotan {

std::string_view version() { return COTAN_BUILD_VERSION; }

}  // namespace cotan
