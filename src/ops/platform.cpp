// platform_index: which of several platforms runs the program, known when a device evaluates it. Params: platforms,
// their names, each followed by a comma.
#include <algorithm>
#include <cotan/platform.hpp>

#include "ops/elementwise.hpp"
#include "ops/parts.hpp"

namespace cotan {

namespace ops {

namespace {

Types index_type(const Primitive&, std::span<const AbstractValue>, const Params&) { return {{DType::i32, {}, false}}; }
Arrays index_eval(const Primitive&, std::span<const Array> x, const Params& params) {
  auto [out, buffer] = allocate_like(x, {DType::i32, {}, false});
  *reinterpret_cast<std::int32_t*>(buffer->data()) =
      number_of_platform(params, concrete(x[0])->buffer->backend().name());
  return {out};
}
BatchResult index_batch(const Primitive& self, std::span<const Array> x, std::span<const int>, std::int64_t,
                        const Params& params) {
  return {bind(self, x, params), {not_batched}};
}

}  // namespace

std::int32_t number_of_platform(const Params& params, std::string_view name) {
  const std::string& names = params.text("platforms");
  const std::string wanted = std::string(name) + ",";
  std::size_t at = 0;
  std::int32_t number = 0;
  while (at < names.size()) {
    const std::size_t end = names.find(',', at) + 1;
    if (names.compare(at, end - at, wanted) == 0) return number;
    at = end;
    ++number;
  }
  return number;
}

const Primitive platform_index_p{.name = "platform_index",
                                 .op_class = OpClass::routine,
                                 .type = index_type,
                                 .eval = index_eval,
                                 .batch = index_batch,
                                 .not_differentiable = true,
                                 .on_parts = [](const Primitive& self, PartsOf x, const Params& params) {
                                   return real_result(bind1(self, {x[0].re}, params));
                                 }};
const Listed platform_listed{&platform_index_p};

}  // namespace ops

namespace flat {

Array platform_index(const std::vector<std::string>& platforms, const Array& like) {
  std::string names;
  for (const std::string& p : platforms) names += p + ",";
  return bind1(ops::platform_index_p, {like}, {{"platforms", names}});
}
void check_platforms(std::size_t functions, std::size_t leaves) {
  if (functions == 0)
    raise<ValueError>("[platform_dependent] the last function, for all other platforms, is empty; give one.");
  if (leaves == 0)
    raise<ValueError>(
        "[platform_dependent] there is no array among the arguments, whose device would count; give one.");
}

}  // namespace flat
}  // namespace cotan
