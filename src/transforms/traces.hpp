// The traces of the transforms: forward mode, partial evaluation (linearize), vectorisation.
#pragma once
#include <variant>

#include "core/overloaded.hpp"
#include "core/trace.hpp"

namespace cotan {

/// Closes a trace when its scope ends, also by an exception: its tracers are leaked from then on.
class TraceCloser {
 public:
  explicit TraceCloser(Trace& trace) : trace_(trace) {}
  ~TraceCloser() { trace_.close(); }
  TraceCloser(const TraceCloser&) = delete;

 private:
  Trace& trace_;
};

/// Raises ValueError, with the path, on an argument that is an empty Array.
void check_defined(std::span<const Array> args, std::string_view transform, const flat::Paths& paths);
/// Raises unless a tangent has the shape and dtype of its primal; a weak scalar takes the primal's dtype.
void check_tangent(const Array& tangent, const AbstractValue& primal, std::string_view transform, std::size_t leaf,
                   const flat::Paths& paths);
/// Raises ValueError if the user's function returned an empty Array.
void check_outputs_defined(std::span<const Array> outputs, std::string_view transform);

// Forward mode ----------------------------------------------------------------------------------

namespace detail {
class JvpTracer final : public Tracer {
 public:
  JvpTracer(TracePtr t, Array p, Array d)
      : Tracer(p.aval(), std::move(t)), primal(std::move(p)), tangent(std::move(d)) {}
  const Array primal, tangent;
  Array known_value() const override { return primal; }
};
}  // namespace detail

class JvpTrace final : public Trace {
 public:
  JvpTrace(std::string_view transform, TracePtr parent) : Trace(transform), parent_(std::move(parent)) {}
  Arrays process(const Primitive& p, std::span<const Array> args, const Params& params) override;
  /// Pairs a primal with its tangent; an undefined tangent gives the primal itself.
  Array wrap(const Array& primal, const Array& tangent);
  std::pair<Array, Array> unwrap(const Array& a) const;
  const TracePtr& parent() const { return parent_; }

 private:
  TracePtr parent_;
};

/// Runs `f` in forward mode under the current trace. Undefined tangents are zero, in and out.
JvpResult jvp_flat(const FlatFn& f, std::span<const Array> primals, std::span<const Array> tangents,
                   std::string_view transform);

// Partial evaluation ----------------------------------------------------------------------------

/// Evaluates what depends on known values under its parent, and records the rest as a program whose
/// captured constants are the residuals.
class PartialEvalTrace final : public RecordingTrace {
 public:
  PartialEvalTrace(std::string_view transform, TracePtr parent)
      : RecordingTrace(transform), parent_(std::move(parent)) {}
  Arrays process(const Primitive& p, std::span<const Array> args, const Params& params) override;
  bool is_unknown(const Array& a) const { return tracer_of(a, *this) != nullptr; }
  const TracePtr& parent() const { return parent_; }

 private:
  TracePtr parent_;
};

/// A linear program with its residuals; outputs that are zero are left out of it.
struct Linearized {
  Arrays outputs;
  ClosedJaxpr linear;         ///< residuals, then one input per differentiated primal
  std::vector<bool> nonzero;  ///< per output: has a tangent, in order, in `linear`'s outputs
};
Linearized linearize_flat(const FlatFn& f, std::span<const Array> primals, std::string_view transform);

/// A program split by which inputs are known. `known` gives the known outputs, then the residuals that are
/// not plain inputs; `unknown` takes residuals, then the unknown inputs, and gives the unknown outputs.
struct SplitJaxpr {
  ClosedJaxpr known;
  JaxprPtr unknown;
  std::vector<bool> output_unknown;
  /// A residual is a known input, by its number, or an output of `known`, by its number among the residual ones.
  struct Input {
    std::size_t number;
  };
  struct Output {
    std::size_t number;
  };
  using Residual = std::variant<Input, Output>;
  std::vector<Residual> residuals;

