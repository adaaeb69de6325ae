// Products, decompositions, sorting and random numbers on operands that do not fit.
#include <gtest/gtest.h>

#include "support/expect_error.hpp"

namespace np = cotan::numpy;
namespace lax = cotan::lax;
using namespace cotan;

namespace {

Array ones(const Shape& shape, DType dtype = f32) { return np::ones(shape, dtype); }

}  // namespace

TEST(ProductErrors, Matmul) {
  EXPECT_ERROR(ShapeError, np::matmul(ones({2, 3}), ones({2, 3})), "[matmul] shapes (2, 3) and (2, 3) do not fit",
               "sizes 3 and 2");
  EXPECT_ERROR(ShapeError, np::matmul(ones({3}), ones({4})), "[matmul] shapes (3,) and (4,) do not fit",
               "sizes 3 and 4");
  EXPECT_ERROR(ShapeError, np::matmul(2.0, ones({3})), "[matmul]",
               "0-d operands have no axis to contract, use multiply.");
  EXPECT_ERROR(ShapeError, np::matmul(ones({2, 3, 4}), ones({3, 4, 5})), "[matmul] shapes", "do not broadcast");
}
TEST(ProductErrors, Dot) {
  EXPECT_ERROR(ShapeError, np::dot(ones({2, 3}), ones({4, 5})), "[dot] shapes (2, 3) and (4, 5)", "sizes 3 and 4");
  EXPECT_ERROR(ShapeError, np::inner(ones({2, 3}), ones({2, 4})), "[inner] shapes (2, 3) and (2, 4)", "sizes 3 and 4");
  EXPECT_ERROR(ShapeError, np::vdot(ones({3}), ones({4})), "[vdot] shapes (3,) and (4,)");
}
TEST(ProductErrors, DotGeneral) {
  EXPECT_ERROR(ShapeError, lax::dot_general(ones({2, 3}), ones({4, 5}), {{1}, {0}, {}, {}}),
               "[dot_general] f32[2,3] and f32[4,5] differ along contract axes 1 and 0: 3 against 4");
  EXPECT_ERROR(ShapeError, lax::dot_general(ones({2, 3}), ones({3, 2}), {{1}, {}, {}, {}}),
               "[dot_general] the operands have different numbers of contract or batch axes; name as many of each.");
  EXPECT_ERROR(IndexError, lax::dot_general(ones({2, 3}), ones({3, 2}), {{2}, {0}, {}, {}}),
               "[dot_general] axis 2 is out of range for an array with 2 axes");
  EXPECT_ERROR(IndexError, lax::dot_general(ones({2, 3}), ones({3, 2}), {{1}, {0}, {1}, {0}}),
               "[dot_general] contract axes (1,) and batch axes (1,)");
}
TEST(ProductErrors, Einsum) {
  EXPECT_ERROR(ShapeError, np::einsum("ij,jk->ik", {ones({2, 3}), ones({2, 3})}), "[einsum]", "sizes 3 and 2");
  EXPECT_ERROR(ValueError, np::einsum("ij,jk->ik", {ones({2, 3})}),
               "[einsum] subscripts 'ij,jk->ik' name 2 operands but 1 are given");
  EXPECT_ERROR(ShapeError, np::einsum("ijk->i", {ones({2, 3})}),
               "[einsum] operand 0 has shape (2, 3) but 3 subscripts in 'ijk->i'");
  EXPECT_ERROR(ValueError, np::einsum("ij->iz", {ones({2, 3})}),
               "[einsum] the output of 'ij->iz' has subscript 'z', which no operand has");
  EXPECT_ERROR(ValueError, np::einsum("ij->ii", {ones({2, 3})}),
               "[einsum] the output of 'ij->ii' has subscript 'i' twice");
  EXPECT_ERROR(ValueError, np::einsum("i1->i", {ones({2, 3})}), "[einsum] '1' in subscripts 'i1->i' is not a letter");
  EXPECT_ERROR(ShapeError, np::einsum("ii->i", {ones({2, 3})}),
               "[einsum] subscript 'i' names axes of sizes 2 and 3 of one operand");
  EXPECT_ERROR(ValueError, np::einsum("", {}), "[einsum] got no operands");
}
TEST(ProductErrors, Tensordot) {
  EXPECT_ERROR(ValueError, np::tensordot(ones({2, 3}), ones({3, 2}), 3),
               "[tensordot] cannot contract 3 axes of f32[2,3] and f32[3,2]");
  EXPECT_ERROR(ValueError, np::tensordot(ones({2, 3}), ones({3, 2}), {0, 1}, {0}),
               "[tensordot] 2 axes of the first operand against 1 of the second");
  EXPECT_ERROR(ShapeError, np::tensordot(ones({2, 3}), ones({4, 3}), {0}, {0}), "[tensordot]", "sizes 2 and 4");
  EXPECT_ERROR(IndexError, np::tensordot(ones({2, 3}), ones({3, 2}), {5}, {0}), "[tensordot] axis 5 is out of range");
}
TEST(ProductErrors, Others) {
  EXPECT_ERROR(ShapeError, np::cross(ones({4}), ones({4})),
               "[cross] shapes (4,) and (4,); the last axes must have size 2 or 3.");
  EXPECT_ERROR(ShapeError, np::convolve(ones({2, 2}), ones({2})),
               "[convolve] operands are f32[2,2] and f32[2]; both must be vectors.");
  EXPECT_ERROR(ValueError, np::convolve(ones({2}), ones({2}), "half"),
               "[convolve] there is no mode 'half'; use full, same or valid.");
  EXPECT_ERROR(ShapeError, np::trace(ones({2})), "[trace] f32[2] is not a matrix; it needs at least 2 axes.");
  EXPECT_ERROR(ShapeError, np::cov(ones({2, 2, 2})), "[cov] f32[2,2,2] has more than 2 axes");
  EXPECT_ERROR(ShapeError, np::vander(ones({2, 2})), "[vander] f32[2,2] is not a vector");
}

