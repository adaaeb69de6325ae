// Order: who reads what another thread wrote, or writes what another may still read, waits for all. Goes by memory and
// not by name: places are used again when nobody needs what was there before.
#pragma once
#include <set>

#include "backend/gpu/codegen/loop.hpp"

namespace cotan::gpu {

class Order {
 public:
  /// `team`: there are threads to wait for.
  Order(const Program& program, ShaderBuilder& shader, bool team) : program_(program), s_(shader), team_(team) {}

  /// First of all: the steps that will be written.
  void look_at(std::span<const Step> steps);
  /// `own`: arrays that each thread has for itself.
  void begin(const std::set<BufferId>& own);
  /// Before a step that reads and writes these.
  void before(const std::vector<BufferId>& reads, const std::vector<BufferId>& writes);
  void note_write(BufferId b) { written_.insert(s_.root(b)); }
  /// All threads meet, and see what the others have written to memory.
  void meet();
  /// The same, if they have done anything that another could want to know: before what makes who came first unknown.
  void meet_if_used();
  /// At the end of a step: what the loop does not write needs no waiting.
  void end_step(const Repeat& loop);
  /// They have met already.
  void settle();

  /// An array that all threads together have just filled from memory, and its end.
  void bring_close(BufferId b) {
    fresh_.insert(b);
    written_.insert(b);
  }
  void let_go(BufferId b) { fresh_.erase(b); }
  /// Whether any step writes where `b` lies.
  bool is_written(BufferId b) const { return overlaps(b, written_here_); }

 private:
  /// `memory`: also what is in memory, which takes longer than arrays that threads share.
  void barrier(bool memory);
  /// Where an array lies by itself, and where this shader has it: carries of loops around take two places in turn.
  std::set<BufferId> roots(BufferId b) const;
  bool overlap(BufferId x, BufferId y) const;
  bool overlaps(BufferId b, const std::set<BufferId>& others) const;
  /// Whether threads that write `b` could come before or after those that write one of the others.
  bool overwrites(BufferId b, const std::set<BufferId>& others) const;
  const compiler::Buffer& buffer(BufferId b) const { return program_.buffers[static_cast<std::size_t>(b)]; }

  const Program& program_;
  ShaderBuilder& s_;
  const bool team_;
  std::set<BufferId> read_here_;       ///< by any step
  std::set<BufferId> shared_;          ///< both read and written: what is only one of these makes nobody wait
  std::set<BufferId> written_here_;    ///< by any step
  std::set<BufferId> by_one_;          ///< written in one place: each element by the same thread, whenever that is
  std::set<BufferId> fresh_;           ///< brought close, by all threads
  std::set<BufferId> read_, written_;  ///< since all threads met
};

}  // namespace cotan::gpu
