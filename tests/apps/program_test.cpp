// cotan-dlm as people run it: commands, files, exit codes, and what it says to input that cannot be used.
#include "program.hpp"

#include <filesystem>

using namespace programs;

namespace {

TEST_F(Program, ReachesTheKnownMaximaOfTheNile) {
  for (const auto& [order, bar] : {std::pair("0", 1095.7831), std::pair("1", 1104.9056)}) {
    const Outcome o = run(std::string("fit nile --first-state toolbox --json fit.json --order ") + order);
    ASSERT_EQ(o.code, 0) << o.error;
    const Json fit = json("fit.json");
    EXPECT_LE(fit["estimate"]["value"].get<double>(), bar);
    EXPECT_TRUE(fit["estimate"]["converged"].get<bool>());
    EXPECT_EQ(fit["one_pass"]["lik"], fit["estimate"]["value"]);
  }
}

TEST_F(Program, WritesEveryFieldOfAFit) {
  ASSERT_EQ(run("fit nile --order 1 --fixed --set obs=122 --set level=37 --set slope=1 --steps 5 --json "
                "fit.json --json-covariances --quiet")
                .code,
            0);
  const Json fit = json("fit.json");
  for (const char* name :
       {"x", "C", "xf", "Cf", "xstd", "v", "Cp", "yhat", "level", "ystd", "resid0", "resid", "resid2", "y", "time"})
    EXPECT_EQ(fit.at(name).size(), 100u) << name;
  for (const char* name : {"lik", "lik_full", "ssy", "s2", "mse", "mape", "nobs"})
    EXPECT_TRUE(fit.at(name).is_number()) << name;
  for (const char* name : {"G", "W", "C0"}) EXPECT_EQ(fit.at(name).size(), 2u) << name;
  EXPECT_EQ(fit.at("F"), Json::parse("[[1.0, 0.0]]"));
  EXPECT_EQ(fit.at("V"), Json::parse("[[14884.0]]"));
  EXPECT_EQ(fit.at("x0").size(), 2u);
  EXPECT_EQ(fit.at("C")[0].size(), 2u);
  EXPECT_EQ(fit.at("model")["state_names"], Json::parse(R"(["level", "slope"])"));
  EXPECT_EQ(fit.at("estimate"), nullptr);
  EXPECT_FALSE(fit.at("parameters")["obs"]["estimated"].get<bool>());
  EXPECT_EQ(fit.at("forecast")["time"][4], "1975");
  EXPECT_NEAR(fit["lik_full"].get<double>() - fit["lik"].get<double>(), 100 * std::log(2 * M_PI), 1e-9);
}

TEST_F(Program, ReproducesTheToolbox) {
  const fs::path golden = fs::path(COTAN_SOURCE_DIR) / "../shared/golden/dlm/gapped-out-m.json";
  if (!fs::exists(golden))
    GTEST_SKIP() << "there is no " << golden << "; tests/dlm/golden_test.cpp checks such a fit without it";
  const Json in = Json::parse(contents(golden.parent_path() / "gapped-in.json")), out = Json::parse(contents(golden));
  std::string text = "y\n";
  for (const Json& v : in["y"]) text += v.is_null() ? "NA\n" : v.dump() + "\n";
  write("gapped.csv", text);
  ASSERT_EQ(run("fit gapped.csv --fixed --first-state toolbox --json fit.json --set obs=" + in["s"].dump() +
                " --set level=" + in["w"][0].dump() + " --set slope=" + in["w"][1].dump())
                .code,
            0);
  const Json fit = json("fit.json");
  EXPECT_NEAR(fit["lik"].get<double>(), out["lik"].get<double>(), 1e-8);
  for (std::size_t t = 0; t < 100; ++t) EXPECT_EQ(fit["v"][t].is_null(), in["y"][t].is_null());
  EXPECT_EQ(fit["nobs"], 77);
}

TEST_F(Program, WritesAllItsFiles) {
  const Outcome o =
      run("forecast airline --log --season 12 --steps 24 --json a.json --csv a.csv --plot a.svg --report a.html");
  ASSERT_EQ(o.code, 0) << o.error;
  EXPECT_NE(o.out.find("1962-12"), std::string::npos);
  EXPECT_TRUE(contents(folder_ / "a.svg").starts_with("<svg"));
  const std::string page = contents(folder_ / "a.html");
  EXPECT_TRUE(page.starts_with("<!DOCTYPE html>"));
  for (const char* part : {"Season", "Growth", "Forecast", "Autocorrelation", "Normal quantiles", "Ljung–Box"})
    EXPECT_NE(page.find(part), std::string::npos) << part;
  for (const char* outside : {"http://", "https://", "<script "})
    EXPECT_EQ(page.find(outside),
              outside == std::string("http://") ? page.find("http://www.w3.org/2000/svg") : std::string::npos);
  const std::string table = contents(folder_ / "a.csv");
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 1 + 144 + 24);
  const Json forecast = json("a.json")["forecast"];
  EXPECT_GT(forecast["forecast"][0].get<double>(), 400);
  EXPECT_LT(forecast["lower"][0].get<double>(), forecast["forecast"][0].get<double>());
}

