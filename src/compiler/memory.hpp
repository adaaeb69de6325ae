// Memory: every value that is in memory gets a place, temporaries share one arena.
#pragma once
#include "compiler/program.hpp"

namespace cotan::compiler {

/// Buffers are 64-byte aligned: a cache line, and the widest vector.
inline constexpr std::int64_t alignment = 64;

/// Bytes from one copy of a buffer to the next.
inline std::int64_t stride_of(const Buffer& b) {
  return (static_cast<std::int64_t>(b.bytes()) + alignment - 1) / alignment * alignment;
}

/// Bytes that native code keeps on the stack for a loop.
inline constexpr std::size_t small_buffer = 2048;
/// Whether a loop that reads `b` reads the caller's own memory, which it never writes.
inline bool is_constant_memory(const Buffer& b) { return b.storage == Storage::input && b.bytes() > small_buffer; }

/// The first place from `from` on where so many bytes lie within one block of temporary memory; 0: there is one block
/// only.
inline std::int64_t in_one_block(std::int64_t from, std::int64_t bytes, std::int64_t block) {
  if (block == 0 || bytes == 0 || from / block == (from + bytes - 1) / block) return from;
  return (from + block - 1) / block * block;
}

/// Gives each buffer of storage arena its offset, so that two whose lifetimes overlap never do. A kernel's
/// result takes the place of an operand that it reads last, element by element.
void plan_memory(Program& program, const Target& target);

/// Buffers that a step reads and writes, without the steps inside it …
std::vector<BufferId> reads_of(const Step& step);
std::vector<BufferId> writes_of(const Step& step);
/// … and with those; for parts, the whole.
std::vector<BufferId> all_reads_of(const Program& program, const Step& step);
std::vector<BufferId> all_writes_of(const Program& program, const Step& step);
/// Whether every element of `operand` that the kernel reads is read before `result` is written there.
bool can_overwrite(const Program& program, const Step& step, BufferId operand, BufferId result);
/// Once memory is planned: whether a step writes a result where an operand of it lies, or may lie once that is donated.
bool may_overwrite(const Program& program, const Step& step);

}  // namespace cotan::compiler
