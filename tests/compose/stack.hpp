// One function under a stack of transforms, computed in three ways: as composed by the library; by the oracle
// (loops and differences); and by the library again with every transform exchanged for another that must give
// the same (jit and checkpoint for nothing, vmap for a loop, forward for reverse mode and back).
#pragma once
#include <string>

#include "compose/oracle.hpp"
#include "compose/random_program.hpp"

namespace compose {

using Function = std::function<Arrays(const Arrays&)>;

enum class Kind { jit, checkpoint, vmap, jvp, linearize, vjp, grad, value_and_grad, jacfwd, jacrev };

struct Transform {
  Kind kind;
  /// Per input: passed to the transformed function; the others are closed over.
  std::vector<bool> passed;
  std::vector<int> in_axes, out_axes;  ///< vmap: per passed input, per output; ct::flat::no_axis is none
  std::int64_t batch = 0;
  Arrays coefficients;  ///< jvp, linearize: of tangents; vjp, grad: of cotangents
  bool moving = false;  ///< coefficients times the cosine of the point, so that outer transforms reach them
  ct::PolicyPtr policy;
  std::string str() const;
  bool differentiates() const { return kind >= Kind::jvp; }
  bool forward() const { return kind == Kind::jvp || kind == Kind::linearize || kind == Kind::jacfwd; }
};

struct Composed {
  Function composed, exchanged;
  HostFunction oracle;
  std::vector<Shape> inputs, outputs;
  std::vector<Transform> transforms;  ///< innermost first
  int order = 0;                      ///< of differentiation
  double evaluations = 1;             ///< of the base program, by the oracle
  bool reverse_only = false;
  std::string str() const;
};

Composed base(std::shared_ptr<const RandomProgram> program);
/// f under one more random transform, if one was found that the budget allows.
bool transform_at_random(Composed& f, Draw& draw);

}  // namespace compose
