// Two classics that are in every textbook, small enough to read.
#include "datasets.hpp"

#include <fmt/format.h>

namespace apps {

const std::vector<Dataset>& datasets() {
  static const std::vector<Dataset> all = {
      // Cobb, "The problem of the Nile", Biometrika 1978.
      {"nile",
       "Annual flow of the Nile at Aswan, 1871–1970",
       "flow (10⁸ m³)",
       "year",
       "flow",
       1871,
       1,
       {
           1120, 1160, 963,  1210, 1160, 1160, 813,  1230, 1370, 1140, 995,  935,  1110, 994, 1020, 960,  1180,
           799,  958,  1140, 1100, 1210, 1150, 1250, 1260, 1220, 1030, 1100, 774,  840,  874, 694,  940,  833,
           701,  916,  692,  1020, 1050, 969,  831,  726,  456,  824,  702,  1120, 1100, 832, 764,  821,  768,
           845,  864,  862,  698,  845,  744,  796,  1040, 759,  781,  865,  845,  944,  984, 897,  822,  1010,
           771,  676,  649,  846,  812,  742,  801,  1040, 860,  874,  848,  890,  744,  749, 838,  1050, 918,
           986,  797,  923,  975,  815,  1020, 906,  901,  1170, 912,  746,  919,  718,  714, 740,
       }},
      // Box and Jenkins, "Time Series Analysis", 1970, series G.
      {"airline",
       "International airline passengers by month, 1949–1960",
       "passengers (thousands)",
       "month",
       "passengers",
       1949,
       12,
       {
           // clang-format off
           112, 118, 132, 129, 121, 135, 148, 148, 136, 119, 104, 118,
           115, 126, 141, 135, 125, 149, 170, 170, 158, 133, 114, 140,
           145, 150, 178, 163, 172, 178, 199, 199, 184, 162, 146, 166,
           171, 180, 193, 181, 183, 218, 230, 242, 209, 191, 172, 194,
           196, 196, 236, 235, 229, 243, 264, 272, 237, 211, 180, 201,
           204, 188, 235, 227, 234, 264, 302, 293, 259, 229, 203, 229,
           242, 233, 267, 269, 270, 315, 364, 347, 312, 274, 237, 278,
           284, 277, 317, 313, 318, 374, 413, 405, 355, 306, 271, 306,
           315, 301, 356, 348, 355, 422, 465, 467, 404, 347, 305, 336,
           340, 318, 362, 348, 363, 435, 491, 505, 404, 359, 310, 337,
           360, 342, 406, 396, 420, 472, 548, 559, 463, 407, 362, 405,
           417, 391, 419, 461, 472, 535, 622, 606, 508, 461, 390, 432,
           // clang-format on
       }},
  };
  return all;
}

const Dataset* find_dataset(const std::string& name) {
  for (const Dataset& dataset : datasets())
    if (dataset.name == name) return &dataset;
  return nullptr;
}

std::string csv_of(const Dataset& dataset) {
  std::string out = fmt::format("{},{}\n", dataset.time_name, dataset.value_name);
  for (std::size_t i = 0; i < dataset.values.size(); ++i) {
    const int at = static_cast<int>(i), year = dataset.first_year + at / dataset.per_year;
    out += dataset.per_year == 1 ? fmt::format("{},", year) : fmt::format("{}-{:02},", year, at % dataset.per_year + 1);
    out += fmt::format("{}\n", dataset.values[i]);
  }
  return out;
}

}  // namespace apps