TEST(LinalgErrors, NotSquare) {
  EXPECT_ERROR(ShapeError, linalg::cholesky(ones({2, 3})),
               "[cholesky] needs square matrices, got f32[2,3]; the last two axes must be equal.");
  EXPECT_ERROR(ShapeError, linalg::inv(ones({2, 3})), "[inv] needs square matrices, got f32[2,3]");
  EXPECT_ERROR(ShapeError, linalg::det(ones({4, 2, 3})), "[det] needs square matrices, got f32[4,2,3]");
  EXPECT_ERROR(ShapeError, linalg::slogdet(ones({2, 3})), "[slogdet] needs square matrices");
  EXPECT_ERROR(ShapeError, linalg::eigh(ones({2, 3})), "[eigh] needs square matrices");
  EXPECT_ERROR(ShapeError, linalg::matrix_power(ones({2, 3}), 2), "[matrix_power] needs square matrices");
}
TEST(LinalgErrors, NotAMatrix) {
  EXPECT_ERROR(ShapeError, linalg::cholesky(ones({3})),
               "[cholesky] needs matrices, got f32[3]; give it at least two axes");
  EXPECT_ERROR(ShapeError, linalg::qr(1.0), "[qr] needs matrices, got f32[]");
  EXPECT_ERROR(ShapeError, linalg::svd(ones({3})), "[svd] needs matrices");
  EXPECT_ERROR(ShapeError, linalg::lu(ones({3})), "[lu] needs matrices");
}
TEST(LinalgErrors, HalfPrecision) {
  EXPECT_ERROR(TypeError, linalg::cholesky(ones({2, 2}, bf16)),
               "[cholesky] needs f32, f64 or complex numbers, got bf16; cast with astype.");
  EXPECT_ERROR(TypeError, linalg::qr(ones({2, 2}, f16)), "[qr] needs f32, f64 or complex numbers, got f16");
  EXPECT_ERROR(TypeError, linalg::solve(ones({2, 2}, bf16), ones({2}, bf16)),
               "needs f32, f64 or complex numbers, got bf16");
}
TEST(LinalgErrors, Solve) {
  EXPECT_ERROR(ShapeError, linalg::solve(ones({2, 2}), ones({3})), "[solve]", "f32[2,2]", "f32[3]");
  EXPECT_ERROR(ShapeError, linalg::solve(ones({2, 2}), 1.0), "[solve] the right-hand side is a scalar");
  EXPECT_ERROR(ShapeError, linalg::solve(ones({2, 3}), ones({3})), "[solve] needs square matrices, got f32[2,3]");
  EXPECT_ERROR(ShapeError, linalg::triangular_solve(ones({2, 2}), ones({3, 1})), "[triangular_solve]", "f32[2,2]",
               "f32[3,1]", "2 rows");
  EXPECT_ERROR(ShapeError, linalg::lstsq(ones({3, 2}), ones({2})), "[lstsq]", "f32[3,2]", "f32[2]");
}
TEST(LinalgErrors, DerivativeOfFullSvd) {
  const auto f = [](Array a) { return np::sum(linalg::svd(a, true).u); };
  EXPECT_ERROR(TransformError, grad(f)(ones({3, 2})), "[svd] the full factors of f32[3,2] have no derivative",
               "full_matrices=false");
}
TEST(LinalgErrors, NormAxes) {
  EXPECT_ERROR(ValueError, linalg::norm(ones({2, 2, 2}), none, {0, 1, 2}),
               "[norm] got 3 axes; give one for vectors, two for matrices");
  EXPECT_ERROR(ValueError, linalg::norm(ones({2, 2, 2}), 1), "[norm] got 3 axes (all of f32[2,2,2])");
  EXPECT_ERROR(ValueError, linalg::norm(ones({2}), "fro"), "[norm] the order 'fro' is one of matrices; give two axes");
  EXPECT_ERROR(ValueError, linalg::norm(ones({2, 2}), 3), "[norm] there is no norm of matrices of order 3; use none");
  EXPECT_ERROR(ValueError, linalg::norm(ones({2, 2}), "max"), "[norm] there is no norm of matrices of order 'max'");
  EXPECT_ERROR(ValueError, linalg::norm(ones({2, 2}), "nuc", {0, 0}), "[norm] axis 0 is given twice");
  EXPECT_ERROR(IndexError, linalg::norm(ones({2, 2}), 1, 2), "[norm] axis 2 is out of range");
}

