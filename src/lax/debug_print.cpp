// debug::print: a text with fields, parsed when it is called and filled in when the program comes by.
#include <cotan/callbacks.hpp>
#include <iostream>
#include <mutex>

#include "lax/text_fields.hpp"

namespace cotan {

namespace {

void write(std::ostream& out, const std::string& line) {
  static std::mutex& lines = *new std::mutex;  // programs of several threads do not share a line
  const std::scoped_lock lock(lines);
  out << line << std::endl;
}

}  // namespace

namespace flat {

void debug_print(const debug::Format& format, std::vector<debug::Printed> args, bool log) {
  const detail::CallSite site(format.where);
  const std::string_view name = log ? "debug::log" : "debug::print";
  const TextFields text(name, format.text, std::move(args));
  debug_callback(
      [text = text.without_arrays(), log](std::span<const Array> values) -> Arrays {
        write(log ? std::clog : std::cout, text.filled(values));
        return {};
      },
      text.arrays(), name);
}

}  // namespace flat
}  // namespace cotan
