// einsum: parsing, and contraction of the operands pair by pair.
#include <algorithm>
#include <cctype>
#include <cotan/numpy.hpp>
#include <map>

#include "numpy/contract.hpp"
#include "numpy/preferred.hpp"
#include "ops/ops.hpp"
#include "ops/promote.hpp"

namespace cotan::numpy {

namespace {

struct Term {
  std::string before, after;  // letters around the ellipsis
  bool ellipsis = false;
};

Term parse_term(std::string_view text, std::string_view subscripts) {
  Term term;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i, 3) == "..." && !term.ellipsis) {
      term.ellipsis = true;
      i += 2;
    } else if (std::isalpha(static_cast<unsigned char>(text[i]))) {
      (term.ellipsis ? term.after : term.before) += text[i];
    } else {
      raise<ValueError>(
          "[einsum] '{}' in subscripts '{}' is not a letter; write letters, one '...' per term, ',' and "
          "'->'.",
          text[i], subscripts);
    }
  }
  return term;
}

// Letters are their own labels; the axes of an ellipsis are -1, -2, … counted from its end.
Labels labels_of(const Term& term, int ellipsis_axes) {
  Labels out(term.before.begin(), term.before.end());
  for (int i = ellipsis_axes; term.ellipsis && i > 0; --i) out.push_back(-i);
  out.insert(out.end(), term.after.begin(), term.after.end());
  return out;
}

struct Equation {
  std::vector<Labels> inputs;
  Labels output;
};

Equation parse(std::string_view subscripts, const ArrayList& list) {
  const std::vector<Array>& operands = list;
  std::string text;
  for (char c : subscripts)
    if (c != ' ') text += c;
  const auto arrow = text.find("->");
  std::string_view inputs = std::string_view(text).substr(0, arrow);
  std::vector<Term> terms;
  for (std::size_t at = 0; at <= inputs.size();) {
    const auto comma = std::min(inputs.find(',', at), inputs.size());
    terms.push_back(parse_term(inputs.substr(at, comma - at), subscripts));
    at = comma + 1;
  }
  if (terms.size() != operands.size())
    raise<ValueError>("[einsum] subscripts '{}' name {} operands but {} are given; give one per term.", subscripts,
                      terms.size(), operands.size());

  Equation equation;
  int widest = 0;
  std::map<int, int> count;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const int letters = static_cast<int>(terms[i].before.size() + terms[i].after.size());
    const int rest = operands[i].ndim() - letters;
    if (rest < 0 || (rest > 0 && !terms[i].ellipsis))
      raise<ShapeError>("[einsum] operand {} has shape {} but {} subscripts in '{}'; name every axis, or write '...'.",
                        i, describe(operands[i].shape()), letters, subscripts);
    equation.inputs.push_back(labels_of(terms[i], rest));
    if (terms[i].ellipsis) widest = std::max(widest, rest);
    for (int label : equation.inputs.back()) ++count[label];
  }
  if (arrow == std::string::npos) {
    for (int i = widest; i > 0; --i) equation.output.push_back(-i);
    for (auto [label, times] : count)
      if (label > 0 && times == 1) equation.output.push_back(label);
    return equation;
  }
  equation.output = labels_of(parse_term(std::string_view(text).substr(arrow + 2), subscripts), widest);
  for (int label : equation.output) {
    if (!count.contains(label))
      raise<ValueError>(
          "[einsum] the output of '{}' has subscript '{}', which no operand has; sum over it or name it in "
          "an operand.",
          subscripts, static_cast<char>(label));
    if (std::count(equation.output.begin(), equation.output.end(), label) > 1)
      raise<ValueError>("[einsum] the output of '{}' has subscript '{}' twice; name it once.", subscripts,
                        static_cast<char>(label));
  }
  return equation;
}