  /// Something for each residual: input(k) for known input k, output(k) for residual output k.
  template <class OfInput, class OfOutput>
  auto residuals_from(const OfInput& input, const OfOutput& output) const {
    std::vector<std::invoke_result_t<const OfInput&, std::size_t>> out;
    for (const Residual& r : residuals)
      out.push_back(std::visit(
          Overloaded{[&](Input i) { return input(i.number); }, [&](Output o) { return output(o.number); }}, r));
    return out;
  }
};
/// Outputs where `force_unknown` are unknown even if they need not be.
SplitJaxpr partial_eval_jaxpr(const Jaxpr& jaxpr, const std::vector<bool>& unknown,
                              const std::vector<bool>& force_unknown = {});

// Reverse mode ----------------------------------------------------------------------------------

/// Cotangents of the linear inputs of `jaxpr` (those whose `args` are undefined) from its outputs'.
Arrays backward_pass(const Jaxpr& jaxpr, std::span<const Array> args, std::span<const Array> cotangents);

// Vectorisation ---------------------------------------------------------------------------------

namespace detail {
class BatchTracer final : public Tracer {
 public:
  BatchTracer(AbstractValue type, TracePtr t, Array v, int d)
      : Tracer(std::move(type), std::move(t)), value(std::move(v)), dim(d) {}
  const Array value;
  const int dim;
};
}  // namespace detail

class BatchTrace final : public Trace {
 public:
  BatchTrace(std::string_view transform, TracePtr parent, std::int64_t size, std::string axis_name)
      : Trace(transform), parent_(std::move(parent)), size_(size), axis_name_(std::move(axis_name)) {}
  Arrays process(const Primitive& p, std::span<const Array> args, const Params& params) override;
  Array wrap(const Array& value, int dim);
  std::pair<Array, int> unwrap(const Array& a) const;

 private:
  BatchResult batch_across(const Primitive& p, const Arrays& x, const std::vector<int>& dims,
                           const Params& params) const;
  TracePtr parent_;
  std::int64_t size_;
  std::string axis_name_;  ///< by which collectives call the batch axis; empty: by none
};

/// Runs `f` with `args` batched along `dims` under the current trace. Collectives in it find the axis by its name.
BatchResult batch_flat(const FlatFn& f, std::span<const Array> args, std::span<const int> dims, std::int64_t size,
                       std::string_view transform, const std::string& axis_name = {});

// Whole programs --------------------------------------------------------------------------------

/// Forward mode of a program: inputs are primals, then the nonzero tangents; outputs likewise.
struct JvpJaxpr {
  ClosedJaxpr jaxpr;
  std::vector<bool> nonzero_out;
};
/// Outputs where `instantiate` get a tangent even if it is zero.
JvpJaxpr jvp_jaxpr(const Jaxpr& jaxpr, const std::vector<bool>& nonzero, const std::vector<bool>& instantiate = {});
/// A program over batched inputs (axis 0 where `batched`); outputs have the batch in front where
/// `batched_out`, which `force` adds to. Inside of a batching rule the axis has the name of that rule's.
struct BatchedJaxpr {
  ClosedJaxpr jaxpr;
  std::vector<bool> batched_out;
};
BatchedJaxpr batch_jaxpr(const Jaxpr& jaxpr, const std::vector<bool>& batched, std::int64_t size,
                         const std::vector<bool>& force = {});
/// The transpose of a program: inputs are the non-linear inputs, then the nonzero cotangents; outputs are
/// the cotangents of linear inputs that are not zero.
struct TransposedJaxpr {
  ClosedJaxpr jaxpr;
  std::vector<bool> nonzero_out;  ///< per linear input
};
TransposedJaxpr transpose_jaxpr(const Jaxpr& jaxpr, const std::vector<bool>& linear,
                                const std::vector<bool>& nonzero_cotangents);

}  // namespace cotan
