#include "backend/native/codegen/emit_scalar.hpp"

#include <llvm/IR/Intrinsics.h>

#include "core/error.hpp"

namespace cotan::native {

using expr::Op;
using llvm::Value;
using llvm::Intrinsic::ID;

llvm::Type* register_type(llvm::LLVMContext& c, DType t) {
  switch (t) {
    case DType::bool_:
      return llvm::Type::getInt1Ty(c);
    case DType::f16:
      return llvm::Type::getHalfTy(c);
    case DType::f32:
      return llvm::Type::getFloatTy(c);
    case DType::f64:
      return llvm::Type::getDoubleTy(c);
    default:
      return llvm::Type::getIntNTy(c, static_cast<unsigned>(8 * itemsize(t)));
  }
}
llvm::Type* memory_type(llvm::LLVMContext& c, DType t) {
  return t == DType::bool_ ? llvm::Type::getInt8Ty(c) : register_type(c, t);
}
llvm::Type* vector_of(llvm::Type* element, int width) {
  return width == 1 ? element : llvm::FixedVectorType::get(element, static_cast<unsigned>(width));
}

namespace {

/// `t` with the number of lanes of `x`.
llvm::Type* like(Value* x, llvm::Type* t) {
  const auto* v = llvm::dyn_cast<llvm::FixedVectorType>(x->getType());
  return v ? llvm::FixedVectorType::get(t, v->getNumElements()) : t;
}
llvm::Type* like(llvm::IRBuilder<>& b, Value* x, DType t) { return like(x, register_type(b.getContext(), t)); }
Value* number(llvm::IRBuilder<>& b, Value* x, DType t, std::uint64_t bits) {
  return llvm::ConstantInt::get(like(b, x, t), bits);
}

/// To float so that a second rounding, to a half, gives the nearest half: towards odd.
Value* to_float_for_half(llvm::IRBuilder<>& b, Value* x) {
  Value* f = b.CreateFPTrunc(x, like(b, x, DType::f32));
  Value* back = b.CreateFPExt(f, x->getType());
  Value* bits = b.CreateBitCast(f, like(b, x, DType::u32));
  const auto fabs_below = [&](Value* v, double limit) {
    return b.CreateFCmpOLT(b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, v),
                           llvm::ConstantFP::get(v->getType(), limit));
  };
  Value* inexact = b.CreateAnd(b.CreateFCmpONE(back, x), fabs_below(back, std::numeric_limits<double>::infinity()));
  Value* away = b.CreateFCmpOGT(b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, back),
                                b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x));
  Value* toward_zero = b.CreateSub(bits, b.CreateZExt(away, bits->getType()));
  Value* odd = b.CreateOr(toward_zero, number(b, x, DType::u32, 1));
  return b.CreateBitCast(b.CreateSelect(inexact, odd, bits), like(b, x, DType::f32));
}

Value* bf16_to_float(llvm::IRBuilder<>& b, Value* x) {
  Value* wide = b.CreateZExt(x, like(b, x, DType::u32));
  return b.CreateBitCast(b.CreateShl(wide, 16), like(b, x, DType::f32));
}
Value* float_to_bf16(llvm::IRBuilder<>& b, Value* x) {
  Value* bits = b.CreateBitCast(x, like(b, x, DType::u32));
  Value* lowest = b.CreateAnd(b.CreateLShr(bits, 16), number(b, x, DType::u32, 1));
  Value* rounded = b.CreateAdd(bits, b.CreateAdd(lowest, number(b, x, DType::u32, 0x7fff)));
  Value* quiet = b.CreateOr(bits, number(b, x, DType::u32, 0x400000));
  Value* nan = b.CreateFCmpUNO(x, x);
  return b.CreateTrunc(b.CreateLShr(b.CreateSelect(nan, quiet, rounded), 16), like(b, x, DType::u16));
}

