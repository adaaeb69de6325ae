// Loads of a kernel: whole vectors where lanes are neighbours, broadcasts, transposes, gathers; masks at the end.
#include <algorithm>

#include "backend/native/codegen/emit_scalar.hpp"
#include "backend/native/codegen/kernel_emitter.hpp"
#include "compiler/definitions.hpp"
#include "compiler/memory.hpp"
#include "core/error.hpp"

namespace cotan::native {

Value* KernelEmitter::base(BufferId id) {
  if (const auto at = bases_.find(id); at != bases_.end()) return at->second;
  const compiler::Buffer& buffer = program_.buffers[static_cast<std::size_t>(id)];
  Value* pointer = nullptr;
  if (buffer.storage == Storage::row) {
    std::int64_t n = lanes_reduce_ || !vector_ ? 1 : std::int64_t{schedule_.width} * schedule_.unroll;
    for (const Loop* l : reduced_) n *= l->extent;
    pointer = nest_.slot(llvm::ArrayType::get(memory_type(context_, buffer.type.dtype), static_cast<std::uint64_t>(n)),
                         "row");
  } else {
    const auto at = std::find(arguments_.buffers.begin(), arguments_.buffers.end(), id);
    internal_check(at != arguments_.buffers.end(), "a kernel uses a buffer that it was not given");
    pointer =
        argument(llvm::PointerType::getUnqual(context_), static_cast<std::size_t>(at - arguments_.buffers.begin()));
  }
  bases_.emplace(id, pointer);
  return pointer;
}

Value* KernelEmitter::argument(llvm::Type* type, std::size_t k) {
  if (inlined_) return function_->getArg(static_cast<unsigned>(k));
  auto b = nest_.at(0);
  return b.CreateLoad(type,
                      b.CreateConstInBoundsGEP1_64(llvm::PointerType::getUnqual(context_), function_->getArg(0), k));
}

llvm::Align KernelEmitter::align(DType t, bool vector_aligned) const {
  return llvm::Align(vector_aligned ? static_cast<std::uint64_t>(schedule_.width) * itemsize(t) : itemsize(t));
}

Value* KernelEmitter::plain_load(llvm::IRBuilder<>& b, BufferId buffer, llvm::Type* type, Value* pointer, DType t) {
  llvm::LoadInst* load = b.CreateAlignedLoad(type, pointer, align(t));
  if (inlined_ && compiler::is_constant_memory(program_.buffers[static_cast<std::size_t>(buffer)]))
    load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(context_, {}));
  return load;
}

Value* KernelEmitter::loaded(llvm::IRBuilder<>& b, Value* v, DType t) {
  return t == DType::bool_ ? b.CreateICmpNE(v, llvm::Constant::getNullValue(v->getType())) : v;
}

Value* KernelEmitter::storable(llvm::IRBuilder<>& b, Value* v, DType t) {
  if (t != DType::bool_) return v;
  llvm::Type* byte = b.getInt8Ty();
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(v->getType());
  return b.CreateZExt(v, vector ? llvm::FixedVectorType::get(byte, vector->getNumElements()) : byte);
}

Value* KernelEmitter::address(llvm::IRBuilder<>& b, BufferId buffer, DType t, Value* offset) {
  return b.CreateInBoundsGEP(memory_type(context_, t), base(buffer), offset);
}

Value* KernelEmitter::row_address(llvm::IRBuilder<>& b, BufferId buffer, DType t, Value* offset, int u) {
  const std::int64_t vectors = schedule_.unroll;
  Value* at =
      b.CreateAdd(b.CreateMul(offset, number(vectors * schedule_.width)), number(std::int64_t{u} * schedule_.width));
  return address(b, buffer, t, at);
}

