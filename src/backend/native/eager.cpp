#include "backend/native/eager.hpp"

#include <algorithm>

#include "backend/native/executable.hpp"
#include "backend/native/runtime/thread_pool.hpp"
#include "backend/single_operation.hpp"
#include "control/control.hpp"
#include "core/trace.hpp"

namespace cotan::native {

namespace {

/// Below this many elements the primitive's own rule is as fast.
constexpr std::int64_t large = 1 << 16;
/// From this many multiplications on our matrix product is faster than the rule's plain loops.
constexpr std::int64_t large_product = 1 << 12;
/// Elementwise operations run in blocks of one size, so that arrays of every shape share a kernel.
constexpr std::int64_t block = 1 << 14;

/// Elementwise on n elements: whole blocks by one kernel, the rest by the rule.
Arrays run_in_blocks(Backend& backend, const Primitive& p, std::span<const Array> args, const Params& params,
                     std::int64_t n) {
  const Types results = p.type(p, types_of(args), params);
  Types block_types;
  for (const Array& a : args) block_types.push_back({a.dtype(), a.size() == n ? Shape{block} : Shape{}, a.weak_type()});
  const Executable& kernel =
      executable_of(program_of(p, block_types, params), backend, Effort::full);  // for many blocks
  Arrays out;
  std::vector<std::byte*> to;
  for (const AbstractValue& t : results) {
    auto [array, buffer] = allocate(backend, t);
    out.push_back(array);
    to.push_back(buffer->data());
  }
  const auto memory_at = [&](std::int64_t first, std::vector<void*>& io) {
    for (const Array& a : args)
      io.push_back(concrete(a)->buffer->data() +
                   (a.size() == n ? first * static_cast<std::int64_t>(itemsize(a.dtype())) : 0));
    for (std::size_t k = 0; k < out.size(); ++k)
      io.push_back(to[k] + first * static_cast<std::int64_t>(itemsize(out[k].dtype())));
  };
  parallel_for(n / block, [&](std::int64_t b) {
    std::vector<void*> io;
    memory_at(b * block, io);
    kernel.run_in_place(io.data());
  });
  if (const std::int64_t first = n / block * block; first < n) {
    std::vector<void*> io;
    memory_at(first, io);
    Arrays rest;
    for (std::size_t k = 0; k < args.size(); ++k) {
      const std::int64_t count = args[k].size() == n ? n - first : 1;
      rest.push_back(Array(std::make_shared<detail::Concrete>(
          AbstractValue{args[k].dtype(), args[k].size() == n ? Shape{count} : Shape{}, args[k].weak_type()},
          std::make_shared<Buffer>(backend, static_cast<std::byte*>(io[k]),
                                   static_cast<std::size_t>(count) * itemsize(args[k].dtype())))));
    }
    const Arrays last = p.eval(p, rest, params);
    for (std::size_t k = 0; k < last.size(); ++k)
      std::memcpy(io[args.size() + k], concrete(last[k])->buffer->data(), last[k].nbytes());
  }
  return out;
}

/// dot_general, convolutions.
bool is_product(const Primitive& p) { return p.op_class == OpClass::routine && p.reduction; }

}  // namespace

Arrays run_eagerly(Backend& backend, const Primitive& p, std::span<const Array> args, const Params& params) {
  if (&p == &cond_p)
    return executable_of(params.jaxprs("branches")[static_cast<std::size_t>(*data<std::int32_t>(args[0]))], backend)
        .run(args.subspan(1));
  if (p.op_class == OpClass::control) return executable_of(program_of(p, types_of(args), params), backend).run(args);
  std::int64_t most = 0;
  for (const Array& a : args) most = std::max(most, a.size());
  if (is_product(p) && args[0].size() * args[1].size() > large_product)
    return executable_of(program_of(p, types_of(args), params), backend).run(args);
  if (most < large || p.eval == nullptr) return p.eval(p, args, params);
  if (p.rewrites.shares_memory) return p.eval(p, args, params);  // no work at all
  if (p.scalar || p.scalars) return run_in_blocks(backend, p, args, params, most);
  return executable_of(program_of(p, types_of(args), params), backend).run(args);
}

}  // namespace cotan::native
