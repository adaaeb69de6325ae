// cotan's side of: transpose, cumulative sum, sort, gather and scatter.
#include "cotan_case.hpp"

namespace bench {
namespace {

using ct::Array;

const Register all[] = {
    {"cotan", "transpose",
     [](const Parameters& p) {
       return jitted([](const Array& x) { return x.T(); }, random_array({p["rows"], p["columns"]}, 1));
     }},
    {"cotan", "cumsum",
     [](const Parameters& p) {
       return jitted([](const Array& x) { return np::cumsum(x); }, random_array({p["n"]}, 1));
     }},
    {"cotan", "sort",
     [](const Parameters& p) { return jitted([](const Array& x) { return np::sort(x); }, random_array({p["n"]}, 1)); }},
    {"cotan", "gather",
     [](const Parameters& p) {
       return jitted([](const Array& table, const Array& rows) { return table(rows); },
                     random_array({p["rows"], p["columns"]}, 1), random_indices({p["indices"]}, 2, p["rows"]));
     }},
    {"cotan", "scatter_add",
     [](const Parameters& p) {
       return jitted(
           [](const Array& table, const Array& rows, const Array& updates) { return table.at(rows).add(updates); },
           random_array({p["rows"], p["columns"]}, 1), random_indices({p["indices"]}, 2, p["rows"]),
           random_array({p["indices"], p["columns"]}, 3));
     }},
};

}  // namespace
}  // namespace bench
