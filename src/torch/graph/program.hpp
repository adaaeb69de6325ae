// What has to run so that some values are known: nodes in the order in which they were recorded, what comes in, what
// goes out.
#pragma once
#include "torch/graph/node.hpp"

namespace cotan::torch::detail {

struct Program {
  std::vector<NodePtr> nodes;   ///< ascending ids
  std::vector<bool> evaluated;  ///< per node: its operation is part of the program, also where its results are known
  std::vector<std::uint32_t> arguments;  ///< positions of nodes whose results are known
  std::vector<bool> donated;             ///< per argument: nobody reads it any more
  std::vector<std::uint32_t> outputs;  ///< positions of nodes whose results are wanted, by this call or by others later
  std::vector<double> numbers;         ///< of all nodes
  std::vector<std::uint32_t> draws;    ///< four words per draw
  /// Equal for programs that do the same on arguments of the same types.
  std::vector<std::uint64_t> key;
  std::vector<std::uint32_t> starts;  ///< per node: of its words in the key
  std::string device;
  bool traced = false;  ///< the arguments are tracers: who traces may differentiate the program
};

/// The program for `wanted`. Callers hold the lock of runs.
Program collect(std::span<const Value> wanted);
/// Its results, node by node of `outputs`; of tracers or of arrays. `arguments`: arrays of argument nodes, then the
/// numbers, then the draws, where there are any.
Arrays evaluate(const Program& program, std::span<const Array> arguments);

/// `elements`, with the derivative of `history`, which has the same shape.
Array with_derivative_of(const Array& history, const Array& elements);

/// Whether tensors of this thread are made of tracers: then a program may become a part of what is traced.
bool is_tracing();

/// Sees to it that these are computed: runs one program.
void run(std::span<const Value> wanted);
/// Runs what is recorded and can still be read, and this value. Where a program is traced nothing is run, and nothing
/// fails here: who reads what does not run is told.
void catch_up(const Value& latest);
/// The array of a value; runs what it needs.
Array array_of(const Value& value);

}  // namespace cotan::torch::detail