TEST_F(Program, DemoWritesReportsAndSaysWhichModelIsBetter) {
  const Outcome o = run("demo --out there/in");
  ASSERT_EQ(o.code, 0) << o.error;
  for (const char* file : {"nile.html", "nile.svg", "nile-trend.html", "airline.html", "airline.svg"})
    EXPECT_GT(fs::file_size(folder_ / "there/in" / file), 10000u) << file;
  EXPECT_NE(o.out.find("AIC prefers the local level"), std::string::npos);
}

TEST_F(Program, ReadsItsOwnDatasetsFromStandardInput) {
  write("airline.csv", run("datasets airline").out);
  const Outcome o = run("fit - --order 0 --json -", "airline.csv");
  ASSERT_EQ(o.code, 0) << o.error;
  EXPECT_EQ(Json::parse(o.out)["series"]["n"], 144);  // the summary goes elsewhere
  EXPECT_TRUE(o.says("Ljung-Box"));
  EXPECT_NE(run("datasets").out.find("nile"), std::string::npos);
  expect_refused("datasets nyle", "did you mean nile?");
}

TEST_F(Program, TakesUnevenTimesRegressorsAndKnownErrors) {
  std::string text = "day,y,x,sd\n";
  for (int i = 0; i < 60; ++i) {
    const int day = i + i / 7;  // a day is missing each week
    text += "2024-0" + std::to_string(1 + day / 28) + "-" + (day % 28 < 9 ? "0" : "") + std::to_string(1 + day % 28);
    text += "," + (i < 55 ? std::to_string(20 + 0.003 * (i % 5) * 1000 + 0.1 * ((i * 37) % 11)) : "") + "," +
            std::to_string(0.001 * (i % 5)) + "," + std::to_string(0.3 + 0.1 * (i % 2)) + "\n";
  }
  write("shop.csv", text);
  const Outcome o =
      run("fit shop.csv --order 0 --regress x --sd-column sd --steps 5 --json fit.json --report fit.html");
  ASSERT_EQ(o.code, 0) << o.error;
  const Json fit = json("fit.json");
  EXPECT_FALSE(fit["series"]["evenly_spaced"].get<bool>());
  EXPECT_EQ(fit["model"]["state_names"][1], "effect of x");
  EXPECT_NEAR(fit["x"][54][1].get<double>(), 3000, 200);  // the effect is not held near zero by its unit
  EXPECT_EQ(fit["W"].size(), 60u);
  expect_refused("forecast shop.csv --regress x --steps 6", "6 after the last value, but rows for 5 are there");
}