/// Labels that occur twice in one operand: its diagonal.
void take_diagonals(Array& a, Labels& labels) {
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto twin = std::find(labels.begin() + static_cast<std::ptrdiff_t>(i) + 1, labels.end(), labels[i]);
    if (twin == labels.end()) continue;
    const auto j = static_cast<std::size_t>(twin - labels.begin());
    if (a.shape()[i] != a.shape()[j])
      raise<ShapeError>(
          "[einsum] subscript '{}' names axes of sizes {} and {} of one operand; a diagonal needs equal "
          "sizes.",
          static_cast<char>(labels[i]), a.shape()[i], a.shape()[j]);
    a = diagonal(a, 0, static_cast<int>(i), static_cast<int>(j));
    const int label = labels[i];
    labels.erase(labels.begin() + static_cast<std::ptrdiff_t>(j));
    labels.erase(labels.begin() + static_cast<std::ptrdiff_t>(i));
    labels.push_back(label);
    i = static_cast<std::size_t>(-1);  // the axes have moved: look again from the first
  }
}

/// Operands that are left, and how large what they name is.
struct Contraction {
  std::vector<Labels> terms;
  Labels output;
  std::map<int, std::int64_t> sizes;

  /// The labels that the product of two terms must keep.
  Labels left_of(std::size_t i, std::size_t j) const {
    if (terms.size() == 2) return output;
    Labels all = terms[i], out;
    for (int label : terms[j])
      if (!has(all, label)) all.push_back(label);
    for (int label : all) {
      bool needed = has(output, label);
      for (std::size_t k = 0; k < terms.size(); ++k) needed |= k != i && k != j && has(terms[k], label);
      if (needed) out.push_back(label);
    }
    return out;
  }
  double cost(std::size_t i, std::size_t j) const {
    double product = 1;
    for (int label : terms[i]) product *= static_cast<double>(sizes.at(label));
    for (int label : terms[j])
      if (!has(terms[i], label)) product *= static_cast<double>(sizes.at(label));
    return product;
  }
  /// The pair to contract next: the cheapest, the first of several; or the first two.
  std::pair<std::size_t, std::size_t> next(bool optimize) const {
    std::pair<std::size_t, std::size_t> best{0, 1};
    if (!optimize) return best;
    for (std::size_t i = 0; i < terms.size(); ++i)
      for (std::size_t j = i + 1; j < terms.size(); ++j)
        if (cost(i, j) < cost(best.first, best.second)) best = {i, j};
    return best;
  }
  /// Puts the product in the place of the first of both.
  Labels contract_pair(std::size_t i, std::size_t j) {
    Labels left = left_of(i, j);
    terms[i] = left;
    terms.erase(terms.begin() + static_cast<std::ptrdiff_t>(j));
    return left;
  }
};

/// The equation with its diagonals taken, and what they leave.
Contraction contraction_of(const Equation& equation, const Arrays& arrays) {
  Contraction out{equation.inputs, equation.output, {}};
  for (std::size_t i = 0; i < arrays.size(); ++i)
    for (std::size_t k = 0; k < out.terms[i].size(); ++k) {
      std::int64_t& size = out.sizes[out.terms[i][k]];
      size = std::max(size, arrays[i].shape()[k]);
    }
  return out;
}

/// The one operand that is left, its other labels summed and its axes in order.
Array reduced_to(Array product, const Labels& labels, const Labels& output) {
  Ints summed, permutation;
  Labels kept;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (has(output, labels[i]))
      kept.push_back(labels[i]);
    else
      summed.push_back(static_cast<std::int64_t>(i));
  }
  if (!summed.empty())
    product =
        bind1(product.dtype() == DType::bool_ ? ops::reduce_or_p : ops::reduce_sum_p, {product}, {{"axes", summed}});
  for (int label : output) permutation.push_back(std::find(kept.begin(), kept.end(), label) - kept.begin());
  return ops::transpose(product, permutation);
}

Array evaluate(Equation equation, const std::vector<Array>& operands, const EinsumOptions& options) {
  check_precision("einsum", options.precision.value_or("default"));
  Arrays arrays = options.preferred_element_type ? widened(operands, *options.preferred_element_type)
                                                 : cast_all(operands, result_type(operands));
  for (std::size_t i = 0; i < arrays.size(); ++i) take_diagonals(arrays[i], equation.inputs[i]);
  Contraction rest = contraction_of(equation, arrays);
  if (arrays.size() == 1) arrays[0] = reduced_to(arrays[0], rest.terms[0], rest.output);
  while (arrays.size() > 1) {
    const auto [i, j] = rest.next(options.optimize);
    const Labels of_i = rest.terms[i], of_j = rest.terms[j];
    arrays[i] = contract("einsum", arrays[i], of_i, arrays[j], of_j, rest.contract_pair(i, j));
    arrays.erase(arrays.begin() + static_cast<std::ptrdiff_t>(j));
  }
  return options.preferred_element_type ? ops::cast(arrays[0], *options.preferred_element_type) : arrays[0];
}