Value* KernelEmitter::emit_load(Expr e, int u, Place place) {
  const auto buffer = static_cast<BufferId>(e->bits);
  const Expr offset = e->operands[0];
  const Expr predicate = e->operands.size() > 1 ? e->operands[1] : Expr();
  llvm::Type* element = memory_type(context_, e->dtype);
  if (in_lane_rows(buffer)) {
    Value* at = emit_scalar(offset, u);
    auto b = nest_.here();
    return loaded(b,
                  b.CreateAlignedLoad(vector_of(element, schedule_.width), row_address(b, buffer, e->dtype, at, u),
                                      align(e->dtype)),
                  e->dtype);
  }
  if (!place.varying) {
    Value* at = emit_scalar(offset, u);
    Value* when = predicate ? emit_scalar(predicate, u) : nullptr;
    auto b = nest_.at(place.level);
    Value* pointer = address(b, buffer, e->dtype, at);
    if (when) pointer = b.CreateSelect(when, pointer, base(buffer));
    Value* v = plain_load(b, buffer, element, pointer, e->dtype);
    if (when) v = b.CreateSelect(when, v, llvm::Constant::getNullValue(element));
    return loaded(b, v, e->dtype);
  }
  const auto affine = affine_in(offset, vector_->variable);
  Value* rest = affine && !place_of(affine->rest).varying ? emit_scalar(affine->rest, u) : nullptr;
  Value* offsets = rest ? nullptr : emit(offset, u);
  Value* when = predicate ? emit(predicate, u) : nullptr;
  auto b = nest_.at(place.level);
  // If no lane wants the load, its address may be invalid, and masked loads of unmapped memory are very slow.
  Value* wanted = !when ? nullptr : place_of(predicate).varying ? b.CreateOrReduce(when) : when;
  if (when && !place_of(predicate).varying) when = splat(b, when);
  if (mask_) when = when ? b.CreateAnd(when, mask_) : mask_;
  llvm::Type* type = vector_of(element, schedule_.width);
  Value* first = first_lane(b, u);
  if (rest && affine->coefficient == 0) {  // only the predicate differs
    Value* pointer = address(b, buffer, e->dtype, rest);
    pointer = b.CreateSelect(b.CreateOrReduce(when), pointer, base(buffer));
    Value* v = splat(b, b.CreateAlignedLoad(element, pointer, align(e->dtype)));
    return loaded(b, b.CreateSelect(when, v, llvm::Constant::getNullValue(type)), e->dtype);
  }
  if (rest && (affine->coefficient == 1 || affine->coefficient == -1)) {
    const bool backward = affine->coefficient == -1;
    Value* at =
        backward ? b.CreateSub(b.CreateSub(rest, first), number(schedule_.width - 1)) : b.CreateAdd(rest, first);
    Value* pointer = address(b, buffer, e->dtype, at);
    if (wanted) pointer = b.CreateSelect(wanted, pointer, base(buffer));
    if (when && backward) when = b.CreateVectorReverse(when);
    Value* v = nullptr;
    if (when)
      v = b.CreateMaskedLoad(type, pointer, align(e->dtype), when, llvm::Constant::getNullValue(type));
    else
      v = plain_load(b, buffer, type, pointer, e->dtype);
    return loaded(b, backward ? b.CreateVectorReverse(v) : v, e->dtype);
  }
  if (in_square_ && rest && !when)
    if (Value* row = square_row(b, e, *affine, u)) return loaded(b, row, e->dtype);
  if (rest && !when)
    if (Value* column = transposed_column(b, buffer, e->dtype, affine->rest, affine->coefficient, u))
      return loaded(b, column, e->dtype);
  if (rest && !when)
    if (Value* column = interleaved_column(b, e, *affine, u, place.level)) return loaded(b, column, e->dtype);
  if (rest && affine->coefficient == 2 && schedule_.width > 1) {
    Value* pointer = address(b, buffer, e->dtype, b.CreateAdd(rest, b.CreateMul(first, number(2))));
    if (wanted) pointer = b.CreateSelect(wanted, pointer, base(buffer));
    return loaded(b, every_other(b, buffer, e->dtype, pointer, when), e->dtype);
  }
  return loaded(b, gather(b, buffer, e->dtype, rest, affine ? affine->coefficient : 0, first, offsets, when), e->dtype);
}

Value* KernelEmitter::every_other(llvm::IRBuilder<>& b, BufferId buffer, DType t, Value* pointer, Value* when) {
  const int width = schedule_.width;
  llvm::Type *element = memory_type(context_, t), *type = vector_of(element, width);
  Value* vectors[2];
  for (const int half : {0, 1}) {
    // The second vector ends with the last element that is wanted, and not behind it.
    const int skipped = half * (width - 1);
    Value* from = b.CreateConstInBoundsGEP1_64(element, pointer, static_cast<std::uint64_t>(skipped));
    if (!when) {
      vectors[half] = plain_load(b, buffer, type, from, t);
      continue;
    }
    std::vector<int> lanes;
    for (int k = skipped; k < skipped + width; ++k) lanes.push_back(k % 2 ? width : k / 2);
    Value* mask = b.CreateShuffleVector(when, llvm::Constant::getNullValue(when->getType()), lanes);
    vectors[half] = b.CreateMaskedLoad(type, from, align(t), mask, llvm::Constant::getNullValue(type));
  }
  std::vector<int> taken;
  for (int k = 0; k < width; ++k) taken.push_back(2 * k < width ? 2 * k : 2 * k + 1);
  return b.CreateShuffleVector(vectors[0], vectors[1], taken);
}

