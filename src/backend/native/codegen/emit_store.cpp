// Stores of a kernel: whole vectors where lanes are neighbours, two vectors at once where results lie between each
// other, element by element elsewhere; masks at the end.
#include "backend/native/codegen/emit_scalar.hpp"
#include "backend/native/codegen/interleaved.hpp"
#include "backend/native/codegen/kernel_emitter.hpp"

namespace cotan::native {

void KernelEmitter::store_all(const std::vector<Store>& stores, int vectors) {
  std::set<const Store*> stored;  // with another one
  std::map<std::pair<const Store*, int>, Value*> values;
  // All values first: a store may overwrite the memory of an operand.
  if (!kernel_.results_are_apart)
    for (const Store& s : stores)
      for (int u = 0; u < vectors; ++u) values[{&s, u}] = stored_value(s, u);
  const auto value = [&](const Store& s, int u) {
    return kernel_.results_are_apart ? stored_value(s, u) : values.at({&s, u});
  };
  std::vector<std::pair<const Store*, const Store*>> order;
  for (const Store& s : stores) {
    const Store* behind = vector_ && stores_lanes(s) ? store_behind(program_, stores, s, vector_->variable) : nullptr;
    if (behind) stored.insert(behind);
    order.emplace_back(&s, behind);
  }
  for (const auto& [s, behind] : order) {
    if (stored.contains(s)) continue;
    for (int u = 0; u < vectors; ++u)
      if (behind)
        emit_interleaved(*s, u, value(*s, u), value(*behind, u));
      else
        emit_store(*s, u, value(*s, u));
  }
}

void KernelEmitter::emit_interleaved(const Store& even, int u, Value* first, Value* second) {
  const DType t = program_.buffers[static_cast<std::size_t>(even.buffer)].type.dtype;
  const auto affine = affine_in(even.offset, vector_->variable);
  Value* rest = emit_scalar(affine->rest, u);
  auto b = nest_.here();
  const int width = schedule_.width;
  Value* at = b.CreateAdd(rest, b.CreateMul(first_lane(b, u), number(2)));
  first = storable(b, first, t);
  second = storable(b, second, t);
  const bool aligned = part_start(program_, even.buffer)->start % width == 0 && starts_at_vectors(affine->rest);
  for (const int half : {0, 1}) {
    std::vector<int> lanes, both;
    for (int k = half * width; k < (half + 1) * width; ++k) {
      lanes.push_back(k / 2);
      both.push_back(k / 2 + (k % 2) * width);
    }
    Value* vector = b.CreateShuffleVector(first, second, both);
    Value* pointer = address(b, even.buffer, t, b.CreateAdd(at, number(std::int64_t{half} * width)));
    if (mask_) {
      b.CreateMaskedStore(vector, pointer, align(t), b.CreateShuffleVector(mask_, lanes));
      continue;
    }
    llvm::StoreInst* store = b.CreateAlignedStore(vector, pointer, align(t, aligned));
    if (aligned && is_streamed(even.buffer)) make_streamed(store, t);
  }
}

Value* KernelEmitter::stored_value(const Store& s, int u) {
  const DType to = program_.buffers[static_cast<std::size_t>(s.buffer)].type.dtype;
  Value* v = stores_lanes(s) ? emit_lanes(s.value, u) : emit_scalar(s.value, u);
  auto b = nest_.here();
  return emit_cast(b, v, s.value->dtype, to);
}

void KernelEmitter::emit_store(const Store& s, int u, Value* value) {
  const DType t = program_.buffers[static_cast<std::size_t>(s.buffer)].type.dtype;
  if (in_lane_rows(s.buffer)) {
    Value* at = emit_scalar(s.offset, u);
    auto b = nest_.here();
    b.CreateAlignedStore(storable(b, value, t), row_address(b, s.buffer, t, at, u), align(t));
    return;
  }
  if (!stores_lanes(s)) {
    Value* at = emit_scalar(s.offset, u);
    auto b = nest_.here();
    b.CreateAlignedStore(storable(b, value, t), address(b, s.buffer, t, at), align(t));
    return;
  }
  const auto affine = affine_in(s.offset, vector_->variable);
  if (affine && affine->coefficient == 1) {
    Value* rest = emit_scalar(affine->rest, u);
    auto b = nest_.here();
    Value* pointer = address(b, s.buffer, t, b.CreateAdd(rest, first_lane(b, u)));
    value = storable(b, value, t);
    if (mask_) {
      b.CreateMaskedStore(value, pointer, align(t), mask_);
    } else {
      const bool aligned = is_aligned(s.buffer, affine->rest);
      llvm::StoreInst* store = b.CreateAlignedStore(value, pointer, align(t, aligned));
      if (aligned && is_streamed(s.buffer)) make_streamed(store, t);
    }
    return;
  }
  Value* offsets = emit(s.offset, u);
  auto b = nest_.here();
  value = storable(b, value, t);
  Value* pointers = b.CreateGEP(memory_type(context_, t), base(s.buffer), offsets);
  Value* all = llvm::Constant::getAllOnesValue(vector_of(b.getInt1Ty(), schedule_.width));
  b.CreateMaskedScatter(value, pointers, align(t), mask_ ? mask_ : all);
}

void KernelEmitter::make_streamed(llvm::StoreInst* store, DType t) {
  constexpr std::size_t shortest = 16;  // bytes
  if (itemsize(t) * static_cast<std::size_t>(schedule_.width) < shortest) return;
  auto* one = llvm::ConstantInt::get(llvm::Type::getInt32Ty(context_), 1);
  store->setMetadata(llvm::LLVMContext::MD_nontemporal,
                     llvm::MDNode::get(context_, llvm::ConstantAsMetadata::get(one)));
  streamed_ = true;
}

bool KernelEmitter::is_aligned(BufferId buffer, Expr rest) const {
  return program_.buffers[static_cast<std::size_t>(buffer)].storage != Storage::part && starts_at_vectors(rest);
}

bool KernelEmitter::starts_at_vectors(Expr rest) const {
  const auto width = static_cast<std::int64_t>(schedule_.width);
  if (width & (width - 1)) return false;
  if (vector_->length % width) return false;  // pieces start in between
  if (const auto c = expr::as_integer(rest)) return *c % width == 0;
  if (rest->op == Op::linear) {
    for (auto c : rest->coefficients)
      if (c % width) return false;
    return rest->bits % width == 0;
  }
  return false;
}

}  // namespace cotan::native
