// Results whose elements lie between each other, as the parts of complex numbers do: both are stored at once.
#pragma once
#include <optional>
#include <span>

#include "compiler/program.hpp"

namespace cotan::native {

/// Where a part of an array begins in it, if that is known; parts may have parts.
struct PartStart {
  compiler::BufferId whole;
  std::int64_t start = 0;
};
inline std::optional<PartStart> part_start(const compiler::Program& program, compiler::BufferId buffer) {
  PartStart out{buffer};
  while (true) {
    const compiler::Buffer& b = program.buffers[static_cast<std::size_t>(out.whole)];
    if (b.storage != compiler::Storage::part) break;
    const auto start = expr::as_integer(b.start);
    if (!start) return std::nullopt;
    out = {b.whole, out.start + *start};
  }
  return out.whole == buffer ? std::nullopt : std::optional(out);
}

/// Whether what `odd` stores lies right behind what `even` stores, element by element.
inline bool is_behind(const compiler::Program& program, const compiler::Store& even, const compiler::Store& odd) {
  const auto dtype = [&](const compiler::Store& s) {
    return program.buffers[static_cast<std::size_t>(s.buffer)].type.dtype;
  };
  if (even.offset != odd.offset || dtype(even) != dtype(odd)) return false;
  const auto a = part_start(program, even.buffer), b = part_start(program, odd.buffer);
  return a && b && a->whole == b->whole && b->start == a->start + 1;
}

/// The store of every other element, starting with the second, that belongs to stores[k] where lanes run along
/// `lanes`; nullptr where there is none.
inline const compiler::Store* store_behind(const compiler::Program& program, std::span<const compiler::Store> stores,
                                           const compiler::Store& even, expr::Expr lanes) {
  const auto along = affine_in(even.offset, lanes);
  if (!along || along->coefficient != 2) return nullptr;
  for (const compiler::Store& s : stores)
    if (is_behind(program, even, s)) return &s;
  return nullptr;
}

}  // namespace cotan::native
