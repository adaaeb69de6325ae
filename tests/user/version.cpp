// The version, as the library says it; with an argument it must be that one, up to the commit.
#include <cotan/version.hpp>
#include <iostream>
#include <string_view>

int main(int count, char** arguments) {
  const std::string_view version = cotan::version();
  std::cout << version << "\n";
  const std::string_view wanted = count > 1 ? arguments[1] : version.substr(0, version.find('+'));
  const std::string_view rest = version.substr(0, wanted.size()) == wanted ? version.substr(wanted.size()) : "no";
  // Nothing more, or "+277.gb83dfee".
  const bool commit = rest.size() > 4 && rest[0] == '+' && rest.find_first_not_of("0123456789", 1) == rest.find(".g") &&
                      rest.substr(rest.find(".g") + 2).find_first_not_of("0123456789abcdef") == rest.npos;
  if (wanted.find_first_not_of("0123456789.") == wanted.npos && (rest.empty() || commit)) return 0;
  std::cerr << "version() is '" << version << "', not " << wanted << " with or without a commit\n";
  return 1;
}