Value* floor_division(llvm::IRBuilder<>& b, const expr::Node& node, Value* x, Value* d) {
  const bool quotient = node.op == Op::floor_div;
  if (node.operands[0]->range.lo >= 0) return quotient ? b.CreateUDiv(x, d) : b.CreateURem(x, d);
  Value* r = b.CreateSRem(x, d);
  Value* below = b.CreateICmpSLT(r, llvm::Constant::getNullValue(r->getType()));
  if (quotient) return b.CreateSub(b.CreateSDiv(x, d), b.CreateZExt(below, x->getType()));
  return b.CreateSelect(below, b.CreateAdd(r, d), r);
}

bool is_signed(DType t) { return is_signed_integer(t); }

}  // namespace

llvm::Constant* emit_constant(llvm::LLVMContext& context, const expr::Node& node) {
  llvm::Type* type = register_type(context, node.dtype);
  const auto bits = static_cast<std::uint64_t>(node.bits);
  if (!is_floating(node.dtype) || node.dtype == DType::bf16)
    return llvm::ConstantInt::get(
        type, bits & (type->getIntegerBitWidth() == 64 ? ~std::uint64_t{0}
                                                       : (std::uint64_t{1} << type->getIntegerBitWidth()) - 1));
  const unsigned width = static_cast<unsigned>(8 * itemsize(node.dtype));
  return llvm::ConstantFP::get(
      context, llvm::APFloat(type->getFltSemantics(),
                             llvm::APInt(width, width == 64 ? bits : bits & ((std::uint64_t{1} << width) - 1))));
}

Value* emit_cast(llvm::IRBuilder<>& b, Value* x, DType from, DType to) {
  if (from == to) return x;
  llvm::Type* type = like(b, x, to);
  const auto via_float = [&] { return emit_cast(b, emit_cast(b, x, from, DType::f32), DType::f32, to); };
  if (from == DType::bf16) return to == DType::f32 ? bf16_to_float(b, x) : via_float();
  if (from == DType::f16) {
    if (to != DType::f32) return via_float();
    // The fence keeps LLVM from moving operations to halves, where maximum(NaN, 0) goes wrong.
    return b.CreateIntrinsic(llvm::Intrinsic::arithmetic_fence, {type}, {b.CreateFPExt(x, type)});
  }
  if (to == DType::f16 || to == DType::bf16) {
    if (from == DType::f64)
      x = to_float_for_half(b, x);
    else if (from != DType::f32)
      return via_float();
    return to == DType::f16 ? b.CreateFPTrunc(x, type) : float_to_bf16(b, x);
  }
  if (to == DType::bool_)
    return is_floating(from) ? b.CreateFCmpUNE(x, llvm::Constant::getNullValue(x->getType()))
                             : b.CreateICmpNE(x, llvm::Constant::getNullValue(x->getType()));
  if (is_floating(from)) {
    if (is_floating(to)) return itemsize(to) > itemsize(from) ? b.CreateFPExt(x, type) : b.CreateFPTrunc(x, type);
    return b.CreateIntrinsic(is_signed(to) ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat,
                             {type, x->getType()}, {x});
  }
  // Masks are not converted: one instruction instead of three.
  if (is_floating(to) && from == DType::bool_)
    return b.CreateSelect(x, llvm::ConstantFP::get(type, 1.0), llvm::ConstantFP::get(type, 0.0));
  if (is_floating(to)) return is_signed(from) ? b.CreateSIToFP(x, type) : b.CreateUIToFP(x, type);
  return is_signed(from) ? b.CreateSExtOrTrunc(x, type) : b.CreateZExtOrTrunc(x, type);
}