TEST_F(Program, TiesFixesAndStartsParameters) {
  ASSERT_EQ(run("fit nile --tie slope=level --json tied.json").code, 0);
  EXPECT_FALSE(json("tied.json")["parameters"].contains("slope"));
  ASSERT_EQ(run("fit nile --order 0 --set obs=120 --start level=10 --json set.json").code, 0);
  EXPECT_EQ(json("set.json")["parameters"]["obs"]["value"], 120.0);
  EXPECT_EQ(json("set.json")["parameters"]["obs"]["standard_error"], nullptr);
  expect_refused("fit nile --set sloep=1", "did you mean slope?", 2);
  expect_refused("fit nile --tie level=phi", "no parameter \"phi\"", 2);
  expect_refused("fit nile --set obs=1,2", "\"obs\" has 1 number", 2);
  expect_refused("fit nile --set obs", "is not name=value", 2);
  expect_refused("fit nile --ar 1 --fixed --set obs=1", "phi", 2);
}

TEST_F(Program, HelpsAndCorrectsTheCommandLine) {
  for (const char* arguments :
       {"--help", "help", "help fit", "fit --help", "forecast --help", "demo --help", "datasets --help", "--version"}) {
    const Outcome o = run(arguments);
    EXPECT_EQ(o.code, 0) << arguments;
    EXPECT_NE(o.out.find("cotan-dlm"), std::string::npos) << arguments;
  }
  expect_refused("", "no command", 2);
  expect_refused("fti nile", "did you mean fit?", 2);
  expect_refused("fit", "the series is missing", 2);
  expect_refused("fit nile other", "one argument too many", 2);
  expect_refused("fit nile --colum flow", "did you mean --column?", 2);
  expect_refused("fit nile --order 3", "it goes from 0 to 2", 2);
  expect_refused("fit nile --season", "its value is missing", 2);
  expect_refused("fit nile --season 1", "make no season", 2);
  expect_refused("fit nile --harmonics 2", "give --season N too", 2);
  expect_refused("fit nile --season 12 --harmonics 7", "1 to 6 harmonics", 2);
  expect_refused("fit nile --order none", "a model of nothing", 2);
  expect_refused("fit nile --level 95", "no probability", 2);
  expect_refused("fit nile --device nowhere", "this build has: native", 2);
  expect_refused("fit nile --steps many", "not a whole number", 2);
}

TEST_F(Program, RefusesFilesThatCannotBeUsed) {
  write("ragged.csv", "a,b\n1,2\n3\n");
  expect_refused("fit ragged.csv", "ragged.csv:3: this row has 1 field");
  write("words.csv", "a,b\nx,y\nz,w\n");
  expect_refused("fit words.csv", "no column of numbers");
  write("empty.csv", "");
  expect_refused("fit empty.csv", "the file is empty");
  write("gone.csv", "t,y\n1,\n2,NA\n3,\n");
  expect_refused("fit gone.csv --column y", "all 3 values of \"y\" are missing");
  write("twice.csv", "date,y\n2020-01,1\n2020-02,2\n2020-01,3\n");
  expect_refused("fit twice.csv", "twice.csv:4] the time 2020-01 is also that of line 2");
  write("negative.csv", "y\n1\n2\n-3\n4\n5\n");
  expect_refused("fit negative.csv --log", "negative.csv:4] -3 has no logarithm");
  expect_refused("fit nile --column flwo", "did you mean \"flow\"?");
  expect_refused("fit missing.csv", "there is no such file");
  expect_refused("fit .", "directory");
}

TEST_F(Program, RefusesPathsThatCannotBeWrittenBeforeTheWork) {
  for (const char* option : {"--json", "--csv", "--plot", "--report"}) {
    expect_refused(std::string("fit nile ") + option + " /nowhere/at/all", "it cannot be written");
    expect_refused(std::string("fit nile ") + option + " .", "it is a folder");
  }
  write("file", "");
  expect_refused("demo --out file/below", "cannot be made");
  expect_refused("fit nile --json - --csv -", "cannot share standard output", 2);
}

TEST_F(Program, RefusesSeriesThatSayNothing) {
  write("constant.csv", "y\n5\n5\n5\n5\n5\n5\n");
  expect_refused("fit constant.csv", "the series is constant");
  write("short.csv", "y\n5\n6\n5\n");
  expect_refused("fit short.csv --season 12", "3 observed values cannot tell about 13 states");
  write("one.csv", "y\n5\n");
  expect_refused("fit one.csv", "1 observed value cannot tell");
  // With all parameters given there is an answer, the one that the prior and the data make.
  EXPECT_EQ(run("fit one.csv --fixed --set obs=1 --set level=1 --order 0 --steps 3 --report one.html --json "
                "one.json")
                .code,
            0);
  EXPECT_NEAR(json("one.json")["x"][0][0].get<double>(), 5, 1e-9);
  EXPECT_EQ(run("fit constant.csv --fixed --set obs=1 --set level=1 --report constant.html").code, 0);
  EXPECT_EQ(run("fit short.csv --season 12 --fixed --set obs=1").code, 0);
}