Value* KernelEmitter::transposed_column(llvm::IRBuilder<>& b, BufferId buffer, DType t, Expr rest, std::int64_t stride,
                                        int u) {
  const std::int64_t width = schedule_.width;
  const auto start = expr::as_integer(rest);
  if (!inlined_ || !once_ || !single_vector_ || !start || stride < width || (width & (width - 1)) || width < 4 ||
      written_.contains(buffer))
    return nullptr;
  const std::int64_t column = *start % stride, first = column / width * width;
  const std::int64_t corner = *start - column + first + std::int64_t{u} * width * stride;
  const std::int64_t end = corner + (width - 1) * stride + width;
  if (first + width > stride || end > program_.buffers[static_cast<std::size_t>(buffer)].type.size()) return nullptr;
  auto& columns = squares_[{buffer, corner, stride}];
  if (columns.empty()) {
    llvm::Type* type = vector_of(memory_type(context_, t), schedule_.width);
    for (std::int64_t row = 0; row < width; ++row)
      columns.push_back(plain_load(b, buffer, type, address(b, buffer, t, number(corner + row * stride)), t));
    transpose(b, columns);
  }
  return columns[static_cast<std::size_t>(column - first)];
}

Value* KernelEmitter::square_row(llvm::IRBuilder<>& b, Expr load, const expr::Affine& affine, int u) {
  const auto buffer = static_cast<BufferId>(load->bits);
  const auto along = affine_in(affine.rest, tiled_->variable);
  if (!along || along->coefficient != 1 || written_.contains(buffer)) return nullptr;
  auto& rows = square_rows_[{buffer, along->rest.get(), affine.coefficient}];
  if (rows.empty()) {
    Value* corner = b.CreateAdd(emit_scalar(along->rest), variables_.at(tiled_->variable.get()));
    llvm::Type* type = vector_of(memory_type(context_, load->dtype), schedule_.width);
    for (std::int64_t k = 0; k < schedule_.width; ++k) {
      Value* down = b.CreateMul(b.CreateAdd(base_, number(k)), number(affine.coefficient));
      rows.push_back(
          plain_load(b, buffer, type, address(b, buffer, load->dtype, b.CreateAdd(corner, down)), load->dtype));
    }
    transpose(b, rows);
  }
  return rows[static_cast<std::size_t>(u)];
}

namespace {

/// The column that a load at rest + stride * lane reads of rows of `stride` elements; nothing where rows do not begin
/// at multiples of their length, or where that is no power of two, as shuffles require.
std::optional<std::int64_t> column_of(Expr rest, std::int64_t stride) {
  if (stride < 2 || (stride & (stride - 1))) return std::nullopt;
  if (const auto c = expr::as_integer(rest)) return *c & (stride - 1);
  if (rest->op != Op::linear) return std::nullopt;
  for (auto c : rest->coefficients)
    if (c % stride) return std::nullopt;
  return rest->bits & (stride - 1);
}

/// Takes every other element of pairs of vectors, repeatedly.
std::vector<Value*> taken_apart(llvm::IRBuilder<>& b, std::vector<Value*> rows, int width) {
  if (rows.size() == 1) return rows;
  std::vector<Value*> halves[2];
  for (int odd : {0, 1}) {
    std::vector<int> mask;
    for (int i = 0; i < width; ++i) mask.push_back(2 * i + odd);
    for (std::size_t k = 0; k < rows.size(); k += 2)
      halves[odd].push_back(b.CreateShuffleVector(rows[k], rows[k + 1], mask));
    halves[odd] = taken_apart(b, std::move(halves[odd]), width);
  }
  std::vector<Value*> out;
  for (std::size_t k = 0; k < rows.size(); ++k) out.push_back(halves[k % 2][k / 2]);
  return out;
}

}  // namespace