TEST(SortErrors, Sort) {
  EXPECT_ERROR(IndexError, np::sort(ones({3}), 1), "[sort] axis 1 is out of range");
  EXPECT_ERROR(ShapeError, lax::sort({ones({3}), ones({2})}),
               "[sort] operands are f32[3] and f32[2]; those sorted together must have one shape.");
  EXPECT_ERROR(ValueError, lax::sort({ones({3}), ones({3})}, 0, 3),
               "[sort] num_keys is 3 with 2 operands; it must be from 1 to 2.");
  EXPECT_ERROR(ValueError, lax::sort({}), "[sort] got no operands");
  EXPECT_ERROR(ValueError, np::lexsort({}), "[lexsort] got no keys");
}
TEST(SortErrors, TopK) {
  EXPECT_ERROR(ValueError, lax::top_k(ones({3}), 4), "[top_k] k is 4 but the last axis of f32[3] has 3 elements");
  EXPECT_ERROR(ValueError, lax::top_k(ones({3}), -1), "[top_k] k is -1");
  EXPECT_ERROR(ShapeError, lax::top_k(1.0, 1), "[top_k] f32[] has no axis to search");
}
TEST(SortErrors, Searching) {
  EXPECT_ERROR(ShapeError, np::searchsorted(ones({2, 2}), 1.0),
               "[searchsorted] the sorted array is f32[2,2]; it must have one axis.");
  EXPECT_ERROR(ValueError, np::searchsorted(ones({2}), 1.0, "middle"),
               "[searchsorted] side 'middle' is unknown; use left or right.");
  EXPECT_ERROR(TypeError, np::bincount(ones({2}), 3), "[bincount] f32[2] does not hold integers");
  EXPECT_ERROR(ValueError, np::bincount(ones({2}, i32), -3), "[bincount] length -3 is negative");
  EXPECT_ERROR(ShapeError, np::interp(0.5, ones({2}), ones({3})),
               "[interp] the points are f32[2] and their values f32[3]");
}

TEST(RandomErrors, Key) {
  EXPECT_ERROR(TypeError, random::normal(np::ones({3}), {2}),
               "[random.normal] the key is f32[3]; it must be u32[2], from random::key or split");
  EXPECT_ERROR(TypeError, random::uniform(random::split(random::key(0))), "[random.uniform] the key is u32[2,2]",
               "Many keys: use vmap.");
  EXPECT_ERROR(ValueError, random::split(Array()),
               "[random.split] the key is an empty Array; make one with random::key(seed).");
}
TEST(RandomErrors, Arguments) {
  const Array key = random::key(0);
  EXPECT_ERROR(TypeError, random::normal(key, {2}, i32),
               "[random.normal] dtype i32 is not a floating-point or complex one; use f32");
  EXPECT_ERROR(TypeError, random::bits(key, {2}, f32),
               "[random.bits] dtype f32 is not unsigned; use u8, u16, u32 or u64.");
  EXPECT_ERROR(TypeError, random::randint(key, {2}, 0, 3, f32), "[random.randint] dtype f32 is not an integer one");
  EXPECT_ERROR(ShapeError, random::uniform(key, {-1}), "[random.uniform] shape (-1,) has a negative size");
  EXPECT_ERROR(ShapeError, random::bernoulli(key, ones({3}), Shape{2}), "[random.bernoulli]", "(3,)", "(2,)");
  EXPECT_ERROR(ValueError, random::split(key, -1), "[random.split] -1 keys were asked for");
  EXPECT_ERROR(TypeError, random::fold_in(key, 0.5), "[random.fold_in] the data is f32[]; it must be one integer.");
  EXPECT_ERROR(ShapeError, random::categorical(key, np::zeros({2, 0})),
               "[random.categorical] axis -1 of f32[2,0] is empty");
  EXPECT_ERROR(ShapeError, random::permutation(key, np::ones({})), "[random.permutation] f32[] has no axis to shuffle");
}
