// Fourier transforms that the device has a routine for, and whose parts are only put together, as complex arrays are in
// memory, become a routine that puts them there.
#include <unordered_map>

#include "core/def_use.hpp"
#include "core/error.hpp"
#include "lowering/device_passes.hpp"
#include "ops/fft.hpp"
#include "ops/ops.hpp"
#include "passes/passes.hpp"
#include "passes/rewriter.hpp"

namespace cotan {

namespace {

class PairsOfTransforms {
 public:
  PairsOfTransforms(const Jaxpr& jaxpr, TransformsInPairs wanted)
      : jaxpr_(jaxpr), wanted_(wanted), values_(jaxpr), rewriter_(jaxpr) {}

  JaxprPtr run() {
    for (const Equation& e : jaxpr_.equations) {
      if (const auto whole = put_together(e)) {
        replace(e, *whole);
        continue;
      }
      rewriter_.emit(e, rewriter_.read(e.inputs), map_nested(e.params, [&](const JaxprPtr& nested) {
                       return transforms_in_pairs(nested, wanted_);
                     }));
    }
    return eliminate_dead_code(rewriter_.finish(jaxpr_.outputs, "transforms in pairs"));
  }

 private:
  /// The equation, if it puts both parts of a transform together that nobody else reads.
  std::optional<ops::WholeTransform> put_together(const Equation& e) const {
    const auto whole = ops::whole_transform(jaxpr_, values_, e);
    if (!whole) return std::nullopt;
    const Equation& t = *whole->transform;
    const bool is_wanted = wanted_(jaxpr_.type(t.outputs[0]), t.params.integer("axis"));
    const bool is_read_here_alone = values_.reads(t.outputs[0]) == 1 && values_.reads(t.outputs[1]) == 1;
    return is_wanted && is_read_here_alone ? whole : std::nullopt;
  }

  void replace(const Equation& e, const ops::WholeTransform& whole) {
    const Equation& transform = *whole.transform;
    const Equation pairs{&ops::fft_pairs_p, {}, e.outputs, {}, transform.where};
    rewriter_.emit(pairs, {rewriter_.read(transform.inputs[0]), rewriter_.read(transform.inputs[1])},
                   {{"axis", transform.params.integer("axis")}, {"swapped", whole.swapped}});
  }

  const Jaxpr& jaxpr_;
  const TransformsInPairs wanted_;
  const DefUse values_;
  Rewriter rewriter_;
};

}  // namespace

JaxprPtr transforms_in_pairs(const JaxprPtr& jaxpr, TransformsInPairs wanted) {
  return PairsOfTransforms(*jaxpr, wanted).run();
}

}  // namespace cotan