void KernelEmitter::find_columns() {
  columns_found_ = true;
  std::vector<Expr> loads;
  for (const compiler::Pass& pass : kernel_.passes) {
    for (const Reduce& r : pass.reductions) compiler::collect_loads(r.value, loads);
    for (const auto* stores : {&pass.stores, &pass.rows})
      for (const Store& s : *stores) compiler::collect_loads(s.value, loads);
  }
  for (Expr l : loads) {
    const auto affine = affine_in(l->operands[0], vector_->variable);
    const auto column = affine ? column_of(affine->rest, affine->coefficient) : std::nullopt;
    if (column)
      columns_read_[{static_cast<BufferId>(l->bits), (affine->rest - expr::integer(*column)).get(),
                     affine->coefficient}]
          .insert(*column);
  }
}

Value* KernelEmitter::interleaved_column(llvm::IRBuilder<>& b, Expr load, const expr::Affine& affine, int u,
                                         int level) {
  const auto buffer = static_cast<BufferId>(load->bits);
  const std::int64_t stride = affine.coefficient, width = schedule_.width;
  const auto column = column_of(affine.rest, stride);
  const compiler::Buffer& memory = program_.buffers[static_cast<std::size_t>(buffer)];
  if (!column || (width & (width - 1)) || stride > width || written_.contains(buffer) ||
      memory.storage == Storage::part || load->operands[0]->range.hi - *column + stride > memory.type.size())
    return nullptr;
  if (!columns_found_) find_columns();
  const Expr start = affine.rest - expr::integer(*column);
  const Rows rows{buffer, start.get(), stride};
  const auto read = columns_read_.find(rows);
  if (read == columns_read_.end() || 2 * static_cast<std::int64_t>(read->second.size()) < stride) return nullptr;
  auto& made = columns_[static_cast<std::size_t>(level)][{rows, u}];
  if (made.empty()) {
    llvm::Type* element = memory_type(context_, load->dtype);
    Value* first = b.CreateAdd(emit_scalar(start, u), b.CreateMul(first_lane(b, u), number(stride)));
    Value* pointer = address(b, buffer, load->dtype, first);
    std::vector<Value*> vectors;
    for (std::int64_t k = 0; k < stride; ++k)
      vectors.push_back(plain_load(
          b, buffer, vector_of(element, schedule_.width),
          b.CreateConstInBoundsGEP1_64(element, pointer, static_cast<std::uint64_t>(k * width)), load->dtype));
    made = taken_apart(b, std::move(vectors), schedule_.width);
  }
  return made[static_cast<std::size_t>(*column)];
}

void KernelEmitter::transpose(llvm::IRBuilder<>& b, std::vector<Value*>& rows) {
  const int n = static_cast<int>(rows.size());
  for (int step = n / 2; step >= 1; step /= 2) {
    std::vector<int> low, high;
    for (int i = 0; i < n; ++i) {
      low.push_back(i & step ? n + i - step : i);
      high.push_back(i & step ? n + i : i + step);
    }
    for (int i = 0; i < n; ++i) {
      if (i & step) continue;
      Value *x = rows[static_cast<std::size_t>(i)], *y = rows[static_cast<std::size_t>(i + step)];
      rows[static_cast<std::size_t>(i)] = b.CreateShuffleVector(x, y, low);
      rows[static_cast<std::size_t>(i + step)] = b.CreateShuffleVector(x, y, high);
    }
  }
}

Value* KernelEmitter::gather(llvm::IRBuilder<>& b, BufferId buffer, DType t, Value* rest, std::int64_t stride,
                             Value* first, Value* offsets, Value* when) {
  llvm::Type* element = memory_type(context_, t);
  Value* start = rest ? address(b, buffer, t, b.CreateAdd(rest, b.CreateMul(first, number(stride)))) : nullptr;
  Value* out = llvm::PoisonValue::get(vector_of(element, schedule_.width));
  for (int lane = 0; lane < schedule_.width; ++lane) {
    const auto k = static_cast<std::uint64_t>(lane);
    Value* pointer = rest ? b.CreateConstInBoundsGEP1_64(element, start, static_cast<std::uint64_t>(stride * lane))
                          : address(b, buffer, t, b.CreateExtractElement(offsets, k));
    if (when) pointer = b.CreateSelect(b.CreateExtractElement(when, k), pointer, base(buffer));
    out = b.CreateInsertElement(out, plain_load(b, buffer, element, pointer, t), k);
  }
  return when ? b.CreateSelect(when, out, llvm::Constant::getNullValue(out->getType())) : out;
}

}  // namespace cotan::native
