// Random scans of a few steps, as networks with scanned layers have them: arrays that a group of threads shares in
// memory, with sums, means and normalisations along every axis and small products in the body, and gradients through
// all of it. A loop over them is one dispatch with many kernels, in which threads must wait for each other at the right
// places.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "compose/draw.hpp"

namespace fuzz_scans {

namespace ct = cotan;
namespace np = cotan::numpy;
namespace lax = cotan::lax;
using compose::Draw;
using ct::Array;
using ct::Arrays;
using ct::Shape;

/// A value of a body: an operation on earlier values.
struct Node {
  const char* name;
  std::vector<std::size_t> operands;
  int axis;  ///< that it works along, where it works along one
  Shape shape;
};

/// What the body makes of a value to have the next carry.
enum class Next { squashed, added, normalized };

struct Scan {
  // The values that a body sees first, in this order.
  std::vector<Shape> carries, xs, constants;
  std::vector<Node> nodes;
  std::vector<std::size_t> next;  ///< the value that each carry goes on with
  std::vector<Next> ways;
  std::vector<std::size_t> ys;
  std::int64_t steps = 2;
  std::int64_t inner_steps = 0;  ///< the same body in a scan inside the step, where there is one
  bool reverse = false;
  bool gradient = true;

  std::size_t inputs() const { return carries.size() + xs.size() + constants.size(); }
  /// Of all inputs, those along which the scan goes with an axis more.
  std::vector<Shape> input_shapes() const;
  /// Carries and ys; or, with `gradient`, the derivatives of a scalar of them by all inputs.
  Arrays operator()(const Arrays& inputs) const;
  std::string str() const;

 private:
  std::pair<Arrays, Arrays> step(const Arrays& carry, const Arrays& x, const Arrays& constant) const;
  Arrays run(const Arrays& inputs) const;
};

struct Options {
  std::int64_t most_elements = 8192;  ///< of any value of the body
  int most_nodes = 7;
  /// The body has a product that wants the whole device: a step of the scan is then several dispatches, and what is
  /// small between two of them shares one, in which carries have two places in turn. Otherwise most scans are one
  /// dispatch.
  bool large_product = false;
};
Scan random_scan(Draw& draw, const Options& options);
/// A part of it that still `fails`.
Scan shrink(Scan scan, const std::function<bool(const Scan&)>& fails);
/// Empty where the device 'webgpu' gives what the reference gives; else what differs.
std::string difference(const Scan& scan, std::uint64_t seed);

}  // namespace fuzz_scans
