// The version of the library.
#pragma once
#include <string_view>

namespace cotan {

/// The version of the library that the program runs with: "0.1.0", or with the number of commits since that version and
/// the commit where it was built from a checkout: "0.1.0+277.gb83dfee". What comes before + is a semantic version; as
/// long as it starts with 0, a new minor version may change what programs use.
std::string_view version();

}  // namespace cotan