TEST_F(Program, RefusesParametersThatAreNone) {
  expect_refused("fit nile --set obs=-1", "it is a standard deviation: give 0 or more", 2);
  expect_refused("fit nile --set obs=nan", "give a finite number", 2);
  expect_refused("fit nile --set level=inf", "give a finite number", 2);
  expect_refused("fit nile --set obs=1e200", "overflows", 2);
  expect_refused("fit nile --start obs=0", "from which no search moves", 2);
  expect_refused("fit nile --set obs=abc", "is not a number", 2);
  expect_refused("fit nile --fixed --set obs=0", "cannot be computed");
  expect_refused("fit nile --ar 1 --set phi=1.5", "not a stationary process", 2);
  expect_refused("fit nile --ar 1 --start phi=1.5", "give smaller coefficients", 2);
}

TEST_F(Program, IsIndifferentToTheUnit) {
  ASSERT_EQ(run("fit nile --order 0 --json one.json").code, 0);
  const double value = json("one.json")["estimate"]["value"].get<double>();
  for (const int power : {12, -12, 60, -60}) {
    write_nile("scaled.csv", "e" + std::to_string(power));
    const Outcome o = run("fit scaled.csv --order 0 --json scaled.json --report scaled.html --plot scaled.svg");
    ASSERT_EQ(o.code, 0) << o.error;
    EXPECT_NEAR(json("scaled.json")["estimate"]["value"].get<double>() - 198 * power * std::log(10.0), value, 1e-3)
        << power;
    EXPECT_EQ(contents(folder_ / "scaled.svg").find("nan"), std::string::npos);
  }
  write_nile("huge.csv", "e150");
  expect_refused("fit huge.csv", "squares that overflow");
  write_nile("tiny.csv", "e-200");
  expect_refused("fit tiny.csv", "squares vanish");
}

TEST_F(Program, SaysWhenAResultMeansLittle) {
  std::string line = "y\n";
  for (int i = 1; i <= 30; ++i) line += std::to_string(3 * i) + "\n";
  write("line.csv", line);
  const Outcome o = run("fit line.csv --report line.html");
  EXPECT_EQ(o.code, 0) << o.error;
  EXPECT_NE(o.out.find("almost without error"), std::string::npos) << o.out;
  EXPECT_EQ(o.out.find("nan"), std::string::npos) << o.out;
}

/// What a CSV that the program wrote has in a column.
std::vector<std::string> column_of(const std::string& csv, const std::string& name) {
  std::istringstream lines(csv);
  std::string line;
  std::vector<std::string> out;
  std::size_t at = 0;
  for (bool first = true; std::getline(lines, line); first = false) {
    std::vector<std::string> fields;
    std::stringstream row(line + ",");
    for (std::string field; std::getline(row, field, ',');) fields.push_back(field);
    if (first)
      at = static_cast<std::size_t>(std::find(fields.begin(), fields.end(), name) - fields.begin());
    else
      out.push_back(fields.at(at));
  }
  return out;
}

class TrialsOfModels : public Program {};

