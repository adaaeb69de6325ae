// Places where nothing is traced.
#include <cotan/eager.hpp>

#include "core/effects.hpp"
#include "core/trace.hpp"

namespace cotan {

namespace {
thread_local bool jit_is_disabled = false;
}

JitDisabled::JitDisabled(bool disable) : saved_(std::exchange(jit_is_disabled, disable)) {}
JitDisabled::~JitDisabled() { jit_is_disabled = saved_; }
bool flat::is_jit_disabled() { return jit_is_disabled; }

struct CompileTimeEval::Scope {
  TraceScope trace{eval_trace()};
  effects::Frame frame{effects::Frame::Kind::immediate};
};
CompileTimeEval::CompileTimeEval() : scope_(std::make_unique<Scope>()) {}
CompileTimeEval::~CompileTimeEval() = default;

}  // namespace cotan