Value* emit_operation(llvm::IRBuilder<>& b, const expr::Node& node, llvm::ArrayRef<Value*> x) {
  const DType operand = node.operands[0]->dtype;
  const bool real = is_floating(operand), sign = is_signed(operand);
  const auto unary = [&](ID id) { return b.CreateUnaryIntrinsic(id, x[0]); };
  const auto binary = [&](ID id) { return b.CreateBinaryIntrinsic(id, x[0], x[1]); };
  switch (node.op) {
    case Op::add:
      return real ? b.CreateFAdd(x[0], x[1]) : b.CreateAdd(x[0], x[1]);
    case Op::sub:
      return real ? b.CreateFSub(x[0], x[1]) : b.CreateSub(x[0], x[1]);
    case Op::mul:
      return real ? b.CreateFMul(x[0], x[1]) : b.CreateMul(x[0], x[1]);
    case Op::div:
      return real ? b.CreateFDiv(x[0], x[1]) : sign ? b.CreateSDiv(x[0], x[1]) : b.CreateUDiv(x[0], x[1]);
    case Op::rem:
      return real ? b.CreateFRem(x[0], x[1]) : sign ? b.CreateSRem(x[0], x[1]) : b.CreateURem(x[0], x[1]);
    case Op::neg:
      return real ? b.CreateFNeg(x[0]) : b.CreateNeg(x[0]);
    case Op::abs:
      if (real) return unary(llvm::Intrinsic::fabs);
      return sign ? b.CreateBinaryIntrinsic(llvm::Intrinsic::abs, x[0], b.getFalse()) : x[0];
    case Op::min:
      return binary(real ? llvm::Intrinsic::minimum : sign ? llvm::Intrinsic::smin : llvm::Intrinsic::umin);
    case Op::max:
      return binary(real ? llvm::Intrinsic::maximum : sign ? llvm::Intrinsic::smax : llvm::Intrinsic::umax);
    case Op::floor_div:
    case Op::floor_mod:
      return floor_division(b, node, x[0], x[1]);
    case Op::sqrt:
      return unary(llvm::Intrinsic::sqrt);
    case Op::fma:
      return b.CreateIntrinsic(llvm::Intrinsic::fma, {x[0]->getType()}, {x[0], x[1], x[2]});
    case Op::floor:
      return unary(llvm::Intrinsic::floor);
    case Op::ceil:
      return unary(llvm::Intrinsic::ceil);
    case Op::trunc:
      return unary(llvm::Intrinsic::trunc);
    case Op::round:
      return unary(llvm::Intrinsic::rint);
    case Op::eq:
      return real ? b.CreateFCmpOEQ(x[0], x[1]) : b.CreateICmpEQ(x[0], x[1]);
    case Op::ne:
      return real ? b.CreateFCmpUNE(x[0], x[1]) : b.CreateICmpNE(x[0], x[1]);
    case Op::lt:
      return real ? b.CreateFCmpOLT(x[0], x[1]) : sign ? b.CreateICmpSLT(x[0], x[1]) : b.CreateICmpULT(x[0], x[1]);
    case Op::le:
      return real ? b.CreateFCmpOLE(x[0], x[1]) : sign ? b.CreateICmpSLE(x[0], x[1]) : b.CreateICmpULE(x[0], x[1]);
    case Op::bit_and:
      return b.CreateAnd(x[0], x[1]);
    case Op::bit_or:
      return b.CreateOr(x[0], x[1]);
    case Op::bit_xor:
      return b.CreateXor(x[0], x[1]);
    case Op::bit_not:
      return b.CreateNot(x[0]);
    case Op::shift_left:
      return b.CreateShl(x[0], x[1]);
    case Op::shift_right:
      return b.CreateLShr(x[0], x[1]);
    case Op::shift_right_sign:
      return b.CreateAShr(x[0], x[1]);
    case Op::population_count:
      return unary(llvm::Intrinsic::ctpop);
    case Op::leading_zeros:
      return b.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, x[0], b.getFalse());
    case Op::select:
      return b.CreateSelect(x[0], x[1], x[2]);
    case Op::cast:
      return emit_cast(b, x[0], operand, node.dtype);
    case Op::bitcast:
      return b.CreateBitCast(x[0], like(b, x[0], node.dtype));
    case Op::linear: {
      Value* sum = nullptr;
      for (std::size_t k = 0; k < node.operands.size(); ++k) {
        const std::int64_t c = node.coefficients[k];
        Value* term = c == 1 ? x[k] : b.CreateMul(x[k], llvm::ConstantInt::getSigned(x[k]->getType(), c));
        sum = sum ? b.CreateAdd(sum, term) : term;
      }
      return node.bits ? b.CreateAdd(sum, llvm::ConstantInt::getSigned(sum->getType(), node.bits)) : sum;
    }
    default:
      break;
  }
  raise<InternalError>("[native] no instruction for {}; this is a bug in cotan.", expr::name(node.op));
}

}  // namespace cotan::native
