#include "lax/text_fields.hpp"

#include <cotan/numpy.hpp>

#include "core/error.hpp"
#include "core/typed.hpp"

namespace cotan {

using debug::Printed;

class TextFields::Parser {
 public:
  Parser(std::string_view op, const std::string& text, const std::vector<Printed>& args)
      : op_(op), text_(text), args_(args), used_(args.size(), false) {}

  std::vector<Piece> run() {
    std::vector<Piece> out(1);
    for (std::size_t at = 0; at < text_.size(); ++at) {
      const char c = text_[at];
      const bool twice = at + 1 < text_.size() && text_[at + 1] == c;
      if ((c == '{' || c == '}') && twice) {
        out.back().text += c;
        ++at;
      } else if (c == '}') {
        fail("it has a } without a {");
      } else if (c == '{') {
        const std::size_t end = text_.find('}', at);
        if (end == std::string::npos) fail("it has a { without a }");
        add_field(out.back(), text_.substr(at + 1, end - at - 1));
        out.emplace_back();
        at = end;
      } else {
        out.back().text += c;
      }
    }
    for (std::size_t k = 0; k < args_.size(); ++k)
      if (!used_[k])
        fail(args_[k].name().empty() ? fmt::format("it has no field for argument {}", k)
                                     : fmt::format("it has no field {{{}}}", args_[k].name()));
    return out;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    raise<ValueError>("[{}] the text is \"{}\", and {}; write {{}} or {{name}} for each argument, {{{{ for a {{.", op_,
                      text_, what);
  }
  void add_field(Piece& piece, const std::string& field) {
    const std::size_t colon = field.find(':');
    const std::string name = field.substr(0, colon);
    if (colon != std::string::npos) piece.format = field.substr(colon + 1);
    const std::size_t k = find(name);
    if (k >= args_.size()) fail(fmt::format("there is no argument for {{{}}}", name));
    used_[k] = true;
    piece.argument = k;
    check_format(args_[k], field, piece.format);
  }
  std::size_t find(const std::string& name) {
    const bool is_number = name.find_first_not_of("0123456789") == std::string::npos;
    std::size_t wanted = name.empty() || !is_number ? next_ : std::stoul(name);
    if (name.empty()) ++next_;
    for (std::size_t k = 0; k < args_.size(); ++k) {
      if (is_number ? args_[k].name().empty() && wanted-- == 0 : args_[k].name() == name) return k;
    }
    return args_.size();
  }
  void check_format(const Printed& arg, const std::string& field, const std::string& format) const {
    if (format.empty()) return;
    const Array* array = std::get_if<Array>(&arg.value());
    if (array && array->defined() && array->ndim() > 0)
      fail(fmt::format("{{{}}} has a format, which is for scalars, but gets {}", field, array->aval()));
  }

  const std::string_view op_;
  const std::string& text_;
  const std::vector<Printed>& args_;
  std::vector<bool> used_;
  std::size_t next_ = 0;
};

namespace {

template <class T>
std::string formatted(std::string_view op, const T& value, const std::string& format) {
  if (format.empty()) return fmt::format("{}", value);
  try {
    return fmt::format(fmt::runtime("{:" + format + "}"), value);
  } catch (const fmt::format_error& e) {
    raise<ValueError>("[{}] the format {} does not fit a field: {}; give one of the value's type.", op, format,
                      e.what());
  }
}
std::string text_of(std::string_view op, const Array& a, const std::string& format) {
  if (format.empty() || is_complex(a.dtype())) return to_string(a);
  return dispatch(a.dtype(), [&]<class T>() {
    const T value = *data<T>(a);
    if constexpr (is_half<T>)
      return formatted(op, static_cast<float>(value), format);
    else
      return formatted(op, value, format);
  });
}

}  // namespace

TextFields::TextFields(std::string_view op, const std::string& text, std::vector<Printed> args)
    : op_(op), pieces_(Parser(op, text, args).run()), args_(std::move(args)) {
  for (Printed& a : args_) {
    const Array* array = std::get_if<Array>(&a.value());
    place_.push_back(array ? std::optional(arrays_.size()) : std::nullopt);
    if (!array) continue;
    arrays_.push_back(*array);
    a = Printed("", a.name());
  }
}

TextFields TextFields::without_arrays() const {
  TextFields out = *this;
  out.arrays_.clear();
  return out;
}

std::string TextFields::filled(std::span<const Array> values) const {
  std::string line;
  for (const Piece& piece : pieces_) {
    line += piece.text;
    if (!piece.argument) continue;
    const std::size_t k = *piece.argument;
    const auto constant = [&](const auto& v) {
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(v)>, Array>)
        return to_string(v);
      else
        return formatted(op_, v, piece.format);
    };
    line += place_[k] ? text_of(op_, values[*place_[k]], piece.format) : std::visit(constant, args_[k].value());
  }
  return line;
}

}  // namespace cotan
