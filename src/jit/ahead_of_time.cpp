// Programs that are compiled before they are called.
#include <cotan/transforms/ahead_of_time.hpp>

#include "core/construct.hpp"
#include "core/error.hpp"
#include "core/jaxpr.hpp"

namespace cotan::flat {

Arrays outputs_of(const Program& program) {
  Arrays out;
  for (const AbstractValue& t : program.jaxpr()->output_types()) out.push_back(abstract_array(t));
  return out;
}

Arrays without_elements(std::span<const Array> arrays) {
  Arrays out;
  for (const Array& a : arrays) out.push_back(abstract_array(a.aval()));
  return out;
}

Explanation compile(const Program& program, const std::vector<bool>& donated) {
  Explanation out = explain(program, {}, donated);
  out.passes.clear();  // listings are for who looks at them at once
  for (std::string* listing : {&out.llvm_ir, &out.assembly, &out.wgsl}) listing->clear();
  return out;
}

void check_compiled_for(const std::vector<Array>& compiled, std::span<const Array> args, std::string_view device,
                        const Paths& paths) {
  for (std::size_t i = 0; i < args.size(); ++i)
    if (args[i].aval() != compiled[i].aval())
      raise<TypeError>("[compiled] {} is {}, and the program was compiled for {} on {}; lower it again for others.",
                       paths(i), args[i].aval(), compiled[i].aval(), device);
}

}  // namespace cotan::flat