void check_operands(const std::vector<Array>& operands, std::string_view subscripts) {
  if (operands.empty()) raise<ValueError>("[einsum] got no operands; give one per term of '{}'.", subscripts);
}

}  // namespace

Array einsum(std::string_view subscripts, const ArrayList& list, const EinsumOptions& options) {
  const std::vector<Array>& operands = list;
  check_operands(operands, subscripts);
  return evaluate(parse(subscripts, operands), operands, options);
}

Array einsum(const std::vector<EinsumOperand>& operands, const std::optional<std::vector<int>>& output,
             const EinsumOptions& options, const std::source_location& where) {
  const cotan::detail::CallSite site(where);
  Arrays arrays;
  std::string text;
  std::map<int, int> count;
  const auto letter = [](int number) {
    if (number < 0 || number > 51)
      raise<ValueError>("[einsum] an axis has the number {}; give numbers from 0 to 51.", number);
    return static_cast<char>(number < 26 ? 'a' + number : 'A' + number - 26);
  };
  for (const EinsumOperand& each : operands) {
    if (!arrays.empty()) text += ',';
    arrays.push_back(each.array);
    for (int number : each.axes) {
      text += letter(number);
      ++count[number];
    }
  }
  text += "->";
  if (output)
    for (int number : *output) text += letter(number);
  else
    for (const auto& [number, times] : count)
      if (times == 1) text += letter(number);
  check_operands(arrays, text);
  return evaluate(parse(text, arrays), arrays, options);
}

EinsumPath einsum_path(std::string_view subscripts, const ArrayList& list, const EinsumOptions& options) {
  const std::vector<Array>& operands = list;
  check_operands(operands, subscripts);
  Equation equation = parse(subscripts, operands);
  Arrays stand_ins;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    stand_ins.push_back(abstract_array(operands[i].aval()));
    Labels unique;
    Shape shape;
    for (std::size_t k = 0; k < equation.inputs[i].size(); ++k)
      if (!has(unique, equation.inputs[i][k])) {
        unique.push_back(equation.inputs[i][k]);
        shape.push_back(operands[i].shape()[k]);
      }
    equation.inputs[i] = unique;
    stand_ins[i] = abstract_array({operands[i].dtype(), shape, false});
  }
  const auto walk = [&](bool optimize, EinsumPath* path) {
    Contraction rest = contraction_of(equation, stand_ins);
    // As JAX counts operands: those that are contracted go, their product comes last.
    std::vector<std::size_t> names(rest.terms.size()), listed;
    for (std::size_t i = 0; i < names.size(); ++i) names[i] = i;
    listed = names;
    double multiplications = 0;
    std::size_t next_name = names.size();
    while (rest.terms.size() > 1) {
      const auto [i, j] = rest.next(optimize);
      multiplications += rest.cost(i, j);
      std::vector<int> places;
      for (std::size_t k : {i, j})
        places.push_back(static_cast<int>(std::find(listed.begin(), listed.end(), names[k]) - listed.begin()));
      std::sort(places.begin(), places.end());
      for (std::size_t k = places.size(); k-- > 0;) listed.erase(listed.begin() + places[k]);
      listed.push_back(next_name);
      names[i] = next_name++;
      names.erase(names.begin() + static_cast<std::ptrdiff_t>(j));
      rest.contract_pair(i, j);
      if (path) path->contractions.push_back(places);
    }
    return multiplications;
  };
  EinsumPath path;
  path.multiplications = walk(options.optimize, &path);
  path.from_the_left = walk(false, nullptr);
  if (operands.size() == 1) path.contractions.push_back({0});
  return path;
}

}  // namespace cotan::numpy
