#include "backend/gpu/codegen/loop_order.hpp"

#include <algorithm>
#include <map>

#include "backend/gpu/codegen/loop_uses.hpp"

namespace cotan::gpu {

void Order::look_at(std::span<const Step> steps) {
  std::map<BufferId, int> writers;
  for_each_use(steps, [&](BufferId b, bool reads, bool writes) {
    for (BufferId root : roots(b)) {
      if (reads) read_here_.insert(root);
      if (writes) written_here_.insert(root);
      if (writes) ++writers[root];
    }
  });
  for (const auto& [b, count] : writers)
    if (count == 1) by_one_.insert(b);
}

void Order::begin(const std::set<BufferId>& own) {
  for (BufferId b : read_here_)
    if (overlaps(b, written_here_) && !own.contains(b)) shared_.insert(b);
  for (BufferId b : written_here_)
    if (overlaps(b, read_here_) && !own.contains(b)) shared_.insert(b);
}

std::set<BufferId> Order::roots(BufferId b) const { return {program_.root(b), s_.root(b)}; }

bool Order::overlap(BufferId x, BufferId y) const {
  if (x == y) return true;
  const compiler::Buffer &a = buffer(x), &b = buffer(y);
  if (a.storage != b.storage) return false;
  if (a.storage == Storage::output) return a.place == b.place;
  if (a.storage != Storage::arena) return false;
  const auto end = [](const compiler::Buffer& of) { return of.place + of.copies * compiler::stride_of(of); };
  return a.place < end(b) && b.place < end(a);
}
bool Order::overlaps(BufferId b, const std::set<BufferId>& others) const {
  return std::any_of(others.begin(), others.end(), [&](BufferId other) { return overlap(b, other); });
}

bool Order::overwrites(BufferId b, const std::set<BufferId>& others) const {
  return std::any_of(others.begin(), others.end(),
                     [&](BufferId other) { return overlap(b, other) && !(b == other && by_one_.contains(b)); });
}

void Order::before(const std::vector<BufferId>& reads, const std::vector<BufferId>& writes) {
  if (!team_) return;
  bool wait = false, memory = false;
  const auto check = [&](BufferId b, const std::set<BufferId>& others) {
    if (!overlaps(b, others)) return;
    wait = true;
    memory = memory || !s_.has_array(b);
  };
  for (BufferId b : reads) check(s_.root(b), written_);
  for (BufferId b : writes) {
    if (overwrites(s_.root(b), written_)) check(s_.root(b), written_);
    check(s_.root(b), read_);
  }
  if (wait) barrier(memory);
  for (BufferId b : reads)
    if (shared_.contains(s_.root(b)) || fresh_.contains(s_.root(b))) read_.insert(s_.root(b));
  for (BufferId b : writes)
    if (shared_.contains(s_.root(b))) written_.insert(s_.root(b));
}

void Order::barrier(bool memory) {
  if (!team_) return;
  if (memory) s_.body.line(s_.body.dialect().memory_barrier());
  s_.body.barrier();
  if (memory) {
    settle();
    return;
  }
  std::erase_if(read_, [&](BufferId b) { return s_.has_array(b); });
  std::erase_if(written_, [&](BufferId b) { return s_.has_array(b); });
  s_.body.forget_loads();
}
void Order::meet() {
  barrier(true);
  settle();
}
void Order::settle() {
  read_.clear();
  written_.clear();
  s_.body.forget_loads();
}
void Order::meet_if_used() {
  bool memory = false;
  for (const auto* set : {&written_, &read_})
    for (BufferId b : *set) memory = memory || !s_.has_array(b);
  if (!written_.empty() || !read_.empty()) barrier(memory);
  s_.body.forget_loads();
}

void Order::end_step(const Repeat& loop) {
  std::set<BufferId> read, written;
  const auto add = [&](BufferId b, bool reads, bool writes) {
    for (BufferId root : roots(b)) {
      if (reads) read.insert(root);
      if (writes) written.insert(root);
    }
  };
  for_each_use(loop.condition, add);
  for_each_use(loop.steps, add);
  for (const compiler::Carried& c : loop.carries)
    for (BufferId b : {c.in, c.out}) add(b, true, true);
  bool memory = false, any = false;
  const auto check = [&](BufferId b) {
    any = true;
    memory = memory || !s_.has_array(b);
  };
  for (BufferId b : read_)
    if (overlaps(b, written)) check(b);
  for (BufferId b : written_)
    if (overlaps(b, read) || overwrites(b, written)) check(b);
  if (any) barrier(memory);
  s_.body.forget_loads();
}

}  // namespace cotan::gpu