TEST_F(TrialsOfModels, Item3CriteriaDoNotMoveWithZero) {
  std::istringstream lines(run("datasets airline").out);
  std::string line, moved;
  for (bool first = true; std::getline(lines, line); first = false) {
    const std::size_t comma = line.find(',');
    moved += first ? line + "\n"
                   : line.substr(0, comma + 1) + std::to_string(1000 + std::stoi(line.substr(comma + 1))) + "\n";
  }
  write("moved.csv", moved);
  for (const std::string model : {"--order 1 --season 12", "--order 0"}) {
    ASSERT_EQ(run("fit airline --json a.json " + model).code, 0);
    ASSERT_EQ(run("fit moved.csv --json b.json " + model).code, 0);
    for (const char* name : {"lik_full", "aic", "bic"})
      EXPECT_NEAR(json("a.json")["one_pass"][name].get<double>(), json("b.json")["one_pass"][name].get<double>(), 1e-4)
          << model;
  }
}
TEST_F(TrialsOfModels, Item4AutoregressionsHideNoTrend) {
  const Outcome o = run("fit airline --log --season 12 --order 0 --ar 1 --json fit.json --csv fit.csv");
  ASSERT_EQ(o.code, 0) << o.error;
  const Json fit = json("fit.json");
  // Logarithms grow from 4.7 to 6: that is the level's, and the process stays around zero in its own units.
  const double phi = fit["parameters"]["phi"]["value"][0].get<double>(),
               sd = fit["parameters"]["ar"]["value"].get<double>();
  EXPECT_LT(std::abs(phi), 1);
  for (const Json& v : fit["components"]["autoregression"]["mean"])
    EXPECT_LE(std::abs(v.get<double>()), 5 * sd / std::sqrt(1 - phi * phi) + 1e-12);
  EXPECT_NEAR(fit["components"]["trend"]["mean"][0].get<double>() +
                  fit["components"]["autoregression"]["mean"][0].get<double>(),
              4.8, 0.2);
}
TEST_F(TrialsOfModels, Item5PredictionsDoNotLookAhead) {
  std::string plain = "y\n", raised = "y\n";
  for (int i = 0; i < 60; ++i) {
    const double v = 50 + 3 * std::sin(0.7 * i) + 2 * std::cos(2.9 * i * i);
    plain += std::to_string(v) + "\n";
    raised += std::to_string(v + (i < 20 ? 0 : 30)) + "\n";
  }
  write("plain.csv", plain);
  write("raised.csv", raised);
  for (const std::string start : {"diffuse", "toolbox"}) {
    const std::string options = " --fixed --set obs=2 --set level=1 --set slope=0.1 --first-state " + start;
    ASSERT_EQ(run("fit plain.csv --csv plain.out" + options).code, 0);
    ASSERT_EQ(run("fit raised.csv --csv raised.out" + options).code, 0);
    for (const char* name : {"predicted", "residual"}) {
      const auto a = column_of(contents(folder_ / "plain.out"), name),
                 b = column_of(contents(folder_ / "raised.out"), name);
      ASSERT_EQ(a.size(), 60u);
      for (std::size_t t = 0; t < 20; ++t) EXPECT_EQ(a[t], b[t]) << name << " " << t << " " << start;
      EXPECT_NE(a[21], b[21]);
      // Two states are unknown at first, so that nothing is predicted.
      EXPECT_EQ(a[0] + a[1], "");
      EXPECT_NE(a[2], "");
    }
  }
}
TEST_F(TrialsOfModels, Item3WhatWasNeverSeenIsLeftOut) {
  std::string text = "y\n";
  for (int i = 0; i < 70; ++i)
    text += (i % 7 == 5 ? "NA" : std::to_string(20 + i % 7 + 0.3 * std::cos(2.9 * i * i))) + "\n";
  write("weekdays.csv", text);
  const Outcome o =
      run("forecast weekdays.csv --order 0 --season 7 --steps 14 --csv out.csv --json out.json --report out.html");
  ASSERT_EQ(o.code, 0) << o.error;
  EXPECT_NE(o.out.find("never observed"), std::string::npos) << o.out;
  const auto fitted = column_of(contents(folder_ / "out.csv"), "fitted"),
             forecast = column_of(contents(folder_ / "out.csv"), "forecast");
  for (std::size_t t = 0; t < 70; ++t) EXPECT_EQ(fitted[t].empty(), t % 7 == 5) << t;
  for (std::size_t t = 70; t < 84; ++t) EXPECT_EQ(forecast[t].empty(), t % 7 == 5) << t;
  EXPECT_EQ(contents(folder_ / "out.html").find("nan"), std::string::npos);
}

}  // namespace
